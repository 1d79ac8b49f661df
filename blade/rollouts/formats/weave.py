"""W&B Weave calls: rows of the call schema, as `calls/stream_query` and the export write them.

A call of `Evaluation.predict_and_score` is one rollout: its example is the task, what its scorers returned are the
scores, and the evaluation it is part of is the run. Without evaluations, one trace is one rollout.
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from blade.rollouts.formats.chats import chat
from blade.rollouts.formats.coercion import (
    content_text,
    number_or_none,
    part,
    short_values,
    summed,
    text_or_none,
    whole,
)
from blade.rollouts.formats.reader import Found, Probe, Reader
from blade.rollouts.formats.traces import (
    Kind,
    Span,
    TraceInfo,
    error_name,
    holds,
    keyed_rows,
    read_groups,
    seconds_of,
    task_of,
)  # fmt: skip
from blade.rollouts.values import BadLine, Usage

LISTS = ("calls", "data")
NAMES = {"op_name", "trace_id", "inputs", "started_at"}
CALL = "a call of Weave"
SCORED = ("Evaluation.predict_and_score", "Evaluation.predictAndScore")
KINDS: dict[str, Kind] = {"tool": "tool", "agent": "agent", "scorer": "score"}


def recognises(probe: Probe) -> bool:
    """Whether rows have the operation and trace of Weave's calls."""
    return holds(probe, LISTS, NAMES.issubset)


def operation(row: dict[str, Any]) -> str:
    """The name of an operation, which may be written as a reference (`weave:///…/op/NAME:VERSION`)."""
    return str(row.get("op_name")).rpartition("/op/")[2].partition(":")[0]


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every scored prediction, or every trace."""
    parents: dict[str, str | None] = {}
    scored: set[str] = set()
    for found in keyed_rows(path, LISTS, trace_of, what=CALL):
        if not isinstance(found, BadLine):
            row = found[1]
            parents[str(row.get("id"))] = text_or_none(row.get("parent_id"))
            if operation(row) in SCORED:
                scored.add(str(row.get("id")))

    def key_of_row(row: dict[str, Any]) -> str | None:
        trace = trace_of(row)
        return trace if trace is None or not scored else scored_above(str(row.get("id")))

    def scored_above(call: str | None) -> str:
        passed: set[str] = set()
        while call is not None and call not in scored and call not in passed:
            passed.add(call)
            call = parents.get(call)
        return call if call is not None and call in scored else ""

    yield from read_groups(path, wanted, lambda: keyed_rows(path, LISTS, key_of_row, what=CALL), describe)


def trace_of(row: dict[str, Any]) -> str | None:
    return text_or_none(row.get("trace_id")) if "op_name" in row else None


def describe(key: str, rows: list[Any]) -> tuple[list[Span], TraceInfo]:
    root = next((row for row in rows if row.get("id") == key or not row.get("parent_id")), rows[0])
    evaluated = operation(root) in SCORED
    inputs, output = part(root, "inputs"), part(root, "output")
    task = task_of(inputs.get("example")) if evaluated else key
    run = text_or_none(root.get("trace_id")) if evaluated else None
    given = {name: value for name, value in part(root, "attributes").items() if name != "weave"}
    answer = output.get("output", output.get("model_output")) if evaluated else None
    return [span_of(row, rows) for row in rows], TraceInfo(
        task=task,
        run=run,
        answer=text_or_none(content_text(answer)),
        fields={**short_values(given), **(short_values(inputs.get("example")) if evaluated else {})},
        scores=dict(flat_scores(part(output, "scores"))) if evaluated else {},
    )


def flat_scores(scores: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, list[float]]]:
    """Every number or flag that scorers returned, by its path."""
    for name, value in scores.items():
        if isinstance(value, dict):
            yield from flat_scores(value, f"{prefix}{name}.")
        elif (number := number_or_none(value)) is not None:
            yield f"{prefix}{name}", [number]


def span_of(row: dict[str, Any], rows: list[Any]) -> Span:
    name, usage = operation(row), part(part(row, "summary"), "usage")
    # Usage is summed up the tree: only the call that has it and no child with usage is a call to a model.
    calls = bool(usage) and not any(
        other.get("parent_id") == row.get("id") and part(part(other, "summary"), "usage") for other in rows
    )
    kind = "llm" if calls else KINDS.get(str(part(part(row, "attributes"), "weave").get("kind")), "other")
    if name.endswith(".score"):
        kind = "score"
    used = [counts for counts in usage.values() if isinstance(counts, dict)] if calls else []
    inputs = part(row, "inputs")
    return Span(
        id=str(row.get("id")),
        parent=text_or_none(row.get("parent_id")),
        kind=kind,
        name=name,
        start=seconds_of(row.get("started_at")),
        end=seconds_of(row.get("ended_at")),
        model=next(iter(usage), None) if calls else None,
        given=chat(inputs, "user") if calls else [],
        said=chat(row.get("output"), "assistant") if calls else [],
        input=inputs.get("example", {key: value for key, value in inputs.items() if key not in ("self", "model")}),
        output=part(row, "output").get("output") if name in SCORED else row.get("output"),
        error=error_name(row.get("exception")),
        message=text_or_none(row.get("exception")),
        usage=Usage(
            input_tokens=summed(whole(one.get("input_tokens"), one.get("prompt_tokens")) for one in used),
            output_tokens=summed(whole(one.get("output_tokens"), one.get("completion_tokens")) for one in used),
        ),
        settings={key: inputs[key] for key in ("temperature", "top_p", "max_tokens") if key in short_values(inputs)},
    )


READER = Reader(name="weave", title="W&B Weave calls (JSON, JSON Lines)", recognises=recognises, read=read)
