"""Guarding golden packages: built again, they must be the same bytes, and everything in them true."""

import json
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

import msgspec

from blade.audit.check import check_report
from blade.audit.evidence import evidence_of
from blade.audit.verdicts import Check
from blade.errors import BladeError, Problem
from blade.golden.build import METRICS, REPORT, Built, build, sidecar_of
from blade.golden.facts import FactsError, read_facts
from blade.golden.package.layout import GoldenFiles
from blade.golden.package.rows import read_rows_with_text
from blade.golden.passages import read_passages
from blade.golden.sources import VERSUS, Source, diagnose_model
from blade.golden.support import Judge
from blade.golden.truth import Truth, why_false

FACTS = "_anchor_facts.json"
MOST_SHOWN = 90


class Guarded(msgspec.Struct, frozen=True, kw_only=True):
    """What was found about one package."""

    benchmark: str
    """The benchmark."""
    model: str
    """The model, or the pair of them."""
    problems: list[Problem]
    """What is wrong; empty when nothing is."""


def check_source(source: Source, models: list[str] | None = None) -> list[Guarded]:
    """Every package of a benchmark; a report without a narrative is one that nobody can build again."""
    reports = {path.name.removesuffix(REPORT) for path in source.folder.glob(f"*{REPORT}")}
    wanted = sorted({*source.models(), *reports}) if models is None else models
    return [Guarded(benchmark=source.benchmark, model=model, problems=check_package(source, model)) for model in wanted]


def check_package(source: Source, model: str) -> list[Problem]:
    """What is wrong with one package."""
    try:
        built = build(source, model)
    except BladeError as error:
        return [Problem(where=f"{source.benchmark}/{model}", message=str(error), hint="Correct the sources.")]
    problems = [*drift(source, built), *as_problems(built.faults(), f"{model}{REPORT}")]
    if VERSUS not in model:
        problems += check_facts(source, model, built.files[f"{model}{METRICS}"], built.report)
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
    judge = Judge(read_passages(report))
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
