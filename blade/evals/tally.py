"""How a run is doing while it goes: what is done, what failed and why, and how often it passed so far."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np

from blade.evals.rows import FAILURE, field_at
from blade.metrics.intervals import estimate_rate
from blade.metrics.success import BINARY_RULE, parse_success_rule
from blade.metrics.values import Metric


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """A run at one moment."""

    done: int
    """Rollouts that are judged and on disk, those of earlier sittings included."""
    failed: int
    """Rollouts that ended without a verdict in this sitting."""
    total: int
    """Rollouts there should be."""
    seconds: float
    """How long this sitting has lasted."""
    rate: float | None
    """Rollouts per second in this sitting."""
    left: float | None
    """Seconds it will still take at that rate."""
    pass_rate: Metric
    """Mean over tasks of the share that passed, with its interval."""
    failures: dict[str, int]
    """Attempts without a verdict in this sitting, by class."""
    tokens: tuple[int, int]
    """Tokens read and written in this sitting, as far as known."""


class Tally:
    """Counts rows as they become safe."""

    def __init__(self, *, total: int, success: str | None, clock: Callable[[], float] = time.monotonic) -> None:
        self.total = total
        self.done = 0
        self.failed = 0
        self.unscored = 0
        """Rollouts without a verdict on whether they passed, such as those a judge could not decide."""
        self.failures: Counter[str] = Counter()
        self.in_a_row = 0
        """Failures since the last rollout that was judged."""
        self._rule = parse_success_rule(success) if success else BINARY_RULE
        self._tasks: dict[int, list[int]] = {}
        self._tokens = [0, 0]
        self._clock = clock
        self._start = clock()
        self._before = 0

    def count_earlier(self, row: Mapping[str, Any]) -> None:
        """A rollout that was done in an earlier sitting."""
        self._judge(row)
        self.done += 1
        self._before += 1

    def count(self, row: Mapping[str, Any]) -> None:
        """A rollout that was judged just now."""
        self._judge(row)
        self.done += 1
        self.in_a_row = 0
        usage = (row.get("response") or {}).get("usage") or {}
        for place, name in enumerate(("input_tokens", "output_tokens")):
            self._tokens[place] += usage.get(name) or 0

    def count_failure(self, row: Mapping[str, Any]) -> None:
        """An attempt that ended without a verdict."""
        self.failed += 1
        self.in_a_row += 1
        self.failures[str(row.get(FAILURE))] += 1

    def _judge(self, row: Mapping[str, Any]) -> None:
        passed = self._rule.apply([field_at(row, self._rule.field)])[0]
        if passed == passed:  # unknown is nan
            counts = self._tasks.setdefault(row["_ng_task_index"], [0, 0])
            counts[0] += 1
            counts[1] += int(passed)
        else:
            self.unscored += 1

    @property
    def judged_here(self) -> int:
        """Rollouts that were judged in this sitting."""
        return self.done - self._before

    def now(self) -> Progress:
        """The run at this moment."""
        seconds = self._clock() - self._start
        here = self.judged_here + self.failed
        rate = here / seconds if here and seconds > 0 else None
        left = self.total - self.done - self.failed
        return Progress(
            done=self.done,
            failed=self.failed,
            total=self.total,
            seconds=seconds,
            rate=rate,
            left=left / rate if rate else None,
            pass_rate=self.pass_rate(),
            failures=dict(self.failures),
            tokens=(self._tokens[0], self._tokens[1]),
        )

    def pass_rate(self) -> Metric:
        """Mean over tasks of the share of rollouts that passed."""
        counts = np.array(list(self._tasks.values()), dtype=np.float64).reshape(-1, 2)
        values = counts[:, 1] / counts[:, 0]
        return estimate_rate(values, rollouts=int(counts[:, 0].sum()), definition="share of rollouts that passed")
