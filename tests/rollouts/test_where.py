from pathlib import Path

import pytest
from rollout_rows import keys, read_rows, rollout

from blade.errors import UsageError
from blade.rollouts.where import fields_of

ROWS = [
    rollout(0, 0, system="a", level=1, info={"kind": "x"}),
    rollout(1, 0, system="b", level=2, info={"kind": "y"}, hard=True),
    rollout(2, 0, level=3),
]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        pytest.param('system == "a"', ["0:0"], id="equal"),
        pytest.param('system != "a"', ["1:0", "2:0"], id="unknown_is_not_equal"),
        pytest.param("level >= 2", ["1:0", "2:0"], id="number"),
        pytest.param('info.kind == "y" or level == 3', ["1:0", "2:0"], id="nested_and_or"),
        pytest.param('not (system in ["a", "b"])', ["2:0"], id="not_in_a_list"),
        pytest.param("hard", ["1:0"], id="flag"),
        pytest.param("hard == true", ["1:0"], id="true"),
        pytest.param("system == none", ["2:0"], id="unknown"),
        pytest.param('field("system") == "b"', ["1:0"], id="any_name"),
        pytest.param("system < 3 or level == 1", ["0:0"], id="a_word_is_not_less_than_a_number"),
        pytest.param('model == "model-a" and level < 2', ["0:0"], id="model"),
        pytest.param('file == "run.jsonl" and level == 3', ["2:0"], id="file"),
    ],
)
def test_only_rows_that_satisfy_where_are_read(tmp_path: Path, where: str, expected: list[str]) -> None:
    assert keys(read_rows(tmp_path, ROWS, where=where)) == expected


@pytest.mark.parametrize(
    ("where", "message"),
    [
        pytest.param("systm == 1", "no row has a field 'systm'; did you mean system", id="unknown_field"),
        pytest.param("system ==", "is malformed", id="cut"),
        pytest.param("system == a", "'a' is not a value; write texts in quotes", id="no_quotes"),
        pytest.param('__import__("os").system("x") == 1', "expected a field before '1'", id="call"),
        pytest.param("level + 1", "'level \\+ 1' is not allowed", id="arithmetic"),
        pytest.param('system == "z"', "no row satisfies", id="nothing_left"),
    ],
)
def test_a_where_that_cannot_be_is_one_sentence(tmp_path: Path, where: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_rows(tmp_path, ROWS, where=where)


def test_where_says_how_many_rows_are_left(tmp_path: Path) -> None:
    assert read_rows(tmp_path, ROWS, where="level > 1").notes == ["2 of 3 rows satisfy --where level > 1"]


def test_the_fields_of_an_expression_are_read_whatever_they_look_like() -> None:
    assert sorted(fields_of('a.b == 1 and field("c d") != true or e')) == ["a.b", "c d", "e"]
