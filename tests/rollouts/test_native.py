"""The compiled half of the reader against the Python half: whatever a file holds, both give the same table."""

import ctypes
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rollout_rows import Row, call, message, result, rollout, unindexed
from scans import BUILDERS, agent_row, chat_row, jsonl, mutated, plain, read, records, write_bytes

from blade.errors import BladeError
from blade.rollouts.decoding import RowDecoder
from blade.rollouts.lines import Chunk
from blade.rollouts.native import library as native_library
from blade.rollouts.native import rows as native_rows
from blade.rollouts.native.library import ALL_READ, REFUSED, library
from blade.rollouts.native.program import program_for
from blade.rollouts.native.rows import NativeRows
from blade.rollouts.reader import Reading, open_file

pytestmark = pytest.mark.skipif(library() is None, reason="the compiled reader was not built here")


@contextmanager
def only_python() -> Iterator[None]:
    """Leaves the compiled half out."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("BLADE_NATIVE", "0")
            choose_anew()
            yield
    finally:
        choose_anew()


def choose_anew() -> None:
    """Forgets which half reads."""
    library.cache_clear()


def table(path: Path, **options: Any) -> dict[str, Any]:
    """Everything that is read of a file, or why it cannot be."""
    try:
        scan = read(path, **options).scan
    except BladeError as error:
        return {"error": str(error)}
    # True is 1 and 1.0 to Python, so values are compared as they are written.
    columns = [
        (name, column.kind, repr(column.levels), column.values.tobytes()) for name, column in scan.columns.items()
    ]
    return {**plain(scan), "columns": columns}


def same_by_both(path: Path, **options: Any) -> None:
    natively = table(path, **options)
    with only_python():
        assert natively == table(path, **options)


def loaded() -> ctypes.CDLL:
    found = library()
    assert found is not None
    return found


def rows_read_natively(path: Path, *, features: bool = True) -> int:
    """How many rows of a small file the compiled half takes; -1 when it refuses them."""
    plan = open_file(path, Reading(features=features)).plan
    program = program_for(RowDecoder(plan).layout, plan)
    assert program is not None
    data = path.read_bytes()
    part = NativeRows(program, loaded()).read(Chunk(data, len(data), 0), line=1)
    assert part.outcome in (ALL_READ, REFUSED)
    return part.rows if part.outcome == ALL_READ else -1


NASTY = [
    b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"null", b"true", b"-", b"0", b"01", b"1e5", b"1e999", b"-0.0",
    b"NaN", b"12345678901234567890", b"9007199254740993", b"0.1234567890123456789012345", b"\0", b"\x01", b"\t", b"\r",
    b"\n", b" ", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf", "é".encode(), "🙂".encode(),
    b"\\ud83d", b"\\ude00", b"\\ud83d\\ude00", b"\\\\ud83d\\ude00", b"\\u12g4", b"\\q", b'\\"', b"\\\\",
    b'"type": "x_call", ', b'"role": "user", ', b'"tool_calls": [{"id": "a"}], ', b'"reward": 0, ', b'"tools": [], ',
]  # fmt: skip


@st.composite
def tampered(draw: st.DrawFn) -> bytes:
    """Rows into which something nasty is put, most often where something begins or ends."""
    rows = [BUILDERS[draw(st.sampled_from(sorted(BUILDERS)))](number) for number in range(draw(st.integers(1, 4)))]
    text = "".join(json.dumps(row, ensure_ascii=draw(st.booleans())) + "\n" for row in rows)
    data = bytearray(text.encode("utf-8", "replace"))
    for _ in range(draw(st.integers(0, 3))):
        places = [at for at, byte in enumerate(data) if byte in b'"\\,:{}[]'] or [0]
        at = draw(st.sampled_from(places) | st.integers(0, len(data))) + draw(st.integers(0, 1))
        new = draw(st.sampled_from(NASTY))
        data[at : at + draw(st.sampled_from([0, 1, len(new)]))] = new
    return bytes(data) + draw(st.sampled_from([b"", b"\n", b"  \n\n", b"{"]))


@settings(max_examples=400, deadline=None)
@given(data=tampered(), features=st.booleans())
@example(data=b'{"reward": 1, "a": "\\ud83d\\ude00"}\n', features=False)
@example(data=b'{"reward": 1, "a": "\\\\ud83d\\ude00"}\n', features=False)
@example(data=b'{"reward": 1, "a": "\\u00e9"}\n', features=False)
@example(data=b'{"reward": 1, "a": [1, 2], "b": [1e999]}\n{"reward": 1, "a": [], "b": [3]}\n', features=False)
@example(data=b'{"reward": 1, "a.b": 1, "a": {"b": "x"}}\n{"reward": 1, "a": {"b": "y"}}\n', features=False)
@example(data=b'{"reward": 1, "input_hash": "x", "question": "y"}\n', features=False)
@example(data=b'{"reward": 1e999}\n{"reward": 1, "a": 3}\n{"reward": 1, "a": {}}\n', features=False)
def test_both_halves_read_the_same(tmp_path_factory: pytest.TempPathFactory, data: bytes, features: bool) -> None:
    same_by_both(write_bytes(tmp_path_factory.mktemp("both") / "run.jsonl", data), features=features)


@settings(max_examples=100, deadline=None)
@given(rows=st.lists(mutated(st.integers(0, 9).map(agent_row)), min_size=1, max_size=8))
def test_both_halves_read_odd_rows_alike(tmp_path_factory: pytest.TempPathFactory, rows: list[Any]) -> None:
    same_by_both(write_bytes(tmp_path_factory.mktemp("odd") / "run.jsonl", jsonl(rows)))


numbers = (
    st.floats(allow_nan=False, allow_infinity=False).map(repr)
    | st.integers(-(10**22), 10**22).map(str)
    | st.tuples(st.integers(0, 10**19), st.integers(0, 10**10)).map(lambda pair: f"{pair[0]}.{pair[1]}")
    | st.decimals(-1, 1, allow_nan=False, places=17).map(lambda number: format(number, "f"))
)


@settings(max_examples=300, deadline=None)
@given(texts=st.lists(numbers, min_size=1, max_size=5))
@example(
    texts=["0.13436424411240122", "9007199254740991", "9007199254740993", "-0.0", "5e-324", "1.7976931348623157e308"]
)
def test_numbers_are_those_python_reads(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    data = "".join(f'{{"reward": 1, "x": {text}}}\n' for text in texts).encode()
    path = write_bytes(tmp_path_factory.mktemp("numbers") / "run.jsonl", data)
    assert rows_read_natively(path) == len(texts)
    assert [float(row["x"]) for row in records(read(path).scan)] == [float(text) for text in texts]


def test_rows_of_every_shape_that_gym_writes_are_read_natively(tmp_path: Path) -> None:
    items = [call(), result("Error: no"), message("well", "user"), {"type": "web_search_call"}, message('"so"\n🙂')]
    rows = [
        rollout(0, 0, output=items, meta={"level": 3, "tags": ["a", None, 2]}, note=None),
        rollout(0, 1, None, meta=None, note=None, extra=2**60),
        rollout(1, 0, 0.5, output=[], meta={"level": 2.5, "tags": []}, note=None, extra=None),
    ]
    path = write_bytes(tmp_path / "run.jsonl", jsonl(rows))
    assert rows_read_natively(path) == 3
    same_by_both(path)


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(chat_row(), id="conversation_with_calls"),
        pytest.param({"task_id": 1, "traj": [{"role": "user", "content": "hi"}], "reward": 0}, id="nobody_acted"),
        pytest.param({"task_id": 1, "messages": [{"role": "assistant", "content": "hi"}], "score": 1}, id="messages"),
        pytest.param({"question": "2 + 2?", "prediction": 'it is "4"', "correct": True}, id="texts"),
        pytest.param(unindexed("what?"), id="no_index"),
        pytest.param(rollout(params={"input": "what?"}), id="prompt_is_text"),
        pytest.param(rollout(response={"id": 7}), id="id_is_no_text"),
        pytest.param(rollout(response={"id": "x-failed", "model": "m" * 300}), id="failed_by_its_id"),
    ],
)
def test_rows_of_other_shapes_are_read_natively(tmp_path: Path, row: Row) -> None:
    path = write_bytes(tmp_path / "run.jsonl", jsonl([row, row]))
    assert rows_read_natively(path) == 2
    same_by_both(path)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b'{"reward": 1, "reward": 0}', id="twice"),
        pytest.param(b'{"reward": 1, "new": 2}', id="new_field"),
        pytest.param(b'{"reward": "1"}', id="new_type"),
        pytest.param(b'{"reward": 1,}', id="comma_too_many"),
        pytest.param(b'{"reward": 01}', id="leading_zero"),
        pytest.param(b'{"reward": 1} {}', id="two_objects"),
        pytest.param(b'{"reward": 1', id="cut_short"),
        pytest.param(b'{"reward": nul}', id="not_a_word"),
        pytest.param(b'{"rew\\u0061rd": 1}', id="escaped_key"),
        pytest.param(b'["reward"]', id="list"),
        pytest.param(b'{"a": "' + b"\xff" + b'"}', id="not_utf8"),
        pytest.param(b'{"a": "\t"}', id="control_character"),
        pytest.param(b'{"a": "\\x"}', id="wrong_escape"),
        pytest.param(b'{"a": "\\ud800"}', id="half_a_character"),
    ],
)
def test_what_is_odd_is_left_to_the_other_half(tmp_path: Path, line: bytes) -> None:
    good = b'{"reward": 1, "a": "x"}\n'
    path = write_bytes(tmp_path / "run.jsonl", good * 70 + line + b"\n" + good)
    assert rows_read_natively(path) == -1
    same_by_both(path)


def test_a_field_that_turns_up_late_is_learned_and_the_rows_are_read_natively(tmp_path: Path) -> None:
    rows = [{"id": n, "reward": 1, "why": None} for n in range(70)] + [{"id": 70, "reward": 0, "why": {"late": True}}]
    path = write_bytes(tmp_path / "run.jsonl", jsonl(rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RowDecoder, "decode_chunk", None)  # nothing is left to it
        assert records(read(path).scan)[-1] == {"id": 70, "reward": 0, "why.late": True}


def test_more_rows_and_texts_than_there_is_room_for_are_read_all_the_same(tmp_path: Path) -> None:
    rows = [{"id": f"task {n}", "reward": n % 2, "words": f"{n} " * 20} for n in range(500)]
    path = write_bytes(tmp_path / "run.jsonl", jsonl(rows))
    with pytest.MonkeyPatch.context() as patch:
        for name, room in (("ROWS", 16), ("LEVELS", 8), ("TEXTS", 512)):
            patch.setattr(native_rows, name, room)
        patch.setattr("blade.rollouts.lines.CHUNK", 4096)
        patch.setattr(RowDecoder, "decode_chunk", None)
        assert records(read(path).scan) == rows


def test_calls_are_the_same_however_their_tool_is_written(tmp_path: Path) -> None:
    plainly, escaped = (jsonl([rollout(0, n, output=[call("search"), call("search")])]) for n in range(2))
    path = write_bytes(tmp_path / "run.jsonl", plainly + escaped.replace(b"search", b"sea\\u0072ch", 1))
    same_by_both(path)


def test_a_row_that_only_the_old_layout_took_is_read_by_the_new_one(tmp_path: Path) -> None:
    rows = [{"id": n, "score": 1, "note": "x" * 500} for n in range(70)]
    rows += [{"id": 70, "score": 1, "note": ["a", "b"]}, {"id": 71, "score": 0, "note": {"why": "late"}, "new": 2}]
    path = write_bytes(tmp_path / "run.jsonl", jsonl(rows))
    same_by_both(path)
    assert records(read(path).scan)[-1] == {"id": 71, "score": 0, "note.why": "late", "new": 2}


def test_one_wide_row_takes_no_room_in_the_others(tmp_path: Path) -> None:
    wide: Row = {f"metric {n}": n for n in range(3000)} | {f"empty {n}": {} for n in range(3000)}
    path = write_bytes(tmp_path / "run.jsonl", jsonl([{"id": 0, "reward": 1, **wide}, {"id": 1, "reward": 0}]))
    same_by_both(path)
    layout = RowDecoder(open_file(path, Reading()).plan).layout
    assert (layout.strict, len(layout.tree)) == (False, 400)


LONG_PAST = "l" * 201
CALLED: Row = {"response": {"output": [call("f")]}, "reward": 1}


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([{"reward": v} for v in ["n/a", 2, *[None] * 2000, *[True, 2] * 1500]], id="flags_and_numbers"),
        pytest.param([{"reward": v} for v in ["n/a", *range(5000, 0, -1)]], id="numbers_behind_a_text"),
        pytest.param([{"reward": v} for v in [LONG_PAST] * 2000 + [None] * 2000 + [1] * 2000], id="long_texts"),
        pytest.param([CALLED] * 2500 + [rollout(params={"input": "q"}, output=[])], id="late_prompt"),
        pytest.param([{"reward": 1, "x": v} for v in [1, True, 2**60, None, 0.5] * 900], id="large_numbers"),
    ],
)
def test_a_table_does_not_depend_on_where_batches_begin(tmp_path: Path, rows: list[Row]) -> None:
    same_by_both(write_bytes(tmp_path / "run.jsonl", jsonl([{**row, "pad": "p" * 1500} for row in rows])))


def test_numbers_beyond_all_and_lists_too_deep_are_no_error(tmp_path: Path) -> None:
    data = b'{"reward": 1, "x": [1]}\n{"reward": 1, "x": 5}\n{"reward": -0, "x": 1e999}\n'
    data += b'{"reward": 1, "a": ' + b"[" * 450 + b"]" * 450 + b"}\n"
    path = write_bytes(tmp_path / "run.jsonl", data)
    same_by_both(path)
    assert len(read(path).scan) == 4


def test_a_text_of_a_field_that_was_asked_for_is_told_apart_whatever_its_length(tmp_path: Path) -> None:
    rows = [{"id": n, "reward": 1, "config": "x" * 100_000 + str(n % 2)} for n in range(4)]
    path = write_bytes(tmp_path / "run.jsonl", jsonl(rows))
    same_by_both(path, fields=("config",))
    assert len({row["config"] for row in records(read(path, fields=("config",)).scan)}) == 2


def test_a_library_of_another_source_or_processor_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for version in (-1, 1):
        monkeypatch.setattr(native_library, "source_version", lambda _folder, version=version: version)
        library.cache_clear()
        assert library() is None
    monkeypatch.undo()
    library.cache_clear()
    assert isinstance(library(), ctypes.CDLL)


def test_a_file_that_is_no_library_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(native_library, "LIBRARY", write_bytes(tmp_path / "libblade.so", b"no library"))
    library.cache_clear()
    assert library() is None
    monkeypatch.undo()
    library.cache_clear()
