"""Small lies put into true reports: one digit, id, word, label or row at a time, at a known line.

They are made from the text alone, without the readers that are tested on them. Every lie differs from the report it was
made from and is false: a number, name or word that the rows gave is another one.
"""

import random
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

CODE = re.compile(r"`[^`\n]*`")
NUMBER = re.compile(r"(?<![\w.,@^#:/-])[+-]?\d[\d,]*(?:\.\d+)?(?![\w:]|[.,]\d)")
CITATION = re.compile(r"`([^`\s]+):(\d+)(?:#(\d+))?`")
TASK = re.compile(r"(?<=[Tt]ask )`([^`]+)`|(?<=\| )`([^`:|]+)`(?=[ ,])|(?<=, )`([^`:|]+)`(?=[ ,])")
QUOTE = re.compile(r"“`[^`\n]{12,}`”")
LABEL = re.compile(r"(?<![\w+`-])(?:DA|IR|TI|BI|UK|KG)(?:\+(?:DA|IR|TI|BI|UK|KG))*\??(?![\w+`-])")
SENSES = {
    **{"Every": "No", "every": "no", "No ": "Every ", "never": "always", "always": "never", "only": "never only"},
    **{"passed": "failed", "failing": "passing", "most often": "least often", "Nobody": "Everybody"},
}
FLIPS = {
    **{"more": "fewer", "fewer": "more", "less": "more", "higher": "lower", "lower": "higher", "above": "below"},
    **{"before": "after", "first": "last", "longer": "shorter", "better": "worse", "worse": "better"},
    **{"highest": "lowest", "lowest": "highest", "largest": "smallest", "best": "worst"},
}
QUANTIFIERS = {"all": "none", "All": "None", "none": "all", "both": "neither", "each": "only one", "any": "no"}
VERB = re.compile(r"\b(?:is|are|was|were|has|have|does|can|will|would|passes|pass|fails|fail)\b(?! not)")
INTERVAL = re.compile(r"\b\d+(?:\.\d+)? % (?:interval|bound)")


class Lie(NamedTuple):
    """A report with one thing changed."""

    kind: str
    """What was changed."""
    text: str
    """The whole report."""
    line: int
    """Line of the change, from 1."""
    change: str
    """What it was, and what it is now."""


Change = tuple[int, str, str, str]
"""Line from 0, the new line, what was changed, what it is now."""


def lies(text: str, *, seed: int, most: int) -> list[Lie]:
    """At most so many lies of every kind, drawn from all that could be told."""
    rng = random.Random(f"lies {seed}")
    found: list[Lie] = []
    for kind, make in KINDS.items():
        lines = text.split("\n")
        changes = [change for change in make(lines, rng) if change[1] != lines[change[0]]]
        for at, line, old, new in rng.sample(changes, min(most, len(changes))):
            found.append(Lie(kind, "\n".join([*lines[:at], line, *lines[at + 1 :]]), at + 1, f"{old} → {new}"))
    return found


def sections(lines: list[str]) -> Iterator[tuple[int, str, str]]:
    """Every line with its number and the title of its section; what only defines or repeats is left out."""
    title = ""
    for at, line in enumerate(lines):
        title = line[3:] if line.startswith("## ") else title
        if title not in ("Definitions", "Reproducibility Notes") and not line.startswith(("|---", "# ")):
            yield at, line, title


def is_row(lines: list[str], at: int) -> bool:
    """Whether a line is a row of a table below its header."""
    return lines[at].startswith("|") and not (at + 1 < len(lines) and lines[at + 1].startswith("|---"))


def numbers(line: str) -> Iterator[re.Match[str]]:
    """Numbers of a line outside of code that are found, not fixed: the 95 of an interval is fixed."""
    hidden = CODE.sub(lambda code: "`" + "x" * (len(code[0]) - 2) + "`", line)
    hidden = INTERVAL.sub(lambda fixed: "x" * len(fixed[0]), hidden)
    yield from NUMBER.finditer(hidden)


def other_digit(number: str, rng: random.Random) -> str:
    """The number with one digit changed, never to a leading zero."""
    places = [place for place, sign in enumerate(number) if sign.isdigit()]
    place = rng.choice(places)
    choices = [digit for digit in "0123456789" if digit != number[place]]
    if place == places[0] and len(places) > 1 and "." not in number[: places[1]]:
        choices.remove("0") if "0" in choices else None
    return number[:place] + rng.choice(choices) + number[place + 1 :]


