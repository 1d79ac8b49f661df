"""The Executive Summary: the run in a handful of sentences, each of which can be followed to a table below it.

Signals are said to be *seen in* rollouts, never to be their cause; a cause is a judgement and names its author.
"""

from blade.diagnosis.analysis import Analysis, Coverage, headline_of
from blade.diagnosis.labels import UNDECIDED, is_by_rule
from blade.metrics import Buckets
from blade.report.addresses import size, total
from blade.report.advice import DRAFTS, rests_on
from blade.report.citations import reading_commands
from blade.report.headline import failing_rollouts, gain_words, interval_words, is_rate, value_words
from blade.report.numbers import count, plural
from blade.report.text import Markdown, code, md

TOP_SIGNALS = 3


def summarize(analysis: Analysis) -> list[Markdown]:
    """The sentences of the summary, the most important first."""
    return [
        headline_sentence(analysis),
        *bucket_sentence(analysis),
        *caveats(analysis),
        *signal_sentences(analysis),
        *cause_sentence(analysis),
        *headroom_sentence(analysis),
        *reading_sentence(analysis),
        health_sentence(analysis),
    ]


def headline_sentence(analysis: Analysis) -> Markdown:
    """The headline with its interval."""
    metric, rate, coverage = headline_of(analysis), is_rate(analysis), analysis.coverage
    if metric.value is None:
        return Markdown(
            "**No rollout has a known score**, so there is no headline; what follows is about the rollouts alone."
        )
    name = "pass@1" if rate else "mean reward"
    sure = f"95 % interval {interval_words(metric, rate=rate)}" if metric.ci95 else "too few tasks for an interval"
    scored = total(analysis.tasks, "n") if rate else coverage.rollouts - coverage.unscored
    said = f"**{name} is {value_words(metric, rate=rate)}** ({sure}) over {plural(metric.n, 'task')} and "
    said += f"{plural(scored, 'scored rollout')}."
    if not rate:
        said += " Rewards are graded and no success rule was given, so there is no pass@1 and tasks are in no buckets."
    return Markdown(said)


def bucket_sentence(analysis: Analysis) -> list[Markdown]:
    """How tasks fall into buckets; nothing when success is not defined."""
    if not is_rate(analysis):
        return []
    buckets = analysis.buckets
    said = f"Of {plural(analysis.coverage.tasks, 'task')}, {count(size(buckets.always))} always passed, "
    said += f"{count(size(buckets.sometimes))} sometimes and {count(size(buckets.never))} never"
    said += f"; {count(size(buckets.missing))} have no known outcome." if buckets.missing else "."
    return [Markdown(said), *single_repeat(analysis, buckets)]


def single_repeat(analysis: Analysis, buckets: Buckets) -> list[Markdown]:
    """With one rollout per task nothing can be seen to pass sometimes."""
    if buckets.sometimes or max((result.n for result in analysis.tasks), default=0) > 1:
        return []
    return [Markdown("Every task has one scored rollout at most, so no task can be seen to pass *sometimes*.")]


def caveats(analysis: Analysis) -> list[Markdown]:
    """What is missing, failed or infrastructure's, and how far it could move the headline."""
    gaps = gap_words(analysis.coverage)
    if not gaps:
        return []
    return [Markdown(f"Not everything is there: {'; '.join(gaps)}.{sensitivity_words(analysis)}")]


def sensitivity_words(analysis: Analysis) -> str:
    """How far the way of counting moves the headline; nothing when there is nothing to count differently."""
    coverage = analysis.coverage
    values = [variant.metric for variant in analysis.sensitivity if variant.metric.value is not None]
    if headline_of(analysis).value is None or not (coverage.missing or coverage.unscored or coverage.infrastructure):
        return ""
    lowest = min(values, key=lambda metric: metric.value or 0.0)
    highest = max(values, key=lambda metric: metric.value or 0.0)
    low, high = (value_words(metric, rate=is_rate(analysis)) for metric in (lowest, highest))
    moves = f"stays at {low}" if low == high else f"lies between {low} and {high}"
    return f" Depending on how missing and infrastructure rollouts are counted, the headline {moves}."


