import json
import pickle
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from rollout_rows import keys, read_files, read_rows

import blade
from blade.errors import Choice, InputError, Unclear, UsageError


def filtered(score_name: str = "exact_match") -> list[dict[str, Any]]:
    return [
        {"doc_id": doc, "filter": name, score_name: float(name == "loose")}
        for doc in range(4)
        for name in ("strict", "loose")
    ]


def test_what_was_guessed_is_said_with_what_else_was_possible(tmp_path: Path) -> None:
    first, second = {"score": 1, "passed": 1}, {"score": 0, "passed": 0}
    rows = [{"task_id": "a", "id": 7, **first}, {"task_id": "b", "id": 8, **second}]
    assert read_rows(tmp_path, rows).guessed == [
        "tasks by `task_id`, repeats by order of occurrence (also possible with --task-field: id)",
        "score `score` (also possible with --reward-field: passed)",
    ]
    assert read_rows(tmp_path, rows, task_field="task_id", repeat_field="id", reward_field="score").guessed == []


def test_two_scores_that_disagree_are_asked_about(tmp_path: Path) -> None:
    rows = [{"task_id": "a", "score": 1, "passed": 0}, {"task_id": "b", "score": 0, "passed": 0}]
    with pytest.raises(UsageError, match=r"score and passed can each be the score and disagree") as error:
        read_rows(tmp_path, rows)
    assert [line.split("--")[1] for line in str(error.value).split("\n")[1:]] == [
        "reward-field score",
        "reward-field passed",
    ]


def test_rows_that_differ_in_a_filter_are_no_repeats(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"rows of a task differ in `filter` \(strict, loose\)") as error:
        read_rows(tmp_path, filtered())
    commands = [line.split("    #")[0].split("--", 1)[1] for line in str(error.value).split("\n")[1:]]
    assert commands == ["group-by filter", "where 'filter == \"strict\"'", "repeat-field filter"]


@pytest.mark.parametrize(
    ("options", "rollouts"),
    [
        pytest.param({"where": 'filter == "loose"'}, [4], id="where"),
        pytest.param({"repeat_field": "filter"}, [8], id="repeats"),
        pytest.param({"group_by": ("filter",)}, [4, 4], id="runs"),
    ],
)
def test_each_of_the_offered_commands_settles_it(tmp_path: Path, options: dict[str, Any], rollouts: list[int]) -> None:
    runs = read_files(tmp_path, {"a.jsonl": filtered()}, **options)
    assert [len(run.table) for run in runs] == rollouts


def test_numbered_attempts_are_repeats(tmp_path: Path) -> None:
    rows = [{"task_id": task, "trial": trial, "score": 1} for task in "abc" for trial in range(2)]
    assert keys(read_rows(tmp_path, rows)) == ["a:0", "a:1", "b:0", "b:1", "c:0", "c:1"]


def test_attempts_that_share_a_number_in_two_systems_are_asked_about(tmp_path: Path) -> None:
    rows = [
        {"task_id": task, "trial": trial, "agent_name": agent, "score": 1}
        for task in "abc"
        for trial in range(2)
        for agent in ("x", "y")
    ]
    with pytest.raises(UsageError, match="differ in `agent_name`"):
        read_rows(tmp_path, rows)


def test_words_as_scores_are_asked_about_and_then_read(tmp_path: Path) -> None:
    rows = [{"task_id": n, "score": word} for n, word in enumerate(["CORRECT", "INCORRECT", "CORRECT"])]
    with pytest.raises(UsageError, match=r"is a word \(CORRECT, INCORRECT\)(.|\n)*--true-words CORRECT"):
        read_rows(tmp_path, rows)
    assert read_rows(tmp_path, rows, true_words=("correct",)).table.reward.tolist() == [1.0, 0.0, 1.0]


