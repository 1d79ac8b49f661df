"""Arize Phoenix spans: rows of its REST API (`{"data": [...]}`), or of a table of spans written as JSON records.

A span is an OpenTelemetry span with the attributes of OpenInference; annotations that came with it are scores.
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from blade.rollouts.formats.building import number_or_none, text_or_none
from blade.rollouts.formats.otlp import described, flat
from blade.rollouts.formats.reader import Found, Probe, Reader
from blade.rollouts.formats.traces import Keyed, Span, Told, inner, objects, part, read_groups, seconds_of
from blade.rollouts.values import BadLine

LISTS = ("data", "spans")
NESTED = {"context", "span_kind", "status_code"}
FLAT = {"context.trace_id", "context.span_id", "span_kind"}


def recognises(probe: Probe) -> bool:
    """Whether rows have the context and kind of Phoenix's spans."""
    if probe.keys >= NESTED or probe.keys >= FLAT:
        return True
    if probe.is_folder or not any(name in probe.keys for name in LISTS) or b'"span_kind"' not in probe.head:
        return False
    return any(row.keys() >= NESTED for name in LISTS for row in inner(probe.record, name)[:3])


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every trace."""
    yield from read_groups(path, wanted, lambda: rows_of(path), tell)


def rows_of(path: Path) -> Iterator[Keyed | BadLine]:
    for row in objects(path, LISTS):
        if isinstance(row, BadLine):
            yield row
            continue
        trace = text_or_none(row.get("context.trace_id") or part(row, "context").get("trace_id"))
        if trace is not None:
            yield trace, row


def tell(trace: str, rows: list[Any]) -> tuple[list[Span], Told]:
    scores: dict[str, list[float]] = {}
    for row in rows:
        for annotation in inner(row, "annotations"):
            name, number = text_or_none(annotation.get("name")), number_or_none(part(annotation, "result").get("score"))
            if name is not None and number is not None:
                scores.setdefault(name, []).append(number)
    return [span_of(row) for row in rows], Told(task=trace, scores=scores)


def span_of(row: dict[str, Any]) -> Span:
    attributes = flat(part(row, "attributes"))
    attributes |= {
        key.removeprefix("attributes."): value for key, value in row.items() if key.startswith("attributes.")
    }
    attributes.setdefault("openinference.span.kind", row.get("span_kind"))
    events = [(text_or_none(event.get("name")), flat(part(event, "attributes"))) for event in inner(row, "events")]
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
