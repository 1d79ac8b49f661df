"""A run with a fault in it, and the steps that injections share."""

import random
from collections.abc import Callable
from typing import NamedTuple

from accuracy.made_runs import Item, MadeRun, Row, key, text_of
from accuracy.wordings import Words


class Injected(NamedTuple):
    """A run with a fault in it."""

    rows: list[Row]
    struck: set[str]
    """Keys of the rollouts, or of the tasks, that the fault struck."""
    second: list[Row] | None = None
    """A second run, where the fault needs one to be seen."""
    inputs: list[Row] | None = None
    """Rows of the materialized inputs, where there are any."""


Inject = Callable[[MadeRun, float, Words], Injected]


def strike(run: MadeRun, share: float, rng: random.Random, *, among: list[Row] | None = None) -> list[Row]:
    """Rollouts to be struck: a share of all, at least one."""
    pool = run.rows if among is None else among
    return rng.sample(pool, min(len(pool), max(1, round(share * len(run.rows)))))


def keys(rows: list[Row]) -> set[str]:
    return {key(row) for row in rows}


def fail(row: Row, output: list[Item]) -> None:
    """The row ends like this, without an answer that could be extracted, and scores nothing."""
    row["response"]["output"] = output
    row["reward"] = 0.0
    if "extracted_answer" in row:
        row["extracted_answer"] = None
    if "resolved" in row:
        row["resolved"], row["tests_passed"] = False, 0
    spoken = sum(len(text_of(item)) for item in output if item["type"] != "function_call_output")
    row["response"]["usage"]["output_tokens"] = spoken // 4


def calls(row: Row) -> list[int]:
    """Positions of the tool calls in the output."""
    return [i for i, item in enumerate(row["response"]["output"]) if item["type"] == "function_call"]


def with_calls(run: MadeRun) -> list[Row]:
    return [row for row in run.rows if len(calls(row)) >= 2]
