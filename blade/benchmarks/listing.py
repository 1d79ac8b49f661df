"""A benchmark in one line: what it asks, what runs and judges it, and which parts of its package are there."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from blade.benchmarks.benchmark import CONFIG_NAME, Benchmark


class Has(msgspec.Struct, frozen=True, kw_only=True):
    """Which parts of a benchmark's package exist."""

    data: bool
    """The frozen tasks."""
    rollouts: bool
    """Rollouts of some model."""
    skill: bool
    """The Agent Skill that explains them."""
    golden: bool
    """A golden report."""


KEPT = ("success", "skill", "slices", "temperature", "top_p", "max_output_tokens", "max_turns")


def list_benchmark(benchmark: Benchmark) -> dict[str, Any]:
    """One row of the list of benchmarks."""
    names = ("name", "domain", "description", "agent", "agent_name", "environment", "num_repeats")
    return {**{name: getattr(benchmark, name) for name in names}, "has": what_is_there(benchmark)}


def describe(benchmark: Benchmark) -> dict[str, Any]:
    """Everything a user may ask about one benchmark; paths are relative to the checkout."""

    def shown(path: Path | None) -> str | None:
        if path is None or not path.is_relative_to(benchmark.root):
            return None if path is None else path.as_posix()
        return path.relative_to(benchmark.root).as_posix()

    return {
        **list_benchmark(benchmark),
        "config": shown(benchmark.config),
        "includes": [shown(path) for path in benchmark.files if path != benchmark.config],
        "data": shown(benchmark.data),
        "sha256": benchmark.sha256,
        "prepare_script": shown(benchmark.prepare_script),
        "prompt": shown(benchmark.prompt),
        **{name: getattr(benchmark, name) for name in KEPT},
    }


def what_is_there(benchmark: Benchmark) -> Has:
    """Which parts of a benchmark's package exist, inside its folder or at the checkout's top."""
    folder, root = benchmark.folder, benchmark.root
    skill = benchmark.skill or folder.name.replace("_", "-")
    skills = (folder / "skill" / "SKILL.md", root / "skills" / skill / "SKILL.md")
    reports = (folder / "golden_reports", root / "golden_reports" / benchmark.name)
    return Has(
        data=benchmark.data is not None and benchmark.data.is_file(),
        rollouts=any(rollout_files(benchmark)),
        skill=any(path.is_file() for path in skills),
        golden=any(any(place.glob("*_golden_report.md")) for place in reports),
    )


def rollout_files(benchmark: Benchmark) -> Iterator[Path]:
    """Rollouts kept with a benchmark; a second config in a folder does not claim those of the first."""
    if benchmark.config.name == CONFIG_NAME:
        yield from sorted((benchmark.folder / "rollouts").glob("*.jsonl*"))
        yield from sorted((benchmark.folder / "data").glob("*rollouts*.jsonl"))
