import gzip
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_rows import Row, rollout
from scans import agent_row, flat_row, items_of, jsonl, plain, read, records, write_bytes

from blade.errors import InputError
from blade.rollouts.finding import find_inputs
from blade.rollouts.sources import (
    check_frames,
    compression,
    fill,
    is_sidecar,
    looks_like_rollouts,
    open_stream,
    skip,
    stem,
    take,
)

ROWS = [agent_row(number) for number in range(5)]


def in_frames(data: bytes) -> bytes:
    half = len(data) // 2
    return zstandard.compress(data[:half]) + zstandard.compress(data[half:])


@pytest.mark.parametrize(
    "pack",
    [
        pytest.param(gzip.compress, id="gzip"),
        pytest.param(lambda data: gzip.compress(data[:99]) + gzip.compress(data[99:]), id="gzip_in_members"),
        pytest.param(zstandard.compress, id="zstd"),
        pytest.param(in_frames, id="zstd_in_frames"),
    ],
)
def test_a_compressed_file_is_read_like_the_plain_one(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    plain_file = read(write_bytes(tmp_path / "run.jsonl", jsonl(ROWS)))
    packed = read(write_bytes(tmp_path / "run.packed", pack(jsonl(ROWS))))
    assert plain(packed.scan) == plain(plain_file.scan)
    assert items_of(packed) == items_of(plain_file)


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(json.dumps, id="array"),
        pytest.param(lambda rows: json.dumps(rows, indent=2), id="pretty_array"),
        pytest.param(lambda rows: "\n".join(json.dumps(row, indent=2) for row in rows), id="pretty_objects"),
        pytest.param(lambda rows: json.dumps({"results": rows, "meta": {"n": 1}}), id="wrapped"),
        pytest.param(lambda rows: json.dumps({"meta": [{"n": 1}], "results": rows}, indent=1), id="pretty_wrapped"),
        pytest.param(lambda rows: "\ufeff" + json.dumps(rows), id="array_after_a_byte_order_mark"),
    ],
)
@pytest.mark.parametrize(
    "rows", [pytest.param(ROWS, id="gym"), pytest.param([flat_row(n) for n in range(5)], id="flat")]
)
def test_other_layouts_hold_the_same_records_as_lines(
    tmp_path: Path, write: Callable[[Any], str], rows: list[Row]
) -> None:
    lines = read(write_bytes(tmp_path / "run.jsonl", jsonl(rows)))
    other = read(write_bytes(tmp_path / "run.json", write(rows).encode()))
    assert records(other.scan) == records(lines.scan)
    assert (items_of(other), other.scan.bad) == (items_of(lines), [])


