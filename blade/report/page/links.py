"""Addresses within a page: `#25:0#3` is item 3 of rollout 25:0, `#rollouts?cause=BI` the rollouts with that cause.

A task key is written as a browser's `encodeURIComponent` writes it, so that no key can pass for anything else.
"""

from urllib.parse import quote

from blade.report.text import SURROGATES
from blade.rollouts.table import CITATION

UNRESERVED = "!'()*-._~"


def link(citation: str) -> str:
    """The address of a rollout, or of an item of it; of anything else, the list of rollouts."""
    match = CITATION.fullmatch(citation)
    if match is None:
        return "#rollouts"
    item = "" if match["item"] is None else f"#{match['item']}"
    return f"#{encoded(match['task'])}:{match['repeat']}{item}"


def filter_link(**filters: str) -> str:
    """The address of the rollouts that pass some filters."""
    said = "&".join(f"{encoded(name)}={encoded(value)}" for name, value in filters.items())
    return f"#rollouts?{said}"


def encoded(text: str) -> str:
    return quote(SURROGATES.sub("\ufffd", text), safe=UNRESERVED)


def repeat_of(citation: str) -> int:
    """The repeat that a citation names."""
    return int(citation.rpartition(":")[2].partition("#")[0])
