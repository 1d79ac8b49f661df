"""What only the engine can tell about a package: the skill's specification, the rows, every claim, every fact.

A package without narratives cannot be built again, but its claims and facts are held to the rows all the same.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from blade.audit.check import check_report
from blade.audit.evidence import evidence_of
from blade.diagnosis import Diagnosed, analyze, with_named_fields
from blade.errors import BladeError
from blade.golden.facts import FactsError, read_facts
from blade.golden.guard import check_package
from blade.golden.package.checks import Check, Phase, judged, skipped, some
from blade.golden.package.layout import GoldenFiles, Package, find_reports
from blade.golden.package.rows import read_rows_with_text
from blade.golden.sidecar import sidecar_of
from blade.golden.sources import NARRATIVE, VERSUS, Source, diagnose_model, source_of
from blade.golden.truth import Truth, false_facts
from blade.rollouts import ReadOptions, read_runs
from blade.skillkit.check import Rules, check_skill


def check(package: Package, phase: Phase) -> list[Check]:
    """The engine's checks of one phase."""
    phases = {"skill": check_specification, "rollouts": check_reading, "golden": check_golden}
    return list(phases[phase](package))


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


def check_reading(package: Package) -> Iterator[Check]:
    """Every rollout file can be read and analysed as the benchmark says."""
    for path in package.rollouts:
        yield judged(
            "rollouts",
            f"{path.name}: the engine reads every rollout",
            bad=reading_fault(path, package),
            hint="`blade diagnose` on the file says more.",
        )


def reading_fault(path: Path, package: Package) -> str:
    """What the engine cannot use in a file; empty when it uses everything."""
    try:
        options = source_of(package).options
        runs = read_runs([str(path)], with_named_fields(ReadOptions(), options))
        coverage = [analyze(run, options).coverage for run in runs]
    except BladeError as error:
        return f"{path.name}: {error}"
    left = {
        "lines it cannot use": sum(one.malformed for one in coverage),
        "rows it does not count": sum(one.duplicates for one in coverage),
        "rollouts without a score": sum(one.unscored for one in coverage),
    }
    told = [f"{count} {what}" for what, count in left.items() if count]
    return f"{path.name}: the engine finds {some(told)}" if told else ""


def check_golden(package: Package) -> Iterator[Check]:
    """Every golden report is what its sources give and says nothing false; every fact is true."""
    source = source_of(package)
    for files in find_reports(package.golden) if package.golden else ():
        if source.place(files.model, NARRATIVE).is_file():
            yield holds(source, files)
        elif VERSUS not in files.model:
            yield from check_foreign(source, files)


def holds(source: Source, files: GoldenFiles) -> Check:
    """A package of ours: built again it is the same, and nothing in it is false."""
    problems = check_package(source, files.model)
    told = some((f"{one.where}: {one.message}" for one in problems), 3)
    return judged(
        "golden",
        f"{files.report.name}: is what its sources give; claims and facts hold",
        bad=f"{files.report.name}: {len(problems)} problems: {told}" if problems else "",
        hint="`blade golden check` lists them all.",
    )


def check_foreign(source: Source, files: GoldenFiles) -> Iterator[Check]:
    """A report that somebody wrote by hand: its claims and its facts against the rows."""
    try:
        found = diagnose_model(source, files.model)
    except BladeError as error:
        yield skipped("golden", f"{files.report.name}: claims and facts hold", str(error).rstrip("."))
        return
    text = files.report.read_text(encoding="utf-8", errors="replace")
    wrong = check_report(text, evidence=evidence_of([found])).contradicted
    yield judged(
        "golden",
        f"{files.report.name}: no claim is contradicted by the rows",
        bad=some((f"{files.report.name}:{one.line} says {one.said!r}: {one.why or one.true}" for one in wrong), 3),
        hint=f"`blade check {files.report.name}` lists what is true instead.",
    )
    yield facts_hold(source, files, found)


def facts_hold(source: Source, files: GoldenFiles, found: Diagnosed) -> Check:
    """Every anchor fact with a check is true of the run."""
    stated = json.loads(sidecar_of(source.benchmark, found.analysis))
    truth = Truth(stated, read_rows_with_text(source.rollouts[files.model]))
    try:
        facts = [] if files.facts is None else read_facts(files.facts).anchor_facts
        wrong = false_facts(facts, truth)
    except FactsError as error:
        wrong = [str(error)]
    name = f"{files.model}_anchor_facts.json"
    hint = "Correct the facts; the rollouts are what they are."
    return judged(
        "golden", f"{name}: every checked fact is true", bad=some(wrong, 3) and f"{name}: {some(wrong, 3)}", hint=hint
    )
