"""OpenHands evaluations (`output.jsonl`): one row is one attempt at one instance, its `history` the trajectory.

A row is scored by what the evaluation wrote into it, else by the report beside it; rows of the resolver say themselves
whether they succeeded. Attempts that broke stand in `output_errors.jsonl`, unless a later one took their place.
Histories come in three dialects: events of today's SDK (`kind`), events of versions before 1.0 (`action` and
`observation`), and pairs of those.
"""

import contextlib
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from blade.errors import InputError
from blade.rollouts.formats.building import Attempts, Trajectory, bad_line, place
from blade.rollouts.formats.coercion import (
    arguments_text,
    as_dict,
    content_text,
    first_line,
    json_text,
    number_or_none,
    scalars,
    seconds_between,
    text_or_none,
    whole,
)
from blade.rollouts.formats.files import json_objects
from blade.rollouts.formats.harbor_trial import BY_NAME
from blade.rollouts.formats.reader import Found, Note, Probe, Reader
from blade.rollouts.formats.swe_reports import NO_VERDICT, Verdict, read_report
from blade.rollouts.values import BadLine, Ending, EndingKind, Item, Origin, Rollout, Usage

ENDINGS: dict[str, tuple[EndingKind, Origin | None]] = {
    "AgentStuckInLoopError": ("error", "agent"),
    "LLMMalformedActionError": ("error", "agent"),
    "LLMNoActionError": ("error", "agent"),
    "LLMResponseError": ("error", "agent"),
    "FunctionCallValidationError": ("error", "agent"),
    "FunctionCallNotExistsError": ("error", "agent"),
    "LLMNoResponseError": ("error", "model"),
    "LLMAuthenticationError": ("error", "model"),
    "LLMRateLimitError": ("error", "model"),
    "LLMBadRequestError": ("error", "model"),
    "LLMContextWindowExceedError": ("limit", "agent"),
    "MaxIterationsReached": ("limit", "agent"),
    "MaxBudgetReached": ("limit", "agent"),
    "UserCancelledError": ("cancelled", "user"),
    "OperationCancelled": ("cancelled", "runner"),
    "BrowserInitException": ("error", "environment"),
    "BrowserUnavailableException": ("error", "environment"),
    "EvalTimeoutException": ("timeout", "runner"),
}
QUIET = frozenset({
    "recall", "condensation", "condensation_request", "change_agent_state", "null", "agent_state_changed", "condense",
    "pause", "resume", "stop", "start",
})  # fmt: skip
"""Events about the machinery."""
BOOKKEEPING = frozenset({
    "thought", "blocking", "is_static", "is_input", "hidden", "confirmation_state", "is_confirmed", "keep_prompt",
    "action_risk", "security_risk", "static", "kernel_init_code", "include_extra", "impl_source", "action", "id",
    "timestamp", "source", "message", "tool_call_metadata", "llm_metrics", "timeout", "translated_ipython_code",
})  # fmt: skip
"""Parts of an action that are not what it asks for."""


def typed(name: str | None) -> tuple[EndingKind, Origin | None]:
    if name is None:
        return "error", None
    if name.startswith("AgentRuntime"):
        return ("timeout" if "Timeout" in name else "error"), "environment"
    return ENDINGS.get(name) or BY_NAME.get(name, ("error", None, None))[:2]


