"""What is read from output items, whoever wrote them."""

from typing import Any

import pytest

from blade.environments.answering import TextEnvironment, final_text, function_call, message
from blade.environments.environment import Verdict


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([], "", id="nothing"),
        pytest.param([message("first"), message("last")], "last", id="last_message"),
        pytest.param([message("said"), function_call("f", "{}", call_id="1")], "said", id="a_call_after_it"),
        pytest.param([{"role": "assistant", "content": "plain"}], "plain", id="content_is_a_text"),
        pytest.param([message("said"), {"type": "message", "role": "user", "content": "no"}], "said", id="user_turn"),
        pytest.param([message("<think>12?</think>\n7 ")], "7", id="thinking_is_left_out"),
        pytest.param([message("<think>12, or")], "", id="thinking_that_never_ends"),
        pytest.param([{"type": "message", "role": "assistant", "content": None}], "", id="no_content"),
        pytest.param([{"type": "message", "content": [{"text": 5}, "x", {"text": "a"}]}], "a", id="odd_parts"),
    ],
)
def test_the_final_text_is_what_the_last_assistant_message_says(items: list[dict[str, Any]], expected: str) -> None:
    assert final_text(items) == expected


def test_a_text_environment_judges_the_final_text_and_has_no_tools() -> None:
    environment = TextEnvironment(
        "echo",
        judge=lambda task, text: Verdict(reward=float(text == task["say"]), fields={"heard": text}),
        gold=lambda task: str(task["say"]),
    )
    task = {"say": "hello"}

    assert environment.verify(task, environment.gold(task)) == Verdict(reward=1.0, fields={"heard": "hello"})
    assert environment.verify(task, []) == Verdict(reward=0.0, fields={"heard": ""})
    assert (environment.tools(task), environment.open(task)) == ([], None)
