"""Shapes of tool results: alike whatever they are about, unlike when something else happened."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.diagnosis.shapes import Met, Usual, shape_of, usual_shapes


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        pytest.param('{"order": "W1", "lines": []}', "{lines,order}", id="object"),
        pytest.param('{"status": "ok", "id": 7}', "{id,status=ok}", id="status"),
        pytest.param('[{"id": 1}, {"id": 2}]', "[{id}]", id="list"),
        pytest.param("[]", "[]", id="empty_list"),
        pytest.param("{'id': 'a', 'name': 'b'}", "~id,name", id="python_dict"),
        pytest.param("....\n12 passed in 0.31s", "…# w+ #", id="last_line"),
        pytest.param("Edited src/parser.py", "w+/w.w", id="path"),
        pytest.param("None", "none", id="one_word"),
        pytest.param("  \n", "nothing", id="blank"),
    ],
)
def test_a_text_has_the_shape_of_its_kind(text: str, shape: str) -> None:
    assert shape_of(text) == shape


@given(st.text())
def test_every_text_has_a_shape(text: str) -> None:
    assert shape_of(text)


def test_a_new_shape_surprises_where_a_tool_always_says_the_same() -> None:
    assert Usual(Counter({"{id}": 20})).surprise("{error}") == 2


def test_a_new_shape_may_surprise_after_a_few_answers() -> None:
    assert Usual(Counter({"{id}": 5})).surprise("{error}") == 1


def test_nothing_surprises_where_every_answer_is_new() -> None:
    # 20 shapes seen once: the next answer is new for certain, by Turing's estimate
    assert Usual(Counter({f"{{key{number}}}": 1 for number in range(20)})).surprise("{error}") == 0


def test_nothing_surprises_before_a_tool_is_known() -> None:
    assert Usual(Counter({"{id}": 4})).surprise("{error}") == 0


def test_an_answer_that_went_as_usual_is_usual_whatever_else_it_holds() -> None:
    usual = Usual(Counter({"{stage,status=ok}": 20}))
    assert (usual.surprise("{amount,status=ok}"), usual.surprise("{amount,status=failed}")) == (0, 2)


def test_shapes_are_counted_by_rollout() -> None:
    found = usual_shapes([{Met("a", "{x}")}, {Met("a", "{x}"), Met("b", "[]")}])
    assert {tool: usual.shapes for tool, usual in found.items()} == {"a": {"{x}": 2}, "b": {"[]": 1}}
