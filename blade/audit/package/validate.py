"""All checks of a package: those any Python can make, then those of the engine, where it is installed."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from blade.audit.package.checks import PHASES, Check, Phase, judged, skipped
from blade.audit.package.golden import check_golden
from blade.audit.package.layout import Package, find_package
from blade.audit.package.rollouts import check_rollouts
from blade.audit.package.skill import check_skill

LEAST_FACTS = 8
ENGINE_NEEDS = ("msgspec", "numpy", "scipy", "jinja2", "yaml")
ENGINE_CHECKS: dict[Phase, tuple[str, ...]] = {
    "skill": ("the skill keeps the Agent Skills specification",),
    "rollouts": ("the engine reads every rollout",),
    "golden": ("report claims hold", "anchor facts hold", "reports are what their sources give"),
}
Chosen = Literal["all", "skill", "rollouts", "golden"]


def validate(folder: Path, *, phase: Chosen = "all", least_facts: int = LEAST_FACTS) -> list[Check]:
    """Every check of a benchmark's folder, phase by phase."""
    package = find_package(folder)
    wanted = PHASES if phase == "all" else (phase,)
    return [check for one in wanted for check in check_phase(package, one, least_facts)]


def check_phase(package: Package, phase: Phase, least_facts: int) -> list[Check]:
    """One phase: structure first, then what takes the engine."""
    if not package.folder.is_dir():
        return [judged(phase, "", bad=f"{package.folder}: is no folder", hint="Name a benchmark's folder.")]
    if phase == "skill":
        found = check_skill(package)
    elif phase == "rollouts":
        found = check_rollouts(package)
    else:
        found = check_golden(package, least_facts=least_facts)
    return [*found, *engine_checks(package, phase)]


def engine_checks(package: Package, phase: Phase) -> list[Check]:
    """What the engine says, or that it is not there to ask."""
    if not has_engine():
        return [skipped(phase, what) for what in ENGINE_CHECKS[phase]]
    found: list[Check] = import_module("blade.audit.package.engine").check(package, phase)
    return found


def has_engine() -> bool:
    """Whether everything the engine needs is installed."""
    return all(find_spec(name) is not None for name in ENGINE_NEEDS)
