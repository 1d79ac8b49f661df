"""All checks of a package, its skill (D1), its rollouts (D2), its golden reports (D3): what any Python can tell, and
what the engine can, where it is installed.

Standard library only; whether the skill keeps the Agent Skills specification is for the engine to tell.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

from blade.golden.package.checks import PHASES, Check, Phase, judged, skipped, some
from blade.golden.package.layout import FACTS, METRICS, SHALLOW, GoldenFiles, Package, find_package, find_reports
from blade.golden.package.rows import (
    REPEAT_FIELDS,
    REWARD_FIELDS,
    TASK_FIELDS,
    Rows,
    as_number,
    count_totals,
    differences,
    read_rows,
)
from blade.golden.shallow import make_shallow, outside_fences
from blade.skillkit.markdown import Prose, blocks, code_spans, local_links

LEAST_FACTS = 8
ENGINE_NEEDS = ("msgspec", "numpy", "jinja2", "yaml")
ENGINE_CHECKS: dict[Phase, str] = {
    "skill": "the skill keeps the Agent Skills specification",
    "golden": "reports are what their sources give; claims and facts hold",
}
LEAST_SKILL_LINES, LEAST_REPORT_LINES, LEAST_SECTIONS = 50, 40, 3
LEAST_RUNS, LEAST_FACT, LEAST_KNOWN = 2, 20, 3
FRONTMATTER = re.compile(r"---[ \t]*\n(.*?\n)?---[ \t]*(?:\n|$)", re.DOTALL)
FILLED = r"^{}:[ \t]*(?:(?:[>|][+-]?[ \t]*)?\n\s*[ \t])?[\"']?[^\s\"'>|]"
"""A field of the frontmatter that has a value: on its line, quoted, or folded on the lines below."""
FILE = re.compile(r"(?:references|scripts|assets|evals)/[\w./-]+\.\w+")
LEFT_OPEN = re.compile(r"\bTODO\b|\bTBD\b|\bFIXME\b|<placeholder", re.IGNORECASE)
LEFT_IN_REPORT = re.compile(rf"{LEFT_OPEN.pattern}|\{{\{{|\{{%", re.IGNORECASE)
KNOWN = ("model", "model_name", "benchmark", "pass_at_1", "num_tasks", "total_tasks")
DIFFICULTIES = ("high", "medium", "low")
CITATION = re.compile(r"(?<!`)`([^`\n]{1,120}:(?:0|[1-9][0-9]{0,8}))(?:#[0-9]+)?`(?!`)")


def validate(
    folder: Path, *, phase: Phase | Literal["all"] = "all", least_facts: int = LEAST_FACTS, engine: bool = True
) -> list[Check]:
    """Every check of a benchmark's folder, phase by phase; without the engine only those of structure."""
    wanted, package, found = PHASES if phase == "all" else (phase,), find_package(folder), list[Check]()
    if not package.folder.is_dir():
        what = f"{package.folder}: is not a folder"
        return [judged(one, "", bad=what, hint="Name a benchmark's folder.") for one in wanted]
    structural = {
        "skill": check_skill(package),
        "rollouts": check_rollouts(package),
        "golden": check_golden(package, least_facts=least_facts),
    }
    found += [check for one in wanted for check in structural[one]]
    for one in (phase for phase in wanted if engine and phase in ENGINE_CHECKS):
        if all(find_spec(name) is not None for name in ENGINE_NEEDS):
            found += import_module("blade.golden.guard").engine_checks(package, one)
        else:
            found.append(skipped(one, ENGINE_CHECKS[one]))
    return found


