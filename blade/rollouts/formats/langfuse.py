"""Langfuse traces: a trace with its observations and scores, as the API and the download write it; rows of
observations; and the folder of a blob storage export (`observations_v2/` or `observations/`, `scores/`, `traces/`).

The API writes names as in `traceId`, exports as in `trace_id`. Of scores, numbers and flags count; a category is a
number only if a score configuration maps it to one.
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from blade.errors import InputError
from blade.rollouts.formats.building import number_or_none, text_or_none
from blade.rollouts.formats.chats import chat, decoded
from blade.rollouts.formats.reader import Found, Probe, Reader
from blade.rollouts.formats.traces import (
    Keyed,
    Kind,
    Span,
    Told,
    error_name,
    inner,
    objects,
    part,
    read_groups,
    scalars,
    seconds_of,
    whole,
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
    if is_trace(probe.keys) or is_observation(probe.keys):
        return True
    if "data" not in probe.keys or b"bservation" not in probe.head:
        return False
    return any(is_trace(row.keys()) or is_observation(row.keys()) for row in inner(probe.record, "data")[:3])


def is_trace(keys: Collection[str]) -> bool:
    return (
        "observations" in keys and "scores" in keys and ("htmlPath" in keys or {"sessionId", "timestamp"} <= set(keys))
    )


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
    yield from read_groups(path, wanted, lambda: rows_of(path), tell)


def rows_of(path: Path) -> Iterator[Keyed | BadLine]:
    """Traces, observations and scores, each with the id of its trace."""
    for file in files(path):
        for row in objects(file, LISTS):
            if isinstance(row, BadLine):
                yield row
                continue
            kind = (
                file.relative_to(path).parts[0]
                if path.is_dir()
                else "traces"
                if is_trace(row.keys())
                else "observations"
            )
            trace = text_or_none(row.get("id")) if kind == "traces" else text_or_none(either(row, "traceId"))
            if trace is not None:
                yield trace, (kind, row)


def either(row: dict[str, Any], name: str) -> Any:
    """A value by its name in the API, or in an export."""
    if name in row:
        return row[name]
    return row.get("".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name))


def tell(trace: str, rows: list[Any]) -> tuple[list[Span], Told]:
    whole_trace: dict[str, Any] = next((row for kind, row in rows if kind == "traces"), {})
    observations = [row for kind, row in rows if kind.startswith("observations")] + inner(whole_trace, "observations")
    given = [row for kind, row in rows if kind == "scores"] + inner(whole_trace, "scores")
    spans = [span_of(row) for row in observations]
    if whole_trace:
        known = {span.id for span in spans}
        top = Span(id=trace, input=decoded(whole_trace.get("input")), output=decoded(whole_trace.get("output")))
        failed = next((span for span in spans if span.parent is None and span.error is not None), None)
        if failed is not None:
            top = Span(id=trace, input=top.input, output=top.output, error=failed.error, message=failed.message)
        spans = [top, *(span if span.parent in known else in_trace(span, trace) for span in spans)]
    scores: dict[str, list[float]] = {}
    for row in given:
        name, number = text_or_none(row.get("name")), score_of(row)
        if name is not None and number is not None:
            scores.setdefault(name, []).append(number)
    first = whole_trace or (observations[0] if observations else {})
    fields = {**scalars(decoded(first.get("metadata"))), **scalars({
        "name": whole_trace.get("name") or either(first, "traceName"), "session": either(first, "sessionId"),
    })}  # fmt: skip
    return spans, Told(task=trace, fields=fields, scores=scores)


def in_trace(span: Span, trace: str) -> Span:
    return msgspec.structs.replace(span, parent=trace)


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
        settings=scalars(decoded(either(row, "modelParameters"))) if calls else {},
    )


READER = Reader(
    name="langfuse",
    title="Langfuse traces (JSON, JSON Lines, export folder)",
    recognises=recognises,
    read=read,
    files=files,
)
