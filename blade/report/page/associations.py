"""The panels about what goes with failing: what is known of tasks, what rollouts do, and what they take."""

import math

import numpy as np
from markupsafe import Markup

from blade.diagnosis.analysis import Analysis
from blade.diagnosis.pairs import Trait
from blade.diagnosis.predictors import Predictor
from blade.metrics.rounding import fixed
from blade.metrics.values import Floats
from blade.report.headline import is_rate
from blade.report.numbers import amount, count, number, percent, plural, seconds
from blade.report.page import svg
from blade.report.page.panels import Panel, Row, capital, link_to

MOST_TRAITS = 10
FIFTHS = 5
DOLLARS = "US dollars"


def predictors_panel(analysis: Analysis) -> Panel | None:
    """What tells tasks that fail from those that pass."""
    rows = [predictor_row(predictor) for predictor in analysis.predictors]
    if not rows:
        return None
    lead = "Tasks split by what is known before they are tried. The dashed line is the rate of the other tasks."
    return Panel(id="predictors", title="What predicts failing", lead=lead, rows=rows, scale=["0 %", "100 %"])


def predictor_row(predictor: Predictor) -> Row:
    inside, outside = predictor.inside, predictor.outside
    said = f"{percent(inside.value)} against {percent(outside.value)}"
    return Row(
        name=f"Tasks that {predictor.rule}",
        note=f"{plural(inside.n, 'task')} against {count(outside.n)}; p {number(predictor.p_value)}",
        bar=svg.range_bar(inside.value, inside.ci95, low=0.0, high=1.0, zero=outside.value, label=said),
        value=percent(inside.value),
        aside=f"others {percent(outside.value)}",
    )


def traits_panel(analysis: Analysis) -> Panel | None:
    """What goes with failing within tasks, as odds on a logarithmic scale."""
    traits = [trait for trait in analysis.contrast.traits if trait.odds_ratio][:MOST_TRAITS]
    if not traits:
        return None
    ends = [end for trait in traits for end in (trait.ci95 or (trait.odds_ratio or 1.0,)) if end > 0]
    reach = min(8.0, max(2.0, *(abs(math.log2(end)) for end in ends)))
    return Panel(
        id="traits",
        title="What failing rollouts do differently",
        lead="Within tasks that pass sometimes: how the odds of failing change with a trait. "
        f"{plural(analysis.contrast.tested, 'trait')} were tested.",
        rows=[trait_row(trait, reach) for trait in traits],
        scale=["passes more", "fails more"],
    )


def trait_row(trait: Trait, reach: float) -> Row:
    ends = None if trait.ci95 is None else [log2(end) or -reach for end in trait.ci95]
    said = f"odds of failing times {number(trait.odds_ratio, 1)}"
    return Row(
        name=trait.trait,
        note=f"failing {trait.failing[0]} of {trait.failing[1]}, passing {trait.passing[0]} of {trait.passing[1]}",
        bar=svg.range_bar(log2(trait.odds_ratio), ends, low=-reach, high=reach, zero=0.0, label=said),
        value=f"× {number(trait.odds_ratio, 1)}",
        aside=f"q {number(trait.q_value)}",
        links=[link_to(one) for one in trait.examples[:2]],
    )


def log2(value: float | None) -> float | None:
    return math.log2(value) if value and value > 0 else None


def effort_panel(analysis: Analysis, quantities: dict[str, Floats], passed: Floats | None) -> Panel | None:
    """What rollouts cost, and success from the cheapest fifth to the dearest."""
    if not is_rate(analysis):
        return None
    rows: list[Row] = []
    for effort in analysis.effort:
        good, bad = effort.passing.median, effort.failing.median
        if good is None and bad is None:
            continue
        shares = fifths(quantities.get(effort.name), passed)
        if good != bad or shares:
            rows.append(effort_row(effort.name, good, bad, shares))
    if not rows:
        return None
    return Panel(
        id="effort",
        title="Effort against success",
        lead="Medians of passing and failing rollouts. The columns are the success rate of each fifth of the rollouts, "
        "from the least to the most.",
        rows=rows,
    )


def effort_row(name: str, good: float | None, bad: float | None, shares: list[float] | None) -> Row:
    say = {"seconds": seconds, DOLLARS: dollars}.get(name, amount)
    columns = Markup("")
    if shares:
        said = ", ".join(f"{fixed(100 * share, 0)}%" for share in shares)
        columns = svg.columns(shares, label=f"success rate from the least to the most {name}: {said}")
    return Row(
        name=capital(name),
        bar=columns,
        value=f"pass {say(good)}",
        aside=f"fail {say(bad)}",
    )


def dollars(value: float | None) -> str:
    """Cents, and two digits that say something where there are not even cents."""
    if value is None:
        return "n/a (n=0)"
    digits = 2 if value >= 0.1 or value <= 0.0 else 1 - math.floor(math.log10(value))
    return f"${value:,.{digits}f}"


def fifths(values: Floats | None, passed: Floats | None) -> list[float] | None:
    """Success rate of each fifth of the rollouts, by what they took; `None` when too few differ."""
    if values is None or passed is None:
        return None
    known = ~np.isnan(values) & ~np.isnan(passed)
    values, passed = values[known], passed[known]
    if not passed.any() or passed.all():
        return None
    edges: Floats = (
        np.unique(np.quantile(values, np.linspace(0.0, 1.0, FIFTHS + 1))) if len(values) >= 2 * FIFTHS else np.empty(0)
    )
    if len(edges) < 3:
        return None
    bins = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    shares = [passed[bins == number] for number in range(len(edges) - 1)]
    return [float(share.mean()) for share in shares if len(share)]
