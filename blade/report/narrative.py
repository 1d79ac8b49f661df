"""A narrative: prose for the sections of a report, written once, in which every number is a name.

    ---
    author: human:kim
    model: small-model
    constants: {"200": tokens a reply may have}
    ---
    ## Executive Summary

    The model passes {{ pass_at_1 | pct }} of the time and never {{ buckets.never | count }} …

Its language is that of `writing`. A number the prose states itself must be declared as a constant, with its meaning.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec
import yaml

from blade.errors import UsageError
from blade.report.claims import Rendered, extract
from blade.report.marks import mark, recording
from blade.report.text import Markdown
from blade.report.writing import Sources, render_text

AUTHOR = re.compile(r"(llm|human):\S.*")
FRONT = re.compile(r"---[ \t]*\n(.*?)^---[ \t]*\n", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^## +(.*?) *$", re.MULTILINE)


class NarrativeError(UsageError):
    """A narrative that cannot be read, or lacks what it must have."""


class FrontMatter(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a narrative says about itself."""

    author: str
    """Who read the rollouts: `llm:<model>` or `human:<name>`."""
    model: str
    """The model it is about; `base_vs_candidate` for a comparison."""
    constants: dict[str, str] = {}
    """Numbers the prose states itself, with what each of them means."""
    not_written: dict[str, str] = {}
    """Sections its author was asked for and could not write so that they hold, with what was wrong."""


class Narrative(msgspec.Struct, frozen=True, kw_only=True):
    """A narrative as written."""

    where: str
    """Name of its file, for messages."""
    front: FrontMatter
    """What it says about itself."""
    sections: dict[str, str]
    """Templates by heading."""
    lines: dict[str, int]
    """Line each section's template begins at."""


def read_narrative(path: Path) -> Narrative:
    """The narrative of a file.

    Raises:
        NarrativeError: it cannot be read, or its front matter is wrong.
    """
    try:
        source = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NarrativeError(f"{path}: cannot be read: {error}.") from error
    return parse_narrative(source, where=path.name)


def parse_narrative(source: str, *, where: str) -> Narrative:
    """A narrative as written; its values are not looked up yet."""
    match = FRONT.match(source)
    if match is None:
        raise NarrativeError(f"{where}: begin it with front matter: ---, author, model, ---.")
    front = read_front_matter(match[1], where)
    body, above = source[match.end() :], source[: match.end()].count("\n")
    headings = [*HEADING.finditer(body)]
    starts = [*(heading.start() for heading in headings), len(body)]
    if not (headings or front.not_written) or body[: starts[0]].strip():
        raise NarrativeError(f"{where}: begin its prose with a heading such as '## Executive Summary'.")
    sections, lines = {}, {}
    for heading, end in zip(headings, starts[1:], strict=True):
        text = body[heading.end() : end]
        sections[heading[1]] = text.strip("\n")
        lines[heading[1]] = above + body[: heading.end()].count("\n") + 1 + len(text) - len(text.lstrip("\n"))
    return Narrative(where=where, front=front, sections=sections, lines=lines)


def written_out(front: FrontMatter, sections: Mapping[str, str]) -> str:
    """A narrative as a file, for people to go on with."""
    fields = {name: value for name, value in msgspec.structs.asdict(front).items() if value}
    head = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=10_000)
    return f"---\n{head}---\n" + "\n".join(f"## {heading}\n\n{text}\n" for heading, text in sections.items())


def read_front_matter(text: str, where: str) -> FrontMatter:
    """The front matter, checked."""
    try:
        given = yaml.safe_load(text)
        front = msgspec.convert(given, FrontMatter, strict=False)
    except (yaml.YAMLError, msgspec.ValidationError) as error:
        raise NarrativeError(f"{where}: its front matter is wrong: {error}.") from error
    if not AUTHOR.fullmatch(front.author):
        raise NarrativeError(f"{where}: author {front.author!r} is not llm:MODEL or human:NAME.")
    return front


def fill_section(narrative: Narrative, heading: str, sources: Sources) -> Markdown:
    """The prose of a section with its values, its declared constants marked as such.

    Raises:
        WritingError: it names what is not there, with line and column.
    """
    text = render_text(narrative.sections[heading], sources, where=narrative.where, first_line=narrative.lines[heading])
    return mark_constants(Markdown(re.sub(r"\n{3,}", "\n\n", text).strip()), narrative.front.constants)


def render_own_text(source: str, sources: Sources, *, where: str) -> tuple[Rendered, dict[str, str]]:
    """Somebody's text with its values, and the numbers that its front matter, if it has any, declares.

    Raises:
        WritingError: it names what is not there, with line and column.
        NarrativeError: its front matter is wrong.
    """
    found = FRONT.match(source)
    head = found.end() if found else 0
    constants = read_front_matter(found[1], where).constants if found else {}
    with recording() as marks:
        body = render_text(source[head:], sources, where=where, first_line=source.count("\n", 0, head) + 1)
        return extract(mark_constants(body, constants), marks), constants


def mark_constants(text: Markdown, constants: Mapping[str, str]) -> Markdown:
    """The text with numbers that its author declared marked, wherever no value stands."""
    if not constants:
        return text
    words = "|".join(re.escape(word) for word in sorted(constants, key=len, reverse=True))
    value = r"\x01[\x02-\x05]*\x06.*?\x07"
    pattern = re.compile(rf"{value}|(?<![\w.,])(?P<word>{words})(?!\w|[.,]\d)", re.DOTALL | re.IGNORECASE)

    def marked(found: re.Match[str]) -> str:
        declared = next((word for word in constants if word.lower() == (found["word"] or "").lower()), None)
        return found[0] if declared is None else mark(found[0], ["constant"], ["constant", declared])

    return Markdown(pattern.sub(marked, text))
