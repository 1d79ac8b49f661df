"""A small benchmark package that keeps every promise, made from literal rollouts, for tests to break.

Six tasks with four rollouts by two made-up models. Everything derived (report, sidecar, control) is derived here too,
so that a test changes one thing and sees one check fail.
"""

import json
from pathlib import Path
from typing import Any

from rollout_rows import Row, message, rollout, write_rows

from blade.audit.golden.shallow import make_shallow
from blade.diagnosis import AnalyzeOptions, analyze
from blade.report.report import build_report, render_report
from blade.rollouts import ReadOptions, read_runs

PASSES = {"model-a": [4, 4, 2, 1, 0, 0], "model-b": [4, 3, 3, 2, 1, 0]}
"""Rollouts of each task that pass, of four."""

CONFIG = """\
config_paths: [blade/environments/numeric/config.yaml]
small_sums_agent:
  responses_api_agents:
    tool_loop:
      datasets:
      - {name: small_sums, type: benchmark, num_repeats: 4}
blade: {success: "reward >= 1.0", skill: small-sums, slices: [difficulty]}
"""


def rows_of(model: str) -> list[Row]:
    """The rollouts of one model."""
    return [
        rollout(
            task,
            repeat,
            1.0 if repeat < passes else 0.0,
            output=[message(f"{model} says the sum of task {task} is {task if repeat < passes else task + 7}.")],
            response={"model": model},
            difficulty="easy" if task < 3 else "hard",
        )
        for task, passes in enumerate(PASSES[model])
        for repeat in range(4)
    ]


def write_package(root: Path) -> Path:
    """The package in one folder; returns that folder."""
    folder = root / "small_sums"
    write_text(folder / "config.yaml", CONFIG)
    write_text(folder / "skill" / "SKILL.md", skill_text())
    write_text(folder / "skill" / "references" / "verdicts.md", "# Verdicts\n")
    for model in PASSES:
        write_rows(folder / "rollouts" / f"{model}.jsonl", rows_of(model))
        write_golden(folder, model)
    return folder


def write_golden(folder: Path, model: str) -> None:
    """A report without a narrative, its sidecar, its control and a few facts."""
    (run,) = read_runs([str(folder / "rollouts" / f"{model}.jsonl")], ReadOptions())
    report = render_report(build_report(analyze(run, AnalyzeOptions(success="reward >= 1.0", slices=("difficulty",)))))
    place = folder / "golden_reports"
    write_text(place / f"{model}_golden_report.md", report)
    write_text(place / f"{model}_shallow.md", make_shallow(report))
    write_json(place / f"{model}_golden_report_metrics.json", metrics_of(model))
    write_json(place / f"{model}_anchor_facts.json", {"anchor_facts": [fact(n) for n in range(1, 9)]})


def metrics_of(model: str) -> dict[str, Any]:
    """What a sidecar states, from the literal numbers above."""
    passes = PASSES[model]
    return {
        "benchmark": "small_sums",
        "model": model,
        "num_tasks": 6,
        "num_rollouts": 24,
        "pass_at_1": sum(passes) / 24,
        "buckets": {"always": passes.count(4), "never": passes.count(0)},
    }


def fact(number: int) -> dict[str, Any]:
    """A fact of the right form."""
    said = f"Finding {number} of the run is stated here in one whole sentence."
    return {"id": f"B{number}", "fact": said, "difficulty": "medium", "mean_score": None}


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
