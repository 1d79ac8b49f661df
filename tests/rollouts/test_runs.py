import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard
from rollout_rows import Row, call, keys, message, read_files, read_rows, reasons, result, rollout, without, write_rows

import blade
from blade.errors import InputError, UsageError
from blade.rollouts import ReadOptions, Run, read_runs


def scores(run: Run) -> list[float | None]:
    return [run.rollout(key).reward for key in keys(run)]


@pytest.mark.parametrize(
    ("reward", "expected"),
    [
        pytest.param(0.5, 0.5, id="number"),
        pytest.param(1, 1.0, id="integer"),
        pytest.param(True, 1.0, id="true"),
        pytest.param(False, 0.0, id="false"),
        pytest.param(None, None, id="null_is_unscored"),
        pytest.param(-2.5, -2.5, id="negative"),
    ],
)
def test_a_reward_is_a_number_a_flag_or_unknown(tmp_path: Path, reward: Any, expected: float | None) -> None:
    run = read_rows(tmp_path, [rollout(0, 0, 1.0), rollout(1, 0, reward)])
    assert (scores(run), run.bad) == ([1.0, expected], [])


@pytest.mark.parametrize(
    ("reward", "reason"),
    [
        pytest.param('"abc"', "reward is 'abc', expected a number", id="text"),
        pytest.param('"nan"', "reward is 'nan', expected a number", id="nan_as_text"),
        pytest.param("1e300", "reward is 1e+300, too large to reckon with, expected a number", id="huge"),
        pytest.param(f'"{"x" * 99}"', f"reward is '{'x' * 39}…, expected a number", id="long_text"),
        pytest.param("[1.0]", "reward is '[1.0]', expected a number", id="list"),
        pytest.param('{"value": 1}', "reward is '{\"value\":1}', expected a number", id="object"),
    ],
)
def test_a_reward_that_is_no_number_leaves_its_row_unscored_and_says_why(
    tmp_path: Path, reward: str, reason: str
) -> None:
    odd = json.dumps(rollout(1, 0, "REWARD")).replace('"REWARD"', reward)
    run = read_rows(tmp_path, [rollout(0, 0), odd, rollout(2, 0)])
    assert (keys(run), scores(run), run.bad) == (["0:0", "1:0", "2:0"], [1.0, None, 1.0], [])
    [bad] = run.bad_scores
    assert (Path(bad.file).name, bad.line, bad.reason) == ("run.jsonl", 2, reason)
    assert bad.offset == len(json.dumps(rollout(0, 0))) + 1


@pytest.mark.parametrize(
    ("reward", "reason"),
    [
        pytest.param("1e999", "holds a number too large to read", id="beyond_any_number"),
        pytest.param("9" * 5000, "holds a number too large to read", id="beyond_any_integer"),
    ],
)
def test_a_reward_that_is_no_json_makes_a_bad_line_and_the_reading_goes_on(
    tmp_path: Path, reward: str, reason: str
) -> None:
    odd = json.dumps(rollout(1, 0, "REWARD")).replace('"REWARD"', reward)
    run = read_rows(tmp_path, [rollout(0, 0), odd, rollout(2, 0)])
    assert keys(run) == ["0:0", "2:0"]
    [(line, said)] = reasons(run)
    assert (line, said[: len(reason)]) == (2, reason)


@pytest.mark.parametrize("written", ["NaN", "-Infinity", "Infinity"])
@pytest.mark.parametrize("between", ["\n", ", "], ids=["lines", "array"])
def test_numbers_that_only_python_writes_are_unknown(tmp_path: Path, written: str, between: str) -> None:
    rows: list[Any] = [{"task_id": f"t{i}", "reward": i % 2, "note": "NaN in a text"} for i in range(4)]
    rows[2] |= {"reward": "ODD", "loss": "ODD"}
    text = between.join(map(json.dumps, rows)).replace('"ODD"', written)
    run = read_rows(tmp_path, [text if between == "\n" else f"[{text}]"])
    assert (keys(run), scores(run), run.bad) == (["t0:0", "t1:0", "t2:0", "t3:0"], [0.0, 1.0, None, 1.0], [])


def test_a_missing_reward_is_unknown_and_no_failure(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [rollout(0, 0), without(rollout(1, 0), "reward")])
    assert (scores(run), run.bad) == ([1.0, None], [])


