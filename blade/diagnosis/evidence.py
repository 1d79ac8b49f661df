"""Proof with words: the verbatim text at the places that labels and modes cite, read once for all of them."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from blade.diagnosis.analysis import Cause, DecisiveStep, Mode
from blade.diagnosis.budget import within_budget
from blade.diagnosis.causes import Verdict
from blade.diagnosis.labels import Evidence, Label
from blade.diagnosis.observations import Noted
from blade.diagnosis.relabelling import as_cause
from blade.diagnosis.steps import decisive_step
from blade.diagnosis.templates import telling_line
from blade.rollouts import Item, Rollout, Run
from blade.rollouts.table import split_citation

MOST_ROLLOUTS = 1500
MOST_EXAMPLES = 3
LONGEST = 200

Known = Mapping[tuple[str, str], Evidence]
"""Rule and rollout -> what a pack quotes for it."""


def quote_evidence(
    run: Run, verdicts: Sequence[Verdict], modes: Sequence[Mode], noted: Noted, known: Known
) -> tuple[list[Cause], list[Mode]]:
    """The labels and modes with what stands where they point to; past the reading budget only citations."""
    shown = [cite_rows(run, mode.citations[:MOST_EXAMPLES]) for mode in modes]
    wanted = {row for verdict in verdicts for row, _ in verdict.places} | {row for places in shown for row, _ in places}
    read = within_budget(run.table, np.asarray(sorted(wanted), dtype=np.int64), most=MOST_ROLLOUTS)
    rollouts = dict(run.numbered_rollouts(read.tolist()))
    causes = [
        msgspec.structs.replace(
            as_cause(with_evidence(run, verdict, rollouts, known)), steps=steps_of(run, verdict, rollouts, noted)
        )
        for verdict in verdicts
    ]
    examples = [[cite(run, row, item, rollouts.get(row)) for row, item in places] for places in shown]
    return causes, [msgspec.structs.replace(m, examples=found) for m, found in zip(modes, examples, strict=True)]


def steps_of(run: Run, verdict: Verdict, rollouts: Mapping[int, Rollout], noted: Noted) -> list[DecisiveStep]:
    """Where the rollouts that a verdict cites went wrong."""
    out: list[DecisiveStep] = []
    for row in dict.fromkeys(row for row, _ in verdict.places if row in rollouts):
        failed = msgspec.structs.replace(rollouts[row], success=False)
        step = decisive_step(failed, noted.differences.get(row, []), noted.conventions)
        if step is not None:
            cited = run.table.citation(row, step.item)
            out.append(DecisiveStep(citation=cited, why=step.why, probability=step.probability))
    return out


def cite_rows(run: Run, citations: Iterable[str]) -> list[tuple[int, int]]:
    """Row and item of citations that BLADE made itself."""
    out: list[tuple[int, int]] = []
    for citation in citations:
        row = run.table.find(*split_citation(citation))
        item = citation.rpartition("#")[2] if "#" in citation else ""
        if row is not None:
            out.append((row, int(item) if item.isdecimal() else -1))
    return out


def with_evidence(run: Run, verdict: Verdict, rollouts: Mapping[int, Rollout], known: Known) -> Label:
    code = verdict.label.author.removeprefix("rule:")
    evidence = [
        known.get((code, run.table.citation(row))) or cite(run, row, item, rollouts.get(row))
        for row, item in verdict.places
    ]
    return msgspec.structs.replace(verdict.label, evidence=evidence)


def cite(run: Run, row: int, item: int, rollout: Rollout | None) -> Evidence:
    """The item with its telling line; a rollout where no item is named is cited as a whole."""
    chosen = rollout.items[item] if rollout is not None and 0 <= item < len(rollout.items) else None
    return Evidence(citation=run.table.citation(row, item), quote=None if chosen is None else quote_of(chosen))


def quote_of(item: Item) -> str | None:
    """A line that stands in an item word for word; `None` of one without a word."""
    line = telling_line(item.text)[:LONGEST].strip()
    if not line or line not in item.text:
        line = next((part.strip() for part in item.text.splitlines() if part.strip()), "")[:LONGEST].strip()
    return line or None
