"""What readers of foreign formats share: reading JSON with its place, numbering attempts, building trajectories."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from blade.errors import InputError
from blade.rollouts.lines import Record, line_records, read_chunks, skip_mark
from blade.rollouts.sources import GZIP_MAGIC, ZSTD_MAGIC, damage_errors, open_stream
from blade.rollouts.values import BadLine, Item, ItemKind, Source

Decoded = TypeVar("Decoded")
BROKEN = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError)


def read_bytes(path: Path) -> bytes:
    """A whole file, unpacked.

    Raises:
        InputError: it cannot be read, or ends before it should.
    """
    try:
        # Opened once: folders of foreign formats hold many small files.
        data = path.read_bytes()
        if not data.startswith((GZIP_MAGIC, ZSTD_MAGIC)):
            return data
        with open_stream(path) as stream:
            return stream.read()
    except damage_errors() as error:
        raise InputError(f"{path}: cannot be read: {error}.") from error


def read_json(path: Path, decoder: "msgspec.json.Decoder[Decoded]") -> Decoded:
    """A file that holds one JSON value.

    Raises:
        InputError: it is not JSON, or not of the shape that is expected.
    """
    try:
        return decoder.decode(read_bytes(path))
    except BROKEN as error:
        raise InputError(f"{path}: {error}; is the file complete?") from error


def decode_lenient(data: bytes) -> Any:
    """The JSON value in some bytes; `None` when there is none. Python writes NaN and Infinity, which JSON has not."""
    try:
        return msgspec.json.decode(data)
    except BROKEN:
        if b"NaN" not in data and b"Infinity" not in data:
            return None
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def json_lines(path: Path) -> Iterator[Record | BadLine]:
    """The non-blank lines of a file, undecoded, with their places; what cannot be unpacked ends it as a bad line."""
    line, offset = 1, 0
    try:
        with open_stream(path) as stream:
            offset = skip_mark(stream)
            for chunk in read_chunks(stream, offset=offset):
                yield from line_records(chunk, line=line)
                line += bytes(chunk.view).count(b"\n")
                offset = chunk.offset + chunk.size
    except damage_errors() as error:
        yield BadLine(file=str(path), line=line, offset=offset, reason=f"cannot be read any further: {error}")


def bad_line(path: Path, reason: str, *, line: int = 1, offset: int = 0) -> BadLine:
    """Something that cannot be used, and why (without a full stop)."""
    return BadLine(file=str(path), line=line, offset=offset, reason=reason)


def place(path: Path, offset: int, *, line: int = 1, length: int = 0) -> Source:
    """Where a rollout stands; `offset` is whatever its reader finds it again by, another for every rollout."""
    return Source(file=str(path), line=line, offset=offset, length=length)


def subfolders(folder: Path) -> list[Path]:
    """The folders in a folder, by name; none where it cannot be read."""
    try:
        return sorted(entry for entry in folder.iterdir() if entry.is_dir())
    except OSError:
        return []


def is_at(path: Path) -> bool:
    """Whether a file or folder is there; none is where a row names one that no file system could hold."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


class Attempts:
    """Numbers attempts at a task in the order they come, for formats that do not."""

    def __init__(self) -> None:
        self._seen: Counter[Any] = Counter()

    def next(self, *key: Any) -> int:
        """0 for the first attempt, 1 for the second."""
        self._seen[key] += 1
        return self._seen[key] - 1


