"""Langfuse traces: a trace with its observations and scores, as the API and the download write it; rows of
observations; and the folder of a blob storage export (`observations_v2/` or `observations/`, `scores/`, `traces/`).

The API writes names as in `traceId`, exports as in `trace_id`. Of scores, numbers and flags count; a category is a
number only if a score configuration maps it to one.
"""

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from blade.errors import InputError
from blade.rollouts.formats.chats import chat, decoded
from blade.rollouts.formats.coercion import number_or_none, objects, part, short_values, text_or_none, whole
from blade.rollouts.formats.reader import Found, Probe, Reader
from blade.rollouts.formats.traces import (
    Keyed,
    Kind,
    Span,
    TraceInfo,
    error_name,
    holds,
    keyed_rows,
    read_groups,
    seconds_of,
)  # fmt: skip
from blade.rollouts.values import BadLine, Usage

LISTS = ("data",)
KINDS: dict[str, Kind] = {
    "GENERATION": "llm", "TOOL": "tool", "RETRIEVER": "tool", "AGENT": "agent", "EVALUATOR": "score",
}  # fmt: skip
TABLES = ("observations_v2", "observations", "scores", "traces")


def recognises(probe: Probe) -> bool:
    """Whether a trace has its observations in it, rows are observations, or a folder is an export."""
    if probe.is_folder:
        return "scores" in probe.names and bool({"observations_v2", "observations"} & probe.names)
    return holds(probe, LISTS, lambda names: is_trace(names) or is_observation(names))


def is_trace(keys: Collection[str]) -> bool:
    """Whether an object is a trace with its observations: as the API gives it, or as it is downloaded by hand."""
    if "observations" not in keys:
        return False
    return "trace" in keys or ("scores" in keys and ("htmlPath" in keys or {"sessionId", "timestamp"} <= set(keys)))


def as_trace(row: dict[str, Any]) -> dict[str, Any]:
    """A trace as the API gives it; in a downloaded one, observations and scores stand beside it."""
    trace = row.get("trace")
    return {**trace, **{name: row[name] for name in row if name != "trace"}} if isinstance(trace, dict) else row


def is_observation(keys: Collection[str]) -> bool:
    found = set(keys)
    return {"traceId", "parentObservationId", "type", "startTime"} <= found or (
        {"trace_id", "parent_observation_id", "type", "start_time"} <= found
    )


def export_files(folder: Path) -> list[Path]:
    """The files of an export. Enriched observations hold all that plain ones do."""
    names = [name for name in TABLES if (folder / name).is_dir()]
    if "observations_v2" in names:
        names = [name for name in names if name in ("observations_v2", "scores")]
    return sorted(file for name in names for file in (folder / name).rglob("*.json*") if file.is_file())


def files(path: Path) -> list[Path]:
    return export_files(path) if path.is_dir() else [path]


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every trace."""
    if not files(path):
        raise InputError(f"{path}: no JSON files in this export.")
    yield from read_groups(path, wanted, lambda: rows_of(path), describe)


def rows_of(path: Path) -> Iterator[Keyed | BadLine]:
    """Traces, observations and scores, each with what it is and the id of its trace."""
    for file in files(path):
        table = file.relative_to(path).parts[0] if path.is_dir() else None

        def kind_of(row: dict[str, Any], table: str | None = table) -> str:
            return table or ("traces" if is_trace(row.keys()) else "observations")

        def trace_of(row: dict[str, Any], kind_of: Callable[[dict[str, Any]], str] = kind_of) -> str | None:
            return text_or_none(as_trace(row).get("id") if kind_of(row) == "traces" else either(row, "traceId"))

        for found in keyed_rows(file, LISTS, trace_of, what="a trace, an observation or a score of Langfuse"):
            yield found if isinstance(found, BadLine) else (found[0], (kind_of(found[1]), found[1]))


def either(row: dict[str, Any], name: str) -> Any:
    """A value by its name in the API, or in an export."""
    if name in row:
        return row[name]
    return row.get("".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name))


def describe(trace: str, rows: list[Any]) -> tuple[list[Span], TraceInfo]:
    whole_trace: dict[str, Any] = as_trace(next((row for kind, row in rows if kind == "traces"), {}))
    observations = [row for kind, row in rows if kind.startswith("observations")] + objects(
        whole_trace.get("observations")
    )
    given = [row for kind, row in rows if kind == "scores"] + objects(whole_trace.get("scores"))
    spans = [span_of(row) for row in observations]
    if whole_trace:
        known = {span.id for span in spans}
        top = Span(id=trace, input=decoded(whole_trace.get("input")), output=decoded(whole_trace.get("output")))
        failed = next((span for span in spans if span.parent is None and span.error is not None), None)
        if failed is not None:
            top = Span(id=trace, input=top.input, output=top.output, error=failed.error, message=failed.message)
        spans = [
            top,
            *(span if span.parent in known else msgspec.structs.replace(span, parent=trace) for span in spans),
        ]
    scores: dict[str, list[float]] = {}
    for row in given:
        name, number = text_or_none(row.get("name")), score_of(row)
        if name is not None and number is not None:
            scores.setdefault(name, []).append(number)
    first = whole_trace or (observations[0] if observations else {})
    fields = {**short_values(decoded(first.get("metadata"))), **short_values({
        "name": whole_trace.get("name") or either(first, "traceName"), "session": either(first, "sessionId"),
    })}  # fmt: skip
    return spans, TraceInfo(task=trace, fields=fields, scores=scores)


def score_of(row: dict[str, Any]) -> float | None:
    kind = either(row, "dataType")
    if kind in ("TEXT", "CORRECTION") or (kind == "CATEGORICAL" and not either(row, "configId")):
        return None
    return number_or_none(row.get("value"))


def span_of(row: dict[str, Any]) -> Span:
    kind = KINDS.get(str(row.get("type")), "other")
    counted = decoded(either(row, "usageDetails"))
    usage = counted if isinstance(counted, dict) else part(row, "usage")
    costs = decoded(either(row, "costDetails"))
    cost = number_or_none(either(row, "totalCost"))
    failed = row.get("level") == "ERROR"
    message = text_or_none(either(row, "statusMessage"))
    calls = kind == "llm"
    return Span(
        id=str(row.get("id")),
        parent=text_or_none(either(row, "parentObservationId")),
        kind=kind,
        name=text_or_none(row.get("name")),
        start=seconds_of(either(row, "startTime")),
        end=seconds_of(either(row, "endTime")),
        model=text_or_none(row.get("model") or either(row, "providedModelName")),
        given=chat(row.get("input"), "user") if calls else [],
        said=chat(row.get("output"), "assistant") if calls else [],
        input=decoded(row.get("input")),
        output=decoded(row.get("output")),
        error=(error_name(message) or "error") if failed else None,
        message=message,
        usage=Usage(
            input_tokens=whole(usage.get("input")),
            output_tokens=whole(usage.get("output")),
            reasoning_tokens=whole(usage.get("output_reasoning_tokens")),
            cached_tokens=whole(usage.get("input_cached_tokens"), usage.get("cache_read_input_tokens")),
            cost=cost if cost is not None else number_or_none(costs.get("total")) if isinstance(costs, dict) else None,
        ),
        settings=short_values(decoded(either(row, "modelParameters"))) if calls else {},
    )


READER = Reader(
    name="langfuse",
    title="Langfuse traces (JSON, JSON Lines, export folder)",
    recognises=recognises,
    read=read,
    files=files,
)
