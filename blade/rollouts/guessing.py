"""What is guessed about records in no known format: said when it is clear, asked when it is not.

A guess is clear when one field can be the score and nothing but a repeat tells the rows of a task apart. Everything
else stops with the commands that would settle it.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from blade.errors import InputError, UsageError
from blade.rollouts.columns import Column
from blade.rollouts.formats import Format
from blade.rollouts.grouping import ReadOptions
from blade.rollouts.identity import Identity, assign_keys, own_fields
from blade.rollouts.outcome import as_scores
from blade.rollouts.rows import Ints, Rows

MOSTLY = 0.9
MOST_LEVELS = 50
"""Values of a field that tells variants apart, at most."""
LEAST_TASKS = 3
"""Tasks with several rows before a pattern in them says anything."""
MOST_WORDS = 8
NUMBERS = ("number", "flag")


def guesses(
    rows: Rows, form: Format, identity: Identity, reward: str | None, options: ReadOptions, path: Path
) -> list[str]:
    """What was guessed and what else was possible, in words.

    Raises:
        UsageError: the score or the repeats are not clear.
        InputError: the records have no field with a single value.
    """
    if options.reward_field is None and options.score is None:
        check_score(rows, form, reward, options, path)
    if options.repeat_field is None and not options.group_by:
        check_repeats(rows, form, identity, reward, path)
    said: list[str] = []
    if options.task_field is None:
        others = [name for name in form.task_fields if name in rows.columns and name != identity.task_field]
        said.append(identity.sentence + also(others[:3], "--task-field"))
    elif options.repeat_field is None:
        said.append(identity.sentence)
    if options.reward_field is None and options.score is None and reward is not None:
        others = [name for name in form.reward_fields if name in rows.columns and name != reward]
        said.append(f"score `{reward}`" + also(others[:3], "--reward-field"))
    return said


def also(others: Sequence[str], option: str) -> str:
    return f" (also possible with {option}: {', '.join(others)})" if others else ""


def check_score(rows: Rows, form: Format, reward: str | None, options: ReadOptions, path: Path) -> None:
    """Stops when no field, or more than one, can be the score, or when the score is a word."""
    if reward is None:
        if set(options.fields) & rows.columns.keys():
            return  # a rule reads the verdict from another field
        raise no_score(rows, path)
    words = score_words(rows.columns[reward], options.true_words)
    if words and reward not in options.fields:
        raise UsageError(
            f"{path}: the score `{reward}` is a word ({', '.join(words)}); say which words mean success:"
            f"\n  blade diagnose {path} --true-words {quoted(words[0])}"
            f"\n  blade diagnose {path} --success '{reward} == {words[0]}'"
        )
    if reward == form.reward_fields[0]:
        return
    rivals = [name for name in form.reward_fields if name in rows.columns and disagrees(rows, name, reward)]
    if rivals:
        names = [reward, *rivals[:2]]
        commands = "".join(f"\n  blade diagnose {path} --reward-field {name}" for name in names)
        raise UsageError(
            f"{path}: {' and '.join(names)} can each be the score and disagree; say which one is:{commands}"
        )


def no_score(rows: Rows, path: Path) -> UsageError | InputError:
    """What to do about records without a score."""
    fields = own_fields(rows)
    if not fields:
        return InputError(f"{path}: no score found in these records: no field of theirs holds a single value.")
    likely = [name for name in fields if rows.columns[name].kind in NUMBERS and varies(rows.columns[name])]
    likely = sorted(likely, key=lambda name: rows.columns[name].kind != "flag")[:3]
    commands = "".join(f"\n  blade diagnose {path} --reward-field {name}" for name in likely)
    there = f"fields there are: {', '.join(fields[:8])}"
    return UsageError(f"{path}: no score found in these records; name it with --reward-field ({there}).{commands}")


def varies(column: Column) -> bool:
    known = column.values[column.known()]
    return len(known) > 0 and bool((known != known[0]).any())


def score_words(column: Column, given: Sequence[str]) -> list[str]:
    """The words a score is made of, most frequent first, when nearly all of it is words; none otherwise."""
    if given or column.kind in NUMBERS:
        return []
    scores = as_scores(column)
    worded = scores.known() & np.isnan(scores.numbers())
    if worded.sum() < MOSTLY * max(int(scores.known().sum()), 1):
        return []
    codes, counts = np.unique(scores.values[worded], return_counts=True)
    order = codes[np.argsort(-counts, kind="stable")].tolist()
    return [str(scores.levels[code])[:40] for code in order[:MOST_WORDS]]


def disagrees(rows: Rows, name: str, reward: str) -> bool:
    """Whether a field is a score that judges some row differently."""
    one, other = (as_scores(rows.columns[field]).numbers() for field in (name, reward))
    both = ~np.isnan(one) & ~np.isnan(other)
    return name != reward and bool(both.any()) and bool((one[both] != other[both]).any())


def check_repeats(rows: Rows, form: Format, identity: Identity, reward: str | None, path: Path) -> None:
    """Stops when the rows of a task differ in a field that may not number repeats: a filter, a prompt, a system."""
    keys = assign_keys(rows, identity)
    crossed = [
        name
        for name, column in rows.columns.items()
        if name not in (identity.task_field, identity.repeat_field, reward)
        and name not in form.repeat_fields
        and is_crossed(column, keys.task, keys.repeat if identity.repeat_field else None)
    ]
    if not crossed:
        return
    name = crossed[0]
    levels = rows.columns[name].coded().levels
    shown = ", ".join(map(str, levels[:4])) + (" …" if len(levels) > 4 else "")
    raise UsageError(
        f"{path}: nearly every task has one row for each value of `{name}` ({shown}), which may be runs, looks at the "
        "same attempt, or repeats. Say what they are:"
        f"\n  blade diagnose {path} --group-by {name}    # every value is a run of its own"
        f"\n  blade diagnose {path} --where '{name} == {literal(levels[0])}'    # only these rows count"
        f"\n  blade diagnose {path} --repeat-field {name}    # they are repeats"
    )


def literal(level: object) -> str:
    return f'"{level}"' if isinstance(level, str) else str(level)


def is_crossed(column: Column, task: Ints, repeat: Ints | None) -> bool:
    """Whether nearly every task with several rows has each value of a field equally often.

    With numbered repeats, only rows that claim the same repeat are told apart.
    """
    if column.kind == "list":
        return False
    coded = column.coded()
    used = np.unique(coded.values[coded.values >= 0])
    if not 2 <= len(used) <= MOST_LEVELS:
        return False
    groups = task if repeat is None else np.unique(np.stack([task, repeat]), axis=1, return_inverse=True)[1].ravel()
    rows = np.flatnonzero(task >= 0)
    groups, codes = groups[rows], coded.values[rows]
    values = np.where(codes >= 0, np.searchsorted(used, codes), len(used))
    counts = np.zeros((int(groups.max(initial=0)) + 1, len(used) + 1), dtype=np.int64)
    np.add.at(counts, (groups, values), 1)
    several = counts.sum(axis=1) > 1
    if several.sum() < LEAST_TASKS:
        return False
    even = (counts[:, : len(used)] == counts[:, :1]).all(axis=1) & (counts[:, -1] == 0)
    return bool(even[several].mean() >= MOSTLY)


def quoted(word: str) -> str:
    return word if word.isalnum() else f"'{word}'"
