from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_rows import Row, analyze_rows, call, message, result, rollout, without, write_rows

from blade.diagnosis import Analysis

TOOLS: Row = {"params": {"tools": [{"type": "function", "name": "search"}]}}
STAGES = ["started", "produced output", "reached the core action", "was scored", "passed"]


def analyze_plainly(folder: Path, rows: Iterable[Row | str], **options: Any) -> Analysis:
    """The analysis with the funnel that holds for any benchmark."""
    return analyze_rows(folder, rows, pack="none", **options)


def counts(analysis: Analysis) -> list[int | None]:
    assert [stage.name for stage in analysis.funnel] == STAGES
    return [stage.rollouts for stage in analysis.funnel]


def lost(analysis: Analysis) -> list[list[str]]:
    return [stage.lost for stage in analysis.funnel]


def test_rollouts_are_counted_at_every_stage_and_cited_where_they_end(tmp_path: Path) -> None:
    write_rows(tmp_path / "run_failures.jsonl", [rollout(0, 0, output=[], _ng_failure_class="transient", **TOOLS)])
    rows = [
        rollout(1, 0, 0.0, output=[], **TOOLS),
        rollout(2, 0, None, output=[message("no need")], **TOOLS),
        rollout(3, 0, None, output=[call(), result("x")], **TOOLS),
        rollout(4, 0, 0.0, output=[call(), message("wrong")], **TOOLS),
        rollout(5, 0, 1.0, output=[call(), message("right")], **TOOLS),
    ]
    analysis = analyze_plainly(tmp_path, rows)
    # 1 has a score, so it was scored and everything before, whatever it produced.
    assert counts(analysis) == [6, 5, 4, 3, 1]
    assert lost(analysis) == [[], ["0:0"], ["2:0"], ["3:0"], ["1:0", "4:0"]]
    assert [stage.tasks for stage in analysis.funnel] == [6, 5, 4, 3, 1]


def test_a_pass_without_a_tool_call_reached_every_stage(tmp_path: Path) -> None:
    rows = [rollout(0, 0, 1.0, output=[message("42")], **TOOLS), rollout(1, 0, 0.0, output=[call()], **TOOLS)]
    assert counts(analyze_plainly(tmp_path, rows)) == [2, 2, 2, 2, 1]


def test_without_tools_an_answer_is_the_core_action(tmp_path: Path) -> None:
    rows = [rollout(0, 0, None, output=[message("42")]), rollout(1, 0, None, output=[message("")]), rollout(2, 0, 1.0)]
    assert counts(analyze_plainly(tmp_path, rows)) == [3, 3, 2, 1, 1]


def test_what_rows_do_not_tell_is_unknown(tmp_path: Path) -> None:
    flat: list[Row] = [{"task_id": n, "score": n % 2} for n in range(4)]
    assert counts(analyze_plainly(tmp_path, flat)) == [4, None, None, 4, 2]
    assert counts(analyze_plainly(tmp_path / "blind", [rollout(0, 0), rollout(1, 0, 0.0)], features=False)) == [
        2,
        None,
        None,
        2,
        1,
    ]


def test_graded_runs_have_no_last_stage(tmp_path: Path) -> None:
    analysis = analyze_plainly(tmp_path, [rollout(n, 0, n / 4) for n in range(4)])
    assert (counts(analysis), analysis.funnel[-1].tasks) == ([4, 4, 4, 4, None], None)


def test_unscored_runs_reached_no_verifier(tmp_path: Path) -> None:
    assert counts(analyze_plainly(tmp_path, [without(rollout(n, 0), "reward") for n in range(3)])) == [3, 3, 3, 0, None]


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_no_stage_is_wider_than_the_one_before(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    outputs = st.sampled_from([[], [message("x")], [message("")], [call()], [call(), result("Error: y"), message("z")]])
    rewards = st.sampled_from([0.0, 1.0, None])
    size = data.draw(st.integers(1, 6))
    rows = [
        rollout(n, 0, data.draw(rewards), output=data.draw(outputs), **(TOOLS if data.draw(st.booleans()) else {}))
        for n in range(size)
    ]
    known = [count for count in counts(analyze_plainly(tmp_path_factory.mktemp("f"), rows)) if count is not None]
    assert known[0] == size
    assert known == sorted(known, reverse=True)
