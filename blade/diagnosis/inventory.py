"""What came in, as a reader of the report should know it: file names without the machine's directories."""

from pathlib import PurePath

import msgspec
import numpy as np

from blade.diagnosis.analysis import MAX_LISTED, Count, Inputs, PublishedCheck, SourceFile
from blade.rollouts import Column, Duplicate, Run
from blade.rollouts.columns import level_text
from blade.rollouts.table import InputFile
from blade.rollouts.values import BadLine


def describe_inputs(run: Run, published: list[PublishedCheck], copies: list[str]) -> Inputs:
    return Inputs(
        run=run.name,
        files=[describe_file(file) for file in run.files],
        identity=run.identity,
        identity_sentence=run.identity.sentence,
        reward_field=run.reward_field,
        expected_from=run.expected_from,
        models=counts(run.table.model),
        agents=counts(run.table.agent),
        bad_lines=listed(run.bad),
        bad_scores=listed(run.bad_scores),
        duplicates=[strip_paths(duplicate) for duplicate in run.duplicates[:MAX_LISTED]],
        recovered_failures=run.recovered,
        published=published,
        copies=copies,
        notes=run.notes,
        guessed=run.guessed,
    )


def listed(bad: list[BadLine]) -> list[BadLine]:
    return [msgspec.structs.replace(line, file=file_name(line.file)) for line in bad[:MAX_LISTED]]


def describe_file(file: InputFile) -> SourceFile:
    return SourceFile(
        name=file.path.name,
        format=file.format.name,
        bytes=file.size,
        rows=file.rows,
        sidecars={kind: path.name for kind, path in file.sidecars.found()},
    )


def counts(column: Column) -> list[Count]:
    """How many rollouts carry each value, most first."""
    coded = column.coded()
    numbers: dict[str | None, int] = {}
    for code, number in zip(*(found.tolist() for found in np.unique(coded.values, return_counts=True)), strict=True):
        value = None if code < 0 else level_text(coded.levels[code])
        numbers[value] = numbers.get(value, 0) + number
    ordered = sorted(numbers.items(), key=lambda pair: (-pair[1], pair[0] or ""))
    return [Count(value=value, rollouts=number) for value, number in ordered]


def file_name(path: str) -> str:
    return PurePath(path).name


def strip_paths(duplicate: Duplicate) -> Duplicate:
    rows = [msgspec.structs.replace(row, file=file_name(row.file)) for row in duplicate.rows]
    return msgspec.structs.replace(duplicate, rows=rows)
