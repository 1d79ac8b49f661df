"""Claude Code sessions (JSON Lines): one session is one attempt that nobody scored.

Transcripts from a project's folder and the output of `claude -p --output-format stream-json` have the same messages;
the latter also says how it ended. A sub-agent's turns stand in the file itself (`isSidechain`) or in one of their own.
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Protocol

import msgspec

from blade.errors import InputError
from blade.rollouts.formats.building import Trajectory, bad_line, place
from blade.rollouts.formats.coercion import (
    as_dict,
    content_text,
    first_line,
    number_or_none,
    scalars,
    seconds_between,
    summed,
    text_or_none,
    whole,
)
from blade.rollouts.formats.files import BROKEN, OBJECT, json_objects
from blade.rollouts.formats.reader import Found, Probe, Reader
from blade.rollouts.values import BadLine, Ending, EndingKind, Item, ItemKind, Origin, Rollout, Usage

LOOKED_AT = 20
"""Lines in which a session must show what it is; snapshots and settings may come first."""
SYNTHETIC = "<synthetic>"
"""The model of messages that Claude Code writes itself."""
RESULTS: dict[str, tuple[EndingKind, Origin | None]] = {
    "success": ("completed", None),
    "error_max_turns": ("limit", "agent"),
    "error_max_budget_usd": ("limit", "agent"),
    "error_max_structured_output_retries": ("error", "agent"),
    "error_during_execution": ("error", None),
}


def recognises(probe: Probe) -> bool:
    """Whether one of the first lines is a message of a session."""
    return any(map(is_message, first_objects(probe)))


def first_objects(probe: Probe) -> Iterator[dict[str, Any]]:
    """The first lines of a file that are whole JSON objects."""
    for line in probe.head.split(b"\n")[:LOOKED_AT]:
        if line.startswith(b"{"):
            try:
                yield OBJECT.decode(line)
            except BROKEN:
                continue


def is_message(row: dict[str, Any]) -> bool:
    session = row.get("sessionId", row.get("session_id"))
    if not isinstance(session, str):
        return False
    if row.get("type") == "system":
        return row.get("subtype") == "init" and "tools" in row
    return row.get("type") in ("user", "assistant") and "role" in as_dict(row.get("message")) and "uuid" in row


def is_subagent(probe: Probe) -> bool:
    """Whether a file holds the turns of a sub-agent, which are told with its session."""
    first = next(filter(is_message, first_objects(probe)), {})
    return first.get("isSidechain") is True and isinstance(first.get("agentId"), str)


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """The one attempt a session is."""
    yield from read_session(path, wanted, Session(path))


def read_session(path: Path, wanted: Collection[int] | None, session: "AnySession") -> Iterator[Found]:
    """The attempt that the lines of a session add up to, and the lines that cannot be used.

    Raises:
        InputError: the session holds no message.
    """
    for row in rows_of(path):
        if isinstance(row, BadLine):
            yield row
        else:
            session.add(row)
    if not session.items:
        raise InputError(f"{path}: the session holds no message.")
    if wanted is None or 0 in wanted:
        yield session.rollout()


class AnySession(Protocol):
    """What gathers the lines of a session."""

    @property
    def items(self) -> list[Item]: ...

    def add(self, row: dict[str, Any]) -> None: ...

    def rollout(self) -> Rollout: ...


def rows_of(path: Path) -> Iterator[dict[str, Any] | BadLine]:
    """The lines of a session. Programs add kinds of lines with every version, but each says of which kind it is."""
    for found in json_objects(path):
        if isinstance(found, BadLine) or isinstance(found[1].get("type"), str):
            yield found if isinstance(found, BadLine) else found[1]
        else:
            yield bad_line(path, "is not a line of a session", line=found[0].line, offset=found[0].offset)


class Session:
    """What the lines of a session tell, one after the other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._story = Trajectory()
        self._acting = False
        self._name: str | None = None
        self._model: str | None = None
        self._version: str | None = None
        self._usages: dict[str, dict[str, Any]] = {}
        self._times: list[str] = []
        self._fault: Ending | None = None
        self._result: dict[str, Any] = {}

    @property
    def items(self) -> list[Item]:
        return self._story.items

    def add(self, row: dict[str, Any]) -> None:
        """Adds what one line says; lines about the program say nothing."""
        self._name = self._name or text_or_none(row.get("sessionId", row.get("session_id")))
        self._version = self._version or text_or_none(row.get("version", row.get("claude_code_version")))
        if isinstance(row.get("timestamp"), str):
            self._times.append(row["timestamp"])
        message, kind = as_dict(row.get("message")), row.get("type")
        actor = text_or_none(row.get("agentId")) or ("sidechain" if row.get("isSidechain") is True else None)
        actor = actor or text_or_none(row.get("parent_tool_use_id"))
        if kind == "assistant":
            self._add_assistant(row, message, actor)
        elif kind == "user":
            self._add_user(row, message, actor)
        elif kind == "result":
            self._result = row

    def _add_assistant(self, row: dict[str, Any], message: dict[str, Any], actor: str | None) -> None:
        text = content_text(message.get("content"))
        if row.get("isApiErrorMessage") is True or message.get("model") == SYNTHETIC:
            self._story.add("environment", text, role="error", agent=actor)
            if row.get("isApiErrorMessage") is True and actor is None:
                name = text_or_none(row.get("error")) or "api_error"
                self._fault = Ending(kind="error", origin="model", name=name, message=text)
            return
        self._acting, self._fault = True, None if actor is None else self._fault
        self._model = self._model or text_or_none(message.get("model"))
        if usage := as_dict(message.get("usage")):
            # One answer is split into several lines, each with the usage so far.
            self._usages[text_or_none(message.get("id")) or str(len(self._usages))] = usage
        for block in blocks_of(message):
            kind = block.get("type")
            if kind == "text":
                self._story.add("message", content_text(block), role="assistant", agent=actor)
            elif kind == "thinking":
                self._story.add("reasoning", content_text(block.get("thinking")), agent=actor)
            elif kind in ("tool_use", "server_tool_use"):
                self._story.add(
                    "tool_call", msgspec.json.encode(block.get("input")).decode(), name=text_or_none(block.get("name")),
                    call_id=text_or_none(block.get("id")), agent=actor,
                )  # fmt: skip

    def _add_user(self, row: dict[str, Any], message: dict[str, Any], actor: str | None) -> None:
        self._add_subagent(as_dict(row.get("toolUseResult")).get("agentId"))
        for block in blocks_of(message):
            text = content_text(block.get("content") if block.get("type") == "tool_result" else block)
            if block.get("type") == "tool_result":
                error = first_line(text) if block.get("is_error") is True else None
                call_id = text_or_none(block.get("tool_use_id"))
                self._story.add("tool_result", text, call_id=call_id, error=error, agent=actor)
            elif text:
                kind: ItemKind = "environment" if self._acting else "message"
                self._story.add(kind, text, role="user", prompt=not self._acting, agent=actor)

    def _add_subagent(self, name: Any) -> None:
        """The turns of a sub-agent that has a file of its own."""
        if not isinstance(name, str) or not name.replace("-", "").isalnum():
            return
        file = self.path.parent / self.path.stem / "subagents" / f"agent-{name}.jsonl"
        for row in rows_of(file) if file.is_file() else ():
            if not isinstance(row, BadLine) and row.get("type") in ("user", "assistant"):
                self.add({**row, "agentId": name, "toolUseResult": None})

    def rollout(self) -> Rollout:
        """The session so far."""
        return Rollout(
            task=self._name or self.path.stem,
            repeat=0,
            model=self._model,
            agent="claude-code",
            ending=self._ending(),
            settings=scalars({"agent_version": self._version}),
            usage=self._usage(),
            seconds=seconds_between(self._times[0], self._times[-1]) if len(self._times) > 1 else None,
            fields=scalars({"num_turns": self._result.get("num_turns")}),
            items=self.items,
            source=place(self.path, 0),
        )

    def _ending(self) -> Ending:
        subtype = text_or_none(self._result.get("subtype"))
        if subtype is None or (subtype == "success" and self._result.get("is_error") is not True):
            return self._fault or Ending()
        kind, origin = ("error", "model") if subtype == "success" else RESULTS.get(subtype, ("error", None))
        return Ending(kind=kind, origin=origin, name=subtype, message=text_or_none(self._result.get("result")))

    def _usage(self) -> Usage:
        each = list(self._usages.values()) or [as_dict(self._result.get("usage"))]
        read, written = ([whole(one.get(f"cache_{how}_input_tokens")) for one in each] for how in ("read", "creation"))
        plain = [whole(one.get("input_tokens")) for one in each]
        return Usage(
            input_tokens=summed([*plain, *read, *written]) or None,
            output_tokens=summed(whole(one.get("output_tokens")) for one in each) or None,
            cached_tokens=summed(read),
            cost=number_or_none(self._result.get("total_cost_usd")),
        )


def blocks_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def files(path: Path) -> list[Path]:
    """The session and its sub-agents."""
    return [path, *sorted((path.parent / path.stem / "subagents").glob("agent-*.jsonl"))]


READER = Reader(
    name="claude-code",
    title="Claude Code sessions (JSON Lines)",
    recognises=recognises,
    read=read,
    files=files,
    passes_over=is_subagent,
)
