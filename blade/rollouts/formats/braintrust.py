"""Braintrust experiments and logs: spans as rows, from the API (`events`), from BTQL (`data`) or as exported.

The rows of one `root_span_id` are one rollout. Attempts at one task are those with one input, as Braintrust groups
trials, unless rows name the record of a dataset.
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from blade.rollouts.formats.chats import chat
from blade.rollouts.formats.coercion import content_text, number_or_none, part, short_values, text_or_none, whole
from blade.rollouts.formats.reader import Found, Probe, Reader
from blade.rollouts.formats.traces import (
    Kind,
    Span,
    TraceInfo,
    error_name,
    holds,
    keyed_rows,
    numbers,
    read_groups,
    task_of,
)
from blade.rollouts.values import Expected, Usage

LISTS = ("events", "data", "rows")
KINDS: dict[str, Kind] = {"llm": "llm", "tool": "tool", "score": "score", "task": "agent"}
NAMES = {"span_id", "root_span_id", "span_attributes"}


def recognises(probe: Probe) -> bool:
    """Whether rows have the ids and attributes of Braintrust's spans."""
    return holds(probe, LISTS, NAMES.issubset)


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every trace."""
    yield from read_groups(
        path, wanted, lambda: keyed_rows(path, LISTS, trace_of, what="a span of Braintrust"), describe
    )


def trace_of(row: dict[str, Any]) -> str | None:
    return text_or_none(row.get("root_span_id"))


def describe(trace: str, rows: list[Any]) -> tuple[list[Span], TraceInfo]:
    root = next((row for row in rows if row.get("is_root") or row.get("span_id") == trace), rows[0])
    item = text_or_none(root.get("dataset_record_id")) or text_or_none(part(root, "origin").get("id"))
    run = text_or_none(root.get("experiment_id")) or text_or_none(root.get("log_id"))
    task = item or task_of(root.get("input"))
    judged = [row for row in rows if row is root] if root.get("scores") else rows
    expected = text_or_none(root.get("expected"))
    return [span_of(row) for row in rows], TraceInfo(
        task=task,
        run=run,
        expected=Expected(answers=[expected]) if expected is not None else None,
        answer=text_or_none(content_text(root.get("output"))),
        fields=short_values(root.get("metadata")),
        scores={name: given for row in judged for name, given in numbers(row.get("scores")).items()},
    )


def span_of(row: dict[str, Any]) -> Span:
    attributes, metrics, metadata = (part(row, name) for name in ("span_attributes", "metrics", "metadata"))
    kind = KINDS.get(str(attributes.get("type")), "other")
    parents = row.get("span_parents")
    calls = kind == "llm"
    return Span(
        id=str(row.get("span_id")),
        parent=text_or_none(parents[0]) if isinstance(parents, list) and parents else None,
        kind="score" if attributes.get("purpose") == "scorer" else kind,
        name=text_or_none(attributes.get("name")),
        start=number_or_none(metrics.get("start")),
        end=number_or_none(metrics.get("end")),
        model=text_or_none(metadata.get("model")),
        given=chat(row.get("input"), "user") if calls else [],
        said=chat(row.get("output"), "assistant") if calls else [],
        input=row.get("input"),
        output=row.get("output"),
        error=error_name(row.get("error")),
        message=text_or_none(row.get("error")),
        usage=Usage(
            input_tokens=whole(metrics.get("prompt_tokens")),
            output_tokens=whole(metrics.get("completion_tokens")),
            reasoning_tokens=whole(metrics.get("completion_reasoning_tokens")),
            cached_tokens=whole(metrics.get("prompt_cached_tokens")),
            cost=number_or_none(metrics.get("estimated_cost")),
        ),
        settings={key: value for key, value in short_values(metadata).items() if key != "model"} if calls else {},
    )


READER = Reader(
    name="braintrust", title="Braintrust experiments and logs (JSON, JSON Lines)", recognises=recognises, read=read
)