def replaced(line: str, found: re.Match[str], new: str) -> str:
    return line[: found.start()] + new + line[found.end() :]


def change_numbers(
    lines: list[str], rng: random.Random, where: Callable[[int, str, str], bool], which: str = ""
) -> Iterator[Change]:
    """One digit of every number in some lines."""
    for at, line, title in sections(lines):
        if where(at, line, title):
            for found in numbers(line):
                is_ordinal = found.start() == 0 and line[found.end() :].startswith(". ")
                if line[found.end() :].startswith(which) and not is_ordinal:
                    new = other_digit(found[0], rng)
                    yield at, replaced(line, found, new), found[0], new


def headline(lines: list[str], rng: random.Random) -> Iterator[Change]:
    first = {"Executive Summary", "Verdict"}
    return change_numbers(lines, rng, lambda at, line, title: title in first and not line.startswith("|"))


def prose(lines: list[str], rng: random.Random) -> Iterator[Change]:
    rest = {"Executive Summary", "Verdict"}
    return change_numbers(lines, rng, lambda at, line, title: title not in rest and not line.startswith(("|", "#")))


def percentage(lines: list[str], rng: random.Random) -> Iterator[Change]:
    return change_numbers(lines, rng, lambda at, line, title: True, which=" %")


def cell(lines: list[str], rng: random.Random) -> Iterator[Change]:
    return change_numbers(lines, rng, lambda at, line, title: is_row(lines, at))


def count_cell(lines: list[str], rng: random.Random) -> Iterator[Change]:
    """Whole numbers that are a cell of their own: counts and totals."""
    for at, line, _ in sections(lines):
        if is_row(lines, at):
            for found in re.finditer(r"(?<=\| )\d[\d,]*(?= \|)", line):
                new = other_digit(found[0], rng)
                yield at, replaced(line, found, new), found[0], new


def citation(lines: list[str], rng: random.Random) -> Iterator[Change]:
    """The repeat, the item or the task of a citation."""
    for at, line, _ in sections(lines):
        for found in CITATION.finditer(line):
            task, repeat, item = found[1], int(found[2]), found[3]
            new = rng.choice([f"{task}:{repeat + rng.randint(1, 9)}", f"{task}{rng.randint(0, 9)}:{repeat}"])
            if item is not None:
                new = rng.choice([f"{new}#{item}", f"{task}:{repeat}#{int(item) + rng.randint(40, 99)}"])
            yield at, replaced(line, found, f"`{new}`"), found[0], new


def task(lines: list[str], rng: random.Random) -> Iterator[Change]:
    """A task's key in prose or in a list becomes one that is not there."""
    for at, line, title in sections(lines):
        if title in ("Artifact Inventory", "Aggregate Results", "Configuration Changes", "Slices"):
            continue
        for found in TASK.finditer(line):
            key = next(group for group in found.groups() if group)
            if key.isdigit():
                new = str(int(key) + rng.randint(1000, 9000))
                yield at, replaced(line, found, f"`{new}`"), key, new


def quote(lines: list[str], rng: random.Random) -> Iterator[Change]:
    """One word of a quote becomes another."""
    for at, line, _ in sections(lines):
        for found in QUOTE.finditer(line):
            words = list(re.finditer(r"[A-Za-z]{3,}", found[0]))
            if words:
                word = rng.choice(words)
                new = rng.choice([other for other in ("really", "nothing", "before", "seven") if other != word[0]])
                yield at, replaced(line, found, found[0][: word.start()] + new + found[0][word.end() :]), word[0], new


def label(lines: list[str], rng: random.Random) -> Iterator[Change]:
    """A cause becomes another cause."""
    for at, line, title in sections(lines):
        for found in LABEL.finditer(CODE.sub(lambda code: "`" + "x" * (len(code[0]) - 2) + "`", line)):
            new = rng.choice([cause for cause in ("DA", "IR", "TI", "BI", "UK", "KG") if cause not in found[0]])
            if title != "Recommendations" or "`" in line:
                yield at, replaced(line, found, new), found[0], new


def swapped_rows(lines: list[str], rng: random.Random) -> Iterator[Change]:
    """A row gets the numbers of the row below it."""
    for at in range(len(lines) - 1):
        if is_row(lines, at) and is_row(lines, at + 1) and not lines[at].startswith("|---"):
            mine, other = lines[at].split(" | "), lines[at + 1].split(" | ")
            differing = [a for a, b in zip(mine[1:], other[1:], strict=False) if a != b and re.search(r"\d", a + b)]
            if len(mine) == len(other) and differing:
                yield at, " | ".join([mine[0], *other[1:]]), lines[at][:40], "the next row's numbers"


