"""Which task a row belongs to, and which attempt at it this is.

The format's own indices when most rows have both; else a stable id field; else a hash of the prompt, with repeats
numbered by occurrence. The choice is made once for all rows, told in words, and can be overridden. A row that lacks
what identifies the others is a bad line.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from string import digits
from typing import Literal

import msgspec
import numpy as np

from blade.errors import UsageError
from blade.rollouts.columns import MAX_TEXT, Column, codes_in, level_text
from blade.rollouts.formats import Format, bare
from blade.rollouts.rows import Ints, Rows
from blade.rollouts.scan import FIRST_TOOL, INPUT_HASH, PROVIDER_ERROR

MOSTLY = 0.9
FEW = 0.1
"""A field is preferred as identity when at least this share of the rows has it."""
HALF = 0.5
"""The format's own indices identify a file when at least this share of its rows has them."""
PER_ROLLOUT = frozenset({"id", "uuid"})
"""Names that may number rollouts instead of tasks: believed only if rows with the same prompt share them."""
PER_RUN = frozenset({"run"})
"""Names that may say which run it is: believed to number attempts if values differ in nothing but a number."""
PER_BENCHMARK = frozenset({"task", "taskname"})
"""Names that may say which benchmark it is: not believed if there is one for many prompts."""

BREAKS = re.compile(r"(?:\r?\n)+")
MADE = frozenset({FIRST_TOOL, INPUT_HASH, PROVIDER_ERROR})
"""Columns no row has a field for."""
LONGEST_REPEAT = 16
LONGEST_NUMBER = 4000  # digits; Python refuses to read longer ones
"""A number with more digits is a name: it would not fit beside a task in a citation anyone reads."""

Scheme = Literal["indices", "field", "input_hash", "row"]


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """How rows were given their keys."""

    scheme: Scheme
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
        if name is not None and not is_hashed(rows, form, name):
            require_field(rows, name)
    if task_field is None and form.indices and all(share_known(rows, path) >= HALF for path in form.indices):
        return Identity(scheme="indices", task_field=form.indices[0], repeat_field=repeat_field or form.indices[1])
    repeat = repeat_field or next((p for p in form.repeat_fields if numbers_attempts(rows, p)), None)
    task = task_field or find_task_field(rows, form)
    if task is None or (task == task_field and is_hashed(rows, form, task)):
        hashed = share_known(rows, INPUT_HASH) >= HALF
        scheme: Scheme = "input_hash" if hashed else "row"
        return Identity(
            scheme=scheme, task_field=INPUT_HASH if hashed else "row", repeat_field=repeat if hashed else None
        )
    named = Identity(scheme="field", task_field=task, repeat_field=repeat if repeat != task else None)
    if repeat_field is None and task_field is not None and collides(rows, named):
        return Identity(scheme="field", task_field=task, repeat_field=None)
    return named


def numbers_attempts(rows: Rows, path: str) -> bool:
    """Whether a field numbers attempts: nearly all rows have it, and it names no runs (`gpt`, `llama`)."""
    if share_known(rows, path) < MOSTLY or bare(path) not in PER_RUN:
        return share_known(rows, path) >= MOSTLY
    return len({re.sub(r"\d+", "", level_text(level)) for level in rows.columns[path].coded().levels}) == 1


def collides(rows: Rows, identity: Identity) -> bool:
    """Whether a repeat field numbers the attempts at other tasks than these: many rows would share a key."""
    keys = assign_keys(rows, identity)
    pairs = np.stack([keys.task, keys.repeat])[:, keys.task >= 0]
    return bool(pairs.shape[1]) and bool(np.unique(pairs, axis=1).shape[1] < (1 - FEW) * pairs.shape[1])


def find_task_field(rows: Rows, form: Format) -> str | None:
    """The field that names the task: nearly every row has it or, when there are no prompts to go by, half of them."""
    fields = [path for path in form.task_fields if path in rows.columns and not is_hashed(rows, form, path)]
    least = HALF if share_known(rows, INPUT_HASH) < HALF else MOSTLY
    for share in (MOSTLY, least):
        found = next((path for path in fields if is_stable_id(rows, path, share=share)), None)
        if found is not None:
            return found
    return None


