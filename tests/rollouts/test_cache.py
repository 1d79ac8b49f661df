import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_rows import rollout
from scans import agent_row, flat_row, jsonl, plain, read, records, some_rows, write_bytes

from blade.errors import InputError
from blade.rollouts import cache, ranges, reader


def is_read_again(path: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> bool:
    """Whether a look at the file reads rows of it."""
    return bool(starts_of_reading(path, monkeypatch, **options))


def starts_of_reading(path: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> list[int]:
    """Where a look at the file begins to read rows; nowhere when all are known."""
    starts: list[int] = []

    def noted(place: Path, start: int, end: int, *, jobs: int) -> list[ranges.Range]:
        starts.append(start)
        return ranges.split_ranges(place, start, end, jobs=jobs)

    monkeypatch.setattr(reader, "split_ranges", noted)
    read(path, cached=True, **options)
    return starts


@settings(max_examples=150, deadline=None)
@given(
    rows=st.sampled_from(["gym", "records"]).flatmap(some_rows),
    cut=st.integers(0, 4000),
    torn=st.sampled_from([b"", b"  "]),
)
def test_a_file_that_grew_is_read_as_if_it_were_new(
    tmp_path_factory: Any, rows: list[Any], cut: int, torn: bytes
) -> None:
    data = jsonl([flat_row(), *rows, "no object"])
    path = tmp_path_factory.mktemp("grown") / "run.jsonl"
    at = min(cut, len(data) - 1)
    write_bytes(path, data[:at] + torn)
    try:
        read(path, cached=True)
    except InputError:
        return
    write_bytes(path, data[:at] + torn + data[at:])
    assert plain(read(path, cached=True).scan) == plain(read(path).scan)


def test_a_torn_last_line_is_bad_until_it_is_finished(tmp_path: Path) -> None:
    data = jsonl([rollout(0, 0), rollout(1, 0), rollout(2, 0)])
    path = write_bytes(tmp_path / "run.jsonl", data[:-30])
    torn = read(path, cached=True).scan
    write_bytes(path, data)
    whole = read(path, cached=True).scan
    assert (len(torn), [bad.line for bad in torn.bad]) == (2, [3])
    assert (whole.line.tolist(), whole.bad) == ([1, 2, 3], [])


@pytest.mark.parametrize("end", [b"", b"  ", b"\n", b"\n ", b"\xef", b'{"id": 1'])
def test_what_stands_after_the_last_line_break_is_looked_at_again(tmp_path: Path, end: bytes) -> None:
    data = jsonl([flat_row(0), flat_row(1)])
    path = write_bytes(tmp_path / "run.jsonl", data + end)
    read(path, cached=True)
    write_bytes(path, data + end + b"\n" + data)
    assert plain(read(path, cached=True).scan) == plain(read(path).scan)


def test_a_change_in_the_middle_of_a_small_file_that_grew_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    data = jsonl([flat_row(n) for n in range(9000)])
    path = write_bytes(tmp_path / "run.jsonl", data)
    read(path, cached=True)
    place = data.index(b'"score": ', len(data) // 128 + 4096) + len(b'"score": ')
    write_bytes(path, data[:place] + b"7" + data[place + 1 :] + jsonl([flat_row(9000)]))
    assert plain(read(path, cached=True).scan) == plain(read(path).scan)


def test_only_what_was_added_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_bytes(tmp_path / "run.jsonl", jsonl([rollout(n, 0) for n in range(9)]))
    read(path, cached=True)
    size = path.stat().st_size
    write_bytes(path, path.read_bytes() + jsonl([rollout(9, 0)]))
    assert starts_of_reading(path, monkeypatch) == [size]
    assert len(read(path, cached=True).scan) == 10


def test_an_unchanged_file_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_bytes(tmp_path / "run.jsonl", jsonl([agent_row(n) for n in range(3)]))
    first = read(path, cached=True).scan
    assert not is_read_again(path, monkeypatch)
    assert plain(read(path, cached=True).scan) == plain(first)


def test_files_that_begin_alike_do_not_take_each_others_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [write_bytes(tmp_path / f"{n}.jsonl", jsonl([agent_row(0), agent_row(n)])) for n in (1, 2)]
    for path in paths:
        read(path, cached=True)
    assert [is_read_again(path, monkeypatch) for path in paths] == [False, False]


@pytest.mark.parametrize("options", [{"features": False}, {"fields": ("difficulty",)}, {"format": "records"}])
def test_a_file_read_another_way_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    path = write_bytes(tmp_path / "run.jsonl", jsonl([agent_row(0)]))
    read(path, cached=True)
    assert is_read_again(path, monkeypatch, **options)


@settings(max_examples=60, deadline=None)
@given(place=st.integers(0, 10**9), value=st.sampled_from(b"0123456789"))
def test_a_changed_file_is_never_served_from_the_cache(tmp_path_factory: Any, place: int, value: int) -> None:
    path = write_bytes(
        tmp_path_factory.mktemp("changed") / "run.jsonl", jsonl([{"id": n, "score": 1} for n in range(99)])
    )
    read(path, cached=True)
    data = bytearray(path.read_bytes())
    digits = [at for at, byte in enumerate(data) if chr(byte).isdigit() and at > 20]
    data[digits[place % len(digits)]] = value
    write_bytes(path, bytes(data))
    assert plain(read(path, cached=True).scan) == plain(read(path).scan)


def test_a_change_that_hides_behind_the_old_time_is_found(tmp_path: Path) -> None:
    path = write_bytes(tmp_path / "run.jsonl", jsonl([{"id": n, "score": 0} for n in range(20_000)]))
    read(path, cached=True)
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    data = bytearray(path.read_bytes())
    changed = data.rindex(b'"score": 0', 0, len(data) // 3 - 5000) + len(b'"score": ')
    data[changed] = ord("1")
    write_bytes(path, bytes(data))
    os.utime(path, ns=times)
    assert sum(row["score"] for row in records(read(path, cached=True).scan)) == 1


def test_another_file_that_begins_alike_and_is_longer_is_read_whole(tmp_path: Path) -> None:
    first = {"id": "same", "score": 0}
    path = write_bytes(tmp_path / "run.jsonl", jsonl([first, {"id": "a", "score": 0}]))
    read(path, cached=True)
    write_bytes(path, jsonl([first, {"id": "b", "score": 1}, {"id": "c", "score": 1}]))
    assert [row["id"] for row in records(read(path, cached=True).scan)] == ["same", "b", "c"]


@pytest.mark.parametrize("damage", [b"", b"nonsense", b"\x28\xb5\x2f\xfd"])
def test_a_damaged_entry_is_as_good_as_none(tmp_path: Path, own_cache: Path, damage: bytes) -> None:
    path = write_bytes(tmp_path / "run.jsonl", jsonl([flat_row(0)]))
    read(path, cached=True)
    for entry in own_cache.rglob("*.blade"):
        entry.write_bytes(damage)
    assert [row["id"] for row in records(read(path, cached=True).scan)] == ["q0"]


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLADE_CACHE_DIR", str(write_bytes(tmp_path / "a_file", b"") / "below"))
    path = write_bytes(tmp_path / "run.jsonl", jsonl([flat_row(0)]))
    assert len(read(path, cached=True).scan) == 1


def test_numbers_too_large_to_store_are_no_error(tmp_path: Path) -> None:
    path = write_bytes(tmp_path / "run.jsonl", jsonl([{"id": 2**70, "score": 1}]))
    assert [records(read(path, cached=True).scan) for _ in range(2)] == [[{"id": 2**70, "score": 1}]] * 2


def test_only_the_latest_entries_are_kept(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "KEEP_ENTRIES", 2)
    for number in range(4):
        write_bytes(own_cache / f"{number}.blade", b"").touch()
        os.utime(own_cache / f"{number}.blade", (time.time() + number,) * 2)
    cache.forget_oldest(own_cache)
    assert sorted(entry.name for entry in own_cache.iterdir()) == ["2.blade", "3.blade"]


def test_one_flipped_bit_anywhere_in_an_entry_makes_it_none(tmp_path: Path) -> None:
    path = write_bytes(tmp_path / "run.jsonl", jsonl([rollout(n, 0, n % 2) for n in range(40)]))
    fresh = records(read(path, cached=True).scan)
    [entry] = (cache.cache_dir() / "scans").glob("*.blade")
    whole = entry.read_bytes()
    assert cache.load(entry) is not None
    for place in range(0, len(whole), max(1, len(whole) // 150)):
        entry.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        assert cache.load(entry) is None
    assert records(read(path, cached=True).scan) == fresh
