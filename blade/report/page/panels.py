"""The panels of an overview: rows with a bar, a number and links, each made from one part of the analysis.

A panel whose part has nothing to say is `None`.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec
from markupsafe import Markup

from blade.diagnosis.analysis import Analysis, Finding, Intervention
from blade.metrics import Metric
from blade.report.addresses import entries_with
from blade.report.dives import cause_words
from blade.report.headline import (
    failing_rollouts,
    gain_interval_words,
    gain_words,
    interval_words,
    is_rate,
    value_words,
)
from blade.report.numbers import count, plural
from blade.report.page import svg
from blade.report.page.links import filter_link, link
from blade.report.page.modes import PageMode

MOST_MODES = 40
FIRST_ROWS = 4
"""Lines of the first screen's panels that are not folded."""
MOST_LEVELS = 40
FIRST_LEVELS = 6
"""Levels of a field that are not folded."""
MOST_READING = 20
MOST_CITED = 4
MOST_FINDINGS = 12
MOST_FIXES = 8
ACTION_WORDS = {"rl": "reinforcement learning", "sft": "fine-tuning"}
"""Kinds of work whose short name says little."""


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """A place in the page."""

    text: str
    """What is read."""
    href: str
    """Where it leads."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A line with a bar."""

    name: str
    """What it is about."""
    href: str | None = None
    """The rollouts it is about."""
    note: str = ""
    """What stands under the name."""
    bar: Markup = Markup("")
    """The picture."""
    value: str = ""
    """The number in words."""
    aside: str = ""
    """A second number."""
    tag: str = ""
    """A cause, as a badge."""
    links: list[Link] = []
    """Examples."""


class Panel(msgspec.Struct, frozen=True, kw_only=True):
    """A section of rows."""

    id: str
    """Its anchor."""
    title: str
    """Its heading."""
    lead: str = ""
    """One sentence under the heading."""
    rows: list[Row]
    """Its lines."""
    folded: list[Row] = []
    """Lines shown on demand."""
    more: str = ""
    """What is not listed."""
    scale: list[str] = []
    """What the ends of the bars stand for."""
    kind: str = ""
    """How it is laid out, where it differs from others."""


def capital(text: str) -> str:
    """The text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def is_undecided(label: str) -> bool:
    """Whether a cause still waits for somebody to decide it."""
    return label.endswith("?")


def scale_of(analysis: Analysis) -> tuple[float, float]:
    """The ends of the headline's scale: 0 and 1 for rates and for rewards that stay there."""
    if is_rate(analysis):
        return 0.0, 1.0
    rewards = [result.mean_reward for result in analysis.tasks if result.mean_reward is not None]
    return min(0.0, *rewards, 0.0), max(1.0, *rewards, 1.0)


def modes_panel(analysis: Analysis, modes: Sequence[PageMode]) -> Panel | None:
    """Failure modes with their counts and headroom."""
    if not modes:
        return None
    failing, rate = failing_rollouts(analysis), is_rate(analysis)
    rows = [
        Row(
            name=capital(mode.title),
            href=filter_link(mode=mode.code),
            note=mode_note(mode),
            bar=svg.share_bar(mode.failed / (failing or 1), label=f"{mode.failed} of {failing} failing", kind="fail"),
            value=f"{count(mode.failed)} of {count(failing)}",
            aside=headroom_words(mode.gain, rate=rate),
            tag=mode.cause or "",
            links=cited(mode.citations),
        )
        for mode in modes[:MOST_MODES]
    ]
    return Panel(
        id="modes",
        title="Failure modes",
        lead=f"{'Failing rollouts' if rate else 'Rollouts'} that show it, and what the headline would gain without it.",
        rows=rows[:FIRST_ROWS],
        folded=rows[FIRST_ROWS:],
        more=and_more(len(modes) - len(rows), "mode"),
    )


def mode_note(mode: PageMode) -> str:
    said = plural(mode.tasks, "task")
    return f"{said}; also in {plural(mode.passed, 'passing rollout')}" if mode.passed else said


def headroom_words(gain: Metric | None, *, rate: bool) -> str:
    if gain is None or not gain.value:  # where every rollout of its tasks shows a mode, nobody can see what it costs
        return ""
    sure = f" ({gain_interval_words(gain, rate=rate)})" if gain.ci95 else ""
    return f"at most {gain_words(gain, rate=rate)}{sure}"


def causes_panel(analysis: Analysis) -> Panel | None:
    """Causes, decided before undecided."""
    counts = Counter(cause.label for cause in analysis.causes)
    if not counts:
        return None
    total = len(analysis.causes)
    order = sorted(counts, key=lambda label: (is_undecided(label), -counts[label], label))
    rows = [
        Row(
            name=cause_title(label),
            href=filter_link(cause=label),
            note="undecided" if is_undecided(label) else "decided",
            bar=svg.share_bar(
                counts[label] / total,
                label=f"{counts[label]} of {total} tasks",
                kind="open" if is_undecided(label) else "decided",
            ),
            value=plural(counts[label], "task"),
            tag=label,
        )
        for label in order
    ]
    return Panel(
        id="causes",
        title="Causes",
        lead="Why tasks fail, one cause per task. What nothing proves stays undecided until somebody reads it.",
        rows=rows,
    )


def cause_title(label: str) -> str:
    """A cause in words."""
    return capital(cause_words(label) if label != "?" else "nothing proven yet")


