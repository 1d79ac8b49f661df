"""What happened in an Inspect sample, step by step.

A sample keeps its last conversation and the events that led to it. The conversation alone is not what happened: agents
called as tools are not in it, a handed-over conversation comes back rewritten, and compacted turns are gone. So calls
to models are followed in the order of events, and of each input only what is new to its agent is taken. Logs from
before messages had ids, and samples that called no model, have the conversation only.
"""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from blade.rollouts.formats.building import Trajectory
from blade.rollouts.formats.coercion import arguments_text, content_text, first_line, text_or_none
from blade.rollouts.values import Origin

ATTACHMENTS = ("attachment://", "tc://")


class Call(msgspec.Struct, frozen=True):
    id: Any = None
    function: Any = None
    arguments: Any = None


class Message(msgspec.Struct, frozen=True):
    role: str = "assistant"
    content: Any = None
    id: str | None = None
    tool_calls: list[Call] | None = None
    tool_call_id: str | None = None
    function: Any = None
    error: Any = None
    tool_error: Any = None
    reasoning: Any = None


class Identified(msgspec.Struct, frozen=True):
    id: str | None = None


class Choice(msgspec.Struct, frozen=True):
    message: Message
    stop_reason: str | None = None


class Output(msgspec.Struct, frozen=True):
    choices: list[Choice] = []
    completion: Any = None
    usage: Any = None

    @property
    def stop_reason(self) -> str | None:
        """Why the model stopped."""
        return self.choices[0].stop_reason if self.choices else None


class Pools(msgspec.Struct, frozen=True):
    messages: list[Message] = []


class Event(msgspec.Struct, frozen=True):
    event: str = ""
    span_id: Any = None
    id: Any = None
    parent_id: Any = None
    type: Any = None
    name: Any = None
    action: Any = None
    function: Any = None
    error: Any = None
    failed: Any = None
    pending: Any = None
    message: Any = None
    message_id: Any = None
    model: Any = None
    input: msgspec.Raw = msgspec.Raw()
    input_refs: list[tuple[int, int]] | None = None
    tools: msgspec.Raw = msgspec.Raw()
    output: msgspec.Raw = msgspec.Raw()
    result: msgspec.Raw = msgspec.Raw()
    events: msgspec.Raw = msgspec.Raw()


IDENTIFIED = msgspec.json.Decoder(list[Identified])
PARTS = msgspec.json.Decoder(list[msgspec.Raw])
MESSAGE = msgspec.json.Decoder(Message)
OUTPUT = msgspec.json.Decoder(Output)
TOOLS = msgspec.json.Decoder(list[dict[str, Any]])
EVENTS = msgspec.json.Decoder(list[Event])


class Span(msgspec.Struct, frozen=True):
    parent: Any
    agent: str | None
    scores: bool


