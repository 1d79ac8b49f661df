import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scans import read, write_bytes

from blade.rollouts import lines
from blade.rollouts.lines import Chunk, layout_of, line_records, read_chunks, read_records, split_lines

records = st.lists(
    st.dictionaries(st.text(max_size=3), st.text() | st.integers() | st.lists(st.text(max_size=4)), max_size=4),
    min_size=1,
)


def stream(data: bytes) -> io.BufferedReader:
    return io.BufferedReader(io.BytesIO(data))


def chunk(data: bytes) -> Chunk:
    return Chunk(data, len(data), 0)


@pytest.mark.parametrize(
    ("head", "layout"),
    [
        pytest.param(b'{"a": 1}\n{"a": 2}\n', "lines", id="lines"),
        pytest.param(b'{"a": 1}', "lines", id="one_line"),
        pytest.param(b'\xef\xbb\xbf{"a": 1}\n', "lines", id="byte_order_mark"),
        pytest.param(b'[{"a": 1}]', "array", id="array"),
        pytest.param(b'[\n  {"a": 1}\n]', "array", id="pretty_array"),
        pytest.param(b'{\n  "a": 1\n}\n{\n  "a": 2\n}', "objects", id="pretty_objects"),
        pytest.param(b"{\n}\n", "objects", id="pretty_empty_object"),
        pytest.param(b'[1]\n{"a": 1}\n', "lines", id="odd_first_line"),
        pytest.param(b'{"a": 1\n{"a": 2}\n', "lines", id="torn_first_line"),
        pytest.param(b'{"a": "long line that is not over yet', "lines", id="first_line_longer_than_the_head"),
        pytest.param(b"<PLACEHOLDER ROW>\n", "lines", id="no_json"),
    ],
)
def test_the_first_bytes_tell_how_records_are_laid_out(head: bytes, layout: str) -> None:
    assert layout_of(head) == layout


@given(texts=st.lists(st.sampled_from([b"", b" ", b"{}", b'{"a": "bc"}', b"\r", b"x" * 300])), size=st.integers(1, 40))
def test_chunks_are_the_stream_cut_at_line_breaks(texts: list[bytes], size: int) -> None:
    data = b"\n".join(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "CHUNK", size)
        found = [(bytes(part.view), part.offset) for part in read_chunks(stream(data))]
    assert b"".join(part for part, _ in found) == data
    assert all(part.endswith(b"\n") for part, _ in found[:-1])
    assert all(data[offset : offset + len(part)] == part for part, offset in found)


@given(data=st.binary(max_size=60).map(lambda data: data.replace(b"a", b"\n")) | st.text("{}\n \r").map(str.encode))
def test_lines_are_numbered_and_placed_as_python_would(data: bytes) -> None:
    expected = [(number, line) for number, line in enumerate(data.split(b"\n")) if line.strip()]
    found = split_lines(chunk(data))
    starts, lengths = found.starts.tolist(), found.lengths.tolist()
    assert [data[start : start + length] for start, length in zip(starts, lengths, strict=True)] == [
        line for _, line in expected
    ]
    assert (found.numbers.tolist(), found.breaks) == ([number for number, _ in expected], data.count(b"\n"))


@pytest.mark.parametrize("length", [1, 3000])
def test_short_and_long_lines_are_found_alike(length: int) -> None:
    data = (b"x" * length + b"\n") * 50
    assert split_lines(chunk(data)).starts.tolist() == [number * (length + 1) for number in range(50)]


def test_line_records_carry_their_place_in_the_file() -> None:
    found = list(line_records(Chunk(b"a\n\nb\n", 5, 100), line=7))
    assert found == [(b"a", 100, 7), (b"b", 103, 9)]


@given(rows=records, indent=st.sampled_from([None, 0, 3]), size=st.integers(1, 50))
def test_an_array_in_any_dress_gives_its_records_and_their_places(
    rows: list[Any], indent: int | None, size: int
) -> None:
    data = json.dumps(rows, indent=indent).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "CHUNK", size)
        found = list(read_records(stream(data), "array"))
    assert [json.loads(record.data) for record in found] == rows
    for record in found:
        assert data[record.offset : record.offset + len(record.data)] == record.data
        assert record.line == 1 + data.count(b"\n", 0, record.offset)


@given(rows=records, indent=st.sampled_from([None, 2]), between=st.sampled_from(["", "\n", " \n\n"]))
def test_objects_one_after_the_other_need_no_separator(rows: list[Any], indent: int | None, between: str) -> None:
    data = between.join(json.dumps(row, indent=indent) for row in rows).encode()
    assert [json.loads(record.data) for record in read_records(stream(data), "objects")] == rows


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(
            b'[{"a": 1}, 3, "x", {"b": 2}]', [b'{"a": 1}', b"3", b'"x"', b'{"b": 2}'], id="scalars_among_them"
        ),
        pytest.param(b'[{"a": 1}, {"b": ', [b'{"a": 1}', b'{"b":'], id="torn"),
        pytest.param(b'[{"a": "]}["}]', [b'{"a": "]}["}'], id="brackets_in_texts"),
        pytest.param(b'[{"a": "\\""}]', [b'{"a": "\\""}'], id="escaped_quote"),
        pytest.param(b'[[{"a": 1}]]', [b'[{"a": 1}]'], id="nested_list"),
        pytest.param(b"[]", [], id="empty"),
        pytest.param(b'[{"a": 1}', [b'{"a": 1}', b""], id="never_closed"),
    ],
)
def test_records_are_cut_by_their_brackets(data: bytes, expected: list[bytes]) -> None:
    assert [record.data.strip() for record in read_records(stream(data), "array")] == expected


@pytest.mark.parametrize("length", [20_000_000, 40_000_000])
@pytest.mark.parametrize("last", [False, True], ids=["in_between", "at_the_end"])
def test_a_line_longer_than_any_row_is_one_bad_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int, last: bool
) -> None:
    monkeypatch.setenv("BLADE_MAX_LINE_MB", "1")
    row = b'{"task_id": "%d", "reward": 1}\n'
    data = row % 1 + b'{"x": "' + b"a" * length + b'"}' + (b"" if last else b"\n" + row % 3 + row % 4)
    found = read(write_bytes(tmp_path / "run.jsonl", data)).scan

    assert (len(found), [(bad.line, bad.reason) for bad in found.bad]) == (
        1 if last else 3,
        [(2, "is longer than 1 MiB; BLADE_MAX_LINE_MB allows more")],
    )
    assert found.offset[-1] == (0 if last else len(data) - len(row % 4))


def test_a_record_of_an_array_longer_than_any_row_ends_the_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLADE_MAX_LINE_MB", "1")
    data = b'[{"task_id": "1", "reward": 1},\n{"x": "' + b"a" * 5_000_000 + b'"}]'
    found = read(write_bytes(tmp_path / "run.json", data)).scan

    assert [bad.reason for bad in found.bad] == [
        "the file cannot be read any further: a record is longer than 1 MiB; BLADE_MAX_LINE_MB allows more"
    ]
