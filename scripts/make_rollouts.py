"""Run the project's benchmarks with small real models on this machine, and keep the tables of their READMEs true.

    python scripts/make_rollouts.py                                  every benchmark with every model
    python scripts/make_rollouts.py --benchmark word_math --model smollm2-135m
    python scripts/make_rollouts.py --tables                         only rewrite the tables, from rollouts on disk

A run that was cut short goes on where it was. One model is served at a time, for all its benchmarks.
Exit codes: 0 good, 1 a run ended with failures (run it again), 3 weights or server unusable.
"""

import argparse
import datetime
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import local_models

import blade
from blade.report.numbers import interval, percent

ROOT = Path(__file__).resolve().parents[1]
SUFFIXES = ("_materialized_inputs", "_failures")
START, END = "<!-- rollouts -->\n", "<!-- /rollouts -->"
TEXT_TOOLS = {"office_desk"}
"""Benchmarks with tools: these models were never taught to call any, or their servers cannot tell when they do."""
QUANTISATION = {
    "smollm2-135m": "Q4_1",
    "gemma-3-270m": "Q4_K_M",
    "qwen2.5-coder-1.5b": "Q4_K_M",
    "qwen2.5-coder-1.5b-q2": "Q2_K",
}


def benchmarks() -> list[str]:
    """Names of the project's benchmarks."""
    return sorted(path.parent.name for path in (ROOT / "benchmarks").glob("*/config.yaml"))


def run(benchmark: str, model: str, url: str, *, parallel: int) -> bool:
    """Runs, or goes on with, one benchmark; whether every rollout has a verdict."""
    output = ROOT / "benchmarks" / benchmark / "rollouts" / f"{model}.jsonl"
    output.parent.mkdir(exist_ok=True)
    words = ["--benchmark", benchmark, "--model", model, "--base-url", url, "--output", str(output)]
    more = ["--concurrency", str(parallel), *(["--resume"] if output.exists() else [])]
    more += ["--tools", "text"] if benchmark in TEXT_TOOLS else []
    print(f"{benchmark} with {model}", file=sys.stderr)
    done = subprocess.run([sys.executable, "-m", "blade", "eval", "run", *words, *more], cwd=ROOT)
    # Thousands of lines that `blade eval aggregate` writes again from the rollouts at any time.
    output.with_name(f"{model}_aggregate_metrics.json").unlink(missing_ok=True)
    return done.returncode == 0


def rollout_files(benchmark: str) -> list[Path]:
    """Rollout files of a benchmark, without what stands beside them."""
    found = (ROOT / "benchmarks" / benchmark / "rollouts").glob("*.jsonl")
    return sorted(path for path in found if not path.stem.endswith(SUFFIXES))


def table(benchmark: str) -> str:
    """One line per run: what made it, and how it came out."""
    head = ["model", "weights", "made", "temperature", "seed", "rollouts", "pass@1", "95 % interval"]
    lines = [[*head, "always / sometimes / never"], ["---"] * (len(head) + 1)]
    lines += [line(path) for path in rollout_files(benchmark)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def line(path: Path) -> list[str]:
    manifest = json.loads(path.with_name(f"{path.stem}_manifest.json").read_text(encoding="utf-8"))
    analysis = blade.analyze(blade.read(path))
    score, buckets = analysis.metrics.pass_at_1, analysis.buckets
    assert score is not None
    return [
        f"`{path.stem}`",
        QUANTISATION.get(manifest["settings"]["model"], "?"),
        made_on(manifest),
        f"{manifest['settings']['sampling']['temperature']:g}",
        str(manifest["settings"]["sampling"]["seed"]),
        str(analysis.coverage.rollouts),
        str(percent(score.value)),
        str(interval(score.ci95)),
        f"{len(buckets.always)} / {len(buckets.sometimes)} / {len(buckets.never)}",
    ]


def made_on(manifest: dict[str, Any]) -> str:
    """The day a run was begun."""
    return datetime.datetime.fromisoformat(manifest["sittings"][0]["started_at"]).date().isoformat()


def with_table(text: str, rows: str) -> str:
    """A README whose table is the given one."""
    if START not in text or END not in text:
        raise SystemExit(f"make_rollouts: a README lacks {START.strip()} … {END}.")
    before, _, rest = text.partition(START)
    return before + START + rows + END + rest.partition(END)[2]


def write_tables(names: list[str]) -> None:
    for name in names:
        if rollout_files(name):
            readme = ROOT / "benchmarks" / name / "README.md"
            readme.write_text(with_table(readme.read_text(encoding="utf-8"), table(name)), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--benchmark", action="append", choices=benchmarks(), help="only this one; may be repeated")
    parser.add_argument("--model", action="append", choices=local_models.MODELS, help="only this one; may be repeated")
    parser.add_argument("--parallel", type=int, default=4, help="rollouts at a time (4)")
    parser.add_argument("--tables", action="store_true", help="only rewrite the tables")
    asked = parser.parse_args()
    names, good = asked.benchmark or benchmarks(), True
    for model in [] if asked.tables else asked.model or local_models.MODELS:
        with local_models.serving(model, parallel=asked.parallel, context=4096) as url:
            for name in names:
                good &= run(name, model, url, parallel=asked.parallel)
    write_tables(names)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
