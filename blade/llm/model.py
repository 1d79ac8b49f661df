"""How a model is asked, and what comes back, whatever wire it is reached over.

Everything is written in the items of the OpenAI Responses API, because that is what rollout rows hold; the clients
translate. A reply is either whole or an error: what a server cut short or garbled never becomes an answer.
"""

from typing import Any, ClassVar, Literal, Protocol

import msgspec

from blade.errors import BladeError

Item = dict[str, Any]
"""One Responses item: a message, a function call, its output, or reasoning."""

ErrorKind = Literal["rate_limit", "server", "timeout", "connection", "malformed", "rejected", "auth"]
"""What stopped a request. The first five may pass by themselves; the last two will not."""

RETRYABLE: frozenset[str] = frozenset({"rate_limit", "server", "timeout", "connection", "malformed"})


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """How the model draws its answer; `None` leaves a setting to the server."""

    temperature: float | None = None
    """0 for the likeliest word at every step."""
    top_p: float | None = None
    """Share of the probability the words are drawn from."""
    max_output_tokens: int | None = None
    """Where an answer is cut."""
    seed: int | None = None
    """Start of the random numbers, for servers that know one."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One question to a model."""

    input: list[Item]
    """The conversation so far."""
    instructions: str | None = None
    """The system text."""
    tools: list[dict[str, Any]] = []
    """Function tools, as the Responses API declares them."""
    sampling: Sampling = Sampling()
    """How the answer is drawn."""
    schema: dict[str, Any] | None = None
    """JSON Schema that the answer's text must satisfy, where the API can hold it to one."""


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens one reply cost; `None` is unknown."""

    input_tokens: int | None = None
    """All that was read, from a cache or not."""
    output_tokens: int | None = None
    """All that was written, reasoning included."""
    total_tokens: int | None = None
    """Both."""
    cached_tokens: int | None = None
    """Part of the input that came from a cache."""
    reasoning_tokens: int | None = None
    """Part of the output that is reasoning."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """One whole answer."""

    id: str
    """The server's name for it."""
    model: str
    """The model that really answered, as the server says."""
    items: list[Item]
    """What the model said, thought and called, in order."""
    usage: Usage | None = None
    """What it cost."""
    incomplete: str | None = None
    """Why it ends early, e.g. `max_output_tokens`."""
    refused: list[str] = []
    """Settings that the server takes from nobody, and that this answer was drawn without."""

    @property
    def text(self) -> str:
        """What the assistant said; its messages stand on lines of their own."""
        said = (message_text(item) for item in self.items if item.get("type") == "message")
        return "\n".join(text for text in said if text)

    @property
    def calls(self) -> list[Item]:
        """The tools the model wants called."""
        return [item for item in self.items if item.get("type") == "function_call"]


class ModelError(BladeError):
    """A request that brought no answer, after every attempt it was worth."""

    exit_code: ClassVar[int] = 3

    def __init__(self, message: str, *, kind: ErrorKind, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind
        self.retry_after = retry_after
        """Seconds the server asked to wait."""


class Model(Protocol):
    """Something that answers."""

    @property
    def name(self) -> str:
        """What the model is called."""
        ...

    async def ask(self, request: Request) -> Reply:
        """The answer; raises `ModelError`."""
        ...

    async def close(self) -> None:
        """Lets go of connections; must run in the loop that asked."""
        ...


def token_count(value: Any) -> int | None:
    """A number of tokens as a server gives it; `None` for anything else, which is no reason to lose the answer."""
    is_whole = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 and value == value // 1
    return int(value) if is_whole else None


def message_text(item: Item) -> str:
    """The text of a message item, whether its content is a string or parts."""
    content = item.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(part_text(part) for part in parts if isinstance(part, dict))


def part_text(part: dict[str, Any]) -> str:
    """The text of one part of a message; refusals count as what was said."""
    text = part.get("text", part.get("refusal"))
    return text if isinstance(text, str) else ""


def user_message(text: str) -> Item:
    """A message to the model."""
    return {"type": "message", "role": "user", "content": text}


def assistant_message(text: str, *, id: str) -> Item:
    """A message of the model, as Responses output has it."""
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"id": id, "type": "message", "role": "assistant", "status": "completed", "content": [part]}


def reasoning_item(text: str, *, id: str, encrypted: str | None = None) -> Item:
    """What the model thought, as Responses output has it."""
    summary = [{"type": "summary_text", "text": text}] if text else []
    item: Item = {"id": id, "type": "reasoning", "summary": summary}
    return item if encrypted is None else {**item, "encrypted_content": encrypted}


def function_call(name: str, arguments: str, *, call_id: str) -> Item:
    """A tool call, as Responses output has it."""
    return {"type": "function_call", "name": name, "arguments": arguments, "call_id": call_id, "status": "completed"}


def call_result(output: str, *, call_id: str) -> Item:
    """What a tool answered."""
    return {"type": "function_call_output", "call_id": call_id, "output": output}
