"""Which task a row belongs to, and which attempt at it this is.

The format's own indices when rows have both; else a stable id field; else a hash of the prompt, with repeats
numbered by occurrence. The choice is made once for all rows, told in words, and can be overridden.
"""

import difflib
import re
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from blade.errors import UsageError
from blade.rollouts.columns import Column, level_text
from blade.rollouts.formats import Format
from blade.rollouts.rows import Ints, Rows
from blade.rollouts.scan import INPUT_HASH

MOSTLY = 0.9
"""A field is taken as identity when at least this share of the rows has it; the rest become bad lines."""
PER_ROLLOUT = frozenset({"id", "uuid"})
"""Names that may number rollouts instead of tasks: believed only if rows with the same prompt share them."""


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """How rows were given their keys."""

    scheme: Literal["indices", "field", "input_hash", "row"]
    """Which of the ways was taken."""
    task_field: str
    """The field that names the task."""
    repeat_field: str | None
    """The field that numbers attempts; `None` when they are numbered by occurrence."""

    @property
    def sentence(self) -> str:
        """The choice in words."""
        repeats = f"repeats by `{self.repeat_field}`" if self.repeat_field else "repeats by order of occurrence"
        if self.scheme == "input_hash":
            return f"tasks by a hash of the prompt (rows carry no task id), {repeats}"
        if self.scheme == "row":
            return "every row its own task (rows carry neither a task id nor a prompt)"
        return f"tasks by `{self.task_field}`, {repeats}"


class Keys(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Task and repeat of every row."""

    tasks: list[str]
    """Task keys in natural order."""
    task: Ints
    """Per row: index into `tasks`, -1 when the row has no key."""
    repeat: Ints
    """Per row: which attempt it is."""


def choose_identity(
    rows: Rows, form: Format, *, task_field: str | None = None, repeat_field: str | None = None
) -> Identity:
    """The identity of these rows; fields the user names are taken as they are."""
    for name in (task_field, repeat_field):
        if name is not None:
            require_field(rows, name)
    if task_field is None and form.indices and all(share_known(rows, path) >= MOSTLY for path in form.indices):
        return Identity(scheme="indices", task_field=form.indices[0], repeat_field=repeat_field or form.indices[1])
    repeat = repeat_field or next((p for p in form.repeat_fields if share_known(rows, p) >= MOSTLY), None)
    task = task_field or next((p for p in form.task_fields if is_stable_id(rows, p)), None)
    if task is not None:
        return Identity(scheme="field", task_field=task, repeat_field=repeat if repeat != task else None)
    if share_known(rows, INPUT_HASH) >= MOSTLY:
        return Identity(scheme="input_hash", task_field=INPUT_HASH, repeat_field=repeat)
    return Identity(scheme="row", task_field="row", repeat_field=None)


def require_field(rows: Rows, path: str) -> None:
    """A field the user named must exist in at least one row."""
    if path in rows.columns:
        return
    fields = [name for name in rows.columns if name != INPUT_HASH]
    close = difflib.get_close_matches(path, fields, n=3) or fields[:8]
    raise UsageError(f"no row has a field {path!r}; fields there are: {', '.join(close)}.")


def share_known(rows: Rows, path: str) -> float:
    column = rows.columns.get(path)
    return 0.0 if column is None or not len(rows) else float(column.known().mean())


def is_stable_id(rows: Rows, path: str) -> bool:
    """Whether a field names tasks: nearly every row has it, and attempts at one task share it."""
    if share_known(rows, path) < MOSTLY or rows.columns[path].kind == "list":
        return False
    if path not in PER_ROLLOUT or INPUT_HASH not in rows.columns:
        return True
    ids, prompts = rows.columns[path].coded(), rows.columns[INPUT_HASH]
    both = ids.known() & prompts.known()
    pairs = np.unique(np.stack([prompts.values[both], ids.values[both]]), axis=1)
    return len(pairs[0]) == len(np.unique(pairs[0]))


def assign_keys(rows: Rows, identity: Identity) -> Keys:
    """Task and repeat of every row under an identity."""
    if identity.scheme == "row":
        tasks = [str(number) for number in range(len(rows))]
        return Keys(tasks=tasks, task=np.arange(len(rows)), repeat=np.zeros(len(rows), dtype=np.int64))
    codes, texts = task_codes(rows.columns[identity.task_field])
    if identity.repeat_field is None:
        repeat = by_occurrence(codes)
    else:
        repeat = repeat_numbers(rows.columns[identity.repeat_field], codes)
        codes = np.where(repeat < 0, -1, codes)
    return Keys(tasks=texts, task=codes, repeat=repeat)


def task_codes(column: Column) -> tuple[Ints, list[str]]:
    """Per row: index of its task among the sorted task keys; equal texts are one task."""
    coded = column.coded()
    texts = [level_text(level) for level in coded.levels]
    ordered = sorted(set(texts), key=natural_key)
    position = {text: index for index, text in enumerate(ordered)}
    table = np.asarray([*(position[text] for text in texts), -1], dtype=np.int64)
    return table[coded.values], ordered


def natural_key(text: str) -> list[tuple[int, int, str]]:
    """Sorts `task-2` before `task-10`."""
    parts = re.split(r"(\d+)", text)
    return [(0, int(p), "") if p.isdecimal() and len(p) < 4000 else (1, 0, p) for p in parts if p] + [(2, 0, text)]


def by_occurrence(codes: Ints) -> Ints:
    """0, 1, 2 ... per task, in row order."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(ordered) else np.empty(0, np.int64)
    counts = np.diff(np.r_[starts, len(ordered)])
    ranks = np.arange(len(ordered)) - np.repeat(starts, counts)
    out = np.empty(len(codes), dtype=np.int64)
    out[order] = ranks
    return out


def repeat_numbers(column: Column, codes: Ints) -> Ints:
    """Per row: the attempt's number; -1 where unknown. Names instead of numbers are ranked within their task."""
    numbers = column.numbers() if column.kind == "number" else None
    if numbers is not None:
        whole = np.isnan(numbers) | ((numbers >= 0) & (numbers == np.floor(numbers)))
        if whole.all():
            return np.where(np.isnan(numbers), -1, np.nan_to_num(numbers)).astype(np.int64)
    return ranks_within(codes, column.coded().values)


def ranks_within(codes: Ints, values: npt.NDArray[np.int32]) -> Ints:
    seen: dict[int, dict[int, int]] = {}
    out = np.full(len(codes), -1, dtype=np.int64)
    for row, (task, value) in enumerate(zip(codes.tolist(), values.tolist(), strict=True)):
        if value >= 0:
            known = seen.setdefault(task, {})
            out[row] = known.setdefault(value, len(known))
    return out


def unkeyed_reason(rows: Rows, row: int, identity: Identity) -> str:
    """Why a row has no key."""
    task = rows.columns[identity.task_field].at(row)
    missing = identity.task_field if task is None else identity.repeat_field
    return f"has no {missing}, which identifies the rows of this file"


def join_keys(first: Keys, second: Keys) -> Keys:
    """Keys of rows that follow one another."""
    tasks = sorted({*first.tasks, *second.tasks}, key=natural_key)
    position = {task: index for index, task in enumerate(tasks)}
    codes = [np.asarray([*(position[t] for t in k.tasks), -1], dtype=np.int64)[k.task] for k in (first, second)]
    return Keys(tasks=tasks, task=np.concatenate(codes), repeat=np.concatenate([first.repeat, second.repeat]))
