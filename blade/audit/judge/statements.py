"""Statements of a report that can be held to the truth, one kind each. Standard library only."""

from dataclasses import dataclass

from blade.audit.figures import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A value that the report states."""

    path: str
    """Which."""
    figure: Figure
    """What it states."""
    positive: bool
    """Whether it affirms it."""
    line: int
    """Where."""
    sure: bool
    """Whether it can be nothing else: a cell of a table, or a sentence that says what it measures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A label given to a task."""

    task: str
    """The task."""
    label: str
    """The label."""
    positive: bool
    """Whether it is given, and not denied."""
    line: int
    """Where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """How often a task passes."""

    task: str
    """The task."""
    passed: int
    """Rollouts that pass."""
    total: int
    """Rollouts."""
    positive: bool
    """Whether that is affirmed."""
    line: int
    """Where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """Tasks named together, and the groups that are named with them."""

    tasks: frozenset[str]
    """The tasks."""
    groups: frozenset[str]
    """Paths of labels, buckets and other values named in the same breath."""
    positive: bool
    """Whether that is affirmed."""
    line: int
    """Where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A rollout that is cited, with the words quoted from it."""

    citation: str
    """`task:repeat` or `task:repeat#item`."""
    quote: str
    """What is quoted from it; empty when nothing is."""
    block: tuple[str, ...]
    """The headings it stands under: what is cited under the same ones is cited together."""
    positive: bool
    """Whether the sentence affirms."""
    line: int
    """Where."""