def gap_words(coverage: Coverage) -> list[str]:
    """What did not go well, in words; empty when all did."""
    gaps = (
        (coverage.missing, f"{plural(coverage.missing, 'expected rollout')} without a row"),
        (coverage.unscored, f"{plural(coverage.unscored, 'rollout')} without a score"),
        (coverage.failed, f"{plural(coverage.failed, 'rollout')} ended before a verdict"),
        (
            coverage.infrastructure,
            f"{plural(coverage.infrastructure, 'rollout')} not passed with infrastructure to blame",
        ),
        (coverage.malformed, f"{plural(coverage.malformed, 'line')} could not be used"),
        (coverage.duplicates, f"{plural(coverage.duplicates, 'row')} not counted as another row has the same key"),
    )
    return [words for number_of, words in gaps if number_of]


def signal_sentences(analysis: Analysis) -> list[Markdown]:
    """What was seen most."""
    top = [signal for signal in analysis.signals if signal.failed][:TOP_SIGNALS]
    if not top:
        return [Markdown("No known signal was seen in a rollout that did not pass.")] if is_rate(analysis) else []
    if is_rate(analysis):
        of = count(failing_rollouts(analysis))
        seen = "; ".join(f"{md(signal.title)} ({count(signal.failed)} of {of})" for signal in top)
        return [Markdown(f"Seen most often in rollouts that did not pass: {seen}. These are sightings, not causes.")]
    seen = "; ".join(f"{md(signal.title)} ({plural(signal.rollouts, 'rollout')})" for signal in top)
    return [Markdown(f"Seen most often: {seen}. These are sightings, not causes.")]


def cause_sentence(analysis: Analysis) -> list[Markdown]:
    """How many causes are decided, by whom, and how many await a reader."""
    total = size(analysis.causes)
    if not total:
        return []
    read = size([cause for cause in analysis.causes if not is_by_rule(cause.author)])
    waiting = size([cause for cause in analysis.causes if cause.label == UNDECIDED])
    proven = size([cause for cause in analysis.causes if is_by_rule(cause.author) and cause.label != UNDECIDED])
    tasks = f"{plural(total, 'task')} {'is' if total == 1 else 'are'} not always passed"
    by = [f"{count(proven)} causes are decided by proof"]
    by += [f"{count(read)} were judged by a reader"] if read else []
    by += [f"{count(waiting)} are undecided and **await a reader**"] if waiting else []
    return [Markdown(f"{tasks}: {', '.join(by)}.")]


def headroom_sentence(analysis: Analysis) -> list[Markdown]:
    """What would be worth most, if it worked perfectly; nothing that rests on drafts is put forward here."""
    for best in analysis.interventions:
        ground = rests_on(best, analysis)
        if ground != DRAFTS and (best.headroom.value or 0.0) > 0.0:
            gain = gain_words(best.headroom, rate=is_rate(analysis))
            return [Markdown(f"Most headroom: {md(best.what)} ({gain} if it worked perfectly; rests on {ground}).")]
    return []


def reading_sentence(analysis: Analysis) -> list[Markdown]:
    """What to read first."""
    if not analysis.reading_list:
        return []
    item = analysis.reading_list[0]
    command = code(reading_commands(item.read)[-1]) if item.read else code("reading_list.md")
    return [Markdown(f"Read first: task {code(item.task)} with {command} ({md(item.why, 200)}).")]


def health_sentence(analysis: Analysis) -> Markdown:
    """How much is wrong that is not the model's."""
    found = size(analysis.health)
    if not found:
        return Markdown("No finding about data, infrastructure or verifier.")
    return Markdown(f"{plural(found, 'finding')} about data, infrastructure or verifier; see Recommendations.")
