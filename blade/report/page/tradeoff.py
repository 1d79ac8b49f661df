"""Score against cost, run by run, with the Pareto front: the runs that no other beats in both.

Only runs over the same tasks stand in one picture. The axis is dollars where every run's cost is known, else tokens; a
run whose cost nobody knows is named and left out, for it is not free.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import msgspec
import numpy as np
from markupsafe import Markup

from blade.diagnosis import Diagnosed
from blade.diagnosis.analysis import headline_of
from blade.metrics import Metric
from blade.report.headline import interval_words, is_rate, value_words
from blade.report.numbers import count, plural, tokens
from blade.report.page import svg
from blade.report.page.associations import dollars
from blade.rollouts.table import examples

MOST_NAMED = 12
"""Points that carry their name; of more, those of the front do."""
WIDE = 15.0
"""Ratio of costs from which the axis is logarithmic."""


class RunPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A run as a point."""

    name: str
    """What the run is called."""
    href: str | None = None
    """Its page."""
    headline: Metric
    """Its score."""
    rate: bool
    """Whether that is pass@1."""
    tasks: frozenset[str]
    """What it was tried on."""
    dollars: float | None = None
    """Mean US dollars of a rollout; `None` when nobody knows."""
    unpriced: int = 0
    """Rollouts whose cost nobody knows."""
    tokens: float | None = None
    """Mean tokens of a rollout, read and written."""


class Tradeoff(msgspec.Struct, frozen=True, kw_only=True):
    """The picture and what it says."""

    chart: Markup
    """The picture."""
    lead: str
    """How to read it."""
    front: list[str]
    """Runs on the Pareto front, cheapest first."""
    notes: list[str]
    """Runs that are not in it, and why."""


def run_point(one: Diagnosed, href: str | None = None) -> RunPoint:
    """A run as a point."""
    analysis, table = one.analysis, one.run.table
    known = ~np.isnan(table.output_tokens)
    spent = np.nan_to_num(table.input_tokens) + table.output_tokens
    cost = analysis.cost
    return RunPoint(
        name=analysis.inputs.run,
        href=href,
        headline=headline_of(analysis),
        rate=is_rate(analysis),
        tasks=frozenset(table.tasks),
        dollars=None if cost is None else cost.per_rollout,
        unpriced=0 if cost is None else cost.unknown,
        tokens=float(spent[known].mean()) if known.any() else None,
    )


def tradeoff(points: Sequence[RunPoint]) -> Tradeoff | None:
    """Score against cost; `None` where no two runs over the same tasks have both and differ."""
    scored = [point for point in points if point.headline.value is not None]
    groups = Counter((point.tasks, point.rate) for point in scored)
    if not groups:
        return None
    largest = groups.most_common(1)[0][0]
    alike = [point for point in scored if (point.tasks, point.rate) == largest]
    priced = [point for point in alike if point.dollars is not None]
    counted = [point for point in alike if point.tokens is not None]
    in_dollars = len(priced) >= max(2, len(counted))
    shown = priced if in_dollars else counted
    if len(shown) < 2:
        return None
    costs = [(point.dollars if in_dollars else point.tokens) or 0.0 for point in shown]
    places = [(cost, point.headline.value or 0.0) for cost, point in zip(costs, shown, strict=True)]
    if len(set(places)) < 2:
        return None
    best = frontier(places)
    rate = largest[1]
    unit = "cost" if in_dollars else "tokens"
    return Tradeoff(
        chart=scatter(shown, costs, best, rate=rate, in_dollars=in_dollars),
        lead=f"{'pass@1' if rate else 'Mean reward'} and mean {unit} per rollout over the same "
        f"{plural(len(largest[0]), 'task')}; bars are 95 % intervals. Filled points are on the Pareto front: no other "
        "run scores as high for less.",
        front=[shown[place].name for place in best],
        notes=list(left_out(points, alike, shown, in_dollars=in_dollars)),
    )


def left_out(
    points: Sequence[RunPoint], alike: Sequence[RunPoint], shown: Sequence[RunPoint], *, in_dollars: bool
) -> list[str]:
    """What a reader must know about what is not drawn."""
    notes: list[str] = []
    unknown = [point.name for point in alike if point.dollars is None]
    if unknown:
        notes.append(f"Cost unknown: {named_examples(unknown)}. A price table given with `--prices` would tell.")
    unpriced = [point.name for point in shown if point.unpriced] if in_dollars else []
    if unpriced:
        notes.append(f"Some rollouts of {named_examples(unpriced)} have no known cost and are not in the mean.")
    without = [point.name for point in alike if point not in shown and (in_dollars or point.tokens is None)]
    if without:
        notes.append(f"Not drawn, as neither is known: {named_examples(without)}.")
    other = [point.name for point in points if point not in alike]
    if other:
        notes.append(f"Not drawn, as they have other tasks or no score: {named_examples(other)}.")
    return notes


def named_examples(names: Sequence[str]) -> str:
    return examples([f"`{name}`" for name in names])


def frontier(places: Sequence[tuple[float, float]]) -> list[int]:
    """Points that no other beats: none costs less and scores as high, none scores more and costs as little."""
    order = sorted(range(len(places)), key=lambda place: (places[place][0], -places[place][1]))
    front: list[int] = []
    for place in order:
        if not front or places[place][1] > places[front[-1]][1] or places[place] == places[front[-1]]:
            front.append(place)
    return front


