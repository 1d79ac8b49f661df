"""Rows of a run's files: a judged rollout, or an attempt that brought none, in the shape NeMo Gym gives them."""

import math
import time
from collections.abc import Mapping
from typing import Any

from blade.environments import Verdict
from blade.environments.answering import readable
from blade.evals.agent import Played
from blade.evals.materialize import REQUEST, Row
from blade.llm import ModelError, Usage

FAILURE_CLASSES = {"timeout": "timeout_exceeded", "rejected": "rejected", "auth": "auth"}
"""What an error of a kind is called in the failures file; all else is `transient`."""
FAILURE, WHY = "_ng_failure_class", "_ng_failure_error"
SETTINGS = ("temperature", "top_p", "max_output_tokens")
NOT_KEPT = "_ng_no_persist"
"""By which an agent says that a row is to be written nowhere; its rollout stays to be done."""


def judged_row(row: Row, played: Played, verdict: Verdict, *, judging: float) -> Row:
    """A rollout with its verdict; what the verifier says comes before what the row says, as in NeMo Gym."""
    return {
        **row,
        **verdict.fields,
        "response": response_of(row, played),
        "reward": verdict.reward if math.isfinite(verdict.reward) else None,
        "turns_used": played.turns,
        "finished_naturally": played.incomplete is None,
        "agent_run_time": round(played.seconds, 4),
        "verification_time": round(judging, 4),
        **identity(row),
    }


def response_of(row: Row, played: Played) -> Row:
    """The Responses object of a whole rollout, all its turns in one output."""
    request = row[REQUEST]
    return {
        "id": played.id,
        "object": "response",
        "created_at": round(played.started, 3),
        "completed_at": round(played.started + played.seconds, 3),
        "model": played.model,
        "status": "incomplete" if played.incomplete else "completed",
        "error": None,
        "incomplete_details": {"reason": played.incomplete} if played.incomplete else None,
        "output": played.items,
        "usage": usage_of(played.usage),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": request.get("tools") or [],
        **{name: None if name in played.refused else request.get(name) for name in SETTINGS},
    }


def usage_of(usage: Usage | None) -> Row | None:
    """Tokens as the Responses API writes them; what is unknown is left out."""
    if usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    sums = usage.total_tokens if usage.total_tokens is not None else usage.input_tokens + usage.output_tokens
    cached, thought = usage.cached_tokens, usage.reasoning_tokens
    return {
        "input_tokens": usage.input_tokens,
        **({} if cached is None else {"input_tokens_details": {"cached_tokens": cached}}),
        "output_tokens": usage.output_tokens,
        **({} if thought is None else {"output_tokens_details": {"reasoning_tokens": thought}}),
        "total_tokens": sums,
    }


def identity(row: Mapping[str, Any]) -> Row:
    """What says which rollout a row is, which no verifier and no agent may change."""
    names = ("_ng_task_index", "_ng_rollout_index", "_ng_attempt_index", "agent_ref", "skills_ref")
    return {name: row[name] for name in names if name in row}


def failed_row(row: Row, error: Exception, *, model: str, seconds: float) -> Row:
    """An attempt that ended without a verdict, and why; no reward, because nothing was judged."""
    kind = error.kind if isinstance(error, ModelError) else "environment_failed"
    failure = FAILURE_CLASSES.get(kind, "transient") if isinstance(error, ModelError) else kind
    said = readable(error if isinstance(error, ModelError) else f"{type(error).__name__}: {error}")
    now = time.time()
    response = {"id": "", "object": "response", "created_at": round(now - seconds, 3), "model": model}
    return {
        **row,
        "response": {**response, "error": {"code": kind, "message": said[:1000]}, "output": [], "usage": None},
        "reward": None,
        "agent_run_time": round(seconds, 4),
        FAILURE: failure,
        "_ng_failure_kind": kind,
        WHY: said[:1000],
        **identity(row),
    }


def field_at(row: Mapping[str, Any], path: str) -> Any:
    """A field of a row, dots reaching into nested ones; `None` where there is none."""
    value: Any = row
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
