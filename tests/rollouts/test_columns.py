from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.rollouts import columns
from blade.rollouts.columns import Column, ColumnBuilder, concat, from_values, level_text, unknown, whole_column

values = st.lists(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3)
    | st.just("x" * 201)
    | st.lists(st.integers(0, 9) | st.text(max_size=2), max_size=3)
)


def held(value: Any) -> Any:
    """A value as a column gives it back: whole numbers without a fraction, lists as texts, no long text."""
    if isinstance(value, list):
        return tuple(level_text(item) for item in value)
    if isinstance(value, str):
        return value if len(value) <= 200 else None
    return value


def same(column: Column, expected: list[Any]) -> bool:
    """Whether the column holds these values; a flag among numbers counts as a number."""
    got = [column.at(row) for row in range(len(expected))]
    return got == expected


@given(given_values=values)
def test_a_column_gives_back_what_it_was_given(given_values: list[Any]) -> None:
    assert same(from_values(given_values), [held(value) for value in given_values])


@given(parts=st.lists(values, max_size=4))
def test_parts_read_apart_are_the_column_read_at_once(parts: list[list[Any]]) -> None:
    together = [held(value) for part in parts for value in part]
    assert same(concat([from_values(part) for part in parts]), together)


@given(parts=st.lists(values, max_size=4))
def test_a_column_built_in_pieces_is_the_column_built_at_once(parts: list[list[Any]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "FLUSH", 2)
        builder = ColumnBuilder()
        for part in parts:
            builder.add(part)
        assert same(builder.finish(), [held(value) for part in parts for value in part])


@pytest.mark.parametrize(
    ("given_values", "kind"),
    [
        pytest.param([1, 2.5, None], "number", id="numbers"),
        pytest.param([True, None, False], "flag", id="flags"),
        pytest.param([True, 2], "number", id="flags_and_numbers"),
        pytest.param(["a", None], "text", id="texts"),
        pytest.param([["a"], None], "list", id="lists"),
        pytest.param(["a", 1], "mixed", id="texts_and_numbers"),
        pytest.param([2**53], "mixed", id="integers_a_float_cannot_hold"),
        pytest.param([10**400], "mixed", id="integers_beyond_any_float"),
        pytest.param([None, None], "number", id="nothing_known"),
        pytest.param([], "number", id="nothing_at_all"),
    ],
)
def test_the_kind_follows_from_the_values(given_values: list[Any], kind: str) -> None:
    assert from_values(given_values).kind == kind


def test_a_column_told_its_kind_need_not_look() -> None:
    builder = ColumnBuilder()
    builder.add([1, 2], "number")
    builder.add([None, True], "flag")
    builder.pad(6)
    column = whole_column(builder.finish())
    assert (column.kind, [column.at(row) for row in range(6)]) == ("number", [1, 2, None, 1, None, None])


def test_a_text_column_without_a_single_text_is_unknown_and_not_a_number() -> None:
    builder = ColumnBuilder()
    builder.add([None, None], "text")
    assert [builder.finish().at(row) for row in range(2)] == [None, None]


def test_equal_levels_of_different_types_stay_apart() -> None:
    column = from_values(["1", 1, True, 1.0])
    assert ([column.at(row) for row in range(4)], column.levels) == (["1", 1, True, 1], ["1", 1, True])


def test_numbers_are_taken_out_of_a_mixed_column() -> None:
    numbers = from_values(["a", 2, True, None, 0.5, 10**400, ["b"]]).numbers()
    assert np.array_equal(numbers, [np.nan, 2.0, 1.0, np.nan, 0.5, np.nan, np.nan], equal_nan=True)


def test_a_column_is_coded_for_grouping() -> None:
    coded = from_values([2, None, 1, 2]).coded()
    assert (coded.values.tolist(), coded.levels) == ([1, -1, 0, 1], [1, 2])


def test_rows_are_taken_in_the_order_asked_for() -> None:
    taken = from_values(["a", "b", "c"]).take(np.array([2, 0]))
    assert [taken.at(row) for row in range(2)] == ["c", "a"]


def test_an_unknown_part_does_not_decide_the_kind() -> None:
    column = concat([unknown(2), from_values(["a"])])
    assert (column.kind, [column.at(row) for row in range(3)]) == ("text", [None, None, "a"])


@pytest.mark.parametrize(
    ("level", "text"), [(True, "true"), (3.0, "3"), (0.5, "0.5"), ("name", "name"), (("a", "b"), "a, b"), (7, "7")]
)
def test_levels_read_as_a_user_would_type_them(level: Any, text: str) -> None:
    assert level_text(level) == text


def test_a_long_list_is_cut_and_holds_no_nulls() -> None:
    assert from_values([[None, *range(40)]]).at(0) == tuple(str(number) for number in range(31))
