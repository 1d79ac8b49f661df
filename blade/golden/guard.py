"""Guarding golden packages: built again, they must be the same bytes, and everything in them true."""

import json
from pathlib import Path

import msgspec

from blade.errors import BladeError, Problem
from blade.golden.build import METRICS, REPORT, Built, build
from blade.golden.facts import FactsError, read_facts
from blade.golden.package.rows import read_rows_with_text
from blade.golden.passages import read_passages
from blade.golden.sources import VERSUS, Source
from blade.golden.support import WEAKEST, Judge
from blade.golden.truth import Truth, false_facts

FACTS = "_anchor_facts.json"
MEND = "Correct the fact; the rollouts are what they are."


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
    return [*drift(source, built), *check_claims(built), *check_facts(source, built)]


def check_claims(built: Built) -> list[Problem]:
    """What the report says that is wrong, or carries no address."""
    return [
        Problem(
            where=f"{built.model}{REPORT}:{one.line}",
            message=f"says {one.said!r}: {one.why or one.true}",
            hint=f"Write {one.write}." if one.write else "Correct the narrative, or the labels it speaks of.",
        )
        for one in built.faults()
    ]


def check_facts(source: Source, built: Built) -> list[Problem]:
    """Anchor facts that are not true of the run, or that the report itself does not assert; there may be none yet."""
    place = source.place(built.model, FACTS)
    if VERSUS in built.model or not place.is_file():
        return []
    try:
        facts = read_facts(place).anchor_facts
    except FactsError as error:
        return [Problem(where=place.name, message=str(error), hint="Draft them with extract-anchor-facts.")]
    texts = read_rows_with_text(source.rollouts[built.model])
    truth = Truth(json.loads(built.files[f"{built.model}{METRICS}"]), texts)
    found = [
        Problem(where=f"{place.name}, {told}", message="is not so", hint=MEND) for told in false_facts(facts, truth)
    ]
    judge = Judge(read_passages(built.report, run=built.model))
    silent = [fact.id for fact in facts if judge.wanted(fact)[1] < WEAKEST]
    hint = "Say it in the narrative, or take the fact out."
    return [
        *found,
        *(Problem(where=f"{place.name}, {id}", message="the report does not say it", hint=hint) for id in silent),
    ]


def drift(source: Source, built: Built) -> list[Problem]:
    """Files that are not what the sources give."""
    hint = f"blade golden build {source.benchmark} --model {built.model}"
    found: list[Problem] = []
    for name, content in built.files.items():
        place = source.folder / name
        if not place.is_file():
            found.append(Problem(where=name, message="is missing", hint=hint))
        elif (stored := place.read_bytes()) != content:
            line = first_difference(stored, content)
            found.append(Problem(where=f"{name}:{line}", message=difference_at(stored, content, line), hint=hint))
    return found


def first_difference(stored: bytes, content: bytes) -> int:
    """The line at which two texts part, from 1."""
    mine, theirs = stored.splitlines(), content.splitlines()
    pairs = zip(mine, theirs, strict=False)
    return next((line for line, (a, b) in enumerate(pairs, start=1) if a != b), min(len(mine), len(theirs)) + 1)


def difference_at(stored: bytes, content: bytes, line: int) -> str:
    """What a line says, and what the sources give."""
    mine, theirs = (text.decode(errors="replace").splitlines()[line - 1 : line] for text in (stored, content))
    return f"says {shorten(mine)}, the sources give {shorten(theirs)}"


def shorten(lines: list[str], most: int = 90) -> str:
    """A line for a message."""
    text = lines[0] if lines else "(the end)"
    return repr(text if len(text) <= most else text[: most - 1] + "…")


def find_golden_benchmarks(root: Path) -> list[str]:
    """Benchmarks of a checkout that golden sources or reports were written for."""
    folders = sorted(path for path in (root / "golden_reports").glob("*") if path.is_dir())
    return [folder.name for folder in folders if any(folder.iterdir())]
