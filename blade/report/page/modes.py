"""Failure modes as a page lists them, whatever part of the analysis they come from."""

import msgspec

from blade.diagnosis.analysis import Analysis, Mode, PatternSeen, Signal
from blade.metrics import Metric


class PageMode(msgspec.Struct, frozen=True, kw_only=True):
    """One failure mode."""

    code: str
    """Short name."""
    title: str
    """What was seen, in words."""
    cause: str | None = None
    """Root cause it points to, if any."""
    failed: int
    """Rollouts that show it and did not pass."""
    passed: int | None = None
    """Rollouts that show it and passed all the same."""
    tasks: int
    """Tasks it was seen in."""
    gain: Metric | None = None
    """How much the headline would rise without it."""
    citations: list[str] = []
    """Where it was seen."""


SIGNAL_CAUSES = {"infrastructure": "IR", "verifier": "TI", "behaviour": "BI"}


def page_modes(analysis: Analysis) -> list[PageMode]:
    """The modes seen in rollouts that did not pass, most headroom first; signals where nothing better names them."""
    gains = {row.mode: row.gain for row in analysis.headroom}
    patterns = analysis.pack.patterns if analysis.pack else []
    found = [page_mode(m, m.cause, failed=m.failed, tasks=len(m.tasks), gain=m.headroom) for m in analysis.modes]
    found += [
        page_mode(p, p.cause, failed=p.primary, tasks=p.tasks, gain=gains.get(p.code)) for p in patterns if p.primary
    ]
    found = found or [
        page_mode(s, SIGNAL_CAUSES[s.kind], failed=s.failed, tasks=s.tasks, gain=gains.get(s.code))
        for s in analysis.signals
    ]
    return sorted((mode for mode in found if mode.failed), key=rank)


def page_mode(
    seen: Mode | PatternSeen | Signal, cause: str | None, *, failed: int, tasks: int, gain: Metric | None
) -> PageMode:
    return PageMode(
        code=seen.code,
        title=seen.title,
        cause=cause,
        failed=failed,
        passed=seen.passed,
        tasks=tasks,
        gain=gain,
        citations=seen.citations,
    )


def rank(mode: PageMode) -> tuple[float, int, str]:
    """Most headroom first."""
    gain = 0.0 if mode.gain is None or mode.gain.value is None else mode.gain.value
    return -gain, -mode.failed, mode.code
