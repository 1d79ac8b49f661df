import re
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_rows import message

from blade.rollouts.batch import batch_of
from blade.rollouts.endings import PLAN_SEARCH, REFUSAL_SEARCH, SANDBOX, TIMEOUT, TROUBLE_SEARCH, FinalAnswers
from blade.rollouts.layout import RawItem
from blade.rollouts.patterns import Search
from blade.rollouts.phrases import NEXT_STEP, REFUSAL, SANDBOX_FAULT, TIMED_OUT

ITEMS = msgspec.json.Decoder(list[RawItem])
GLUED = re.compile(r"\bi(?:will|should|need|want|have|am)", re.IGNORECASE)
"""Nobody writes it, though an expression that takes `I'll` and `I will` takes it too."""


def raw_items(items: list[Any]) -> list[RawItem]:
    return ITEMS.decode(msgspec.json.encode(items))


@pytest.mark.parametrize(
    ("expression", "search", "code"),
    [
        pytest.param(REFUSAL, REFUSAL_SEARCH, 0, id="refusals"),
        pytest.param(NEXT_STEP, PLAN_SEARCH, 0, id="plans"),
        pytest.param(SANDBOX_FAULT, TROUBLE_SEARCH, SANDBOX, id="lost_sandboxes"),
        pytest.param(TIMED_OUT, TROUBLE_SEARCH, TIMEOUT, id="timeouts"),
    ],
)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_search_passes_whatever_its_expression_takes(
    data: st.DataObject, expression: re.Pattern[str], search: Search, code: int
) -> None:
    text = re.sub(r"\s+", " ", data.draw(st.from_regex(expression, alphabet=st.characters(max_codepoint=0x2100))))
    found = {*search.hits(text.encode("utf-8", "replace")).codes.tolist()}
    assert code in found or expression.search(GLUED.sub("", text)) is None


@settings(max_examples=50)
@given(texts=st.lists(st.text(max_size=6) | st.sampled_from(["I can't", "déclin", "declin", "\ud800 refus", ""])))
def test_texts_are_searched_together_as_they_are_alone(texts: list[str]) -> None:
    alone = [
        index for index, text in enumerate(texts) if len(REFUSAL_SEARCH.hits(text.encode("utf-8", "replace")).codes)
    ]
    assert REFUSAL_SEARCH.texts_with(texts) == alone


def test_final_answers_are_the_same_read_together_and_alone() -> None:
    said = ["plain", "<think>hm</think> after", "", "ünïcode", 'a "quote"\n']
    outputs = [raw_items([message(text)]) for text in said]
    together = FinalAnswers(batch_of([None] * len(said), outputs)).texts
    alone = [FinalAnswers(batch_of([None], [output])).texts[0] for output in outputs]
    assert together == alone == ["plain", "after", "", "ünïcode", 'a "quote"']


def test_one_undecodable_answer_does_not_spoil_the_others() -> None:
    contents: list[Any] = [{"text": 3}, "fine", None]
    outputs = [raw_items([{"role": "assistant", "content": content}]) for content in contents]
    assert FinalAnswers(batch_of([None] * 3, outputs)).texts == ['{"text":3}', "fine", ""]
