"""OpenTelemetry traces of language models: OTLP JSON, one document or one per line (as the collector's file exporter
writes it), with the attributes of the GenAI conventions, of OpenInference or of OpenLLMetry.

Evaluations are `gen_ai.evaluation.result` events, on a span or as log records, or attributes `eval.NAME.score`.
"""

import base64
import binascii
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from blade.rollouts.formats.building import bad_line
from blade.rollouts.formats.chats import chat, decoded
from blade.rollouts.formats.coercion import number_or_none, objects, part, short_values, text_or_none, whole
from blade.rollouts.formats.reader import Found, Note, Probe, Reader
from blade.rollouts.formats.traces import Keyed, Kind, Span, TraceInfo, error_name, placed_rows, read_groups
from blade.rollouts.values import BadLine, Rollout, Usage

KINDS: dict[str, Kind] = {
    "chat": "llm", "text_completion": "llm", "generate_content": "llm", "execute_tool": "tool", "invoke_agent": "agent",
    "create_agent": "agent", "llm": "llm", "tool": "tool", "retriever": "tool", "agent": "agent", "evaluator": "score",
}  # fmt: skip
"""What operations of the GenAI conventions and kinds of OpenInference and OpenLLMetry are."""
LISTED = re.compile(rb'"resource(?:Spans|Logs)"\s*:\s*\[\s*(?:\{|\]\s*\})')
"""What an export begins with: a list of objects, or an empty one and nothing else."""
SIGNALS = ("resourceSpans", "resourceLogs", "resourceMetrics")
EVALUATION = "gen_ai.evaluation.result"
EVAL_SCORE = re.compile(r"eval\.(.+)\.score")
HEX = re.compile(r"[0-9a-fA-F]+")
SAMPLING = ("temperature", "top_p", "top_k", "max_tokens", "seed", "frequency_penalty", "presence_penalty")


