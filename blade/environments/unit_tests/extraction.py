"""Finds the code in what a model says. Nothing is parsed here: a text made to break a parser breaks the guest's."""

import re
from typing import NamedTuple

FENCE = re.compile(r"```[ \t]*(?:python3?|py)?[ \t]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL | re.IGNORECASE)
CODE_LINE = re.compile(
    r"(?:def|class|import|from|async|if|for|while|try|except|else|elif|finally|with|return)\b|[@#)\]}'\"]|\w+\s*[=:(\[]"
)


class Code(NamedTuple):
    """Code that was found in an answer."""

    shown: str
    """The part of the answer it was found in."""
    source: str
    """What is run: the same, with what the task gives in front of it where it needs that."""


def find_code(text: str, *, entry: str, prompt: str) -> Code | None:
    """The definition of a function in an answer; `None` when nothing in it looks like code."""
    blocks: list[str] = FENCE.findall(text)
    shown = next((block for block in blocks if defines(block, entry)), None) or unfenced(text, entry)
    if shown is not None:
        return Code(shown, preamble(prompt, entry) + shown)
    body = blocks[0] if blocks else text
    if defines(prompt, entry) and is_body(body):
        return Code(body, f"{prompt.rstrip()}\n{body}")
    return Code(blocks[0], blocks[0]) if blocks else None


def defines(code: str, entry: str) -> bool:
    return re.search(rf"^(?:async\s+)?def\s+{re.escape(entry)}\s*\(", code, re.MULTILINE) is not None


def unfenced(text: str, entry: str) -> str | None:
    """Lines of code around a definition that stands in no fence: from the first to where words begin again."""
    lines = text.splitlines()
    if not defines(text, entry):
        return None
    start = next(place for place, line in enumerate(lines) if re.match(r"(?:async|def|import|from|class|@)\b", line))
    kept: list[str] = []
    for line in lines[start:]:
        if line.startswith("```") or (line.strip() and not line[0].isspace() and not CODE_LINE.match(line)):
            break
        kept.append(line)
    code = "\n".join(kept)
    return code if defines(code, entry) else None


def preamble(prompt: str, entry: str) -> str:
    """What a task gives before its function, such as imports: answers often leave it out."""
    found = re.search(rf"^(?:async\s+)?def\s+{re.escape(entry)}\b", prompt, re.MULTILINE)
    given = prompt[: found.start()].rstrip() if found else ""
    return f"{given}\n\n" if given else ""


def is_body(text: str) -> bool:
    """Whether a text goes on where a signature ends: its first line is indented code."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return first[:1].isspace() and CODE_LINE.match(first.strip()) is not None
