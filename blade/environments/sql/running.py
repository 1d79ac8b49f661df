"""Runs queries on a SQLite file that they can only read, in the process that `blade.environments.helper` limits."""

import itertools
import re
import sqlite3
import time
from collections import Counter
from typing import Any
from urllib.parse import quote

from blade.environments import helper

SECONDS = 10.0
"""Per query; the process as a whole is given up later, for what no step of SQLite gives back."""
MOST_ROWS = 100_000
MOST_COLUMNS_MOVED = 7
LONGEST_VALUE = 10_000_000
ALLOWED = {*(sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)}
REFUSED = {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"}
BRACKETS = re.compile(r"\([^()]*\)")

Rows = list[tuple[Any, ...]]


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Whether two queries return the same; an expected query that fails is said to be at fault."""
    try:
        expected = rows_of(request["database"], request["expected"])
    except (sqlite3.Error, ValueError, OverflowError, MemoryError) as error:
        return {"error": f"the expected query fails: {error}"}
    try:
        made = rows_of(request["database"], request["query"])
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError) as error:
        return {"error": str(error)[:300], "expected_rows": len(expected)}
    equal = (
        set(made) == set(expected)
        if request["compare"] == "set"
        else same_table(made, expected, ordered=is_ordered(request["expected"]))
    )
    return {"equal": equal, "rows": len(made), "expected_rows": len(expected)}


def is_ordered(query: str) -> bool:
    """Whether the query as a whole says in which order its rows come."""
    while (outer := BRACKETS.sub(" ", query)) != query:
        query = outer
    return re.search(r"\border\s+by\b", query, re.IGNORECASE) is not None


def rows_of(database: str, query: str) -> Rows:
    """What a query returns; it can neither write nor reach another file."""
    until = time.monotonic() + SECONDS
    place = f"file:{quote(database)}?mode=ro&immutable=1"
    connection = sqlite3.connect(place, uri=True, isolation_level=None)
    try:
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.set_progress_handler(lambda: time.monotonic() > until, 10_000)
        connection.set_authorizer(allow)
        rows = connection.execute(query).fetchmany(MOST_ROWS + 1)
    finally:
        connection.close()
    if len(rows) > MOST_ROWS:
        raise ValueError(f"more than {MOST_ROWS:,} rows")
    return rows


def allow(action: int, first: str | None, second: str | None, *rest: str | None) -> int:
    """Reading and computing, and nothing else."""
    refused = action not in ALLOWED or (action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in REFUSED)
    return sqlite3.SQLITE_DENY if refused else sqlite3.SQLITE_OK


def same_table(made: Rows, expected: Rows, *, ordered: bool) -> bool:
    """Whether two results are equal with the columns of one in some order."""
    if len(made) != len(expected) or (made and len(made[0]) != len(expected[0])):
        return False
    if not made or same_rows(made, expected, ordered=ordered):
        return True
    width = len(made[0])
    if not 1 < width <= MOST_COLUMNS_MOVED:
        return False
    columns = [[Counter(row[place] for row in rows) for place in range(width)] for rows in (made, expected)]
    return any(
        same_rows([tuple(row[place] for place in order) for row in made], expected, ordered=ordered)
        for order in itertools.permutations(range(width))
        if all(columns[0][place] == column for place, column in zip(order, columns[1], strict=True))
    )


def same_rows(made: Rows, expected: Rows, *, ordered: bool) -> bool:
    return made == expected if ordered else Counter(made) == Counter(expected)


def serve() -> None:
    """Answers requests until there are no more."""
    helper.serve(answer)
