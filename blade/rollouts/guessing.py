"""What is guessed about records in no known format: said when it is clear, asked when it is not.

A guess is clear when one field can be the score and nothing but a repeat tells the rows of a task apart. Everything
else stops with the commands that would settle it.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from blade.errors import Choice, Unclear
from blade.rollouts.columns import Column
from blade.rollouts.crossing import LEAST_TASKS, MOSTLY, counted_pairs, is_crossed, is_shared, mixes
from blade.rollouts.documents import jq, jq_path
from blade.rollouts.formats import Format
from blade.rollouts.grouping import ReadOptions
from blade.rollouts.guessed_score import check_score, check_total
from blade.rollouts.identity import Identity, Keys, numbers_attempts, own_fields
from blade.rollouts.outcome import as_scores
from blade.rollouts.rows import MODEL_FIELDS, Rows
from blade.rollouts.scan import INPUT_HASH
from blade.rollouts.where import literal, where_name

ENDS_IN_ID = re.compile(r"(?:^|[^A-Za-z])(?:id|ID)$|[a-z]I[dD]$")


def guesses(
    rows: Rows,
    form: Format,
    identity: Identity,
    reward: str | None,
    options: ReadOptions,
    path: Path,
    first: dict[str, Any],
    keys: Keys,
) -> list[str]:
    """What was guessed and what else was possible, in words.

    Args:
        keys: those that the identity gives the rows.
        first: the first of the rows, decoded in full.

    Raises:
        UsageError: the score or the repeats are not clear.
        InputError: the records have no field with a single value.
    """
    if options.reward_field is None and options.score is None:
        check_score(rows, form, reward, options, path, first)
        check_total(rows, identity, reward, path)
    if options.task_field is None:
        check_task(rows, form, identity, reward, path, keys)
    if options.repeat_field is None and not options.group_by:
        check_repeats(rows, form, identity, reward, path, keys)
    said: list[str] = []
    if options.task_field is None:
        others = [name for name in form.task_fields if name in rows.columns and name != identity.task_field]
        if identity.scheme == "row":
            others = [name for name in own_fields(rows) if name != reward and names_rows(rows.columns[name])]
        said.append(identity.sentence + also(others[:3], "--task-field"))
    elif options.repeat_field is None:
        said.append(identity.sentence)
    if options.reward_field is None and options.score is None and reward is not None:
        others = [name for name in form.reward_fields if name in rows.columns and name != reward]
        said.append(f"score `{reward}`" + also(others[:3], "--reward-field"))
    return said


def also(others: Sequence[str], option: str) -> str:
    return f" (also possible with {option}: {', '.join(others)})" if others else ""


def names_rows(column: Column) -> bool:
    """Whether a field is another text in every row."""
    return column.kind == "text" and bool(column.known().all()) and len(np.unique(column.values)) == len(column.values)


def check_task(rows: Rows, form: Format, identity: Identity, reward: str | None, path: Path, keys: Keys) -> None:
    """Stops when rows of one id were all asked something else, or when rows without a task may be no rollouts.

    Raises:
        UsageError: what the task is must be said.
    """
    if identity.scheme == "field" and INPUT_HASH in rows.columns and form.input_field != identity.task_field:
        counts = counted_pairs(keys.task, rows.columns[INPUT_HASH])
        several = counts[:, 0] > 1
        if several.sum() >= LEAST_TASKS and (counts[several, 0] == counts[several, 1]).mean() >= MOSTLY:
            raise Unclear(
                f"{path}: rows that share `{identity.task_field}` were each asked something else; say what a task is:",
                path,
                [
                    Choice("--task-field", str(form.input_field), "what was asked"),
                    Choice("--task-field", identity.task_field, "the prompts are versions of one task"),
                ],
            )
    if identity.scheme != "row":
        return
    fields = [name for name in own_fields(rows) if name != reward]
    shared = next((name for name in fields if ENDS_IN_ID.search(name) and is_shared(rows.columns[name])), None)
    if shared is not None:
        raise Unclear(
            f"{path}: rows share `{shared}`, and nothing says whether they are attempts at one task or steps of one "
            "attempt. Say which:",
            path,
            [
                Choice("--task-field", shared, "attempts at one task"),
                Choice(jq("group_by(" + jq_path(shared) + ")[] | last", path, slurp=True), meaning="steps; the last"),
            ],
        )
    if (pair := numbered_attempts(rows, fields)) is not None:
        raise Unclear(
            f"{path}: `{pair[1]}` counts the rows that share `{pair[0]}`, as one counts attempts at a task. Say what "
            "names the task:",
            path,
            [Choice("--task-field", name) for name in pair],
        )
    kinds = {rows.columns[name].kind for name in fields}
    if fields and kinds == {"number"} and (rows.fact("items") <= 0).all():
        raise Unclear(
            f"{path}: rows hold nothing but numbers ({', '.join(fields[:4])}), as the log of a training run does. "
            "If each is a rollout, say what names its task:",
            path,
            [Choice("--task-field", name) for name in fields[:2]],
        )


def numbered_attempts(rows: Rows, fields: Sequence[str]) -> tuple[str, str] | None:
    """A field that rows share, and one that counts from 0 or 1 the rows of each of its values."""
    for number in (name for name in fields if rows.columns[name].kind == "number"):
        values = rows.columns[number].numbers()
        counted = np.unique(values)
        if not 1 < len(counted) < len(values) or counted[0] not in (0, 1) or set(np.diff(counted)) != {1.0}:
            continue
        for name in (name for name in fields if name != number and is_shared(rows.columns[name])):
            task = rows.columns[name].coded().values.astype(np.int64)
            counts = counted_pairs(task, rows.columns[number])
            if (counts[:, 0] == counts[:, 1]).all() and is_crossed(rows.columns[number], task, None):
                return name, number
    return None


def check_repeats(rows: Rows, form: Format, identity: Identity, reward: str | None, path: Path, keys: Keys) -> None:
    """Stops when the rows of a task differ in a field that may not number repeats: a filter, a prompt, a system."""
    repeats = keys.repeat if identity.repeat_field else None
    numbering = (name for name in form.repeat_fields if numbers_attempts(rows, name))
    taken = (identity.task_field, identity.repeat_field, reward, *numbering)
    crossed = [
        name
        for name, column in rows.columns.items()
        if name not in taken
        and (is_crossed(column, keys.task, repeats) or (name in MODEL_FIELDS and mixes(column, keys.task, repeats)))
    ]
    if not crossed:
        return
    name = crossed[0]
    levels = rows.columns[name].coded().levels
    shown = ", ".join(map(str, levels[:4])) + (" …" if len(levels) > 4 else "")
    scored = np.ones(len(rows), bool) if reward is None else ~np.isnan(as_scores(rows.columns[reward]).numbers())
    codes = rows.columns[name].coded().values
    counts = np.bincount(codes[(codes >= 0) & scored], minlength=len(levels))
    most = literal(levels[int(counts.argmax())])
    raise Unclear(
        f"{path}: the rows of a task differ in `{name}` ({shown}), whose values may be runs, looks at the same "
        "attempt, or repeats. Say what they are:",
        path,
        [
            Choice("--group-by", name, "every value is a run of its own"),
            Choice("--where", f"{where_name(name)} == {most}", "only these rows count"),
            Choice("--repeat-field", name, "they are repeats"),
        ],
    )