def check_skill(package: Package) -> Iterator[Check]:
    """There is an analysis skill that an agent can use."""
    check, path = partial(judged, "skill"), package.skill
    if path is None:
        where = f"{package.name}/skill, {package.name} or skills/{package.name.replace('_', '-')}"
        hint = "Write the analysis skill; its frontmatter needs name and description."
        yield check("", bad=f"no SKILL.md in {where}", hint=hint)
        return
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    head = FRONTMATTER.match(text)
    body = text[head.end() :] if head else text
    bad = "" if head is not None else "SKILL.md has no frontmatter between two lines of ---"
    yield check("SKILL.md begins with frontmatter", bad, "Begin the file with ---, name, description, ---.")
    fields = (head and head[1]) or ""
    needed = ("name", "description")
    lacking = some(name for name in needed if not re.search(FILLED.format(name), fields, re.MULTILINE))
    hint = "Agents find a skill by its name, and by what the description says it is for."
    yield check("the skill has name and description", lacking and f"the skill has no {lacking}", hint)
    prose = [block.text for block in blocks(body) if isinstance(block, Prose)]
    lines, sections = text.splitlines(), sum(block.startswith("## ") for block in prose)
    seen = f"SKILL.md has {len(lines)} lines and {sections} sections"
    is_short = len(lines) < LEAST_SKILL_LINES or sections < LEAST_SECTIONS
    bad = f"{seen}, expected {LEAST_SKILL_LINES} and {LEAST_SECTIONS} at least" if is_short else ""
    yield check(seen, bad, "Inputs, workflow, output, pitfalls: an agent needs them all.")
    named = {name for block in prose for name in (*local_links(block), *filter(FILE.fullmatch, code_spans(block)))}
    dead = some(sorted(name for name in named if name[0] != "/" and not (path.parent / name).exists()))
    hint = "Paths are relative to the skill's folder."
    yield check("every file the skill links to is there", dead and f"dead links in SKILL.md: {dead}", hint)
    left = some(number for number, line in enumerate(lines, start=1) if LEFT_OPEN.search(line))
    bad = left and f"SKILL.md holds placeholders: line {left}"
    yield check("SKILL.md holds no placeholder", bad, "Finish or remove these lines.")


def check_rollouts(package: Package) -> Iterator[Check]:
    """The rollouts are whole, scored, comparable, and several runs."""
    if not package.rollouts:
        where = f"no rollout file in {package.name}/rollouts (*.jsonl) or {package.name}/data (*rollout*.jsonl)"
        hint = "Put one file of scored rollouts per model there, such as rollouts/<model>.jsonl."
        yield judged("rollouts", "", where, hint)
        return
    runs = [read_rows(path) for path in package.rollouts]
    for run in runs:
        yield from check_run(run, package.repeats)
    yield from check_runs(runs)


def check_run(run: Rows, repeats: int | None) -> Iterator[Check]:
    """One file: every line is a rollout with its keys and its score, none occurs twice, none is missing."""
    check = partial(judged, "rollouts", name=run.path.name)
    told = some((f"line {line} {reason}" for line, reason in run.bad), 3)
    bad = told and f"{len(run.bad)} of {len(run.bad) + len(run.rows)} lines hold no rollout: {told}"
    bad = bad or ("" if run.rows else "is empty")
    hint = "Every line must be one JSON object; run the benchmark again, or remove the lines."
    yield check(f"every line is a rollout ({len(run.rows)} rows)", bad, hint)
    if not run.rows:
        return
    lacking = [row.line for row in run.rows if row.task is None or row.repeat is None]
    bad = f"{len(lacking)} rows without a task id or a rollout id: line {some(lacking)}" if lacking else ""
    expected = f"one of {', '.join(TASK_FIELDS)} and one of {', '.join(REPEAT_FIELDS)}"
    good = f"every row has a task id ({run.task_field}) and a rollout id ({run.repeat_field})"
    yield check(good, bad, f"Every row needs {expected}, the same field in all rows of a file.")
    odd = [f"line {row.line} has {row.reward_seen}" for row in run.rows if row.reward is None]
    bad = f"{len(odd)} rows whose reward is not a finite number: {some(odd, 3)}" if odd else ""
    hint = f"Put the verifier's number into {' or '.join(REWARD_FIELDS)}; a rollout without a verdict is run again."
    yield check("every reward is a number", bad, hint)
    counts = Counter(row.key for row in run.rows if row.task is not None and row.repeat is not None)
    twice = [key for key, count in counts.items() if count > 1]
    bad = f"{len(twice)} keys occur more than once: {some(twice)}" if twice else ""
    hint = "Keep one row per task and repeat; give rollouts from several workers different repeat numbers."
    yield check("no rollout occurs twice", bad, hint)
    tried = {task: len({row.repeat for row in rows}) for task, rows in run.by_task().items()}
    due = repeats or max(tried.values(), default=0)
    short = [f"{task} has {count}" for task, count in tried.items() if count != due]
    source = "config.yaml says" if repeats else "the largest number seen"
    bad = f"{len(short)} tasks without their {due} rollouts ({source}): {some(short)}" if short else ""
    hint = "Resume the run until no rollout is missing, or correct num_repeats in config.yaml."
    yield check(f"every task has {due} rollouts ({len(tried)} tasks)", bad, hint)