class Trajectory:
    """Builds the items of a rollout, in order."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self._names: dict[str, str] = {}

    def add(
        self,
        kind: ItemKind,
        text: str,
        *,
        role: str | None = None,
        name: str | None = None,
        call_id: str | None = None,
        prompt: bool = False,
        error: str | None = None,
        agent: str | None = None,
    ) -> None:
        """Adds one step."""
        if kind == "tool_call" and call_id and name:
            self._names[call_id] = name
        if kind == "tool_result" and name is None and call_id:
            name = self._names.get(call_id)
        self.items.append(
            Item(
                position=len(self.items), kind=kind, role=role, name=name, text=text, call_id=call_id,
                prompt=prompt, error=error, agent=agent,
            )
        )  # fmt: skip

    def add_chat(self, messages: Iterable[Any], *, acting: bool = False) -> None:
        """Adds messages in the OpenAI chat dialect (also with Anthropic's content blocks).

        What stands before the agent's first turn is the prompt, unless `acting` says that it has begun already. User
        and system messages after it are the environment's.
        """
        for message in messages:
            if not isinstance(message, dict):
                continue
            role = message.get("role")
            acting = acting or role in ("assistant", "tool", "function")
            self.add_message(message, prompt=not acting)

    def add_message(self, message: dict[str, Any], *, prompt: bool) -> None:
        """Adds one chat message: what was thought, what was said, each call, or a tool's answer."""
        role = message.get("role")
        content = message.get("content")
        if role in ("tool", "function"):
            self.add(
                "tool_result", content_text(content), name=message.get("name"), call_id=message.get("tool_call_id"),
                prompt=prompt, error=text_or_none(message.get("error")),
            )  # fmt: skip
            return
        thought = content_text(message.get("reasoning_content") or message.get("reasoning"))
        if thought:
            self.add("reasoning", thought, prompt=prompt)
        self._add_blocks(content if isinstance(content, list) else [content], role=role, prompt=prompt)
        for call in message.get("tool_calls") or ():
            if isinstance(call, dict):
                inner = call.get("function")
                function = inner if isinstance(inner, dict) else call
                self.add(
                    "tool_call", arguments_text(function.get("arguments")), name=text_or_none(function.get("name")),
                    call_id=text_or_none(call.get("id")), prompt=prompt,
                )  # fmt: skip

    def _add_blocks(self, blocks: list[Any], *, role: Any, prompt: bool) -> None:
        spoken: list[str] = []

        def say() -> None:
            if any(spoken):
                kind: ItemKind = "message" if prompt or role in ("assistant", None) else "environment"
                self.add(kind, "\n".join(spoken), role=text_or_none(role), prompt=prompt)
            spoken.clear()

        for block in blocks:
            kind = block.get("type") if isinstance(block, dict) else None
            if kind in ("thinking", "reasoning"):
                say()
                self.add("reasoning", content_text(block.get(kind) or block.get("text")), prompt=prompt)
            elif kind == "tool_use":
                say()
                self.add(
                    "tool_call", arguments_text(block.get("input")), name=text_or_none(block.get("name")),
                    call_id=text_or_none(block.get("id")), prompt=prompt,
                )  # fmt: skip
            elif kind == "tool_result":
                say()
                text = content_text(block.get("content"))
                self.add(
                    "tool_result", text, call_id=text_or_none(block.get("tool_use_id")), prompt=prompt,
                    error=first_line(text) if block.get("is_error") else None,
                )  # fmt: skip
            else:
                spoken.append(content_text(block))
        say()


def content_text(content: Any) -> str:
    """The words of a content in any of the usual forms; anything else as its JSON."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, map(content_text, content)))
    if isinstance(content, dict):
        for key in ("text", "content", "value"):
            if isinstance(content.get(key), str | list):
                return content_text(content[key])
        if content.get("type") in ("image", "image_url", "input_image", "audio", "input_audio", "document", "file"):
            return f"[{content['type']}]"
    return json_text(content)


def arguments_text(arguments: Any) -> str:
    """A call's arguments as the JSON text they are cited by."""
    return arguments if isinstance(arguments, str) else "" if arguments is None else json_text(arguments)


def json_text(value: Any) -> str:
    """A value as JSON."""
    return msgspec.json.encode(value).decode()


def part(value: dict[str, Any], name: str | None) -> dict[str, Any]:
    """An object within an object; empty where there is none."""
    inner = value.get(name) if name is not None else None
    return inner if isinstance(inner, dict) else {}


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; none of anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def scalars(values: dict[str, Any]) -> dict[str, Any]:
    """Single values as they are, others as JSON, what is unknown not at all."""
    return {
        name: value if isinstance(value, str | int | float) else json_text(value)
        for name, value in values.items()
        if value is not None
    }


def short_values(values: Any, most: int = 200) -> dict[str, Any]:
    """What an object says in single values and few words, for fields."""
    return {
        name: value
        for name, value in (values.items() if isinstance(values, dict) else ())
        if (isinstance(value, str) and 0 < len(value) <= most) or number_or_none(value) is not None
    }


def text_or_none(value: Any) -> str | None:
    """A text as it is, other single values as text, nothing for nothing."""
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else content_text(value)


def first_line(text: str, most: int = 200) -> str:
    """The first words of an error, for its name."""
    stripped = text.strip()
    return (stripped.splitlines()[0] if stripped else "error")[:most]


def number_or_none(value: Any) -> float | None:
    """A finite number or flag as a float; nothing for anything else."""
    if not isinstance(value, bool | int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if number - number == 0 else None


def whole(*values: Any) -> int | None:
    """The first of these that is a count, such as of tokens."""
    known = (number_or_none(value) for value in values)
    return next((int(number) for number in known if number is not None and number >= 0), None)


def summed(values: Iterable[Any]) -> Any:
    """The sum of what is known; nothing when nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def as_dict(value: Any) -> dict[str, Any]:
    """An object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def seconds_between(begun: Any, ended: Any) -> float | None:
    """The time between two moments in ISO 8601."""
    try:
        return (datetime.fromisoformat(ended) - datetime.fromisoformat(begun)).total_seconds()
    except (TypeError, ValueError):
        return None