def fixes_panel(analysis: Analysis, modes: Sequence[PageMode]) -> Panel | None:
    """What to do first."""
    best = [fix for fix in analysis.interventions if (fix.headroom.value or 0.0) > 0.0][:MOST_FIXES]
    if not best:
        return None
    top = max(fix.headroom.value or 0.0 for fix in best)
    titles = {mode.code: mode.title for mode in modes}
    rows = [fix_row(fix, titles.get(fix.target, ""), top, rate=is_rate(analysis)) for fix in best]
    return Panel(
        id="fixes",
        title="What to do first",
        lead="Each gain is an upper bound: it assumes the failure mode disappears.",
        rows=rows[: FIRST_ROWS - 1],  # they are longer
        folded=rows[FIRST_ROWS - 1 :],
    )


def fix_row(fix: Intervention, title: str, top: float, *, rate: bool) -> Row:
    gain = fix.headroom
    about = [ACTION_WORDS.get(fix.action, fix.action), plural(fix.rollouts, "failing rollout")]
    what = fix.what
    if title and what.casefold().startswith(title.casefold()):  # a remedy names its mode and counts it before a colon
        what = what[len(title) :].partition(": ")[2] or what
        about = [title, *about]
    what, _, ground = what.partition(". ")
    return Row(
        name=capital(what),
        note=" · ".join(filter(None, [*about, ground])),
        bar=svg.share_bar((gain.value or 0.0) / top, label="gain against the largest one", kind="decided"),
        value=gain_words(gain, rate=rate),
        tag=fix.cause,
        links=cited(fix.citations),
    )


def reading_panel(analysis: Analysis) -> Panel | None:
    """What to read."""
    if not analysis.reading_list:
        return None
    shown = analysis.reading_list[:MOST_READING]
    causes = entries_with(analysis.causes, "task", {item.task for item in shown})
    rows = [
        Row(
            name=f"Task {item.task}",
            note=causes[item.task].reason if item.task in causes else item.why,
            tag=item.bucket,
            links=[link_to(one) for one in item.read],
        )
        for item in shown
    ]
    return Panel(
        id="reading",
        title="Read first",
        lead="The tasks whose reading would settle most.",
        rows=rows[:FIRST_ROWS],
        folded=rows[FIRST_ROWS:],
        more=and_more(len(analysis.reading_list) - len(rows), "task"),
    )


def slice_panels(analysis: Analysis) -> Iterator[Panel]:
    """The headline by level, for each field."""
    rate, (low, high) = is_rate(analysis), scale_of(analysis)
    for cut in analysis.slices:
        levels = [level for level in cut.levels if level.headline.value is not None]
        if len(levels) < 2:
            continue
        rows = [
            Row(
                name=level.level,
                href=filter_link(**{f"field.{cut.field}": level.level}),
                note=f"{plural(level.tasks, 'task')}, {plural(level.rollouts, 'rollout')}",
                bar=svg.range_bar(
                    level.headline.value, level.headline.ci95, low=low, high=high, label="headline of this part"
                ),
                value=value_words(level.headline, rate=rate),
                aside=f"({interval_words(level.headline, rate=rate)})" if level.headline.ci95 else "",
            )
            for level in levels[:MOST_LEVELS]
        ]
        yield Panel(
            id=f"slice-{cut.field}",
            title=f"By {cut.field}",
            rows=rows[:FIRST_LEVELS],
            folded=rows[FIRST_LEVELS:],
            more=and_more(len(levels) - len(rows), "value"),
            scale=["0 %", "100 %"] if rate else [],
        )


def funnel_panel(analysis: Analysis) -> Panel | None:
    """How far rollouts came."""
    stages = [stage for stage in analysis.funnel if stage.rollouts is not None]
    if len(stages) < 2:
        return None
    most = max(stage.rollouts or 0 for stage in stages) or 1
    rows = [
        Row(
            name=capital(stage.name),
            note=stage.definition,
            bar=svg.share_bar((stage.rollouts or 0) / most, label=f"{stage.rollouts} of {most} rollouts"),
            value=count(stage.rollouts),
            aside="" if stage.tasks is None else plural(stage.tasks, "task"),
            links=cited(stage.lost),
        )
        for stage in stages
    ]
    lead = "How many rollouts came how far; the examples stopped short of the stage."
    return Panel(id="funnel", title="How far rollouts came", lead=lead, rows=rows)


def health_panel(analysis: Analysis) -> Panel:
    """What is wrong with data, infrastructure and verifier."""
    rows = [finding_row(finding) for finding in analysis.health[:MOST_FINDINGS]]
    lead = "Findings about the data, the infrastructure and the verifier, not about the model."
    if not rows:
        lead = "Nothing was found wrong with the run as a whole."
    more = and_more(len(analysis.health) - len(rows), "finding")
    return Panel(id="health", title="Health", lead=lead, rows=rows, more=more)


def finding_row(finding: Finding) -> Row:
    return Row(name=finding.message, note=finding.hint, tag=finding.cause, links=cited(finding.citations))


def cited(citations: Sequence[str]) -> list[Link]:
    """The first of some citations, as links."""
    return [link_to(citation) for citation in citations[:MOST_CITED]]


def link_to(citation: str) -> Link:
    return Link(text=citation, href=link(citation))


def and_more(rest: int, noun: str) -> str:
    return f"… and {plural(rest, f'more {noun}')}" if rest > 0 else ""
