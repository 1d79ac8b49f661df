"""The same questions asked of other readers, each in the best form we could find for it.

M reads ids, reward, verifier scalars and usage of every row, groups by task and computes pass@k. F adds, per row, how
many items of each kind there are, the first tool, bytes of text, the end of the last message, and whether what tools
and the agent said contains any of `TEXTS`. All take the schema as given, which is more than a user
knows beforehand, and none minds a bad line. Every reader gets one thread, as ours has one process, and those that make
Python objects do not stop to look for cycles, as ours does not.
"""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("POLARS_MAX_THREADS", "1")

import duckdb
import numpy as np
import numpy.typing as npt
import orjson
import pandas as pd
import polars as pl

from blade.metrics.passk import pass_at_k
from blade.rollouts.decoding import collector_paused

TEXTS = [
    "rate limit",
    "internal server error",
    "connection reset",
    "timed out",
    "out of memory",
    "no space left on device",
]
REPEATS = 4

Answer = dict[str, float]
"""What a reader found out; the same for all readers of a file."""


def pass_rates(task: npt.ArrayLike, reward: npt.ArrayLike) -> Answer:
    """Rows, tasks and pass@k, by numpy."""
    keys, inverse = np.unique(np.asarray(task), return_inverse=True)
    n = np.bincount(inverse)
    c = np.bincount(inverse, weights=np.asarray(reward) >= 1.0).astype(np.int64)
    rates = {f"pass@{k}": round(float(np.nanmean(pass_at_k(n, c, k))), 9) for k in range(1, REPEATS + 1)}
    return {"rows": len(inverse), "tasks": len(keys), **rates}


# duckdb ---------------------------------------------------------------------------------------------------------------

DUCK_FIELDS = {
    "_ng_task_index": "BIGINT", "_ng_rollout_index": "BIGINT", "reward": "DOUBLE", "is_correct": "BOOLEAN",
    "extracted_answer": "VARCHAR", "expected_answer": "VARCHAR", "difficulty": "VARCHAR", "category": "VARCHAR",
    "num_turns": "BIGINT", "similarity": "DOUBLE", "agent_run_time": "DOUBLE",
    "verifier_metadata": "STRUCT(source VARCHAR, level BIGINT)", "agent_ref": "STRUCT(name VARCHAR)",
}  # fmt: skip
DUCK_RESPONSE = (
    "model VARCHAR, status VARCHAR, incomplete_details STRUCT(reason VARCHAR), "
    "usage STRUCT(input_tokens BIGINT, output_tokens BIGINT, total_tokens BIGINT)"
)
DUCK_OUTPUT = (
    "output STRUCT(type VARCHAR, name VARCHAR, output VARCHAR, content STRUCT(text VARCHAR)[], "
    "summary STRUCT(text VARCHAR)[])[]"
)
DUCK_COLUMNS = (
    "* EXCLUDE (response, verifier_metadata, agent_ref), verifier_metadata.source AS source, "
    "verifier_metadata.level AS level, agent_ref.name AS agent, response.model AS model, response.status AS status, "
    "response.incomplete_details.reason AS reason, response.usage.input_tokens AS input_tokens, "
    "response.usage.output_tokens AS output_tokens, response.usage.total_tokens AS total_tokens"
)


def duck_source(path: Path, response: str) -> str:
    fields = ", ".join(f"{name}: '{kind}'" for name, kind in {**DUCK_FIELDS, "response": f"STRUCT({response})"}.items())
    return f"read_json('{path}', format='newline_delimited', maximum_object_size=100000000, columns={{{fields}}})"


def duck(query: str) -> Any:
    """An Arrow table, which costs less than numpy: no text becomes a Python object."""
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1; SET preserve_insertion_order = false")
        return connection.sql(query).to_arrow_table()


def duckdb_m(path: Path) -> Answer:
    found = duck(f"SELECT {DUCK_COLUMNS} FROM {duck_source(path, DUCK_RESPONSE)}")
    return pass_rates(found["_ng_task_index"], found["reward"])


