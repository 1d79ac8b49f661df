"""A small benchmark package that keeps every promise, made from literal rollouts, for tests to break.

Ten sums with four rollouts by two made-up models, which drop carries and take a dozen for ten. Labels and narrative are
written here by hand; everything else of the golden package is built from them.
"""

import atexit
import functools
import json
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from rollout_rows import Row, message, rollout, write_rows

from blade.golden.build import build, write
from blade.golden.drafting import draft_facts
from blade.golden.facts import Fact, as_json
from blade.golden.sources import find_source
from blade.golden.truth import truth_beside

TASKS = [
    ("easy", "add", 4, 4),
    ("easy", "add", 4, 4),
    ("easy", "carry", 3, 4),
    ("easy", "add", 4, 3),
    ("hard", "carry", 1, 3),
    ("hard", "carry", 0, 2),
    ("hard", "words", 2, 2),
    ("hard", "words", 0, 0),
    ("hard", "carry", 0, 1),
    ("easy", "words", 4, 4),
]
"""Difficulty, kind, and how many of four rollouts pass by each model."""
MODELS = ("model-a", "model-b")
PASSES = {"model-a": [passes for _, _, passes, _ in TASKS], "model-b": [passes for _, _, _, passes in TASKS]}

CONFIG = """\
config_paths: [blade/environments/numeric/config.yaml]
small_sums_agent:
  responses_api_agents:
    tool_loop:
      datasets:
      - {name: small_sums, type: benchmark, num_repeats: 4}
blade: {success: "reward >= 1.0", skill: small-sums, slices: [difficulty, kind]}
"""

NARRATIVE = """\
---
author: human:tests
model: MODEL
constants: {"ten": what a dozen is not, "twelve": what a dozen is}
---
## Executive Summary

The model solves {{ headline | pct }} of its rollouts ({{ headline | ci }}). It always passes
{{ buckets.always | count }}
of {{ tasks | count }} tasks and never {{ buckets.never | count }}, and what separates them is the
carry: on `hard` tasks it is
{{ slices.difficulty.hard.headline | pct }}, on `easy` ones {{ slices.difficulty.easy.headline | pct }}.

## Dominant Failure Modes

### Dropped carries

Digits are added one by one and the carry is forgotten, which the model itself says in
{{ find(says="dropping the carry", passed=false) | count }} failing rollouts:
{{ cite("5:3#1", "dropping the carry") }}.
{{ labels.BI | count }} tasks are labelled BI for it: {{ labels.BI }}.

### A dozen is not ten

The word is misread, not the sum: {{ cite("7:0#1", "A dozen is ten") }}, although a dozen is twelve.

## Concrete Examples

### Task {{ task("5") }}

Task {{ task("5") }} passed {{ task("5").c }} of {{ task("5").n }}. The verifier extracted
{{ field("5:3", "extracted_answer") }} and expected
{{ field("5:3", "expected_answer") }}; the rollout ends {{ cite("5:3#1", "dropping the carry") }}.

### Task {{ task("7") }}

Task {{ task("7") }} passed {{ task("7").c }} of {{ task("7").n }} and is labelled {{ label("7") }}:
{{ cite("7:0#1", "A dozen is ten") }}.

### Task {{ task("6") }}

Task {{ task("6") }} passed {{ task("6").c }} of {{ task("6").n }}: {{ cite("6:0") }} knows the word
and {{ cite("6:3") }} does not.

## Sometimes-Pass Deep Dives

In task {{ task("4") }} the passing {{ cite("4:0#1") }} carries, the failing {{ cite("4:3#1") }}
drops the carry: nothing else
sets these answers apart.

## Findings No Table Shows

No rollout that failed was short of tokens. The mistake on `carry` tasks is in the first step, where digits are added.

## Recommendations

1. Train on sums with carries: {{ labels.BI | count }} tasks would move.
2. Say in the prompt what a dozen is: {{ (labels.KG | length) + (labels.UK | length) }} tasks would move.
"""
VERSUS = """\
---
author: human:tests
model: model-a_vs_model-b
constants: {"ten": what a dozen is not}
---
## Executive Summary

The candidate is {{ verdict }}: {{ delta | pp }} ({{ delta | ci("pp") }}) over {{ paired_tasks }} paired tasks. It
carries more often: the base passed task {{ base.task("5") }} {{ base.task("5").c }} of {{ base.task("5").n }}, the
candidate {{ candidate.task("5").c }} of {{ candidate.task("5").n }}.

## Findings No Table Shows

Both take a dozen for ten: {{ base.cite("7:0#1", "A dozen is ten") }}.

## Recommendations

1. Teach both what a dozen is.
"""


