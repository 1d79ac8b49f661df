"""Proof with words: the verbatim text at the places that labels and modes cite, read once for all of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import msgspec
import numpy as np

from blade.diagnosis.analysis import Cause, DecisiveStep, Mode
from blade.diagnosis.budget import within_budget
from blade.diagnosis.causes import Verdicts
from blade.diagnosis.labels import Evidence
from blade.diagnosis.modes import Mined, failing_places
from blade.diagnosis.noting import Noted
from blade.diagnosis.steps import decisive_step
from blade.diagnosis.templates import telling_line
from blade.engine import share
from blade.metrics.values import Ints
from blade.rollouts import Item, Rollout, Run
from blade.rollouts.columns import codes_in

MOST_ROLLOUTS = 1500
MOST_EXAMPLES = 3
LONGEST = 200
NO_STEPS: list[DecisiveStep] = []
"""What most causes share."""


class Seen(NamedTuple):
    """What was found in a rollout that was read."""

    quotes: dict[int, str | None]
    """By item: a line of it."""
    step: DecisiveStep | None
    """Where it went wrong."""


def quote_evidence(
    run: Run, verdicts: Verdicts, modes: Sequence[Mode], mined: Mined, noted: Noted
) -> tuple[list[Cause], list[Mode]]:
    """The labels and modes with what stands where they point to; past the reading budget only citations."""
    shown = [failing_places(found)[:MOST_EXAMPLES] for found in mined.modes]
    others = np.asarray([row for places in shown for row, _ in places], dtype=np.int64)
    read = within_budget(run.table, codes_in(np.concatenate([verdicts.rows, others])), most=MOST_ROLLOUTS)
    at = np.flatnonzero(np.isin(verdicts.rows, read))
    judged = set(verdicts.rows[at].tolist())
    items: dict[int, set[int]] = {}
    for row, item in chain(zip(verdicts.rows[at].tolist(), verdicts.items[at].tolist(), strict=True), *shown):
        items.setdefault(row, set()).add(item)

    def look(rows: Ints) -> list[tuple[int, Seen]]:
        found = run.numbered_rollouts(rows.tolist())
        return [
            (row, Seen(quotes_of(rollout, items[row]), step_of(run, row, rollout, noted) if row in judged else None))
            for row, rollout in found
        ]

    seen = dict(chain.from_iterable(share(look, run.shared_out(read))))
    causes = list(causes_of(run, verdicts, seen))
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


def steps_of(rows: Iterable[int], seen: Mapping[int, Seen]) -> list[DecisiveStep]:
    """Where the rollouts that a verdict cites went wrong."""
    found = (seen[row].step for row in dict.fromkeys(rows))
    return [step for step in found if step is not None] or NO_STEPS


def causes_of(run: Run, verdicts: Verdicts, seen: Mapping[int, Seen]) -> Iterator[Cause]:
    """The verdicts as they stand in the analysis, with their evidence."""
    citations = run.table.citations(verdicts.rows, verdicts.items)
    at = np.flatnonzero(np.isin(verdicts.rows, list(seen)))
    read = dict(zip(at.tolist(), verdicts.rows[at].tolist(), strict=True))
    quotes = {place: seen[read[place]].quotes.get(int(verdicts.items[place])) for place in read}
    first = 0
    for task, decision, end in zip(verdicts.tasks, verdicts.decisions, verdicts.ends.tolist(), strict=True):
        places = range(first, end)
        rows = [read[place] for place in places if place in read]
        yield Cause(
            task=task,
            label=decision.cause,
            confidence=decision.confidence,
            author=decision.author,
            reason=decision.reason,
            evidence=[Evidence(citation=citations[place], quote=quotes.get(place)) for place in places],
            candidates=decision.candidates,
            steps=steps_of(rows, seen) if rows else NO_STEPS,
        )
        first = end


def cite(run: Run, row: int, item: int, seen: Seen | None) -> Evidence:
    """The item with its telling line; a rollout where no item is named is cited as a whole."""
    return Evidence(citation=run.table.citation(row, item), quote=None if seen is None else seen.quotes.get(item))


def quote_of(item: Item) -> str | None:
    """A line that stands in an item word for word; `None` of one without a word."""
    line = telling_line(item.text)[:LONGEST].strip()
    if not line or line not in item.text:
        line = next((part.strip() for part in item.text.splitlines() if part.strip()), "")[:LONGEST].strip()
    return line or None