def test_a_row_with_a_score_goes_before_one_whose_score_is_no_number(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [rollout(0, 0, "abc"), rollout(0, 0, 0.0), rollout(0, 0, None), rollout(1, 0)])
    assert (keys(run), scores(run), run.surplus) == (["0:0", "1:0"], [0.0, 1.0], 2)
    assert [row.line for row in run.duplicates[0].rows] == [2, 1, 3]


def test_a_verdict_in_words_is_no_bad_score_when_the_rule_reads_it(tmp_path: Path) -> None:
    rows: list[Row] = [{"id": "a", "score": "good"}, {"id": "b", "score": "poor"}]
    run = read_rows(tmp_path, rows, fields=("score",))
    assert (keys(run), run.reward_field, run.bad_scores) == (["a:0", "b:0"], None, [])


def test_a_number_written_as_text_counts_and_is_told(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [rollout(0, 0, "0.5"), rollout(1, 0, 1), rollout(2, 0, " TRUE ")])
    assert (scores(run), run.bad_scores) == ([0.5, 1.0, 1.0], [])
    assert run.notes == ["`reward` is written as text in some rows; a text that spells a number counts as that number"]


def test_a_score_of_minus_one_among_verdicts_is_told(tmp_path: Path) -> None:
    [note] = read_rows(tmp_path, [rollout(task, 0, -1 if task == 0 else task % 2) for task in range(9)]).notes
    assert note.startswith("`reward` is -1 in 1 of 9 rows, which counts as a score")


def test_a_task_key_is_written_on_one_line_unless_keys_become_alike(tmp_path: Path) -> None:
    rows: list[Row] = [{"task_id": "first\nsecond", "score": 1}, {"task_id": "third", "score": 0}]
    run = read_rows(tmp_path, rows)
    assert keys(run) == ["first second:0", "third:0"]
    assert run.rollout("first\nsecond:0").reward == 1.0
    assert keys(read_rows(tmp_path, [*rows, {"task_id": "first second", "score": 1}]))[:2] == [
        "first\nsecond:0", "first second:0"
    ]  # fmt: skip


def test_percentages_are_parts_of_one_and_other_scales_are_told(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [rollout(0, 0, "85%"), rollout(1, 0, "0 %")])
    assert (scores(run), run.notes) == ([0.85, 0.0], ["`reward` is written in percent: 85% counts as 0.85"])
    [note] = read_rows(tmp_path, [rollout(0, 0, 85), rollout(1, 0, 20)]).notes
    assert note.startswith("`reward` is not on a scale of 0 to 1 (seen: 20 to 85)")


def test_a_file_of_bad_rows_says_what_is_wrong_with_the_first(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"run.jsonl: no usable rollouts in it; line 1: reward is '\[1\]', expected a"):
        read_rows(tmp_path, [rollout(0, 0, [1]), rollout(1, 0, [2])])


def test_lines_that_are_no_json_are_counted_where_they_stand(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [rollout(0, 0), "<PLACEHOLDER ROW>", "", '{"cut": [1, 2', rollout(1, 0), "[1]"])
    assert keys(run) == ["0:0", "1:0"]
    assert reasons(run) == [
        (2, "placeholder text '<PLACEHOLDER ROW>', expected a JSON object"),
        (4, "is truncated: the JSON ends before its object does"),
        (6, "is a list, expected an object"),
    ]


