"""Rollout rows as far as a package's promises go: keys, scores, what was said, and totals. Standard library only.

The engine reads the same files with everything in them (`blade.rollouts`); here each row is a key, a number and a
fingerprint, which is enough to tell whether a run is whole, scored, comparable and not a copy of another.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

TASK_FIELDS = ("_ng_task_index", "_task_index", "task_id", "task_name", "task_index")
REPEAT_FIELDS = ("_ng_rollout_index", "_rollout_index", "rollout_index", "rollout_id")
REWARD_FIELDS = ("reward", "score")
"""Fields in order of preference: the first that any row of the file has is the one for all of its rows."""
PLACEHOLDER = re.compile(r"<\s*placeholder|\b(?:TODO|TBD|FIXME)\b|^\s*\.\.\.\s*$", re.IGNORECASE)
RULE = re.compile(r"(?:reward|score)\s*(>=|==|>)\s*([0-9.eE+-]+)")
TOLERANCE, SHARE_TOLERANCE = 1e-9, 5e-4
"""How far a score may be off its bound, and a stated share: half a unit of the third digit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One rollout."""

    line: int
    """Line it stands in, from 1."""
    task: str | None
    """Task key; `None` when the row has none."""
    repeat: str | None
    """Which attempt it is; `None` when the row does not say."""
    reward: float | None
    """The score; `None` when it is absent or not a finite number."""
    reward_seen: str
    """What stands where the score should be, for messages."""
    fingerprint: str
    """Hash of what was said; empty when nothing was."""
    value: dict[str, Any]
    """The whole row, where it was asked for; empty otherwise."""

    @property
    def key(self) -> str:
        """How the rollout is cited."""
        return f"{self.task}:{self.repeat}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """A rollout file."""

    path: Path
    """Where it is."""
    rows: list[Row]
    """Its rollouts."""
    bad: list[tuple[int, str]]
    """Numbers of the lines that hold none, and why."""
    task_field: str | None
    """The field tasks are told apart by."""
    repeat_field: str | None
    """The field attempts are told apart by."""

    def by_task(self) -> dict[str, list[Row]]:
        """Rollouts of every task, in file order."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            if row.task is not None:
                found.setdefault(row.task, []).append(row)
        return found


def read_rows(path: Path, *, whole: bool = False) -> Rows:
    """The rows of a file, whole if asked; a line that is none is told, and the reading goes on."""
    objects: list[tuple[int, dict[str, Any]]] = []
    bad: list[tuple[int, str]] = []
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            try:
                value = json.loads(line) if line.strip() else None
            except (ValueError, RecursionError):
                is_open = PLACEHOLDER.search(line) is not None
                bad.append((number, "is a placeholder, not a rollout" if is_open else "is not JSON"))
                continue
            if isinstance(value, dict):
                objects.append((number, value))
            elif line.strip():
                bad.append((number, f"is a JSON {type(value).__name__}, not an object"))

    def used(names: tuple[str, ...]) -> str | None:
        """The first of some fields that a row has: one for all rows, and the same in every process."""
        return next((name for name in names if any(value.get(name) is not None for _, value in objects)), None)

    task, repeat, reward = used(TASK_FIELDS), used(REPEAT_FIELDS), used(REWARD_FIELDS)
    rows = [
        Row(
            line=number,
            task=key_text(value.get(task or "")),
            repeat=key_text(value.get(repeat or "")),
            reward=as_number(value.get(reward or "")),
            reward_seen=json.dumps(value[reward])[:40] if reward in value else "nothing",
            fingerprint=fingerprint(value),
            value=value if whole else {},
        )
        for number, value in objects
    ]
    return Rows(path=path, rows=rows, bad=bad, task_field=task, repeat_field=repeat)


def read_rows_with_text(path: Path) -> dict[str, str]:
    """All that is said in every rollout, prompt included, by `task:repeat`."""
    fields = ("responses_create_params", "response")
    return {
        row.key: "\n".join(texts_in([row.value.get(name) for name in fields]))
        for row in read_rows(path, whole=True).rows
    }


def texts_in(value: Any) -> Iterator[str]:
    """Every text inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)


def key_text(value: Any) -> str | None:
    """An id as text; numbers and texts are ids, anything else is not."""
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
        return None
    return str(value)


def as_number(value: Any) -> float | None:
    """A finite number, or nothing: a text, a flag, NaN and infinity are not scores."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def fingerprint(value: dict[str, Any]) -> str:
    """A hash of the output; rows that hold none have nothing that could be copied."""
    response = value.get("response")
    said = response.get("output") if isinstance(response, dict) else value.get("output")
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest() if said else ""


def count_totals(run: Rows, rule: str | None) -> dict[str, float]:
    """The totals of one run under a success rule; without one, rewards of 0 and 1 speak for themselves.

    The engine computes the same with intervals (`blade.metrics`). What needs more than the score is left out.
    """
    tasks = run.by_task()
    rewards = {task: [row.reward for row in rows if row.reward is not None] for task, rows in tasks.items()}
    scored = [own for own in rewards.values() if own]
    rollouts = sum(map(len, tasks.values()))
    totals = dict[str, float](num_tasks=len(tasks), total_tasks=len(tasks))
    totals |= {"num_rollouts": rollouts, "total_rollouts": rollouts}
    match = RULE.fullmatch(rule.strip()) if rule else None
    sign, bound = (match[1], float(match[2])) if match else (">=", 1.0)
    is_success: dict[str, Callable[[float], bool]] = {
        "==": lambda reward: abs(reward - bound) <= TOLERANCE,
        ">=": lambda reward: reward >= bound - TOLERANCE,
        ">": lambda reward: reward > bound,
    }
    is_graded = any(reward not in (0.0, 1.0) for own in scored for reward in own)
    if scored:
        totals["mean_reward"] = fmean(map(fmean, scored))
    if scored and (match is not None or not (rule or is_graded)):
        shares = [fmean(map(is_success[sign], own)) for own in scored]
        totals |= {"pass_at_1": fmean(shares), "always": shares.count(1.0), "never": shares.count(0.0)}
        totals["sometimes"] = sum(0.0 < share < 1.0 for share in shares)
    return totals


def differences(stated: dict[str, Any], totals: dict[str, float]) -> list[str]:
    """What a metrics sidecar says otherwise than the rows, in words; a bucket is counted or listed."""
    buckets = stated.get("buckets")
    found: list[str] = []
    for name, value in {**stated, **(buckets if isinstance(buckets, dict) else {})}.items():
        seen, true = len(value) if isinstance(value, list) else value, totals.get(name)
        if seen is None or true is None:
            continue  # what is not stated or not known is not compared
        is_number = isinstance(seen, int | float) and not isinstance(seen, bool)
        if not is_number or abs(seen - true) > (SHARE_TOLERANCE if isinstance(true, float) else 0):
            shown = f"{true:.4f}" if isinstance(true, float) else f"{true}"
            found.append(f"{name} is {seen}, the rows give {shown}")
    return found
