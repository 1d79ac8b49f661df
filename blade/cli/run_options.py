"""Options of the commands that make rollouts, declared once."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

if TYPE_CHECKING:
    from blade.evals.jobs import JudgeTarget, Target, Wishes


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
Concurrency = Annotated[int, typer.Option(min=1, metavar="N", help="Number of rollouts to run in parallel.")]
JudgeUrl = Annotated[str | None, typer.Option("--judge-base-url", metavar="URL", help="The judge's server.")]
JudgeVotes = Annotated[int, typer.Option(min=1, metavar="N", help="Maximum votes of the judge per answer.")]
Root = Annotated[Path | None, typer.Option(metavar="DIR", help="Checkout that holds `benchmarks/`.")]


def targeting(
    model: Annotated[str, typer.Option(metavar="MODEL", help="Model name, as the server knows it.")],
    base_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Server to use instead of the vendor's, e.g. http://localhost:8080/v1."),
    ] = None,
    api: Annotated[
        Api, typer.Option(help="API to speak; auto: messages to claude…, chat to a --base-url, else responses.")
    ] = Api.auto,
    tools: Annotated[
        Tools,
        typer.Option(
            help="How tools are called: through the API, or as lines of text for models without tool support."
        ),
    ] = Tools.native,
    agent_cmd: Annotated[
        str | None,
        typer.Option(
            "--agent-cmd",
            metavar="COMMAND",
            help="Agent that plays instead, e.g. 'claude -p --output-format stream-json'; {prompt} or {task_file} "
            "in it is the task, else the task comes last. --timeout is for a whole rollout.",
        ),
    ] = None,
    agent_network: Annotated[bool, typer.Option("--agent-network", help="Let --agent-cmd use the network.")] = False,
    agent_files: Annotated[
        bool,
        typer.Option(
            "--agent-files",
            help="Let --agent-cmd see your home folder, the checkout and earlier rollouts; otherwise only what it "
            "needs to run is there.",
        ),
    ] = False,
    agent_env: Annotated[
        list[str] | None,
        typer.Option(
            "--agent-env",
            metavar="NAME",
            help="Environment variable to pass to --agent-cmd, such as an API key; may be repeated.",
        ),
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.1, metavar="S", help="Timeout of a request, in seconds.")] = 600.0,
    attempts: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of attempts for a request that may still succeed.")
    ] = 6,
) -> "Target":
    """Who is asked; an agent's command does not see the user's home unless it may."""
    from blade.evals.commands import CommandLimits
    from blade.evals.jobs import Target

    hidden = () if agent_files else (str(Path.home()),)
    return Target(
        model=model,
        base_url=base_url,
        api=api.value,
        tools=tools.value,
        agent_cmd=agent_cmd,
        agent=CommandLimits(network=agent_network, environment=tuple(agent_env or ()), hidden=hidden),
        timeout=timeout,
        attempts=attempts,
    )


def writing_to(target: "Target", out: Path) -> "Target":
    """The target, with the folder of its rollouts hidden from an agent's command where anything is."""
    agent = target.agent
    hidden = (*agent.hidden, str(out.absolute())) if agent.hidden else ()
    return msgspec.structs.replace(target, agent=msgspec.structs.replace(agent, hidden=hidden))


def judging(
    judge_model: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Model that judges, for benchmarks whose answers a model judges."),
    ] = None,
    judge_url: JudgeUrl = None,
    judge_votes: JudgeVotes = 3,
) -> "JudgeTarget | None":
    """Who judges, if anybody was named."""
    from blade.evals.jobs import JudgeTarget

    if judge_model is None:
        return None
    return JudgeTarget(model=judge_model, base_url=judge_url, votes=judge_votes)


def wishing(
    repeats: Annotated[int | None, typer.Option(min=1, metavar="N", help="Rollouts per task.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Run only the first N tasks.")] = None,
    temperature: Annotated[float | None, typer.Option(min=0.0, metavar="T", help="Sampling temperature.")] = None,
    top_p: Annotated[float | None, typer.Option(min=0.0, max=1.0, metavar="P", help="Nucleus sampling.")] = None,
    max_output_tokens: Annotated[int | None, typer.Option(min=1, metavar="N", help="Maximum tokens per reply.")] = None,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Seed from which each rollout's own seed is derived.")
    ] = 0,
) -> "Wishes":
    """What is asked for beyond what the benchmark says."""
    from blade.evals.jobs import Wishes
    from blade.llm import Sampling

    sampling = Sampling(temperature=temperature, top_p=top_p, max_output_tokens=max_output_tokens, seed=seed)
    return Wishes(sampling=sampling, repeats=repeats, limit=limit)