class Events:
    """What a history tells: items in order, the tools on offer, and a fault that ended the conversation."""

    def __init__(self, instruction: Any, history: Any) -> None:
        self.tools: list[dict[str, Any]] = []
        self.fault: Ending | None = None
        self._story = Trajectory()
        self._acting = False
        events = [event for entry in as_list(history) for event in (entry if isinstance(entry, list) else [entry])]
        if isinstance(instruction, str) and not any(map(is_prompt, events[:20])):
            self._story.add("message", instruction, role="user", prompt=True)
        times = [time for event in events if isinstance(time := as_dict(event).get("timestamp"), str)]
        self.seconds = seconds_between(times[0], times[-1]) if times else None
        for event in events:
            if isinstance(event, dict):
                self._add(event)

    @property
    def items(self) -> list[Item]:
        return self._story.items

    def _add(self, event: dict[str, Any]) -> None:
        if isinstance(event.get("kind"), str):
            self._add_event(event, event["kind"])
        elif isinstance(event.get("action"), str):
            self._add_action(event, event["action"])
        elif isinstance(event.get("observation"), str):
            self._add_observation(event, event["observation"])

    def _say(self, text: str, source: Any) -> None:
        """A message of the agent, or of whoever speaks to it."""
        if not text:
            return
        if source == "agent" or (source is None and self._acting):
            self._acting = True
            self._story.add("message", text, role="assistant")
        else:
            role = "system" if source == "system" else "user"
            self._story.add("environment" if self._acting else "message", text, role=role, prompt=not self._acting)

    def _add_action(self, event: dict[str, Any], action: str) -> None:
        """An action of versions before 1.0; the earliest keep its arguments beside its name."""
        args = as_dict(event.get("args")) or event
        thought = content_text(args.get("thought"))
        if action in QUIET:
            return
        if action in ("message", "system"):
            self._say(content_text(args.get("content")), "system" if action == "system" else event.get("source"))
            self.tools = self.tools or [tool for tool in as_list(args.get("tools")) if isinstance(tool, dict)]
            return
        self._acting = True
        if action == "think":
            self._story.add("reasoning", thought)
        elif action in ("finish", "reject"):
            self._say(content_text(args.get("final_thought")) or thought or content_text(args.get("outputs")), "agent")
        else:
            self._say(thought, "agent")
            call = as_dict(event.get("tool_call_metadata"))
            asked = {name: value for name, value in args.items() if name not in BOOKKEEPING and value is not None}
            self._story.add(
                "tool_call", json_text(asked), name=text_or_none(call.get("function_name")) or action,
                call_id=text_or_none(call.get("tool_call_id")),
            )  # fmt: skip

    def _add_observation(self, event: dict[str, Any], observation: str) -> None:
        text = content_text(event.get("content"))
        if observation in QUIET or (observation == "think" and self._acting):
            return
        call = as_dict(event.get("tool_call_metadata"))
        self._story.add(
            "tool_result", text, name=text_or_none(call.get("function_name")) or observation,
            call_id=text_or_none(call.get("tool_call_id")), error=first_line(text) if observation == "error" else None,
        )  # fmt: skip

    def _add_event(self, event: dict[str, Any], kind: str) -> None:
        """An event of the SDK."""
        tool, call_id = text_or_none(event.get("tool_name")), text_or_none(event.get("tool_call_id"))
        if kind == "SystemPromptEvent":
            self._say(content_text(event.get("system_prompt")), "system")
            self.tools = [tool for tool in as_list(event.get("tools")) if isinstance(tool, dict)]
        elif kind == "MessageEvent":
            message = as_dict(event.get("llm_message"))
            self._think(message)
            self._say(content_text(message.get("content")), event.get("source"))
        elif kind == "ActionEvent":
            self._acting = True
            self._think(event)
            self._say(content_text(event.get("thought")), "agent")
            asked = as_dict(event.get("tool_call")).get("arguments") or event.get("action")
            self._story.add("tool_call", arguments_text(asked), name=tool, call_id=call_id)
        elif kind == "ObservationEvent":
            seen = as_dict(event.get("observation"))
            text = content_text(seen.get("content"))
            error = first_line(text) if seen.get("is_error") is True else None
            self._story.add("tool_result", text, name=tool, call_id=call_id, error=error)
        elif kind in ("AgentErrorEvent", "UserRejectObservation"):
            text = content_text(event.get("error") or event.get("rejection_reason"))
            self._story.add("tool_result", text, name=tool, call_id=call_id, error=first_line(text))
        elif kind == "ConversationErrorEvent":
            name = text_or_none(event.get("code"))
            ended, origin = typed(name)
            self.fault = Ending(kind=ended, origin=origin, name=name, message=text_or_none(event.get("detail")))

    def _think(self, event: dict[str, Any]) -> None:
        blocks = [content_text(as_dict(block).get("thinking")) for block in as_list(event.get("thinking_blocks"))]
        if thought := content_text(event.get("reasoning_content")) or "\n".join(filter(None, blocks)):
            self._story.add("reasoning", thought)


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def is_prompt(event: Any) -> bool:
    """Whether an event is a user's message."""
    event = as_dict(event)
    said = event.get("action") == "message" or event.get("kind") == "MessageEvent"
    return said and event.get("source") in ("user", None)