def is_hashed(rows: Rows, form: Format, path: str) -> bool:
    """Whether a field is the prompt, of which a table holds the first words only: its hash tells tasks apart."""
    if path != form.input_field or INPUT_HASH not in rows.columns:
        return False
    levels = rows.column(path).levels
    return share_known(rows, path) < 1 or any(isinstance(text, str) and len(text) >= MAX_TEXT for text in levels)


def require_field(rows: Rows, path: str) -> None:
    """A field the user named must exist in at least one row."""
    if path in rows.columns:
        return
    raise UsageError(f"no row has a field {path!r}; {near_names(path, own_fields(rows))}")


def near_names(name: str, known: Sequence[str], *, most: int = 12) -> str:
    """What a wrong name may have meant, or else which fields there are, as the end of a sentence."""
    spelled = {other.casefold(): other for other in reversed(known)}
    close = [spelled[other] for other in difflib.get_close_matches(name.casefold(), spelled, n=3)]
    if close:
        return f"did you mean {' or '.join(close)}?"
    rest = f" and {len(known) - most} more" if len(known) > most else ""
    return f"fields there are: {', '.join(known[:most]) or 'none'}{rest}."


def own_fields(rows: Rows) -> list[str]:
    """Fields that rows have themselves."""
    return [name for name in rows.columns if name not in MADE]


def share_known(rows: Rows, path: str) -> float:
    column = rows.columns.get(path)
    return 0.0 if column is None or not len(rows) else float(column.known().mean())


def is_stable_id(rows: Rows, path: str, *, share: float) -> bool:
    """Whether a field names tasks: enough rows have it, and attempts at one task share it."""
    if share_known(rows, path) < share or rows.columns[path].kind == "list":
        return False
    if INPUT_HASH not in rows.columns:
        return True
    ids, prompts = rows.columns[path].coded(), rows.columns[INPUT_HASH]
    both = ids.known() & prompts.known()
    if bare(path) in PER_BENCHMARK:
        return len(np.unique(ids.values[both])) > 1 or len(np.unique(prompts.values[both])) < 2
    if bare(path) not in PER_ROLLOUT:
        return True
    pairs = np.unique(np.stack([prompts.values[both], ids.values[both]]), axis=1)
    return len(pairs[0]) == len(np.unique(pairs[0]))


def assign_keys(rows: Rows, identity: Identity) -> Keys:
    """Task and repeat of every row under an identity."""
    if identity.scheme == "row":
        tasks = [str(number) for number in range(len(rows))]
        return Keys(tasks=tasks, task=np.arange(len(rows)), repeat=np.zeros(len(rows), dtype=np.int64))
    codes, texts = named_tasks(*task_codes(rows.column(identity.task_field), on_one_line))
    if identity.repeat_field is None:
        repeat = by_occurrence(codes)
    else:
        repeat = repeat_numbers(rows.column(identity.repeat_field), codes)
        codes = np.where(repeat < 0, -1, codes)
    return Keys(tasks=texts, task=codes, repeat=repeat)


def named_tasks(codes: Ints, texts: list[str]) -> tuple[Ints, list[str]]:
    """Task codes and keys without blank keys, which name no task."""
    if all(map(str.strip, texts)):
        return codes, texts
    named = [text for text in texts if text.strip()]
    place = {text: index for index, text in enumerate(named)}
    table = np.asarray([*(place.get(text, -1) for text in texts), -1], dtype=np.int64)
    return table[codes], named