def sense(lines: list[str], rng: random.Random) -> Iterator[Change]:
    """A word that turns a sentence: every, never, only, failing."""
    for at, line, _ in sections(lines):
        for old, new in SENSES.items():
            place = CODE.sub(lambda code: "x" * len(code[0]), line).find(old)
            if place >= 0 and not line.startswith(("|", "#")):
                yield at, line[:place] + new + line[place + len(old) :], old, new


def is_prose(line: str) -> bool:
    return not line.startswith(("|", "#", "Citations read", "Prose by"))


def words_replaced(lines: list[str], words: dict[str, str]) -> Iterator[Change]:
    """Each of some words in prose, outside of code, by another."""
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(words)})(?![\w-])")
    for at, line, _ in sections(lines):
        for found in pattern.finditer(CODE.sub(lambda code: "x" * len(code[0]), line)):
            if is_prose(line):
                yield at, replaced(line, found, words[found[0]]), found[0], words[found[0]]


def flipped(lines: list[str], rng: random.Random) -> Iterator[Change]:
    """More becomes fewer, before becomes after."""
    return words_replaced(lines, FLIPS)


def quantifier(lines: list[str], rng: random.Random) -> Iterator[Change]:
    """All becomes none."""
    return words_replaced(lines, QUANTIFIERS)


def negated(lines: list[str], rng: random.Random) -> Iterator[Change]:
    """A sentence with `not` behind its verb."""
    for at, line, _ in sections(lines):
        for found in VERB.finditer(CODE.sub(lambda code: "x" * len(code[0]), line)):
            if is_prose(line):
                new = f"{found[0]} not" if found[0].startswith(("i", "a", "w", "h", "c", "d")) else f"do not {found[0]}"
                yield at, replaced(line, found, new), found[0], new


def swapped_cells(lines: list[str], rng: random.Random) -> Iterator[Change]:
    """Two different numbers of a row change places."""
    for at, line, _ in sections(lines):
        if is_row(lines, at):
            cells = line.split(" | ")
            places = [n for n in range(1, len(cells)) if re.match(r"[+-]?\d", cells[n])]
            for one, other in pairwise(places):
                if cells[one].rstrip(" |") != cells[other].rstrip(" |"):
                    mine = list(cells)
                    tail = " |" if cells[other].endswith(" |") else ""
                    mine[one], mine[other] = cells[other].removesuffix(" |"), cells[one] + tail
                    yield at, " | ".join(mine), cells[one], cells[other]


def other_citation(lines: list[str], rng: random.Random) -> Iterator[Change]:
    """A citation becomes another one of the report, which is there but is not the one that was meant."""
    known = sorted({found[0] for line in lines for found in CITATION.finditer(line)})
    for at, line, _ in sections(lines):
        for found in CITATION.finditer(line):
            others = [key for key in known if key != found[0] and key not in line]
            if others:
                new = rng.choice(others)
                yield at, replaced(line, found, new), found[0], new


def other_task(lines: list[str], rng: random.Random) -> Iterator[Change]:
    """A task's key becomes that of another task."""
    known = sorted({found[1] for line in lines for found in CITATION.finditer(line)})
    for at, line, title in sections(lines):
        if title in ("Artifact Inventory", "Aggregate Results", "Configuration Changes", "Slices"):
            continue
        for found in TASK.finditer(line):
            key = next(group for group in found.groups() if group)
            others = [other for other in known if f"`{other}`" not in line]
            if key in known and others:
                new = rng.choice(others)
                yield at, replaced(line, found, f"`{new}`"), key, new


KINDS: dict[str, Callable[[list[str], random.Random], Iterator[Change]]] = {
    "a digit of the summary": headline,
    "a digit of other prose": prose,
    "a percentage": percentage,
    "a digit of a table": cell,
    "a count or total of a table": count_cell,
    "two rows' numbers swapped": swapped_rows,
    "a citation": citation,
    "a task's key": task,
    "a word of a quote": quote,
    "a label": label,
    "a word that turns the sense": sense,
    "two cells of a row swapped": swapped_cells,
    "another rollout's citation": other_citation,
    "another task's key": other_task,
    "all, none, both, each": quantifier,
    "more and fewer flipped": flipped,
    "a sentence negated": negated,
}