def duckdb_f(path: Path) -> Answer:
    """Counts by list_filter; the patterns as literal searches in the lowered text, which beats its expressions."""
    kinds = {
        "messages": "message",
        "calls": "function_call",
        "reasoning": "reasoning",
        "results": "function_call_output",
    }
    counts = ", ".join(f"len(list_filter(o, lambda x: x.type = '{kind}')) AS {name}" for name, kind in kinds.items())
    marks = ", ".join(f"contains(said, '{text}') AS m{index}" for index, text in enumerate(TEXTS))
    said = "lower(array_to_string(list_transform(o, lambda x: coalesce(x.output, x.content[-1].text, '')), ' '))"
    rows = f"SELECT {DUCK_COLUMNS}, response.output AS o FROM {duck_source(path, f'{DUCK_RESPONSE}, {DUCK_OUTPUT}')}"
    found = duck(
        f"WITH rows AS ({rows}), texts AS (SELECT *, {said} AS said FROM rows) "
        f"SELECT * EXCLUDE (o, said), {counts}, {marks}, length(said) AS size, "
        "right(o[-1].content[-1].text, 2048) AS last, "
        "list_filter(o, lambda x: x.type = 'function_call')[1].name AS tool FROM texts"
    )
    return pass_rates(found["_ng_task_index"], found["reward"]) | {name: int(np.sum(found[name])) for name in kinds}


# polars ---------------------------------------------------------------------------------------------------------------

POLARS_RESPONSE: dict[str, Any] = {
    "model": pl.String, "status": pl.String, "incomplete_details": pl.Struct({"reason": pl.String}),
    "usage": pl.Struct({"input_tokens": pl.Int64, "output_tokens": pl.Int64, "total_tokens": pl.Int64}),
}  # fmt: skip
POLARS_TEXTS = pl.List(pl.Struct({"text": pl.String}))
POLARS_ITEM = pl.Struct(
    {"type": pl.String, "name": pl.String, "output": pl.String, "content": POLARS_TEXTS, "summary": POLARS_TEXTS}
)


def polars_schema(response: dict[str, Any]) -> dict[str, Any]:
    return {
        "_ng_task_index": pl.Int64, "_ng_rollout_index": pl.Int64, "reward": pl.Float64, "is_correct": pl.Boolean,
        "extracted_answer": pl.String, "expected_answer": pl.String, "difficulty": pl.String, "category": pl.String,
        "num_turns": pl.Int64, "similarity": pl.Float64, "agent_run_time": pl.Float64,
        "verifier_metadata": pl.Struct({"source": pl.String, "level": pl.Int64}),
        "agent_ref": pl.Struct({"name": pl.String}), "response": pl.Struct(response),
    }  # fmt: skip


def polars_m(path: Path) -> Answer:
    found = pl.scan_ndjson(path, schema=polars_schema(POLARS_RESPONSE)).collect()
    found = found.unnest("response").unnest("usage", "verifier_metadata")
    return pass_rates(found["_ng_task_index"].to_numpy(), found["reward"].to_numpy())


def polars_f(path: Path) -> Answer:
    """Items exploded and counted by group; the patterns by its many-literal search."""
    schema = polars_schema({**POLARS_RESPONSE, "output": pl.List(POLARS_ITEM)})
    found = pl.scan_ndjson(path, schema=schema).collect().with_row_index("row").unnest("response")
    items = found.select("row", "output").explode("output").unnest("output")
    said = pl.coalesce("output", pl.col("content").list.last().struct.field("text"))
    marks = said.str.contains_any(TEXTS, ascii_case_insensitive=True)
    rows = items.with_columns(said=said, mark=marks).group_by("row").agg(
        *(pl.col("type").eq(kind).sum().alias(kind) for kind in ("message", "function_call", "reasoning")),
        results=pl.col("type").eq("function_call_output").sum(), size=pl.col("said").str.len_bytes().sum(),
        mark=pl.col("mark").any(), last=pl.col("said").last().str.tail(2048),
        tool=pl.col("name").filter(pl.col("type") == "function_call").first(),
    )  # fmt: skip
    answer = pass_rates(found["_ng_task_index"].to_numpy(), found["reward"].to_numpy())
    names = {"messages": "message", "calls": "function_call", "reasoning": "reasoning", "results": "results"}
    return answer | {name: int(rows[column].sum()) for name, column in names.items()}


# one decode per line --------------------------------------------------------------------------------------------------


def scalars(row: dict[str, Any]) -> tuple[Any, ...]:
    response = row["response"]
    usage, meta = response["usage"], row["verifier_metadata"]
    return (
        row["_ng_task_index"], row["_ng_rollout_index"], row["reward"], row["is_correct"], row["extracted_answer"],
        row["expected_answer"], row["difficulty"], row["category"], row["num_turns"], row["similarity"],
        row["agent_run_time"], meta["source"], meta["level"], row["agent_ref"]["name"], response["model"],
        response["status"], response["incomplete_details"], usage["input_tokens"], usage["output_tokens"],
        usage["total_tokens"],
    )  # fmt: skip


