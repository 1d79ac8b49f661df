"""`blade label`: say why a task fails, with proof."""

import os
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.options import AsJson, Folder, epilog
from blade.errors import UsageError

if TYPE_CHECKING:
    from blade.diagnosis import Evidence

EPILOG = epilog(
    'blade label out 12 --cause BI --cite 12:3#5 --quote "Error: no seats" --reason "ignored the tool\'s error"',
    'blade label out 7 --cause TI --cite 7:0 --cite 7:1 --reason "the verifier rejects a right answer" -c high',
)


class Confidence(StrEnum):
    """How sure the author is."""

    low = "low"
    medium = "medium"
    high = "high"


def label(
    folder: Folder,
    task: Annotated[str, typer.Argument(metavar="TASK", help="The task, by its key.", show_default=False)],
    cause: Annotated[
        str,
        typer.Option(
            metavar="CAUSE",
            help="DA data artifact, IR infrastructure, TI task or verifier, BI behaviour, UK unreliable knowledge, "
            "KG knowledge gap; a mix as BI+KG, a draft as BI?.",
        ),
    ],
    cite: Annotated[list[str], typer.Option(metavar="TASK:REPEAT[#ITEM]", help="Where the proof is; may be repeated.")],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why, in one sentence.")],
    quote: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="Words found there, verbatim; the first quote belongs to the first --cite, the second to the second, "
            'and so on. Give --quote "" for a citation without one.',
        ),
    ] = None,
    confidence: Annotated[Confidence, typer.Option("--confidence", "-c", help="How sure you are.")] = Confidence.medium,
    author: Annotated[
        str | None, typer.Option(metavar="WHO", help="human:NAME or llm:MODEL; human:YOU by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Record why a task fails, with checked evidence.

    Every cited rollout must exist, and every quote must stand there word for word. The last label of a task is in
    force.
    """
    from blade.cli.folders import open_folder
    from blade.cli.terminal import command, print_value_as_json
    from blade.diagnosis import Label
    from blade.report.text import one_line
    from blade.report.workspace import append_label

    said = Label(
        task=task,
        cause=cause,
        confidence=confidence.value,
        author=author or f"human:{user_name()}",
        reason=reason,
        evidence=pair_up(cite, quote or []),
    )
    written = append_label(open_folder(folder), said)
    if as_json:
        print_value_as_json(written)
    else:
        typer.echo(f"{one_line(written.task)}: {written.cause} by {one_line(written.author)}")
        typer.echo(f"Put it into the report with: {command('blade', 'report', str(folder))}", err=True)


def pair_up(citations: list[str], quotes: list[str]) -> "list[Evidence]":
    """Each citation with the quote of the same rank, if there is one and it is not empty."""
    from blade.diagnosis import Evidence

    if len(quotes) > len(citations):
        raise UsageError(f"{len(quotes)} quotes for {len(citations)} citations; give every --quote its own --cite.")
    rest: list[str | None] = [None] * (len(citations) - len(quotes))
    pairs = zip(citations, [*quotes, *rest], strict=True)
    return [Evidence(citation=citation, quote=quote or None) for citation, quote in pairs]


def user_name() -> str:
    """Whom the environment names."""
    names = (os.environ.get(name, "").strip() for name in ("USER", "LOGNAME", "USERNAME"))
    return next((name for name in names if name), "unknown")
