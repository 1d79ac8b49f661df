"""`*_aggregate_metrics.json`: the metrics of a finished run per agent, computed from its files, without any server.

The names, keys and values are NeMo Gym's. What its files lack stands under `blade` in every entry: what was expected
and is missing by the materialized inputs, attempts that failed before a verdict, and intervals over tasks.
"""

import contextlib
import heapq
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from typing import IO, Any, NamedTuple

import msgspec

from blade.errors import InputError, ProblemsFound
from blade.evals.counted import REPEAT, TASK, Key, Task, agent_of, key_of, plain, rank, raw_fields, read_lines
from blade.evals.entries import STUB, Agent, Tasks, measure_agent, task_entries
from blade.evals.files import movable, write_whole
from blade.evals.scored import Duplicates, Pool, Scored, read_scored
from blade.metrics.recipes import Recipe
from blade.rollouts.conform import BadRow
from blade.rollouts.sidecars import beside
from blade.rollouts.sources import SIDECARS, stem


class Expected(NamedTuple):
    """The rollouts that were asked for."""

    path: Path
    """The materialized inputs."""
    keys: dict[Key, str | None]
    """Agent of every rollout."""
    samples: dict[Task, tuple[int, int]]
    """Where the first row of every task stands: offset and length."""
    bad: int
    """Lines that are no inputs."""

    def of(self, agent: str | None, *, only: bool) -> dict[Task, int]:
        """Rollouts expected per task of an agent; rows that name no agent are those of the only one."""
        counts: dict[Task, int] = {}
        for (task, _), asked in self.keys.items():
            if asked == agent or (only and asked is None):
                counts[task] = counts.get(task, 0) + 1
        return counts


def read_expected(path: Path) -> Expected:
    """Reads which rollouts were asked for."""
    keys: dict[Key, str | None] = {}
    samples: dict[Task, tuple[int, int]] = {}
    bad = 0
    for line in read_lines(path):
        try:
            fields = raw_fields(line.data)
            key = key_of(fields)
        except BadRow:
            key = None
        if key is None:
            bad += 1
            continue
        if key in keys:
            raise ProblemsFound(f"{path}:{line.number}: rollout {key[0]}:{key[1]} is asked for twice.")
        keys[key] = agent_of(fields)
        samples.setdefault(key[0], (line.offset, len(line.data)))
    return Expected(path, keys, samples, bad)


def check_strangers(scored: Scored, expected: Expected) -> None:
    """Rollouts nobody asked for mean that the inputs belong to another run."""
    strangers = [key for key in scored.keys if key not in expected.keys]
    if strangers:
        task, repeat = strangers[0]
        raise ProblemsFound(
            f"{len(strangers)} rollouts, the first {task}:{repeat}, are not among the inputs in {expected.path.name}; "
            "those inputs belong to another run."
        )


def sample_of(data: bytes) -> dict[str, msgspec.Raw]:
    """A task's materialized row without the numbers of its rollout."""
    return {name: raw for name, raw in raw_fields(data).items() if name not in (TASK, REPEAT)}


FAILURE_CLASS = "_ng_failure_class"


class AggregateOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a run is aggregated."""

    success: str | None = None
    """When a rollout is a success; by default what the rewards say."""
    recipe: Recipe | None = None
    """How scores are made of rows; by default that of the server an agent is named after."""
    slices: tuple[str, ...] = ()
    """Task fields by whose values pass@k is given too."""
    duplicates: Duplicates = "error"
    """Which of several rows with one key counts."""
    inputs: Path | None = None
    """Materialized inputs; by default those beside the rollouts."""
    expected_repeats: int | None = None
    """Number of rollouts each task should have, if no inputs state it."""


class Aggregated(msgspec.Struct, frozen=True, kw_only=True):
    """What was written, and what it says."""

    path: Path
    """The file."""
    agents: list[Agent]
    """By name."""
    failures: dict[str, int]
    """Attempts that failed before a verdict, by class."""
    notes: list[str]
    """What a reader should know: rows left out, lines that are none, files that are missing."""


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """A run's rollouts and what was expected of it."""

    scored: Scored
    """The rollouts."""
    expected: Expected | None
    """The materialized inputs, if there are any."""
    repeats: int | None
    """Number of rollouts each task should have, if no inputs state it."""
    notes: list[str]
    """What a reader should know."""

    def wanted(self, agent: str | None) -> dict[Task, int] | None:
        """Rollouts expected per task of an agent; None when nobody says."""
        if self.expected is None:
            repeats, tasks = self.repeats, self.scored.pools[agent].by_task()
            return None if repeats is None else dict.fromkeys(tasks, repeats)
        return self.expected.of(agent, only=len(self.scored.pools) == 1)


def write_aggregate(rollouts: Path, options: AggregateOptions | None = None) -> Aggregated:
    """Computes the metrics of a rollout file and writes `STEM_aggregate_metrics.json` beside it.

    This is what a runner calls when a run has ended: `write_aggregate(output, AggregateOptions(success=…, slices=…))`.
    The file is streamed: memory grows by about a kilobyte per rollout, whatever the length of trajectories.
    Materialized inputs and failures are looked for beside it. Raises `ProblemsFound` when rows with one key differ
    (unless `duplicates` says which counts) or when rollouts are not among the inputs, `InputError` when there are none.
    """
    options = options or AggregateOptions()
    loaded = load(rollouts, options)
    failures = count_failures(beside(rollouts, "failures"))
    path = sidecar(rollouts, "aggregate")
    measured = list(measure_all(loaded, options))
    write_whole(path, file_chunks(loaded, measured, failures))
    agents = [agent for agent, _, _ in measured]
    return Aggregated(path=path, agents=agents, failures=failures, notes=loaded.notes)


def load(rollouts: Path, options: AggregateOptions) -> Loaded:
    """Reads a rollout file and its materialized inputs."""
    inputs = options.inputs or beside(rollouts, "inputs")
    expected = read_expected(inputs) if inputs is not None else None
    scored = read_scored(
        rollouts,
        duplicates=options.duplicates,
        recipe=options.recipe,
        subsets=options.slices,
        agents=expected.keys if expected is not None else None,
    )
    if not scored.keys:
        reason = f"; {scored.notes[0]}" if scored.notes else ""
        raise InputError(f"{rollouts}: holds no rollouts{reason}.")
    notes = list(scored.notes)
    if expected is None and options.expected_repeats is None:
        notes.append("without materialized inputs nobody says how many rollouts were expected")
    if expected is not None:
        check_strangers(scored, expected)
        notes += [f"{expected.bad} lines of {expected.path.name} are not inputs"] if expected.bad else []
    return Loaded(scored=scored, expected=expected, repeats=options.expected_repeats, notes=notes)


def measure_all(loaded: Loaded, options: AggregateOptions) -> Iterator[tuple[Agent, Pool, Tasks]]:
    """Every agent with its rows, by name."""
    for name in sorted(loaded.scored.pools, key=lambda name: name or ""):
        pool = loaded.scored.pools[name]
        tasks = pool.by_task()
        yield measure_agent(pool, tasks, loaded.wanted(name), success=options.success), pool, tasks


def count_failures(path: Path | None) -> dict[str, int]:
    """Attempts in a failures file by their class, most frequent first."""
    classes: Counter[str] = Counter()
    for line in read_lines(path) if path is not None else ():
        try:
            classes[str(plain(raw_fields(line.data).get(FAILURE_CLASS)) or "unknown")] += 1
        except BadRow:
            classes["unreadable"] += 1
    return dict(classes.most_common())


def sidecar(rollouts: Path, kind: str) -> Path:
    """Where a sidecar of a rollout file belongs."""
    return rollouts.with_name(stem(rollouts) + SIDECARS[kind])


