"""However a file is cut into ranges and however those are merged, the scan is the same."""

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from scans import plain

from blade.diagnosis import observations  # noqa: F401 - registers what is noted of rows
from blade.rollouts.decoding import Plan
from blade.rollouts.observing import registered
from blade.rollouts.ranges import next_line, scan_range
from blade.rollouts.reader import Reading, open_file
from blade.rollouts.scan import Scan, join_scans
from blade.rollouts.scanner import settled

VALUES = st.sampled_from([True, False, 1, 0, 1.5, 2**60, "x", "1", None, [1, "a"], ["b"], {"a": 1}, "y" * 300])
ROWS = st.lists(
    st.fixed_dictionaries({}, optional={"odd": VALUES, "score": VALUES, "more.b": VALUES, "more": VALUES}),
    min_size=2,
    max_size=40,
)


def merged(scans: Sequence[Scan], fan: int) -> Scan:
    """Joined in a tree, as many at a time."""
    while len(scans) > 1:
        scans = [join_scans(list(scans[at : at + fan])) for at in range(0, len(scans), fan)]
    return scans[0]


def told(scan: Scan, plan: Plan) -> tuple[Any, ...]:
    """A scan to the bit: of numbers that are equal, one may be a flag."""
    scan = settled(scan, plan)
    columns = [(path, c.kind, repr(c.levels), c.values.tobytes(), c.has_long) for path, c in scan.columns.items()]
    seen = scan.sightings
    assert seen is not None
    arrays: list[Any] = [seen.ids, seen.items, seen.ends, seen.note]
    return plain(scan), columns, seen.observations, seen.notes, [array.tolist() for array in arrays]


@settings(max_examples=200)
@given(rows=ROWS, cuts=st.lists(st.floats(0, 1), max_size=9), fan=st.integers(2, 5))
def test_neither_cuts_nor_the_tree_of_merges_change_a_scan(
    tmp_path_factory: Any, rows: list[dict[str, Any]], cuts: list[float], fan: int
) -> None:
    path: Path = tmp_path_factory.mktemp("cut") / "rows.jsonl"
    lines = [json.dumps({"task": n // 2, **row}) for n, row in enumerate(rows)]
    lines.insert(len(lines) // 2, '{"broken": ')
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    plan = open_file(path, Reading(observer=registered())).plan
    size = path.stat().st_size
    with path.open("rb") as file:
        places = sorted({0, size, *(next_line(file, int(share * (size - 1)), size) for share in cuts)})
    pieces = [scan_range(path, plan, piece) for piece in itertools.pairwise(places)]

    assert told(merged(pieces, fan), plan) == told(scan_range(path, plan, (0, size)), plan)
