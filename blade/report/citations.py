"""Citations as they are read and written, and the commands that show what they cite.

A task key may be anything, colons, spaces and shell syntax included: it is quoted in commands and fenced in prose.
"""

import shlex
from collections.abc import Sequence

from blade.diagnosis.reading_order import reading_words
from blade.report.listing import Listing, first
from blade.report.text import Markdown, code, code_cell
from blade.rollouts.table import CITATION


def rollout_of(citation: str) -> str:
    """`task:repeat` of a citation, its item left out."""
    match = CITATION.fullmatch(citation)
    return citation if match is None else match["rollout"]


def item_of(citation: str) -> int | None:
    """The item a citation names, if any."""
    match = CITATION.fullmatch(citation)
    return None if match is None or match["item"] is None else int(match["item"])


def task_of(citation: str) -> str:
    """The task a citation is of."""
    return citation.rpartition(":")[0]


def codes(listing: Listing[str], *, in_table: bool = False) -> Markdown:
    """Citations or task keys as code, separated by commas, with how many follow."""
    shown = ", ".join((code_cell if in_table else code)(text) for text in listing.shown)
    return Markdown(f"{shown} and {listing.more}" if listing.rest else shown)


def cited(citations: Sequence[str], most: int, *, limit: int | None = None, in_table: bool = False) -> Markdown:
    """The first citations and how many follow; `limit` is the length at which the list was cut before."""
    return codes(first(citations, most, limit=limit), in_table=in_table)


def reading_commands(citations: Sequence[str]) -> list[str]:
    """The commands that show these rollouts; two of them are also compared."""
    readings = [*([citation] for citation in citations), *([citations] if len(citations) == 2 else [])]
    return [shlex.join(reading_words(reading)) for reading in readings]
