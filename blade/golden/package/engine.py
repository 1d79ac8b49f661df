"""What only the engine can tell about a package: the skill's specification, every claim, every fact.

A package without narratives cannot be built again, but its claims and facts are held to the rows all the same.
"""

from collections.abc import Iterator
from pathlib import Path

from blade.errors import BladeError
from blade.golden.guard import check_by_hand, check_package
from blade.golden.package.checks import Check, Phase, judged, skipped, some
from blade.golden.package.layout import Package, find_reports
from blade.golden.sources import NARRATIVE, source_of
from blade.skillkit.check import Rules, check_skill


def check(package: Package, phase: Phase) -> list[Check]:
    """The engine's checks of one phase."""
    return list({"skill": check_specification, "golden": check_golden}[phase](package))


def check_specification(package: Package) -> Iterator[Check]:
    """The skill keeps the Agent Skills specification and, where it stands among others, our own rules."""
    if package.skill is None:
        return
    inside = package.folder in package.skill.parents
    found = check_skill(package.skill.parent, Rules(ours=not inside))
    # A skill inside a benchmark's folder cannot have the folder's name.
    wrong = [one for one in found if not (inside and "folder" in one.message)]
    told = some((f"{Path(one.where).name}: {one.message}" for one in wrong), 3)
    yield judged(
        "skill",
        "the skill keeps the Agent Skills specification",
        bad=f"the skill has {len(wrong)} faults: {told}" if wrong else "",
        hint="`blade skill validate` says what to do about each.",
    )


def check_golden(package: Package) -> Iterator[Check]:
    """Every golden report is what its sources give and says nothing false; every fact is true."""
    source = source_of(package)
    for files in find_reports(package.golden) if package.golden else ():
        is_built = source.place(files.model, NARRATIVE).is_file()
        if not is_built and files.is_comparison:
            continue
        good = f"{'is what its sources give; ' if is_built else ''}claims and facts hold"
        try:
            problems = check_package(source, files.model) if is_built else check_by_hand(source, files)
        except BladeError as error:
            yield skipped("golden", f"{files.report.name}: {good}", str(error).rstrip("."))
            continue
        told = some((f"{one.where}: {one.message}" for one in problems), 3)
        command = "blade golden check" if is_built else f"blade check {files.report.name}"
        bad, hint = told and f"{len(problems)} problems: {told}", f"`{command}` lists them all."
        yield judged("golden", good, bad, hint, name=files.report.name)
