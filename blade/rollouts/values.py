"""The values a reader hands on: what one rollout is, and what one bad line is.

They are pure values: nothing here opens a file. Unknown is `None`, never 0 and never an empty text.
"""

from typing import Any, Literal

import msgspec

ItemKind = Literal["message", "reasoning", "tool_call", "tool_result", "environment"]
"""What an item of a trajectory is. `environment` is a user or system turn the environment made during the rollout."""

Status = Literal["completed", "truncated", "failed"]
"""`truncated` ran out of tokens, turns or context; `failed` never reached a verdict of its own (see `failure`)."""


EndingKind = Literal["completed", "limit", "timeout", "error", "cancelled", "not_run"]
"""Why a rollout ended. `limit` ran out of tokens, turns, messages, context or budget; `timeout` out of time; `error`
was stopped by an error; `cancelled` by a person or a scheduler; `not_run` never began."""

Origin = Literal["agent", "model", "environment", "verifier", "user", "runner"]
"""Whose part of the machinery ended a rollout. `model` is the provider's side of a call (rate limits, server errors,
content filters), `environment` the sandbox and tools, `user` a simulated user, `runner` the harness itself."""

TestStatus = Literal["passed", "failed", "error", "skipped"]


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """Why a rollout ended, typed by the format that recorded it and never guessed from words."""

    kind: EndingKind = "completed"
    """What happened."""
    origin: Origin | None = None
    """Whose doing it was; `None` where the format does not say."""
    name: str | None = None
    """The format's own name for it: a class of errors, a kind of limit (`AgentTimeoutError`, `message_limit`)."""
    message: str | None = None
    """What the format recorded with it, verbatim."""


class ExpectedCall(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call that a task expects."""

    name: str
    """The tool."""
    arguments: dict[str, Any] = {}
    """What it should be called with."""
    compared: list[str] | None = None
    """The arguments that count; `None` when all do."""
    requestor: str | None = None
    """Who should make the call, where not only the agent has tools (`user`)."""


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """What a task asks for, as far as its rows say. Unknown parts are `None`, which is not the same as empty."""

    answers: list[str] | None = None
    """Answers any one of which is right."""
    calls: list[ExpectedCall] | None = None
    """Calls that change something and should be made, in order; an empty list means that nothing should change."""
    outputs: list[str] | None = None
    """Texts that must be said to the user."""
    answer_schema: dict[str, Any] | None = None
    """JSON Schema of the answer."""
    checks: list[str] | None = None
    """Other conditions, as the task words them (rubric items, assertions)."""
    script: str | None = None
    """What a simulated user is told to ask for."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """Where a row stands: enough to read it again without reading the rest of its file."""

    file: str
    """Path as the user gave it."""
    line: int
    """1-based line the row begins on."""
    offset: int
    """Byte offset of the row in the (decompressed) file."""
    length: int
    """Bytes of the row."""


class BadLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line or row that could not be used, and why. The rest of its file is read all the same."""

    file: str
    """Path as the user gave it."""
    line: int
    """1-based line it begins on."""
    offset: int
    """Byte offset in the (decompressed) file."""
    reason: str
    """What was seen and what was expected."""


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a trajectory, whatever format it was stored in."""

    position: int
    """0-based position in the trajectory; the `#item` of a citation. The prompt comes first."""
    kind: ItemKind
    """What the item is."""
    role: str | None = None
    """Role of a message or environment turn (system, user, assistant, ...)."""
    name: str | None = None
    """Name of the tool that is called or answers."""
    text: str = ""
    """The message, the reasoning, the call's arguments or the tool's answer, verbatim."""
    call_id: str | None = None
    """Joins a tool result to its call."""
    prompt: bool = False
    """Whether the item was given to the agent before it acted."""
    error: str | None = None
    """The error a tool result is typed as, by its class or first words; `None` when the format types none."""
    agent: str | None = None
    """Who spoke or acted, where several agents share a trajectory."""

    def __repr__(self) -> str:
        said = self.text if len(self.text) <= 60 else f"{self.text[:60]}…"
        return f"Item(#{self.position} {self.kind} {self.name or self.role or ''}: {said!r})"


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one rollout. A usage object that is all zeros in the file counts as unknown."""

    input_tokens: int | None = None
    """Prompt tokens over all calls."""
    output_tokens: int | None = None
    """Generated tokens over all calls, reasoning included."""
    reasoning_tokens: int | None = None
    """Generated tokens that were reasoning."""
    cached_tokens: int | None = None
    """Prompt tokens that were read from a cache."""
    cost: float | None = None
    """US dollars, as the file says."""


class Rollout(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt at one task, with its whole trajectory."""

    task: str
    """Task key."""
    repeat: int
    """Which attempt at the task this is."""
    run: str | None = None
    """Which run the attempt belongs to, where one source holds several."""
    variant: str | None = None
    """How the same attempt was looked at, where it was in several ways (a filter, a scorer). Never a repeat."""
    reward: float | None = None
    """Score given by the verifier."""
    scores: dict[str, float | None] = {}
    """Every score by its name, the reward among them."""
    success: bool | None = None
    """Whether the attempt counts as a success; `None` until a rule has judged it, and where it cannot."""
    model: str | None = None
    """Model that answered."""
    agent: str | None = None
    """Harness that drove it."""
    status: Status = "completed"
    """How the attempt ended."""
    failure: str | None = None
    """Failure class when `status` is `failed`."""
    ending: Ending = Ending()
    """Why the attempt ended."""
    answer: str | None = None
    """The answer the verifier judged, where the row says; `None` when unknown or when none could be extracted."""
    expected: Expected | None = None
    """What the task asks for; `None` when rows do not say."""
    tests: dict[str, TestStatus] = {}
    """Outcome of each check the verifier made, by its name."""
    settings: dict[str, Any] = {}
    """What the attempt was made with: sampling, limits, versions."""
    usage: Usage = Usage()
    """Tokens used."""
    seconds: float | None = None
    """Wall time of the attempt."""
    fields: dict[str, Any] = {}
    """Everything else the row says, without its prompt and output."""
    tools: list[dict[str, Any]] = []
    """Tools the agent was offered, as the request names them."""
    items: list[Item] = []
    """The trajectory."""
    source: Source | None = None
    """Where the row stands."""

    def __repr__(self) -> str:
        return f"Rollout({citation(self.task, self.repeat)!r}, reward {self.reward}, {len(self.items)} items)"


def citation(task: str, repeat: int, item: int | None = None) -> str:
    """`task:repeat` or `task:repeat#item`, the form every report and command uses."""
    return f"{task}:{repeat}" if item is None else f"{task}:{repeat}#{item}"