@pytest.mark.parametrize(
    ("pack", "reason"),
    [
        pytest.param(gzip.compress, "the file cannot be read any further: Compressed file ended", id="gzip"),
        pytest.param(zstandard.compress, "the file cannot be read any further: Compressed file ended", id="zstd"),
    ],
)
def test_a_truncated_archive_keeps_what_was_readable(
    tmp_path: Path, pack: Callable[[bytes], bytes], reason: str
) -> None:
    noise = random.Random(0)
    rows = [rollout(n, 0, response={"noise": noise.randbytes(200).hex()}) for n in range(4000)]
    whole = pack(jsonl(rows))
    file = read(write_bytes(tmp_path / "run.jsonl.gz", whole[: len(whole) * 3 // 4]))
    kept = len(file.scan)
    assert 2000 < kept < 4000
    assert [row["_ng_task_index"] for row in records(file.scan)] == list(range(kept))
    assert file.scan.bad[-1].reason.startswith(reason)
    assert re.search(r"; [\d,]+ bytes were unpacked before that$", file.scan.bad[-1].reason)
    assert len(items_of(file, last=3)) == 3


def test_an_archive_that_ends_between_blocks_says_so(tmp_path: Path) -> None:
    packer = zstandard.ZstdCompressor().compressobj()
    blocks = [
        packer.compress(jsonl([rollout(n, 0) for n in range(first, first + 5)]))
        + packer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
        for first in range(0, 20, 5)
    ]
    found = read(write_bytes(tmp_path / "run.jsonl.zst", b"".join(blocks[:2]))).scan

    assert (len(found), [bad.reason[:35] for bad in found.bad]) == (10, ["the file cannot be read any further"])


@given(
    sizes=st.lists(st.integers(0, 300_000), min_size=1, max_size=4),
    checked=st.booleans(),
    sized=st.booleans(),
    level=st.sampled_from([1, 19]),
    cut=st.floats(0, 1, exclude_max=True),
)
@settings(max_examples=40, deadline=None)
def test_every_whole_archive_is_whole_and_every_cut_one_is_not(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], checked: bool, sized: bool, level: int, cut: float
) -> None:
    packer = zstandard.ZstdCompressor(level=level, write_checksum=checked, write_content_size=sized)
    noise = random.Random(0)
    frames = [packer.compress(noise.randbytes(size // 2) + b"a" * (size // 2)) for size in sizes]
    skippable = b"\x53\x2a\x4d\x18\x04\0\0\0abcd"
    path = write_bytes(tmp_path_factory.mktemp("zst") / "a.zst", b"".join([*frames[:-1], skippable, frames[-1]]))
    check_frames(path)

    kept = path.stat().st_size - len(frames[-1]) + 1 + int(cut * (len(frames[-1]) - 1))
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(EOFError):
        check_frames(path)


def test_a_truncated_archive_of_an_array_says_so_too(tmp_path: Path) -> None:
    whole = gzip.compress(
        json.dumps([{"id": n, "score": 1, "x": random.Random(n).randbytes(50).hex()} for n in range(9000)]).encode()
    )
    found = read(write_bytes(tmp_path / "run.json.gz", whole[: len(whole) // 2])).scan
    assert (len(found) > 100, found.bad[-1].reason[:35]) == (True, "the file cannot be read any further")


@pytest.mark.parametrize("data", [b"", b" \n\n", gzip.compress(b"", mtime=0)], ids=["empty", "blank", "empty_gzip"])
def test_an_empty_file_is_an_input_error(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(InputError, match="is empty; expected JSON records, one per line or in an array"):
        read(write_bytes(tmp_path / "run.jsonl", data))


def test_an_archive_cut_before_its_first_row_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ended before its last frame did; 0 bytes were unpacked"):
        read(
            write_bytes(
                tmp_path / "run.jsonl.zst", zstandard.compress(random.Random(0).randbytes(5000).hex().encode())[:300]
            )
        )


@pytest.mark.parametrize("name", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_text_in_wide_characters_is_known_as_such(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="is UTF-16 or UTF-32 text; convert it to UTF-8"):
        read(write_bytes(tmp_path / "run.jsonl", jsonl(ROWS).decode().encode(name)))


def test_a_missing_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.jsonl: cannot be read: No such file or directory"):
        read(tmp_path / "absent.jsonl")


def test_an_archive_that_is_none_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read(write_bytes(tmp_path / "run.jsonl.gz", b"\x1f\x8b not gzip"))


def test_compression_is_told_by_content_and_not_by_name(tmp_path: Path) -> None:
    files = {"a.gz": b"{}", "b.jsonl": gzip.compress(b"{}"), "c.jsonl": zstandard.compress(b"{}"), "d": b""}
    found = [compression(write_bytes(tmp_path / name, data)) for name, data in files.items()]
    assert found == [None, "gzip", "zstd", None]


def test_a_byte_order_mark_in_an_archive_is_no_part_of_the_first_row(tmp_path: Path) -> None:
    file = read(write_bytes(tmp_path / "run.gz", gzip.compress(b"\xef\xbb\xbf" + jsonl(ROWS))))
    assert (file.scan.offset[0], len(file.scan), file.scan.bad) == (3, 5, [])


def test_bytes_are_reached_by_skipping_to_them(tmp_path: Path) -> None:
    with open_stream(write_bytes(tmp_path / "x.gz", gzip.compress(b"0123456789"))) as stream:
        skip(stream, 4)
        assert b"".join(take(stream, 3)) == b"456"
        assert b"".join(take(stream, 99)) == b"789"


def make_files(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"{}\n")


def test_a_directory_gives_its_rollout_files_in_name_order(tmp_path: Path) -> None:
    names = ["b.jsonl", "a.jsonl.gz", "sub/c.json", "notes.txt", ".hidden.jsonl", "a_failures.jsonl", "analysis.json"]
    make_files(tmp_path, *names)
    found = [str(path.relative_to(tmp_path)) for path in find_inputs([str(tmp_path)])]
    assert found == ["a.jsonl.gz", "b.jsonl", "sub/c.json"]


def test_a_pattern_gives_what_it_matches_without_sidecars(tmp_path: Path) -> None:
    make_files(tmp_path, "run_1.jsonl", "run_2.jsonl", "run_1_materialized_inputs.jsonl")
    found = find_inputs([str(tmp_path / "run_*.jsonl")])
    assert [path.name for path in found] == ["run_1.jsonl", "run_2.jsonl"]


def test_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    make_files(tmp_path, "a.jsonl", "b.jsonl")
    found = find_inputs([str(tmp_path / "b.jsonl"), str(tmp_path)])
    assert [path.name for path in found] == ["b.jsonl", "a.jsonl"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        pytest.param("absent.jsonl", "no such file or directory", id="missing"),
        pytest.param("runn.jsonl", "did you mean", id="misspelt"),
        pytest.param("x*.jsonl", "no file matches this pattern", id="pattern"),
        pytest.param("empty", "no rollouts in this folder", id="directory"),
        pytest.param("circle", "is a link that leads to no file", id="link_in_a_circle"),
        pytest.param("gone", "is a link that leads to no file", id="link_to_nothing"),
    ],
)
def test_inputs_that_are_not_there_say_what_to_do(tmp_path: Path, asked: str, message: str) -> None:
    make_files(tmp_path, "run.jsonl", "empty/readme.txt")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    (tmp_path / "gone").symlink_to(tmp_path / "absent")
    with pytest.raises(InputError, match=message):
        find_inputs([str(tmp_path / asked)])


def test_sidecars_are_known_by_their_names() -> None:
    names = [
        "a.jsonl",
        "a_failures.jsonl",
        "a_materialized_inputs.jsonl.gz",
        "a_aggregate_metrics.json",
        "a_manifest.json",
        "failures.jsonl",
    ]
    assert [is_sidecar(Path(name)) for name in names] == [False, True, True, True, True, False]
    assert [looks_like_rollouts(Path(name)) for name in names] == [True, False, False, False, False, True]
    assert stem(Path("runs/a.jsonl.zst")) == "a"


def test_a_zstandard_file_cut_between_blocks_ends_at_one_place_however_it_is_read(tmp_path: Path) -> None:
    pack = zstandard.ZstdCompressor().compressobj()
    blocks = [pack.compress(b"a" * 3000) + pack.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK) for _ in range(40)]
    path = tmp_path / "cut.jsonl.zst"
    path.write_bytes(b"".join(blocks[:30]))

    def length(step: int) -> int:
        view, done = memoryview(bytearray(step)), 0
        with open_stream(path) as stream:
            while True:
                count, damage = fill(stream, view)
                done += count
                if damage is not None:
                    return done

    assert [length(step) for step in (7, 1000, 3000, 1 << 20)] == [90_000] * 4
