"""Guarding golden packages: built again, they must be the same bytes, and everything in them true.

A package without narratives cannot be built again, but its claims and facts are held to the rows all the same.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

import msgspec

from blade.audit.check import check_report
from blade.audit.evidence import evidence_of
from blade.audit.verdicts import Check
from blade.errors import BladeError, Problem
from blade.golden.build import Built, build, sidecar_of
from blade.golden.facts import FactsError, read_facts
from blade.golden.package.checks import Check as PackageCheck
from blade.golden.package.checks import Phase, judged, skipped, some
from blade.golden.package.layout import FACTS, METRICS, REPORT, VERSUS, GoldenFiles, Package, find_reports
from blade.golden.package.rows import read_rows_with_text
from blade.golden.sources import NARRATIVE, Source, diagnose_model, source_of
from blade.golden.support import Judge
from blade.golden.truth import Truth, why_false
from blade.skillkit.check import Rules, check_skill

MOST_SHOWN = 90


class Guarded(msgspec.Struct, frozen=True, kw_only=True):
    """What was found about one package."""

    benchmark: str
    """The benchmark."""
    model: str
    """The model, or the pair of them."""
    problems: list[Problem]
    """What is wrong; empty when nothing is."""


def check_source(source: Source) -> list[Guarded]:
    """Every package of a benchmark; a report without a narrative is one that nobody can build again."""
    wanted = sorted({*source.models(), *(files.model for files in find_reports(source.folder))})
    return [Guarded(benchmark=source.benchmark, model=model, problems=check_package(source, model)) for model in wanted]


def check_package(source: Source, model: str) -> list[Problem]:
    """What is wrong with one package."""
    try:
        built = build(source, model)
    except BladeError as error:
        return [Problem(where=f"{source.benchmark}/{model}", message=str(error), hint="Correct the sources.")]
    problems = [*drift(source, built), *as_problems(built.faults(), f"{model}{REPORT}")]
    if VERSUS not in model:
        problems += check_facts(source, model, built.files[f"{model}{METRICS}"], built.text)
    return problems


def check_by_hand(source: Source, files: GoldenFiles) -> list[Problem]:
    """What is wrong with a report that has no narrative to build it from: its claims and facts against the rows.

    Raises:
        BladeError: the rollouts are not there, or cannot be diagnosed.
    """
    found = diagnose_model(source, files.model)
    text = files.report.read_text(encoding="utf-8", errors="replace")
    wrong = check_report(text, evidence=evidence_of([found])).contradicted
    sidecar = sidecar_of(source.benchmark, found.analysis)
    return [*as_problems(wrong, files.report.name), *check_facts(source, files.model, sidecar)]


def as_problems(faults: Iterable[Check], name: str) -> Iterator[Problem]:
    """What a report says that is wrong, or carries no address."""
    for one in faults:
        hint = f"Write {one.write}." if one.write else "Correct the narrative, or the labels it speaks of."
        yield Problem(where=f"{name}:{one.line}", message=f"says {one.said!r}: {one.why or one.true}", hint=hint)


def check_facts(source: Source, model: str, sidecar: bytes, report: str | None = None) -> Iterator[Problem]:
    """Anchor facts that are not true of the run, or that the report itself does not assert; there may be none yet."""
    place = source.place(model, FACTS)
    if not place.is_file():
        return
    try:
        facts = read_facts(place).anchor_facts
    except FactsError as error:
        yield Problem(where=place.name, message=str(error), hint="Draft them with extract-anchor-facts.")
        return
    truth = Truth(json.loads(sidecar), read_rows_with_text(source.rollouts[model]))
    for fact in facts:
        if fact.check is not None and (why := why_false(fact.check, truth)):
            hint = "Correct the fact; the rollouts are what they are."
            yield Problem(where=f"{place.name}, {fact.id}: {why}", message="is not so", hint=hint)
    if report is None:
        return
    judge = Judge(report)
    for fact in facts:
        if not judge.wanted(fact).can_tell:
            hint = "Say it in the narrative, or take the fact out."
            yield Problem(where=f"{place.name}, {fact.id}", message="the report does not say it", hint=hint)


def drift(source: Source, built: Built) -> Iterator[Problem]:
    """Files that are not what the sources give, each with the first line that differs."""
    hint = f"blade golden build {source.benchmark} --model {built.model}"
    for name, content in built.files.items():
        place = source.folder / name
        if not place.is_file():
            yield Problem(where=name, message="is missing", hint=hint)
        elif (stored := place.read_bytes()) != content:
            mine, theirs = (text.decode(errors="replace").split("\n") for text in (stored, content))
            differ = (at for at, (one, other) in enumerate(zip_longest(mine, theirs)) if one != other)
            at = next(differ, 0)  # bytes may differ that are no text
            message = f"says {shorten(mine[at : at + 1])}, the sources give {shorten(theirs[at : at + 1])}"
            yield Problem(where=f"{name}:{at + 1}", message=message, hint=hint)


def shorten(lines: list[str]) -> str:
    """A line for a message."""
    text = lines[0] if lines else "(the end)"
    return repr(text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 1] + "…")


def find_golden_benchmarks(root: Path) -> list[str]:
    """Benchmarks of a checkout that golden sources or reports were written for."""
    folders = sorted(path for path in (root / "golden_reports").glob("*") if path.is_dir())
    return [folder.name for folder in folders if any(folder.iterdir())]


def engine_checks(package: Package, phase: Phase) -> Iterator[PackageCheck]:
    """What only the engine can tell about a phase of a package."""
    return {"skill": check_specification, "golden": check_reports}[phase](package)


def check_specification(package: Package) -> Iterator[PackageCheck]:
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


def check_reports(package: Package) -> Iterator[PackageCheck]:
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