def check_runs(runs: Sequence[Rows]) -> Iterator[Check]:
    """The files together: several, none a copy of another, all about the same tasks."""
    check = partial(judged, "rollouts")
    scored = [run for run in runs if any(row.reward is not None for row in run.rows)]
    # A copy holds the same keys, scores and outputs.
    said = [(run, sorted((row.key, str(row.reward), row.fingerprint) for row in run.rows)) for run in scored]
    copies = [(a, b) for (a, one), (b, other) in combinations(said, 2) if one == other and any(row[2] for row in one)]
    distinct = len(scored) - len({other.path for _, other in copies})
    seen = f"{distinct} different scored runs"
    hint = "A benchmark is comparable when at least two models have been run on it."
    yield check(seen, bad=f"{seen}, expected {LEAST_RUNS}" if distinct < LEAST_RUNS else "", hint=hint)
    copied = some(f"{one.path.name} and {other.path.name}" for one, other in copies)
    bad, hint = copied and f"the same rollouts under two names: {copied}", "Remove the copy, or run the second model."
    yield check("no run is a copy of another", bad, hint)
    sets = {run.path.name: set(run.by_task()) for run in scored}
    tasks = set().union(*sets.values())
    lacking = some((f"{name} lacks {some(sorted(tasks - own), 3)}" for name, own in sets.items() if own != tasks), 3)
    hint = "Run every model on the same frozen data, so that scores can be compared task by task."
    bad = lacking and f"runs are about different tasks: {lacking}"
    yield check(f"every run has the same {len(tasks)} tasks", bad, hint)


def check_golden(package: Package, *, least_facts: int) -> Iterator[Check]:
    """Every golden report has what belongs to it, and follows from the rollouts."""
    reports = [] if package.golden is None else find_reports(package.golden)
    if not reports:
        bad = f"no *_golden_report.md in {package.name}/golden_reports or golden_reports/{package.name}"
        hint = "Write a narrative and run `blade golden build`, or put a report there."
        yield judged("golden", "", bad, hint)
    runs = {path.stem: read_rows(path) for path in package.rollouts} if reports else {}
    for files in reports:
        text = files.report.read_text(encoding="utf-8", errors="replace")
        yield from check_text(files.report.name, text, runs)
        if not files.is_comparison:
            yield from check_metrics(files, package, runs)
            yield from check_facts(files, least_facts)
        shallow = files.beside(SHALLOW)
        if not files.is_comparison and shallow.is_file():
            is_made = shallow.read_text(encoding="utf-8", errors="replace").strip() == make_shallow(text).strip()
            bad = "" if is_made else "is not what make-shallow gives for the report"
            hint = "Run make-shallow again whenever the report changes."
            yield judged("golden", "is the report without its findings", bad, hint, name=shallow.name)


def check_text(name: str, text: str, runs: dict[str, Rows]) -> Iterator[Check]:
    """A report: there is something to read, nothing is left open, and every rollout it cites exists."""
    check = partial(judged, "golden", name=name)
    lines, sections = text.splitlines(), len(re.findall(r"^## ", text, re.MULTILINE))
    seen = f"{len(lines)} lines, {sections} sections"
    is_short = len(lines) < LEAST_REPORT_LINES or sections < LEAST_SECTIONS
    bad = f"{seen}; expected {LEAST_REPORT_LINES} and {LEAST_SECTIONS} at least" if is_short else ""
    yield check(seen, bad, "Summary, totals, funnel, buckets, failure modes with examples, recommendations.")
    open_lines = [line for line in outside_fences(lines) if LEFT_IN_REPORT.search(re.sub(r"`[^`]*`", "", line))]
    left = some((repr(line.strip()[:60]) for line in open_lines), 2)
    hint = "Finish the report, or build it again from its narrative."
    yield check("holds no placeholder", left and f"holds placeholders: {left}", hint)
    rows = [row for run in runs.values() for row in run.rows]
    known, tasks = {row.key for row in rows}, {row.task for row in rows}
    cited = list(dict.fromkeys(CITATION.findall(text)))
    # `17:30` may be a time: only what names a known task, or is cited with an item, is surely meant as a rollout.
    unknown = some(key for key in cited if key not in known and (key.rpartition(":")[0] in tasks or f"{key}#" in text))
    if runs:
        hint = "Cite as `task:repeat` or `task:repeat#item`, with keys from the rollout files."
        bad = unknown and f"cites rollouts that are in no file: {unknown}"
        yield check(f"every cited rollout exists ({len(cited)} cited)", bad, hint)


