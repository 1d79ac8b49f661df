"""Texts that are what they look like, and texts that only sound like it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rollout_rows import Row, call, message, read_rows, result, rollout, thought

from blade.rollouts.phrases import (
    TOOL_ERROR,
    announces,
    edges,
    is_provider_error,
    is_refusal,
    is_sandbox_fault,
    owns_up,
)


@pytest.mark.parametrize(
    "answer",
    [
        "I'm sorry, but I can't help with that.",
        "I must decline to do this.",
        "I cannot fulfill this request. Is there anything else?",
        "As an AI language model, I'm not able to provide that.",
        "That is not something I can help with.",
        "I'm not comfortable answering this question.",
        "This goes against my guidelines.",
    ],
)
def test_who_declines_the_task_refuses(answer: str) -> None:
    assert is_refusal(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "I can't help but notice that 3 divides 9.",
        "I cannot answer with certainty, but it is 12.",
        "I am unable to provide a waiver for this ticket.",
        "This goes against the rule of signs, so the answer is 4.",
        "That is not something I can verify from the table; the answer is 7.",
        "I could not find the order, so I looked for the customer.",
        "Sales declined in May.",
    ],
)
def test_who_fails_at_a_part_or_talks_of_refusing_does_not_refuse(answer: str) -> None:
    assert not is_refusal(answer)


@pytest.mark.parametrize(
    "told",
    [
        "Error: order not found",
        '{"status": "error", "message": "no such order"}',
        '{"success": false, "reason": "locked"}',
        '{"result": null, "error": {"code": 4}}',
        "ValueError: id must be given",
        "HTTP 404 Not Found",
        "Exit code: 1\nnope",
        "bash: foo: command not found",
    ],
)
def test_a_tool_that_failed_says_so_first(told: str) -> None:
    assert TOOL_ERROR.match(told.encode())


@pytest.mark.parametrize(
    "told",
    [
        '{"error": null, "rows": 3}',
        '{"status": "ok", "errors": []}',
        "500 rows returned",
        "No errors found",
        "Errors: 0",
    ],
)
def test_a_tool_that_worked_may_say_error_too(told: str) -> None:
    assert not TOOL_ERROR.match(told.encode())


def test_a_message_is_a_providers_error_only_if_it_opens_as_one() -> None:
    assert is_provider_error("Error code: 429 - {'error': {'message': 'Rate limit reached'}}")
    assert is_provider_error("<html><head><title>502 Bad Gateway</title></head></html>")
    assert not is_provider_error("The answer is 503 Service Unavailable.")
    assert not is_provider_error("503")
    assert not is_provider_error("Answer: 500 dollars")
    assert not is_provider_error("**503.55**")
    assert not is_provider_error('{"quota": 500}')
    assert not is_provider_error("Error handling now retries when a connection is refused.")


def test_a_sandbox_is_gone_only_if_the_tool_itself_says_so() -> None:
    assert is_sandbox_fault("Error response from daemon: container 4f is not running")
    assert is_sandbox_fault("collected 3 items\n...\n(terminated: OOMKilled)")
    assert is_sandbox_fault("AgentRuntimeDisconnectedError: try another node")
    assert not is_sandbox_fault('{"note": "the container was lost in the post"}')
    assert not is_sandbox_fault("RuntimeError: dictionary changed size during iteration")
    assert not is_sandbox_fault(
        "def restart(container):\n    if container.lost:\n        raise Gone\n    return container"
    )


def test_an_answer_owns_up_only_to_what_it_did_not_manage() -> None:
    assert owns_up("I was unable to change the address.")
    assert owns_up("The request was rejected, so nothing was changed.")
    assert not owns_up("The parser no longer fails on empty input and does not raise an error.")


def test_an_answer_that_ends_with_a_next_step_is_not_the_last_word() -> None:
    assert announces("I have the order. Let me check the address next.")
    assert announces("I'll now run the tests:")
    assert not announces("It is done. Let me know if you need anything else.")
    assert not announces("Let me see: both are even, so the answer is 4.")


@given(st.text())
def test_every_text_has_two_edges_at_most_and_they_are_lines_of_it(told: str) -> None:
    assert all(line in told for line in edges(told))


def repeated(folder: Path, output: list[Row]) -> int:
    run = read_rows(folder, [rollout(0, 0, output=[*output, message("done")])])
    return int(run.table.rows.fact("looped_calls")[0])


def pair(name: str, arguments: str, told: str, number: int) -> list[Row]:
    return [call(name, arguments, f"c{number}"), result(told, f"c{number}")]


def test_the_same_tests_after_every_edit_are_no_loop(tmp_path: Path) -> None:
    output = [
        item for n in range(4) for item in pair("edit", f'{{"n": {n}}}', "ok", n) + pair("test", "{}", f"{n} s", 9 + n)
    ]
    assert repeated(tmp_path, output) == 1


def test_the_same_call_with_the_same_answer_is_a_loop_whatever_is_thought_in_between(tmp_path: Path) -> None:
    output = [
        item
        for n in range(3)
        for item in pair("think", f'{{"n": {n}}}', "", n) + pair("book", "{}", "Error: no", 9 + n)
    ]
    assert repeated(tmp_path, output) == 3


def test_two_calls_by_turns_are_a_loop(tmp_path: Path) -> None:
    output = [
        item for n in range(3) for item in pair("look", "{}", f"at {n}", n) + pair("turn", "{}", f"to {n}", 9 + n)
    ]
    assert repeated(tmp_path, [thought("hm"), *output]) == 3