OUTPUT, EVALUATED, REPORT = "output.jsonl", "output.swebench_eval.jsonl", "report.json"
"""What a run leaves in its folder; older evaluations wrote the rows again, with their reports."""
ERRORS_AT = 1 << 48
"""Where the places of rows in the file of errors begin."""
CLASS = re.compile(r"^(?:litellm\.)?(\w+(?:Error|Exception|Exceeded|Timeout|Cancelled|Reached))\b")
LIMIT = "Agent reached maximum"
"""How the controller begins what it says when iterations or budget run out; it has no class of its own for that."""


def recognises(probe: Probe) -> bool:
    """Whether a file has rows of an evaluation, or a folder the output of one."""
    if probe.is_folder:
        return OUTPUT in probe.names and recognises(Probe(probe.path / OUTPUT))
    keys = probe.keys
    return {"history", "metrics"} <= keys and (
        ("instance_id" in keys and bool({"test_result", "git_patch"} & keys)) or {"issue", "success"} <= keys
    )


def files(path: Path) -> list[Path]:
    """The rows, those that broke, and the report beside them."""
    rows = rows_file(path)
    return [file for file in (rows, errors_file(rows), *reports(rows)) if file is not None and file.is_file()]


def rows_file(path: Path) -> Path:
    """The file of rows a path stands for."""
    if not path.is_dir():
        return path
    return path / EVALUATED if (path / EVALUATED).is_file() and not (path / REPORT).is_file() else path / OUTPUT


def errors_file(rows: Path) -> Path | None:
    """The file of attempts that broke, beside a run's rows."""
    file = rows.with_name(f"{rows.name.partition('.')[0]}_errors.jsonl")
    return file if file.is_file() else None


def reports(rows: Path) -> list[Path]:
    """Where evaluations leave their report: under the name of the rows, or in older versions under one of its own."""
    return [rows.with_name(f"{rows.name.partition('.')[0]}.report.json"), rows.parent / REPORT]


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every row; its place is its byte offset."""
    rows = rows_file(path)
    reported = beside(rows)
    attempts, judged_itself, seen = Attempts(), False, set[str]()
    for file, start in ((rows, 0), (errors_file(rows), ERRORS_AT)):
        for found in json_objects(file) if file is not None else ():
            if isinstance(found, BadLine):
                yield msgspec.structs.replace(found, offset=start + found.offset)
                continue
            record, row = found
            offset = start + record.offset
            task = task_of(row)
            if task is None:
                yield bad_line(file or rows, "the row has no instance_id", line=record.line, offset=offset)
                continue
            if start and task in seen:
                continue
            seen.add(task)
            number = whole(row.get("attempt"))
            repeat = attempts.next(task) if number is None else number
            judged_itself = judged_itself or ("success" in row and "test_result" not in row)
            if wanted is None or offset in wanted:
                made = rollout(row, task, reported.get(task, NO_VERDICT))
                yield msgspec.structs.replace(made, repeat=repeat, source=place(path, offset, line=record.line))
    if wanted is None:
        yield from notes(rows, judged_itself)


def notes(rows: Path, judged_itself: bool) -> Iterator[Note]:
    """What a reader of the numbers must know."""
    if judged_itself:
        yield Note(text="the score is the resolver's own judgement of its work ('success'), not a test")
    if others := sorted(rows.parent.glob(f"{rows.name.partition('.')[0]}.critic_attempt_*.jsonl")):
        yield Note(text=f"attempts a critic chose from are not read: {', '.join(file.name for file in others[:3])}")


def beside(rows: Path) -> dict[str, Verdict]:
    """What the evaluation's report in the same folder says, by instance."""
    for report in reports(rows):
        if report.is_file():
            with contextlib.suppress(InputError):
                return read_report(report)
    return {}


def task_of(row: dict[str, Any]) -> str | None:
    """The instance's id; for an issue, `owner/repo#number`."""
    issue = as_dict(row.get("issue"))
    if "instance_id" in row or not issue:
        return text_or_none(row.get("instance_id"))
    place = "/".join(filter(None, (text_or_none(issue.get("owner")), text_or_none(issue.get("repo")))))
    return f"{place}#{issue.get('number')}"


