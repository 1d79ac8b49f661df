"""Rows that claim the same attempt at the same task.

Identical rows are one rollout written twice: counted once. Conflicting rows are two verdicts on one attempt: they
are kept apart and reported, and which of them is scored is the user's choice. Nothing is dropped silently. Where rows
do not number their attempts, rows that say the same down to the response's own id or time are one attempt too.
"""

import contextlib
import hashlib
from collections.abc import Callable, Iterable
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from blade.errors import ProblemsFound
from blade.rollouts.columns import level_text
from blade.rollouts.conform import BadRow, decode_any
from blade.rollouts.formats import value_at
from blade.rollouts.identity import Keys, by_occurrence
from blade.rollouts.rows import MODEL_FIELDS, Ints, Rows, source_of
from blade.rollouts.values import Source, citation

Policy = Literal["first", "last", "all", "error"]
ReadRows = Callable[[Iterable[int]], Iterable[tuple[int, bytes]]]
"""Reads the bytes of some rows, in whatever order is cheapest."""


class Duplicate(msgspec.Struct, frozen=True, kw_only=True):
    """Several rows with one key."""

    rollout: str
    """The key, as a citation."""
    kind: Literal["identical", "conflicting"]
    """Whether the rows say the same."""
    rows: list[Source]
    """Where they stand; the one that is scored first."""
    models: list[str] = []
    """The models that answered, where they are several: then the rows are of several runs."""


class Resolution(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Which rows count."""

    kept: Ints
    """Rows that are scored, in file order."""
    repeat: Ints
    """Per row of the input: its attempt, renumbered where `all` keeps several."""
    duplicates: list[Duplicate]
    """What was found."""
    surplus: int
    """Rows that are not scored."""


def resolve(
    rows: Rows, keys: Keys, files: list[str], *, policy: Policy, scored: npt.NDArray[np.bool_], read: ReadRows
) -> Resolution:
    """Applies a policy to rows that share a key; rows without a key are not kept."""
    keep = keys.task >= 0
    found: list[Duplicate] = []
    groups = same_keys(keys)
    digests = {row: digest(data) for row, data in read(row for group in groups for row in group)}
    surplus: list[int] = []
    for group in groups:
        distinct = distinct_rows(group, digests)
        key = citation(keys.tasks[int(keys.task[group[0]])], int(keys.repeat[group[0]]))
        if len(distinct) > 1 and policy == "error":
            raise ProblemsFound(
                f"{key}: {len(distinct)} rows with this key disagree; choose --duplicates first, last or all."
            )
        chosen = choose(distinct, policy, scored)
        keep[[row for row in group if row not in chosen]] = False
        surplus += chosen[1:]
        ordered = [*chosen, *(row for row in group if row not in chosen)]
        kind: Literal["identical", "conflicting"] = "conflicting" if len(distinct) > 1 else "identical"
        places = [source_of(rows, row, files) for row in ordered]
        found.append(Duplicate(rollout=key, kind=kind, rows=places, models=models_of(rows, distinct)))
    kept = np.flatnonzero(keep)
    left = int((keys.task >= 0).sum() - len(kept))
    return Resolution(kept=kept, repeat=renumbered(keys, surplus), duplicates=found, surplus=left)


def models_of(rows: Rows, group: list[int]) -> list[str]:
    """The models that some rows are of, if they are of several."""
    column = rows.column(*MODEL_FIELDS)
    models = {level_text(model) for row in group if (model := column.at(row)) is not None}
    return sorted(models) if len(models) > 1 else []


def same_keys(keys: Keys) -> list[list[int]]:
    """Groups of rows that share task and repeat, each in file order."""
    order = np.lexsort((np.arange(len(keys.task)), keys.repeat, keys.task))
    task, repeat = keys.task[order], keys.repeat[order]
    same = (task[1:] == task[:-1]) & (repeat[1:] == repeat[:-1]) & (task[1:] >= 0)
    groups: list[list[int]] = []
    for index in np.flatnonzero(same).tolist():
        first, second = int(order[index]), int(order[index + 1])
        if groups and groups[-1][-1] == first:
            groups[-1].append(second)
        else:
            groups.append([first, second])
    return groups


def distinct_rows(group: list[int], digests: dict[int, bytes]) -> list[int]:
    """One row for each different content, in file order."""
    seen: dict[bytes, int] = {}
    for row in group:
        seen.setdefault(digests[row], row)
    return list(seen.values())


def digest(data: bytes) -> bytes:
    """A hash of what a row says, whatever its key order and white space."""
    with contextlib.suppress(BadRow, RecursionError, ValueError):
        data = msgspec.json.encode(decode_any(data), order="deterministic")
    return hashlib.blake2b(data, digest_size=16).digest()


def choose(distinct: list[int], policy: Policy, scored: npt.NDArray[np.bool_]) -> list[int]:
    """The rows that count; one without a score only where no row of its key has one."""
    if policy == "all":
        return distinct
    ranked = [row for row in distinct if scored[row]] or distinct
    return [ranked[-1] if policy == "last" else ranked[0]]


def renumbered(keys: Keys, surplus: list[int]) -> Ints:
    """Attempt numbers in which every row of `surplus` has one that nobody else of its task has."""
    repeat = keys.repeat.copy()
    last = np.full(len(keys.tasks), -1, dtype=np.int64)
    np.maximum.at(last, keys.task[keys.task >= 0], repeat[keys.task >= 0])
    for row in surplus:
        task = int(keys.task[row])
        last[task] += 1
        repeat[row] = last[task]
    return repeat


ROLLOUT_FIELDS = ("response.id", "response.created_at", "response_id", "created_at")
"""Fields that differ between any two rollouts: rows that agree even in these are one rollout written twice."""


def merge_copies(rows: Rows, keys: Keys, *, read: ReadRows) -> Keys:
    """Keys in which copies of one rollout share an attempt; for rows numbered by occurrence."""
    alike = same_length(rows, keys)
    first = np.arange(len(rows))
    seen: dict[tuple[int, bytes], int] = {}
    digests = {row: rollout_digest(data) for row, data in read(alike)}
    for row in alike:
        if (mark := digests[row]) is not None:
            first[row] = seen.setdefault((int(keys.task[row]), mark), row)
    if (first == np.arange(len(rows))).all():
        return keys
    repeat = keys.repeat.copy()
    distinct = np.flatnonzero(first == np.arange(len(rows)))
    repeat[distinct] = by_occurrence(keys.task[distinct])
    return Keys(tasks=keys.tasks, task=keys.task, repeat=repeat[first])


def same_length(rows: Rows, keys: Keys) -> list[int]:
    """Rows that have as many bytes as another row of their task, in file order: only these can be copies."""
    order = np.lexsort((rows.length, keys.task))
    task, length = keys.task[order], rows.length[order]
    same = (task[1:] == task[:-1]) & (length[1:] == length[:-1]) & (task[1:] >= 0)
    mask = np.zeros(len(rows), dtype=bool)
    mask[order[1:][same]] = mask[order[:-1][same]] = True
    return [int(row) for row in np.flatnonzero(mask)]


def rollout_digest(data: bytes) -> bytes | None:
    """A hash of what a row says if it carries what only one rollout can have."""
    try:
        record = decode_any(data)
    except BadRow:
        return None
    return digest(data) if any(value_at(record, path) for path in ROLLOUT_FIELDS) else None
