"""D3: does every golden report have what belongs to it, and does it follow from the rollouts? Standard library only."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from blade.golden.package.checks import Check, judged, skipped, some
from blade.golden.package.layout import GoldenFiles, Package, find_reports
from blade.golden.package.rows import Rows, as_number, read_rows
from blade.golden.package.totals import count_totals, differences
from blade.golden.shallow import make_shallow, outside_fences

LEAST_LINES = 40
LEAST_SECTIONS = 3
LEAST_FACT = 20
LEAST_KNOWN = 3
KNOWN = ("model", "model_name", "benchmark", "pass_at_1", "num_tasks", "total_tasks")
DIFFICULTIES = ("high", "medium", "low")
LEFT_OPEN = re.compile(r"\bTODO\b|\bTBD\b|\bFIXME\b|<placeholder|\{\{|\{%", re.IGNORECASE)
CITATION = re.compile(r"(?<!`)`([^`\n]{1,120}:[0-9]{1,9})(?:#[0-9]+)?`(?!`)")


def check_golden(package: Package, *, least_facts: int) -> list[Check]:
    """Everything that can be said about the golden reports without the engine."""
    reports = [] if package.golden is None else find_reports(package.golden)
    if not reports:
        return [
            judged(
                "golden",
                "",
                bad=f"no *_golden_report.md in {package.name}/golden_reports or golden_reports/{package.name}",
                hint="Write a narrative and run `blade golden build`, or put a report there.",
            )
        ]
    runs = {path.stem: read_rows(path) for path in package.rollouts}
    return [check for files in reports for check in check_report_files(files, package, runs, least_facts)]


def check_report_files(
    files: GoldenFiles, package: Package, runs: dict[str, Rows], least_facts: int
) -> Iterator[Check]:
    """One report and what stands beside it."""
    text = files.report.read_text(encoding="utf-8", errors="replace")
    yield is_a_report(files.report.name, text)
    yield nothing_left_open(files.report.name, text)
    if runs:
        yield citations_exist(files.report.name, text, runs)
    if files.is_comparison:
        return
    yield from check_metrics(files, package, runs)
    yield from check_facts(files, least_facts)
    if files.shallow is not None:
        yield shallow_follows(files.shallow, text)


def is_a_report(name: str, text: str) -> Check:
    """There is something to read."""
    lines, sections = len(text.splitlines()), len(re.findall(r"^## ", text, re.MULTILINE))
    short = lines < LEAST_LINES or sections < LEAST_SECTIONS
    seen = f"{name}: {lines} lines, {sections} sections"
    return judged(
        "golden",
        seen,
        bad=f"{seen}; expected {LEAST_LINES} and {LEAST_SECTIONS} at least" if short else "",
        hint="Summary, totals, funnel, buckets, failure modes with examples, recommendations.",
    )


def nothing_left_open(name: str, text: str) -> Check:
    """Nobody left a placeholder or an unfilled template."""
    lines = [line for line in outside_fences(text.splitlines()) if LEFT_OPEN.search(re.sub(r"`[^`]*`", "", line))]
    return judged(
        "golden",
        f"{name}: holds no placeholder",
        bad=f"{name}: holds placeholders: {some((repr(line.strip()[:60]) for line in lines), 2)}" if lines else "",
        hint="Finish the report, or build it again from its narrative.",
    )


def citations_exist(name: str, text: str, runs: dict[str, Rows]) -> Check:
    """Every rollout the report cites is in a rollout file."""
    known = {row.key for run in runs.values() for row in run.rows}
    tasks = {row.task for run in runs.values() for row in run.rows}
    cited = list(dict.fromkeys(CITATION.findall(text)))
    # `17:30` may be a time: only what names a known task, or is cited with an item, is surely meant as a rollout.
    unknown = [key for key in cited if key not in known and (key.rpartition(":")[0] in tasks or f"{key}#" in text)]
    return judged(
        "golden",
        f"{name}: every cited rollout exists ({len(cited)} cited)",
        bad=f"{name}: cites rollouts that are in no file: {some(unknown)}" if unknown else "",
        hint="Cite as `task:repeat` or `task:repeat#item`, with keys from the rollout files.",
    )


def check_metrics(files: GoldenFiles, package: Package, runs: dict[str, Rows]) -> Iterator[Check]:
    """The metrics sidecar: there, readable, and what the rollouts give."""
    name = f"{files.report.name.removesuffix('.md')}_metrics.json"
    stated = None if files.metrics is None else read_object(files.metrics)
    bad = f"{name}: is missing" if files.metrics is None else ""
    if files.metrics is not None:
        name = files.metrics.name
        bad = "" if stated is not None else f"{name}: is not a JSON object"
    known = [field for field in KNOWN if stated and stated.get(field) is not None]
    if not bad and len(known) < LEAST_KNOWN:
        bad = f"{name}: has {some(known) or 'none'} of {', '.join(KNOWN)}; expected {LEAST_KNOWN} at least"
    hint = "`blade golden build` writes it from the rollouts."
    yield judged("golden", f"{name}: says {some(known, 6)}", bad=bad, hint=hint)
    if stated is None or bad:
        return
    run = runs.get(files.model)
    if run is None:
        yield skipped("golden", f"{name}: follows from the rollouts", f"no rollouts/{files.model}.jsonl")
        return
    wrong = differences(stated, count_totals(run, package.success))
    yield judged(
        "golden",
        f"{name}: follows from {run.path.name}",
        bad=f"{name}: does not follow from {run.path.name}: {some(wrong, 3)}" if wrong else "",
        hint="Build it again from the rollouts; never edit it by hand.",
    )


def check_facts(files: GoldenFiles, least: int) -> Iterator[Check]:
    """The anchor facts: enough, well-formed, and different from each other."""
    if files.facts is None:
        missing = f"{files.model}_anchor_facts.json: is missing"
        hint = "Draft them with extract-anchor-facts, then review them."
        yield judged("golden", "", bad=missing, hint=hint)
        return
    name, stated = files.facts.name, read_object(files.facts)
    facts = stated.get("anchor_facts") if stated is not None else None
    if not isinstance(facts, list) or not all(isinstance(fact, dict) for fact in facts):
        yield judged("golden", "", bad=f"{name}: has no list of objects under anchor_facts", hint="See `--help`.")
        return
    draft = ", drafts that wait for review" if stated and stated.get("review_required") else ""
    yield judged(
        "golden",
        f"{name}: {len(facts)} anchor facts{draft}",
        bad=f"{name}: {len(facts)} anchor facts, expected {least} at least" if len(facts) < least else "",
        hint="Add findings that only somebody who has read the rollouts would know.",
    )
    yield facts_are_well_formed(name, facts)
    yield facts_differ(name, facts)


def facts_are_well_formed(name: str, facts: list[dict[str, Any]]) -> Check:
    """Every fact has an id of its own, a sentence, a difficulty, and a rating only if somebody gave one."""
    wrong = [f"{fact.get('id', f'number {n}')} {why}" for n, fact in enumerate(facts, 1) if (why := fault(fact))]
    ids = [str(fact.get("id")) for fact in facts]
    wrong += [f"{one} is used twice" for one in dict.fromkeys(ids) if ids.count(one) > 1]
    return judged(
        "golden",
        f"{name}: every fact has id, sentence and difficulty",
        bad=f"{name}: {some(wrong, 3)}" if wrong else "",
        hint='A fact is {"id": "B1", "fact": "…", "difficulty": "high", "mean_score": null}.',
    )


def fault(fact: dict[str, Any]) -> str:
    """What is wrong with the form of a fact; empty when nothing is."""
    if not isinstance(fact.get("id"), str) or not fact["id"].strip():
        return "has no id"
    if not isinstance(fact.get("fact"), str) or len(fact["fact"].strip()) < LEAST_FACT:
        return f"says less than {LEAST_FACT} characters"
    if fact.get("difficulty") not in DIFFICULTIES:
        return f"has difficulty {fact.get('difficulty')!r}, expected {', '.join(DIFFICULTIES)}"
    if fact.get("mean_score") is not None and as_number(fact["mean_score"]) is None:
        return f"has mean_score {fact['mean_score']!r}, expected a number or null"
    return ""


def facts_differ(name: str, facts: list[dict[str, Any]]) -> Check:
    """No fact is another in other words: each would count the same finding twice."""
    seen: dict[frozenset[str], str] = {}
    twice: list[str] = []
    for fact in facts:
        words = frozenset(re.findall(r"[\w.:#%-]+", str(fact.get("fact", "")).lower()))
        if words in seen:
            twice.append(f"{fact.get('id')} repeats {seen[words]}")
        seen.setdefault(words, str(fact.get("id")))
    hint = "Keep one of them; the benchmark has more than one thing to find."
    return judged(
        "golden", f"{name}: no fact repeats another", bad=some(twice, 3) and f"{name}: {some(twice, 3)}", hint=hint
    )


def shallow_follows(path: Path, report: str) -> Check:
    """The control is what make-shallow gives."""
    same = path.read_text(encoding="utf-8", errors="replace").strip() == make_shallow(report).strip()
    return judged(
        "golden",
        f"{path.name}: is the report without its findings",
        bad="" if same else f"{path.name}: is not what make-shallow gives for the report",
        hint="Run make-shallow again whenever the report changes.",
    )


def read_object(path: Path) -> dict[str, Any] | None:
    """A file's JSON object; `None` when it holds none."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
