"""`blade eval aggregate`: a run's metrics per agent, from one file or from shards."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.eval_options import FailOnMissing, counting
from blade.cli.options import AsJson, epilog, with_options, working_on
from blade.errors import InputError, UsageError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from blade.evals.aggregate import Aggregated, AggregateOptions
    from blade.evals.shards import Merged

EPILOG = epilog(
    "blade eval aggregate out/word_math.jsonl",
    "blade eval aggregate 'shards/part-*.jsonl' --output merged.jsonl --fail-on-missing",
    "blade eval aggregate seed0.jsonl seed1.jsonl --seed-shards --output all.jsonl",
)


@with_options(options=counting, engine=working_on)
def aggregate(
    rollouts: Annotated[
        list[str], typer.Argument(metavar="ROLLOUTS", help="A rollout file, or the shards of a run: files or globs.")
    ],
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where shards are merged to, sorted by task and repeat."),
    ] = None,
    seed_shards: Annotated[
        bool, typer.Option("--seed-shards", help="Every file is one more seed: count its repeats on from the last.")
    ] = False,
    options: "AggregateOptions",
    fail_on_missing: FailOnMissing = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an output that exists.")] = False,
    engine: "AbstractContextManager[object]",
    as_json: AsJson = False,
) -> None:
    """Write per-agent metrics; merge shards first.

    They stand beside the rollouts, as NeMo Gym names and fills them. Merging resolves duplicates, joins inputs and
    failures, and counts what is missing. Needs no server.
    """
    from blade.cli.eval_options import fail_if_missing
    from blade.evals.aggregate import write_aggregate
    from blade.evals.shards import merge_shards

    paths = shards_of(rollouts, output)
    merged = None
    if output is not None:
        merged = merge_shards(
            paths, output, duplicates=options.duplicates, seed_shards=seed_shards, overwrite=overwrite
        )
    elif seed_shards:
        raise UsageError("--seed-shards needs --output, where the renumbered rollouts go.")
    with engine:
        result = write_aggregate(paths[0] if output is None else output, options)
    render(result, merged, as_json=as_json)
    fail_if_missing(result.agents, wanted=fail_on_missing)


def shards_of(rollouts: list[str], output: Path | None) -> list[Path]:
    """The files a user means; what an earlier merge wrote is none of its own shards."""
    from blade.rollouts.finding import find_inputs

    # Gym takes several globs in one word.
    words = [part.strip() for word in rollouts for part in ([word] if Path(word).exists() else word.split(","))]
    found = find_inputs(word for word in words if word)
    paths = [path for path in found if output is None or path.resolve() != output.resolve() or len(found) == 1]
    if not paths:
        raise InputError(f"{', '.join(rollouts)}: no shards beside {output}.")
    if len(paths) > 1 and output is None:
        raise UsageError(f"{len(paths)} shards were named; say with --output where they are merged to.")
    return paths


def render(result: "Aggregated", merged: "Merged | None", *, as_json: bool) -> None:
    """What was written, for a program or a person."""
    import msgspec

    from blade.cli.eval_options import agent_lines, say
    from blade.cli.terminal import print_as_json
    from blade.report.numbers import plural
    from blade.report.text import one_line

    say([*(merged.notes if merged else []), *result.notes])
    if as_json:
        print_as_json({**msgspec.structs.asdict(result), "merged": merged})
        return
    for line in agent_lines(result.agents):
        typer.echo(one_line(line, 300))
    if merged is not None:
        typer.echo(one_line(f"{merged.output}: {merged.rollouts} rollouts of {merged.shards} shards", 300))
    typer.echo(one_line(f"{result.path}: {plural(len(result.agents), 'agent')}", 300))
