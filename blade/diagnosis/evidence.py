"""Proof with words: the verbatim text at the places a label cites.

Where no place is named, a task that lists the calls it expects tells where things went wrong: at the first call that
changes something and is not among them. Otherwise the last thing the rollout said is cited.
"""

from typing import Any

import msgspec
import numpy as np

from blade.diagnosis.budget import within_budget
from blade.diagnosis.causes import Verdict
from blade.diagnosis.labels import Evidence, Label
from blade.rollouts import Item, Rollout, Run
from blade.rollouts.formats import value_at

MOST_ROLLOUTS = 1500
QUOTE = 120
EXPECTED_CALLS = ("info.task.actions", "task.evaluation_criteria.actions", "expected_actions")
"""Where benchmarks list the calls that solve a task."""
READING = frozenset(
    {"get", "find", "list", "search", "look", "lookup", "read", "view", "show", "check", "fetch", "query", "describe"}
    | {"count", "calculate", "think"}
)
"""Words in the names of tools that change nothing."""


def quote_evidence(run: Run, verdicts: list[Verdict]) -> list[Label]:
    """The labels with citations and quotes; past the reading budget only citations."""
    wanted = np.asarray(sorted({row for verdict in verdicts for row, _ in verdict.places}), dtype=np.int64)
    read = within_budget(run.table, wanted, most=MOST_ROLLOUTS)
    rollouts = dict(run.numbered_rollouts(read.tolist()))
    return [with_evidence(run, verdict, rollouts) for verdict in verdicts]


def with_evidence(run: Run, verdict: Verdict, rollouts: dict[int, Rollout]) -> Label:
    evidence = [cite(run, row, item, rollouts.get(row)) for row, item in verdict.places]
    return msgspec.structs.replace(verdict.label, evidence=evidence)


def cite(run: Run, row: int, item: int, rollout: Rollout | None) -> Evidence:
    """The item itself; when no item is named, the first unexpected call, else the last thing the rollout said."""
    chosen = None if rollout is None else item_at(rollout, item)
    if chosen is None:
        return Evidence(citation=run.table.citation(row, item))
    return Evidence(citation=run.table.citation(row, chosen.position), quote=opening(chosen.text))


def item_at(rollout: Rollout, item: int) -> Item | None:
    if 0 <= item < len(rollout.items):
        return rollout.items[item]
    if (unexpected := unexpected_call(rollout)) is not None:
        return unexpected
    said = [i for i in rollout.items if not i.prompt and i.kind in ("message", "tool_call") and i.text.strip()]
    return said[-1] if said else None


def unexpected_call(rollout: Rollout) -> Item | None:
    """The first call that changes something and is not one the task expects; `None` where the row expects no calls."""
    expected = expected_calls(rollout)
    made = [item for item in rollout.items if item.kind == "tool_call" and not item.prompt]
    for item in made if expected else ():
        call = (item.name or "", canonical(item.text))
        if call in expected:
            expected.remove(call)
        elif not READING & set((item.name or "").lower().split("_")):
            return item
    return None


def expected_calls(rollout: Rollout) -> list[tuple[str, str]]:
    """Name and arguments of the calls a row lists as the solution."""
    listed = next((found for path in EXPECTED_CALLS if isinstance(found := value_at(rollout.fields, path), list)), [])
    calls = [call for call in listed if isinstance(call, dict) and isinstance(call.get("name"), str)]
    return [(call["name"], canonical(call.get("kwargs", call.get("arguments")))) for call in calls]


def canonical(arguments: Any) -> str:
    """Arguments as one text, whatever the order of their names."""
    value = arguments
    if isinstance(arguments, str):
        try:
            value = msgspec.json.decode(arguments)
        except (msgspec.MsgspecError, RecursionError):
            return arguments
    return msgspec.json.encode(value, order="deterministic").decode()


def opening(text: str) -> str | None:
    """The first line that says something, cut to a length that can be quoted."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line[:QUOTE].rstrip() or None
