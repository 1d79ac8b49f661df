"""What readers of foreign formats build: places, bad lines, numbered attempts and trajectories."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from blade.rollouts.formats.coercion import arguments_text, content_text, first_line, text_or_none
from blade.rollouts.values import BadLine, Item, ItemKind, Source


def bad_line(path: Path, reason: str, *, line: int = 1, offset: int = 0) -> BadLine:
    """Something that cannot be used, and why (without a full stop)."""
    return BadLine(file=str(path), line=line, offset=offset, reason=reason)


def place(path: Path, offset: int, *, line: int = 1, length: int = 0) -> Source:
    """Where a rollout stands; `offset` is whatever its reader finds it again by, another for every rollout."""
    return Source(file=str(path), line=line, offset=offset, length=length)


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
