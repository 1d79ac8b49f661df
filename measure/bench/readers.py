"""Measures reading other formats beside the software that writes them: `make bench-readers`.

Each format's own software must be installed beside BLADE (`.venv/bin/pip install inspect-ai harbor`); without it, its
part is left out. Logs are made here from the samples in tests/data. Both sides give every rollout with its whole
trajectory; processor time counts, the best of three. Memory is what reading adds to a process, for a small log and a
large one.
"""

import argparse
import importlib
import importlib.util
import json
import resource
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from timing import apart, timed

from blade.rollouts.formats import harbor, inspect
from blade.rollouts.formats.reader import Reader
from blade.rollouts.formats.zips import open_archive, unpack
from blade.rollouts.values import Rollout

DATA = Path(__file__).parents[2] / "tests/data/formats"
ROUNDS = 3


class Contest(NamedTuple):
    """One format: who reads it, and how a source of some size is made."""

    reader: Reader
    package: str
    module: str
    theirs: Callable[[Path], int]
    make: Callable[[Path, int], None]


class Taken(NamedTuple):
    rollouts: int
    seconds: float
    megabytes: float


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument(
        "--rollouts", type=int, default=400, help="rollouts of the large source; the small has a tenth"
    )
    count = options.parse_args().rollouts
    for contest in CONTESTS:
        if importlib.util.find_spec(contest.module.partition(".")[0]) is None:
            print(f"{contest.reader.title}: left out, since {contest.package} is not installed.")
            continue
        with tempfile.TemporaryDirectory() as folder:
            compare(contest, Path(folder), count)


def compare(contest: Contest, folder: Path, count: int) -> None:
    print(f"{contest.reader.title}, {contest.package}")
    importlib.import_module(contest.module)
    for size in (max(count // 10, 1), count):
        path = folder / f"{size}.eval"
        contest.make(path, size)
        theirs, ours = best(contest.theirs, path), best(lambda path: read_all(contest.reader, path), path)
        if theirs.rollouts != ours.rollouts:
            raise SystemExit(f"they read {theirs.rollouts} rollouts, we read {ours.rollouts}")
        print(
            f"  {size:5} rollouts   theirs {theirs.seconds:7.2f} s {theirs.megabytes:6.0f} MB"
            f"   ours {ours.seconds:7.2f} s {ours.megabytes:6.0f} MB   {theirs.seconds / ours.seconds:5.1f} times"
        )


def best(read: Callable[[Path], int], path: Path) -> Taken:
    return min((apart(lambda: measured(read, path)) for _ in range(ROUNDS)), key=lambda taken: taken.seconds)


def measured(read: Callable[[Path], int], path: Path) -> Taken:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    spent, found = timed(lambda: read(path))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Taken(found, spent.processor, (after - before) / 1024)


def read_all(reader: Reader, path: Path) -> int:
    return sum(isinstance(found, Rollout) for found in reader.read(path, None))


def read_with_inspect(path: Path) -> int:
    return len(importlib.import_module("inspect_ai.log").read_eval_log(str(path)).samples or [])


def make_inspect_log(path: Path, samples: int, turns: int = 40) -> None:
    """A log of agents that call a tool some forty times each, in the shape of the sample log."""
    source = open_archive(DATA / "inspect/every_way.eval")
    with source.path.open("rb") as file, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        files = {name: unpack(file, member) for name, member in source.members.items()}
        sample = json.loads(files["samples/loop_epoch_1.json"])
        for name in ("_journal/start.json", "header.json"):
            target.writestr(name, files[name])
        for number in range(samples):
            target.writestr(f"samples/{number}_epoch_1.json", json.dumps(longer(sample, number, turns)))


def longer(sample: dict[str, Any], number: int, turns: int) -> dict[str, Any]:
    """A sample whose agent went on: more calls, more answers, and the events of each."""
    messages = sample["messages"][:2]
    call, answer = sample["messages"][2:4]
    model = next(event for event in sample["events"] if event["event"] == "model")
    tool = next(event for event in sample["events"] if event["event"] == "tool")
    events: list[dict[str, Any]] = []
    for turn in range(turns):
        made = f"call-{number}-{turn}"
        spoken = {**call, "id": f"said-{turn}", "tool_calls": [{**call["tool_calls"][0], "id": made}]}
        output = {**model["output"], "choices": [{"message": spoken, "stop_reason": "tool_calls"}]}
        text = " ".join(f"line {turn} of {number} says {word}" for word in range(60))
        events.append({**model, "uuid": f"m{turn}", "input_refs": [[0, len(messages)]], "output": output})
        events.append({**tool, "uuid": f"t{turn}", "id": made, "result": text, "message_id": f"heard-{turn}"})
        messages = [*messages, spoken, {**answer, "id": f"heard-{turn}", "content": text, "tool_call_id": made}]
    pool = {**sample["events_data"], "messages": messages}
    return {**sample, "id": number, "messages": messages, "events": [*others(sample, events)], "events_data": pool}


def others(sample: dict[str, Any], events: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The sample's events with these in the place of its own calls."""
    first = next(place for place, event in enumerate(sample["events"]) if event["event"] == "model")
    kept = [event for event in sample["events"][first:] if event["event"] not in ("model", "tool")]
    yield from sample["events"][:first]
    yield from events
    yield from kept


def read_with_harbor(path: Path) -> int:
    results = importlib.import_module("harbor.models.trial.result").TrialResult
    trajectories = importlib.import_module("harbor.models.trajectories").Trajectory
    count = 0
    for trial in sorted(path.iterdir()):
        results.model_validate_json((trial / "result.json").read_text())
        trajectories.model_validate_json((trial / "agent" / "trajectory.json").read_text())
        count += 1
    return count


def make_harbor_job(path: Path, trials: int, turns: int = 40, *, escaped: bool = False) -> None:
    """A job of agents that call a tool some forty times each and read sixty lines a time, after the sample trial.

    Terminus writes its trajectories in ASCII, other agents leave letters as they are.
    """
    sample = DATA / "harbor/job/fix-git__a1"
    document = json.loads((sample / "agent/trajectory.json").read_text())
    prompt, turn = document["steps"][:2], document["steps"][2]
    for number in range(trials):
        steps = [*prompt]
        for _ in range(turns):
            step = json.loads(json.dumps({**turn, "step_id": len(steps) + 1}))
            step["reasoning_content"] = " ".join(f"thought {word} of {number}" for word in range(40))
            step["observation"]["results"][0]["content"] = "\n".join(f"{number}: line {line}" * 3 for line in range(60))
            steps.append(step)
        folder = path / f"fix-git__{number:05}"
        (folder / "agent").mkdir(parents=True)
        (folder / "result.json").write_text((sample / "result.json").read_text())
        (folder / "agent/trajectory.json").write_text(
            json.dumps({**document, "steps": steps}, indent=2, ensure_ascii=escaped)
        )


CONTESTS = [
    Contest(inspect.READER, "inspect-ai", "inspect_ai.log", read_with_inspect, make_inspect_log),
    Contest(harbor.READER, "harbor", "harbor.models.trial.result", read_with_harbor, make_harbor_job),
    Contest(
        harbor.READER,
        "harbor, in ASCII",
        "harbor.models.trial.result",
        read_with_harbor,
        partial(make_harbor_job, escaped=True),
    ),
]

if __name__ == "__main__":
    main()
