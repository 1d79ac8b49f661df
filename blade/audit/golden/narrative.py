"""A narrative: the prose of a golden report, written once, in which every number is a name.

    ---
    author: human:kim
    model: small-model
    constants: {"200": tokens a reply may have}
    ---
    ## Executive Summary

    The model passes {{ headline }} of the time and never {{ buckets.never }} …

It is a template that can compute and look up but not reach anything else (a sandbox), and that may not state a number
itself: a figure in the prose is an error unless the front matter declares it as a constant, with what it means.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jinja2
import jinja2.nodes
import msgspec
import yaml
from jinja2.sandbox import ImmutableSandboxedEnvironment

from blade.audit.figures import find_figures
from blade.audit.golden.quantities import NarrativeError, written
from blade.audit.markdown import CODE, plain
from blade.audit.mentions import split_citation
from blade.report import numbers
from blade.report.report import finalize as finalize_text
from blade.report.text import Markdown, code

AUTHOR = re.compile(r"(llm|human):\S.*")
FRONT = re.compile(r"---[ \t]*\n(.*?)^---[ \t]*\n", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^## +(.*?) *$", re.MULTILINE)
LIST_MARK = re.compile(r"^\s*(?:\d+[.)]|#+(?: \d+\.)?)\s+", re.MULTILINE)
NUMBERISH = re.compile(r"[+-]?[\d.,]+\s*%?")
HOLE = "\u2007"
"""What stands for an expression while the prose around it is read: a space that no writer types."""
COUNTING = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


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
        NarrativeError: it cannot be read, its front matter is wrong, or it states a number itself.
    """
    try:
        source = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NarrativeError(f"{path}: cannot be read: {error}.") from error
    narrative = parse_narrative(source, where=path.name)
    check_literals(narrative)
    return narrative


def parse_narrative(source: str, *, where: str) -> Narrative:
    """A narrative as written; what its prose states is not looked at yet."""
    match = FRONT.match(source)
    if match is None:
        raise NarrativeError(f"{where}: begin it with front matter: ---, author, model, ---.")
    front = read_front_matter(match[1], where)
    body, above = source[match.end() :], source[: match.end()].count("\n")
    headings = [*HEADING.finditer(body)]
    starts = [*(heading.start() for heading in headings), len(body)]
    if not (headings or front.not_written) or body[: starts[0]].strip():
        raise NarrativeError(f"{where}: begin its prose with a heading such as '## Executive Summary'.")
    return Narrative(
        where=where,
        front=front,
        sections={h[1]: body[h.end() : end].strip("\n") for h, end in zip(headings, starts[1:], strict=True)},
        lines={h[1]: above + body[: h.end()].count("\n") + 1 for h in headings},
    )


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


def check_literals(narrative: Narrative) -> None:
    """Raises at the first number the prose or an expression states by itself."""
    declared = set(narrative.front.constants)
    for heading, source in narrative.sections.items():
        place = f"{narrative.where}, section {heading!r}"
        for said in [*stated_figures(source, place), *stated_in_expressions(source, place)]:
            if said.strip() not in declared:
                raise NarrativeError(
                    f"{place}: states {said.strip()!r} itself; name a value, as in {{{{ headline }}}}, or declare it "
                    "under constants in the front matter."
                )


def stated_figures(source: str, place: str) -> Iterator[str]:
    """Figures of the prose outside expressions; a number in code counts unless it is an id."""
    prose = LIST_MARK.sub("", "".join(prose_of(source, place)))
    for paragraph in re.split(r"\n\s*\n", prose):
        text = plain(paragraph)
        for figure in find_figures(text):
            if not (figure.word and figure.value <= 1):
                yield text[figure.start : figure.end].replace(HOLE, "")
        for span in CODE.findall(text):
            if NUMBERISH.fullmatch(span) and not split_citation(span) and not names_task(text, span):
                yield span


