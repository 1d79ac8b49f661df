"""`*_reward_profiling.jsonl` and `*_agent_metrics.json`: every task of a run with what was asked and what came of it.

The names, keys and values are NeMo Gym's, with pass@k of every task and agent added, and expected and missing counts
that are true. A task without any rollout has no line, and is named in the agent's `blade.coverage`.
"""

import contextlib
import heapq
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import msgspec

from blade.evals.aggregate import AggregateOptions, Loaded, count_failures, load, measure_all, own_part, sidecar
from blade.evals.counted import rank
from blade.evals.entries import STUB, Agent, task_entries
from blade.evals.expected import Expected, sample_of
from blade.evals.files import write_whole
from blade.evals.shards import movable
from blade.rollouts.sidecars import beside


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
