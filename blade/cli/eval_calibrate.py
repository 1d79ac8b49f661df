"""`blade eval calibrate`: how far a judging model agrees with people."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli import run_options
from blade.cli.options import AsJson, epilog

if TYPE_CHECKING:
    from blade.evals.judging import Calibration

MOST = 10
"""Disagreements that are listed."""

EPILOG = epilog(
    "blade eval calibrate labelled.jsonl --judge-model gpt-5-mini",
    "blade eval calibrate labelled.jsonl --judge-model m --judge-base-url http://localhost:8080/v1 --min-kappa 0.7",
)


def calibrate(
    labelled: Annotated[
        Path,
        typer.Argument(
            metavar="LABELLED", help="Answers that people labelled: question, expected_answer, answer, label."
        ),
    ],
    judge_model: Annotated[str, typer.Option(metavar="MODEL", help="Model that judges.")],
    judge_url: run_options.JudgeUrl = None,
    judge_votes: run_options.JudgeVotes = 3,
    min_kappa: Annotated[
        float | None, typer.Option(min=-1.0, max=1.0, metavar="K", help="Exit with 1 when kappa is lower or unknown.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Hold a judging model against answers that people labelled.

    Prints Cohen's kappa, how many right answers it takes for right and wrong ones for wrong, how often the order of
    what it reads changes its mind, and what it cost. A label is correct, incorrect or not_attempted, or true or false.
    """
    from blade.cli.terminal import print_as_json
    from blade.errors import ProblemsFound
    from blade.evals.jobs import JudgeTarget
    from blade.evals.judging import calibrate as hold
    from blade.evals.judging import read_known

    known = read_known(labelled)
    judge = JudgeTarget(model=judge_model, base_url=judge_url, votes=judge_votes).judge()
    try:
        found = hold(judge, known, votes=judge_votes)
    finally:
        judge.close()
    if as_json:
        print_as_json(found)
    else:
        show(found)
    kappa = found.agreement.kappa
    if min_kappa is not None and (kappa is None or kappa < min_kappa):
        raise ProblemsFound(
            f"kappa is {'unknown' if kappa is None else f'{kappa:.2f}'}, expected {min_kappa:g} or more."
        )


def show(found: "Calibration") -> None:
    """The figures for a person."""
    from blade.report.numbers import number, number_interval, percent
    from blade.report.text import one_line

    agreement = found.agreement
    typer.echo(one_line(f"{found.judge}: {agreement.agreed} of {agreement.n} answers labelled as people did", 200))
    ends = f" ({number_interval(agreement.ci95, 2)})" if agreement.ci95 else ""
    typer.echo(f"kappa {number(agreement.kappa, 2)}{ends}")
    for name, metric in (("right", found.true_positive_rate), ("wrong", found.true_negative_rate)):
        share = "n/a (n=0)" if metric.value is None else f"{percent(metric.value)} of {metric.n}"
        typer.echo(f"{name} answers taken for {name}: {share}")
    typer.echo(f"undecided: {found.undecided}; changed by the order: {found.swap_differs}")
    tokens = "unknown" if found.input_tokens is None else f"{found.input_tokens} read, {found.output_tokens} written"
    typer.echo(f"asked {found.calls} times, tokens: {tokens}")
    for line in found.disagreements[:MOST]:
        typer.echo(f"  {line}")
    if len(found.disagreements) > MOST:
        typer.echo(f"  and {len(found.disagreements) - MOST} more; --json lists them all")
