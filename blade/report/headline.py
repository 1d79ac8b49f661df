"""How the headline is written: pass@1 as a percentage, a mean reward as a plain number, and gains of either."""

from blade.diagnosis.analysis import Analysis
from blade.metrics import Metric
from blade.report.addresses import total
from blade.report.numbers import (
    interval,
    number,
    number_interval,
    percent,
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