def file_chunks(loaded: Loaded, measured: list[tuple[Agent, Pool, Tasks]], failures: dict[str, int]) -> Iterator[bytes]:
    """The file, pretty-printed, task by task."""
    yield b"["
    for number, (agent, pool, tasks) in enumerate(measured):
        head = {
            "agent_ref": {"name": agent.name},
            "agent_metrics": agent.metrics,
            "key_metrics": agent.key_metrics,
            "blade": own_part(agent, failures),
        }
        yield (b",\n" if number else b"\n") + shifted(head, 2)[:-4] + b',\n    "group_level_metrics": ['
        for place, (_, entry) in enumerate(task_entries(pool, tasks, loaded.wanted(pool.agent))):
            yield (b",\n" if place else b"\n") + shifted(entry, 6)
        yield b"\n    ]\n  }"
    yield b"\n]\n"


def own_part(agent: Agent, failures: dict[str, int]) -> dict[str, Any]:
    """What only BLADE says about an agent."""
    return {
        "recipe": agent.recipe,
        "subsets": agent.subsets,
        "coverage": agent.coverage,
        "failed_attempts": failures,
        "metrics": agent.headline,
    }


def shifted(value: Any, spaces: int) -> bytes:
    """A value pretty-printed with two spaces, all of it moved to the right."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    return indent(text, " " * spaces).encode()


class Profiled(msgspec.Struct, frozen=True, kw_only=True):
    """What was written, and what it says."""

    profile: Path
    """One line per task."""
    agent_metrics: Path
    """One record per agent."""
    tasks: int
    """Tasks that have a line."""
    agents: list[Agent]
    """By name."""
    notes: list[str]
    """What a reader should know."""


def write_profile(rollouts: Path, options: AggregateOptions | None = None) -> Profiled:
    """Profiles a rollout file and writes both files beside it; tasks come in ascending order."""
    options = options or AggregateOptions()
    loaded = load(rollouts, options)
    measured = list(measure_all(loaded, options))
    failures = count_failures(beside(rollouts, "failures"))
    profile, metrics = sidecar(rollouts, "profile"), sidecar(rollouts, "agent")
    pools = [(pool, tasks) for _, pool, tasks in measured]
    with samples(loaded.expected) as file:
        write_whole(profile, profile_lines(loaded, pools, file))
    records = [
        {**agent.metrics, "agent_ref": {"name": agent.name}, "blade": own_part(agent, failures)}
        for agent, _, _ in measured
    ]
    write_whole(metrics, [msgspec.json.encode(records), b"\n"])
    agents = [agent for agent, _, _ in measured]
    return Profiled(
        profile=profile,
        agent_metrics=metrics,
        tasks=len({task for _, tasks in pools for task in tasks}),
        agents=agents,
        notes=loaded.notes,
    )


def profile_lines(loaded: Loaded, pools: list[Any], file: IO[bytes] | None) -> Iterator[bytes]:
    """A line per task and agent; agents of one task stand together."""
    each = (task_entries(pool, tasks, loaded.wanted(pool.agent)) for pool, tasks in pools)
    for task, entry in heapq.merge(*each, key=lambda pair: rank(pair[0])):
        yield msgspec.json.encode({**entry, "sample": sample(loaded.expected, task, file)}) + b"\n"


def sample(expected: Expected | None, task: Any, file: IO[bytes] | None) -> Any:
    """What was asked in a task: its first materialized row; Gym's stub where there is none."""
    place = expected.samples.get(task) if expected is not None else None
    if place is None or file is None:
        return STUB
    file.seek(place[0])
    return sample_of(file.read(place[1]))


@contextlib.contextmanager
def samples(expected: Expected | None) -> Iterator[IO[bytes] | None]:
    """The materialized inputs as a file one can move about in."""
    if expected is None:
        yield None
    else:
        with movable(expected.path) as file:
            yield file
