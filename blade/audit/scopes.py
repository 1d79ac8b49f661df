"""Where a number of a report is looked up: in what its clause mentions, in what it stands in, or in the run.

A clause is narrowed by the phrase that opens its sentence, by what stands before its colon, by its heading and by the
caption of its table. A number may be contradicted only at the nearest scope that has nothing else to narrow it.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from blade.audit.claims import NUMERIC, Claim, clause_around
from blade.audit.facts import Thing, Words
from blade.audit.knowledge import Knowledge
from blade.audit.markdown import shown
from blade.audit.mentions import TASK_COLUMN
from blade.audit.subjects import counted_by, words_of
from blade.audit.told import GENERIC, Told

HARMLESS = frozenset(
    {"scored", "value", "interval", "headline", "metric", "k", "n", "often", "improved", "regressed", "tied"}
)
"""Words beside a name that narrow nothing."""
CONTEXT = frozenset({"task", "level", "side", "model", "agent", "file", "k", "variant"})
"""Things that hold others: a signal may be seen in a task, a rate measured at a level."""
SIGNS = frozenset({"signal", "pattern"})
COLUMNS = frozenset({"level", "model", "agent", "side"})
"""Things that a column may be about."""
LISTED = re.compile(r"\s(?:and|or|but)\s|,\s")
PLAIN = frozenset({"task", "rollout"})
OPENING = re.compile(
    r"(?:Of|On|In|For|With|Without|Counting|Excluding|Including|Among|Under|After|When|If|Ignoring|Leaving|At|By|Across|"
    r"Within|During|Once|Where|Having|Removing|Given|Per)\b[^,;:()]*,"
)
"""A phrase at the start of a sentence that narrows what follows."""
OBLIQUE = re.compile(
    r"\b(?:twin|sibling|variant|counterpart|version|neighbou?r|copy|cousin|opposite)s? of\b|"
    r"\b(?:unlike|than|similar to|compared (?:to|with)|versus|vs|against|as in)\s+(?:the\s+)?(?:tasks?\s+)?`",
    re.IGNORECASE,
)
"""What makes a thing that is named not the one that is spoken of."""
NARROWED_TO = re.compile(r"\b(?:on|in|for|among|within|without|excluding|only)\s+([^.,;:()]+)", re.IGNORECASE)


class Scope(NamedTuple):
    """Where to look a number up."""

    things: frozenset[Thing]
    """What is mentioned there; nothing for the run."""
    words: Words
    """What is said about it."""
    is_own: bool
    """Whether nothing nearer to the number was mentioned."""


def scopes(claim: Claim, told: Told, speech: Sequence[Claim], knowledge: Knowledge) -> Iterator[Scope]:
    """What a number's own place mentions, then what it stands in, then the run."""
    own, words = own_mentions(claim, told, speech, knowledge)
    around = knowledge.mentions(shown(around_of(claim, told))).things - own
    inside = frozenset(thing for thing in around if thing.kind in CONTEXT)
    above = knowledge.mentions(claim.section[-1]).things - own if claim.section[1:] else frozenset[Thing]()
    above = frozenset(thing for thing in above if thing.kind in CONTEXT)
    holders = next((level for level in (own, inside, above) if any(t.kind == "task" for t in level)), frozenset())
    if pairs := seen_together(holders, own, knowledge):
        yield Scope(pairs, words, True)
    if own:
        yield Scope(own, words, is_told_apart(own, inside | above) and not OBLIQUE.search(claim.words))
    if pairs := seen_together(holders, around, knowledge):
        yield Scope(pairs, words, False)
    if inside:
        yield Scope(inside, words, not own and len(inside) == 1)
    if above:
        yield Scope(above, words, not own and not inside)
    if around - inside:
        yield Scope(around - inside, words, False)
    is_alone = not own and not inside and not above and not (around and words <= PLAIN)
    yield Scope(frozenset(), words, is_alone and not is_narrowed(claim, told))


def is_narrowed(claim: Claim, told: Told) -> bool:
    """Whether a heading, or the caption of a table, narrows what stands below it to a part of the run."""
    if told.narrowed_by(claim.section):
        return True
    caption = "" if claim.table is None else shown(told.document.tables[claim.table].caption)
    return any(words_of(phrase) - GENERIC - HARMLESS for phrase in NARROWED_TO.findall(caption))


def is_told_apart(own: frozenset[Thing], context: frozenset[Thing]) -> bool:
    """Whether what a clause mentions is all that narrows it: a signal under a task's heading is that task's."""
    return not context or any(thing.kind in CONTEXT for thing in own)


def seen_together(holders: frozenset[Thing], things: frozenset[Thing], knowledge: Knowledge) -> frozenset[Thing]:
    """Signals and patterns as they were seen in the rollouts of tasks."""
    keys = {
        f"{task.key}|{thing.key}" for task in holders if task.kind == "task" for thing in things if thing.kind in SIGNS
    }
    return frozenset(thing for key in keys for thing in knowledge.seen.get(key, ()))


def own_mentions(
    claim: Claim, told: Told, speech: Sequence[Claim], knowledge: Knowledge
) -> tuple[frozenset[Thing], Words]:
    """Things that a clause, or a row and its column, mention, and the words beside them."""
    if claim.table is None:
        return prose_mentions(claim, speech, knowledge)
    things = row_things(claim, told, knowledge)
    mentioned = knowledge.mentions(cell_text(claim, with_row=not things))
    return things | mentioned.things, words_of(without_names(mentioned.rest, mentioned.things))