def test_one_broken_file_of_a_folder_does_not_hide_the_others(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write_rows(tmp_path / f"{name}.jsonl", ["<PLACEHOLDER ROW>" if name == "b" else rollout(0, 0)])
    runs = blade.read_all(tmp_path)
    assert [run.name for run in runs] == ["a", "c"]
    note = (
        "skipped b.jsonl: no rollouts in it: its only line is bad; line 1 placeholder text '<PLACEHOLDER ROW>', "
        "expected a JSON object."
    )
    assert [run.notes for run in runs] == [[note], [note]]


def test_a_file_without_scores_in_a_folder_does_not_hide_the_others(tmp_path: Path) -> None:
    write_rows(tmp_path / "a.jsonl", [rollout(0, 0)])
    write_rows(tmp_path / "notes.jsonl", [{"text": "hello"}])
    runs = blade.read_all(tmp_path)
    assert [run.name for run in runs] == ["a"]
    assert runs[0].notes == [
        "skipped notes.jsonl: no score found in these records, and no field that could be one (fields there are: text)."
    ]


def test_a_file_that_is_named_must_be_readable(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"notes\.jsonl: no score found"):
        read_files(tmp_path, {"a.jsonl": [rollout(0, 0)], "notes.jsonl": [{"text": "hello"}]})
    with pytest.raises(InputError, match=r"b\.jsonl: no rollouts in it"):
        read_files(tmp_path, {"a.jsonl": [rollout(0, 0)], "b.jsonl": ["<PLACEHOLDER ROW>"]})


def test_what_was_skipped_is_told_in_a_whole_sentence(tmp_path: Path) -> None:
    write_rows(tmp_path / "a.jsonl", [rollout(0, 0)])
    write_rows(tmp_path / "b.jsonl", [{"id": 1, "score": 1, "passed": 0}, {"id": 2, "score": 0, "passed": 0}])
    [note] = blade.read_all(tmp_path)[0].notes
    assert note.endswith("disagree; say which one is; `blade diagnose` on it alone shows how")


def test_expected_repeats_can_be_stated(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [rollout(0, 0), rollout(1, 0), rollout(1, 1)], expected_repeats=4)
    assert (run.expected_from, run.table.expected.tolist()) == ("flag", [4, 4])


def test_rollouts_beyond_the_stated_repeats_count_and_are_noted(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [rollout(0, 0), rollout(0, 1), rollout(1, 0)], expected_repeats=1)
    assert run.table.expected.tolist() == [2, 1]
    assert "1 task has more rollouts than --expected-repeats 1 says; all of them count" in run.notes


def test_otherwise_the_largest_repeat_count_is_expected_of_every_task(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [rollout(0, 0), rollout(1, 0), rollout(1, 7)])
    assert (run.expected_from, run.table.expected.tolist()) == ("largest repeat count seen", [2, 2])


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        pytest.param([True, False], [1.0, 0.0], id="flags"),
        pytest.param([1, 0], [1.0, 0.0], id="zero_and_one"),
        pytest.param([0.25, 3.5], [0.25, 3.5], id="graded"),
    ],
)
def test_any_records_are_read_by_named_fields(tmp_path: Path, score: list[Any], expected: list[float]) -> None:
    rows = [
        {"case": {"key": f"c{n}"}, "go": 3, "verdict": {"points": {"total": value}}, "said": {"text": f"reply {n}"}}
        for n, value in enumerate(score)
    ]
    fields = {"task_field": "case.key", "repeat_field": "go", "reward_field": "verdict.points.total"}
    run = read_rows(tmp_path, rows, output_field="said.text", **fields)
    assert (keys(run), scores(run), run.files[0].format.name) == (["c0:3", "c1:3"], expected, "records")
    assert [item.text for item in run.rollout("c1:3").items] == ["reply 1"]


@pytest.mark.parametrize(
    ("odd", "shown"),
    [
        pytest.param("good", "'good'", id="text"),
        pytest.param([1], "'[1]'", id="list"),
        pytest.param({"value": 1}, "an object", id="object"),
    ],
)
def test_one_score_that_is_no_number_does_not_spoil_the_others(tmp_path: Path, odd: Any, shown: str) -> None:
    rows: list[Row] = [{"id": "a", "score": 1}, {"id": "b", "score": odd}, {"id": "c", "score": False}, {"id": "d"}]
    run = read_rows(tmp_path, rows)
    assert (keys(run), scores(run)) == (["a:0", "b:0", "c:0", "d:0"], [1.0, None, 0.0, None])
    assert [(bad.line, bad.reason) for bad in run.bad_scores] == [(2, f"score is {shown}, expected a number")]


@pytest.mark.parametrize("size", [1023, 1024, 1025, 5000])
def test_a_run_may_have_any_number_of_rows(tmp_path: Path, size: int) -> None:
    run = read_rows(tmp_path, [{"task_id": f"t{n}", "score": n % 2} for n in range(size)])
    assert (len(run.table), int(run.table.reward.sum())) == (size, size // 2)


@pytest.mark.parametrize("name", ["reward", "score", "correct", "is_correct", "passed", "success", "resolved", "acc"])
def test_the_score_is_found_by_the_names_people_use(tmp_path: Path, name: str) -> None:
    run = read_rows(tmp_path, [{"question_id": "q1", name: True, "other": 5}, {"question_id": "q2", name: False}])
    assert (run.reward_field, keys(run), scores(run)) == (name, ["q1:0", "q2:0"], [1.0, 0.0])


def test_a_score_most_rows_lack_gives_way_to_one_they_have(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"id": n, "correct": n % 2} for n in range(5)]
    run = read_rows(tmp_path, [{"id": 9, "score": "n/a", "correct": 1}, *rows])
    assert (run.reward_field, scores(run)) == ("correct", [0.0, 1.0, 0.0, 1.0, 0.0, 1.0])


