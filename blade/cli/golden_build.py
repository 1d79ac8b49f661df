"""`blade golden build`: write golden reports from rollouts, labels and narratives."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.options import AsJson, epilog

if TYPE_CHECKING:
    from blade.golden.build import Built

EPILOG = epilog("blade golden build word_math", "blade golden build --all")

Models = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="MODEL", help="A model, or BASE_vs_CANDIDATE; may be repeated. All by default."),
]
Root = Annotated[
    Path | None, typer.Option(metavar="DIR", help="The checkout that holds benchmarks/; found from here by default.")
]


def build(
    benchmark: Annotated[
        list[str] | None, typer.Argument(metavar="BENCHMARK...", help="Names or folders.", show_default=False)
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every benchmark that has golden reports.")] = False,
    model: Models = None,
    root: Root = None,
    as_json: AsJson = False,
) -> None:
    """Write each report, its metrics and its shallow control.

    The narrative <model>.narrative.md is a text that names values, as in {{ headline | pct }} or
    {{ cite("12:3#5", "words") }}, and states no number itself. Nothing is written unless all of it holds.
    """
    import json

    from blade.benchmarks import find_root
    from blade.cli.terminal import print_json
    from blade.errors import UsageError
    from blade.golden.build import build as build_package
    from blade.golden.build import write
    from blade.golden.guard import find_golden_benchmarks
    from blade.golden.sources import NARRATIVE, find_source

    if bool(benchmark) == every:
        raise UsageError("name benchmarks, or build them with --all.")
    places: list[Path] = []
    for name in benchmark or find_golden_benchmarks(find_root(root)):
        source = find_source(name, root)
        wanted = model or source.models()
        if not wanted:
            raise UsageError(f"{source.folder}: holds no narrative; write <model>{NARRATIVE} first.")
        built = [build_package(source, one) for one in wanted]
        refuse_faults(built)
        places += [place for one in built for place in write(source, one)]
    if as_json:
        print_json(json.dumps({"written": [str(place) for place in places]}, indent=2).encode())
    else:
        typer.echo("\n".join(f"Wrote {place}" for place in places))


def refuse_faults(built: "list[Built]") -> None:
    """Raises when a report says something wrong, or something without an address."""
    from blade.errors import UsageError

    for one in built:
        for fault in one.faults()[:1]:
            told = f"{one.model}_golden_report.md:{fault.line}: says {fault.said!r}: {fault.why or fault.true}"
            raise UsageError(f"{told}{f'; write {fault.write}' if fault.write else ''}.")