def check_metrics(files: GoldenFiles, package: Package, runs: dict[str, Rows]) -> Iterator[Check]:
    """The metrics sidecar: there, readable, and what the rollouts give."""
    place, run = files.beside(METRICS), runs.get(files.model)
    check, stated = partial(judged, "golden", name=place.name), read_object(place)
    known = [field for field in KNOWN if stated and stated.get(field) is not None]
    bad = ""
    if stated is None:
        bad = "is not a JSON object" if place.is_file() else "is missing"
    elif len(known) < LEAST_KNOWN:
        bad = f"has {some(known) or 'none'} of {', '.join(KNOWN)}, fewer than {LEAST_KNOWN}"
    yield check(f"says {some(known, 6)}", bad, "`blade golden build` writes it from the rollouts.")
    if stated is None or bad:
        return
    if run is None:
        yield skipped("golden", f"{place.name}: follows from the rollouts", f"no rollouts/{files.model}.jsonl")
        return
    wrong = some(differences(stated, count_totals(run, package.success)), 3)
    hint = "Build it again from the rollouts; never edit it by hand."
    yield check(f"follows from {run.path.name}", wrong and f"does not follow from {run.path.name}: {wrong}", hint)


def check_facts(files: GoldenFiles, least: int) -> Iterator[Check]:
    """The anchor facts: enough, well-formed, and different from each other."""
    place = files.beside(FACTS)
    check, stated = partial(judged, "golden", name=place.name), read_object(place)
    facts = (stated or {}).get("anchor_facts")
    if not isinstance(facts, list) or not all(isinstance(fact, dict) for fact in facts):
        bad = "has no list of objects under anchor_facts" if place.is_file() else "is missing"
        yield check("", bad, "Draft them with extract-anchor-facts, then review them.")
        return
    draft = ", drafts that wait for review" if stated and stated.get("review_required") else ""
    seen = f"{len(facts)} anchor facts"
    hint = "Add findings that only somebody who has read the rollouts would know."
    yield check(f"{seen}{draft}", f"{seen}, expected {least} at least" if len(facts) < least else "", hint)
    wrong, twice = list[str](), list[str]()
    ids, seen_before = set[str](), dict[frozenset[str], str]()
    for number, fact in enumerate(facts, 1):
        key, text, score = (fact.get(field) for field in ("id", "fact", "mean_score"))
        called = key if isinstance(key, str) and key.strip() else f"number {number}"
        if called != key:
            wrong.append(f"{called} has no id")
        if not isinstance(text, str) or len(text.strip()) < LEAST_FACT:
            wrong.append(f"{called} says less than {LEAST_FACT} characters")
        if fact.get("difficulty") not in DIFFICULTIES:
            wrong.append(f"{called} has difficulty {fact.get('difficulty')!r}, expected {', '.join(DIFFICULTIES)}")
        if score is not None and as_number(score) is None:
            wrong.append(f"{called} has mean_score {score!r}, expected a number or null")
        wrong += [f"{called} is used twice"] if called in ids else []
        ids.add(called)
        words = frozenset(re.findall(r"[\w.:#%-]+", str(text).lower()))
        twice += [f"{called} repeats {seen_before[words]}"] if words in seen_before else []
        seen_before.setdefault(words, called)  # each would count the same finding again
    hint = 'A fact is {"id": "B1", "fact": "…", "difficulty": "high", "mean_score": null}.'
    yield check("every fact has id, sentence and difficulty", some(wrong, 3), hint)
    hint = "Keep one of them; the benchmark has more than one thing to find."
    yield check("no fact repeats another", some(twice, 3), hint)


def read_object(path: Path) -> dict[str, Any] | None:
    """A file's JSON object; `None` when it holds none."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
