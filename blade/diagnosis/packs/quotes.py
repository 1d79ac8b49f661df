"""Verbatim evidence: the line of a log, the end of an answer, the reason a judge gave. Never paraphrased or long."""

from typing import Any, NamedTuple

from blade.diagnosis.packs.expressions import Expression
from blade.diagnosis.packs.items import find_item
from blade.diagnosis.packs.pack import Quote
from blade.diagnosis.packs.reading import WholeRow
from blade.diagnosis.packs.values import all_hold, as_element
from blade.rollouts.columns import MAX_TEXT, level_text
from blade.rollouts.table import RolloutTable

MAX_QUOTE = 200
LEAD = 60
"""Characters before a match that are quoted with it, when its line is longer than a quote."""


class Quoted(NamedTuple):
    """A quote and the item it stands in."""

    text: str
    item: int | None


def quote_from_table(quote: Quote, table: RolloutTable, row: int) -> Quoted | None:
    """The quote, where a short text in the table is all of it."""
    if quote.field is None or quote.beside is not None or quote.matches is not None:
        return None
    column = table.rows.columns.get(quote.field.text)
    value = None if column is None else column.at(row)
    if not isinstance(value, str) or not value or len(value) >= MAX_TEXT or "\n" in value:
        return None  # a list in the table may stand there as the lines of a text, which no quote may
    return Quoted(value, None)


def quote_from_file(quote: Quote, whole: WholeRow) -> Quoted | None:
    """The quote from a row that was read; `None` when there is nothing to quote."""
    if quote.item is not None:
        sighting = find_item(quote.item, whole.items)
        if sighting is None:
            return None
        expression = quote.matches or quote.item.matches
        text = excerpt(sighting.text, expression, take=quote.take)
        return Quoted(text, sighting.position) if text else None
    for value in candidates(quote, whole.record):
        text = excerpt(as_text(value), quote.matches, take=quote.take)
        if text:
            return Quoted(text, None)
    return None


def candidates(quote: Quote, record: dict[str, Any]) -> list[Any]:
    """Values a quote may be taken from, best first."""
    assert quote.field is not None
    found = quote.field.values(record)
    if quote.beside is None:
        return found if isinstance(found, list) else [found]
    neighbours = quote.beside.values(record)
    if not isinstance(found, list) or not isinstance(neighbours, list) or len(found) != len(neighbours):
        return []
    return [
        value
        for value, neighbour in zip(found, neighbours, strict=True)
        if all_hold(quote.beside_asked, as_element(neighbour))
    ]


def as_text(value: Any) -> str:
    return level_text(value) if isinstance(value, bool | int | float | str) else ""


def excerpt(text: str, expression: Expression | None, *, take: str) -> str:
    """At most `MAX_QUOTE` characters of a text: the line that matches, or one of its ends."""
    if expression is None:
        return (text.strip()[:MAX_QUOTE] if take == "start" else text.strip()[-MAX_QUOTE:]).strip()
    span = expression.search(text)
    if span is None:
        return ""
    begin = max(text.rfind("\n", 0, span[0]) + 1, span[0] - LEAD)
    end = text.find("\n", span[1])
    end = len(text) if end < 0 else end
    return text[begin : min(end, begin + MAX_QUOTE)].strip()
