"""A value as a small table in a notebook. Names come from files, so everything is escaped."""

from collections.abc import Iterable
from html import escape


def card(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """A titled table of two columns as HTML."""
    body = "".join(f"<tr><th style='text-align:left'>{escape(a)}</th><td>{escape(b)}</td></tr>" for a, b in rows)
    return f"<table><caption style='text-align:left'><b>{escape(title)}</b></caption>{body}</table>"