def test_words_in_a_field_that_was_named_are_asked_about_too(tmp_path: Path) -> None:
    rows = [{"id": n, "verdict": word} for n, word in enumerate(["yes", "no", "yes, but", "yes"])]
    with pytest.raises(UsageError, match="which words mean success") as error:
        read_rows(tmp_path, rows, reward_field="verdict")
    assert [line.partition("--")[2] for line in str(error.value).split("\n")[1:]] == [
        "reward-field verdict --true-words yes",
        "reward-field verdict --true-words no",
    ]


def test_a_word_for_success_that_never_occurs_is_told(tmp_path: Path) -> None:
    rows = [{"id": 1, "verdict": "yes"}, {"id": 2, "verdict": "no"}]
    with pytest.raises(UsageError, match=r"--true-words ja: no score is one of these words; scores are: yes, no\."):
        read_rows(tmp_path, rows, reward_field="verdict", true_words=("ja",))
    run = read_rows(tmp_path, rows, reward_field="verdict", true_words=("ja", "YES"))
    assert run.table.reward.tolist() == [1.0, 0.0]
    assert run.notes == [
        "`verdict`: ja, YES counts as success, no as failure",
        "no score is 'ja', which --true-words names",
    ]
    with pytest.raises(UsageError, match="the scores are numbers"):
        read_rows(tmp_path, [{"id": 1, "score": 1}], true_words=("yes",))


def test_names_are_known_however_they_are_spelled(tmp_path: Path) -> None:
    rows = [{"Task ID": "a", "Is-Correct": "TRUE"}, {"Task ID": "b", "Is-Correct": "False"}]
    run = read_rows(tmp_path, rows)
    assert (keys(run), run.table.reward.tolist()) == (["a:0", "b:0"], [1.0, 0.0])


def test_decimal_commas_are_no_words(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is written with a decimal comma \(0,5\); write a point"):
        read_rows(tmp_path, [{"id": 1, "score": "0,5"}, {"id": 2, "score": "1,0"}])


def test_records_without_a_known_score_are_offered_fields_that_vary(tmp_path: Path) -> None:
    rows = [{"task_id": n, "verdict_value": n % 2, "constant": 1} for n in range(3)]
    with pytest.raises(
        UsageError,
        match=r"no score found(.|\n)*--reward-field verdict_value +# if more is better, else -verdict_value$",
    ):
        read_rows(tmp_path, rows)


def test_conversations_without_an_id_are_grouped_by_their_prompt(tmp_path: Path) -> None:
    def row(question: str, answer: str) -> dict[str, Any]:
        turns = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
        return {"messages": turns, "score": 1}

    run = read_rows(tmp_path, [row("one", "a"), row("two", "a"), row("one", "b")])
    assert sorted(run.table.repeat.tolist()) == [0, 0, 1]
    assert run.identity.scheme == "input_hash"


def test_an_output_that_only_later_rows_have_is_found(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"task_id": n, "score": 1} for n in range(200)]
    rows[100:] = [{**row, "completion": f"text {row['task_id']}"} for row in rows[100:]]
    assert [item.text for item in read_rows(tmp_path, rows).rollout("150:0").items] == ["text 150"]


@pytest.mark.parametrize(
    ("score", "most", "is_asked"),
    [
        pytest.param("passed", "total", True, id="some_rows_reach_it"),
        pytest.param("score", "tokens", False, id="no_row_reaches_it"),
    ],
)
def test_whole_numbers_that_some_score_reaches_may_be_full_marks(
    tmp_path: Path, score: str, most: str, is_asked: bool
) -> None:
    rows = [{"id": n, score: 3 * n % 5, most: n + (5 if is_asked else 50)} for n in range(9)]
    rows.append({"id": 9, score: 4, most: 4 if is_asked else 40})
    if not is_asked:
        assert len(read_rows(tmp_path, rows).table) == 10
        return
    with pytest.raises(UsageError, match="`passed` is never above `total`, which may be full marks") as error:
        read_rows(tmp_path, rows)
    assert "--reward-field passed/total" in commands_of(error)[0]


