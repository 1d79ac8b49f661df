"""One story in the rows of every tracer: an agent multiplies with a tool and answers; another time the tool breaks.

Rows are written by hand as the documentation gives them; their names are those of the classes in langsmith 0.14,
langfuse 5.0, braintrust 0.48 and arize-phoenix-client 3.5, and of Weave's call schema.
"""

import json
from pathlib import Path
from typing import Any

QUESTION = {"role": "user", "content": "What is 6*7?"}
CALL = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "multiply", "arguments": '{"a":6,"b":7}'}}],
}
ANSWER = {"role": "tool", "tool_call_id": "c1", "content": "42"}
SAID = {"role": "assistant", "content": "It is 42"}
SLOW = "TimeoutError: too slow"


def story(trace: str) -> list[dict[str, Any]]:
    """Steps of a trace: trace 'good' ends well, trace 'bad' with its tool."""
    root = {"id": f"{trace}-0", "parent": None, "kind": "agent", "at": (0, 9), "input": "What is 6*7?"}
    first = {"id": f"{trace}-1", "parent": root["id"], "kind": "llm", "at": (1, 2), "input": [QUESTION], "output": CALL}
    tool = {"id": f"{trace}-2", "parent": root["id"], "kind": "tool", "at": (3, 4), "input": {"a": 6, "b": 7}}
    last = {
        "id": f"{trace}-3",
        "parent": root["id"],
        "kind": "llm",
        "at": (5, 6),
        "input": [QUESTION, CALL, ANSWER],
        "output": SAID,
    }
    if trace == "bad":
        return [{**root, "error": SLOW, "output": None}, first, {**tool, "error": SLOW, "output": None}]
    return [{**root, "output": "It is 42"}, first, {**tool, "output": "42"}, last]


def stamp(second: int) -> str:
    return f"2026-01-01T00:00:0{second}+00:00"


def attribute(key: str, value: Any) -> dict[str, Any]:
    kind = "boolValue" if isinstance(value, bool) else "intValue" if isinstance(value, int) else "stringValue"
    kind = "doubleValue" if isinstance(value, float) else kind
    return {"key": key, "value": {kind: str(value) if kind == "intValue" else value}}