def prose_mentions(claim: Claim, speech: Sequence[Claim], knowledge: Knowledge) -> tuple[frozenset[Thing], Words]:
    """Things and words of a clause; where it lists numbers, those of a number's own part go first."""
    others = [other for other in speech if other.kind in NUMERIC and other is not claim]
    first, last = in_brackets(claim) or clause_around(claim.words, claim.start, claim.end)
    if re.match(r"\s(?:it|they|we)\s", claim.words[claim.end + counted_by(claim) :]):
        last = claim.end + counted_by(claim)  # `Of 48 tasks it always solves 21`
    whole = knowledge.mentions(own_text(claim, others, first, last))
    part = knowledge.mentions(own_text(claim, others, *part_of_list(claim, others, first, last)))
    things = part.things or whole.things
    words = words_of(without_names(part.rest, part.things)) or words_of(without_names(whole.rest, whole.things))
    return things, words


def in_brackets(claim: Claim) -> tuple[int, int] | None:
    """Where the brackets begin and end that a number stands in; what is in them belongs together."""
    before, behind = claim.words[: claim.start], claim.words[claim.end :]
    opened, closed = before.rfind("("), behind.find(")")
    if opened <= before.rfind(")") or closed < 0 or 0 <= behind.find("(") < closed:
        return None
    return opened + 1, claim.end + closed + 1


def part_of_list(claim: Claim, others: Sequence[Claim], first: int, last: int) -> tuple[int, int]:
    """The part of a clause that is one number's: from the `and` or comma behind the number before, to the next one."""
    before = max((other.end for other in others if first <= other.end <= claim.start), default=None)
    behind = min((other.start for other in others if claim.end <= other.start <= last), default=None)
    if before is not None and (joint := LISTED.search(claim.words, before, claim.start)):
        first = joint.end()
    if behind is not None and (joint := LISTED.search(claim.words, claim.end, behind)):
        last = joint.start()
    return first, last


def around_of(claim: Claim, told: Told) -> str:
    """The sentence a number stands in; of a cell, its table's caption."""
    return claim.words if claim.table is None else told.document.tables[claim.table].caption


def own_text(claim: Claim, others: Sequence[Claim], first: int, last: int) -> str:
    """A number's clause without what other numbers count, and what narrows it from before.

    A clause that says nothing is about what stands before its colon or around its brackets. A phrase that opens the
    sentence (`On hard tasks, …`) and the words before a colon narrow every clause behind them.
    """
    text, head, tail = blanked(claim, others, first, last), claim.words[:first], ""
    while head.rstrip().endswith((":", "(")) and not words_of(text):
        if head.rstrip().endswith("(") and claim.words[last - 1 : last] == ")":
            tail = blanked(claim, others, last, clause_around(claim.words, last + 1, last + 1)[1])
        first, _ = clause_around(claim.words, first - 1, first - 1)
        text, head = blanked(claim, others, first, last), claim.words[:first]
    if not words_of(text + tail):
        return text
    before = 0 if head.rstrip().endswith("(") else len(head.rpartition(":")[0])
    opening = OPENING.match(claim.words)
    start = max(before, opening.end() if opening and opening.end() <= first else 0)
    return f"{blanked(claim, others, 0, start)} : {text} {tail}" if start else f"{text} {tail}"


def blanked(claim: Claim, others: Sequence[Claim], first: int, last: int) -> str:
    """A part of a sentence without its numbers, and without what other numbers count."""
    text = list(claim.words)
    for other in [claim, *others]:
        noun = 0 if other is claim or other.unit else counted_by(other)
        for place in range(other.start, min(len(text), other.end + noun)):
            text[place] = " "
    return "".join(text[first:last])


def cell_text(claim: Claim, *, with_row: bool) -> str:
    """The words of a cell and its column; those of its row where the row is nothing that has a name."""
    beside = claim.cell[: claim.start] + " " + claim.cell[claim.end :]
    row = claim.row or "" if with_row else ""
    return f"{row} . {claim.column or ''} . {re.sub(r'[0-9][0-9.,]*', ' ', beside)}"


def row_things(claim: Claim, told: Told, knowledge: Knowledge) -> frozenset[Thing]:
    """Things that a row is about: by its first cell, by its first two, or by the k it is for."""
    assert claim.table is not None
    table = told.document.tables[claim.table]
    row = next(row for row in table.rows if row.line == claim.line)
    header, cells = shown(table.header[0]).strip().lower() if table.header else "", list(map(shown, row.cells))
    if header == "k":
        return knowledge.cell(f"k={cells[0]}")
    is_name = re.search(r"[A-Za-z`]", cells[0]) is not None or TASK_COLUMN.search(header) is not None
    first = knowledge.cell(cells[0]) if is_name else frozenset[Thing]()
    named = frozenset(
        thing for thing in first if thing.kind == header
    )  # `task` and `level` say themselves what they are
    first = named or first
    columns = frozenset(thing for thing in knowledge.cell(claim.column or "") if thing.kind in COLUMNS)
    return first | knowledge.cell("|".join(cells[:2])) | columns


def without_names(text: str, things: frozenset[Thing]) -> str:
    """A text without the names of things it mentions."""
    for name in sorted((name for thing in things for name in thing.names), key=len, reverse=True):
        text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", " ", text, flags=re.IGNORECASE)
    return text
