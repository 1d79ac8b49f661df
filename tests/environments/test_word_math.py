"""What holds for the word problems beyond what holds for every benchmark."""

import re

from test_benchmark_tasks import tasks_of

from blade.environments.numeric.numbers import read_number
from blade.environments.numeric.verifier import judge


def test_the_same_story_is_never_told_with_the_same_numbers() -> None:
    numbers = [(task["task_id"][5:], *re.findall(r"\d+", task["question"])) for task in tasks_of("word_math")]

    assert len(set(numbers)) == len(numbers)


def test_no_slip_leads_to_the_right_answer_and_each_is_recognised() -> None:
    for task in tasks_of("word_math"):
        for name, wrong in task["slips"].items():
            verdict = judge(task, f"Answer: {wrong}")
            assert (verdict.reward, read_number(task["slips"][verdict.fields["slip"]])) == (0.0, read_number(wrong)), (
                name
            )


def test_no_answer_stands_in_its_question_of_several_steps() -> None:
    hard = [task for task in tasks_of("word_math") if task["difficulty"] == "hard"]

    assert [task["task_id"] for task in hard if task["expected_answer"] in re.findall(r"\d+", task["question"])] == []
