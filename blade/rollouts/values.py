"""The values a reader hands on: what one rollout is, and what one bad line is.

They are pure values: nothing here opens a file. Unknown is `None`, never 0 and never an empty text.
"""

from typing import Any, Literal

import msgspec

ItemKind = Literal["message", "reasoning", "tool_call", "tool_result", "environment"]
"""What an item of a trajectory is. `environment` is a user or system turn the environment made during the rollout."""

Status = Literal["completed", "truncated", "failed"]
"""`truncated` ran out of tokens, turns or context; `failed` never reached a verdict of its own (see `failure`)."""


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


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one rollout. A usage object that is all zeros in the file counts as unknown."""

    input_tokens: int | None = None
    """Prompt tokens over all calls."""
    output_tokens: int | None = None
    """Generated tokens over all calls, reasoning included."""


class Rollout(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt at one task, with its whole trajectory."""

    task: str
    """Task key."""
    repeat: int
    """Which attempt at the task this is."""
    reward: float | None = None
    """Score given by the verifier."""
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


def citation(task: str, repeat: int, item: int | None = None) -> str:
    """`task:repeat` or `task:repeat#item`, the form every report and command uses."""
    return f"{task}:{repeat}" if item is None else f"{task}:{repeat}#{item}"
