"""`blade judge`: what is a report worth, next to what is known to be true?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blade.cli.options import AsJson, epilog

if TYPE_CHECKING:
    from blade.golden.judge import Statement
    from blade.golden.judged import Judged

EPILOG = epilog(
    "blade judge report.md --golden golden_reports/word_math --model small-model",
    "blade judge report.md --golden golden_reports/word_math --judge claude-opus-4-1 --json",
)
MOST_SHOWN = 10


def judge(
    report: Annotated[Path, typer.Argument(metavar="REPORT", help="The report, in Markdown.", show_default=False)],
    golden: Annotated[Path, typer.Option(metavar="DIR", help="Folder of golden reports, or one of them.")],
    model: Annotated[str | None, typer.Option(metavar="MODEL", help="The model the report is about.")] = None,
    judge_model: Annotated[
        str | None,
        typer.Option(
            "--judge",
            metavar="MODEL",
            help="Model that decides facts no check can; API keys come from the environment.",
        ),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Server of the judge, if not the vendor's.")
    ] = None,
    price_in: Annotated[float | None, typer.Option(min=0, metavar="X", help="Price of a million input tokens.")] = None,
    price_out: Annotated[
        float | None, typer.Option(min=0, metavar="X", help="Price of a million output tokens.")
    ] = None,
    at_least: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, metavar="X", help="Exit with code 1 if the score is below this.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Score a report against anchor facts.

    What counts: facts it supports, statements that hold, and detail of the run.

    A fact counts as far as the report supports it as well as the golden report does: its words, in sentences, its
    values, nothing turned round. Detail is what the report says of the run beyond the facts and the totals; a list of
    the facts has none and earns nothing. A model is believed where the words it quotes stand in the report; its replies
    are kept, so that judging the same report again is free.
    """
    import json

    from platformdirs import user_cache_path

    from blade.cli.analyze_summary import spent_line
    from blade.cli.inputs import read_text
    from blade.cli.terminal import foreign, make_console, print_json, put
    from blade.golden.judged import judge_report
    from blade.golden.sources import choose_golden
    from blade.llm.budget import Budget, MeteredModel
    from blade.llm.cache import CachedModel
    from blade.llm.connect import connect

    text = read_text(report)
    files = choose_golden(golden, text, model)
    budget = Budget(price_in=price_in, price_out=price_out)
    metered = None if judge_model is None else MeteredModel(connect(judge_model, base_url=base_url), budget)
    folder = user_cache_path("blade") / "replies"
    asked = None if metered is None else CachedModel(metered, folder, place=base_url or "")
    judged = judge_report(text, files, asked=asked)
    if metered is not None and asked is not None:
        told = spent_line(metered.spent, budget, hits=asked.hits)
        put(make_console(stderr=True), foreign(told, "dim"))
    if as_json:
        print_json(json.dumps(as_document(judged, files.report.name), indent=2, ensure_ascii=False).encode())
    else:
        print_judged(judged, files.report.name)
    raise typer.Exit(1 if at_least is not None and judged.judgement.score < at_least else 0)


def as_document(judged: "Judged", golden: str) -> dict[str, Any]:
    """The judgement for programs."""
    from blade.golden.judge import CAP

    found = judged.judgement
    wrong = [one for one in found.statements if not one.holds]
    return {
        "score": round(found.score, 4),
        "golden": golden,
        "parts": {"facts": found.facts, "truth": found.truth, "detail": found.detail},
        "caps": [{"limit": CAP, "why": why} for why in found.caps],
        "facts": [
            {"id": one.fact.id, "met": one.verdict == "met", "verdict": one.verdict, "line": one.line, "by": one.by}
            for one in found.found
        ],
        "claims": {
            "claims": len(found.statements),
            "supported": len(found.statements) - len(wrong),
            "contradicted": [{"line": one.line, "said": one.said, "true": one.true, "why": why(one)} for one in wrong],
        },
        "votes": None
        if judged.vote is None
        else {"votes": judged.vote.votes, "agreement": judged.vote.agreement, "unquoted": judged.vote.unquoted},
    }


def why(one: "Statement") -> str:
    """What a wrong statement was held against."""
    return "made up" if one.is_made_up else "the rows" if "=" in one.kinds else "the golden report says otherwise"


def print_judged(judged: "Judged", golden: str) -> None:
    """The judgement in words."""
    from blade.cli.terminal import foreign, indented, make_console, put
    from blade.golden.judge import CAP

    console, found = make_console(), judged.judgement
    put(console, foreign(f"Score {found.score:.2f} against {golden}", "bold"))
    parts = f"facts {found.facts:.2f}   truth {found.truth:.2f}   detail {found.detail:.2f}"
    put(console, indented(foreign(parts)))
    for why in found.caps:
        put(console, indented(foreign(f"at most {CAP:.2f}: {why}", "red")))
    if judged.vote is not None:
        said = (
            f"{judged.vote.votes} votes, {judged.vote.agreement:.0%} agree, {judged.vote.unquoted} without a true quote"
        )
        put(console, indented(foreign(said)))
    lacking = [one for one in found.found if one.verdict != "met"]
    put(console, foreign(f"Facts: {len(found.found) - len(lacking)} of {len(found.found)} asserted", "bold"))
    for one in lacking[:MOST_SHOWN]:
        where = f"denied at line {one.line}" if one.verdict == "denied" else "not said"
        put(console, indented(foreign(f"{one.fact.id} {where}: {one.fact.fact}")))
    wrong = [one for one in found.statements if not one.holds]
    put(console, foreign(f"Statements: {len(found.statements) - len(wrong)} of {len(found.statements)} hold", "bold"))
    for one_wrong in wrong[:MOST_SHOWN]:
        put(console, indented(foreign(f"line {one_wrong.line}: {one_wrong.said}; true is {one_wrong.true}")))
    for rest, what in ((len(lacking), "facts"), (len(wrong), "statements")):
        if rest > MOST_SHOWN:
            put(console, indented(foreign(f"… and {rest - MOST_SHOWN} more {what}; --json has them all")))
