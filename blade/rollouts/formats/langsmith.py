"""LangSmith runs: rows of the run data format, one run per row, as the API and `Run.dict()` write them.

The runs of one `trace_id` are one rollout. An example of a dataset is the task, where runs refer to one; the score is
the mean of each feedback on the trace's first run (`feedback_stats`).
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from blade.rollouts.formats.chats import chat
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

LISTS = ("runs", "data")
KINDS: dict[str, Kind] = {"llm": "llm", "tool": "tool", "retriever": "tool"}
NAMES = {"run_type", "trace_id", "inputs", "start_time"}


def recognises(probe: Probe) -> bool:
    """Whether rows have the type and trace of LangSmith's runs."""
    return holds(probe, LISTS, NAMES.issubset)


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every trace."""
    yield from read_groups(path, wanted, lambda: runs_of(path), describe)


def runs_of(path: Path) -> Iterator[Keyed | BadLine]:
    """Every run with the id of its trace, those kept within others too."""
    for found in keyed_rows(path, LISTS, trace_of, what="a run of LangSmith"):
        if isinstance(found, BadLine):
            yield found
        else:
            yield from ((trace_of(run) or found[0], run) for run in with_children(found[1]))


def trace_of(run: dict[str, Any]) -> str | None:
    return text_or_none(run.get("trace_id"))


def with_children(run: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A run and those kept within it, as `read_run(load_child_runs=True)` gives them."""
    yield run
    for child in objects(run.get("child_runs")):
        yield from with_children(child)


def describe(trace: str, rows: list[Any]) -> tuple[list[Span], TraceInfo]:
    root = next((row for row in rows if not row.get("parent_run_id")), rows[0])
    task = text_or_none(root.get("reference_example_id")) or trace
    run = text_or_none(root.get("session_id"))
    feedback = part(root, "feedback_stats")
    scores: dict[str, list[float]] = {}
    for name, stats in feedback.items():
        mean = number_or_none(stats.get("avg")) if isinstance(stats, dict) else None
        scores[name] = [] if mean is None else [mean]
    return [span_of(row) for row in rows], TraceInfo(
        task=task, run=run, fields={**own_metadata(root), **short_values({"name": root.get("name")})}, scores=scores
    )


def own_metadata(row: dict[str, Any]) -> dict[str, Any]:
    """What the user recorded with a run, without what LangSmith adds."""
    return {key: value for key, value in short_values(part(part(row, "extra"), "metadata")).items() if key[:3] != "ls_"}


def span_of(row: dict[str, Any]) -> Span:
    extra = part(row, "extra")
    metadata, parameters = part(extra, "metadata"), part(extra, "invocation_params")
    kind = KINDS.get(str(row.get("run_type")), "other")
    calls = kind == "llm"
    outputs = part(row, "outputs")
    return Span(
        id=str(row.get("id")),
        parent=text_or_none(row.get("parent_run_id")),
        kind=kind,
        name=text_or_none(row.get("name")),
        start=seconds_of(row.get("start_time")),
        end=seconds_of(row.get("end_time")),
        model=text_or_none(metadata.get("ls_model_name") or parameters.get("model") or parameters.get("model_name")),
        given=chat(row.get("inputs"), "user") if calls else [],
        said=chat(outputs, "assistant") if calls else [],
        input=row.get("inputs"),
        output=outputs.get("output", outputs) or None,
        error=error_name(row.get("error")),
        message=text_or_none(row.get("error")),
        usage=Usage(
            input_tokens=whole(row.get("prompt_tokens")),
            output_tokens=whole(row.get("completion_tokens")),
            reasoning_tokens=whole(part(row, "completion_token_details").get("reasoning")),
            cached_tokens=whole(part(row, "prompt_token_details").get("cache_read")),
            cost=cost_of(row.get("total_cost")),
        ),
        settings={key.removeprefix("ls_"): value for key, value in short_values(metadata).items() if key in SAMPLING},
    )


SAMPLING = ("ls_temperature", "ls_max_tokens", "ls_provider")


def cost_of(value: Any) -> float | None:
    """A cost, which the API writes as a text."""
    try:
        return number_or_none(float(value) if isinstance(value, str) else value)
    except ValueError:
        return None


READER = Reader(name="langsmith", title="LangSmith runs (JSON, JSON Lines)", recognises=recognises, read=read)
