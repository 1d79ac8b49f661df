"""Pictures as inline SVG, made of escaped parts; colours come from the page's stylesheet through class names.

Bars are drawn in a box of 100 by 10 that the page stretches, with texts beside them in HTML, so that they stay
legible on a phone; only the curves carry texts of their own.
"""

from collections.abc import Callable, Iterable, Sequence

from markupsafe import Markup, escape

Point = tuple[float, float]
Interval = Sequence[float]
Scale = Callable[[float], float]
"""Where a number stands in a picture."""


def element(name: str, *children: str, **attributes: object) -> Markup:
    """An element; `class_` and `stroke_width` become `class` and `stroke-width`, `None` is left out."""
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(fixed(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = Markup("").join(escape(child) for child in children)
    return Markup(f"<{name}{said}>{inside}</{name}>")


def fixed(value: object) -> str:
    """A number with at most two digits; anything else as it is."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def stretched(*children: str, label: str) -> Markup:
    """A box that is as wide as its place; what it shows is said in words to those who cannot see it."""
    return element(
        "svg", *children, viewBox="0 0 100 10", preserveAspectRatio="none", class_="bar", role="img", aria_label=label
    )


def share_bar(share: float, *, label: str, kind: str = "fill") -> Markup:
    """How much of a whole something is."""
    width = 100.0 * min(max(share, 0.0), 1.0)
    return stretched(
        element("rect", x=0, y=1, width=100, height=8, class_="track"),
        element("rect", x=0, y=1, width=max(width, 0.6) if share > 0 else 0.0, height=8, class_=kind),
        label=label,
    )


def stacked_bar(parts: Iterable[tuple[float, str]], *, label: str) -> Markup:
    """Parts of a whole, side by side: a share of the whole and a class name each."""
    drawn: list[str] = []
    at = 0.0
    for share, kind in parts:
        drawn.append(element("rect", x=100.0 * at, y=0, width=100.0 * share, height=10, class_=kind))
        at += share
    return stretched(*drawn, label=label)


def range_bar(
    value: float | None, ends: Interval | None, *, low: float, high: float, label: str, zero: float | None = None
) -> Markup:
    """A value with its interval on a scale; `zero` is where nothing would be."""
    span = (high - low) or 1.0

    def place(number: float) -> float:
        return 100.0 * min(max((number - low) / span, 0.0), 1.0)

    drawn = [element("line", x1=0, x2=100, y1=5, y2=5, class_="axis")]
    if zero is not None and low <= zero <= high:
        drawn.append(element("line", x1=place(zero), x2=place(zero), y1=0, y2=10, class_="zero"))
    if ends is not None:
        drawn.append(element("line", x1=place(ends[0]), x2=place(ends[1]), y1=5, y2=5, class_="span"))
    if value is not None:
        drawn.append(element("line", x1=place(value), x2=place(value), y1=1, y2=9, class_="point"))
    return stretched(*drawn, label=label)


class Curve:
    """A line with a band around it, over the same xs."""

    def __init__(self, name: str, kind: str, points: Sequence[Point], bands: Sequence[Interval | None]) -> None:
        self.name, self.kind, self.points, self.bands = name, kind, points, bands


WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 420.0, 240.0, 40.0, 64.0, 12.0, 30.0


def curves(lines: Sequence[Curve], *, label: str, below: str) -> Markup:
    """Shares between 0 and 1 over whole numbers from 1."""
    ks = sorted({x for line in lines for x, _ in line.points})
    first, last = ks[0], ks[-1]

    def x(k: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * ((k - first) / ((last - first) or 1.0))

    def y(share: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - share)

    drawn: list[str] = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        drawn.append(element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y(share), y2=y(share), class_="gridline"))
        drawn.append(element("text", f"{100 * share:.0f}\u00a0%", x=LEFT - 6, y=y(share) + 4, text_anchor="end"))
    step = -(-len(ks) // 8)
    shown = [k for place, k in enumerate(ks) if place % step == 0 or k == last]
    drawn += [element("text", f"{k:g}", x=x(k), y=HEIGHT - 12, text_anchor="middle") for k in shown]
    drawn.append(element("text", below, x=WIDTH - RIGHT + 8, y=HEIGHT - 12))
    for line in lines:
        drawn += band(line, x, y)
    drawn += end_labels(lines, x, y)
    return element("svg", *drawn, viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}", class_="curves", role="img", aria_label=label)


def band(line: Curve, x: Scale, y: Scale) -> list[str]:
    """The band, the line and its points."""
    known = [(k, ends) for (k, _), ends in zip(line.points, line.bands, strict=True) if ends is not None]
    outline = [(k, ends[1]) for k, ends in known] + [(k, ends[0]) for k, ends in reversed(known)]
    drawn: list[str] = []
    if len(known) > 1:
        drawn.append(element("polygon", points=path(outline, x, y), class_=f"band {line.kind}"))
    drawn.append(element("polyline", points=path(line.points, x, y), class_=f"curve {line.kind}"))
    drawn += [element("circle", cx=x(k), cy=y(v), r=3, class_=f"dot {line.kind}") for k, v in line.points]
    return drawn


def end_labels(lines: Sequence[Curve], x: Scale, y: Scale) -> list[str]:
    """Each line's name at its end, kept apart where ends are close."""
    ends = sorted(((y(line.points[-1][1]), line) for line in lines), key=lambda end: end[0])
    drawn: list[str] = []
    free = TOP
    for at, line in ends:
        at = max(at + 4.0, free)
        free = at + 15.0
        drawn.append(element("text", line.name, x=x(line.points[-1][0]) + 8, y=at, class_=f"name {line.kind}"))
    return drawn


def path(points: Iterable[Point], x: Scale, y: Scale) -> str:
    return " ".join(f"{fixed(x(k))},{fixed(y(v))}" for k, v in points)


def columns(shares: Sequence[float | None], *, label: str) -> Markup:
    """Columns of shares side by side."""
    width = 100.0 / max(len(shares), 1)
    drawn = [element("rect", x=0, y=0, width=100, height=10, class_="track")]
    for place, share in enumerate(shares):
        tall = 10.0 * (share or 0.0)
        drawn.append(
            element("rect", x=place * width + 1.0, y=10.0 - tall, width=width - 2.0, height=tall, class_="pass")
        )
    return element(
        "svg", *drawn, viewBox="0 0 100 10", preserveAspectRatio="none", class_="columns", role="img", aria_label=label
    )
