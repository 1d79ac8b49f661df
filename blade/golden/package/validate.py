"""All checks of a package: those any Python can make, then those of the engine, where it is installed."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from blade.golden.package.checks import PHASES, Check, Phase, judged, skipped
from blade.golden.package.layout import find_package
from blade.golden.package.structure import check_golden, check_rollouts, check_skill

LEAST_FACTS = 8
ENGINE_NEEDS = ("msgspec", "numpy", "jinja2", "yaml")
ENGINE_CHECKS: dict[Phase, str] = {
    "skill": "the skill keeps the Agent Skills specification",
    "rollouts": "the engine reads every rollout",
    "golden": "reports are what their sources give; claims and facts hold",
}
Chosen = Literal["all", "skill", "rollouts", "golden"]


def validate(
    folder: Path, *, phase: Chosen = "all", least_facts: int = LEAST_FACTS, engine: bool = True
) -> list[Check]:
    """Every check of a benchmark's folder, phase by phase; without the engine only those of structure."""
    wanted, package, found = PHASES if phase == "all" else (phase,), find_package(folder), list[Check]()
    if not package.folder.is_dir():
        what = f"{package.folder}: is not a folder"
        return [judged(one, "", bad=what, hint="Name a benchmark's folder.") for one in wanted]
    for one in wanted:
        if one == "skill":
            found += check_skill(package)
        else:
            found += check_rollouts(package) if one == "rollouts" else check_golden(package, least_facts=least_facts)
    for one in wanted if engine else ():
        if all(find_spec(name) is not None for name in ENGINE_NEEDS):
            found += import_module("blade.golden.package.engine").check(package, one)
        else:
            found.append(skipped(one, ENGINE_CHECKS[one]))
    return found
