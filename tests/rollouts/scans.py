"""Scans as plain values, and rows of every kind to make them from."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from rollout_rows import Row, call, message, result, rollout, thought

from blade.rollouts.features import FACTS
from blade.rollouts.reader import FileScan, Reading, scan_file
from blade.rollouts.scan import Scan
from blade.rollouts.sources import open_stream, skip, take
from blade.rollouts.trajectory import read_items, read_record
from blade.rollouts.values import Item

PLACE = ("line", "offset", "length")


def read(path: Path, *, jobs: int = 1, cached: bool = False, **options: Any) -> FileScan:
    """A file read without the cache, unless it is wanted."""
    return scan_file(path, Reading(**options), jobs=jobs, use_cache=cached)


def records(scan: Scan) -> list[Row]:
    """What the columns hold, row by row; unknown values are left out."""
    values = {path: [column.at(row) for row in range(len(scan))] for path, column in scan.columns.items()}
    return [{path: values[path][row] for path in values if values[path][row] is not None} for row in range(len(scan))]


def plain(scan: Scan) -> dict[str, Any]:
    """Everything a scan holds, comparable."""
    places = {name: getattr(scan, name).tolist() for name in PLACE}
    arrays = {"facts": scan.facts.tolist()}
    return {**places, **arrays, "records": records(scan), "bad": scan.bad, "lines": scan.lines}


def facts(scan: Scan) -> list[dict[str, int]]:
    """The facts of every row by name."""
    return [dict(zip(FACTS, row, strict=True)) for row in scan.facts.tolist()]


def items_of(file: FileScan, *, last: int = 1000) -> list[list[Item]]:
    """The full items of the last rows, each read back by its offset."""
    places = list(zip(file.scan.offset.tolist(), file.scan.length.tolist(), strict=True))[-last:]
    return [read_items(read_record(bytes_at(file.path, *place)), file.format) for place in places]


def bytes_at(path: Path, offset: int, length: int) -> bytes:
    with open_stream(path) as stream:
        skip(stream, offset)
        return b"".join(take(stream, length))


def write_bytes(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def jsonl(rows: list[Any]) -> bytes:
    """Rows as lines, as Python's own encoder writes them."""
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def chat_row(task: int = 0, trial: int = 0, *, turns: list[Row] | None = None) -> Row:
    """A tau-bench trial: a whole conversation with its tool calls inside messages."""
    said = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hello"}]
    acted = [
        {"role": "assistant", "content": None, "tool_calls": [chat_call("look", '{"id": 1}', "c1")]},
        {"role": "tool", "tool_call_id": "c1", "name": "look", "content": "Error: no such order"},
        {"role": "assistant", "content": "Sorry, not found."},
        {"role": "user", "content": "###STOP###"},
    ]
    return {"task_id": task, "trial": trial, "reward": 0.0, "info": {}, "traj": said + (turns or acted)}


def chat_call(name: str, arguments: str = "{}", call_id: str = "c1") -> Row:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def flat_row(number: int = 0) -> Row:
    """A record of no known format."""
    return {"id": f"q{number}", "score": 0.5, "correct": True, "tags": ["a", "b"], "question": "Why?", "output": "So."}


def agent_row(task: int = 0, repeat: int = 0) -> Row:
    """A Gym row with one item of every kind."""
    acts = [
        thought("Let me look."), call("search", '{"q": 1}', "c1"), result("Error: connection timed out", "c1"),
        call("search", '{"q": 1}', "c2"), result("found", "c2"), message("next?", "user"), message("Done."),
    ]  # fmt: skip
    usage = {"input_tokens": 10, "output_tokens": 3, "total_tokens": 13}
    return rollout(task, repeat, 1.0, output=acts, response={"usage": usage}, difficulty="easy", tags=["x"])


BUILDERS: dict[str, Callable[[int], Row]] = {"gym": agent_row, "tau-bench": chat_row, "records": flat_row}

ODD_TEXTS = ("", "NaN", "\ud800", "\x00", "ü" * 3, "a.b", "x" * 300, "<think>", "</think>", "I'm sorry, I can't help.")
"""Texts that have broken readers before: empty, a lone surrogate, a null, a long one, thinking that never ends."""

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**53, 2**63, 2**64, -(2**63) - 1, 10**30, 10**400])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(ODD_TEXTS)
    | st.text(max_size=8)
)
"""Anything JSON can hold at the end of a path."""

values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(ODD_TEXTS) | st.text(max_size=5), inner)
    ),
    max_leaves=8,
)
"""Anything JSON can hold."""


@st.composite
def mutated(draw: st.DrawFn, rows: st.SearchStrategy[Row]) -> Row:
    """A row in which some paths were overwritten, removed or invented."""
    row = json.loads(json.dumps(draw(rows)))
    for _ in range(draw(st.integers(0, 3))):
        place: Any = row
        while isinstance(place, dict | list) and len(place):
            key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
            if not isinstance(place[key], dict | list) or not place[key] or draw(st.integers(0, 3)) == 0:
                change(place, key, draw)
                break
            place = place[key]
    return row  # type: ignore[no-any-return]


def change(place: Any, key: Any, draw: st.DrawFn) -> None:
    if draw(st.integers(0, 4)) == 0:
        del place[key]
    elif isinstance(place, dict) and draw(st.integers(0, 4)) == 0:
        place[draw(st.sampled_from(ODD_TEXTS))] = draw(values)
    else:
        place[key] = draw(values)


def some_rows(kind: str) -> st.SearchStrategy[list[Row]]:
    """A few rows of one format, good and mutated."""
    good = st.integers(0, 5).map(BUILDERS[kind])
    return st.lists(good | mutated(good), min_size=1, max_size=6)
