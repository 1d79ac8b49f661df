"""What one run is to do: everything that decides what the rollouts will be, in one value."""

import hashlib
from pathlib import Path

import msgspec

from blade.benchmarks.benchmark import Benchmark
from blade.errors import InputError
from blade.llm import Sampling


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A benchmark with the settings of one run."""

    benchmark: str
    """Its name."""
    environment: str | None
    """Name of the environment that judges and has the tools; `None` when only an agent of its own can."""
    agent: str
    """Name that rows give as `agent_ref`."""
    data: Path
    """The tasks, one JSON object per line."""
    prompt: Path | None = None
    """Prompt file; `None` when the tasks bring their own `responses_create_params.input`."""
    repeats: int = 1
    """Rollouts per task."""
    limit: int | None = None
    """Tasks that are run, from the first; all by default."""
    sampling: Sampling = Sampling()
    """How answers are drawn; its seed is that of the run, from which every rollout gets one of its own."""
    max_turns: int = 1
    """Replies one rollout may take; every round of tool calls needs one."""
    max_rollout_tokens: int | None = None
    """Tokens the replies of one rollout may take together."""
    success: str | None = None
    """When a rollout passes, e.g. `reward >= 1.0`; progress and metrics use it."""
    slices: tuple[str, ...] = ()
    """Task fields that metrics are also cut by."""


def plan_of(benchmark: Benchmark, sampling: Sampling, *, repeats: int | None = None, limit: int | None = None) -> Plan:
    """A benchmark's own settings, with what was asked for laid over them."""
    if not benchmark.tasks.is_file():
        raise InputError(f"{benchmark.tasks}: not there; `blade eval prepare {benchmark.name}` makes it.")
    return Plan(
        benchmark=benchmark.name,
        environment=benchmark.environment,
        agent=benchmark.agent_name,
        data=benchmark.tasks,
        prompt=benchmark.prompt,
        repeats=repeats or benchmark.num_repeats,
        limit=limit,
        sampling=laid_over(benchmark, sampling),
        max_turns=benchmark.max_turns or 1,
        success=benchmark.success,
        slices=tuple(benchmark.slices),
    )


def check_data(benchmark: Benchmark) -> None:
    """Raises when the tasks are not those the benchmark pins."""
    found = sha256(benchmark.tasks)
    if benchmark.sha256 is not None and found != benchmark.sha256:
        raise InputError(
            f"{benchmark.tasks}: sha256 is {found[:12]}…, {benchmark.name} pins {benchmark.sha256[:12]}…; "
            f"`blade eval prepare {benchmark.name}` makes it again, --force runs it as it is."
        )


def sha256(path: Path) -> str:
    """The sha256 of a file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}.") from error


def laid_over(benchmark: Benchmark, sampling: Sampling) -> Sampling:
    """What was asked for, and the benchmark's own where nothing was."""
    names = ("temperature", "top_p", "max_output_tokens")
    own = {name: getattr(benchmark, name) for name in names if getattr(sampling, name) is None}
    return msgspec.structs.replace(sampling, **own)


def rollout_seed(seed: int, task: int, repeat: int) -> int:
    """A seed of its own for every rollout, the same in every run with the same seed.

    A prime step keeps the repeats of a task apart from those of the next; servers take 31 bits.
    """
    return (seed + 1_000_003 * task + repeat) % (1 << 31)
