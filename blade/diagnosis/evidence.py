"""Proof with words: the verbatim text at the places that labels and modes cite, read once for all of them."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import msgspec
import numpy as np

from blade.diagnosis.analysis import Cause, DecisiveStep, Mode
from blade.diagnosis.budget import within_budget
from blade.diagnosis.causes import Verdict
from blade.diagnosis.labels import Evidence
from blade.diagnosis.modes import Mined, failing_places
from blade.diagnosis.noting import Noted
from blade.diagnosis.steps import decisive_step
from blade.diagnosis.templates import telling_line
from blade.engine import share
from blade.metrics.values import Ints
from blade.rollouts import Item, Rollout, Run

MOST_ROLLOUTS = 1500
MOST_EXAMPLES = 3
LONGEST = 200


class Seen(NamedTuple):
    """What was found in a rollout that was read."""

    quotes: dict[int, str | None]
    """By item: a line of it."""
    step: DecisiveStep | None
    """Where it went wrong."""


def quote_evidence(
    run: Run, verdicts: Sequence[Verdict], modes: Sequence[Mode], mined: Mined, noted: Noted
) -> tuple[list[Cause], list[Mode]]:
    """The labels and modes with what stands where they point to; past the reading budget only citations."""
    shown = [failing_places(found)[:MOST_EXAMPLES] for found in mined.modes]
    judged = {row for verdict in verdicts for row, _ in verdict.places}
    items: dict[int, set[int]] = {}
    for row, item in chain(*(verdict.places for verdict in verdicts), *shown):
        items.setdefault(row, set()).add(item)

    def look(rows: Ints) -> list[tuple[int, Seen]]:
        found = run.numbered_rollouts(rows.tolist())
        return [
            (row, Seen(quotes_of(rollout, items[row]), step_of(run, row, rollout, noted) if row in judged else None))
            for row, rollout in found
        ]

    read = within_budget(run.table, np.asarray(sorted(items), dtype=np.int64), most=MOST_ROLLOUTS)
    seen = dict(chain.from_iterable(share(look, run.shared_out(read))))
    causes = [cause_of(run, verdict, seen) for verdict in verdicts]
    examples = [[cite(run, row, item, seen.get(row)) for row, item in places] for places in shown]
    return causes, [msgspec.structs.replace(m, examples=found) for m, found in zip(modes, examples, strict=True)]


def quotes_of(rollout: Rollout, items: Iterable[int]) -> dict[int, str | None]:
    """A line of each of some items."""
    return {item: quote_of(rollout.items[item]) for item in items if 0 <= item < len(rollout.items)}


def step_of(run: Run, row: int, rollout: Rollout, noted: Noted) -> DecisiveStep | None:
    """Where a rollout went wrong."""
    failed = msgspec.structs.replace(rollout, success=False)
    step = decisive_step(failed, noted.differences.get(row, []), noted.conventions)
    if step is None:
        return None
    return DecisiveStep(citation=run.table.citation(row, step.item), why=step.why, probability=step.probability)


def steps_of(verdict: Verdict, seen: Mapping[int, Seen]) -> list[DecisiveStep]:
    """Where the rollouts that a verdict cites went wrong."""
    found = (seen[row].step for row in dict.fromkeys(row for row, _ in verdict.places if row in seen))
    return [step for step in found if step is not None]


def cause_of(run: Run, verdict: Verdict, seen: Mapping[int, Seen]) -> Cause:
    """A verdict as it stands in the analysis, with its evidence."""
    label = verdict.label
    return Cause(
        task=label.task,
        label=label.cause,
        confidence=label.confidence,
        author=label.author,
        reason=label.reason,
        evidence=[cite(run, row, item, seen.get(row)) for row, item in verdict.places],
        candidates=label.candidates,
        steps=steps_of(verdict, seen),
    )


def cite(run: Run, row: int, item: int, seen: Seen | None) -> Evidence:
    """The item with its telling line; a rollout where no item is named is cited as a whole."""
    return Evidence(citation=run.table.citation(row, item), quote=None if seen is None else seen.quotes.get(item))


def quote_of(item: Item) -> str | None:
    """A line that stands in an item word for word; `None` of one without a word."""
    line = telling_line(item.text)[:LONGEST].strip()
    if not line or line not in item.text:
        line = next((part.strip() for part in item.text.splitlines() if part.strip()), "")[:LONGEST].strip()
    return line or None
