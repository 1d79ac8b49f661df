"""What a pack's rules mean: conditions, patterns, stages, evidence, and which pack fits a run."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pack_runs import apply_rows, belongs_to, little_pack, pack_text, pattern, shown_by, write_pack
from rollout_rows import Row, analyze_rows, call, message, read_rows, result, rollout, thought

from blade.diagnosis import diagnose
from blade.diagnosis.analysis import Count
from blade.diagnosis.noting import observations_of
from blade.diagnosis.packs import apply_pack, choose_pack, load_pack, shipped_names
from blade.diagnosis.packs.conditions import parse_condition
from blade.diagnosis.packs.values import Path as FieldPath
from blade.diagnosis.packs.values import all_hold
from blade.errors import InputError

LONG = "a long answer " * 40


def failing(task: int, **fields: Any) -> Row:
    return rollout(task, 0, 0.0, **fields)


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        pytest.param("{field: n, equals: 2}", [1], id="equals_number"),
        pytest.param("{field: n, not_equals: 2}", [0, 2], id="not_equals_needs_a_value"),
        pytest.param("{field: n, in: [1, 3]}", [0, 2], id="in"),
        pytest.param("{field: n, greater: 1, at_most: 2}", [1], id="two_questions_are_both_asked"),
        pytest.param("{field: n, at_least: 3}", [2], id="at_least"),
        pytest.param("{field: n, less: 2}", [0], id="less"),
        pytest.param("{field: n, is_null: true}", [3, 4], id="null_and_absent_are_alike"),
        pytest.param("{field: n, is_known: true}", [0, 1, 2], id="is_known"),
        pytest.param("{field: flag, is_true: true}", [0], id="is_true"),
        pytest.param("{field: flag, is_false: true}", [1], id="is_false"),
        pytest.param("{field: n, over: of, greater: 0.4}", [1, 2], id="ratio"),
        pytest.param("{field: word, equals: no}", [0], id="no_is_a_word"),
        pytest.param("{field: word, matches: '^n'}", [0, 2], id="matches"),
        pytest.param("{field: word, equals: ''}", [3], id="empty_text_is_a_value"),
        pytest.param("{field: word, is_null: true}", [4], id="a_long_text_is_not_null"),
        pytest.param("{field: word, contains: long}", [1], id="contains_words_of_a_long_text"),
        pytest.param("{field: names, contains: b}", [0, 1], id="list_contains"),
        pytest.param("{field: names, equals: a}", [0], id="one_element_is_enough"),
        pytest.param("{field: marks, contains: false}", [1], id="flags_in_a_list"),
        pytest.param("{field: names, matches: b, beside: {field: marks, equals: false}}", [1], id="beside"),
        pytest.param("{field: 'parts[].say', matches: boom}", [2], id="list_of_objects"),
        pytest.param("{field: 'parts[].code', greater: 1}", [2, 4], id="numbers_in_objects"),
        pytest.param("{field: 'parts[].deep[].x', equals: y}", [4], id="lists_in_lists"),
        pytest.param("{field: deep.down.here, equals: 1}", [0], id="dotted_path"),
        pytest.param("{field: nowhere, is_null: true}", [0, 1, 2, 3, 4], id="a_field_no_row_has_is_null"),
        pytest.param("{field: nowhere, not_equals: 1}", [], id="and_equals_nothing_else"),
        pytest.param("{not: {field: n, equals: 2}}", [0, 2, 3, 4], id="not_holds_for_what_is_missing"),
        pytest.param("{any: [{field: n, equals: 1}, {field: word, equals: '', is_known: true}]}", [0, 3], id="any"),
        pytest.param("{all: [{field: n, less: 3}, {field: word, matches: n}]}", [0, 1], id="all"),
        pytest.param("{success: false}", [0, 1, 2, 3, 4], id="success_false"),
        pytest.param("{success: true}", [], id="patterns_leave_passing_rollouts_alone"),
    ],
)
def test_field_conditions(tmp_path: Path, condition: str, rows: list[int]) -> None:
    run = [
        failing(0, n=1, of=4, flag=True, word="no", names=["a", "b"], marks=[True, True], deep={"down": {"here": 1}}),
        failing(1, n=2, of=4, flag=False, word=LONG, names=["c", "b"], marks=[True, False]),
        failing(2, n=3, of=6, word="nn", parts=[{"say": "fine"}, {"say": LONG + "boom", "code": 2}]),
        failing(3, n=None, of=0, word=""),
        failing(4, word=None, parts=[{"code": 7, "deep": [{"x": "z"}, {"x": "y"}]}]),
        rollout(5, 0, 1.0, n=2, flag=True, word="no", names=["b"], marks=[False]),
    ]

    assert shown_by(apply_rows(tmp_path, little_pack(tmp_path, pattern(condition)), run)).get("seen", []) == rows


@pytest.mark.parametrize(
    ("condition", "places"),
    [
        pytest.param("{fact: tool_calls, equals: 0}", {1: -1, 2: -1}, id="fact"),
        pytest.param("{fact: tool_errors, greater: 0}", {0: 2}, id="a_fact_knows_its_item"),
        pytest.param("{fact: final_kind, equals: message}", {0: 3, 2: 1}, id="final_kind_by_its_name"),
        pytest.param("{fact: final_kind, in: [message, reasoning]}", {0: 3, 1: 1, 2: 1}, id="final_kind_in"),
        pytest.param("{fact: output_items, at_least: 3}", {0: -1}, id="output_items"),
        pytest.param("{status: truncated}", {1: 1}, id="status"),
        pytest.param("{status: [truncated, failed]}", {1: 1}, id="several_statuses"),
        pytest.param("{seen: {kind: tool_error, said: '^Error'}}", {0: 2}, id="item_text"),
        pytest.param("{seen: {kind: call, subject: '^sea'}}", {0: 1}, id="item_name"),
        pytest.param("{seen: {kind: answer, said: gave}}", {0: 3, 2: 1}, id="seen_answer"),
        pytest.param("{seen: {kind: answer, said: secret}}", {}, id="thinking_is_not_what_was_said"),
        pytest.param("{not: {seen: {kind: call}}}", {1: -1, 2: -1}, id="not_seen"),
        pytest.param("{field: first_tool, equals: search}", {0: -1}, id="first_tool"),
    ],
)
def test_trajectory_conditions_and_where_they_were_seen(tmp_path: Path, condition: str, places: dict[int, int]) -> None:
    run = [
        failing(0, output=[call("search"), result("Error: it timed out"), message("I gave up")]),
        failing(1, output=[thought("hmm")], response={"incomplete_details": {"reason": "max_output_tokens"}}),
        failing(2, output=[message("<think>secret</think>I gave an answer")]),
        rollout(3, 0, 1.0, output=[call("search"), result("Error: it timed out"), message("I gave up")]),
    ]

    (hits,) = apply_rows(tmp_path, little_pack(tmp_path, pattern(condition)), run).patterns

    assert dict(zip(hits.rows.tolist(), hits.items.tolist(), strict=True)) == places


def test_a_failing_rollout_belongs_to_the_first_pattern_that_holds(tmp_path: Path) -> None:
    pack = little_pack(
        tmp_path, pattern("{field: n, greater: 2}", "large"), pattern("{seen: {kind: answer, said: no}}", "says_no"),
        pattern("{field: n, is_known: true}", "any_number"),
    )  # fmt: skip
    run = [
        failing(0, n=3, output=[message("no")]), failing(1, n=1, output=[message("no")]),
        failing(2, n=1, output=[message("yes")]), failing(3, output=[message("yes")]), rollout(4, 0, 1.0, n=3),
    ]  # fmt: skip

    said = apply_rows(tmp_path, pack, run)

    assert belongs_to(said) == ["large", "says_no", "any_number", None, None]
    assert shown_by(said) == {"large": [0], "says_no": [0, 1], "any_number": [0, 1, 2]}
    assert [hits.primary.tolist() for hits in said.patterns] == [[True], [False, True], [False, False, True]]
    assert (said.failing, said.unexplained) == (4, 1)


def test_only_a_pattern_that_its_pack_is_sure_of_decides_a_cause(tmp_path: Path) -> None:
    for confidence, label in (("low", "?"), ("medium", "?"), ("high", "BI")):
        rule = pattern("{field: verdict, equals: bad}", more="cause: BI, ").replace("low", confidence)
        pack = write_pack(tmp_path, pack_text(rule))
        [cause] = analyze_rows(tmp_path, [failing(0, verdict="bad"), rollout(1, 0)], pack=str(pack)).causes
        assert cause.label == label


def test_a_rollout_without_a_verdict_is_no_missing_answer(tmp_path: Path) -> None:
    pack = little_pack(
        tmp_path, pattern("{field: answer, is_null: true}"), pattern("{status: [failed, truncated]}", "broken")
    )
    run = [failing(0, answer=None), failing(1, _ng_failure_class="timeout_exceeded"), rollout(2, 0, 1.0, answer="x")]

    said = apply_rows(tmp_path, pack, run)

    assert (belongs_to(said), said.failing, said.unexplained) == (["seen", "broken", None], 1, 0)


def test_a_pattern_says_how_many_passing_rollouts_show_it_too(tmp_path: Path) -> None:
    pack = little_pack(
        tmp_path, pattern("{field: n, equals: 1}", "n"), pattern("{seen: {kind: answer, said: yes}}", "seen"),
        pattern("{field: long, matches: x}", "text"),
    )  # fmt: skip
    run = [failing(0, n=1), rollout(1, 0, 1.0, n=1, long=LONG), rollout(2, 0, 1.0, n=1), rollout(3, 0, 1.0)]

    # Passing rollouts are never read again, so nothing is known about their long texts.
    assert [hits.passed for hits in apply_rows(tmp_path, pack, run).patterns] == [2, 0, None]


def test_without_a_success_rule_patterns_are_looked_for_everywhere(tmp_path: Path) -> None:
    pack = little_pack(tmp_path, pattern("{field: n, equals: 1}"), pattern("{success: false}", "failed"))

    said = apply_rows(tmp_path, pack, [rollout(0, 0, 0.25, n=1), rollout(1, 0, 0.75, n=1)])

    assert (shown_by(said), said.failing) == ({"seen": [0, 1]}, 2)
    assert [stage.stage.rollouts for stage in said.stages] == [2, 2, None]


def test_stages_are_carried_back_from_later_ones_and_from_a_pass(tmp_path: Path) -> None:
    stages = """\
