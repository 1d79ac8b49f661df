"""Prompt files: templates that a task fills, with nothing evaluated."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.errors import InputError
from blade.evals.materialize import Example, Prompt, conversation, fill, read_prompt

TASK = {"question": "{why}", "n": 3, "options": ["a", "b"], "deep": {"x": 1}}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        pytest.param("Ask: {question}", "Ask: {why}", id="text_is_taken_as_it_is"),
        pytest.param("{n} of {options}", '3 of ["a","b"]', id="anything_else_as_json"),
        pytest.param('{{"n": {n}}}', '{"n": 3}', id="doubled_braces_are_literal"),
        pytest.param("plain", "plain", id="nothing_to_fill"),
    ],
)
def test_a_template_is_filled_with_a_task_s_fields(template: str, expected: str) -> None:
    assert fill(template, TASK) == expected


@pytest.mark.parametrize(
    ("template", "said"),
    [
        pytest.param(
            "{answer}", "field 'answer', which the task does not have; it has deep, n, options, question", id="unknown"
        ),
        pytest.param("{n.__class__}", "field 'n.__class__'", id="attributes"),
        pytest.param("{deep[x]}", r"field 'deep\[x\]'", id="indices"),
        pytest.param("{n!r}", "field 'n!r'", id="conversions"),
        pytest.param("a { b", "a lone '{'", id="lone_brace"),
        pytest.param("{}", "field ''", id="empty"),
    ],
)
def test_a_place_that_cannot_be_filled_is_named(template: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        fill(template, TASK)


@given(st.text())
def test_any_text_survives_doubling_its_braces(text: str) -> None:
    assert fill(text.replace("{", "{{").replace("}", "}}"), {}) == text


def test_a_conversation_has_the_system_the_examples_and_the_question() -> None:
    prompt = Prompt(system="Up to {n}.", user="{question}", examples=[Example(user="{a}?", assistant="{b}")])

    assert [(item["role"], item["content"]) for item in conversation(prompt, TASK)] == [
        ("system", "Up to 3."),
        ("user", "{a}?"),
        ("assistant", "{b}"),
        ("user", "{why}"),
    ]


@pytest.mark.parametrize(
    "text", ["system: only", "user: [a]", "user: a\nuzer: b", "just text", ": :", "examples: [{user: a}]\nuser: b"]
)
def test_a_file_that_is_no_prompt_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prompt.yaml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(InputError, match=r"prompt\.yaml: .*a prompt has `user`"):
        read_prompt(path)


def test_a_prompt_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_prompt(tmp_path / "none.yaml")