def names_task(text: str, span: str) -> bool:
    """Whether a number in code stands for a task: it does behind that word."""
    return re.search(rf"\btasks?\b[^.]*{re.escape(span)}", text, re.IGNORECASE) is not None


def prose_of(source: str, place: str) -> Iterator[str]:
    """The text outside expressions, with something in each expression's place."""
    try:
        for _, kind, text in environment().lex(source):
            if kind == "data":
                yield text
            elif kind == "variable_begin":
                yield HOLE
    except jinja2.TemplateSyntaxError as error:
        raise NarrativeError(f"{place}, line {error.lineno}: {error.message}.") from error


PLACES = (jinja2.nodes.Call, jinja2.nodes.Getitem, jinja2.nodes.Compare, jinja2.nodes.Operand, jinja2.nodes.Keyword)
"""What a literal may be part of: it looks something up there, and is not what is printed."""


def stated_in_expressions(source: str, place: str) -> Iterator[str]:
    """Literals that an expression would print or compute with."""
    try:
        tree = environment().parse(source)
    except jinja2.TemplateSyntaxError as error:
        raise NarrativeError(f"{place}, line {error.lineno}: {error.message}.") from error
    for parent in tree.find_all(jinja2.nodes.Node):
        for child in parent.iter_child_nodes():
            if isinstance(child, jinja2.nodes.Const) and is_stated(parent, child):
                yield str(child.value)


def is_stated(parent: jinja2.nodes.Node, child: jinja2.nodes.Const) -> bool:
    """Whether a literal says how much, and not which."""
    if isinstance(parent, PLACES) or (isinstance(parent, jinja2.nodes.Filter) and child is not parent.node):
        return False
    value: Any = child.value
    return (isinstance(value, int | float) and not isinstance(value, bool)) or (
        isinstance(value, str) and bool(find_figures(value))
    )


def environment() -> jinja2.Environment:
    """Where narratives are rendered: nothing is reachable but values, and nothing unknown is left blank."""
    made = ImmutableSandboxedEnvironment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=finalize, autoescape=False
    )
    made.filters = {
        **{one.__name__: one for one in (numbers.percent, numbers.number, numbers.count, numbers.plural)},
        **{"pp": numbers.signed_pp, "amount": numbers.amount, "words": words, "capital": capital, "code": code},
        **{"length": len, "list": list, "sort": sorted, "join": join},
    }
    made.globals = {}
    return made


def finalize(value: Any) -> Any:
    """What an expression prints."""
    if isinstance(value, jinja2.Undefined):
        return value
    if isinstance(value, str) and not isinstance(value, Markdown):
        return finalize_text(value)
    return written(value)


def words(value: int) -> Markdown:
    """A small count written out."""
    return Markdown(COUNTING[value]) if 0 <= value < len(COUNTING) else numbers.count(value)


def capital(value: Any) -> Markdown:
    """What is printed, beginning with a capital."""
    text = str(finalize(value))
    return Markdown(text[:1].upper() + text[1:])


def join(values: Any, by: str = ", ") -> Markdown:
    """Values in a row."""
    return Markdown(by.join(str(finalize(value)) for value in values))


def render(narrative: Narrative, values: dict[str, Any]) -> dict[str, Markdown]:
    """Every section's prose, filled with values."""
    made = environment()
    return {heading: render_section(made, narrative, heading, values) for heading in narrative.sections}


def render_section(made: jinja2.Environment, narrative: Narrative, heading: str, values: dict[str, Any]) -> Markdown:
    place = f"{narrative.where}, section {heading!r} (from line {narrative.lines[heading]})"
    try:
        text = made.from_string(narrative.sections[heading]).render(values)
    except NarrativeError as error:
        raise NarrativeError(f"{place}: {error}") from error
    except (jinja2.TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as error:
        raise NarrativeError(f"{place}: {error}.") from error
    return Markdown(re.sub(r"\n{3,}", "\n\n", text).strip())