def parts(message: dict[str, Any]) -> dict[str, Any]:
    if message["role"] == "tool":
        return {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": message["content"]}]}
    text = [{"type": "text", "content": message["content"]}] if message["content"] else []
    calls = [
        {"type": "tool_call", "id": call["id"], "name": call["function"]["name"], "arguments": {"a": 6, "b": 7}}
        for call in message.get("tool_calls", ())
    ]
    return {"role": message["role"], "parts": [*text, *calls]}


def genai(step: dict[str, Any]) -> dict[str, Any]:
    if step["kind"] == "llm":
        return {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m",
            "gen_ai.request.temperature": 0.5,
            "gen_ai.usage.input_tokens": 10,
            "gen_ai.usage.output_tokens": 5,
            "gen_ai.input.messages": json.dumps([parts(message) for message in step["input"]]),
            "gen_ai.output.messages": json.dumps([parts(step["output"])]),
        }
    if step["kind"] == "tool":
        return {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "multiply",
            "gen_ai.tool.call.id": "c1",
            **({"gen_ai.tool.call.result": step["output"]} if step["output"] else {}),
        }
    return {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "counter"}


def openinference(step: dict[str, Any]) -> dict[str, Any]:
    if step["kind"] == "llm":
        found: dict[str, Any] = {
            "openinference.span.kind": "LLM",
            "llm.model_name": "m",
            "llm.token_count.prompt": 10,
            "llm.token_count.completion": 5,
            "llm.invocation_parameters": '{"temperature": 0.5}',
        }
        for side, messages in (("input", step["input"]), ("output", [step["output"]])):
            for place, message in enumerate(messages):
                prefix = f"llm.{side}_messages.{place}.message"
                found |= {f"{prefix}.role": message["role"], f"{prefix}.content": message["content"]}
                if "tool_call_id" in message:
                    found[f"{prefix}.tool_call_id"] = message["tool_call_id"]
                for number, call in enumerate(message.get("tool_calls", ())):
                    inner = f"{prefix}.tool_calls.{number}.tool_call"
                    found |= {
                        f"{inner}.id": call["id"],
                        f"{inner}.function.name": call["function"]["name"],
                        f"{inner}.function.arguments": call["function"]["arguments"],
                    }
        return found
    if step["kind"] == "tool":
        return {"openinference.span.kind": "TOOL", "tool.name": "multiply", "output.value": step["output"] or ""}
    return {"openinference.span.kind": "AGENT", "agent.name": "counter"}


def otlp_span(step: dict[str, Any], trace: str, attributes: dict[str, Any]) -> dict[str, Any]:
    events = []
    if step["kind"] == "agent":
        value = 1.0 if trace == "good" else 0.0
        named = {"gen_ai.evaluation.name": "correct", "gen_ai.evaluation.score.value": value}
        events = [{"name": "gen_ai.evaluation.result", "attributes": [attribute(*pair) for pair in named.items()]}]
    if step.get("error"):
        raised = {"exception.type": "TimeoutError", "exception.message": "too slow"}
        events.append({"name": "exception", "attributes": [attribute(*pair) for pair in raised.items()]})
    return {
        "traceId": trace.encode().hex().rjust(32, "0"),
        "spanId": step["id"].encode().hex()[-16:].rjust(16, "0"),
        "parentSpanId": (step["parent"] or "").encode().hex()[-16:].rjust(16, "0") if step["parent"] else "",
        "name": step["kind"],
        "startTimeUnixNano": f"{step['at'][0]}000000000",
        "endTimeUnixNano": f"{step['at'][1]}000000000",
        "events": events,
        "attributes": [attribute(*pair) for pair in attributes.items()],
        "status": {"code": 2, "message": "too slow"} if step.get("error") else {},
    }


def otlp(attributes_of: Any) -> list[dict[str, Any]]:
    return [
        {"resourceSpans": [{"scopeSpans": [{"spans": [otlp_span(step, trace, attributes_of(step))]}]}]}
        for trace in ("good", "bad")
        for step in story(trace)
    ]


def phoenix() -> list[dict[str, Any]]:
    return [
        {
            "id": f"id-{step['id']}",
            "name": step["kind"],
            "context": {"trace_id": trace, "span_id": step["id"]},
            "span_kind": step["kind"].upper(),
            "parent_id": step["parent"],
            "start_time": stamp(step["at"][0]),
            "end_time": stamp(step["at"][1]),
            "status_code": "ERROR" if step.get("error") else "OK",
            "status_message": step.get("error") or "",
            "attributes": openinference(step),
            "events": [],
            "annotations": [{"name": "correct", "annotator_kind": "CODE", "result": {"score": float(trace == "good")}}]
            if step["kind"] == "agent"
            else [],
        }
        for trace in ("good", "bad")
        for step in story(trace)
    ]


def langsmith() -> list[dict[str, Any]]:
    def outputs(step: dict[str, Any]) -> Any:
        if step["kind"] == "llm":
            return {"choices": [{"message": step["output"]}]}
        return {"output": step["output"]} if step["output"] else None

    return [
        {
            "id": step["id"],
            "trace_id": trace,
            "parent_run_id": step["parent"],
            "name": {"tool": "multiply"}.get(step["kind"], step["kind"]),
            "run_type": {"agent": "chain"}.get(step["kind"], step["kind"]),
            "start_time": stamp(step["at"][0]),
            "end_time": stamp(step["at"][1]),
            "dotted_order": step["id"],
            "inputs": {"messages": step["input"]} if step["kind"] == "llm" else {"input": step["input"]},
            "outputs": outputs(step),
            "error": step.get("error"),
            "session_id": "experiment",
            "reference_example_id": f"example-{trace}",
            "extra": {"metadata": {"ls_model_name": "m", "ls_temperature": 0.5}},
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "feedback_stats": {"correct": {"n": 1, "avg": float(trace == "good"), "values": {}}}
            if step["kind"] == "agent"
            else {},
        }
        for trace in ("good", "bad")
        for step in story(trace)
    ]


def braintrust() -> list[dict[str, Any]]:
    return [
        {
            "id": f"row-{step['id']}",
            "experiment_id": "experiment",
            "project_id": "project",
            "created": stamp(step["at"][0]),
            "span_id": step["id"],
            "root_span_id": f"{trace}-0",
            "is_root": step["parent"] is None,
            "span_parents": [step["parent"]] if step["parent"] else None,
            "dataset_record_id": f"record-{trace}" if step["parent"] is None else None,
            "input": step["input"],
            "output": step["output"],
            "expected": "42" if step["parent"] is None else None,
            "error": step.get("error"),
            "scores": {"correct": float(trace == "good")} if step["parent"] is None else {},
            "metadata": {"model": "m", "temperature": 0.5} if step["kind"] == "llm" else {"level": "easy"},
            "metrics": {"start": step["at"][0], "end": step["at"][1], "prompt_tokens": 10, "completion_tokens": 5},
            "span_attributes": {
                "name": {"tool": "multiply"}.get(step["kind"], step["kind"]),
                "type": {"agent": "eval"}.get(step["kind"], step["kind"]),
            },
        }
        for trace in ("good", "bad")
        for step in story(trace)
    ]


def langfuse() -> list[dict[str, Any]]:
    def observation(step: dict[str, Any], trace: str) -> dict[str, Any]:
        return {
            "id": step["id"],
            "traceId": trace,
            "parentObservationId": step["parent"],
            "type": {"llm": "GENERATION"}.get(step["kind"], step["kind"].upper()),
            "name": {"tool": "multiply"}.get(step["kind"], step["kind"]),
            "startTime": stamp(step["at"][0]),
            "endTime": stamp(step["at"][1]),
            "model": "m" if step["kind"] == "llm" else None,
            "modelParameters": {"temperature": 0.5},
            "input": step["input"],
            "output": step["output"],
            "usageDetails": {"input": 10, "output": 5, "total": 15} if step["kind"] == "llm" else {},
            "level": "ERROR" if step.get("error") else "DEFAULT",
            "statusMessage": step.get("error"),
        }

    return [
        {
            "id": trace,
            "timestamp": stamp(0),
            "name": "run",
            "sessionId": None,
            "htmlPath": "/",
            "input": "What is 6*7?",
            "output": None,
            "metadata": {"level": "easy"},
            "observations": [observation(step, trace) for step in story(trace)],
            "scores": [
                {
                    "id": "s",
                    "traceId": trace,
                    "name": "correct",
                    "value": int(trace == "good"),
                    "dataType": "BOOLEAN",
                    "stringValue": "True",
                },
                {
                    "id": "t",
                    "traceId": trace,
                    "name": "tone",
                    "value": 0,
                    "dataType": "CATEGORICAL",
                    "stringValue": "friendly",
                },
            ],
        }
        for trace in ("good", "bad")
    ]


def weave() -> list[dict[str, Any]]:
    def call(step: dict[str, Any], trace: str) -> dict[str, Any]:
        root = step["kind"] == "agent"
        name = (
            "Evaluation.predict_and_score"
            if root
            else {"llm": "openai.chat.completions.create", "tool": "multiply"}[step["kind"]]
        )
        scored = {"output": step["output"], "scores": {"judge": {"correct": trace == "good"}}, "model_latency": 1.0}
        answer = {"choices": [{"message": step["output"]}]} if step["kind"] == "llm" else step["output"]
        return {
            "id": step["id"],
            "project_id": "team/project",
            "op_name": f"weave:///team/project/op/{name}:v1",
            "trace_id": "evaluation",
            "parent_id": step["parent"] or "evaluate",
            "started_at": stamp(step["at"][0]),
            "ended_at": stamp(step["at"][1]),
            "attributes": {"weave": {"kind": step["kind"]}},
            "inputs": {"messages": step["input"], "temperature": 0.5}
            if step["kind"] == "llm"
            else {"example": {"question": f"{trace}: 6*7?"}}
            if root
            else step["input"],
            "output": scored if root else answer,
            "exception": step.get("error"),
            "summary": {"usage": {"m": {"prompt_tokens": 10, "completion_tokens": 5}}} if step["kind"] == "llm" else {},
        }

    top: dict[str, Any] = {
        "id": "evaluate",
        "op_name": "weave:///team/project/op/Evaluation.evaluate:v1",
        "trace_id": "evaluation",
        "parent_id": None,
        "started_at": stamp(0),
        "ended_at": stamp(9),
        "attributes": {},
        "inputs": {},
        "output": {},
        "exception": None,
        "summary": {},
    }
    return [top, *(call(step, trace) for trace in ("good", "bad") for step in story(trace))]


SAMPLES = {
    "otlp": lambda: otlp(genai),
    "otlp-openinference": lambda: otlp(openinference),
    "phoenix": phoenix,
    "langsmith": langsmith,
    "braintrust": braintrust,
    "langfuse": langfuse,
    "weave": weave,
}


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
