"""Files of a run: whole or not at all, never torn, never written past a full disk."""

import asyncio
import os
from io import FileIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import Loopback, Say
from small_benchmark import run_small, small_plan

from blade.errors import InputError
from blade.evals.files import RunFiles, cut_torn_line, last_line_end, write_whole
from blade.evals.journal import Journal, entry_of


def test_sidecars_are_named_as_gym_names_them() -> None:
    files = RunFiles(Path("out/a.b.jsonl"))

    assert [path.name for path in (files.inputs, files.failures, files.aggregate, files.manifest)] == [
        "a.b_materialized_inputs.jsonl",
        "a.b_failures.jsonl",
        "a.b_aggregate_metrics.json",
        "a.b_manifest.json",
    ]


@given(st.binary(max_size=60).map(lambda data: data.replace(b"\0", b"\n")), st.integers(min_value=1, max_value=7))
def test_the_last_line_end_is_found_whatever_the_file_holds(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, step: int
) -> None:
    path = tmp_path_factory.mktemp("files") / "rows"
    path.write_bytes(data)
    with path.open("rb") as file:
        assert last_line_end(file, len(data), step=step) == data.rfind(b"\n") + 1


def test_what_follows_the_last_line_end_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(b"one\ntwo\nthr")

    assert (cut_torn_line(path), path.read_bytes()) == (3, b"one\ntwo\n")
    assert (cut_torn_line(path), cut_torn_line(tmp_path / "none")) == (0, 0)


def test_a_file_that_breaks_off_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def chunks() -> "object":
        yield b"new"
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        write_whole(path, chunks())  # type: ignore[arg-type]
    assert path.read_bytes() == b"old"


def test_a_row_counts_only_once_it_is_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(number))
    seen: list[tuple[int, int]] = []

    async def write() -> None:
        with FileIO(tmp_path / "rows", "ab") as rows, FileIO(tmp_path / "failures", "ab") as failures:
            journal = Journal(
                rows, failures, on_safe=lambda entry: seen.append((len(synced), (tmp_path / "rows").stat().st_size))
            )
            task = asyncio.create_task(journal.write())
            await journal.put(entry_of({"a": 1}))
            await journal.finish(task)

    asyncio.run(write())
    assert seen == [(1, len(b'{"a":1}\n'))]


def test_a_disk_that_is_full_ends_the_run_in_a_sentence_that_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Journal, "_sync", lambda self, lines: no_space(0))
    tasks = [{"answer": n} for n in range(400)]
    with (
        Loopback(lambda call: Say("1")) as server,
        pytest.raises(InputError, match="No space left on device; what is written is safe, --resume"),
    ):
        run_small(small_plan(tmp_path, tasks), server, tmp_path / "out.jsonl")
