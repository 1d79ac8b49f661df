"""Recommendations: repairs that need no judgement, then what to read, then what the judged causes add up to.

Nothing is recommended on the strength of a draft: until somebody has read a task, the advice is to read it.
"""

from collections.abc import Collection

import msgspec

from blade.diagnosis.analysis import Analysis, Finding, Intervention, ReadingItem
from blade.diagnosis.labels import CAUSES, is_by_rule
from blade.report.addresses import bare_entries, grouped, picked, size
from blade.report.citations import codes, reading_commands
from blade.report.dives import SIGNED, cause_words, drafts, judged
from blade.report.headline import gain_interval_words, gain_words, is_rate
from blade.report.listing import Listing, first
from blade.report.numbers import percent, plural, signed_pp
from blade.report.text import Markdown, sentence

MOST_READING = 10
MOST_CITED = 5
MOST_EXAMPLES = 3
MOST_WORK = 15
MOST_TASKS = 10
DRAFTS = "draft labels"


class ToRead(msgspec.Struct, frozen=True, kw_only=True):
    """A task to read next."""

    task: str
    """Its key."""
    bucket: str
    """Its bucket."""
    why: str
    """What reading would decide."""
    commands: list[str]
    """What to run."""


class JudgedCause(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks that a reader gave the same cause."""

    label: str
    """The cause."""
    meaning: str
    """The cause in words."""
    tasks: Markdown
    """The tasks."""
    count: int
    """How many."""
    headroom: Markdown
    """What pass@1 would gain if all of them always passed: an upper bound, not a forecast."""


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """Something that could be done."""

    intervention: Intervention
    """What it is."""
    gain: Markdown
    """What it would gain if it worked perfectly."""
    interval: Markdown
    """The gain's interval."""
    rests_on: str
    """What the estimate was made from."""
    examples: Markdown
    """A few of the rollouts it is about."""


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """Everything in the section."""

    repairs: list[Markdown]
    """What to mend before anybody blames the model."""
    work: Listing[Work]
    """What could be done, most headroom first."""
    causes: list[JudgedCause]
    """What readers found, most headroom first."""
    drafts: int
    """Tasks whose cause is a draft by rule."""
    reading: Listing[ToRead]
    """What to read next."""


def advise(analysis: Analysis) -> Advice:
    """What to do next."""
    listing = first(analysis.reading_list, MOST_READING)
    return Advice(
        repairs=[*success_advice(analysis), *map(repair, analysis.health), *missing_tasks(analysis)],
        work=possible_work(analysis),
        causes=judged_causes(analysis),
        drafts=size(drafts(analysis.causes)),
        reading=Listing(shown=[next_to_read(item) for item in listing.shown], rest=listing.rest),
    )


def next_to_read(item: ReadingItem) -> ToRead:
    return ToRead(task=item.task, bucket=item.bucket, why=item.why, commands=reading_commands(item.read))


def repair(finding: Finding) -> Markdown:
    """A finding as something to do."""
    kind = CAUSES[finding.cause]
    where = f" ({codes(first(finding.citations, MOST_CITED, total=finding.rows))})" if finding.citations else ""
    todo = f" {sentence(finding.hint)}." if finding.hint else ""
    return Markdown(f"{sentence(finding.message)}{where}.{todo} *{kind.capitalize()}.*{effect(finding)}")


def effect(finding: Finding) -> str:
    """What the finding's rows do to the headline; findings with an effect are always about successes."""
    parts = [
        f"{percent(finding.headline_without)} without these rollouts" if finding.headline_without is not None else "",
        f"{percent(finding.headline_repaired)} had they passed" if finding.headline_repaired is not None else "",
    ]
    return f" The headline would be {', '.join(filter(None, parts))}." if any(parts) else ""


def success_advice(analysis: Analysis) -> list[Markdown]:
    """What would make rollouts pass and fail, where nothing does."""
    if analysis.success.kind == "unscored":
        return [Markdown("Score the rollouts, or name the field that holds the score with `--reward-field FIELD`.")]
    if analysis.success.kind == "continuous":
        return [Markdown("Say when a rollout succeeds, `--success 'reward >= X'`, to get pass@1, buckets and causes.")]
    return []


def missing_tasks(analysis: Analysis) -> list[Markdown]:
    """Tasks without any outcome cannot be diagnosed, only run."""
    missing = analysis.buckets.missing
    if not missing or not is_rate(analysis):
        return []
    named = codes(first(missing, MOST_TASKS))
    return [Markdown(f"Run again {plural(size(missing), 'task')} without a known outcome: {named}.")]


def possible_work(analysis: Analysis) -> Listing[Work]:
    """Interventions as they are shown."""
    listing = first(analysis.interventions, MOST_WORK)
    return Listing(shown=[work_row(found, analysis) for found in listing.shown], rest=listing.rest)


def work_row(found: Intervention, analysis: Analysis) -> Work:
    rate = is_rate(analysis)
    return Work(
        intervention=found,
        gain=gain_words(found.headroom, rate=rate),
        interval=gain_interval_words(found.headroom, rate=rate),
        rests_on=rests_on(found, analysis),
        examples=codes(first(found.citations, MOST_EXAMPLES, total=found.rollouts), in_table=True),
    )


def rests_on(found: Intervention, analysis: Analysis) -> str:
    """Whether an estimate was made from what was seen, or from labels, and whose."""
    if found.target not in CAUSES:
        return "what was seen"
    given = grouped(analysis.causes, *SIGNED)
    return DRAFTS if any(is_by_rule(by) and found.target in label for by, label in given) else "judged labels"


def judged_causes(analysis: Analysis) -> list[JudgedCause]:
    """What readers found, by cause."""
    tasks: dict[str, list[str]] = {}
    for cause in judged(analysis.causes):
        tasks.setdefault(cause.label, []).append(cause.task)
    lost = lost_share(analysis, set().union(*tasks.values()))
    gains = {label: sum(lost.get(task, 0.0) for task in of_label) for label, of_label in tasks.items()}
    return [
        JudgedCause(
            label=label,
            meaning=cause_words(label),
            tasks=codes(first(tasks[label], MOST_TASKS), in_table=True),
            count=size(tasks[label]),
            headroom=signed_pp(gains[label]) if is_rate(analysis) else signed_pp(None),
        )
        for label in sorted(tasks, key=lambda label: (-gains[label], label))
    ]


def lost_share(analysis: Analysis, tasks: Collection[str]) -> dict[str, float]:
    """By task: how much of pass@1 its failures cost."""
    if not tasks:
        return {}
    scored = sum(result.n > 0 for result in bare_entries(analysis.tasks))
    results = picked(analysis.tasks, tasks.__contains__, "task")
    return {result.task: (1.0 - result.rate) / scored for result in results if result.rate is not None}
