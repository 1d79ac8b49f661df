from pathlib import Path
from typing import Any

import pytest
from rollout_rows import Row, analyze_rows, rollout

from blade.diagnosis import Analysis
from blade.errors import UsageError


def levels(analysis: Analysis, field: str) -> list[tuple[str, int, int, float | None]]:
    """Level, tasks, rollouts and headline of one slice."""
    [table] = [table for table in analysis.slices if table.field == field]
    return [(level.level, level.tasks, level.rollouts, level.headline.value) for level in table.levels]


def found(analysis: Analysis) -> list[str]:
    return [table.field for table in analysis.slices]


def repeated(tasks: int = 8, **fields: Any) -> list[Row]:
    """Two repeats of each task, the first of which passes; fields are functions of task and repeat."""
    return [
        rollout(task, repeat, float(repeat == 0), **{name: value(task, repeat) for name, value in fields.items()})
        for task in range(tasks)
        for repeat in range(2)
    ]


def test_an_attribute_of_tasks_is_found(tmp_path: Path) -> None:
    analysis = analyze_rows(tmp_path, repeated(difficulty=lambda task, _: ("easy", "hard")[task % 2]))
    assert levels(analysis, "difficulty") == [("easy", 4, 8, 0.5), ("hard", 4, 8, 0.5)]
    assert [table.asked for table in analysis.slices] == [False]


def test_an_attribute_nobody_knows_by_name_is_found_where_repeats_prove_it(tmp_path: Path) -> None:
    analysis = analyze_rows(tmp_path, repeated(warehouse=lambda task, _: "AB"[task % 2]))
    assert found(analysis) == ["warehouse"]


def test_without_repeats_only_well_known_names_are_believed(tmp_path: Path) -> None:
    rows = [rollout(n, 0, n % 3 == 0, warehouse="AB"[n % 2], category="xy"[n % 2]) for n in range(8)]
    assert found(analyze_rows(tmp_path, rows)) == ["category"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("is_correct", lambda task, _: task % 2 == 0, id="verdict"),
        pytest.param("judge_score", lambda task, _: task % 2, id="score"),
        pytest.param("extracted_answer", lambda task, _: "AB"[task % 2], id="extract"),
        pytest.param("num_turns", lambda task, repeat: task % 2 + repeat, id="measurement"),
        pytest.param("evaluation_completed", lambda task, _: task % 2 == 0, id="flag"),
        pytest.param("difficulty", lambda task, repeat: str(repeat), id="differs_between_attempts"),
        pytest.param("difficulty", lambda task, _: "easy", id="one_value"),
        pytest.param("warehouse", lambda task, _: str(task), id="as_many_values_as_tasks"),
        pytest.param("similarity", lambda task, _: task % 2 + 0.5, id="measured_fraction"),
        pytest.param("tags", lambda task, _: ["a", "b"][: 1 + task % 2], id="list"),
        pytest.param("difficulty", lambda task, _: "easy" if task == 0 else None, id="mostly_unknown"),
    ],
)
def test_what_does_not_describe_tasks_is_not_found(tmp_path: Path, name: str, value: Any) -> None:
    assert found(analyze_rows(tmp_path, repeated(**{name: value}))) == []


def test_a_verdict_in_words_is_not_found(tmp_path: Path) -> None:
    rows = [rollout(n, r, n % 2, category="good" if n % 2 else "poor") for n in range(8) for r in range(2)]
    assert found(analyze_rows(tmp_path, rows)) == []


def test_nested_fields_are_found_and_named_by_their_path(tmp_path: Path) -> None:
    analysis = analyze_rows(tmp_path, repeated(meta=lambda task, _: {"info": {"topic": "xy"[task % 2]}}))
    assert levels(analysis, "meta.info.topic") == [("x", 4, 8, 0.5), ("y", 4, 8, 0.5)]


def test_any_field_can_be_asked_for(tmp_path: Path) -> None:
    rows = repeated(is_correct=lambda _, repeat: repeat == 0, category=lambda task, _: "xy"[task % 2])
    analysis = analyze_rows(tmp_path, rows, slices=("is_correct", "is_correct"))
    assert [(table.field, table.asked) for table in analysis.slices] == [("is_correct", True), ("category", False)]
    assert levels(analysis, "is_correct") == [("false", 8, 8, 0.0), ("true", 8, 8, 1.0)]


def test_a_row_counts_in_every_value_of_its_list(tmp_path: Path) -> None:
    rows = [rollout(0, 0, 1.0, tags=["a", "b"]), rollout(1, 0, 0.0, tags=["b"]), rollout(2, 0, 0.0, tags=[])]
    assert levels(analyze_rows(tmp_path, rows, slices=("tags",)), "tags") == [("a", 1, 1, 1.0), ("b", 2, 2, 0.5)]


def test_levels_stand_in_natural_order(tmp_path: Path) -> None:
    rows = [rollout(n, 0, 1.0, level=f"level {n}") for n in (10, 9, 1, 2)]
    analysis = analyze_rows(tmp_path, rows, slices=("level",))
    assert [level.level for level in analysis.slices[0].levels] == ["level 1", "level 2", "level 9", "level 10"]


def test_numbers_are_levels_in_their_order(tmp_path: Path) -> None:
    rows = [rollout(n, 0, 1.0, hops=n) for n in (10, 9, 1, 2)]
    assert [v.level for v in analyze_rows(tmp_path, rows, slices=("hops",)).slices[0].levels] == ["1", "2", "9", "10"]


def test_a_field_nobody_has_names_close_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no row has a field 'dificulty'; did you mean difficulty"):
        analyze_rows(tmp_path, [rollout(0, 0, difficulty="easy")], slices=("dificulty",))


def test_a_field_with_thousands_of_values_is_refused(tmp_path: Path) -> None:
    rows: list[Row] = [{"task_id": n, "score": n % 2} for n in range(1001)]
    with pytest.raises(UsageError, match="--slice task_id: 1001 different values; pick a field with fewer"):
        analyze_rows(tmp_path, rows, slices=("task_id",))


def test_graded_runs_are_cut_by_their_mean_reward(tmp_path: Path) -> None:
    rows = [rollout(n, 0, n / 4, category="xy"[n % 2]) for n in range(4)]
    # x: (0 + 0.5) / 2, y: (0.25 + 0.75) / 2.
    assert levels(analyze_rows(tmp_path, rows), "category") == [("x", 2, 2, 0.25), ("y", 2, 2, 0.5)]