class Plane:
    """Where costs and scores stand, in percent, so that the picture fills its column and texts keep their size."""

    def __init__(self, points: Sequence[RunPoint], costs: Sequence[float], *, rate: bool) -> None:
        ends = [end for point in points for end in (point.headline.value or 0.0, *(point.headline.ci95 or ()))]
        self.ys = nice_ticks(min(0.0, *ends), min(1.0, max(ends)) if rate else max(ends))
        low, high = min(costs), max(costs)
        self.scale: Callable[[float], float] = math.log10 if 0.0 < low < high / WIDE else float
        self.xs = (
            log_ticks(low, high)
            if self.scale is math.log10
            else nice_ticks(0.85 * low if low >= 0.4 * high else 0.0, high)
        )

    def x(self, cost: float) -> float:
        first, last = self.scale(self.xs[0]), self.scale(self.xs[-1])
        return 100.0 * (self.scale(cost) - first) / (last - first)

    def y(self, score: float) -> float:
        return 100.0 - 100.0 * (score - self.ys[0]) / (self.ys[-1] - self.ys[0])

    def axes(self, *, rate: bool, in_dollars: bool) -> Iterator[Markup]:
        """Lines and numbers."""
        for tick in self.ys:
            said = f"{100 * tick:.0f} %" if rate else f"{tick:g}"
            yield line(0, 100, self.y(tick), self.y(tick), "gridline")
            yield svg.element("text", said, x=0, dx=-8, y=f"{self.y(tick):.2f}%", dy=4, text_anchor="end")
        for tick in self.xs:
            said = axis_money(tick) if in_dollars else count(round(tick))
            kind = None if tick in (self.xs[0], self.xs[-1]) else "inner"
            yield svg.element(
                "text", said, x=f"{self.x(tick):.2f}%", y="100%", dy=20, text_anchor="middle", class_=kind
            )
        unit = "US dollars per rollout" if in_dollars else "tokens per rollout"
        yield svg.element("text", unit, x="100%", y="100%", dy=40, text_anchor="end")


def scatter(
    points: Sequence[RunPoint], costs: Sequence[float], front: Sequence[int], *, rate: bool, in_dollars: bool
) -> Markup:
    """The picture: runs of the front are filled and joined."""
    plane = Plane(points, costs, rate=rate)
    places = [(plane.x(cost), plane.y(point.headline.value or 0.0)) for point, cost in zip(points, costs, strict=True)]
    drawn: list[str] = [*plane.axes(rate=rate, in_dollars=in_dollars)]
    drawn += [line(places[a][0], places[b][0], places[a][1], places[b][1], "front") for a, b in pairwise(front)]
    taken: list[tuple[float, float]] = []
    for place in sorted(range(len(points)), key=lambda place: (place not in front, places[place][1])):
        point, at = points[place], places[place]
        said = f"{dollars(costs[place]) if in_dollars else f'{tokens(costs[place])} tokens'} per rollout"
        mark: list[str] = [svg.element("title", f"{point.name}: {score_words(point)}, {said}")]
        if point.headline.ci95:
            mark.append(line(at[0], at[0], plane.y(point.headline.ci95[0]), plane.y(point.headline.ci95[1]), "whisker"))
        kind = "best" if place in front else "other"
        mark.append(svg.element("circle", cx=f"{at[0]:.2f}%", cy=f"{at[1]:.2f}%", r=6, class_=kind))
        if place in front or len(points) <= MOST_NAMED:
            mark.append(named(point.name, at, taken))
        group = svg.element("g", *mark)
        drawn.append(svg.element("a", group, href=point.href) if point.href else group)
    best = examples([points[place].name for place in front])
    label = f"score against cost of {plural(len(points), 'run')}; on the Pareto front: {best}"
    return svg.element("svg", *drawn, class_="scatter", role="group", aria_label=label)


def score_words(point: RunPoint) -> str:
    """A run's score with its interval."""
    said = f"{'pass@1' if point.rate else 'mean reward'} {value_words(point.headline, rate=point.rate)}"
    interval = interval_words(point.headline, rate=point.rate)
    return f"{said} (95 % interval {interval})" if point.headline.ci95 else said


def named(name: str, at: tuple[float, float], taken: list[tuple[float, float]]) -> Markup:
    """A name beside its point, on the side that has room, moved towards the middle where another stands."""
    left = at[0] > 62.0
    y = at[1]
    step = 6.0 if y < 50.0 else -6.0
    while any(abs(y - other) < 6.0 and left == (was > 62.0) for was, other in taken):
        y += step
    taken.append((at[0], y))
    dx, anchor = (-11, "end") if left else (11, "start")
    shown = name if len(name) <= 40 else f"{name[:39]}…"
    return svg.element("text", shown, x=f"{at[0]:.2f}%", y=f"{y:.2f}%", dx=dx, dy=4, text_anchor=anchor, class_="name")


def line(x1: float, x2: float, y1: float, y2: float, kind: str) -> Markup:
    places = {"x1": x1, "x2": x2, "y1": y1, "y2": y2}
    return svg.element("line", **{name: f"{value:.2f}%" for name, value in places.items()}, class_=kind)


def nice_ticks(low: float, high: float) -> list[float]:
    """About five round numbers from below the lowest to above the highest."""
    span = (high - low) or 1.0
    raw = span / 4.0
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * size for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * size >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [place * step for place in range(first, max(last, first + 1) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Ones, twos and fives of each power of ten around both; of a wide range, the powers alone."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [10.0**power * part for power in powers for part in ((1, 2, 5) if len(powers) <= 4 else (1,))]
    below = max(tick for tick in ticks if tick <= low * 1.0001)
    return [tick for tick in ticks if below <= tick <= min(other for other in ticks if other >= high * 0.9999)]


def axis_money(value: float) -> str:
    """Dollars on an axis, with the digits they need."""
    return f"${value:,.10f}".rstrip("0").rstrip(".")
