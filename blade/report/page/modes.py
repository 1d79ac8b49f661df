"""Failure modes as a page lists them, whatever part of the analysis they come from."""

import msgspec

from blade.diagnosis.analysis import Analysis, Mode, Signal
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
    """The modes seen in rollouts that did not pass, most headroom first."""
    found = [mined_mode(mode) for mode in analysis.modes]
    gains = {row.mode: row.gain for row in analysis.headroom}
    found += [
        PageMode(
            code=pattern.code,
            title=pattern.title,
            cause=pattern.cause,
            failed=pattern.rollouts,
            passed=pattern.passed,
            tasks=pattern.tasks,
            gain=gains.get(pattern.code),
            citations=pattern.citations,
        )
        for pattern in (analysis.pack.patterns if analysis.pack else [])
    ]
    found += [] if found else [signal_mode(signal, gains.get(signal.code)) for signal in analysis.signals]
    return sorted((mode for mode in found if mode.failed), key=rank)


def signal_mode(signal: Signal, gain: Metric | None) -> PageMode:
    """Something seen in rollouts, where nothing better names what goes wrong."""
    return PageMode(
        code=signal.code,
        title=signal.title,
        cause=SIGNAL_CAUSES[signal.kind],
        failed=signal.failed,
        passed=signal.passed,
        tasks=signal.tasks,
        gain=gain,
        citations=signal.citations,
    )


def mined_mode(mode: Mode) -> PageMode:
    """A mode that was mined from the run."""
    return PageMode(
        code=mode.code,
        title=mode.title,
        cause=mode.cause,
        failed=mode.failed,
        passed=mode.passed,
        tasks=len(mode.tasks),
        gain=mode.headroom,
        citations=mode.citations,
    )


def rank(mode: PageMode) -> tuple[float, int, str]:
    """Most headroom first."""
    gain = 0.0 if mode.gain is None or mode.gain.value is None else mode.gain.value
    return -gain, -mode.failed, mode.code
