"""What is noted about rows does not depend on how a file is cut into ranges."""

import itertools
import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blade.diagnosis.observations import observe_data, observe_rows
from blade.rollouts.observing import Sightings, join_sightings
from blade.rollouts.ranges import scan_range
from blade.rollouts.reader import Reading, open_file
from blade.rollouts.scan import join_scans

SAID = ("Error: no such file", "Error: 7 items left", "done", "12 rows", "")


def row(number: int, said: str, answer: str) -> bytes:
    call = {"type": "function_call", "name": f"tool{number % 3}", "arguments": "{}", "call_id": "c"}
    result = {"type": "function_call_output", "call_id": "c", "output": said}
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": answer}]}
    asked = {"input": [{"role": "user", "content": f"Question {number}"}]}
    record = {
        "_ng_task_index": number,
        "_ng_rollout_index": 0,
        "reward": number % 2,
        "expected_answer": "4",
        "responses_create_params": asked,
        "response": {"output": [call, result, message]},
    }
    return json.dumps(record).encode() + b"\n"


ROWS = st.lists(st.tuples(st.sampled_from(SAID), st.sampled_from(("4", "five", "it is 4."))), min_size=1, max_size=12)


def told(found: Sightings | None) -> list[tuple[dict[tuple[str, ...], int], bytes]]:
    """What was noted, row by row, in plain values."""
    assert found is not None
    starts = [0, *found.ends.tolist()][:-1]
    return [
        ({found.observations[found.ids[at]]: int(found.items[at]) for at in range(start, end)}, found.notes[note])
        for start, end, note in zip(starts, found.ends.tolist(), found.note.tolist(), strict=True)
    ]


@settings(max_examples=15, deadline=None)
@given(rows=ROWS, cuts=st.sets(st.integers(1, 11)))
def test_ranges_join_to_what_one_range_gives(
    rows: list[tuple[str, str]], cuts: set[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("rows") / "rollouts.jsonl"
    lines = [row(number, *said) for number, said in enumerate(rows)]
    path.write_bytes(b"".join(lines))
    plan = open_file(path, Reading(observer=observe_rows)).plan
    ends = np.cumsum([0, *map(len, lines)]).tolist()
    borders = [0, *sorted(cut for cut in cuts if cut < len(lines)), len(lines)]
    ranges = [(ends[a], ends[b]) for a, b in itertools.pairwise(borders)]

    whole = scan_range(path, plan, (0, ends[-1])).sightings
    joined = join_scans([scan_range(path, plan, piece) for piece in ranges]).sightings

    assert told(joined) == told(whole) == told(observe_data(lines, plan.format))


TOLD = st.fixed_dictionaries(
    {},
    optional={
        "expected_answer": st.sampled_from(("4", 4, 4.0, True, None, ["4", "five"], {"n": None, "a": 4})),
        "extracted_answer": st.sampled_from(("4", "5", None, 4)),
        "tests": st.sampled_from(
            ([], [{"name": "a", "passed": False}], {"success": ["a"], "failure": ["b"]}, "x" * 300)
        ),
        "log": st.sampled_from(("short", "x\n" * 200, {"out": "y\n" * 200, "n": None}, None, 3)),
        "response": st.sampled_from(
            ({"output": []}, {"output": "4"}, {"output": [{"role": "assistant", "content": " "}]})
        ),
        "a.b": st.sampled_from(("z" * 300, 1)),
        'odd"name': st.just("w" * 300),
        "passed": st.sampled_from((["a", "c"], [], True)),
        "failed": st.sampled_from((["b"], ["b", None], 1)),
        "instruction_id_list": st.just(["i", "j"]),
        "follow_instruction_list": st.just([True, False]),
    },
)


@settings(max_examples=150, deadline=None)
@given(said=st.lists(TOLD, min_size=1, max_size=6))
def test_what_rows_say_is_the_same_from_the_table_and_from_their_bytes(
    said: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("told") / "rollouts.jsonl"
    lines = [json.dumps({**json.loads(row(n, "done", "it is 4.")), **more}).encode() for n, more in enumerate(said)]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    plan = open_file(path, Reading(observer=observe_rows)).plan

    assert told(scan_range(path, plan, (0, path.stat().st_size)).sightings) == told(observe_data(lines, plan.format))


def test_the_first_rows_of_sightings_are_those_of_the_first_rows(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    path.write_bytes(b"".join(row(number, said, "4") for number, said in enumerate(SAID)))
    plan = open_file(path, Reading(observer=observe_rows)).plan
    whole = scan_range(path, plan, (0, path.stat().st_size)).sightings

    assert whole is not None
    assert told(whole.first(2)) == told(whole)[:2]
    assert told(whole.first(0)) == told(join_sightings([])) == []


def test_equal_notes_are_kept_once(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    path.write_bytes(b"".join(msgspec.json.encode({"task": i, "trial": 0, "score": i % 2}) + b"\n" for i in range(50)))
    plan = open_file(path, Reading(observer=observe_rows)).plan

    found = scan_range(path, plan, (0, path.stat().st_size)).sightings

    assert found is not None
    assert (len(found), len(found.notes), len(found.ids)) == (50, 1, 0)