def rows_of(model: str) -> list[Row]:
    """The rollouts of one model."""
    return [make_row(model, task, repeat) for task in range(len(TASKS)) for repeat in range(4)]


def make_row(model: str, task: int, repeat: int) -> Row:
    difficulty, kind, *_ = TASKS[task]
    passes = repeat < PASSES[model][task]
    true = 120 + task
    answer = true if passes else true - (2 if kind == "words" else 10)
    return rollout(
        task,
        repeat,
        1.0 if passes else 0.0,
        output=[message(f"{model}, attempt {repeat}: {how(kind, passes)} {answer}.")],
        response={"model": model},
        **{"difficulty": difficulty, "kind": kind, "expected_answer": str(true), "extracted_answer": str(answer)},
    )


def how(kind: str, passes: bool) -> str:
    """How an answer is come by."""
    if kind == "words":
        return "A dozen is twelve, so the sum is" if passes else "A dozen is ten, so the sum is"
    return "adding the digits and the carry gives" if passes else "adding the digits and dropping the carry gives"


def label_rows(model: str) -> list[dict[str, Any]]:
    """What a reader says about every task that is not always passed."""
    return [label_row(model, task) for task, passes in enumerate(PASSES[model]) if passes < 4]


def label_row(model: str, task: int) -> dict[str, Any]:
    passes = PASSES[model][task]
    words = TASKS[task][1] == "words"
    cause = ("UK" if passes else "KG") if words else "BI"
    quote = "A dozen is ten" if words else "dropping the carry"
    return {
        "task": str(task),
        "cause": cause,
        "confidence": "high",
        "author": "human:tests",
        "reason": "takes a dozen for ten" if words else "drops the carry",
        "evidence": [{"citation": f"{task}:3#1", "quote": quote}],
    }


def write_package(root: Path, *, versus: bool = False) -> Path:
    """The package in one folder; returns that folder."""
    return Path(shutil.copytree(made_package(versus), root / "small_sums"))


@functools.cache
def made_package(versus: bool) -> Path:
    """The package, made once for all tests of a process and removed with it."""
    holder = tempfile.TemporaryDirectory(prefix="small_sums_")
    atexit.register(holder.cleanup)
    folder = Path(holder.name) / "small_sums"
    write_text(folder / "config.yaml", CONFIG)
    write_text(folder / "skill" / "SKILL.md", skill_text())
    write_text(folder / "skill" / "references" / "verdicts.md", "# Verdicts\n")
    for model in MODELS:
        write_rows(folder / "rollouts" / f"{model}.jsonl", rows_of(model))
        write_rows(folder / "golden_reports" / f"{model}.labels.jsonl", label_rows(model))
        write_text(folder / "golden_reports" / f"{model}.narrative.md", NARRATIVE.replace("MODEL", model))
    if versus:
        write_text(folder / "golden_reports" / "model-a_vs_model-b.narrative.md", VERSUS)
    source = find_source(str(folder))
    for model in source.models():
        write(source, build(source, model))
    for model in MODELS:
        write_facts(folder / "golden_reports", model)
    return folder


def write_facts(golden: Path, model: str) -> None:
    """Drafted facts, reviewed by nobody, and one that only its sentence can tell."""
    report = golden / f"{model}_golden_report.md"
    truth = truth_beside(report)
    text = report.read_text(encoding="utf-8")
    drafted = draft_facts(truth, most=12, benchmark="small_sums", model=model, report=text)
    prose = Fact(id="P1", fact="The mistake on `carry` tasks is in the first step.", difficulty="high")
    facts = replace(drafted, generated_at="", anchor_facts=[*drafted.anchor_facts, prose])
    write_text(golden / f"{model}_anchor_facts.json", as_json(facts))


def skill_text() -> str:
    """A skill that is long enough and links to a file that is there."""
    said = "Diagnoses rollouts of small sums. Use when sums come out wrong."
    head = f"---\nname: small-sums\ndescription: >-\n  {said}\n---\n"
    steps = "\nRead what the verifier said.\n" * 8
    sections = "".join(f"\n## {title}\n{steps}" for title in ("Inputs", "Steps", "Pitfalls"))
    return f"{head}\n# Small sums\n{sections}\nSee [verdicts](references/verdicts.md) when a verdict is odd.\n"


def write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(value, indent=2) + "\n")
