import numpy as np
import pytest

from blade.errors import UsageError
from blade.metrics import Success, SuccessRule, infer_success, parse_success_rule


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("reward >= 1.0", SuccessRule(field="reward", operator=">=", value=1.0)),
        ("reward>0", SuccessRule(field="reward", operator=">", value=0.0)),
        ("verifier.is_correct == true", SuccessRule(field="verifier.is_correct", operator="==", value=True)),
        ('verdict == "A > B"', SuccessRule(field="verdict", operator="==", value="A > B")),
        ("label != unsafe", SuccessRule(field="label", operator="!=", value="unsafe")),
    ],
)
def test_a_rule_is_field_operator_value(text: str, rule: SuccessRule) -> None:
    assert parse_success_rule(text) == rule
    assert parse_success_rule(str(rule)) == rule


@pytest.mark.parametrize(
    "text",
    [
        "",
        "reward",
        "reward >=",
        ">= 1",
        "reward => 1",
        "reward = 1",
        "reward >= high",
        "a b == 1",
        'x == "open',
        "r >= nan",
    ],
)
def test_a_malformed_rule_says_what_was_seen_and_gives_an_example(text: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_success_rule(text)
    assert repr(text) in str(error.value)
    assert "for example 'reward >= 1.0'" in str(error.value)


@pytest.mark.parametrize(
    ("rule", "values", "expected"),
    [
        ("reward >= 1", [0.9999999999999998, 0.99, 1.0, np.nan], [1, 0, 1, np.nan]),
        ("reward > 0", [1e-12, 0.1, -1.0], [0, 1, 0]),
        ("reward == 0.3", [0.1 + 0.2, 0.31], [1, 0]),
    ],
)
def test_numbers_are_compared_within_a_billionth(rule: str, values: list[float], expected: list[float]) -> None:
    np.testing.assert_array_equal(parse_success_rule(rule).apply(np.array(values)), expected)


def test_values_of_another_type_are_unknown_not_failed() -> None:
    np.testing.assert_array_equal(
        parse_success_rule("ok == true").apply([True, False, None, "x"]), [1, 0, np.nan, np.nan]
    )
    np.testing.assert_array_equal(parse_success_rule("v != bad").apply(["bad", "good", None]), [0, 1, np.nan])
    np.testing.assert_array_equal(parse_success_rule("v > 1").apply([10**400, 2]), [np.nan, 1])


@pytest.mark.parametrize(
    ("rewards", "kind", "rule"),
    [
        ([0.0, 1.0, 0.9999999999999998, np.nan], "binary", "reward >= 1.0"),
        ([0.0, 0.5, 1.0], "continuous", None),
        ([np.nan], "unscored", None),
        ([], "unscored", None),
    ],
)
def test_success_is_inferred_only_from_rewards_of_0_and_1(rewards: list[float], kind: str, rule: str | None) -> None:
    found = infer_success(np.array(rewards))
    assert isinstance(found, Success)
    assert (found.kind, found.rule) == (kind, rule)
