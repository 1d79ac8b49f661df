"""Options of the commands that make rollouts, declared once."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from blade.evals.commands import CommandLimits
    from blade.evals.jobs import JudgeTarget
    from blade.llm import Sampling


class Api(StrEnum):
    """How a model is asked."""

    auto = "auto"
    responses = "responses"
    chat = "chat"
    messages = "messages"


class Tools(StrEnum):
    """How tools are called."""

    native = "native"
    text = "text"


Benchmark = Annotated[str, typer.Option(metavar="NAME", help="Benchmark; `blade list benchmarks` shows them.")]
Model = Annotated[str, typer.Option(metavar="MODEL", help="Model name, as the server knows it.")]
BaseUrl = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Server to use instead of the vendor's, e.g. http://localhost:8080/v1."),
]
ChosenApi = Annotated[
    Api, typer.Option(help="API to speak; auto: messages to claude…, chat to a --base-url, else responses.")
]
CalledTools = Annotated[
    Tools,
    typer.Option(help="How tools are called: through the API, or as lines of text for models without tool support."),
]
Repeats = Annotated[int | None, typer.Option(min=1, metavar="N", help="Rollouts per task.")]
Limit = Annotated[int | None, typer.Option(min=1, metavar="N", help="Run only the first N tasks.")]
Concurrency = Annotated[int, typer.Option(min=1, metavar="N", help="Number of rollouts to run in parallel.")]
Temperature = Annotated[float | None, typer.Option(min=0.0, metavar="T", help="Sampling temperature.")]
TopP = Annotated[float | None, typer.Option(min=0.0, max=1.0, metavar="P", help="Nucleus sampling.")]
MaxOutputTokens = Annotated[int | None, typer.Option(min=1, metavar="N", help="Maximum tokens per reply.")]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="Seed from which each rollout's own seed is derived.")]
Timeout = Annotated[float, typer.Option(min=0.1, metavar="S", help="Timeout of a request, in seconds.")]
Attempts = Annotated[
    int, typer.Option(min=1, metavar="N", help="Number of attempts for a request that may still succeed.")
]
JudgeModel = Annotated[
    str | None, typer.Option(metavar="MODEL", help="Model that judges, for benchmarks whose answers a model judges.")
]
JudgeUrl = Annotated[str | None, typer.Option("--judge-base-url", metavar="URL", help="The judge's server.")]
JudgeVotes = Annotated[int, typer.Option(min=1, metavar="N", help="Maximum votes of the judge per answer.")]
AgentCommand = Annotated[
    str | None,
    typer.Option(
        "--agent-cmd",
        metavar="COMMAND",
        help="Agent that plays instead, e.g. 'claude -p --output-format stream-json'; {prompt} or {task_file} "
        "in it is the task, else the task comes last. --timeout is for a whole rollout.",
    ),
]
AgentNetwork = Annotated[bool, typer.Option("--agent-network", help="Let --agent-cmd use the network.")]
AgentFiles = Annotated[
    bool,
    typer.Option(
        "--agent-files",
        help="Let --agent-cmd see your home folder, the checkout and earlier rollouts; otherwise only what it needs to "
        "run is there.",
    ),
]
AgentVariables = Annotated[
    list[str] | None,
    typer.Option(
        "--agent-env",
        metavar="NAME",
        help="Environment variable to pass to --agent-cmd, such as an API key; may be repeated.",
    ),
]
Root = Annotated[Path | None, typer.Option(metavar="DIR", help="Checkout that holds `benchmarks/`.")]


def make_agent(out: Path, environment: list[str] | None, *, network: bool, files: bool) -> "CommandLimits":
    """What --agent-cmd may use, and which folders are hidden from it."""
    from blade.evals.commands import CommandLimits

    hidden = () if files else (str(Path.home()), str(out.absolute()))
    return CommandLimits(network=network, environment=tuple(environment or ()), hidden=hidden)


def make_judge(model: str | None, base_url: str | None, votes: int) -> "JudgeTarget | None":
    """Who judges, if anybody was named."""
    from blade.evals.jobs import JudgeTarget

    return None if model is None else JudgeTarget(model=model, base_url=base_url, votes=votes)


def make_sampling(
    temperature: float | None, top_p: float | None, *, max_output_tokens: int | None, seed: int
) -> "Sampling":
    """How answers are drawn, as asked for."""
    from blade.llm import Sampling

    return Sampling(temperature=temperature, top_p=top_p, max_output_tokens=max_output_tokens, seed=seed)