def recognises(probe: Probe) -> bool:
    """Whether a file begins as an export of traces or log records does."""
    named = {"resourceSpans", "resourceLogs"} & probe.keys
    return bool(named) and not probe.is_array and LISTED.search(probe.head) is not None


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every trace that has a span of a language model."""
    others: set[str] = set()
    yield from (
        found
        for found in read_groups(path, wanted, lambda: spans_of(path), describe)
        if not isinstance(found, Rollout) or keep(found, others)
    )
    if others and wanted is None:
        yield Note(text=f"{len(others)} traces have no call to a model or tool and are left out")


def keep(rollout: Rollout, others: set[str]) -> bool:
    if rollout.items or rollout.scores or rollout.ending.kind != "completed":
        return True
    others.add(rollout.task)
    return False


def spans_of(path: Path) -> Iterator[Keyed | BadLine]:
    """Spans and log records, each with the id of its trace."""
    for line, offset, batch in placed_rows(path, ()):
        if isinstance(batch, BadLine):
            yield batch
            continue
        signals = [name for name in batch if name in SIGNALS] if isinstance(batch, dict) else []
        if not signals:
            yield bad_line(path, "is not an export of OpenTelemetry", line=line, offset=offset)
        for resource in [row for name in signals for row in objects(batch.get(name))]:
            for scope in objects(resource.get("scopeSpans")) + objects(resource.get("scopeLogs")):
                for row in objects(scope.get("spans")) + objects(scope.get("logRecords")):
                    trace = identifier(row.get("traceId"))
                    if trace:
                        yield trace, row
                    elif "spanId" in row:
                        yield bad_line(path, "a span has no traceId", line=line, offset=offset)


def identifier(value: Any) -> str | None:
    """An id in hexadecimal, as OTLP writes it; base64 is what protobuf makes of it."""
    if not isinstance(value, str) or not value:
        return None
    if HEX.fullmatch(value) and len(value) in (16, 32):
        return value.lower()
    try:
        return base64.b64decode(value, validate=True).hex() or None
    except (binascii.Error, ValueError):
        return value


def describe(trace: str, rows: list[Any]) -> tuple[list[Span], TraceInfo]:
    """The spans of a trace; evaluations that were logged apart count for it too."""
    spans = [span_of(row) for row in rows if "spanId" in row and "startTimeUnixNano" in row]
    scores: dict[str, list[float]] = {}
    for row in rows:
        attributes = values_of(row.get("attributes"))
        if row.get("eventName") == EVALUATION or attributes.get("event.name") == EVALUATION:
            add_evaluation(scores, attributes)
    return spans, TraceInfo(task=trace, scores=scores)


def span_of(row: dict[str, Any]) -> Span:
    status = part(row, "status")
    events = [
        (text_or_none(event.get("name")), values_of(event.get("attributes"))) for event in objects(row.get("events"))
    ]
    return described(
        values_of(row.get("attributes")),
        events,
        id=identifier(row.get("spanId")) or "",
        parent=identifier(row.get("parentSpanId")),
        name=text_or_none(row.get("name")),
        start=nanoseconds(row.get("startTimeUnixNano")),
        end=nanoseconds(row.get("endTimeUnixNano")),
        failed=status.get("code") == 2 or status.get("code") == "STATUS_CODE_ERROR",
        message=text_or_none(status.get("message")),
    )


def nanoseconds(value: Any) -> float | None:
    number = int(value) if isinstance(value, str) and value.isdigit() else number_or_none(value)
    return None if number is None else number / 1e9


def values_of(attributes: Any) -> dict[str, Any]:
    """Attributes by name, in plain values."""
    found = attributes if isinstance(attributes, list) else []
    return {
        each["key"]: plain(each.get("value"))
        for each in found
        if isinstance(each, dict) and isinstance(each.get("key"), str)
    }


def plain(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "intValue" in value:
        number = value["intValue"]
        return int(number) if isinstance(number, str) and re.fullmatch(r"-?\d{1,19}", number) else number
    if isinstance(value.get("arrayValue"), dict):
        return [plain(each) for each in objects(value["arrayValue"].get("values"))]
    if isinstance(value.get("kvlistValue"), dict):
        return values_of(value["kvlistValue"].get("values"))
    return next((value[key] for key in ("stringValue", "doubleValue", "boolValue", "bytesValue") if key in value), None)


def described(
    attributes: dict[str, Any],
    events: list[tuple[str | None, dict[str, Any]]],
    *,
    id: str,
    parent: str | None,
    name: str | None,
    start: float | None,
    end: float | None,
    failed: bool,
    message: str | None,
) -> Span:
    """A span by what its attributes say, in whichever of the conventions."""
    raised = next((event for called, event in events if called == "exception"), {})
    error = text_or_none(attributes.get("error.type")) or text_or_none(raised.get("exception.type"))
    said = message or text_or_none(raised.get("exception.message"))
    kind = kind_of(attributes)
    parameters = decoded(attributes.get("llm.invocation_parameters"))
    sampling = {each: attributes.get(f"gen_ai.request.{each}") for each in SAMPLING}
    scores: dict[str, list[float]] = {}
    for called, event in events:
        if called == EVALUATION:
            add_evaluation(scores, event)
    add_evaluation(scores, attributes)
    for key, value in attributes.items():
        evaluated = EVAL_SCORE.fullmatch(key)
        if evaluated and (number := number_or_none(value)) is not None:
            scores.setdefault(evaluated.group(1), []).append(number)
    tool = attributes.get("gen_ai.tool.name") or attributes.get("tool.name")
    agent = attributes.get("gen_ai.agent.name") or attributes.get("agent.name")
    return Span(
        id=id,
        parent=parent,
        kind=kind,
        name=text_or_none(tool if kind == "tool" else agent if kind == "agent" else None) or name,
        start=start,
        end=end,
        model=text_or_none(
            attributes.get("gen_ai.request.model")
            or attributes.get("gen_ai.response.model")
            or attributes.get("llm.model_name")
        ),
        given=given_to(attributes, events),
        said=answers_of(attributes, events),
        stop=stop_of(attributes),
        input=decoded(attributes.get("gen_ai.tool.call.arguments", attributes.get("input.value"))),
        output=decoded(attributes.get("gen_ai.tool.call.result", attributes.get("output.value"))),
        call_id=text_or_none(attributes.get("gen_ai.tool.call.id") or attributes.get("tool_call.id")),
        error=(error or error_name(said) or "error") if failed or raised else None,
        message=said,
        tools=offered(attributes),
        usage=usage_of(attributes),
        settings=short_values({**sampling, **(parameters if isinstance(parameters, dict) else {})}),
        fields=short_values({
            "conversation": attributes.get("gen_ai.conversation.id"),
            "session": attributes.get("session.id"),
            "name": name,
        }),
        scores=scores,
    )  # fmt: skip


def offered(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    """The tools a model was offered."""
    listed_tools = decoded(attributes.get("gen_ai.tool.definitions"))
    if not isinstance(listed_tools, list):
        listed_tools = [decoded(tool.get("tool.json_schema")) for tool in numbered(attributes, "llm.tools")]
    return [tool for tool in listed_tools if isinstance(tool, dict)]


def kind_of(attributes: dict[str, Any]) -> Kind:
    for key in ("gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind"):
        kind = KINDS.get(str(attributes.get(key, "")).lower())
        if kind is not None:
            return kind
    if any(
        key.startswith(("gen_ai.request.", "gen_ai.prompt.", "llm.input_messages", "llm.request."))
        for key in attributes
    ):
        return "llm"
    return "tool" if "gen_ai.tool.name" in attributes or "tool.name" in attributes else "other"


def usage_of(attributes: dict[str, Any]) -> Usage:
    """Tokens: of the GenAI conventions (also under their first names), or of OpenInference."""

    def first(*keys: str) -> int | None:
        return whole(*(attributes.get(key) for key in keys))

    cached = first("gen_ai.usage.cache_read.input_tokens", "llm.token_count.prompt_details.cache_read")
    return Usage(
        input_tokens=first("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
        output_tokens=first(
            "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"
        ),
        reasoning_tokens=first("gen_ai.usage.reasoning.output_tokens", "llm.token_count.completion_details.reasoning"),
        cached_tokens=cached,
        cost=number_or_none(attributes.get("llm.cost.total")),
    )


def stop_of(attributes: dict[str, Any]) -> str | None:
    reasons = attributes.get("gen_ai.response.finish_reasons")
    listed_reasons = reasons if isinstance(reasons, list) else decoded(reasons)
    if isinstance(listed_reasons, list) and listed_reasons:
        return text_or_none(listed_reasons[0])
    return text_or_none(attributes.get("llm.finish_reason") or attributes.get("gen_ai.completion.0.finish_reason"))


def given_to(attributes: dict[str, Any], events: list[tuple[str | None, dict[str, Any]]]) -> list[dict[str, Any]]:
    """The messages a model was given."""
    first = chat({"parts": parts, "role": "system"}, "system") if (
        isinstance(parts := decoded(attributes.get("gen_ai.system_instructions")), list)
    ) else []  # fmt: skip
    for source in (
        attributes,
        *(event for name, event in events if name == "gen_ai.client.inference.operation.details"),
    ):
        if "gen_ai.input.messages" in source:
            return first + chat(source["gen_ai.input.messages"], "user")
    indexed = [
        message_of(each) for prefix in ("llm.input_messages", "gen_ai.prompt") for each in numbered(attributes, prefix)
    ]
    if indexed:
        return first + indexed
    roles = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")}
    said = [message_of({"role": roles[name], **event}) for name, event in events if name in roles]
    return first + (said or chat(attributes.get("gen_ai.prompt"), "user"))


def answers_of(attributes: dict[str, Any], events: list[tuple[str | None, dict[str, Any]]]) -> list[dict[str, Any]]:
    """What a model answered."""
    for source in (
        attributes,
        *(event for name, event in events if name == "gen_ai.client.inference.operation.details"),
    ):
        if "gen_ai.output.messages" in source:
            return chat(source["gen_ai.output.messages"], "assistant")
    indexed = [
        message_of(each, "assistant")
        for prefix in ("llm.output_messages", "gen_ai.completion")
        for each in numbered(attributes, prefix)
    ]
    chosen = [event for name, event in events if name == "gen_ai.choice"]
    return (
        indexed
        or [message for event in chosen for message in chat(event.get("message", event.get("content")), "assistant")]
        or chat(attributes.get("gen_ai.completion"), "assistant")
    )


def numbered(attributes: dict[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Objects whose parts are attributes of their own: `prefix.0.role`, `prefix.0.content`, `prefix.1.role`."""
    whole_list = attributes.get(prefix)
    if isinstance(whole_list, list):
        return [flat(each) for each in whole_list if isinstance(each, dict)]
    found: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        number, _, rest = key.removeprefix(prefix + ".").partition(".")
        if key.startswith(prefix + ".") and number.isdecimal() and len(number) < 6 and rest:
            found.setdefault(int(number), {})[rest] = value
    return [found[number] for number in sorted(found)]