stages:
- {name: one, definition: first, when: {field: a, is_true: true}}
- {name: two, definition: second, when: {seen: {kind: answer, said: deep}}}
- {name: three, definition: third, when: {field: nobody_has_it, is_true: true}}
"""
    run = [
        failing(0, a=True), failing(1, a=False, output=[message("deep")]), failing(2, a=False), rollout(3, 0, 1.0),
    ]  # fmt: skip

    said = apply_rows(tmp_path, little_pack(tmp_path, pattern("{success: true}"), stages=stages), run)

    # 0 is at one; 1 is at two and so was at one; 3 passed and so was everywhere; nobody can tell three.
    found = [(entry.stage.name, entry.stage.rollouts, entry.stage.lost) for entry in said.stages]
    assert found == [
        ("started", 4, []),
        ("one", 3, ["2:0"]),
        ("two", 2, ["0:0"]),
        ("three", None, []),
        ("passed", 1, ["1:0"]),
    ]
    assert [None if s.mask is None else s.mask.tolist() for s in said.stages][1:4] == [
        [True, True, False, True],
        [False, True, False, True],
        None,
    ]


def test_rollouts_are_counted_by_the_elements_a_second_list_picks(tmp_path: Path) -> None:
    by = "by: {field: ids, beside: {field: kept, equals: false}},"
    pack = little_pack(tmp_path, pattern("{success: false}", more=by))
    run = [
        failing(0, ids=["a", "b"], kept=[False, True]), failing(1, ids=["a", "c", "a"], kept=[False, False, False]),
        failing(2, ids=["b"], kept=[True]), failing(3),
    ]  # fmt: skip

    # a in rows 0 and 1 (once each), c in row 1; row 3 has no lists; row 2 misses nothing.
    assert apply_rows(tmp_path, pack, run).patterns[0].by == [
        Count(value="a", rollouts=2),
        Count(value="c", rollouts=1),
        Count(value=None, rollouts=1),
    ]


def test_rows_that_changed_under_us_are_an_input_error(tmp_path: Path) -> None:
    pack = little_pack(tmp_path, pattern("{field: long, matches: x}"))
    run = read_rows(tmp_path, [failing(0, long=LONG), rollout(1, 0, 1.0)])
    outcomes, seen = diagnose(run).outcomes, observations_of(run)
    (tmp_path / "run.jsonl").write_text("x" * 2000, encoding="utf-8")

    with pytest.raises(InputError, match=r"run\.jsonl:1: .*the file has changed since it was read"):
        apply_pack(pack, run, outcomes, seen)


def test_a_run_without_rollouts_that_failed_is_never_read_for_patterns(tmp_path: Path) -> None:
    said = apply_rows(tmp_path, little_pack(tmp_path, pattern("{seen: {kind: answer, said: a}}")), [rollout(0, 0, 1.0)])

    assert (said.failing, shown_by(said), belongs_to(said)) == (0, {}, [None])


scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "a", "ab", "true", "3", LONG])
questions = st.sampled_from(
    [
        {"equals": 3}, {"equals": "a"}, {"not_equals": "a"}, {"in": [True, 3]}, {"greater": 0}, {"at_most": 3},
        {"is_true": True}, {"is_false": True}, {"is_null": True}, {"is_known": True}, {"matches": "a"},
        {"contains": "a"}, {"not_equals": 3, "is_known": True},
    ]
)  # fmt: skip


@given(st.lists(scalars | st.lists(scalars, max_size=3), min_size=1, max_size=6), questions)
@example([False, []], {"is_null": True})
@example([False, [None]], {"is_null": True})
def test_the_table_and_the_file_give_the_same_answer(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any], asked: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("same")
    run = read_rows(folder, [failing(task, value=value) for task, value in enumerate(values)], use_cache=False)
    flow = ", ".join(f"{word}: {str(wanted).lower()}" for word, wanted in asked.items())
    pack = little_pack(folder, pattern(f"{{field: value, {flow}}}"))

    said = apply_pack(pack, run, diagnose(run).outcomes, observations_of(run))

    leaf: Any = parse_condition({"field": "value", **asked})
    expected = [row for row, value in enumerate(values) if all_hold(leaf.asked, value)]
    assert shown_by(said).get("seen", []) == expected


@pytest.mark.parametrize(
    ("path", "values"),
    [
        pytest.param("a.b", 1, id="dotted"),
        pytest.param("c[].d", [1, None], id="one_value_per_element"),
        pytest.param("c[]", [{"d": 1}, {}], id="elements"),
        pytest.param("e[].f[].g", [1, 2], id="flattened"),
        pytest.param("a[].b", None, id="no_list"),
        pytest.param("x.y", 5, id="a_key_with_a_dot"),
        pytest.param("a.b.c", None, id="past_a_leaf"),
    ],
)
def test_paths_lead_to_values(path: str, values: Any) -> None:
    record = {"a": {"b": 1}, "c": [{"d": 1}, {}], "e": [{"f": [{"g": 1}]}, {"f": [{"g": 2}]}, {}], "x.y": 5}

    assert FieldPath(path).values(record) == values


def answer(task: int, expected: str = "A", **fields: Any) -> Row:
    return rollout(task, 0, 0.0, expected_answer=expected, extracted_answer="B", **fields)


@pytest.mark.parametrize(
    ("rows", "name", "why"),
    [
        pytest.param(
            [answer(0), answer(1, "B")],
            "multiple-choice",
            "multiple-choice: field extracted_answer, field expected_answer, expected_answer like ^[A-Z]$",
            id="by_fields_and_their_values",
        ),
        pytest.param(
            [answer(0), answer(1, "42")],
            None,
            f"none of the {len(shipped_names())} packs recognises these rows",
            id="no_letter",
        ),
        pytest.param(
            [answer(0, library_reward=0.0, judge_evaluations=None)],
            "math-with-judge",
            "math-with-judge: field library_reward, field extracted_answer, field expected_answer",
            id="the_more_specific_pack_wins",
        ),
        pytest.param(
            [rollout(0, output=[call("email_send_email")])],
            "tool-assistant",
            "tool-assistant: first tool email_send_email",
            id="by_first_tool",
        ),
        pytest.param(
            [rollout(0, resolved=False, model_patch=None, output=[call("bash")])],
            "software-engineering",
            "software-engineering: field resolved, field model_patch",
            id="a_null_field_is_a_field",
        ),
    ],
)
def test_the_pack_is_chosen_by_what_the_rows_have(tmp_path: Path, rows: list[Row], name: str | None, why: str) -> None:
    choice = choose_pack(read_rows(tmp_path, rows))

    assert (choice.pack and choice.pack.name, choice.why) == (name, why)


def test_the_choice_does_not_depend_on_the_order_of_packs(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [rollout(0, resolved=False, model_patch=None, output=[call("bash")])])
    packs = [load_pack(name) for name in ("tool-assistant", "software-engineering", "math-with-judge")]

    for ordered in (packs, packs[::-1]):
        choice = choose_pack(run, ordered)
        assert (choice.pack, choice.others) == (packs[1], ("tool-assistant",))
