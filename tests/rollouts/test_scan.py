import gc
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rollout_rows import Row, message, result, rollout
from scans import BUILDERS, agent_row, flat_row, items_of, jsonl, mutated, plain, read, records, some_rows, write_bytes

from blade.engine import Local, use
from blade.errors import BladeError
from blade.rollouts import decoding, lines, ranges
from blade.rollouts.layout import Layout
from blade.rollouts.reader import Reading, open_file

kinds = st.sampled_from(sorted(BUILDERS))
mixed_rows = kinds.flatmap(some_rows)


def read_by(patch: pytest.MonkeyPatch, size: int) -> None:
    """Makes files be read by chunks of no more than `size` bytes."""
    patch.setattr(lines, "CHUNK", size)
    patch.setattr(lines, "MAX_CHUNK", size)


def filled_lines(data: bytes) -> int:
    return sum(bool(line.strip()) for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"))


def accounted_for(path: Path) -> None:
    """Every line that is not blank is a row or a bad line; nothing but our own errors is raised."""
    try:
        found = read(path)
    except BladeError:
        return
    if open_file(path, Reading()).layout == "lines":
        assert len(found.scan) + len(found.scan.bad) == filled_lines(path.read_bytes())
    items_of(found)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A good file with some bytes flipped, removed, inserted, or with its end missing."""
    data = bytearray(jsonl([BUILDERS[draw(kinds)](number) for number in range(draw(st.integers(1, 5)))]))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        match draw(st.sampled_from(["flip", "remove", "insert", "cut"])):
            case "flip" if data:
                data[at] ^= draw(st.integers(1, 255))
            case "remove":
                del data[at : at + draw(st.integers(1, 20))]
            case "insert":
                data[at:at] = draw(st.binary(min_size=1, max_size=4) | st.sampled_from([b"\n", b"\r\n", b"{", b'"']))
            case "cut":
                del data[at:]
    return bytes(data)


@settings(max_examples=300, deadline=None)
@given(data=damaged())
@example(data=b'{"reward": 1, "a": {"b": 1}}\n{"reward": 1}{"reward": 0}\n{"a":\n{"b": 1}}\n')
def test_damaged_bytes_never_raise_and_every_line_is_accounted_for(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    accounted_for(write_bytes(tmp_path_factory.mktemp("damaged") / "run.jsonl", data))


texts_and_bytes = st.lists(st.text(max_size=12).map(str.encode) | st.binary(max_size=3) | st.just(b" " * 9), min_size=1)


@settings(max_examples=500, deadline=None)
@given(parts=texts_and_bytes, shift=st.integers(0, 8))
@example(parts=["é".encode()], shift=7)
@example(parts=["é".encode()[:1], b" " * 16], shift=7)
@example(parts=[b" " * 16, "é".encode()[1:]], shift=0)
def test_a_chunk_is_utf8_exactly_when_python_says_so(parts: list[bytes], shift: int) -> None:
    data = b"{" * shift + b"".join(parts) + b"}"
    try:
        data.decode("utf-8")
        expected = True
    except UnicodeDecodeError:
        expected = False
    assert decoding.is_utf8(np.frombuffer(data, dtype=np.uint8), memoryview(data)) is expected


@settings(max_examples=300, deadline=None)
@given(rows=mixed_rows)
def test_odd_rows_never_raise_and_can_be_read_back(tmp_path_factory: pytest.TempPathFactory, rows: list[Row]) -> None:
    accounted_for(write_bytes(tmp_path_factory.mktemp("odd") / "run.jsonl", jsonl(rows)))


@settings(max_examples=150, deadline=None)
@given(rows=mixed_rows, bad=st.booleans())
def test_rows_read_one_at_a_time_are_the_rows_read_together(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Row], bad: bool
) -> None:
    path = write_bytes(tmp_path_factory.mktemp("slow") / "run.jsonl", jsonl(rows) + b"nonsense\n" * bad)
    together = plain(read(path).scan)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoding, "decode_together", lambda *_: None)
        assert plain(read(path).scan) == together


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(mutated(st.integers(0, 9).map(agent_row)), min_size=2, max_size=12), jobs=st.integers(2, 4))
def test_ranges_and_small_chunks_give_what_one_pass_gives(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Row], jobs: int
) -> None:
    path = write_bytes(tmp_path_factory.mktemp("ranges") / "run.jsonl", jsonl(rows))
    whole = plain(read(path).scan)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranges, "MIN_RANGE", 1)
        with use(InThisProcess(jobs)):
            assert plain(read(path).scan) == whole
        read_by(patch, 64)
        assert plain(read(path).scan) == whole


class InThisProcess(Local):
    """Work divided among processes that never start."""

    def _in_processes(self, *_: Any) -> Iterator[Any]:
        return iter(())


def test_late_fields_are_read_from_where_they_begin(tmp_path: Path) -> None:
    rows = [{"id": n, "score": 1} | ({"late": f"w{n}", "deep": {"er": n}} if n >= 300 else {}) for n in range(400)]
    found = read(write_bytes(tmp_path / "late.jsonl", jsonl(rows))).scan
    late, deep = found.columns["late"], found.columns["deep.er"]
    assert [late.at(n) for n in (0, 299, 300, 399)] == [None, None, "w300", "w399"]
    assert [deep.at(n) for n in (0, 299, 300, 399)] == [None, None, 300, 399]


def test_a_bad_line_does_not_hide_late_fields_of_its_neighbours(tmp_path: Path) -> None:
    rows = jsonl([{"id": n, "score": 1} for n in range(100)]) + b"nonsense\n" + jsonl([{"id": 100, "late": 3}])
    found = read(write_bytes(tmp_path / "late.jsonl", rows)).scan
    assert (records(found)[-1], [bad.line for bad in found.bad]) == ({"id": 100, "late": 3}, [101])


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(1, "one", [1, "one"], id="number_then_text"),
        pytest.param("one", 1.5, ["one", 1.5], id="text_then_number"),
        pytest.param(True, 1, [1, 1], id="flag_then_number"),
        pytest.param(True, "yes", [True, "yes"], id="flag_then_text"),
        pytest.param(None, [1, 2], [None, ("1", "2")], id="null_then_list"),
        pytest.param(None, {"x": 1}, [None, None], id="null_then_object"),
        pytest.param(1, 2**70, [1, 2**70], id="number_then_huge_number"),
        pytest.param("short", "x" * 201, ["short", None], id="text_then_long_text"),
        pytest.param(1, {"x": 1}, [1, None], id="number_then_object"),
        pytest.param(1, [1, "a"], [1, '[1, "a"]'], id="number_then_list"),
    ],
)
def test_a_field_may_change_its_type_midway(tmp_path: Path, before: Any, after: Any, expected: list[Any]) -> None:
    rows = [{"id": n, "field": before if n < 100 else after} for n in range(200)]
    found = read(write_bytes(tmp_path / "change.jsonl", jsonl(rows))).scan
    column = found.columns.get("field")
    assert [column.at(n) if column else None for n in (0, 199)] == expected
    assert (len(found), found.bad) == (200, [])


def test_a_file_that_never_settles_is_read_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_by(monkeypatch, 512)
    rows = [{"id": n, "score": n % 2, f"field_{n}": n, "field": ["x"] if n % 3 else n} for n in range(500)]
    found = read(write_bytes(tmp_path / "wild.jsonl", jsonl(rows))).scan
    assert (len(found), found.bad) == (500, [])
    assert [row["score"] for row in records(found)] == [n % 2 for n in range(500)]


def test_a_map_from_ids_to_things_is_no_set_of_fields(tmp_path: Path) -> None:
    rows = [{"id": n, "score": 1, "by_id": {f"k{n}_{key}": key for key in range(70)}} for n in range(3)]
    found = read(write_bytes(tmp_path / "maps.jsonl", jsonl(rows))).scan
    assert sorted(found.columns) == ["id", "score"]


def test_a_map_that_grows_row_by_row_is_given_up_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_by(monkeypatch, 256)
    rows = [{"id": n, "score": 1, "by_id": {f"k{n}_{key}": key for key in range(9)}} for n in range(90)]
    found = read(write_bytes(tmp_path / "maps.jsonl", jsonl(rows))).scan
    assert (len(found), found.bad, sorted(found.columns)) == (90, [], ["id", "score"])


@pytest.mark.parametrize(
    "name", ["a.b", "a/b", "", " ", "ü", "class", "f0", "__class__", "a\tb", 'a"b', "a\\b", "\ue0000"]
)
def test_fields_may_have_any_name(tmp_path: Path, name: str) -> None:
    rows = [{"id": n, name: n, "score": 1} for n in range(3)]
    found = read(write_bytes(tmp_path / "names.jsonl", jsonl(rows))).scan
    kept = {key: 2 for key in (name,) if key in found.columns}
    assert (records(found)[2], found.bad) == ({"id": 2, "score": 1, **kept}, [])
    assert name in found.columns or any(sign in name for sign in '"\\\t')


@pytest.mark.parametrize(
    ("change", "line", "offset"),
    [
        pytest.param(lambda data: data, 3, 0, id="plain"),
        pytest.param(lambda data: b"\xef\xbb\xbf" + data, 3, 3, id="byte_order_mark"),
        pytest.param(lambda data: data.replace(b"\n", b"\r\n"), 3, 2, id="windows_line_ends"),
        pytest.param(lambda data: data.replace(b"\n", b"\n\n"), 5, 2, id="blank_lines"),
        pytest.param(lambda data: b"  \n\t\n" + data, 5, 5, id="white_lines"),
        pytest.param(lambda data: data[:-1], 3, 0, id="no_last_line_end"),
        pytest.param(lambda data: data.replace(b"{", b"  {"), 3, 4, id="indented"),
    ],
)
def test_line_and_offset_of_a_row_are_those_of_the_file(tmp_path: Path, change: Any, line: int, offset: int) -> None:
    data = jsonl([flat_row(0), flat_row(1), flat_row(2)])
    file = read(write_bytes(tmp_path / "run.jsonl", change(data)))
    third = 2 * data.index(b"\n") + 2
    assert [row["id"] for row in records(file.scan)] == ["q0", "q1", "q2"]
    assert (file.scan.line[2], file.scan.offset[2], file.scan.bad) == (line, third + offset, [])
    assert [items[-1].text for items in items_of(file)] == ["So."] * 3


def test_a_row_may_be_larger_than_a_chunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_by(monkeypatch, 100)
    rows = [rollout(0, 0), rollout(1, 0, output=[message("x" * 5000)]), rollout(2, 0)]
    found = read(write_bytes(tmp_path / "run.jsonl", jsonl(rows))).scan
    assert [row["_ng_task_index"] for row in records(found)] == [0, 1, 2]
    assert found.facts[:, 15].tolist() == [10, 5000, 10]  # len("answer 0 0") == 10


def test_bad_lines_say_where_they_are_and_what_is_wrong(tmp_path: Path) -> None:
    good = jsonl([rollout(0, 0)])
    bad = [
        b"<PLACEHOLDER ROW>", b"[1, 2]", b'{"reward": 1e999}', b'{"reward": 1', b'{"_ng_task_index": [1]}',
        b'{"response": 3}',
        b'{"a": "\xff"}', b"[" * 5000,
    ]  # fmt: skip
    found = read(write_bytes(tmp_path / "run.jsonl", good + b"\n".join(bad) + b"\n" + good)).scan
    assert [(place.line, place.reason) for place in found.bad] == [
        (2, "placeholder text '<PLACEHOLDER ROW>', expected a JSON object"),
        (3, "is a list, expected an object"),
        (4, "holds a number too large to read"),
        (5, "is truncated: the JSON ends before its object does"),
        (6, "_ng_task_index is a list, expected a number"),
        (7, "response is a number, expected an object"),
        (8, "invalid UTF-8 at byte 7 of the row"),
        (9, "is nested too deeply to read"),
    ]
    assert (found.line.tolist(), found.lines) == ([1, 10], 10)


def test_two_processes_give_what_one_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "MIN_RANGE", 1000)
    rows = [rollout(n, 0, n % 2, output=[message("x" * n), result("timed out")]) for n in range(200)]
    path = write_bytes(tmp_path / "run.jsonl", jsonl(rows) + b"bad\n" + jsonl(rows))
    assert plain(read(path, jobs=2).scan) == plain(read(path).scan)


def test_older_failed_rows_are_known_by_their_response_id(tmp_path: Path) -> None:
    ids = ["resp_1", "resp-timeout", "failed", "x-y-failed", "timeout-"]
    path = write_bytes(tmp_path / "run.jsonl", jsonl([rollout(0, n, response={"id": i}) for n, i in enumerate(ids)]))
    assert [row.get("response.id") for row in records(read(path).scan)] == [None, "timeout", None, "failed", None]


def test_an_empty_list_of_tools_is_no_tools(tmp_path: Path) -> None:
    given = [{"tools": []}, {"tools": [{"name": "look"}]}, {"tools": None}, {}]
    path = write_bytes(tmp_path / "run.jsonl", jsonl([rollout(0, n, params=p) for n, p in enumerate(given)]))
    tools = [row.get("responses_create_params.tools") for row in records(read(path).scan)]
    assert tools == [False, True, False, False]


def test_the_collector_runs_again_after_a_scan(tmp_path: Path) -> None:
    read(write_bytes(tmp_path / "run.jsonl", json.dumps(flat_row()).encode()))
    assert gc.isenabled()


def test_one_row_with_an_odd_response_hides_nothing_of_the_others(tmp_path: Path) -> None:
    odd = {**rollout(50, 0), "response": 3}
    path = write_bytes(tmp_path / "run.jsonl", jsonl([*(rollout(n, 0) for n in range(99)), odd, rollout(99, 0)]))
    found = read(path).scan
    assert [row.get("response.model") for row in records(found)] == ["model-a"] * 100
    assert [(bad.line, bad.reason) for bad in found.bad] == [(100, "response is a number, expected an object")]


def test_values_do_not_depend_on_where_chunks_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values: list[Any] = [1, [1, 2], "a", {"x": 1}, None, [{"y": 1}], 0.5, True]
    rows = [{"id": n, "score": 1, "field": values[n // 30 % 8]} for n in range(480)]
    path = write_bytes(tmp_path / "run.jsonl", jsonl(rows))
    whole = records(read(path).scan)
    read_by(monkeypatch, 300)
    assert records(read(path).scan) == whole
    assert [row.get("field") for row in whole[15::30][:8]] == [
        1, "[1, 2]", "a", '{"x": 1}', None, '[{"y": 1}]', 0.5, True,
    ]  # fmt: skip


def test_a_row_that_has_to_be_mended_keeps_its_other_fields(tmp_path: Path) -> None:
    nested = rollout(1, 0, output=[[message("by turn")]], params={"tools": [{"name": "look"}]}, odd=["a", {"b": 1}])
    path = write_bytes(tmp_path / "run.jsonl", jsonl([rollout(0, 0, odd=3), nested]))
    file = read(path)
    found = records(file.scan)[1]
    assert (found["responses_create_params.tools"], found["odd"]) == (True, '["a",{"b":1}]')
    assert [item.text for item in items_of(file)[1]] == ["question 1", "by turn"]


def test_new_layouts_are_not_made_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bool] = []

    class Noted(Layout):
        def __init__(self, tree: Any, *, strict: bool = True) -> None:
            made.append(strict)
            super().__init__(tree, strict=strict)

    monkeypatch.setattr(decoding, "Layout", Noted)
    read_by(monkeypatch, 64)
    rows = [{"id": n, "score": 1, f"field_{n}": n} for n in range(200)]
    found = read(write_bytes(tmp_path / "wild.jsonl", jsonl(rows))).scan
    assert (len(found), made) == (200, [True] * decoding.MAX_SURPRISES + [False])


def test_odd_rows_in_every_chunk_do_not_use_up_the_surprises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_by(monkeypatch, 150)
    rows: list[Row] = [{"id": n, "score": 1, "meta": {"a": n} if n % 2 else "none"} for n in range(200)]
    found = read(write_bytes(tmp_path / "odd.jsonl", jsonl([*rows, {"id": 200, "late": "here"}]))).scan
    kept: list[Row] = [
        {"id": 198, "score": 1, "meta": "none"},
        {"id": 199, "score": 1, "meta.a": 199},
        {"id": 200, "late": "here"},
    ]
    assert (records(found)[-3:], found.bad) == (kept, [])


@pytest.mark.parametrize("single", ["none", "", 0, 2.5, True, "x" * 300])
@pytest.mark.parametrize("first", ["object", "single"])
def test_an_object_in_some_rows_has_its_fields_and_single_values_stand_beside_them(
    tmp_path: Path, single: Any, first: str
) -> None:
    rows: list[Row] = [{"id": 0, "meta": {"a": {"b": "deep"}}}, {"id": 1, "meta": single}, {"id": 2, "meta": None}]
    ordered = rows if first == "object" else [rows[1], rows[0], rows[2]]
    found = read(write_bytes(tmp_path / "either.jsonl", jsonl(ordered))).scan
    kept = {} if single == "x" * 300 else {"meta": single}  # as any text too long for a table
    expected = [{"id": 0, "meta.a.b": "deep"}, {"id": 1, **kept}, {"id": 2}]
    assert (sorted(records(found), key=lambda row: row["id"]), found.bad) == (expected, [])


def test_late_objects_and_late_single_values_are_kept_whichever_process_meets_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"id": n, "score": 1} | ({"late": {"a": n} if n % 3 else f"w{n}"} if n > 150 else {}) for n in range(400)]
    path = write_bytes(tmp_path / "late.jsonl", jsonl(rows))
    whole = records(read(path).scan)
    monkeypatch.setattr(ranges, "MIN_RANGE", 1)
    assert whole[398:] == [{"id": 398, "score": 1, "late.a": 398}, {"id": 399, "score": 1, "late": "w399"}]
    with use(InThisProcess(3)):
        assert records(read(path).scan) == whole


def test_of_two_fields_with_one_path_the_first_is_kept(tmp_path: Path) -> None:
    rows = [{"id": n, "score": 1, "a.b": n, "a": {"b": 10 + n}} for n in range(3)]
    found = read(write_bytes(tmp_path / "twice.jsonl", jsonl(rows))).scan
    assert [row["a.b"] for row in records(found)] == [0, 1, 2]
    assert len(found.columns["a.b"].values) == 3
