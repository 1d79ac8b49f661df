"""A reader made for the test stands for every foreign format: JSON with a made-up mark, one rollout per entry."""

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
from rollout_rows import keys, reasons

import blade
from blade.errors import UsageError
from blade.rollouts.formats import registry
from blade.rollouts.formats.building import Trajectory, bad_line, place
from blade.rollouts.formats.reader import Found, Note, Probe, Reader
from blade.rollouts.values import Ending, Expected, ExpectedCall, Rollout, Usage


def recognises(probe: Probe) -> bool:
    return "made_up" in probe.keys


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    yield Note(text="made up")
    for index, entry in enumerate(json.loads(path.read_text(encoding="utf-8"))["made_up"]):
        if entry.get("broken"):
            yield bad_line(path, "is broken", offset=index)
        elif wanted is None or index in wanted:
            steps = Trajectory()
            steps.add_chat([{"role": "user", "content": "do"}, {"role": "assistant", "content": f"step {index}"}])
            steps.add("tool_result", "boom", name="shell", error="OSError")
            yield Rollout(
                task=entry["task"],
                repeat=entry.get("repeat", 0),
                run=entry.get("run"),
                variant=entry.get("variant"),
                reward=entry.get("reward"),
                scores={"main": entry.get("reward"), "other": 1.0},
                ending=Ending(**entry.get("ending", {})),
                answer="42",
                expected=Expected(answers=["42"], calls=[ExpectedCall(name="shell", arguments={"a": 1})]),
                tests={"t1": "failed"},
                usage=Usage(input_tokens=3, cost=0.5),
                fields={"difficulty": "hard", "model": "taken name"},
                items=steps.items,
                source=place(path, index),
            )


@pytest.fixture(autouse=True)
def made_up_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Reader(name="made-up", title="Made up", recognises=recognises, read=read)
    monkeypatch.setattr(registry, "READERS", (reader, *registry.READERS))
    registry.all_readers.cache_clear()


def write(folder: Path, *entries: dict[str, Any], name: str = "log.json") -> Path:
    path = folder / name
    path.write_text(json.dumps({"made_up": entries}), encoding="utf-8")
    return path


def test_a_rollout_of_a_foreign_format_keeps_its_meaning(tmp_path: Path) -> None:
    run = blade.read(write(tmp_path, {"task": "a", "reward": 0.0}, {"task": "b", "reward": 1.0}))
    found = run.rollout("b:0")
    assert [(item.kind, item.text, item.error) for item in found.items] == [
        ("message", "do", None),
        ("message", "step 1", None),
        ("tool_result", "boom", "OSError"),
    ]
    assert (found.answer, found.tests, found.usage.cost) == ("42", {"t1": "failed"}, 0.5)
    assert found.expected == Expected(answers=["42"], calls=[ExpectedCall(name="shell", arguments={"a": 1})])
    assert found.fields == {"difficulty": "hard", "model": "taken name"}
    assert run.files[0].format.name == "made-up"
    assert run.notes == ["made up"]


@pytest.mark.parametrize(
    ("ending", "reward", "status"),
    [
        pytest.param({"kind": "timeout", "origin": "agent"}, None, "failed", id="timeout_without_a_verdict"),
        pytest.param({"kind": "timeout", "origin": "agent"}, 1.0, "truncated", id="timeout_that_passed"),
        pytest.param({"kind": "limit", "name": "tokens"}, 0.0, "truncated", id="limit"),
        pytest.param({"kind": "error", "name": "OSError"}, None, "failed", id="error"),
        pytest.param({}, None, "completed", id="completed_without_a_score"),
    ],
)
def test_why_a_rollout_ended_decides_its_status(
    tmp_path: Path, ending: dict[str, Any], reward: float | None, status: str
) -> None:
    found = blade.read(write(tmp_path, {"task": "a", "reward": reward, "ending": ending})).rollout("a:0")
    assert (found.status, found.ending) == (status, Ending(**ending))


def test_what_a_reader_cannot_read_is_a_bad_line(tmp_path: Path) -> None:
    run = blade.read(write(tmp_path, {"broken": True}, {"task": "a", "reward": 1.0}))
    assert (keys(run), reasons(run)) == (["a:0"], [(1, "is broken")])


def test_runs_of_one_source_are_told_apart(tmp_path: Path) -> None:
    path = write(tmp_path, *({"task": "a", "reward": 1.0, "run": name} for name in ("x", "y")))
    assert [(run.name, keys(run)) for run in blade.read_all(path)] == [("x", ["a:0"]), ("y", ["a:0"])]


def test_sources_of_one_run_are_shards(tmp_path: Path) -> None:
    paths = [write(tmp_path, {"task": task, "reward": 1.0}, name=f"log-{task}.json") for task in "ab"]
    assert [(run.name, keys(run)) for run in blade.read_all(paths)] == [("log", ["a:0", "b:0"])]


def test_variants_are_never_repeats(tmp_path: Path) -> None:
    path = write(tmp_path, *({"task": "a", "reward": float(v == "loose"), "variant": v} for v in ("strict", "loose")))
    run = blade.read(path)
    assert (keys(run), run.table.reward.tolist()) == (["a:0"], [0.0])
    assert run.notes[0] == "strict is counted of 2 variants; choose another with --variant: loose"
    assert blade.read(path, variant="loose").table.reward.tolist() == [1.0]
    with pytest.raises(UsageError, match="no variant 'x'; variants are: loose, strict"):
        blade.read(path, variant="x")


def test_another_scorer_can_be_chosen(tmp_path: Path) -> None:
    path = write(tmp_path, {"task": "a", "reward": 0.0})
    assert blade.read(path, score="other").table.reward.tolist() == [1.0]
    with pytest.raises(UsageError, match="no score 'x'; scores are: main, other"):
        blade.read(path, score="x")


def test_a_row_of_our_own_form_is_read_without_guessing(tmp_path: Path) -> None:
    row = {"task": "a", "repeat": 0, "reward": 1, "ending": {"kind": "completed"}, "output": [{"content": "hi"}]}
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps(row), encoding="utf-8")
    run = blade.read(path)
    assert (run.files[0].format.name, run.rollout("a:0").items[0].text, run.guessed) == ("blade", "hi", [])


def test_an_unknown_format_is_told_with_near_names(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown format 'made-upp'; did you mean made-up"):
        blade.read(write(tmp_path, {"task": "a"}), format="made-upp")
