"""What only the engine can tell about a package: whether it reads the rollouts as the structural checks do."""

from collections.abc import Iterator
from pathlib import Path

from blade.audit.package.checks import Check, Phase, judged, some
from blade.audit.package.layout import Package
from blade.diagnosis import AnalyzeOptions, analyze
from blade.errors import BladeError
from blade.rollouts import ReadOptions, read_runs


def check(package: Package, phase: Phase) -> list[Check]:
    """The engine's checks of one phase."""
    return list(check_reading(package)) if phase == "rollouts" else []


def check_reading(package: Package) -> Iterator[Check]:
    """Every rollout file can be read and analysed under the benchmark's success rule."""
    for path in package.rollouts:
        yield judged(
            "rollouts",
            f"{path.name}: the engine reads every rollout",
            bad=reading_fault(path, package.success),
            hint="`blade diagnose` on the file says more.",
        )


def reading_fault(path: Path, success: str | None) -> str:
    """What the engine cannot use in a file; empty when it uses everything."""
    try:
        runs = read_runs([str(path)], ReadOptions())
        coverage = [analyze(run, AnalyzeOptions(success=success)).coverage for run in runs]
    except BladeError as error:
        return f"{path.name}: {error}"
    left = {
        "lines it cannot use": sum(one.malformed for one in coverage),
        "rows it does not count": sum(one.duplicates for one in coverage),
        "rollouts without a score": sum(one.unscored for one in coverage),
    }
    told = [f"{count} {what}" for what, count in left.items() if count]
    return f"{path.name}: the engine finds {some(told)}" if told else ""
