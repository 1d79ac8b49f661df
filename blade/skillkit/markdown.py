"""A skill's Markdown as a checker sees it: blocks of prose, fenced code, links and code spans, each with its line."""

import re
from collections.abc import Iterator
from typing import NamedTuple

FENCE = re.compile(r" {0,3}(?:[-*+] +|\d+[.)] +)? *(`{3,}|~{3,})\s*([\w+-]*)")
ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s|\s*\|")
"""Begins a list item or a row of a table, which are blocks of their own."""
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)|!\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)")
CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
FOREIGN = re.compile(r"[a-z][a-z0-9+.-]*:|//|#", re.IGNORECASE)
"""Begins a link that leads elsewhere: a scheme, another host, a heading."""


class Fenced(NamedTuple):
    """A block of code."""

    line: int
    """Line of its first line of code."""
    language: str
    """What stands behind the fence, in lower case."""
    lines: list[str]
    """The code."""


class Prose(NamedTuple):
    """A paragraph, a heading, a list item or a row of a table."""

    line: int
    text: str


def blocks(text: str, first_line: int = 1) -> Iterator[Fenced | Prose]:
    """The blocks of a text, in order."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        opening = FENCE.match(lines[at])
        if opening:
            end = fence_end(lines, at + 1, opening[1])
            yield Fenced(first_line + at + 1, opening[2].lower(), lines[at + 1 : end])
            at = end + 1
        elif lines[at].strip():
            end = prose_end(lines, at + 1)
            yield Prose(first_line + at, "\n".join(lines[at:end]))
            at = end
        else:
            at += 1


def fence_end(lines: list[str], start: int, fence: str) -> int:
    """Where the code ends: at a fence at least as long, or with the text."""
    for at in range(start, len(lines)):
        line = lines[at].strip()
        if line.startswith(fence) and not line.strip(fence[0]):
            return at
    return len(lines)


def prose_end(lines: list[str], start: int) -> int:
    """Where the block ends: at a blank line, a fence, a heading, or the next item or row."""
    for at in range(start, len(lines)):
        line = lines[at]
        if not line.strip() or FENCE.match(line) or ITEM.match(line) or line.startswith("#"):
            return at
    return len(lines)


def local_links(text: str) -> list[str]:
    """Where the links of a block lead, those into the skill's own folder only."""
    bare = CODE.sub("", text)
    targets = [first or second for first, second in LINK.findall(bare)]
    return [target.partition("#")[0] for target in targets if not FOREIGN.match(target)]


def code_spans(text: str) -> list[str]:
    """What stands between backticks, line breaks as blanks."""
    return [" ".join(code.split()) for _, code in CODE.findall(text)]
