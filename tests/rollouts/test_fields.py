from typing import Any

import pytest

from blade.rollouts.fields import (
    MAX_FIELDS,
    OWN,
    Leaf,
    Tree,
    graft,
    is_kept,
    learn,
    retype,
    widened,
)
from blade.rollouts.layout import Layout, relaxed


@pytest.mark.parametrize(
    ("value", "leaf"),
    [
        pytest.param(None, Leaf.NULL, id="null"),
        pytest.param(True, Leaf.FLAG, id="flag"),
        pytest.param(3, Leaf.NUMBER, id="integer"),
        pytest.param(0.5, Leaf.NUMBER, id="fraction"),
        pytest.param("a", Leaf.WORD, id="text"),
        pytest.param("x" * 201, Leaf.LONG, id="long_text"),
        pytest.param(["a", 1], Leaf.LIST, id="short_list"),
        pytest.param(list(range(33)), Leaf.SKIP, id="long_list"),
        pytest.param([{"a": 1}], Leaf.SKIP, id="list_of_objects"),
        pytest.param([None], Leaf.SKIP, id="list_of_nulls"),
        pytest.param({"x": 1}, {"x": Leaf.NUMBER}, id="object"),
        pytest.param({}, {}, id="empty_object"),
    ],
)
def test_one_value_tells_how_a_field_is_read(value: Any, leaf: Any) -> None:
    assert learn([{"field": value}]) == {"field": leaf}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (Leaf.NULL, Leaf.NUMBER, Leaf.NUMBER),
        (Leaf.NUMBER, Leaf.NULL, Leaf.NUMBER),
        (Leaf.NUMBER, Leaf.WORD, Leaf.SCALAR),
        (Leaf.FLAG, Leaf.NUMBER, Leaf.SCALAR),
        (Leaf.WORD, Leaf.LONG, Leaf.WORD),
        (Leaf.NUMBER, Leaf.LONG, Leaf.SCALAR),
        (Leaf.NUMBER, Leaf.LIST, Leaf.ANY),
        (Leaf.LIST, Leaf.SKIP, Leaf.ANY),
        (Leaf.LONG, Leaf.SKIP, Leaf.SKIP),
        (Leaf.ANY, Leaf.WORD, Leaf.ANY),
    ],
)
def test_a_field_seen_twice_is_read_so_that_both_fit(first: Leaf, second: Leaf, expected: Leaf) -> None:
    assert (widened(first, second), widened(second, first)) == (expected, expected)


def test_what_is_an_object_in_one_row_is_a_branch_with_single_values_beside_it() -> None:
    tree = learn([{"meta": 3}, {"meta": {"a": "x"}}, {"meta": "y"}, {"meta": {"b": 1}}])
    assert tree == {"meta": {OWN: Leaf.SCALAR, "a": Leaf.WORD, "b": Leaf.NUMBER}}


def test_what_must_be_an_object_has_no_single_value_beside_it() -> None:
    tree = learn([{"response": 3}, {"response": {"model": "a"}}])
    graft(tree, "response.output", Leaf.ITEMS)
    assert tree == {"response": {"model": Leaf.WORD, "output": Leaf.ITEMS}}


def test_objects_are_followed_four_levels_deep() -> None:
    tree = learn([{"a": {"b": {"c": {"d": 1, "e": {"f": 2}}}}}])
    assert tree == {"a": {"b": {"c": {"d": Leaf.NUMBER, "e": Leaf.SKIP}}}}


def test_a_row_with_very_many_fields_is_read_up_to_the_limit() -> None:
    tree = learn([{f"f{number}": number for number in range(MAX_FIELDS + 50)}])
    assert sum(node is Leaf.NUMBER for node in tree.values()) == MAX_FIELDS


def test_rows_that_are_no_objects_teach_nothing() -> None:
    assert learn([3, None, ["a"], "text"]) == {}


def test_a_graft_makes_its_own_branches() -> None:
    tree: Tree = {"a": Leaf.NUMBER}
    graft(tree, "a.b.c", Leaf.WORD)
    assert tree == {"a": {"b": {"c": Leaf.WORD}}}


def test_retyping_leaves_nulls_missing_fields_and_scalars_alone() -> None:
    tree: Tree = {"null": Leaf.NULL, "number": Leaf.NUMBER, "list": Leaf.LIST}
    for name in ("null", "number", "list", "absent", "number.below"):
        retype(tree, name, Leaf.SCALAR)
    assert tree == {"null": Leaf.NULL, "number": Leaf.NUMBER, "list": Leaf.SCALAR}


def test_a_lenient_tree_takes_scalars_of_any_type() -> None:
    tree: Tree = {"a": Leaf.NUMBER, "b": {"c": Leaf.NULL}, "d": Leaf.LIST}
    assert relaxed(tree) == {"a": Leaf.SCALAR, "b": {"c": Leaf.SCALAR}, "d": Leaf.LIST}


def test_a_path_is_kept_when_a_table_holds_something_of_it() -> None:
    tree: Tree = {"a": {"b": Leaf.NUMBER}, "long": Leaf.LONG}
    assert [is_kept(tree, path) for path in ("a", "a.b", "a.b.c", "long", "x")] == [True, True, False, False, False]


def test_columns_come_by_dotted_path_and_branches_nobody_has_are_left_out() -> None:
    layout = Layout({"a": Leaf.NUMBER, "b": {"c": Leaf.WORD, "d": {"e": Leaf.FLAG}}, "x": {"y": Leaf.WORD}})
    rows = layout.decoder.decode_lines(b'{"a":1}\n{"b":{"c":"w"}}\n{"a":2,"b":{"d":{"e":true}}}')
    assert [(path, list(values)) for path, _, values in layout.columns(rows)] == [
        ("a", [1, None, 2]),
        ("b.c", [None, "w", None]),
        ("b.d.e", [None, None, True]),
    ]