@pytest.mark.parametrize("digits", [4, 17])
def test_rows_that_are_means_of_many_rollouts_are_asked_about(tmp_path: Path, digits: int) -> None:
    counts = {"gsm8k": (966, 1319), "mmlu": (4, 200), "arc": (81, 100)}
    rows = [{"task": task, "accuracy": round(hits / n, digits), "n": n} for task, (hits, n) in counts.items()]
    with pytest.raises(UsageError, match=r"as where a row is the mean of many rollouts") as error:
        read_rows(tmp_path, rows)
    assert commands_of(error)[0].endswith("--reward-field accuracy")
    odd = [{"task": task, "accuracy": 0.5, "n": n + 7} for task, (_, n) in counts.items()]
    assert len(read_rows(tmp_path, odd).table) == 3


@pytest.mark.parametrize(("share", "plain"), [("85%", 90), ("8/10", 6)])
def test_scores_on_two_scales_are_refused(tmp_path: Path, share: str, plain: int) -> None:
    rows: list[dict[str, Any]] = [{"id": 1, "score": share}, {"id": 2, "score": plain}]
    with pytest.raises(InputError, match=f"is written on two scales, {share} and {plain}; bring them to one"):
        read_rows(tmp_path, rows)


def test_full_marks_are_offered_with_points(tmp_path: Path) -> None:
    rows = [{"task_id": n, "points": n % 4, "max_points": 3 + n % 2} for n in range(8)]
    with pytest.raises(UsageError, match="no score found") as error:
        read_rows(tmp_path, rows)
    assert [command.split("--reward-field ")[1] for command in commands_of(error)] == [
        "points/max_points    # the share of full marks"
    ]


def test_a_measure_that_may_be_an_error_is_asked_about(tmp_path: Path) -> None:
    rows = [{"id": n, "score": n / 9, "metric": "edit_distance"} for n in range(4)]
    with pytest.raises(UsageError, match="the score is edit_distance, by `metric`") as error:
        read_rows(tmp_path, rows)
    assert [command.split("#")[1] for command in commands_of(error)] == [" more is better", " less is"]
    assert len(read_rows(tmp_path, [{**row, "metric": "accuracy"} for row in rows]).table) == 4


def test_a_right_answer_is_not_taken_for_a_verdict(tmp_path: Path) -> None:
    rows = [{"id": n, "model_answer": "ABCA"[n], "correct": "ABAC"[n]} for n in range(4)]
    with pytest.raises(UsageError, match="`correct` takes the words that `model_answer` takes"):
        read_rows(tmp_path, rows)


def test_a_flag_of_failing_counts_the_other_way_round(tmp_path: Path) -> None:
    rows = [{"id": n, "failed": n % 3 == 0} for n in range(4)]
    assert read_rows(tmp_path, rows, reward_field="-failed").table.reward.tolist() == [0.0, 1.0, 1.0, 0.0]


def test_points_out_of_full_marks_are_asked_about(tmp_path: Path) -> None:
    rows = [{"id": n, "score": score, "max_score": most} for n, (score, most) in enumerate([(3, 4), (5, 5), (0, 10)])]
    with pytest.raises(UsageError, match="`score` is never above `max_score`, which may be full marks") as error:
        read_rows(tmp_path, rows)
    offered = [line.split("    #")[0].split("--reward-field ")[1] for line in str(error.value).split("\n")[1:]]
    assert offered == ["score/max_score", "score"]
    rewards = [read_rows(tmp_path, rows, reward_field=field).table.reward.tolist() for field in offered]
    assert rewards == [[0.75, 1.0, 0.0], [3.0, 5.0, 0.0]]


def test_a_number_that_names_its_row_is_not_taken_for_its_score(tmp_path: Path) -> None:
    rows = [{"id": n, "score": 10_234 + 7 * n} for n in range(4)]
    with pytest.raises(UsageError, match=r"another whole number in every row \(10234, 10241, …\), as an id is"):
        read_rows(tmp_path, rows)
    assert read_rows(tmp_path, rows, reward_field="score").table.reward.tolist() == [10234, 10241, 10248, 10255]


def of_models(*counts: int) -> list[dict[str, Any]]:
    """The first so many tasks by each model."""
    return [
        {"task_id": task, "model": f"m{n}", "by": f"m{n}", "score": (task + n) % 2}
        for n, count in enumerate(counts)
        for task in range(count)
    ]