class Steps:
    """The trajectory of a sample, and what its events say about how it went."""

    def __init__(self, sample: Any) -> None:
        self.trajectory = Trajectory()
        self.tools: list[dict[str, Any]] = []
        """Tools the agent was offered."""
        self.models: set[str] = set()
        """Models that acted."""
        self.usage: dict[str, dict[str, Any]] = {}
        """Tokens of the calls the models made, each under a name of its own; for logs whose samples have no sums."""
        self.error_origin: Origin | None = None
        """Whose part of the machinery raised the error that halted the sample."""
        self.limit_message: str | None = None
        """What was recorded with a limit."""
        self._attachments: dict[str, str] = sample.attachments
        self._pool: list[Message] = sample.events_data.messages if sample.events_data else sample.message_pool
        self._spans: dict[Any, Span] = {}
        self._inputs: dict[Any, list[Any]] = {}
        self._seen: set[Any] = set()
        self._said: set[tuple[str, str]] = set()
        self._answered: set[str] = set()
        self._waiting: dict[str, Event] = {}
        self._acted = False
        self._phase: str | None = None
        self._suspect: Origin | None = None
        follow = not sample.messages or any(message.id for message in sample.messages)
        follow = follow and all(self._has(event.input_refs) for event in sample.events)
        for event, inside in flat(sample.events):
            self._take(event, inside, follow=follow)
        self._answer_waiting(None)
        if self.error_origin is None:
            self.error_origin = self._origin()
        for message in sample.messages or opening(sample.input):
            self._add_remaining(message)
        self._forget_lone_agent()

    def _has(self, refs: list[tuple[int, int]] | None) -> bool:
        return all(0 <= start <= end <= len(self._pool) for start, end in refs or ())

    def _take(self, event: Event, inside: str | None, *, follow: bool) -> None:
        kind = event.event
        if kind == "model":
            self._take_model(event, inside, follow=follow)
        elif kind == "tool":
            self._suspect = "environment" if event.failed else None
            if follow and isinstance(event.id, str) and not event.pending and self._acted:
                self._waiting[event.id] = event
        elif kind == "span_begin":
            self._begin(event)
        elif kind == "span_end":
            self._answer_waiting(event.id)
        elif kind == "step":
            self._phase = text_or_none(event.type) if event.action == "begin" else None
        elif kind == "error":
            self.error_origin = self._origin()
        elif kind == "sample_limit":
            self.limit_message = text_or_none(event.message)

    def _begin(self, event: Event) -> None:
        kind = event.type
        self._spans[event.id] = Span(
            parent=event.parent_id, agent=text_or_none(event.name) if kind == "agent" else None,
            scores=kind in ("scorers", "scorer"),
        )  # fmt: skip
        if event.parent_id is None and isinstance(kind, str):
            self._phase = kind

    def _origin(self) -> Origin:
        if self._phase in ("scorers", "scorer"):
            return "verifier"
        return self._suspect or ("environment" if self._phase == "init" else "runner")

    def _above(self, span: Any) -> Iterator[tuple[Any, Span]]:
        passed: set[Any] = set()
        while span in self._spans and span not in passed:
            passed.add(span)
            yield span, self._spans[span]
            span = self._spans[span].parent

    def _take_model(self, event: Event, inside: str | None, *, follow: bool) -> None:
        above = list(self._above(event.span_id))
        if self._phase == "scorer" or any(span.scores for _, span in above):
            return
        self._suspect = "model" if event.error else None
        if isinstance(event.model, str):
            self.models.add(event.model)
        if not self.tools and event.tools:
            self.tools = resolved(TOOLS.decode(event.tools), self._attachments)
        output = OUTPUT.decode(event.output) if event.output else Output()
        if isinstance(output.usage, dict):
            self.usage[f"{event.model} {len(self.usage)}"] = output.usage
        if not follow or event.pending:
            return
        key, agent = next(((key, span.agent) for key, span in above if span.agent), (inside, inside))
        self._add_new(event, key, agent)
        if output.choices and not event.error:
            self._acted = True
            self._add(output.choices[0].message, agent)

    def _add_new(self, event: Event, key: Any, agent: str | None) -> None:
        """Adds what an input has beyond the last input of the same agent."""
        keys, message_at = self._input(event)
        before = self._inputs.get(key, [])
        same = 0
        for old, new in zip(before, keys, strict=False):
            if old != new:
                break
            same += 1
        # Equal messages share one place in the pool: a turn said again is new if it stands behind the last input.
        repeated = set(before) if same == len(before) else set()
        for index in range(same, len(keys)):
            if keys[index] in self._seen and keys[index] not in repeated:
                continue
            message = message_at(index)
            if message.role == "tool":
                if message.tool_call_id not in self._answered:
                    self._add(message, agent)
            elif message.role == "assistant":
                if message.id not in self._seen:
                    self._add(message, agent)
            elif message.id not in self._seen or keys[index] in repeated:
                self._add(message, agent)
            self._seen.add(keys[index])
        self._inputs[key] = keys

    def _input(self, event: Event) -> tuple[list[Any], Callable[[int], Message]]:
        if event.input_refs is not None:
            places = [place for start, end in event.input_refs for place in range(start, end)]
            return list(places), lambda index: self._pool[places[index]]
        if not event.input:
            return [], lambda index: Message()
        parts: list[msgspec.Raw] = []

        def message_at(index: int) -> Message:
            if not parts:
                parts.extend(PARTS.decode(event.input))
            return MESSAGE.decode(parts[index])

        return [message.id or index for index, message in enumerate(IDENTIFIED.decode(event.input))], message_at

    def _answer_waiting(self, span: Any) -> None:
        """Adds what tools answered that no model was told any more."""
        for call, event in list(self._waiting.items()):
            if span is None or event.span_id == span:
                result = msgspec.json.decode(event.result) if event.result else ""
                error = event.error or ({"type": "failed", "message": ""} if event.failed else None)
                self._add(
                    Message(
                        role="tool", content=result, id=text_or_none(event.message_id), tool_call_id=call,
                        function=event.function, error=error,
                    ),
                    next((above.agent for _, above in self._above(event.span_id) if above.agent), None),
                )  # fmt: skip

    def _add_remaining(self, message: Message) -> None:
        """Adds a message of the last conversation, unless it was met on the way there."""
        if message.id is not None and message.id in self._seen:
            return
        if self._inputs and (message.role, self._text(message.content)) in self._said:
            return
        self._acted = self._acted or message.role in ("assistant", "tool")
        self._add(message, None)

    def _add(self, message: Message, agent: str | None) -> None:
        if message.id is not None:
            self._seen.add(message.id)
        prompt = not self._acted
        content = resolved(message.content, self._attachments)
        self._said.add((message.role, self._text(message.content)))
        if message.role == "tool":
            self._add_answer(message, content, agent)
            return
        if message.reasoning:
            self.trajectory.add("reasoning", content_text(message.reasoning), prompt=prompt, agent=agent)
        for block in content if isinstance(content, list) else [content]:
            self._add_block(block, message.role, prompt=prompt, agent=agent)
        for call in message.tool_calls or ():
            self._answered.discard(call.id)
            self.trajectory.add(
                "tool_call", arguments_text(resolved(call.arguments, self._attachments)),
                name=text_or_none(call.function), call_id=text_or_none(call.id), prompt=prompt, agent=agent,
            )  # fmt: skip

    def _add_answer(self, message: Message, content: Any, agent: str | None) -> None:
        error = message.error or message.tool_error
        said = content_text(error.get("message")) if isinstance(error, dict) else content_text(error)
        kind = text_or_none(error.get("type")) if isinstance(error, dict) else None
        if error:
            kind = kind if kind not in (None, "unknown") else first_line(said)
        if message.tool_call_id is not None:
            self._answered.add(message.tool_call_id)
            self._waiting.pop(message.tool_call_id, None)
        self.trajectory.add(
            "tool_result", content_text(content) or said, name=text_or_none(message.function),
            call_id=message.tool_call_id, prompt=not self._acted, error=kind, agent=agent,
        )  # fmt: skip

    def _add_block(self, block: Any, role: str, *, prompt: bool, agent: str | None) -> None:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "reasoning":
            thought = block.get("summary") if block.get("redacted") else block.get("reasoning")
            if thought:
                self.trajectory.add("reasoning", content_text(thought), prompt=prompt, agent=agent)
        elif kind == "tool_use":
            call, name = text_or_none(block.get("id")), text_or_none(block.get("name"))
            self.trajectory.add(
                "tool_call", arguments_text(block.get("arguments")), name=name, call_id=call, prompt=prompt, agent=agent
            )
            error = text_or_none(block.get("error"))
            self.trajectory.add(
                "tool_result", content_text(block.get("result")) or error or "", name=name, call_id=call,
                prompt=prompt, error=first_line(error) if error else None, agent=agent,
            )  # fmt: skip
        else:
            text = f"[{kind}]" if kind in ("audio", "video", "document", "image") else content_text(block)
            if text:
                spoken = prompt or role == "assistant"
                self.trajectory.add("message" if spoken else "environment", text, role=role, prompt=prompt, agent=agent)

    def _text(self, content: Any) -> str:
        return content_text(resolved(content, self._attachments))

    def _forget_lone_agent(self) -> None:
        items = self.trajectory.items
        if len({item.agent for item in items if not item.prompt}) < 2:
            self.trajectory.items = [
                msgspec.structs.replace(item, agent=None) if item.agent else item for item in items
            ]


def flat(events: list[Event], inside: str | None = None) -> Iterator[tuple[Event, str | None]]:
    """Every event, those kept within others (as before there were spans) after the one that keeps them."""
    for event in events:
        yield event, inside
        if len(event.events) > 2:
            yield from flat(EVENTS.decode(event.events), text_or_none(event.function or event.name) or inside)


def opening(given: Any) -> list[Message]:
    """A sample's input as messages, for samples that kept no conversation."""
    if isinstance(given, str):
        return [Message(role="user", content=given)]
    return msgspec.convert(given, list[Message]) if isinstance(given, list) else []


def resolved(value: Any, attachments: dict[str, str]) -> Any:
    """A value with its long texts put back in their places."""
    if not attachments:
        return value
    if isinstance(value, str):
        if not value.startswith(ATTACHMENTS):
            return value
        return attachments.get(value.partition("://")[2], value)
    if isinstance(value, list):
        return [resolved(part, attachments) for part in value]
    if isinstance(value, dict):
        return {key: resolved(part, attachments) for key, part in value.items()}
    return value
