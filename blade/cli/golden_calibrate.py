"""`blade golden calibrate`: is the judge fooled by reports that only look good?"""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from blade.cli.golden_build import Root
from blade.cli.options import AsJson, epilog

if TYPE_CHECKING:
    from blade.golden.calibration import Calibration

EPILOG = epilog("blade golden calibrate", "blade golden calibrate word_math --json")


def calibrate(
    benchmark: Annotated[
        list[str] | None,
        typer.Argument(metavar="[BENCHMARK]...", help="Names or folders; all with golden reports by default."),
    ] = None,
    root: Root = None,
    as_json: AsJson = False,
) -> None:
    """Show that the judge tells good reports from bad.

    Scores each golden report, its paraphrases, its shallow control and adversaries made from it. Targets: golden at
    least 0.90, paraphrases at least 0.70, the control and every adversary at most 0.40, and every good report above
    every bad one (AUC 1.00). <model>_paraphrase.md beside a report is a paraphrase by hand.
    """
    import json

    from blade.benchmarks import find_root
    from blade.cli.terminal import print_json
    from blade.errors import InputError
    from blade.golden.calibration import calibrate_folder
    from blade.golden.facts import FactsError
    from blade.golden.guard import find_golden_benchmarks
    from blade.golden.sources import find_source

    names = benchmark or find_golden_benchmarks(find_root(root))
    try:
        found = {name: calibrate_folder(find_source(name, root).folder) for name in names}
    except FactsError as error:
        raise InputError(f"{error}.") from error
    if as_json:
        print_json(json.dumps(as_document(found), indent=2).encode())
    else:
        print_calibrations(found)
    raise typer.Exit(0 if all(one.holds for many in found.values() for one in many) else 1)


def as_document(found: "dict[str, list[Calibration]]") -> dict[str, Any]:
    """The calibrations for programs."""
    return {
        "packages": [
            {
                "benchmark": name,
                "model": one.model,
                "holds": one.holds,
                "auc": one.auc,
                "scores": [
                    {
                        "name": s.name,
                        "role": s.role,
                        "score": round(s.score, 4),
                        "target": s.target,
                        "holds": s.is_right,
                    }
                    for s in one.scored
                ],
            }
            for name, many in found.items()
            for one in many
        ]
    }


def print_calibrations(found: "dict[str, list[Calibration]]") -> None:
    """A line per report, worst news in red."""
    from blade.cli.terminal import foreign, indented, make_console, put

    console = make_console()
    for name, many in found.items():
        for one in many:
            state = "calibrated" if one.holds else "NOT calibrated"
            put(console, foreign(f"{name}  {one.model}: {state}, AUC {one.auc:.2f} (target 1.00)", "bold"))
            for scored in one.scored:
                line = f"{scored.score:.2f}  {scored.target}  {scored.name}"
                put(console, indented(foreign(line, "" if scored.is_right else "red")))
    if not any(found.values()):
        put(console, foreign("There are no golden packages to calibrate on."))
