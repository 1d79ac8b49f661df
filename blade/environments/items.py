"""Output items of OpenAI Responses: the text a model ended with, the calls it made, and items made of texts.

Items come from models and from files that others wrote, so everything in them is looked at before it is used.
"""

import re
from collections.abc import Sequence
from typing import Any

from blade.environments.environment import Item

THINKING = re.compile(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL)
"""What some models think aloud before they answer, up to its end or that of the text."""


def message(text: str) -> dict[str, Any]:
    """An assistant's message."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "status": "completed", "content": content}


def function_call(name: str, arguments: str, *, call_id: str) -> dict[str, Any]:
    """A call of a tool, its arguments as JSON text."""
    return {"type": "function_call", "name": name, "arguments": arguments, "call_id": call_id, "status": "completed"}


def final_text(items: Sequence[Item]) -> str:
    """What the last message of the assistant says, thinking left out; empty when there is none."""
    for item in reversed(items):
        if item.get("type", "message") == "message" and item.get("role", "assistant") == "assistant":
            return THINKING.sub("", content_text(item.get("content"))).strip()
    return ""


def content_text(content: Any) -> str:
    """The text of a message's content, be it a text or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def readable(text: object) -> str:
    """A text that can be written to any file: half characters, which models can spell in JSON, are written out."""
    return str(text).encode("utf-8", "backslashreplace").decode()