def flat(value: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """An object with the names of its parts written out."""
    found: dict[str, Any] = {}
    for key, held in value.items():
        if isinstance(held, dict):
            found |= flat(held, f"{prefix}{key}.")
        else:
            found[f"{prefix}{key}"] = held
    return found


def message_of(parts: dict[str, Any], role: str = "user") -> dict[str, Any]:
    """A message whose parts are attributes (`message.role` in OpenInference, `role` in OpenLLMetry)."""
    parts = {key.removeprefix("message."): value for key, value in parts.items()}
    calls = [
        {key.removeprefix("tool_call.").removeprefix("function."): value for key, value in call.items()}
        for call in numbered(parts, "tool_calls")
    ]
    contents = [each.get("message_content.text") for each in numbered(parts, "contents")]
    return {
        "role": text_or_none(parts.get("role")) or role,
        "content": decoded(parts.get("content"))
        if parts.get("content") is not None
        else [text for text in contents if text],
        "tool_calls": calls,
        "tool_call_id": text_or_none(parts.get("tool_call_id") or parts.get("id")),
        "name": text_or_none(parts.get("name")),
    }


def add_evaluation(scores: dict[str, list[float]], attributes: dict[str, Any]) -> None:
    """Adds a result of the GenAI conventions; a label without a number is not a score."""
    name = text_or_none(attributes.get("gen_ai.evaluation.name"))
    number = number_or_none(attributes.get("gen_ai.evaluation.score.value"))
    if name is not None and number is not None:
        scores.setdefault(name, []).append(number)


READER = Reader(
    name="otlp", title="OpenTelemetry GenAI and OpenInference traces (OTLP JSON)", recognises=recognises, read=read
)
