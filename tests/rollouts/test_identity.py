import random
from pathlib import Path
from typing import Any

import pytest
from rollout_rows import Row, keys, message, read_rows, reasons, rollout, unindexed, without

from blade.errors import UsageError
from blade.rollouts import Identity
from blade.rollouts.identity import natural_key


def test_rows_with_both_indices_are_known_by_them(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [rollout(1, 1), rollout(0, 0), rollout(1, 0)])
    assert keys(run) == ["0:0", "1:0", "1:1"]
    assert run.identity == Identity(scheme="indices", task_field="_ng_task_index", repeat_field="_ng_rollout_index")
    assert run.identity.sentence == "tasks by `_ng_task_index`, repeats by `_ng_rollout_index`"


def test_without_indices_a_task_id_names_tasks_and_occurrence_numbers_repeats(tmp_path: Path) -> None:
    rows = [unindexed(f"try {n}", task_id=task, n=n) for n, task in enumerate(["b", "a", "b"])]
    run = read_rows(tmp_path, rows)
    assert keys(run) == ["a:0", "b:0", "b:1"]
    assert [run.rollout(key).fields["n"] for key in keys(run)] == [1, 0, 2]
    assert run.identity.sentence == "tasks by `task_id`, repeats by order of occurrence"


def test_without_any_id_equal_prompts_are_one_task(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [unindexed("2+2?", 0.0), unindexed("3+3?", 0.1), unindexed("2+2?", 0.2)])
    hashed = "tasks by a hash of the prompt (rows carry no task id), repeats by order of occurrence"
    assert (run.identity.scheme, run.identity.sentence) == ("input_hash", hashed)
    rewards = dict(zip(keys(run), run.table.reward.tolist(), strict=True))
    assert sorted(rewards.values()) == [0.0, 0.1, 0.2]
    assert {key.partition(":")[2] for key, reward in rewards.items() if reward == 0.2} == {"1"}


def test_a_prompt_has_the_same_hash_in_every_file(tmp_path: Path) -> None:
    first = read_rows(tmp_path / "a", [unindexed("2+2?"), unindexed("3+3?")])
    second = read_rows(tmp_path / "b", [unindexed("3+3?", 0.0, note="later"), unindexed("2+2?", 0.0)])
    assert first.table.tasks == second.table.tasks


def test_prompts_that_differ_in_layout_only_are_one_task(tmp_path: Path) -> None:
    plain = unindexed("2+2?", n=0)
    spelled = unindexed("2+2?", n=1)
    spelled["responses_create_params"]["input"] = [{"role": "user", "content": "2+2?"}]
    assert len(read_rows(tmp_path, [plain, spelled]).table.tasks) == 1


def test_rows_with_neither_id_nor_prompt_are_tasks_of_their_own(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [{"score": n % 2} for n in range(11)])
    assert keys(run) == [f"{n}:0" for n in range(11)]
    assert run.identity.sentence == "every row its own task (rows carry neither a task id nor a prompt)"


def test_long_prompts_that_begin_alike_are_different_tasks(tmp_path: Path) -> None:
    examples = "Here are some examples of what to do. " * 20
    rows = [{"prompt": f"{examples}Now solve number {n // 2}.", "score": 1} for n in range(4)]
    run = read_rows(tmp_path, rows)
    assert (run.identity.scheme, len(run.table.tasks), run.table.repeat.tolist()) == ("input_hash", 2, [0, 1, 0, 1])


def test_a_long_prompt_can_be_named_as_the_task(tmp_path: Path) -> None:
    rows = [{"question": "why? " * (100 * n + 1), "score": 1, "id": n} for n in range(3)]
    run = read_rows(tmp_path, rows, task_field="question")
    assert (len(run.table.tasks), run.bad) == (3, [])


