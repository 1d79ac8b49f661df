"""`blade golden build`: write golden reports from rollouts, labels and narratives."""

from pathlib import Path
from typing import Annotated

import typer

from blade.cli.options import AsJson, epilog

EPILOG = epilog("blade golden build word_math", "blade golden build word_math --model small-model")

Benchmark = Annotated[
    str, typer.Argument(metavar="BENCHMARK", help="A benchmark's name or folder.", show_default=False)
]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="MODEL", help="A model, or BASE_vs_CANDIDATE; may be repeated. All by default."),
]
Root = Annotated[
    Path | None, typer.Option(metavar="DIR", help="The checkout that holds benchmarks/; found from here by default.")
]


def build(benchmark: Benchmark, model: Models = None, root: Root = None, as_json: AsJson = False) -> None:
    """Write each report, its metrics and its shallow control.

    The narrative <model>.narrative.md is a template: it names values, as in {{ headline }} or
    {{ quote("12:3#5", "words") }}, and states no number itself. Nothing is written unless all of it holds.
    """
    import json

    from blade.audit.golden.build import build as build_package
    from blade.audit.golden.build import write
    from blade.audit.golden.sources import NARRATIVE, find_source
    from blade.cli.terminal import print_json
    from blade.errors import UsageError

    source = find_source(benchmark, root)
    wanted = model or source.models()
    if not wanted:
        raise UsageError(f"{source.folder}: holds no narrative; write <model>{NARRATIVE} first.")
    built = [build_package(source, one) for one in wanted]
    places = [place for one in built for place in write(source, one)]
    if as_json:
        print_json(json.dumps({"written": [str(place) for place in places]}, indent=2).encode())
    else:
        typer.echo("\n".join(f"Wrote {place}" for place in places))
