"""Which field of records in no known format is the score: said when one can be, asked about when it is not clear."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from blade.errors import Choice, InputError, Unclear, UsageError
from blade.rollouts.columns import Column
from blade.rollouts.crossing import LEAST_TASKS, MOSTLY, is_crossed
from blade.rollouts.documents import reshaping
from blade.rollouts.formats import Format, bare, json_tables
from blade.rollouts.formats.reader import Probe
from blade.rollouts.grouping import ReadOptions
from blade.rollouts.identity import FEW, Identity, assign_keys, choose_identity, own_fields
from blade.rollouts.outcome import as_scores, is_share
from blade.rollouts.rows import MODEL_FIELDS, Ints, Rows
from blade.rollouts.table import Floats
from blade.rollouts.where import literal, where_name

LEAST_SUMMED = 5
"""Scores before a last one, for that to be their sum or mean and not one of them by chance."""
MOST_SCORE_DIGITS = 2
"""Decimals that scores may share with a mean by chance."""
BINARY = 2
MOST_TOTALS = 3
"""Rows with totals that a table may have at one end."""
MOST_WORDS = 8
MOST_OFFERED = 3
ID_LIKE = 100
"""Whole numbers above this, another one in every row, may be ids."""
LEAST_SAMPLES = 2
"""Rollouts that a published mean is made of at least."""
MOST_TEXTS = 2
"""Fields of text that a row of averages has: its task and its model."""
CLOSE = 0.2
"""How far a rounded share of a whole number may be from one and still tell."""
NUMBERS = ("number", "flag")
MEASURES = ("metric", "metricname", "measure")
"""Fields that name what the score measures."""
LOWER_IS_BETTER = re.compile(r"(lower|higher)(?:is)?better$")
DECIMAL_COMMA = re.compile(r"-?\d+,\d+")


def check_score(
    rows: Rows, form: Format, reward: str | None, options: ReadOptions, path: Path, first: dict[str, Any]
) -> None:
    """Stops when no field, or more than one, can be the score."""
    if reward is None:
        if set(options.fields) & rows.columns.keys():
            return  # a rule reads the verdict from another field
        raise no_score(rows, form, options, path, first)
    check_scale(rows, form, reward, path)
    check_direction(rows, form, reward, path)
    check_averages(rows, form, reward, path)
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


def check_scale(rows: Rows, form: Format, reward: str, path: Path) -> None:
    """Stops when a score looks like points out of another field, or like a number that names its row.

    Raises:
        UsageError: what the score is must be said.
    """
    scores = as_scores(rows.columns[reward]).numbers()
    known = scores[~np.isnan(scores)]
    if not len(known) or known.max() <= 1:
        return
    keys = {*form.task_fields, *form.repeat_fields}
    most = full_marks(rows, reward, [name for name in own_fields(rows) if name not in keys])
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


def check_direction(rows: Rows, form: Format, reward: str, path: Path) -> None:
    """Stops when rows say that less of the score is better in some of them, or name a measure of which it may be.

    Raises:
        UsageError: which rows count, and how, must be said.
    """
    for name in (name for name in own_fields(rows) if bare(name) in MEASURES and rows.columns[name].kind == "text"):
        named = {str(level) for level in rows.columns[name].levels}
        if len(named) == 1 and not is_named_like_a_score(measure := named.pop(), form):
            raise Unclear(
                f"{path}: the score is {measure}, by `{name}`; say whether more or less of it is better:",
                path,
                [Choice("--reward-field", reward, "more is better"), Choice("--reward-field", f"-{reward}", "less is")],
            )
    for name in own_fields(rows):
        if rows.columns[name].kind != "flag" or not (ending := LOWER_IS_BETTER.search(bare(name))):
            continue
        lower = rows.columns[name].numbers() == (ending[1] == "lower")
        if lower.any():
            higher = f"{where_name(name)} == {str(ending[1] == 'higher').lower()}"
            raise Unclear(
                f"{path}: by `{name}`, less of `{reward}` is better in {lower.sum()} of {len(rows)} rows; say what "
                "counts:",
                path,
                [
                    Choice("--reward-field", f"-{reward}", "less is better")
                    if lower.all()
                    else Choice("--where", higher, "only rows where more is better")
                ],
            )


def check_averages(rows: Rows, form: Format, reward: str, path: Path) -> None:
    """Stops when rows of numbers score shares of a whole number they state, as a table of averages does.

    Raises:
        UsageError: what a row is must be said.
    """
    scores = as_scores(rows.columns[reward]).numbers()
    between = (scores > 0) & (scores < 1)
    fields = [name for name in own_fields(rows) if name != reward and name not in form.repeat_fields]
    others = [name for name in fields if rows.columns[name].kind in NUMBERS]
    if len(fields) - len(others) > MOST_TEXTS or np.isnan(scores).any() or not between.any():
        return
    if (rows.fact("items") > 0).any():
        return
    levels, level = np.unique(scores, return_inverse=True)
    digit = 10.0 ** -np.asarray([len(repr(share).partition(".")[2]) for share in levels.tolist()])[level]
    for name in others:
        size = rows.columns[name].numbers()
        hits, slack = scores * size, size * digit / 2
        off = abs(hits - np.round(hits))
        is_whole = bool((off <= np.where(slack < CLOSE, slack, 0) + 1e-6).all())
        if is_whole and (size >= LEAST_SAMPLES).all():
            part = int(between.argmax())
            raise Unclear(
                f"{path}: `{reward}` times `{name}` is a whole number in every row ({scores[part]:g} × "
                f"{size[part]:.0f} = {hits[part]:.0f}), as where a row is the mean of many rollouts; "
                "BLADE reads single ones. If each row is one rollout all the same, say so:",
                path,
                [Choice("--reward-field", reward)],
            )


def full_marks(rows: Rows, reward: str, names: Iterable[str]) -> str | None:
    """Which of some fields looks like the full marks of a score."""
    scores = as_scores(rows.columns[reward]).numbers()
    return next((name for name in names if is_ceiling(rows, name, reward, scores)), None)


def is_ceiling(rows: Rows, name: str, reward: str, scores: Floats) -> bool:
    """Whether a field is a number no score exceeds, and is named after the score or a whole number that some reach."""
    if name == reward or rows.columns[name].kind not in NUMBERS:
        return False
    most = rows.columns[name].numbers()
    both = ~np.isnan(most) & ~np.isnan(scores)
    most, scores = most[both], scores[both]
    if not len(most) or scores.max() <= 1 or (most < scores).any() or (most == scores).all():
        return False
    return bare(reward) in bare(name) or bool((most == np.floor(most)).all() and (most == scores).any())


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


def no_score(
    rows: Rows, form: Format, options: ReadOptions, path: Path, first: dict[str, Any]
) -> UsageError | InputError:
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
    numbers = [name for name in ranks if ranks[name] == 2 or len(rows.columns[name].coded().levels) == 1]
    ceilings = {name: full_marks(rows, name, numbers) for name, rank in ranks.items() if rank == 2}
    ranks = {name: rank for name, rank in ranks.items() if name not in ceilings.values()}
    likely = sorted(
        (name for name, rank in ranks.items() if rank is not None),
        key=lambda name: (not is_named_like_a_score(name, form), ranks[name]),
    )[: MOST_OFFERED - len(reshaped)]
    either = {name: ranks[name] != 1 and not is_named_like_a_score(name, form) for name in likely}
    offered = [
        Choice("--reward-field", f"{name}/{ceilings[name]}", "the share of full marks")
        if ceilings.get(name)
        else Choice("--reward-field", name, f"if more is better, else -{name}" if either[name] else "")
        for name in likely
    ]
    flags = sum(ranks[name] == 0 for name in likely)
    choices = [*offered[:flags], *reshaped, *offered[flags:]]
    there = f"fields there are: {', '.join([*fields[:12], *([form.output] if form.output else [])])}"
    if not choices and not any(rows.columns[name].kind in NUMBERS for name in ranks):
        return UsageError(f"{path}: no score found in these records, and no field that could be one ({there}).")
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
        InputError: the score is written with a decimal comma, or on two scales.
    """
    if reward in rows.columns:
        check_spelling(rows.columns[reward], reward, path)
    words = score_words(rows.columns[reward]) if reward in rows.columns and not options.true_words else []
    if reward is None or not words or reward in options.fields or words[0][0] in "[{":
        return
    if all(map(DECIMAL_COMMA.fullmatch, words)):
        raise InputError(f"{path}: the score `{reward}` is written with a decimal comma ({words[0]}); write a point.")
    if (other := answers_beside(rows, reward)) is not None:
        raise UsageError(
            f"{path}: `{reward}` takes the words that `{other}` takes ({', '.join(words[:4])}), so it seems to be an "
            "answer; name the field that says which answers are right with --reward-field, or the words that mean "
            "success with --true-words."
        )
    plain = [word for word in words if "," not in word][:3]
    raise Unclear(
        f"{path}: the score `{reward}` is a word ({', '.join(words)}); say which words mean success:",
        path,
        [Choice("--true-words", word) for word in plain] or [Choice("--success", f"{reward} == {literal(words[0])}")],
        ["--reward-field", reward] if options.reward_field else [],
    )


def answers_beside(rows: Rows, reward: str) -> str | None:
    """A field that takes the same words as one which is called after a score."""
    own = {level for level in rows.columns[reward].coded().levels if isinstance(level, str)}
    for name in own_fields(rows):
        if name != reward and rows.columns[name].kind == "text" and own <= set(rows.columns[name].levels):
            return name
    return None


def check_spelling(column: Column, reward: str, path: Path) -> None:
    """Stops when some scores are percentages or fractions and others plain numbers above 1.

    Raises:
        InputError: nobody can tell the scale of the plain numbers.
    """
    share = next((level for level in column.levels if isinstance(level, str) and is_share(level)), None)
    if share is None:
        return
    scores = as_scores(column).numbers()
    shares = np.asarray([isinstance(level, str) and is_share(level) for level in [*column.levels, None]])
    plain = scores[~shares[column.coded().values] & (scores > 1)]
    if len(plain):
        raise InputError(
            f"{path}: the score `{reward}` is written on two scales, {share.strip()} and {plain[0]:g}; "
            "bring them to one."
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