@pytest.mark.parametrize("name", ["id", "uuid"])
def test_an_id_that_differs_between_attempts_at_one_prompt_is_no_task_id(tmp_path: Path, name: str) -> None:
    rows = [unindexed(f"q{n // 2}", **{name: f"row-{n}"}) for n in range(4)]
    run = read_rows(tmp_path, rows)
    assert (run.identity.scheme, len(run.table.tasks)) == ("input_hash", 2)


@pytest.mark.parametrize("name", ["id", "uuid"])
def test_an_id_that_attempts_at_one_prompt_share_is_a_task_id(tmp_path: Path, name: str) -> None:
    run = read_rows(tmp_path, [unindexed(f"q{n // 2}", **{name: f"row-{n // 2}"}, n=n) for n in range(4)])
    assert keys(run) == ["row-0:0", "row-0:1", "row-1:0", "row-1:1"]


def test_a_benchmark_name_on_every_row_is_no_task_id(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [{"task": "arithmetic", "question": f"{n}+{n}?", "score": 1} for n in range(3)])
    assert run.table.tasks == ["0+0?", "1+1?", "2+2?"]


def test_named_fields_override_the_indices(tmp_path: Path) -> None:
    rows = [rollout(n, 0, meta={"case": f"c{n % 2}"}, attempt=n // 2) for n in range(4)]
    run = read_rows(tmp_path, rows, task_field="meta.case", repeat_field="attempt")
    assert keys(run) == ["c0:0", "c0:1", "c1:0", "c1:1"]
    assert run.identity.sentence == "tasks by `meta.case`, repeats by `attempt`"


def test_a_named_field_nobody_has_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no row has a field 'taskid'; did you mean task_id"):
        read_rows(tmp_path, [{"task_id": "a", "score": 1}], task_field="taskid")


@pytest.mark.parametrize(
    ("broken", "missing"),
    [
        pytest.param({"_ng_task_index": None}, "_ng_task_index", id="null_task"),
        pytest.param({"_ng_rollout_index": None}, "_ng_rollout_index", id="null_repeat"),
        pytest.param(None, "_ng_task_index", id="neither_index"),
    ],
)
def test_a_row_without_the_indices_of_the_others_is_a_bad_line(
    tmp_path: Path, broken: Row | None, missing: str
) -> None:
    odd = {**rollout(2, 0), **broken} if broken else without(rollout(2, 0), "_ng_task_index", "_ng_rollout_index")
    run = read_rows(tmp_path, [rollout(0, 0), odd, rollout(1, 0)])
    assert keys(run) == ["0:0", "1:0"]
    reason = f"has no {missing} (or one too long for a key), which identifies the rows of this file"
    assert reasons(run) == [(2, reason)]


def test_a_row_without_the_task_id_of_the_others_is_a_bad_line(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [{"task_id": "a", "score": 1}, {"score": 1}, {"task_id": "b", "score": 0}])
    assert keys(run) == ["a:0", "b:0"]
    assert [line for line, _ in reasons(run)] == [2]


def test_tasks_stand_in_natural_order(tmp_path: Path) -> None:
    names = ["t10", "t2", "t1", "t", "a", "10", "9"]
    run = read_rows(tmp_path, [{"task_id": name, "score": 1} for name in names])
    assert run.table.tasks == ["9", "10", "a", "t", "t1", "t2", "t10"]


def test_natural_order_is_total() -> None:
    texts = ["1", "01", "a1", "a01", "١", "9" * 5000, "", "a", "é", "1a", "1.5"]
    shuffled = random.Random(0).sample(texts, len(texts))
    assert sorted(shuffled, key=natural_key) == sorted(texts, key=natural_key)


@pytest.mark.parametrize(
    "name",
    [
        "a:b",
        "a:3",
        "x:1#2",
        "#",
        "a b",
        " lead",
        "trail ",
        "`tick`",
        "日本語",
        "naïve",
        "a/b\\c",
        'quo"te',
        "-1",
        "1e5",
    ],
)
def test_any_text_can_be_a_task_key_and_be_cited(tmp_path: Path, name: str) -> None:
    run = read_rows(tmp_path, [{"task_id": name, "trial": n, "score": n} for n in range(5)])
    for repeat in range(5):
        row = run.row(f"{name}:{repeat}")
        assert run.table.repeat[row] == repeat
        assert run.row(run.table.citation(row, 7)) == row


def test_a_blank_key_names_no_task(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [{"task_id": name, "score": 1} for name in ("a", "", " ", "b")])
    assert keys(run) == ["a:0", "b:0"]
    assert [(line, reason.startswith("has no task_id")) for line, reason in reasons(run)] == [(2, True), (3, True)]


def test_integers_no_float_can_hold_stay_apart(tmp_path: Path) -> None:
    names = [2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 7]
    run = read_rows(tmp_path, [{"task_id": name, "score": 1} for name in names])
    assert run.table.tasks == [str(name) for name in sorted(names)]


def test_a_number_and_its_text_name_the_same_task(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [{"task_id": 7, "trial": 0, "score": 1}, {"task_id": "7", "trial": 1, "score": 1}])
    assert keys(run) == ["7:0", "7:1"]


def test_keys_do_not_depend_on_the_order_of_rows(tmp_path: Path) -> None:
    rows = [rollout(task, repeat, task * repeat % 2) for task in range(4) for repeat in range(3)]
    first = read_rows(tmp_path, rows)
    second = read_rows(tmp_path / "shuffled", random.Random(1).sample(rows, len(rows)))
    assert keys(first) == keys(second)
    assert first.table.reward.tolist() == second.table.reward.tolist()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param([0, 1, 2], [0, 1, 2], id="numbers"),
        pytest.param([42, 7, 9], [42, 7, 9], id="seeds"),
        pytest.param(["1", "2", "3"], [1, 2, 3], id="numbers_as_text"),
        pytest.param(["run-b", "run-a", "run-c"], [1, 0, 2], id="names_are_ranked"),
        pytest.param([0.5, -1.0, 2.0], [1, 0, 2], id="not_whole"),
        pytest.param([2**60, 2**60 + 1, 5], [1, 2, 0], id="too_long_to_cite"),
    ],
)
def test_repeats_are_numbered_by_their_field(tmp_path: Path, values: list[Any], expected: list[int]) -> None:
    rows = [{"task_id": task, "trial": value, "n": n, "score": 1} for task in "ab" for n, value in enumerate(values)]
    run = read_rows(tmp_path, rows)
    found = {(run.table.citation(row)): run.table.rows.columns["n"].at(row) for row in range(len(run.table))}
    assert found == {f"{task}:{repeat}": n for task in "ab" for n, repeat in enumerate(expected)}


def test_names_of_repeats_that_tasks_do_not_share_are_ranked_within_their_task(tmp_path: Path) -> None:
    rows = [{"task_id": task, "rollout_id": f"{task}-{n}", "score": 1} for task in "ab" for n in (10, 9, 2)]
    assert keys(read_rows(tmp_path, rows)) == ["a:0", "a:1", "a:2", "b:0", "b:1", "b:2"]


def test_a_missing_name_leaves_the_numbers_of_the_others_alone(tmp_path: Path) -> None:
    rows = [{"task_id": t, "trial": r, "score": 1} for t in "ab" for r in ("x", "y", "z") if (t, r) != ("b", "x")]
    assert keys(read_rows(tmp_path, rows)) == ["a:0", "a:1", "a:2", "b:1", "b:2"]


def test_a_conversation_without_ids_is_known_by_its_first_turn(tmp_path: Path) -> None:
    turns = [message("hello", "user"), message("hi")]
    run = read_rows(tmp_path, [{"messages": turns, "score": 1, "prompt": "hello"} for _ in range(2)])
    assert keys(run) == ["hello:0", "hello:1"]
