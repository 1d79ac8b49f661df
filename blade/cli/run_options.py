"""Options of the commands that make rollouts, declared once."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
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
Model = Annotated[str, typer.Option(metavar="MODEL", help="Model, as its server calls it.")]
BaseUrl = Annotated[
    str | None, typer.Option(metavar="URL", help="Server other than the vendor's, e.g. http://localhost:8080/v1.")
]
ChosenApi = Annotated[
    Api, typer.Option(help="API to speak; auto: messages to claude…, chat to a --base-url, else responses.")
]
CalledTools = Annotated[
    Tools, typer.Option(help="How tools are called: by the API, or by lines of text, for models never taught to.")
]
Repeats = Annotated[int | None, typer.Option(min=1, metavar="N", help="Rollouts per task.")]
Limit = Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N tasks.")]
Concurrency = Annotated[int, typer.Option(min=1, metavar="N", help="Rollouts at a time.")]
Temperature = Annotated[float | None, typer.Option(min=0.0, metavar="T", help="Sampling temperature.")]
TopP = Annotated[float | None, typer.Option(min=0.0, max=1.0, metavar="P", help="Nucleus sampling.")]
MaxOutputTokens = Annotated[int | None, typer.Option(min=1, metavar="N", help="Tokens per reply.")]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="Every rollout's own seed is derived from it.")]
Timeout = Annotated[float, typer.Option(min=0.1, metavar="S", help="Seconds one request may take.")]
Attempts = Annotated[int, typer.Option(min=1, metavar="N", help="Times a request that may yet succeed is made.")]
Root = Annotated[Path | None, typer.Option(metavar="DIR", help="Checkout that holds `benchmarks/`.")]


def make_sampling(
    temperature: float | None, top_p: float | None, *, max_output_tokens: int | None, seed: int
) -> "Sampling":
    """How answers are drawn, as asked for."""
    from blade.llm import Sampling

    return Sampling(temperature=temperature, top_p=top_p, max_output_tokens=max_output_tokens, seed=seed)
