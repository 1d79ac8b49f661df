"""How the headline is written, pass@1 as a percentage and a mean reward as a plain number, and what is said with it.

The sentences here are those of the report and of the page alike; either adds its own emphasis.
"""

import functools
import operator
from collections.abc import Callable, Sequence

from blade.diagnosis.analysis import Analysis, PatternSeen, Signal, headline_of
from blade.diagnosis.labels import UNDECIDED, is_by_rule
from blade.metrics import Metric
from blade.report.addresses import bare, bare_entries, picked, size, total
from blade.report.dives import SIGNED
from blade.report.numbers import (
    count,
    interval,
    number,
    number_interval,
    percent,
    plural,
    signed_number,
    signed_number_interval,
    signed_pp,
    signed_pp_interval,
)
from blade.report.text import Markdown


def is_rate(analysis: Analysis) -> bool:
    """Whether the headline is a share of successes and not a mean reward."""
    return analysis.headline == "pass_at_1"


def value_words(metric: Metric, *, rate: bool) -> Markdown:
    """A headline's value as its kind is written."""
    return percent(metric.value) if rate else number(metric.value)


def interval_words(metric: Metric, *, rate: bool) -> Markdown:
    """A headline's interval as its kind is written."""
    return interval(metric.ci95) if rate else number_interval(metric.ci95)


def gain_words(metric: Metric, *, rate: bool) -> Markdown:
    """A gain of the headline as its kind is written."""
    return signed_pp(metric.value) if rate else signed_number(metric.value)


def gain_interval_words(metric: Metric, *, rate: bool) -> Markdown:
    """The interval of such a gain."""
    return signed_pp_interval(metric.ci95) if rate else signed_number_interval(metric.ci95)


def failing_rollouts(analysis: Analysis) -> int:
    """Rollouts there are that did not pass, unscored ones among them."""
    return analysis.coverage.rollouts - total(analysis.tasks, "c")  # type: ignore[no-any-return]


def score_words(analysis: Analysis) -> Markdown:
    """The headline in words."""
    rate = is_rate(analysis)
    return Markdown(f"{'pass@1' if rate else 'mean reward'} is {value_words(headline_of(analysis), rate=rate)}")


def sure_words(analysis: Analysis) -> Markdown:
    """The headline's interval, or why there is none."""
    metric = headline_of(analysis)
    said = f"95 % interval {interval_words(metric, rate=is_rate(analysis))}"
    return Markdown(said if metric.ci95 else "too few tasks for an interval")


def basis_words(analysis: Analysis) -> Markdown:
    """The tasks and rollouts that the headline is over."""
    coverage = analysis.coverage
    scored = total(analysis.tasks, "n") if is_rate(analysis) else coverage.rollouts - coverage.unscored
    return Markdown(f"{plural(headline_of(analysis).n, 'task')} and {plural(scored, 'scored rollout')}")


def is_tried_once(analysis: Analysis) -> bool:
    """Whether no task has more than one scored rollout."""
    return max(map(operator.attrgetter("n"), bare_entries(analysis.tasks)), default=0) <= 1


def bucket_words(analysis: Analysis) -> Markdown:
    """How many tasks pass how often."""
    buckets = analysis.buckets
    said = f"Of {plural(analysis.coverage.tasks, 'task')}, {count(size(buckets.always))} "
    if is_tried_once(analysis):
        said += f"passed and {count(size(buckets.never))} did not"
    else:
        said += f"always passed, {count(size(buckets.sometimes))} sometimes and {count(size(buckets.never))} never"
    said += f"; {count(size(buckets.missing))} have no known outcome." if buckets.missing else "."
    return Markdown(said)


def telling_signals(analysis: Analysis) -> Sequence[Signal]:
    """Signals that failing rollouts show more often than passing ones; of graded scores none is known to be one."""
    return picked(analysis.signals, functools.partial(tells, analysis), "failed", "passed")


def telling_patterns(analysis: Analysis) -> Sequence[PatternSeen]:
    """Patterns of the pack that failing rollouts show more often than passing ones."""
    patterns = [] if analysis.pack is None else analysis.pack.patterns
    return picked(patterns, functools.partial(tells, analysis), "primary", "passed")


def tells(analysis: Analysis, failed: int, passed: int | None) -> bool:
    """Whether something was seen in a larger share of failing rollouts than of passing ones."""
    failing, passing = bare(failing_rollouts(analysis)), bare(total(analysis.tasks, "c"))
    return analysis.success.kind != "continuous" and failed > 0 and failed * passing >= (passed or 0) * failing


def mode_words(analysis: Analysis, show: Callable[[str], str] = str) -> Markdown:
    """The failure mode most rollouts show, its title as `show` makes it; empty where none was seen."""
    modes = [(mode.title, mode.failed) for mode in analysis.modes[:1]]
    modes = modes or [(pattern.title, pattern.primary) for pattern in telling_patterns(analysis)]
    modes = modes or [(signal.title, signal.failed) for signal in telling_signals(analysis)]
    title, failed = max(modes, key=lambda mode: mode[1], default=("", 0))
    if not failed:
        return Markdown("")
    shown = f"{count(failed)} of {plural(failing_rollouts(analysis), 'failing rollout')}"
    return Markdown(f"Most frequent failure mode: {show(title)} ({shown}).")


def undecided_words(analysis: Analysis, *, emphasis: str = "") -> Markdown:
    """How many causes are decided, by whom, and how many need a reader; empty where no task fails."""
    if not (tasks := size(analysis.causes)):
        return Markdown("")
    given = functools.partial(picked, analysis.causes)
    read = size(given(lambda by, _: not is_by_rule(by), *SIGNED))
    waiting = size(given(lambda _, label: label == UNDECIDED, *SIGNED))
    proven = size(given(lambda by, label: is_by_rule(by) and label != UNDECIDED, *SIGNED))
    by = [f"{count(proven)} decided by proof"] if proven else []
    by += [f"{count(read)} judged by a reader"] if read else []
    by += [f"{count(waiting)} {emphasis}undecided{emphasis}"] if waiting else []
    verb = "does" if tasks == 1 else "do"
    return Markdown(f"Causes of the {plural(tasks, 'task')} that {verb} not always pass: {', '.join(by)}.")
