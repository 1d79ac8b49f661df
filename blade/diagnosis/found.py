"""A finding together with the rows it is about, and what those rows do to the headline."""

from typing import NamedTuple

import msgspec
import numpy as np

from blade.diagnosis.analysis import MAX_LISTED, Finding, FindingCause
from blade.metrics import Outcomes
from blade.metrics.values import Floats, Ints
from blade.rollouts.columns import codes_in
from blade.rollouts.table import RolloutTable


class Found(NamedTuple):
    """A finding and its rows; a finding about lines or files has none."""

    finding: Finding
    rows: Ints


NO_ROWS: Ints = np.empty(0, dtype=np.int64)


def about_rows(table: RolloutTable, finding: Finding, rows: Ints, *, items: Ints | None = None) -> Found:
    """A finding about some rollouts, with their number and citations filled in."""
    cited = table.citations(rows[:MAX_LISTED], None if items is None else items[:MAX_LISTED])
    tasks = len(codes_in(table.task[rows]))
    return Found(msgspec.structs.replace(finding, rows=len(rows), tasks=tasks, citations=cited), rows)


def about_files(finding: Finding) -> Found:
    """A finding about lines, keys or files."""
    return Found(finding, NO_ROWS)


def say(code: str, cause: FindingCause, message: str, hint: str, *, rows: int = 0) -> Finding:
    """A finding before anybody has said which rows it is about."""
    return Finding(code=code, cause=cause, message=message, rows=rows, hint=hint)


def count(number: int, noun: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def with_effect(found: Found, outcomes: Outcomes) -> Finding:
    """The finding with the headline as it would be without its rows, and with them counted as passed."""
    if not len(found.rows) or outcomes.is_continuous:
        return found.finding
    without, repaired = outcomes.scores.copy(), outcomes.scores.copy()
    without[found.rows], repaired[found.rows] = np.nan, 1.0
    has_failed = bool((outcomes.scores[found.rows] < 1.0).any())
    return msgspec.structs.replace(
        found.finding,
        headline_without=headline(outcomes, without),
        headline_repaired=headline(outcomes, repaired) if found.finding.cause != "IR" and has_failed else None,
    )


def headline(outcomes: Outcomes, scores: Floats) -> float | None:
    means = outcomes.totals(scores).mean
    known = means[~np.isnan(means)]
    return float(known.mean()) if len(known) else None
