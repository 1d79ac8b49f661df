"""Arize Phoenix spans: rows of its REST API (`{"data": [...]}`), or of a table of spans written as JSON records.

A span is an OpenTelemetry span with the attributes of OpenInference; annotations that came with it are scores.
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from blade.rollouts.formats.coercion import number_or_none, objects, part, text_or_none
from blade.rollouts.formats.otlp import described, flat
from blade.rollouts.formats.reader import Found, Probe, Reader
from blade.rollouts.formats.traces import Span, TraceInfo, holds, keyed_rows, read_groups, seconds_of

LISTS = ("data", "spans")
NESTED = {"context", "span_kind", "status_code"}
FLAT = {"context.trace_id", "context.span_id", "span_kind"}


def recognises(probe: Probe) -> bool:
    """Whether rows have the context and kind of Phoenix's spans."""
    return holds(probe, LISTS, lambda names: NESTED.issubset(names) or FLAT.issubset(names))


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every trace."""
    yield from read_groups(path, wanted, lambda: keyed_rows(path, LISTS, trace_of, what="a span of Phoenix"), describe)


def trace_of(row: dict[str, Any]) -> str | None:
    return text_or_none(row.get("context.trace_id") or part(row, "context").get("trace_id"))


def describe(trace: str, rows: list[Any]) -> tuple[list[Span], TraceInfo]:
    scores: dict[str, list[float]] = {}
    for row in rows:
        for annotation in objects(row.get("annotations")):
            name, number = text_or_none(annotation.get("name")), number_or_none(part(annotation, "result").get("score"))
            if name is not None and number is not None:
                scores.setdefault(name, []).append(number)
    return [span_of(row) for row in rows], TraceInfo(task=trace, scores=scores)


def span_of(row: dict[str, Any]) -> Span:
    attributes = flat(part(row, "attributes"))
    attributes |= {
        key.removeprefix("attributes."): value for key, value in row.items() if key.startswith("attributes.")
    }
    attributes.setdefault("openinference.span.kind", row.get("span_kind"))
    events = [
        (text_or_none(event.get("name")), flat(part(event, "attributes"))) for event in objects(row.get("events"))
    ]
    return described(
        attributes,
        events,
        id=str(row.get("context.span_id") or part(row, "context").get("span_id")),
        parent=text_or_none(row.get("parent_id")),
        name=text_or_none(row.get("name")),
        start=seconds_of(row.get("start_time")),
        end=seconds_of(row.get("end_time")),
        failed=row.get("status_code") == "ERROR",
        message=text_or_none(row.get("status_message")),
    )


READER = Reader(name="phoenix", title="Arize Phoenix spans (JSON, JSON Lines)", recognises=recognises, read=read)
