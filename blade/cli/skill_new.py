"""`blade skill new`: draft an analysis skill from rollouts."""

from pathlib import Path
from typing import Annotated

import typer

from blade.cli.options import AsJson, epilog

EPILOG = epilog(
    "blade skill new my-benchmark --from rollouts.jsonl",
    "blade skill new my-benchmark --from rollouts.jsonl --success 'reward >= 0.8' --out my-skills",
)


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name, as in my-benchmark.", show_default=False)],
    source: Annotated[
        list[str], typer.Option("--from", metavar="FILE", help="Rollouts to draft it from; may be repeated.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of skills that it is written into.")] = Path(
        "skills"
    ),
    success: Annotated[
        str | None, typer.Option(metavar="RULE", help="Rule for when a rollout is a success, e.g. 'reward >= 0.8'.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draft a skill from the fields and failures of a file.

    Writes SKILL.md and a taxonomy pack. The draft is valid at once: `blade skill validate` passes, and `blade diagnose
    --pack` takes the taxonomy. What it could not know stands in it as questions.
    """
    import json

    from blade.cli.terminal import command, print_json
    from blade.diagnosis import AnalyzeOptions, with_named_fields
    from blade.rollouts import ReadOptions, read_runs
    from blade.skillkit.draft import new_skill

    read = with_named_fields(ReadOptions(), AnalyzeOptions(success=success))
    (run, *_) = read_runs(source, read)
    written = new_skill(name, run, out, success=success)
    if as_json:
        print_json(json.dumps({"written": [str(path) for path in written]}, indent=2).encode())
        return
    typer.echo("\n".join(f"Wrote {path}" for path in written))
    taxonomy = str(written[-1])
    typer.echo(f"Try it with: {command('blade', 'diagnose', source[0], '--pack', taxonomy)}", err=True)
