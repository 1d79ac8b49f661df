"""Proof with words: the verbatim text at the places a label cites.

Where no place is named, a task that lists the calls it expects tells where things went wrong: at the first call that
changes something and is not among them. Otherwise the last thing the rollout said is cited.
"""

from collections.abc import Mapping

import msgspec
import numpy as np

from blade.diagnosis.actions import deviation_of
from blade.diagnosis.answers import GIVEN_FIELDS, first_stated
from blade.diagnosis.budget import within_budget
from blade.diagnosis.causes import Verdict
from blade.diagnosis.labels import Evidence, Label
from blade.diagnosis.sentences import telling_quote
from blade.rollouts import Item, Rollout, Run

MOST_ROLLOUTS = 1500


Known = Mapping[tuple[str, str], Evidence]
"""Rule and rollout -> what a pack quotes for it."""


def quote_evidence(run: Run, verdicts: list[Verdict], known: Known | None = None) -> list[Label]:
    """The labels with citations and quotes; past the reading budget only citations."""
    wanted = np.asarray(sorted({row for verdict in verdicts for row, _ in verdict.places}), dtype=np.int64)
    read = within_budget(run.table, wanted, most=MOST_ROLLOUTS)
    rollouts = dict(run.numbered_rollouts(read.tolist()))
    return [with_evidence(run, verdict, rollouts, known or {}) for verdict in verdicts]


def with_evidence(run: Run, verdict: Verdict, rollouts: dict[int, Rollout], known: Known) -> Label:
    code = verdict.label.author.removeprefix("rule:")
    evidence = [
        known.get((code, run.table.citation(row))) or cite(run, row, item, rollouts.get(row), code=code)
        for row, item in verdict.places
    ]
    return msgspec.structs.replace(verdict.label, evidence=evidence)


def cite(run: Run, row: int, item: int, rollout: Rollout | None, *, code: str) -> Evidence:
    """The item itself; when no item is named, the first unexpected call, else the last thing the rollout said."""
    chosen = None if rollout is None else item_at(rollout, item)
    if rollout is None or chosen is None:
        return Evidence(citation=run.table.citation(row, item))
    answer = first_stated(rollout, GIVEN_FIELDS)
    quote = telling_quote(chosen, code, answer=answer, deviation=deviation_of(rollout))
    return Evidence(citation=run.table.citation(row, chosen.position), quote=quote)


def item_at(rollout: Rollout, item: int) -> Item | None:
    if 0 <= item < len(rollout.items):
        return rollout.items[item]
    deviation = deviation_of(rollout)
    if deviation is not None and (wrong := deviation.first_made()) is not None:
        return rollout.items[wrong]
    said = [i for i in rollout.items if not i.prompt and i.kind in ("message", "tool_call") and i.text.strip()]
    return said[-1] if said else None
