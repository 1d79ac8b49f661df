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
    'blade label out --mode test-large-fails --cause KG --reason "no attempt handles more than one file"',
)


class Confidence(StrEnum):
    """How sure the author is."""

    low = "low"
    medium = "medium"
    high = "high"


def label(
    folder: Folder,
    task: Annotated[
        str | None, typer.Argument(metavar="[TASK]", help="Task key; omit it with --mode.", show_default=False)
    ] = None,
    *,
    cause: Annotated[
        str,
        typer.Option(
            metavar="CAUSE",
            help="DA data artifact, IR infrastructure, TI task or verifier, BI behaviour, UK unreliable knowledge, "
            "KG knowledge gap; a mix as BI+KG, a draft as BI?.",
        ),
    ],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why, in one sentence.")],
    cite: Annotated[
        list[str] | None, typer.Option(metavar="TASK:REPEAT[#ITEM]", help="Where the evidence is; may be repeated.")
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            metavar="CODE",
            help="Label every task of this failure mode whose failing rollouts all show it, with them as the proof.",
        ),
    ] = None,
    quote: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="Words found there, verbatim; the first quote belongs to the first --cite, the second to the second, "
            'and so on. Use --quote "" for a citation without a quote.',
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
    from blade.audit.evidence import Evidence, source_in
    from blade.audit.prose import check_reason
    from blade.cli.folders import open_folder
    from blade.cli.terminal import command, print_as_json
    from blade.diagnosis import Label
    from blade.report.labelling import ModeLabels, labels_for_mode
    from blade.report.text import one_line
    from blade.report.workspace import append_label

    if (task is None) == (mode is None):
        raise UsageError("name either a task or, with --mode, a failure mode; modes are in analysis.json.")
    if (mode is None) == (not cite):
        raise UsageError("a task needs --cite, where the proof is; a mode brings its own.")
    workspace = open_folder(folder)
    said = Label(
        task=task or "",
        cause=cause,
        confidence=confidence.value,
        author=author or f"human:{user_name()}",
        reason=reason,
        evidence=pair_up(cite or [], quote or []),
    )
    found = ModeLabels(labels=[said], skipped={})
    if mode is not None:
        found = labels_for_mode(mode, said, workspace.analysis, workspace.labels)
    check_reason(said, Evidence([source_in(workspace)]))
    run = workspace.run() if len(found.labels) > 1 else None
    written = [append_label(workspace, one, run) for one in found.labels]
    if as_json:
        print_as_json(written[0] if mode is None else ModeLabels(labels=written, skipped=found.skipped))
        return
    for one in written:
        typer.echo(f"{one_line(one.task)}: {one.cause} by {one_line(one.author)}")
    for left, why in found.skipped.items():
        typer.echo(f"{one_line(left)}: not labelled, {one_line(why)}", err=True)
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
