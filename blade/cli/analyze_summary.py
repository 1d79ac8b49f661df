"""What `blade analyze` shows: the plan before, a line per opinion while it reads, the outcome after."""

from collections import Counter as Counts
from collections.abc import Iterable, Sequence

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from blade.analyst.analyze import AnalystOptions
from blade.analyst.asking import Opinion
from blade.analyst.narrating import Asked
from blade.analyst.prompt import Question
from blade.analyst.publishing import Published
from blade.analyst.record import OPINIONS, Between
from blade.cli.terminal import command, foreign, indented, put
from blade.llm.budget import Budget, Spent, estimate
from blade.llm.model import Request, message_text
from blade.report.numbers import UNKNOWN, number, number_interval, plural
from blade.report.text import one_line
from blade.report.workspace import NARRATIVE, Workspace

MOST_SHOWN = 12


class Planned(msgspec.Struct, frozen=True, kw_only=True):
    """One question that would be asked."""

    task: str
    """Task key."""
    rollouts: list[str]
    """Rollouts that would be shown."""
    tokens: int
    """Tokens of the question, about."""
    text: str
    """The whole message, as it would be sent."""


class PlannedPart(msgspec.Struct, frozen=True, kw_only=True):
    """One question of the narrative that would be asked."""

    about: str
    """The section, or the rollouts that are compared."""
    tokens: int
    """Tokens of the question, about."""
    text: str
    """The whole message, as it would be sent with the labels as they are now."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What would be sent."""

    questions: list[Planned]
    """Every question, in order."""
    votes: int
    """How often each would be asked."""
    narrative: list[PlannedPart]
    """Every question of the narrative, asked once; the labels to come change its words."""
    instructions: list[str]
    """System texts that are sent along, one of them with each question."""
    tokens_in: int
    """Tokens that would be read, about; answers that do not hold add to it."""
    tokens_out: int
    """Tokens that would be written, at most."""
    cost: float | None
    """What that would cost; `None` without prices."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of the reading."""

    opinions: list[Opinion]
    """One per task read."""
    agreements: list[Between]
    """How far rules, models and people agree."""
    narrative: Published | None = None
    """What became of the narrative; `None` when none was written."""


class Counter:
    """A line on stderr for every opinion as it comes."""

    def __call__(self, opinion: Opinion, done: int, total: int) -> None:
        if opinion.label is None:
            said = f"undecided: {opinion.undecided}"
        else:
            said = f"{opinion.label.cause} ({opinion.label.confidence}): {opinion.label.reason}"
        typer.echo(f"{done}/{total}  {one_line(opinion.task, 40)}  {one_line(said, 140)}", err=True)


def tell_part(about: str, problem: str | None) -> None:
    """A line on stderr for every part of the narrative as it comes."""
    said = "written" if problem is None else f"not written: {problem}"
    typer.echo(f"narrative  {one_line(about, 40)}  {one_line(said, 140)}", err=True)


def make_plan(questions: Sequence[Question], story: Sequence[Asked], options: AnalystOptions, budget: Budget) -> Plan:
    """The plan of a reading."""
    estimates = [estimate(question.request(options.sampling)) for question in questions]
    requests = [asked.request for asked in story]
    parts = [estimate(request) for request in requests]
    tokens_in = options.votes * sum(read for read, _ in estimates) + sum(read for read, _ in parts)
    tokens_out = options.votes * sum(written for _, written in estimates) + sum(written for _, written in parts)
    return Plan(
        questions=[
            Planned(
                task=question.task,
                rollouts=[excerpt.citation for excerpt in question.excerpts],
                tokens=read,
                text=question.text,
            )
            for question, (read, _) in zip(questions, estimates, strict=True)
        ],
        votes=options.votes,
        narrative=[
            PlannedPart(about=asked.about, tokens=read, text=message_text(asked.request.input[0]))
            for asked, (read, _) in zip(story, parts, strict=True)
        ],
        instructions=system_texts([*(question.request(options.sampling) for question in questions), *requests]),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=budget.cost(tokens_in, tokens_out),
    )


def system_texts(requests: Iterable[Request]) -> list[str]:
    return list(dict.fromkeys(request.instructions or "" for request in requests))


def print_plan(console: Console, plan: Plan) -> None:
    """The plan on a terminal: totals, what each question is about, and the first in full."""
    cost = UNKNOWN if plan.cost is None else number(plan.cost)
    total = f"{plural(len(plan.questions), 'task')}, {plural(plan.votes, 'vote')} each"
    if plan.narrative:
        total += f", and {plural(len(plan.narrative), 'question')} for the narrative"
    put(console, Text(f"Nothing is sent. {total}: about {plan.tokens_in:,} tokens in, at most {plan.tokens_out:,} out"))
    put(console, Text(f"Cost  {cost}{'' if plan.cost is not None else '; give --price-in and --price-out'}"))
    for planned in plan.questions[:MOST_SHOWN]:
        put(console, indented(foreign(f"{planned.task}  {planned.tokens:,} tokens  {' '.join(planned.rollouts)}")))
    if len(plan.questions) > MOST_SHOWN:
        put(console, indented(Text(f"… and {len(plan.questions) - MOST_SHOWN} more; all with --json")))
    if plan.narrative:
        put(console, Text("Narrative, with the labels to come in place of the present ones"))
    for part in plan.narrative[:MOST_SHOWN]:
        put(console, indented(foreign(f"{part.about}  {part.tokens:,} tokens")))
    if plan.questions:
        put(
            console,
            Text(),
            Text("The first question, as it would be sent (instructions with --json):"),
            foreign(plan.questions[0].text),
        )


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


def print_outcome(console: Console, workspace: Workspace, outcome: Outcome) -> None:
    """Causes by count, what stayed undecided, and the agreement of those who labelled."""
    labels = [opinion.label for opinion in outcome.opinions if opinion.label is not None]
    counts = Counts(label.cause for label in labels)
    said = "   ".join(f"{cause} {count}" for cause, count in counts.most_common()) or "none"
    undecided = [opinion for opinion in outcome.opinions if opinion.label is None]
    put(console, Text(f"Read {plural(len(outcome.opinions), 'task')}", "bold"), indented(foreign(said)))
    if undecided:
        put(console, Text(f"Undecided {len(undecided)}", "bold"))
        for opinion in undecided[:MOST_SHOWN]:
            put(console, indented(foreign(f"{opinion.task}  {one_line(opinion.undecided or '', 160)}")))
    print_agreements(console, outcome.agreements)
    if outcome.narrative is not None:
        print_narrative(console, outcome.narrative)
    folder = str(workspace.folder)
    put(console, Text(f"Every vote is in {OPINIONS}; check the report with:"))
    put(console, indented(foreign(command("blade", "check", f"{folder}/report.md"))))


def print_narrative(console: Console, narrative: Published) -> None:
    """Which sections there are now, and why others are not there."""
    put(console, Text("Narrative", "bold"))
    if narrative.is_kept:
        put(
            console,
            indented(Text(f"{NARRATIVE} was written or edited by hand and is kept; move it for a new one")),
        )
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
        put(
            console,
            indented(
                Text(
                    f"{between.first} and {between.second}: same cause in {found.agreed} of {found.n} tasks, "
                    f"kappa {number(found.kappa, 2)}{sure}"
                )
            ),
        )
