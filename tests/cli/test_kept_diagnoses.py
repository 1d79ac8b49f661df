"""A diagnosis that was made before is written again, and made anew as soon as anything it rests on has changed."""

import os
from pathlib import Path
from typing import Any

import pytest
from blade_command import blade
from rollout_rows import message, rollout, write_rows

from blade.cli import pipeline
from blade.diagnosis import diagnose


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Runs that were really analysed."""
    found: list[str] = []
    analyse = diagnose

    def counted(run: Any, *args: Any, **named: Any) -> Any:
        found.append(run.name)
        return analyse(run, *args, **named)

    monkeypatch.setattr(pipeline, "diagnose", counted)
    return found


def rows(tasks: int = 6) -> list[dict[str, Any]]:
    return [rollout(task, repeat, reward=float(task % 2), output=[message(f"{task}")], kind=f"k{repeat}")
            for task in range(tasks) for repeat in range(2)]  # fmt: skip


def files_in(folder: Path) -> dict[str, bytes]:
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    found.pop(".blade/lock", None)
    return found


def look(source: Path, out: Path, *more: str) -> dict[str, bytes]:
    found = blade("diagnose", source, "--out", out, *more)
    assert found.exit_code == 0, found.stderr
    return files_in(out)


def test_a_second_look_analyses_nothing_and_writes_the_same(made: list[str], tmp_path: Path) -> None:
    source = write_rows(tmp_path / "in.jsonl", rows())
    first = look(source, tmp_path / "a")
    assert look(source, tmp_path / "b") == first == look(source, tmp_path / "a")
    assert made == ["in"]
    runs = [look(source, tmp_path / name, "--group-by", "kind") for name in ("c", "d")]
    assert runs[0] == runs[1] and "comparison.json" in runs[0]
    assert made == ["in", "k0", "k1"]


def append(source: Path) -> None:
    with source.open("a", encoding="utf-8") as file:
        file.write('{"_ng_task_index": 9, "_ng_rollout_index": 0, "reward": 1.0}\n')


def change(source: Path) -> None:
    times = source.stat()
    source.write_bytes(source.read_bytes().replace(b'"reward": 1.0', b'"reward": 0.0', 1))
    os.utime(source, ns=(times.st_atime_ns, times.st_mtime_ns))


def expect_more(source: Path) -> None:
    write_rows(source.with_name("in_materialized_inputs.jsonl"), [{"_ng_task_index": 50, "_ng_rollout_index": 0}])


@pytest.mark.parametrize("happens", [append, change, expect_more])
def test_whatever_changes_is_seen(made: list[str], tmp_path: Path, happens: Any) -> None:
    source = write_rows(tmp_path / "in.jsonl", rows())
    first = look(source, tmp_path / "a")
    happens(source)
    assert look(source, tmp_path / "a")["analysis.json"] != first["analysis.json"]
    assert made == ["in", "in"]


def test_other_options_are_another_diagnosis(made: list[str], tmp_path: Path) -> None:
    source = write_rows(tmp_path / "in.jsonl", rows())
    look(source, tmp_path / "a")
    look(source, tmp_path / "a", "--success", "reward >= 0.5")
    look(source, tmp_path / "a", "--no-cache")
    assert made == ["in"] * 3


def test_a_damaged_entry_is_none(made: list[str], tmp_path: Path) -> None:
    source = write_rows(tmp_path / "in.jsonl", rows())
    first = look(source, tmp_path / "a")
    (entry,) = (Path(os.environ["BLADE_CACHE_DIR"]) / "diagnoses").glob("*.blade")
    data = bytearray(entry.read_bytes())
    data[len(data) // 2] ^= 1
    entry.write_bytes(data)
    assert look(source, tmp_path / "b") == first
    entry.write_bytes(b"")
    assert look(source, tmp_path / "b") == first
    assert made == ["in"] * 3


def test_what_people_said_is_never_written_over(made: list[str], tmp_path: Path) -> None:
    source = write_rows(tmp_path / "in.jsonl", rows())
    look(source, tmp_path / "a")
    said = blade(
        "label", tmp_path / "a", "2", "--cause", "BI", "--cite", "2:0", "--reason", "so", "--author", "human:x"
    )
    assert said.exit_code == 0, said.stderr
    assert b"human:x" in look(source, tmp_path / "a")["labels.jsonl"]
    assert b"human:x" not in look(source, tmp_path / "b")["labels.jsonl"]
