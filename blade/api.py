"""The library in four verbs: read, analyze, compare, and hand the table to a data-frame library."""

import difflib
from collections.abc import Sequence
from importlib import import_module
from os import PathLike, fspath
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np

from blade.diagnosis import Analysis, AnalyzeOptions, diagnose
from blade.diagnosis import analyze as analyze_run
from blade.errors import UsageError
from blade.rollouts import Column, ReadOptions, Run, read_runs
from blade.rollouts.features import FACTS
from blade.rollouts.table import STATUSES, examples

if TYPE_CHECKING:
    import pandas
    import polars

    from blade.comparison import Comparison

Options = TypeVar("Options", ReadOptions, AnalyzeOptions)
Paths = str | PathLike[str] | Sequence[str | PathLike[str]]


def read(paths: Paths, **options: Any) -> Run:
    """The one run in some files, directories or globs; `options` are the fields of `ReadOptions`.

    Raises:
        InputError: an input is missing, empty or unreadable, or holds no rollouts.
        UsageError: the files hold several runs (use `read_all`), or an option names a field that does not exist.
    """
    runs = read_all(paths, **options)
    if len(runs) > 1:
        names = examples([run.name for run in runs])
        raise UsageError(f"these files hold {len(runs)} runs ({names}); use blade.read_all, or read one file.")
    return runs[0]


def read_all(paths: Paths, **options: Any) -> list[Run]:
    """Every run in some files, directories or globs."""
    given = [paths] if isinstance(paths, str | PathLike) else list(paths)
    return read_runs([fspath(path) for path in given], from_keywords(ReadOptions, options))


def analyze(run: Run, *, others: Sequence[Run] = (), **options: Any) -> Analysis:
    """Everything computed about a run; `options` are the fields of `AnalyzeOptions`.

    Args:
        others: runs it may be a copy of, such as all that `read_all` found.
    """
    return analyze_run(run, from_keywords(AnalyzeOptions, options), others=others)


def compare(base: Run, candidate: Run, *more: Run, **options: Any) -> "Comparison":
    """Why the score of a candidate differs from the base's; `options` are the fields of `AnalyzeOptions`.

    Raises:
        UsageError: two of the runs have no scored task in common.
    """
    from blade.comparison import CompareOptions, compare_many

    runs = [base, candidate, *more]
    asked = from_keywords(AnalyzeOptions, options)
    diagnosed = [diagnose(run, asked, others=runs) for run in runs]
    return compare_many(diagnosed, CompareOptions(slices=asked.slices))


def from_keywords(kind: type[Options], options: dict[str, Any]) -> Options:
    """Options from keywords; a single text stands for a list of one. An unknown name or a wrong type is told."""
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    for name in options:
        if name not in fields:
            close = difflib.get_close_matches(name, fields, n=3) or list(fields)
            raise UsageError(f"unknown option {name!r}; options are: {', '.join(close)}.")
    lists = {name for name, field in fields.items() if field.type == tuple[str, ...]}
    plain = {n: (value,) if n in lists and isinstance(value, str) else value for n, value in options.items()}
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        raise UsageError(f"wrong option: {error}.") from error


def to_polars(run: Run) -> "polars.DataFrame":
    """One row per rollout as a polars frame; unknown is null."""
    return optional("polars").DataFrame(frame_columns(run), strict=False)


def to_pandas(run: Run) -> "pandas.DataFrame":
    """One row per rollout as a pandas frame; unknown is None or NaN."""
    return optional("pandas").DataFrame(frame_columns(run))


def optional(name: str) -> ModuleType:
    """A library the user may not have; its absence is told with the command that mends it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise UsageError(f"{name} is not installed; run: pip install {name}") from error


def frame_columns(run: Run) -> dict[str, list[Any]]:
    """Every column of a run's table as plain values, by name."""
    table = run.table
    columns: dict[str, list[Any]] = {
        "task": [table.tasks[code] for code in table.task.tolist()],
        "repeat": table.repeat.tolist(),
        "reward": plain(table.reward),
        "status": [STATUSES[code] for code in table.status.tolist()],
        "failure": values(table.failure),
        "model": values(table.model),
        "agent": values(table.agent),
        "input_tokens": plain(table.input_tokens),
        "output_tokens": plain(table.output_tokens),
        "seconds": plain(table.seconds),
    }
    if table.rows.facts.shape[1]:
        columns.update({f"fact.{name}": table.rows.fact(name).tolist() for name in FACTS})
    columns.update({f"field.{path}": values(column) for path, column in table.rows.columns.items()})
    return columns


def plain(numbers: "np.ndarray[Any, np.dtype[np.float64]]") -> list[float | None]:
    return [None if np.isnan(number) else number for number in numbers.tolist()]


def values(column: Column) -> list[Any]:
    """A column's values; lists stay lists."""
    coded = column.coded()
    levels = [list(level) if isinstance(level, tuple) else level for level in coded.levels]
    return list(map([*levels, None].__getitem__, coded.values.tolist()))