def decoded(path: Path, decode: Callable[[bytes], Any]) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file, collector_paused():
        for line in file:
            yield decode(line)


def per_line_m(path: Path, decode: Callable[[bytes], Any]) -> Answer:
    columns = list(zip(*map(scalars, decoded(path, decode)), strict=True))
    return pass_rates(columns[0], columns[2])


def per_line_f(path: Path, decode: Callable[[bytes], Any]) -> Answer:
    rows = []
    for row in decoded(path, decode):
        kinds = {"message": 0, "function_call": 0, "reasoning": 0, "function_call_output": 0}
        said: list[str] = []
        tool = None
        for item in row["response"]["output"]:
            kind = item["type"]
            kinds[kind] += 1
            if kind == "message":
                said.append(item["content"][-1]["text"])
            elif kind == "function_call_output":
                said.append(item["output"])
            elif kind == "function_call":
                tool = tool or item["name"]
        lowered = "\n".join(said).lower()
        marks = [text in lowered for text in TEXTS]
        rows.append((*scalars(row), *kinds.values(), len(lowered), tool, said[-1][-2048:], marks))
    columns = list(zip(*rows, strict=True))
    totals = {name: sum(columns[20 + at]) for at, name in enumerate(("messages", "calls", "reasoning", "results"))}
    return pass_rates(columns[0], columns[2]) | totals


def orjson_m(path: Path) -> Answer:
    return per_line_m(path, orjson.loads)


def orjson_f(path: Path) -> Answer:
    return per_line_f(path, orjson.loads)


def stdlib_m(path: Path) -> Answer:
    return per_line_m(path, json.loads)


# pandas ---------------------------------------------------------------------------------------------------------------


def pandas_m(path: Path) -> Answer:
    frame = pd.read_json(path, lines=True)
    usage = pd.json_normalize(frame["response"].str["usage"].tolist())
    meta = pd.json_normalize(frame["verifier_metadata"].tolist())
    assert len(usage) == len(meta) == len(frame)
    return pass_rates(frame["_ng_task_index"], frame["reward"])


NUMBERS = (
    "reward", "is_correct", "num_turns", "similarity", "agent_run_time", "level", "input_tokens", "output_tokens",
    "total_tokens",
)  # fmt: skip


STATISTICS = ("mean", "max", "min", "median", "std")


def pandas_profile(path: Path) -> Answer:
    """Five statistics of one task's frame after the other."""
    profiles = [rows.agg(list(STATISTICS)) for _, rows in frames_by_task(path)]
    return profile_answer([profile.loc["median", "similarity"] for profile in profiles], len(profiles))


def gym_profile(path: Path) -> Answer:
    """The same in the way Gym's profiler goes, up to its records: statistic by statistic, with histograms.

    It takes about as long as Gym 0.5.1 itself: 5.8 s of processor time where that takes 6.1 s.
    """
    profiles = frames_by_task(path).apply(gym_statistics)
    profiles.columns = profiles.columns.map("/".join)
    records = [
        {name: value for name, value in record.items() if pd.notna(value)}
        for record in profiles.reset_index().to_dict("records")
    ]
    return profile_answer([record["median/similarity"] for record in records], len(records))


def gym_statistics(rows: pd.DataFrame) -> pd.Series:
    described = [*(getattr(rows, name)() for name in STATISTICS), rows.apply(Histogram)]
    return pd.DataFrame(described, index=[*STATISTICS, "histogram"]).stack()


class Histogram:
    """How often values of one column occur."""

    def __init__(self, column: pd.Series) -> None:
        self.counts, self.edges = np.histogram(column.dropna(), bins=64)


def frames_by_task(path: Path) -> Any:
    """The numbers of all rows, decoded by orjson, grouped by task; true and false as 1 and 0."""
    names = (
        "task", "repeat", "reward", "is_correct", "extracted", "expected", "difficulty", "category", "num_turns",
        "similarity", "agent_run_time", "source", "level", "agent", "model", "status", "reason", "input_tokens",
        "output_tokens", "total_tokens",
    )  # fmt: skip
    frame = pd.DataFrame.from_records(list(map(scalars, decoded(path, orjson.loads))), columns=list(names))
    return frame[list(NUMBERS)].astype({"is_correct": int}).groupby(frame["task"])


def profile_answer(medians: npt.ArrayLike, tasks: int) -> Answer:
    return {"tasks": tasks, "median": round(float(np.mean(np.asarray(medians))), 9)}