def rollout(row: dict[str, Any], task: str, reported: Verdict) -> Rollout:
    """One row."""
    result, metadata = as_dict(row.get("test_result")), as_dict(row.get("metadata"))
    llm = as_dict(metadata.get("llm_config") or metadata.get("llm"))
    story = Events(row.get("instruction"), row.get("history"))
    verdict = verdict_of(row, result) or reported
    ended = error_ending(text_or_none(row.get("error"))) or story.fault or Ending()
    patch = result.get("git_patch", row.get("git_patch"))
    return Rollout(
        task=task,
        repeat=0,
        reward=verdict.reward,
        ending=ended if ended.kind != "completed" else verdict.ending,
        model=text_or_none(llm.get("model")),
        agent=text_or_none(metadata.get("agent_class")) or "OpenHands",
        answer=text_or_none(patch),
        tests=verdict.tests,
        settings=scalars({
            "max_iterations": metadata.get("max_iterations"), "dataset": metadata.get("dataset"),
            "temperature": llm.get("temperature"), "top_p": llm.get("top_p"), "commit": metadata.get("git_commit"),
        }),
        usage=usage_of(as_dict(row.get("metrics"))),
        seconds=story.seconds,
        fields={**fields_of(row), **verdict.fields},
        tools=story.tools,
        items=story.items,
    )  # fmt: skip


def fields_of(row: dict[str, Any]) -> dict[str, Any]:
    """What else may tell rows apart: where an instance comes from, and why the resolver thinks as it does."""
    instance = as_dict(row.get("instance"))
    kept = {name: instance.get(name) for name in ("repo", "version", "difficulty")}
    explained = text_or_none(row.get("result_explanation"))
    return scalars({**kept, **({"result_explanation": explained[:2000]} if explained else {})})


def verdict_of(row: dict[str, Any], result: dict[str, Any]) -> Verdict | None:
    """The evaluation's report in a row, or the resolver's own word."""
    for report in (row.get("report"), result.get("report"), result.get("result"), result):
        if isinstance(report, dict) and isinstance(report.get("resolved"), bool | int):
            return Verdict(reward=float(bool(report["resolved"])), ending=evaluation_ending(report))
    if "success" in row and "test_result" not in row:
        return Verdict(reward=number_or_none(row["success"]))
    tested = as_dict(result.get("eval_result"))
    if (share := number_or_none(tested.get("passed"))) is not None:  # the share of tests; all must pass
        return Verdict(reward=float(share == 1), fields={"pass_rate": share})
    flags = [value for value in result.values() if isinstance(value, bool)]
    score = result.get("score", flags[0] if len(flags) == 1 else None)
    return None if row.get("error") or number_or_none(score) is None else Verdict(reward=number_or_none(score))


def evaluation_ending(report: dict[str, Any]) -> Ending:
    """Why the evaluation of a patch came to no verdict of its own."""
    if report.get("test_timeout"):
        return Ending(kind="timeout", origin="verifier", name="test_timeout")
    if report.get("error_eval"):
        return Ending(kind="error", origin="verifier", name="error_eval")
    if report.get("failed_apply_patch"):
        return Ending(kind="error", origin="agent", name="failed_apply_patch")
    return Ending()


def error_ending(error: str | None) -> Ending | None:
    """Why a row has an error, by the class it begins with."""
    if error is None:
        return None
    match = CLASS.match(error)
    name = match.group(1) if match else None
    kind, origin = typed(name)
    if LIMIT in error[:200]:
        kind, origin = "limit", "agent"
    elif name is None and error.startswith("Timeout after "):
        kind, origin = "timeout", "runner"
    return Ending(kind=kind, origin=origin, name=name, message=error)


def usage_of(metrics: dict[str, Any]) -> Usage:
    """What all calls used together."""
    tokens = as_dict(metrics.get("accumulated_token_usage"))
    return Usage(
        input_tokens=whole(tokens.get("prompt_tokens")) or None,
        output_tokens=whole(tokens.get("completion_tokens")) or None,
        reasoning_tokens=whole(tokens.get("reasoning_tokens")) or None,
        cached_tokens=whole(tokens.get("cache_read_tokens")) or None,
        cost=number_or_none(metrics.get("accumulated_cost")) or None,
    )


READER = Reader(
    name="openhands",
    title="OpenHands evaluations and resolver runs (output.jsonl)",
    recognises=recognises,
    read=read,
    files=files,
)