def test_records_without_a_score_are_refused_with_the_fields_there_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no score found .* --reward-field \(fields there are: task_id, points\)"):
        read_rows(tmp_path, [{"task_id": "a", "points": 3}])


def test_a_reward_field_nobody_has_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no row has a field 'pionts'; did you mean points"):
        read_rows(tmp_path, [{"task_id": "a", "points": 3}], reward_field="pionts")


def test_an_output_field_nobody_has_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no row has a text or a list of messages in the field 'said'"):
        read_rows(tmp_path, [{"task_id": "a", "score": 3, "says": "yes"}], output_field="said")


def test_records_in_one_array_are_read_like_lines(tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    path.write_text(json.dumps([{"task_id": n, "trial": 0, "score": n} for n in (1, 0)], indent=1))
    assert keys(blade.read(path)) == ["0:0", "1:0"]


def test_the_trajectory_of_a_row_is_read_from_its_file_on_request(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [rollout(0, 0), rollout(1, 2, output=[message("über"), message("zwei")])])
    found = run.rollout("1:2#1")
    assert [(item.position, item.text, item.prompt) for item in found.items] == [
        (0, "question 1", True),
        (1, "über", False),
        (2, "zwei", False),
    ]
    assert (found.source and found.source.line, found.fields) == (
        2,
        {"_ng_task_index": 1, "_ng_rollout_index": 2, "reward": 1.0},
    )


def test_a_file_that_vanished_since_is_told_plainly(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [rollout(0, 0)])
    (tmp_path / "run.jsonl").unlink()
    with pytest.raises(InputError, match=r"run.jsonl: cannot be read"):
        run.rollout("0:0")


def test_a_file_that_changed_since_is_told_plainly(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [rollout(0, 0)])
    write_rows(tmp_path / "run.jsonl", ["x" * 2000])
    with pytest.raises(InputError, match=r"run.jsonl:1: .*; the file has changed since it was read"):
        run.rollout("0:0")


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_rollouts_of_an_archive_are_found_in_it(tmp_path: Path, suffix: str) -> None:
    rows = [rollout(n, 0, n % 2, output=[message(f"reply {n}")]) for n in range(5)]
    plain = write_rows(tmp_path / "run.jsonl", [*rows, rows[3], rollout(0, 0, 0.5)]).read_bytes()
    (tmp_path / "run.jsonl").unlink()
    write_rows(tmp_path / "run_failures.jsonl", [rollout(9, 0, _ng_failure_class="transient")])
    path = tmp_path / f"run.jsonl{suffix}"
    path.write_bytes(gzip.compress(plain) if suffix == ".gz" else zstandard.compress(plain))
    run = blade.read(path)
    assert [run.rollout(key).items[-1].text for key in keys(run)[:5]] == [f"reply {n}" for n in range(5)]
    assert [(d.rollout, d.kind) for d in run.duplicates] == [("0:0", "conflicting"), ("3:0", "identical")]
    assert (keys(run)[-1], run.name) == ("9:0", "run")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("[]", "holds no record", id="empty_array"),
        pytest.param('[{"task_id":1,"reward":1},', None, id="array_cut_after_a_record"),
    ],
)
def test_a_json_array_that_is_empty_or_cut_is_told(tmp_path: Path, text: str, reason: str | None) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    if reason is not None:
        with pytest.raises(InputError, match=reason):
            read_runs([str(path)], ReadOptions())
        return
    [run] = read_runs([str(path)], ReadOptions())
    assert [bad.reason for bad in run.bad] == ["is cut short: the file ends before its JSON does"]


def test_turns_that_tell_all_earlier_ones_again_are_read_once(tmp_path: Path) -> None:
    turns = [[call()], [call(), result("4")], [call(), result("4"), message("4")]]
    run = read_rows(tmp_path, [rollout(0, 0, 1.0, output=turns)])
    kinds = [item.kind for item in run.rollout("0:0").items if not item.prompt]
    assert kinds == ["tool_call", "tool_result", "message"]
    assert run.table.rows.fact("tool_calls").tolist() == [1]


def test_a_task_field_alone_does_not_borrow_the_repeats_of_other_tasks(tmp_path: Path) -> None:
    rows = [rollout(task, 0, 1.0, kind="even" if task % 2 == 0 else "odd") for task in range(6)]
    assert keys(read_rows(tmp_path, rows, task_field="kind")) == [
        "even:0",
        "even:1",
        "even:2",
        "odd:0",
        "odd:1",
        "odd:2",
    ]
