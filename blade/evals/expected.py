"""What a run should have produced: its materialized inputs, which alone say what is missing."""

from pathlib import Path
from typing import NamedTuple

import msgspec

from blade.errors import ProblemsFound
from blade.evals.counted import REPEAT, TASK, Key, Task, agent_of, key_of, raw_fields, read_lines
from blade.evals.scored import Scored
from blade.rollouts.conform import BadRow


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
