"""What `blade analyze` shows: the plan before, a line per opinion while it reads, the outcome after."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from blade.analyst.asking import AnalystOptions, Opinion
from blade.analyst.narrating import Asked
from blade.analyst.prompt import Question
from blade.analyst.publishing import Published
from blade.analyst.record import OPINIONS, Between
from blade.cli.terminal import command, foreign, indented, put
from blade.llm.budget import Budget, Spent, estimate
from blade.llm.model import message_text
from blade.report.numbers import UNKNOWN, number, number_interval, plural
from blade.report.text import one_line
from blade.report.workspace import NARRATIVE

MOST_SHOWN = 12


def tell_opinion(opinion: Opinion, done: int, total: int) -> None:
    """A line on stderr for every opinion as it comes."""
    if opinion.label is None:
        said = f"undecided: {opinion.undecided}"
    else:
        said = f"{opinion.label.cause} ({opinion.label.confidence}): {opinion.label.reason}"
    typer.echo(f"{done}/{total}  {one_line(opinion.task, 40)}  {one_line(said, 140)}", err=True)


def tell_part(about: str, problem: str | None) -> None:
    """A line on stderr for every part of the narrative as it comes."""
    said = "written" if problem is None else f"not written: {problem}"
    typer.echo(f"narrative  {one_line(about, 40)}  {one_line(said, 140)}", err=True)


def make_plan(
    questions: Sequence[Question], story: Sequence[Asked], options: AnalystOptions, budget: Budget
) -> dict[str, Any]:
    """What would be sent: every question about a task, those of the narrative, whose words the labels to come will
    change, and the system texts beside them; tokens are estimates, and answers that do not hold add to them."""
    first = [question.request(options.sampling) for question in questions]
    requests = [asked.request for asked in story]
    estimates, parts = [estimate(request) for request in first], [estimate(request) for request in requests]
    tokens_in = options.votes * sum(read for read, _ in estimates) + sum(read for read, _ in parts)
    tokens_out = options.votes * sum(written for _, written in estimates) + sum(written for _, written in parts)
    return {
        "questions": [
            {
                "task": question.task,
                "rollouts": [excerpt.citation for excerpt in question.excerpts],
                "tokens": read,
                "text": question.text,
            }
            for question, (read, _) in zip(questions, estimates, strict=True)
        ],
        "votes": options.votes,
        "narrative": [
            {"about": asked.about, "tokens": read, "text": message_text(asked.request.input[0])}
            for asked, (read, _) in zip(story, parts, strict=True)
        ],
        "instructions": list(dict.fromkeys(request.instructions or "" for request in [*first, *requests])),
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
        "cost": budget.cost(tokens_in, tokens_out),
    }


def print_plan(console: Console, plan: dict[str, Any]) -> None:
    """The plan on a terminal: totals, what each question is about, and the first in full."""
    questions, parts, cost = plan["questions"], plan["narrative"], plan["cost"]
    total = f"{plural(len(questions), 'task')}, {plural(plan['votes'], 'vote')} each"
    if parts:
        total += f", and {plural(len(parts), 'question')} for the narrative"
    sums = f"about {plan['tokens_in']:,} tokens in, at most {plan['tokens_out']:,} out"
    put(console, Text(f"Nothing is sent. {total}: {sums}"))
    put(console, Text(f"Cost  {UNKNOWN}; give --price-in and --price-out" if cost is None else f"Cost  {number(cost)}"))
    for one in questions[:MOST_SHOWN]:
        put(console, indented(foreign(f"{one['task']}  {one['tokens']:,} tokens  {' '.join(one['rollouts'])}")))
    if len(questions) > MOST_SHOWN:
        put(console, indented(Text(f"… and {len(questions) - MOST_SHOWN} more; all with --json")))
    if parts:
        put(console, Text("Narrative, with the labels to come in place of the present ones"))
    for part in parts[:MOST_SHOWN]:
        put(console, indented(foreign(f"{part['about']}  {part['tokens']:,} tokens")))
    if questions:
        said = "The first question, as it would be sent (instructions with --json):"
        put(console, Text(), Text(said), foreign(questions[0]["text"]))


def spent_line(spent: Spent, budget: Budget, *, hits: int) -> str:
    """What was spent, in a line."""
    cost = budget.cost(spent.tokens_in, spent.tokens_out)
    words = [
        plural(spent.requests, "request"),
        f"{spent.tokens_in:,} tokens in",
        f"{spent.tokens_out:,} out",
        f"{hits} from the cache",
        *([] if cost is None else [f"cost {cost:.4g}"]),
        *([f"{plural(spent.estimated, 'reply')} without a count, estimated"] if spent.estimated else []),
    ]
    return "spent: " + ", ".join(words)


def print_outcome(
    console: Console, folder: str, opinions: Sequence[Opinion], agreed: Sequence[Between], story: Published | None
) -> None:
    """Causes by count, what stayed undecided, and the agreement of those who labelled."""
    counts = Counter(opinion.label.cause for opinion in opinions if opinion.label is not None)
    said = "   ".join(f"{cause} {count}" for cause, count in counts.most_common()) or "none"
    undecided = [opinion for opinion in opinions if opinion.label is None]
    put(console, Text(f"Read {plural(len(opinions), 'task')}", "bold"), indented(foreign(said)))
    if undecided:
        put(console, Text(f"Undecided {len(undecided)}", "bold"))
    for opinion in undecided[:MOST_SHOWN]:
        put(console, indented(foreign(f"{opinion.task}  {one_line(opinion.undecided or '', 160)}")))
    print_agreements(console, agreed)
    if story is not None:
        print_narrative(console, story)
    put(console, Text(f"Every vote is in {OPINIONS}; check the report with:"))
    put(console, indented(foreign(command("blade", "check", f"{folder}/report.md"))))


def print_narrative(console: Console, narrative: Published) -> None:
    """Which sections there are now, and why others are not there."""
    put(console, Text("Narrative", "bold"))
    if narrative.is_kept:
        said = f"{NARRATIVE} was written or edited by hand and is kept; move it for a new one"
        put(console, indented(Text(said)))
        return
    put(console, indented(foreign(f"written: {', '.join(narrative.written) or 'nothing that holds'}")))
    for heading, why in narrative.not_written.items():
        put(console, indented(foreign(f"not written: {heading} ({one_line(why, 160)})")))


def print_agreements(console: Console, agreements: Sequence[Between]) -> None:
    """How far rules, models and people say the same."""
    if agreements:
        put(console, Text("Agreement", "bold"))
    for between in agreements:
        found = between.agreement
        sure = "" if found.ci95 is None else f", 95 % interval {number_interval(found.ci95, 2)}"
        both = f"{between.first} and {between.second}: same cause in {found.agreed} of {found.n} tasks"
        put(console, indented(Text(f"{both}, kappa {number(found.kappa, 2)}{sure}")))
