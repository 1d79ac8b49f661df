"""What is guessed about records in no known format: said when it is clear, asked when it is not.

A guess is clear when one field can be the score and nothing but a repeat tells the rows of a task apart. Everything
else stops with the commands that would settle it.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from blade.errors import Choice, InputError, Unclear, UsageError
from blade.rollouts.columns import Column
from blade.rollouts.documents import jq, jq_path, reshaping
from blade.rollouts.formats import Format, bare, json_tables
from blade.rollouts.formats.reader import Probe
from blade.rollouts.grouping import ReadOptions
from blade.rollouts.identity import FEW, Identity, assign_keys, choose_identity, numbers_attempts, own_fields
from blade.rollouts.outcome import as_scores
from blade.rollouts.rows import MODEL_FIELDS, Ints, Rows
from blade.rollouts.scan import INPUT_HASH
from blade.rollouts.table import Floats

MOSTLY = 0.9
MOST_LEVELS = 50
"""Values of a field that tells variants apart, at most."""
SURE_PAIRS = 5.0
"""Pairs of rows expected to share a value by chance; that none does is then no chance."""
LEAST_TASKS = 3
"""Tasks with several rows before a pattern in them says anything."""
LEAST_SUMMED = 5
"""Scores before a last one, for that to be their sum or mean and not one of them by chance."""
MOST_SCORE_DIGITS = 2
"""Decimals that scores may share with a mean by chance."""
BINARY = 2
MOST_TOTALS = 3
"""Rows with totals that a table may have at one end."""
MOST_WORDS = 8
MOST_OFFERED = 3
ENDS_IN_ID = re.compile(r"(?:^|[^A-Za-z])(?:id|ID)$|[a-z]I[dD]$")
Record = dict[str, Any]
ID_LIKE = 100
"""Whole numbers above this, another one in every row, may be ids."""
NUMBERS = ("number", "flag")
DECIMAL_COMMA = re.compile(r"-?\d+,\d+")


def guesses(
    rows: Rows, form: Format, identity: Identity, reward: str | None, options: ReadOptions, path: Path, first: Record
) -> list[str]:
    """What was guessed and what else was possible, in words.

    Args:
        first: the first of the rows, decoded in full.

    Raises:
        UsageError: the score or the repeats are not clear.
        InputError: the records have no field with a single value.
    """
    if options.reward_field is None and options.score is None:
        check_score(rows, form, reward, options, path, first)
        check_total(rows, identity, reward, path)
    if options.task_field is None:
        check_task(rows, form, identity, reward, path)
    if options.repeat_field is None and not options.group_by:
        check_repeats(rows, form, identity, reward, path)
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


def check_score(rows: Rows, form: Format, reward: str | None, options: ReadOptions, path: Path, first: Record) -> None:
    """Stops when no field, or more than one, can be the score."""
    if reward is None:
        if set(options.fields) & rows.columns.keys():
            return  # a rule reads the verdict from another field
        raise no_score(rows, form, options, path, first)
    check_scale(rows, reward, path)
    if reward == form.reward_fields[0]:
        return
    rivals = [name for name in form.reward_fields if name in rows.columns and disagrees(rows, name, reward)]
    if rivals:
        names = [reward, *rivals[:2]]
        raise Unclear(
            f"{path}: {' and '.join(names)} can each be the score and disagree; say which one is:",
            path,
            [Choice("--reward-field", name) for name in names],
        )


def check_scale(rows: Rows, reward: str, path: Path) -> None:
    """Stops when a score looks like points out of another field, or like a number that names its row.

    Raises:
        UsageError: what the score is must be said.
    """
    scores = as_scores(rows.columns[reward]).numbers()
    known = scores[~np.isnan(scores)]
    if not len(known) or known.max() <= 1:
        return
    most = next((name for name in own_fields(rows) if is_ceiling(rows, name, reward, scores)), None)
    if most is not None:
        raise Unclear(
            f"{path}: the score `{reward}` is never above `{most}`, which may be full marks; say what counts:",
            path,
            [
                Choice("--reward-field", f"{reward}/{most}", "the share of full marks"),
                Choice("--reward-field", reward, "the points"),
            ],
        )
    distinct = len(known) >= LEAST_TASKS and len(np.unique(known)) == len(known)
    if distinct and known.min() > ID_LIKE and (known == np.floor(known)).all():
        raise Unclear(
            f"{path}: the score `{reward}` is another whole number in every row ({known[0]:.0f}, {known[1]:.0f}, …), "
            "as an id is; if it is the score, say so:",
            path,
            [Choice("--reward-field", reward)],
        )


def is_ceiling(rows: Rows, name: str, reward: str, scores: Floats) -> bool:
    """Whether a field named after the score is a number no score exceeds."""
    if name == reward or bare(reward) not in bare(name) or rows.columns[name].kind not in NUMBERS:
        return False
    most = rows.columns[name].numbers()
    both = ~np.isnan(most) & ~np.isnan(scores)
    return bool(both.any()) and bool((most[both] >= scores[both]).all()) and bool((most[both] > scores[both]).any())


def check_total(rows: Rows, identity: Identity, reward: str | None, path: Path) -> None:
    """Stops when rows at the end or the beginning of a file begin with the sum or the mean of the others' scores.

    Raises:
        UsageError: whether those rows count must be said.
    """
    if reward is None:
        return
    scores = as_scores(rows.columns[reward]).numbers()
    for file in np.unique(rows.file):
        own = np.flatnonzero((rows.file == file) & ~np.isnan(scores))
        found = next((hit for order in (own, own[::-1]) if (hit := totals(order, scores)) is not None), None)
        if found is None:
            continue
        kind, summed = found
        named = identity.scheme == "field" and rows.columns[identity.task_field].known()[summed].all()
        field = identity.task_field if named else reward
        levels = [literal(rows.columns[field].at(row)) for row in summed]
        others = f"!= {levels[0]}" if len(levels) == 1 else f"not in ({', '.join(levels)})"
        raise Unclear(
            f"{path}: the score of row {summed[0] + 1} ({field} {levels[0]}) is the {kind} of all others, as in a "
            "total; say whether it counts:",
            path,
            [
                Choice("--where", f"{where_name(field)} {others}", "it is a total"),
                Choice("--reward-field", reward, "it is a rollout like the others"),
            ],
        )


def totals(order: Ints, scores: Floats) -> tuple[str, list[int]] | None:
    """The last few of some rows, if the first of them has the sum or the mean of all before; and which it is."""
    for size in range(1, MOST_TOTALS + 1):
        kind = total_kind(scores[order[: len(order) - size + 1]])
        if kind is not None:
            return kind, order[len(order) - size :].tolist()
    return None


def total_kind(scores: Floats) -> str | None:
    """Whether the last of some scores is the sum or the mean of the others, and hardly by chance."""
    others, last = scores[:-1], float(scores[-1]) if len(scores) else 0.0
    if len(others) < LEAST_SUMMED or last in others:
        return None
    if last > others.max() and np.isclose(last, others.sum(), rtol=1e-6):
        return "sum"
    digits = len(repr(last).partition(".")[2])
    rounding = 0.5 * 10.0**-digits if digits > 1 else 0.0
    is_mean = abs(last - others.mean()) <= rounding + 1e-9
    return "mean" if is_mean and (digits > MOST_SCORE_DIGITS or len(np.unique(others)) <= BINARY) else None


def check_task(rows: Rows, form: Format, identity: Identity, reward: str | None, path: Path) -> None:
    """Stops when rows of one id were all asked something else, or when rows without a task may be no rollouts.

    Raises:
        UsageError: what the task is must be said.
    """
    if identity.scheme == "field" and INPUT_HASH in rows.columns and form.input_field != identity.task_field:
        counts = counted_pairs(assign_keys(rows, identity).task, rows.columns[INPUT_HASH])
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
    kinds = {rows.columns[name].kind for name in fields}
    if fields and kinds == {"number"} and (rows.fact("items") <= 0).all():
        raise Unclear(
            f"{path}: rows hold nothing but numbers ({', '.join(fields[:4])}), as the log of a training run does. "
            "If each is a rollout, say what names its task:",
            path,
            [Choice("--task-field", name) for name in fields[:2]],
        )


def is_shared(column: Column) -> bool:
    """Whether most rows have another row with the same value, and there are several values."""
    coded = column.coded()
    _, counts = np.unique(coded.values[coded.known()], return_counts=True)
    return len(counts) >= LEAST_TASKS and int(counts[counts > 1].sum()) > len(column.values) / 2


def counted_pairs(task: Ints, column: Column) -> Ints:
    """Per task: its rows that have a value in a column, and how many values these are."""
    coded = column.coded()
    both = (task >= 0) & coded.known()
    size = int(task.max(initial=-1)) + 1
    pairs = np.unique(np.stack([task[both], coded.values[both]]), axis=1)
    return np.stack([np.bincount(task[both], minlength=size), np.bincount(pairs[0], minlength=size)], axis=1)


def no_score(rows: Rows, form: Format, options: ReadOptions, path: Path, first: Record) -> UsageError | InputError:
    """What to do about records without a score: fields called after one are offered first, then flags, words that come
    again, and numbers; and how scores in lists become rows of their own."""
    fields = [name for name in own_fields(rows) if name != form.output]
    reshaped = [] if json_tables.recognises(Probe(path)) else reshaping(first, options.records, path)
    if not fields and not reshaped:
        return InputError(f"{path}: no score found in these records: none of their fields holds a single value.")
    taken = {*form.task_fields, *form.repeat_fields, *MODEL_FIELDS}
    identity = choose_identity(rows, form)
    task = assign_keys(rows, identity).task
    ranks = {name: verdict_rank(rows.columns[name], task) for name in fields if name not in taken}
    likely = sorted(
        (name for name, rank in ranks.items() if rank is not None),
        key=lambda name: (not is_named_like_a_score(name, form), ranks[name]),
    )[: MOST_OFFERED - len(reshaped)]
    offered = [Choice("--reward-field", name) for name in likely]
    flags = sum(ranks[name] == 0 for name in likely)
    choices = [*offered[:flags], *reshaped, *offered[flags:]]
    there = f"fields there are: {', '.join([*fields[:12], *([form.output] if form.output else [])])}"
    return Unclear(f"{path}: no score found in these records; name it with --reward-field ({there}).", path, choices)


def is_named_like_a_score(name: str, form: Format) -> bool:
    """Whether a part of a path begins with a usual name of a score: `scores.Factuality`, `correctness`."""
    return any(bare(part).startswith(bare(usual)) for part in name.split(".") for usual in form.reward_fields)


def verdict_rank(column: Column, task: Ints) -> int | None:
    """How likely a field is the verdict, the likeliest 0: a flag, one of a few words, a number; `None` for others,
    such as a number that counts rows and a word that tells the rows of a task apart."""
    coded = column.coded()
    known = coded.values[coded.known()]
    levels = len(np.unique(known))
    if levels < 2 or column.kind == "list":
        return None
    if column.kind in NUMBERS:
        counts = column.kind == "number" and len(known) > LEAST_TASKS and set(np.diff(column.numbers())) == {1.0}
        return None if counts else 0 if column.kind == "flag" else 2
    is_verdict = levels <= MOST_WORDS and levels < len(known) and not is_crossed(column, task, None)
    return 1 if is_verdict else None


def check_words(rows: Rows, reward: str | None, options: ReadOptions, path: Path) -> None:
    """Stops when the score is a word and nobody says which words mean success.

    Raises:
        UsageError: which words mean success must be said.
        InputError: the score is written with a decimal comma.
    """
    words = score_words(rows.columns[reward]) if reward in rows.columns and not options.true_words else []
    if reward is None or not words or reward in options.fields or words[0][0] in "[{":
        return
    if all(map(DECIMAL_COMMA.fullmatch, words)):
        raise InputError(f"{path}: the score `{reward}` is written with a decimal comma ({words[0]}); write a point.")
    plain = [word for word in words if "," not in word][:3]
    raise Unclear(
        f"{path}: the score `{reward}` is a word ({', '.join(words)}); say which words mean success:",
        path,
        [Choice("--true-words", word) for word in plain] or [Choice("--success", f"{reward} == {literal(words[0])}")],
        ["--reward-field", reward] if options.reward_field else [],
    )


def score_words(column: Column) -> list[str]:
    """The words a score is made of, most frequent first, when nearly all of it is words; none otherwise."""
    if column.kind in NUMBERS:
        return []
    scores = as_scores(column)
    worded = scores.known() & np.isnan(scores.numbers())
    if worded.sum() < MOSTLY * max(int(scores.known().sum()), 1):
        return []
    codes, counts = np.unique(scores.values[worded], return_counts=True)
    order = codes[np.argsort(-counts, kind="stable")].tolist()
    return [str(scores.levels[code])[:40] or "''" for code in order[:MOST_WORDS]]


def disagrees(rows: Rows, name: str, reward: str) -> bool:
    """Whether a field is a score that judges some row differently."""
    one, other = (as_scores(rows.columns[field]).numbers() for field in (name, reward))
    both = ~np.isnan(one) & ~np.isnan(other)
    is_rival = name != reward and both.sum() > FEW * (~np.isnan(other)).sum()  # a total's own figure is none
    return bool(is_rival) and bool((one[both] != other[both]).any())


def check_repeats(rows: Rows, form: Format, identity: Identity, reward: str | None, path: Path) -> None:
    """Stops when the rows of a task differ in a field that may not number repeats: a filter, a prompt, a system."""
    keys = assign_keys(rows, identity)
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


def where_name(name: str) -> str:
    """A field as `--where` writes it."""
    return name if all(part.isidentifier() for part in name.split(".")) else f"field({json.dumps(name)})"


def literal(level: object) -> str:
    return json.dumps(level, ensure_ascii=False) if isinstance(level, str) else str(level)


def is_crossed(column: Column, task: Ints, repeat: Ints | None) -> bool:
    """Whether tasks with several rows have each value of a field equally often, or none twice against all odds.

    With numbered repeats, only rows that claim the same repeat are told apart.
    """
    counts = counted_values(column, task, repeat)
    if counts is None or (several := counts.sum(axis=1) > 1).sum() < LEAST_TASKS:
        return False
    even = (counts[:, :-1] == counts[:, :1]).all(axis=1) & (counts[:, -1] == 0)
    if even[several].mean() >= MOSTLY:
        return True
    # With values dealt at random, so many pairs of rows of a task would share one.
    total = counts.sum()
    alike = pairs_in(counts.sum(axis=0)).sum() / pairs_in(total)
    return bool(counts.max() == 1 and alike * pairs_in(counts.sum(axis=1)).sum() >= SURE_PAIRS)


def mixes(column: Column, task: Ints, repeat: Ints | None) -> bool:
    """Whether rows that would be repeats of a task have different values."""
    counts = counted_values(column, task, repeat)
    return counts is not None and bool(((counts[:, :-1] > 0).sum(axis=1) > 1).any())


def pairs_in(count: Any) -> Any:
    return count * (count - 1) / 2


def counted_values(column: Column, task: Ints, repeat: Ints | None) -> Ints | None:
    """How often each task, or each repeat of it, has each value of a field; rows without one come last.

    `None` for a field that cannot tell variants apart.
    """
    if column.kind == "list":
        return None
    coded = column.coded()
    used = np.unique(coded.values[coded.values >= 0])
    if not 2 <= len(used) <= MOST_LEVELS:
        return None
    groups = task if repeat is None else np.unique(np.stack([task, repeat]), axis=1, return_inverse=True)[1].ravel()
    rows = np.flatnonzero(task >= 0)
    groups, codes = groups[rows], coded.values[rows]
    values = np.where(codes >= 0, np.searchsorted(used, codes), len(used))
    counts = np.zeros((int(groups.max(initial=0)) + 1, len(used) + 1), dtype=np.int64)
    np.add.at(counts, (groups, values), 1)
    return counts
