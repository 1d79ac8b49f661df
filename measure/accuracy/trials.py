"""One trial: make a clean run, put a fault in, write the files, diagnose them blind, and note who was right."""

import random
from pathlib import Path
from typing import NamedTuple

from accuracy import assistant, coding, qa
from accuracy.faults import Fault
from accuracy.made_runs import GAVE_UP, MadeRun, Row, key, text_of, write_inputs, write_run
from accuracy.wordings import Words
from blade.api import read_all
from blade.diagnosis import Analysis, AnalyzeOptions, analyze

FRESH = 100
"""Seeds from here on draw words that rules were not developed on."""
NATURAL_SHARE = 0.005
"""Rollouts of a clean run that a behavioural signal may be on without being a false alarm."""


class Trial(NamedTuple):
    """What was put in and what was found."""

    fault: Fault
    family: str
    seed: int
    struck: set[str]
    found: set[str]
    """Rollouts, tasks or runs that the codes of the fault name."""
    truths: dict[str, str]
    """Failing task -> its true cause, where one is certain."""
    touched: set[str]
    """Tasks with any failing rollout that the fault struck."""
    gave_up: set[str]
    """Tasks with a failing rollout that stopped honestly after an error: behaviour or not, as one likes."""
    labels: dict[str, str]
    """Failing task -> the label it was given."""
    keywords: dict[str, str]
    """Failing task -> what looking for the word "error" would say."""
    alarms: list[str]
    """Findings and signals that a clean run should not have."""


def make_clean(family: str, seed: int, *, two: bool = False) -> MadeRun:
    """A clean run of one family; `two` gives the rows of two models on the same tasks."""
    rng = random.Random(f"{family} {seed}")
    count, repeats = rng.randint(60, 120), rng.randint(4, 5)
    words = Words(rng, fresh=seed >= FRESH)
    if family == "qa":
        tasks = qa.make_tasks(count, rng)
        run = qa.make_run(tasks, repeats, rng, model="model-a")
        if two:
            # Another model has other favourite errors: a shared one could not be told from a wrong expected answer.
            rivals = [task._replace(wrong=(*task.wrong[1:], task.wrong[0])) for task in tasks]
            run = run._replace(rows=[*run.rows, *qa.make_run(rivals, repeats, rng, model="model-b").rows])
        return run
    if family == "assistant":
        return assistant.make_run(assistant.make_tasks(count, rng), repeats, words, model="model-a")
    return coding.make_run(coding.make_tasks(count, rng), repeats, words, model="model-a")


def run_trial(fault: Fault, family: str, seed: int, *, share: float, folder: Path) -> Trial:
    """Makes, injects, writes, diagnoses, compares."""
    run = make_clean(family, seed, two=fault.name == "wrong gold")
    words = Words(random.Random(f"{fault.name} {family} {seed}"), fresh=seed >= FRESH)
    injected = fault.inject(run, share, words)
    path = write_run(folder / "run.jsonl", injected.rows)
    paths = [path]
    if injected.inputs is not None:
        write_inputs(path, injected.inputs)
    if injected.second is not None:
        paths.append(write_run(folder / "second.jsonl", injected.second))
    analysis = diagnose_files(paths)
    failing = failing_rows(injected.rows)
    truths, touched = true_causes(fault, injected.struck, failing, analysis)
    return Trial(
        fault=fault,
        family=family,
        seed=seed,
        struck=injected.struck,
        found=found_by(analysis, fault),
        truths=truths,
        touched=touched,
        gave_up={name.split(":")[0] for name in run.natural.get(GAVE_UP, ())},
        labels={cause.task: cause.label for cause in analysis.causes},
        keywords={task: keyword_cause(rows) for task, rows in failing.items()},
        alarms=false_alarms(analysis, run) if not fault.cause else [],
    )


def diagnose_files(paths: list[Path]) -> Analysis:
    """The analysis of the first file, beside all of them, as `blade diagnose` makes it."""
    runs = read_all(paths, use_cache=False)
    return analyze(runs[0], AnalyzeOptions(), others=runs)


def found_by(analysis: Analysis, fault: Fault) -> set[str]:
    """What the signals and findings of a fault name, at the level of the fault."""
    if fault.level == "run":
        return {"run"} if any(finding.code in fault.codes for finding in analysis.health) else set()
    if "missing_rollouts" in fault.codes:
        told = any(finding.code in fault.codes for finding in analysis.health)
        return {task.task for task in analysis.tasks if task.rollouts < task.expected} if told else set()
    places = [signal.citations for signal in analysis.signals if signal.code in fault.codes]
    places += [finding.citations for finding in analysis.health if finding.code in fault.codes]
    cited = {citation.split("#")[0] for citations in places for citation in citations}
    return {citation.split(":")[0] for citation in cited} if fault.level == "task" else cited


def failing_rows(rows: list[Row]) -> dict[str, list[Row]]:
    """Task -> its failing rows."""
    out: dict[str, list[Row]] = {}
    for row in rows:
        if row["reward"] != 1.0:
            out.setdefault(str(row["_ng_task_index"]), []).append(row)
    return out


def true_causes(
    fault: Fault, struck: set[str], failing: dict[str, list[Row]], analysis: Analysis
) -> tuple[dict[str, str], set[str]]:
    """Causes of the tasks whose failures are mainly the fault's doing, and all tasks it touched."""
    if not fault.cause:
        passed = {task.task for task in analysis.tasks if task.c}
        return {task: "UK" if task in passed else "KG" for task in failing}, set()
    if not fault.explains:
        lost = {task.task: fault.cause for task in analysis.tasks if task.expected and not task.rollouts}
        return lost, set()
    if fault.level == "task":
        return {task: fault.cause for task in struck if task in failing}, struck
    hit = {task: sum(key(row) in struck for row in rows) for task, rows in failing.items()}
    mainly = {task: fault.cause for task, rows in failing.items() if 2 * hit[task] > len(rows)}
    return mainly, {task for task, count in hit.items() if count}


def keyword_cause(rows: list[Row]) -> str:
    """The baseline: infrastructure when any failing row says "error", else a gap in knowledge."""
    texts = [str(row["response"]["error"] or "") for row in rows]
    texts += [text_of(item) for row in rows for item in row["response"]["output"] if item.get("role") != "user"]
    return "IR" if any("error" in text.lower() for text in texts) else "KG"


def false_alarms(analysis: Analysis, run: MadeRun) -> list[str]:
    """What a clean run is wrongly accused of."""
    alarms = [f"{finding.cause} {finding.code}: {finding.message}" for finding in analysis.health]
    for signal in analysis.signals:
        rollouts = {citation.split("#")[0] for citation in signal.citations} - run.natural.get(signal.code, set())
        if signal.kind == "behaviour" and len(rollouts) > NATURAL_SHARE * len(run.rows):
            alarms.append(f"BI {signal.code}: {len(rollouts)} of {len(run.rows)} rollouts")
    return alarms
