"""From tasks to rows: what is asked, in which order, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_benchmark import Counting, small_plan, write_tasks

from blade.errors import InputError
from blade.evals.materialize import materialize, sampling_of, seed_setting
from blade.evals.plan import rollout_seed
from blade.llm import Sampling


def rows_for(folder: Path, tasks: list[dict[str, Any]], **settings: Any) -> list[dict[str, Any]]:
    return list(materialize(small_plan(folder, tasks, **settings), Counting()))


def test_the_repeats_of_a_task_stand_together(tmp_path: Path) -> None:
    rows = rows_for(tmp_path, [{"answer": 1}, {"answer": 2}])

    assert [(row["_ng_task_index"], row["_ng_rollout_index"]) for row in rows] == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_an_index_of_the_task_s_own_is_kept(tmp_path: Path) -> None:
    rows = rows_for(tmp_path, [{"answer": 1, "_ng_task_index": 17, "_ng_rollout_index": 9}], repeats=1)

    assert [(row["_ng_task_index"], row["_ng_rollout_index"]) for row in rows] == [(17, 0)]


@pytest.mark.parametrize("asked", ["Say 1.", [{"role": "user", "content": "Say 1."}]], ids=["text", "messages"])
def test_tasks_may_bring_their_own_request(tmp_path: Path, asked: Any) -> None:
    own = {"input": asked, "temperature": 0.1, "tool_choice": "auto"}
    [row] = rows_for(tmp_path, [{"responses_create_params": own}], repeats=1, prompt=None, sampling=Sampling(top_p=0.9))

    assert row["responses_create_params"] == {**own, "top_p": 0.9}


@pytest.mark.parametrize(
    ("tasks", "settings", "said"),
    [
        pytest.param([{"a": 1}], {"prompt": None}, "has no prompt to make one", id="no_input"),
        pytest.param(
            [{"answer": 1, "responses_create_params": {"input": "x"}}], {}, "has a prompt as well; drop one", id="both"
        ),
        pytest.param([{"task_id": "t7"}], {}, "task t7: the prompt asks for field 'answer'", id="missing_field"),
        pytest.param(
            [{"answer": 1, "_ng_task_index": 3}, {"answer": 2, "_ng_task_index": 3}],
            {},
            r"tasks\.jsonl:2: a second task with _ng_task_index 3",
            id="same_index",
        ),
        pytest.param([{"answer": 1, "_ng_task_index": "x"}], {}, r"tasks\.jsonl:1: not a task", id="odd_index"),
        pytest.param([], {}, "holds no tasks", id="empty"),
    ],
)
def test_tasks_that_cannot_be_asked_are_refused(
    tmp_path: Path, tasks: list[dict[str, Any]], settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        rows_for(tmp_path, tasks, **settings)


def test_a_line_that_is_no_task_is_named(tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    plan.data.write_text(json.dumps({"answer": 1}) + "\n\n[1]\n", encoding="utf-8")

    with pytest.raises(InputError, match=r"tasks\.jsonl:3: not a task"):
        list(materialize(plan, Counting()))


def test_lines_after_the_limit_are_not_even_read(tmp_path: Path) -> None:
    plan = small_plan(tmp_path, [{"answer": 1}], limit=1, repeats=1)
    write_tasks(tmp_path, [{"answer": 1}])
    with plan.data.open("a", encoding="utf-8") as file:
        file.write("broken\n")

    assert len(list(materialize(plan, Counting()))) == 1


@given(st.integers(0, 2**31 - 1), st.integers(0, 10_000), st.integers(0, 63))
def test_seeds_fit_every_server_and_repeats_have_their_own(seed: int, task: int, repeat: int) -> None:
    assert 0 <= rollout_seed(seed, task, repeat) < 2**31
    assert rollout_seed(seed, task, repeat) != rollout_seed(seed, task, repeat + 1)


@given(st.one_of(st.none(), st.integers(0, 2**31 - 1)))
def test_the_seed_of_a_row_is_read_back_as_it_was_written(seed: int | None) -> None:
    request = {"temperature": 0.5, **seed_setting(seed, 0, 0)}

    assert sampling_of(request) == Sampling(temperature=0.5, seed=seed)
