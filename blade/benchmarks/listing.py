"""A benchmark in one line: what it asks, what runs and judges it, and which parts of its package are there."""

from collections.abc import Iterator
from pathlib import Path

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


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the list of benchmarks."""

    name: str
    """What `--benchmark` takes."""
    domain: str | None
    """As its environment declares."""
    description: str | None
    """What it asks."""
    agent: str
    """Implementation of the agent."""
    agent_name: str
    """The agent's instance, as rollouts name it."""
    environment: str | None
    """Implementation of the environment; None when the agent judges itself, or a missing file declares it."""
    num_repeats: int
    """Rollouts per task."""
    has: Has
    """Which parts are there."""


class Details(Listing, frozen=True, kw_only=True):
    """Everything a user may ask about one benchmark; paths are relative to the checkout."""

    config: str
    """The file that declares it."""
    includes: list[str]
    """Files that one builds on, in the order they are merged."""
    data: str | None
    """The frozen tasks; None when whoever runs it names the file."""
    sha256: str | None
    """What they hash to."""
    prepare_script: str
    """What makes them."""
    prompt: str | None
    """Templates that turn a task into a request."""
    success: str | None
    """When a rollout is a success."""
    skill: str | None
    """The Agent Skill for its rollouts."""
    slices: list[str]
    """Fields worth cutting results by."""
    temperature: float | None
    """Sampling temperature."""
    top_p: float | None
    """Nucleus sampling."""
    max_output_tokens: int | None
    """Maximum tokens per reply."""
    max_turns: int | None
    """Requests per rollout."""


def list_benchmark(benchmark: Benchmark) -> Listing:
    """The row of a benchmark."""
    return Listing(
        name=benchmark.name,
        domain=benchmark.domain,
        description=benchmark.description,
        agent=benchmark.agent,
        agent_name=benchmark.agent_name,
        environment=benchmark.environment,
        num_repeats=benchmark.num_repeats,
        has=what_is_there(benchmark),
    )


def describe(benchmark: Benchmark) -> Details:
    """All about a benchmark."""

    def shown(path: Path) -> str:
        return path.relative_to(benchmark.root).as_posix() if path.is_relative_to(benchmark.root) else path.as_posix()

    row = msgspec.structs.asdict(list_benchmark(benchmark))
    kept = ("sha256", "success", "skill", "slices", "temperature", "top_p", "max_output_tokens", "max_turns")
    return Details(
        **row,
        **{name: getattr(benchmark, name) for name in kept},
        config=shown(benchmark.config),
        includes=[shown(path) for path in benchmark.files if path != benchmark.config],
        data=None if benchmark.data is None else shown(benchmark.data),
        prepare_script=shown(benchmark.prepare_script),
        prompt=None if benchmark.prompt is None else shown(benchmark.prompt),
    )


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
