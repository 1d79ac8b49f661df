"""One checked thing: what was seen, whether it is good, and what to do when it is not. Standard library only."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Phase = Literal["skill", "rollouts", "golden"]
Status = Literal["PASS", "FAIL", "SKIP"]
PHASES: tuple[Phase, ...] = ("skill", "rollouts", "golden")
MOST_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of a validation."""

    phase: Phase
    """What part of the package it is about."""
    status: Status
    """Whether it holds; `SKIP` when it could not be looked at."""
    message: str
    """What was seen, and what was expected when it does not hold."""
    hint: str = ""
    """What to do next."""

    @property
    def line(self) -> str:
        """The check as it is printed."""
        hint = f"\n       {self.hint}" if self.hint else ""
        return f"[{self.status}] {self.message}{hint}"


def judged(phase: Phase, good: str, bad: str = "", hint: str = "", *, name: str = "") -> Check:
    """A check, of a file if it is named, that passes with `good`, or fails with `bad` when there is any."""
    message = f"{name}: {bad or good}" if name else bad or good
    return Check(phase=phase, status="FAIL" if bad else "PASS", message=message, hint=hint if bad else "")


def skipped(phase: Phase, what: str, why: str = "install blade") -> Check:
    """A check that could not be made."""
    return Check(phase=phase, status="SKIP", message=f"{what} ({why})")


def has_failed(checks: Iterable[Check]) -> bool:
    """Whether any check fails."""
    return any(check.status == "FAIL" for check in checks)


def summary(checks: Sequence[Check]) -> str:
    """How many of the checks that were made hold."""
    counts = Counter(check.status for check in checks)
    left = f", {counts['SKIP']} skipped" if counts["SKIP"] else ""
    return f"Summary: {counts['PASS']}/{counts['PASS'] + counts['FAIL']} checks passed{left}"


def as_json(checks: Sequence[Check]) -> dict[str, Any]:
    """The same for programs."""
    counts = Counter(check.status for check in checks)
    totals = {"passed": counts["PASS"], "failed": counts["FAIL"], "skipped": counts["SKIP"]}
    return {**totals, "checks": [asdict(check) for check in checks]}


def some(names: Iterable[object], most: int = MOST_NAMED) -> str:
    """The first of some names, with how many follow."""
    shown = [str(name) for name in names]
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return ", ".join(shown[:most]) + more