def task_codes(column: Column, written: Callable[[list[str]], list[str]] = list) -> tuple[Ints, list[str]]:
    """Per row: index of its task among the sorted task keys as they are written; equal texts are one task."""
    coded = column.coded()
    texts = written([level_text(level) for level in coded.levels])
    ordered = in_natural_order(dict.fromkeys(texts[code] for code in codes_in(coded.values).tolist()))
    if ordered == texts:  # as they came
        return coded.values.astype(np.int64), ordered
    position = {text: index for index, text in enumerate(ordered)}
    table = np.asarray([*(position.get(text, -1) for text in texts), -1], dtype=np.int64)
    return table[coded.values], ordered


def on_one_line(texts: list[str]) -> list[str]:
    """Task keys that can stand in a command: prompts have line breaks, which are spaces unless keys become alike."""
    if not BREAKS.search("".join(texts)):
        return texts
    flat = [BREAKS.sub(" ", text) for text in texts]
    return flat if len(set(flat)) == len(set(texts)) else texts


def in_natural_order(texts: Iterable[str]) -> list[str]:
    """Texts sorted by their `natural_key`, which takes most of the time, so names that end in a number go without."""
    several = list(texts)
    stems = [text.rstrip(digits) for text in several]
    if any(map(re.compile(r"\d").search, set(stems))) or max(map(len, several), default=0) >= LONGEST_NUMBER:
        return sorted(several, key=natural_key)
    ends = (text[len(stem) :] for text, stem in zip(several, stems, strict=True))
    numbers = [int(end) if end else -1 for end in ends]
    return [text for _, _, text in sorted(zip(stems, numbers, several, strict=True))]


def natural_key(text: str) -> list[tuple[int, int, str]]:
    """Sorts `task-2` before `task-10`, and `task` before both."""
    if text.isdecimal() and len(text) < LONGEST_NUMBER:  # most tasks are numbered
        return [(0, int(text), ""), (-1, 0, text)]
    parts = re.split(r"(\d+)", text)
    return [(0, int(p), "") if p.isdecimal() and len(p) < LONGEST_NUMBER else (1, 0, p) for p in parts if p] + [
        (-1, 0, text)
    ]


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
    """Per row: the attempt's number; -1 where unknown. What is no plain number is ranked."""
    coded = column.coded()
    texts = [level_text(level) for level in coded.levels]
    if all(text.isdecimal() and len(text) < LONGEST_REPEAT for text in texts):
        numbers: Ints = np.asarray([*map(int, texts), -1], dtype=np.int64)[coded.values]
        return numbers
    ordered = texts if column.kind == "number" else in_natural_order(set(texts))
    rank = {text: index for index, text in enumerate(ordered)}
    ranks = np.asarray([*(rank[text] for text in texts), -1], dtype=np.int64)[coded.values]
    most = int(np.bincount(codes[codes >= 0], minlength=1).max())
    return ranks if len(ordered) <= most else ranks_within(codes, ranks)


def ranks_within(codes: Ints, ranks: Ints) -> Ints:
    """Ranks counted anew in every task, for names that no two tasks share."""
    out = np.full(len(codes), -1, dtype=np.int64)
    known = np.flatnonzero((codes >= 0) & (ranks >= 0))
    pairs, place = np.unique(np.stack([codes[known], ranks[known]]), axis=1, return_inverse=True)
    starts = np.searchsorted(pairs[0], pairs[0], side="left")
    out[known] = (np.arange(len(starts)) - starts)[place.ravel()]
    return out


def unkeyed_reason(rows: Rows, row: int, identity: Identity) -> str:
    """Why a row has no key."""
    task = rows.column(identity.task_field).at(row)
    missing = identity.task_field if task is None or not level_text(task).strip() else identity.repeat_field
    return f"has no {missing} (or one too long for a key), which identifies the rows of this file"


def join_keys(first: Keys, second: Keys) -> Keys:
    """Keys of rows that follow one another."""
    tasks = in_natural_order({*first.tasks, *second.tasks})
    position = {task: index for index, task in enumerate(tasks)}
    codes = [np.asarray([*(position[t] for t in k.tasks), -1], dtype=np.int64)[k.task] for k in (first, second)]
    return Keys(tasks=tasks, task=np.concatenate(codes), repeat=np.concatenate([first.repeat, second.repeat]))