@pytest.mark.parametrize("counts", [(2, 2), (10, 7, 4)], ids=["few_tasks", "unequal"])
def test_rows_of_several_models_are_never_repeats(tmp_path: Path, counts: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="the rows of a task differ in `model`"):
        read_rows(tmp_path, of_models(*counts))
    runs = read_files(tmp_path, {"a.jsonl": of_models(*counts)}, group_by=("model",))
    assert [len(run.table) for run in runs] == list(counts)


def test_a_field_no_two_rows_of_a_task_share_is_asked_about_unless_chance_explains_it(tmp_path: Path) -> None:
    rows = [{name: value for name, value in row.items() if name != "model"} for row in of_models(10, 7, 4)]
    with pytest.raises(UsageError, match="the rows of a task differ in `by`"):
        read_rows(tmp_path, rows)
    # An answer that seldom comes twice: of 12 pairs of rows, fewer than one would share it by chance.
    answers = [{"task_id": n // 2, "answer": f"{n * 7 % 20}", "score": n % 2} for n in range(24)]
    assert len(read_rows(tmp_path, answers).table) == 24


def test_scores_written_as_fractions_are_parts_of_one(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [{"id": 1, "score": "3/5"}, {"id": 2, "score": "0 / 5"}])
    assert (run.table.reward.tolist(), run.notes) == (
        [0.6, 0.0],
        ["`score` is written as a fraction: 3/5 counts as 0.6"],
    )


def scored(*scores: float, **more: Any) -> list[dict[str, Any]]:
    return [{"task_id": f"t{n}", "score": score, **more} for n, score in enumerate(scores)]


def commands_of(error: pytest.ExceptionInfo[UsageError]) -> list[str]:
    return [line.strip() for line in str(error.value).split("\n")[1:]]


@pytest.mark.parametrize(
    ("scores", "total"),
    [
        pytest.param([1, 0, 1, 1, 0, 0], 3, id="sum"),
        pytest.param([1, 0, 1, 1, 0], 0.6, id="mean"),
        pytest.param([0.31, 0.72, 0.55, 0.11, 0.98, 0.4], 0.5117, id="mean_of_graded"),
    ],
)
def test_a_total_below_the_rows_is_no_task(tmp_path: Path, scores: list[float], total: float) -> None:
    rows = [*scored(*scores), {"task_id": "all", "score": total}]
    with pytest.raises(UsageError, match=r"the score of row \d \(task_id .all.\) is the (sum|mean) of all") as error:
        read_rows(tmp_path, rows)
    assert "--where 'task_id != \"all\"'" in commands_of(error)[0]
    assert len(read_rows(tmp_path, rows, where='task_id != "all"').table) == len(scores)
    assert len(read_rows(tmp_path, rows, reward_field="score").table) == len(scores) + 1


def test_totals_above_the_rows_and_several_of_them_are_found_too(tmp_path: Path) -> None:
    rows = scored(1, 0, 1, 1, 0, 0)
    with pytest.raises(UsageError, match=r'the score of row 1 \(task_id "all"\) is the mean'):
        read_rows(tmp_path, [{"task_id": "all", "score": 0.5}, *rows])
    both = [*rows, {"task_id": "sum", "score": 3}, {"task_id": "mean", "score": 0.5}]
    with pytest.raises(UsageError, match=r'task_id not in \("sum", "mean"\)'):
        read_rows(tmp_path, both)
    assert len(read_rows(tmp_path, both, where='task_id not in ("sum", "mean")').table) == 6


def test_of_several_looks_one_with_scores_is_offered(tmp_path: Path) -> None:
    looks = (("error", None), ("ok", 1))
    rows = [{"task_id": task, "status": status, "score": score} for task in "abc" for status, score in looks]
    with pytest.raises(UsageError, match="differ in `status`") as error:
        read_rows(tmp_path, rows)
    assert "--where 'status == \"ok\"'" in commands_of(error)[1]


def test_a_last_score_that_may_be_a_mean_by_chance_is_a_score(tmp_path: Path) -> None:
    assert len(read_rows(tmp_path, scored(0.2, 0.4, 0.6, 0.8, 0.1, 0.42)).table) == 6
    assert len(read_rows(tmp_path, scored(0, 1, 0, 1, 0, 1, 1, 0.5)).table) == 8


def test_a_figure_that_only_the_total_has_is_no_rival_of_the_score(tmp_path: Path) -> None:
    rows = [{"task_id": n, "passed": n % 3 == 0, "exact": n} for n in range(20)]
    run = read_rows(tmp_path, [*rows, {"task_id": "last", "passed": True, "accuracy": 0.35, "exact": 20}])
    assert run.reward_field == "passed"


def test_rows_of_one_id_that_were_asked_different_things_are_asked_about(tmp_path: Path) -> None:
    rows = [{"id": n, "prompt": f"{half} {n}", "correct": n % 2} for half in ("add", "name") for n in range(4)]
    with pytest.raises(UsageError, match="rows that share `id` were each asked something else"):
        read_rows(tmp_path, rows)
    assert len(read_rows(tmp_path, rows, task_field="prompt").table.tasks) == 8
    assert len(read_rows(tmp_path, rows, task_field="id").table.tasks) == 4


def test_steps_of_one_attempt_are_not_taken_for_tasks(tmp_path: Path) -> None:
    rows = [{"conversation_id": f"c{n}", "content": f"{n} {t}", "score": t} for n in range(4) for t in range(2)]
    with pytest.raises(UsageError, match="rows share `conversation_id`") as error:
        read_rows(tmp_path, rows)
    assert "jq -sc 'group_by(.conversation_id)[] | last'" in commands_of(error)[1]
    assert len(read_rows(tmp_path, rows, task_field="conversation_id").table.tasks) == 4


def test_attempts_that_are_counted_under_other_names_are_asked_about(tmp_path: Path) -> None:
    rows = [{"instance": f"i{n}", "run_idx": t, "passed": n % 2 == t} for n in range(4) for t in range(2)]
    with pytest.raises(UsageError, match="`run_idx` counts the rows that share `instance`") as error:
        read_rows(tmp_path, rows)
    assert [one.rpartition(" ")[2] for one in commands_of(error)] == ["instance", "run_idx"]
    alone = [{"instance": f"i{n}", "run_idx": n % 2, "passed": True} for n in range(8)]
    assert len(read_rows(tmp_path, alone).table.tasks) == 8


def test_the_log_of_a_training_run_is_not_taken_for_rollouts(tmp_path: Path) -> None:
    rows = [{"step": step, "reward": step / 9, "loss": 1 / (step + 1)} for step in range(9)]
    with pytest.raises(UsageError, match=r"nothing but numbers \(step, loss\), as the log of a training run"):
        read_rows(tmp_path, rows)
    assert len(read_rows(tmp_path, rows, task_field="step").table) == 9


def test_fields_that_could_name_rows_are_said(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [{"name": f"n{n}", "score": n % 2} for n in range(3)])
    assert run.guessed[0].endswith("(also possible with --task-field: name)")


def test_named_runs_are_not_repeats(tmp_path: Path) -> None:
    rows = [{"run": run, "task_id": task, "score": 1} for run in ("gpt", "llama") for task in "abc"]
    with pytest.raises(UsageError, match=r"the rows of a task differ in `run` \(gpt, llama\)"):
        read_rows(tmp_path, rows)
    numbered = [{**row, "run": {"gpt": "run_1", "llama": "run_2"}[str(row["run"])]} for row in rows]
    assert read_rows(tmp_path, numbered).identity.repeat_field == "run"


def test_neither_judges_nor_row_numbers_are_offered_as_scores(tmp_path: Path) -> None:
    rows = [
        {"question_id": q, "row": 3 * q + n, "judge": judge, "rating": (q * n) % 5}
        for q in range(6)
        for n, judge in enumerate(("one", "two", "three"))
    ]
    with pytest.raises(UsageError, match="no score found") as error:
        read_rows(tmp_path, rows)
    [command] = commands_of(error)
    assert command.endswith("--reward-field rating    # if more is better, else -rating")


@pytest.mark.skipif(shutil.which("jq") is None, reason="needs jq")
@pytest.mark.parametrize(
    ("document", "options", "tasks", "rollouts"),
    [
        pytest.param(
            [{"run": name, "results": [{"id": n, "score": n % 2} for n in range(3)]} for name in ("run1", "run2")],
            {}, 3, 6, id="results_of_runs",
        ),
        pytest.param(
            {"tasks": [{"task_id": t, "attempts": [{"passed": n == 1} for n in range(2)]} for t in "abc"]},
            {"records": "tasks"}, 3, 6, id="attempts_of_tasks",
        ),
        pytest.param([{"id": n, "rewards": [0, 1], "texts": ["a", "b"]} for n in range(3)], {"reward_field": "rewards"},
                     3, 6, id="lists_beside_each_other"),
        pytest.param([{"id": n, "marks": [{"name": "exact", "value": n % 2}]} for n in range(3)],
                     {"reward_field": "marks.exact"}, 3, 3, id="named_scores"),
        pytest.param({"base": {"t1": 1, "t2": 0}, "new": {"t1": 0, "t2": 0}}, {"where": 'run == "base"'}, 2, 2,
                     id="scores_by_run_and_task"),
        pytest.param({"passed": ["a", "b"], "failed": ["c"]}, {"reward_field": "status", "true_words": ("passed",)},
                     3, 3, id="tasks_by_ending"),
    ],
)  # fmt: skip
def test_the_command_that_reshapes_a_file_makes_it_readable(
    tmp_path: Path, document: Any, options: dict[str, Any], tasks: int, rollouts: int
) -> None:
    (tmp_path / "odd name.json").write_text(json.dumps(document), encoding="utf-8")
    asked = {name: options[name] for name in options if name == "records"}
    with pytest.raises(UsageError) as error:
        blade.read_all(tmp_path / "odd name.json", **asked)
    command = next(line for line in commands_of(error) if line.startswith("jq")).partition("    #")[0]
    subprocess.run(command, shell=True, check=True, cwd=tmp_path)
    run = blade.read(tmp_path / "rollouts.jsonl", **{name: options[name] for name in options if name not in asked})
    assert (len(run.table.tasks), len(run.table)) == (tasks, rollouts)


def test_what_is_asked_survives_the_way_back_from_a_worker(tmp_path: Path) -> None:
    asked = Unclear("say which:", tmp_path / "a b.jsonl", [Choice("--task-field", "x y", "a task")], ["--score", "s"])
    assert str(pickle.loads(pickle.dumps(asked))) == str(asked)


def test_a_score_of_which_less_is_better_counts_with_the_other_sign(tmp_path: Path) -> None:
    rows = [{"id": n, "wer": n / 10} for n in range(3)]
    run = read_rows(tmp_path, rows, reward_field="-wer")
    assert (run.table.reward.tolist(), run.reward_field) == ([0.0, -0.1, -0.2], "-wer")
    with pytest.raises(UsageError, match="no row has a field 'cer'"):
        read_rows(tmp_path, rows, reward_field="-cer")


@pytest.mark.parametrize(
    ("flags", "offered"),
    [
        ((True, True, True), "--reward-field -score"),
        ((True, False, True), "--where 'is_lower_better == false'"),
        ((False, False, False), None),
    ],
)
def test_rows_that_say_less_is_better_are_asked_about(
    tmp_path: Path, flags: tuple[bool, ...], offered: str | None
) -> None:
    rows = [{"task_id": n, "score": 0.3 + n / 10, "is_lower_better": flag} for n, flag in enumerate(flags)]
    if offered is None:
        assert len(read_rows(tmp_path, rows).table) == 3
        return
    with pytest.raises(UsageError, match="by `is_lower_better`, less of `score` is better in") as error:
        read_rows(tmp_path, rows)
    assert offered in commands_of(error)[0]
