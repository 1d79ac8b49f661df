"""All checks of a package: those any Python can make, then those of the engine, where it is installed."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from blade.golden.package.checks import PHASES, Check, Phase, judged, skipped
from blade.golden.package.layout import Package, find_package
from blade.golden.package.structure import check_golden, check_rollouts, check_skill

LEAST_FACTS = 8
ENGINE_NEEDS = ("msgspec", "numpy", "jinja2", "yaml")
ENGINE_CHECKS: dict[Phase, tuple[str, ...]] = {
    "skill": ("the skill keeps the Agent Skills specification",),
    "rollouts": ("the engine reads every rollout",),
    "golden": ("reports are what their sources give; claims and facts hold",),
}
Chosen = Literal["all", "skill", "rollouts", "golden"]


def validate(
    folder: Path, *, phase: Chosen = "all", least_facts: int = LEAST_FACTS, engine: bool = True
) -> list[Check]:
    """Every check of a benchmark's folder, phase by phase; without the engine only those of structure."""
    package = find_package(folder)
    wanted = PHASES if phase == "all" else (phase,)
    found = [check for one in wanted for check in check_structure(package, one, least_facts)]
    return [*found, *(check for one in wanted for check in engine_checks(package, one))] if engine else found


def check_structure(package: Package, phase: Phase, least_facts: int) -> list[Check]:
    """What any Python can tell about one phase."""
    if not package.folder.is_dir():
        return [judged(phase, "", bad=f"{package.folder}: is not a folder", hint="Name a benchmark's folder.")]
    if phase == "skill":
        return list(check_skill(package))
    return list(check_rollouts(package) if phase == "rollouts" else check_golden(package, least_facts=least_facts))


def engine_checks(package: Package, phase: Phase) -> list[Check]:
    """What the engine says, or that it is not there to ask."""
    if not package.folder.is_dir():
        return []
    if not has_engine():
        return [skipped(phase, what) for what in ENGINE_CHECKS[phase]]
    found: list[Check] = import_module("blade.golden.package.engine").check(package, phase)
    return found


def has_engine() -> bool:
    """Whether everything the engine needs is installed."""
    return all(find_spec(name) is not None for name in ENGINE_NEEDS)
