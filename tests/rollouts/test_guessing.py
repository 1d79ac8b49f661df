from pathlib import Path
from typing import Any

import pytest
from rollout_rows import keys, read_files, read_rows

from blade.errors import UsageError


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
    with pytest.raises(UsageError, match=r"one row for each value of `filter` \(strict, loose\)") as error:
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
    with pytest.raises(UsageError, match="each value of `agent_name`"):
        read_rows(tmp_path, rows)


def test_words_as_scores_are_asked_about_and_then_read(tmp_path: Path) -> None:
    rows = [{"task_id": n, "score": word} for n, word in enumerate(["CORRECT", "INCORRECT", "CORRECT"])]
    with pytest.raises(UsageError, match=r"is a word \(CORRECT, INCORRECT\)(.|\n)*--true-words CORRECT"):
        read_rows(tmp_path, rows)
    assert read_rows(tmp_path, rows, true_words=("correct",)).table.reward.tolist() == [1.0, 0.0, 1.0]


def test_records_without_a_known_score_are_offered_fields_that_vary(tmp_path: Path) -> None:
    rows = [{"task_id": n, "verdict_value": n % 2, "constant": 1} for n in range(3)]
    with pytest.raises(UsageError, match=r"no score found(.|\n)*--reward-field verdict_value$"):
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
