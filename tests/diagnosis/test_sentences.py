"""Quotes show what a label says: which sentence is taken depends on what is to be proved."""

import json

import pytest

from blade.diagnosis.actions import Action, Deviation, Swap
from blade.diagnosis.sentences import telling_quote
from blade.rollouts import Item
from blade.rollouts.values import ItemKind

TRACE = "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nKeyError: 'colour'\n"


def quote(
    text: str, code: str, kind: ItemKind = "message", *, answer: str | None = None, deviation: Deviation | None = None
) -> str | None:
    return telling_quote(Item(position=4, kind=kind, text=text), code, answer=answer, deviation=deviation)


@pytest.mark.parametrize(
    ("text", "code", "expected"),
    [
        pytest.param("Let me think. I can't help with that.", "refusal", "I can't help with that.", id="refusal"),
        pytest.param("oops\nHTTP 503: try again\nbye", "provider_error", "HTTP 503: try again", id="provider"),
        pytest.param("Hello. The order is updated. Bye.", "ignored_tool_error", "The order is updated.", id="claim"),
        pytest.param("Yes. Sadly I cannot do it.", "missing_action", "Sadly I cannot do it.", id="denial"),
        pytest.param("First this. Then tha", "truncated", "First this. Then tha", id="end"),
        pytest.param("So it goes.\n\\boxed{12}\nDone.", "never", "\\boxed{12}", id="marked_answer"),
        pytest.param("It is 12. Let me know if you need more!", "never", "It is 12.", id="no_courtesy"),
        pytest.param(" ".join(f"Step {n} holds." for n in range(9)), "never", "Step 8 holds.", id="conclusion"),
        pytest.param("Here:\n```sql\nSELECT\n  name FROM people\n```", "never", "name FROM people", id="code"),
        pytest.param("<think>no, I can't</think>It is 4.", "never", "It is 4.", id="without_thinking"),
        pytest.param("  \n", "never", None, id="nothing"),
    ],
)
def test_a_message_is_quoted_where_it_shows_the_signal(text: str, code: str, expected: str | None) -> None:
    assert quote(text, code) == expected


def test_an_answer_is_quoted_where_it_stands() -> None:
    assert quote("It is 7 or 12. I take 12 then. Bye.", "never", answer="12") == "I take 12 then."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(TRACE, "KeyError: 'colour'", id="raised"),
        pytest.param("run 1\nrun 2 failed\nrun 3", "run 2 failed", id="trouble"),
        pytest.param("one\ntwo", "one", id="nothing_tells"),
    ],
)
def test_a_tool_is_quoted_at_its_error(text: str, expected: str) -> None:
    assert quote(text, "sandbox_fault", "tool_result") == expected


def test_a_wrong_call_is_quoted_where_it_differs() -> None:
    text = json.dumps({"note": "x" * 200, "item": "i-7"})
    made = Action("swap", frozenset({("item", "i-7")}), 4)
    swap = Swap(made, Action("swap", frozenset({("item", "i-9")}), -1))
    assert quote(text, "wrong_action", "tool_call", deviation=Deviation([swap], [], [])) == text[-35:]
    assert quote(text, "wrong_action", "tool_call") == text[:120]


def test_a_quote_is_short() -> None:
    assert quote("x" * 500, "never") == "x" * 120
