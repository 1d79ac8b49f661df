"""Runs that are another run's rollouts under a new name."""

import filecmp

import numpy as np

from blade.rollouts.table import InputFile, Run

SAMPLE = 200


def is_copy(run: Run, other: Run) -> bool:
    """Whether two runs hold the same keys, scores and trajectories; a sample of large runs is read to make sure."""
    if are_same_files(main_files(run), main_files(other)):
        return True
    mine, theirs = main_rows(run), main_rows(other)
    if not mine or keys_of(run, mine) != keys_of(other, theirs):
        return False
    if not np.array_equal(run.table.reward[mine], other.table.reward[theirs], equal_nan=True):
        return False
    chosen = np.unique(np.linspace(0, len(mine) - 1, min(len(mine), SAMPLE)).astype(np.int64)).tolist()
    first, second = [mine[index] for index in chosen], [theirs[index] for index in chosen]
    return says_anything(run, first) and texts_by_key(run, first) == texts_by_key(other, second)


def main_files(run: Run) -> list[InputFile]:
    return [file for file in run.files if not file.failed]


def are_same_files(mine: list[InputFile], theirs: list[InputFile]) -> bool:
    """Whether files are byte for byte the same; runs cut from one file are not copies of each other for that."""
    if [file.size for file in mine] != [file.size for file in theirs]:
        return False
    pairs = list(zip(mine, theirs, strict=True))
    return all(a.path != b.path and filecmp.cmp(a.path, b.path, shallow=False) for a, b in pairs)


def main_rows(run: Run) -> list[int]:
    """The rows of the rollout files: a copy may have lost its sidecars."""
    failed = np.asarray([file.failed for file in run.files])
    return [int(row) for row in np.flatnonzero(~failed[run.table.rows.file])]


def keys_of(run: Run, rows: list[int]) -> list[str]:
    return [run.table.citation(row) for row in rows]


def texts_by_key(run: Run, rows: list[int]) -> dict[tuple[str, int], list[str]]:
    return {(rollout.task, rollout.repeat): [item.text for item in rollout.items] for rollout in run.rollouts(rows)}


def says_anything(run: Run, rows: list[int]) -> bool:
    """Whether there is output to compare; runs that hold nothing but scores may agree by chance."""
    return bool((run.table.rows.fact("text_bytes")[rows] > 0).any())
