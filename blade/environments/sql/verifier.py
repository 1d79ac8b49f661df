"""Judges a query by running it and the expected one on the task's database, and comparing what they return.

A task has `database`, a SQLite file; `query`, the expected one; and `compare`: `bag` (rows as often as they come, in
order where the expected query orders them, columns in any order: Spider's rule) or `set` (BIRD's: each row once, in no
order). Queries run in a process of their own that can only read, and is given up after some seconds.
"""

import re
from pathlib import Path
from typing import Any

from blade.environments.answering import TextEnvironment, own_part
from blade.environments.environment import Task, Verdict, judge_rows
from blade.environments.helper import Helper
from blade.errors import InputError

FENCE = re.compile(r"```[ \t]*(?:sql|sqlite)?[ \t]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL | re.IGNORECASE)
QUERY = re.compile(r"^\s*(?:select|with)\b.*", re.DOTALL | re.IGNORECASE | re.MULTILINE)
MOST_QUERY = 20_000

HELPER = Helper("blade.environments.sql.running", seconds=30.0, memory_mb=1000)


def judge(task: Task, text: str) -> Verdict:
    """Full marks for a query that returns what the expected one does."""
    query = find_query(text)
    found = None if query is None else run(task, query)
    return Verdict(
        reward=float(found is not None and found.get("equal") is True),
        fields={
            "extracted_sql": query,
            "sql_error": None if found is None else found.get("error"),
            "rows_made": None if found is None else found.get("rows"),
            "rows_expected": None if found is None else found.get("expected_rows"),
        },
    )


def find_query(text: str) -> str | None:
    """The last fenced query, or what stands from the first SELECT or WITH on; `None` when there is none."""
    fenced = [block for block in FENCE.findall(text) if QUERY.search(block)]
    bare = QUERY.search(own_part(text))
    found = fenced[-1] if fenced else bare[0] if bare else ""
    return found.strip().rstrip(";").strip()[:MOST_QUERY] or None


def run(task: Task, query: str) -> dict[str, Any]:
    """What came of both queries."""
    database = Path(task["database"])
    if not database.is_file():
        raise InputError(f"{database}: the task's database is not there; make the benchmark again where it is now.")
    request = {"database": str(database), "query": query, "expected": task["query"], "compare": task.get("compare")}
    return HELPER.ask(request) or {"error": "gave up: it took too long or too much memory"}


def gold(task: Task) -> str:
    return f"```sql\n{task['query']}\n```"


ENVIRONMENT = TextEnvironment("sql", judge=judge, gold=gold)


if __name__ == "__main__":
    judge_rows(ENVIRONMENT)
