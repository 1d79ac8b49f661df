"""Codex sessions (`rollout-*.jsonl`): one session is one attempt that nobody scored."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from blade.rollouts.formats.building import Trajectory, place
from blade.rollouts.formats.claude_code import first_objects, read_session
from blade.rollouts.formats.coercion import (
    arguments_text,
    as_dict,
    content_text,
    first_line,
    scalars,
    seconds_between,
    text_or_none,
    whole,
)
from blade.rollouts.formats.files import BROKEN, OBJECT
from blade.rollouts.formats.reader import Found, Probe, Reader
from blade.rollouts.values import Ending, Item, ItemKind, Rollout, Usage

LINES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "web_search_call": "action",
}
"""Kinds of calls, and where each keeps what it asks for."""
OUTPUTS = ("function_call_output", "custom_tool_call_output")


def recognises(probe: Probe) -> bool:
    """Whether a file begins with a session's description, or all its first lines are of the kinds a session has."""
    first = list(first_objects(probe))
    return bool(first) and all(row.get("type") in LINES and isinstance(row.get("payload"), dict) for row in first)


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """The one attempt a session is."""
    yield from read_session(path, wanted, Session(path))


class Session:
    """What the lines of a session tell, one after the other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._story = Trajectory()
        self._acting = False
        self._meta: dict[str, Any] = {}
        self._turn: dict[str, Any] = {}
        self._used: dict[str, Any] = {}
        self._times: list[str] = []
        self._ending = Ending()

    @property
    def items(self) -> list[Item]:
        return self._story.items

    def add(self, row: dict[str, Any]) -> None:
        """Adds what one line says."""
        kind, payload = row.get("type"), as_dict(row.get("payload"))
        if isinstance(row.get("timestamp"), str):
            self._times.append(row["timestamp"])
        if kind == "session_meta":
            self._meta = self._meta or payload
        elif kind == "turn_context":
            self._turn = payload
        elif kind == "response_item":
            self._add_item(payload, text_or_none(payload.get("type")))
        elif kind == "event_msg":
            self._add_event(payload, text_or_none(payload.get("type")))

    def _add_event(self, event: dict[str, Any], kind: str | None) -> None:
        if kind == "token_count":
            self._used = as_dict(as_dict(event.get("info")).get("total_token_usage")) or self._used
        elif kind in ("task_started", "turn_started", "task_complete", "turn_complete"):
            self._ending = Ending()
        elif kind == "turn_aborted":
            self._ending = Ending(kind="cancelled", origin="user", name=text_or_none(event.get("reason")))
        elif kind == "error":
            name = event.get("codex_error_info")
            message = text_or_none(event.get("message"))
            self._ending = Ending(kind="error", name=name if isinstance(name, str) else None, message=message)

    def _add_item(self, item: dict[str, Any], kind: str | None) -> None:
        call_id = text_or_none(item.get("call_id") or item.get("id"))
        if kind == "message":
            self._add_message(item)
        elif kind == "reasoning":
            self._acting = True
            if thought := content_text(item.get("summary")) or content_text(item.get("content")):
                self._story.add("reasoning", thought)
        elif kind in CALLS:
            self._acting = True
            name = text_or_none(item.get("name")) or kind.removesuffix("_call")
            self._story.add("tool_call", arguments_text(item.get(CALLS[kind])), name=name, call_id=call_id)
        elif kind in OUTPUTS:
            text, failed = output_of(item.get("output"))
            self._story.add("tool_result", text, call_id=call_id, error=first_line(text) if failed else None)

    def _add_message(self, item: dict[str, Any]) -> None:
        text, role = content_text(item.get("content")), text_or_none(item.get("role")) or "user"
        if role == "assistant":
            self._acting = True
            self._story.add("message", text, role=role)
        elif text:
            kind: ItemKind = "environment" if self._acting else "message"
            self._story.add(kind, text, role=role, prompt=not self._acting)

    def rollout(self) -> Rollout:
        """The session so far."""
        used, sandbox = self._used, as_dict(self._turn.get("sandbox_policy"))
        return Rollout(
            task=text_or_none(self._meta.get("id")) or self.path.stem,
            repeat=0,
            model=text_or_none(self._turn.get("model")),
            agent="codex",
            ending=self._ending,
            settings=scalars({
                "agent_version": self._meta.get("cli_version"), "reasoning_effort": self._turn.get("effort"),
                "approval_policy": self._turn.get("approval_policy"),
                "sandbox": sandbox.get("mode", sandbox.get("type")),
            }),
            usage=Usage(
                input_tokens=whole(used.get("input_tokens")),
                output_tokens=whole(used.get("output_tokens")),
                reasoning_tokens=whole(used.get("reasoning_output_tokens")),
                cached_tokens=whole(used.get("cached_input_tokens")),
            ),
            seconds=seconds_between(self._times[0], self._times[-1]) if len(self._times) > 1 else None,
            items=self.items,
            source=place(self.path, 0),
        )  # fmt: skip


def output_of(output: Any) -> tuple[str, bool]:
    """What a call gave back, and whether it is marked as failed; a shell's answer is an object in a text."""
    if isinstance(output, str) and output.startswith('{"output"'):
        try:
            output = OBJECT.decode(output).get("output", output)
        except BROKEN:
            return output, False
    if isinstance(output, dict):
        return content_text(output.get("content", output.get("output"))), output.get("success") is False
    return content_text(output), False


READER = Reader(name="codex", title="Codex sessions (rollout-*.jsonl)", recognises=recognises, read=read)
