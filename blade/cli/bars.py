"""Bars of buckets. Each bucket has its own sign as well as its own colour, so that a bar reads without colours too."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.console import Group
from rich.text import Text

from blade.diagnosis.analysis import Analysis
from blade.report.numbers import count


class Look(NamedTuple):
    """How a bucket is drawn."""

    name: str
    sign: str
    style: str


LOOKS = (
    Look("always", "█", "green"),
    Look("sometimes", "▒", "yellow"),
    Look("never", "░", "red"),
    Look("missing", "·", "dim"),
)


def bucket_bar(analysis: Analysis, *, width: int) -> Group:
    """The bar, and under it what its signs mean and how many tasks each stands for."""
    sizes = [len(getattr(analysis.buckets, look.name)) for look in LOOKS]
    return Group(bar(sizes, width=width), legend(sizes))


def bar(sizes: Sequence[int], *, width: int) -> Text:
    """The bar alone."""
    text = Text()
    for look, cells in zip(LOOKS, share_cells(sizes, width), strict=True):
        text.append(look.sign * cells, look.style)
    return text


def legend(sizes: Sequence[int]) -> Text:
    """What each sign means; buckets without a task are named too, except missing."""
    text = Text()
    for look, size in zip(LOOKS, sizes, strict=True):
        if size or look.name != "missing":
            text.append(f"{look.sign} ", look.style).append(f"{look.name} {count(size)}   ")
    text.rstrip()
    return text


def share_cells(sizes: Sequence[int], width: int) -> list[int]:
    """Cells for each size in proportion, by largest remainder; what exists gets at least one."""
    total = sum(sizes)
    if total == 0 or width <= 0:
        return [0] * len(sizes)
    exact = [size * width / total for size in sizes]
    cells = [max(int(share), 1 if size else 0) for share, size in zip(exact, sizes, strict=True)]
    while sum(cells) != width:
        step = 1 if sum(cells) < width else -1
        movable = [i for i, size in enumerate(sizes) if size and (step > 0 or cells[i] > 1)]
        if not movable:
            break
        cells[max(movable, key=lambda i: step * (exact[i] - cells[i]))] += step
    return cells
