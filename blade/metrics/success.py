"""When a rollout counts as a success: a stated rule, or what the rewards themselves say.

A rule is one comparison, `reward >= 1.0` or `verdict == "pass"`. Numbers are compared with a tolerance of
1e-9, because a verifier that averages ten ones may return 0.9999999999999998.
"""

import re
from collections.abc import Sequence
from typing import Final, Literal

import msgspec
import numpy as np

from blade.errors import UsageError
from blade.metrics.values import Bools, Floats

TOLERANCE: Final = 1e-9

Operator = Literal[">=", ">", "<=", "<", "==", "!="]
_RULE: Final = re.compile(
    r"\s*(?P<field>[A-Za-z_][\w\-]*(?:\.[\w\-]+)*)\s*(?P<operator>>=|<=|==|!=|>|<)\s*(?P<value>\S.*?)\s*"
)


class SuccessRule(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison that a successful rollout satisfies."""

    field: str
    """Row field that is compared; dots reach into nested fields."""
    operator: Operator
    """How it is compared."""
    value: float | bool | str
    """What it is compared with."""

    @property
    def reads_reward(self) -> bool:
        """Whether it compares the score, whatever field that is in; words are looked for in a field of that name."""
        return self.field == "reward" and not isinstance(self.value, str)

    def __str__(self) -> str:
        value = {True: "true", False: "false"}[self.value] if isinstance(self.value, bool) else self.value
        shown = f'"{value}"' if isinstance(self.value, str) else value
        return f"{self.field} {self.operator} {shown}"

    def apply(self, values: Sequence[object] | Floats) -> Floats:
        """Per row: 1.0 where the rule holds, 0.0 where it fails, nan where the field is unknown."""
        if isinstance(self.value, str):
            return self._apply_to_text(values)
        numbers = np.array([_number(value) for value in values]) if not isinstance(values, np.ndarray) else values
        return np.where(np.isnan(numbers), np.nan, _holds(numbers.astype(np.float64), self.operator, float(self.value)))

    def _apply_to_text(self, values: Sequence[object] | Floats) -> Floats:
        wanted = 1.0 if self.operator == "==" else 0.0
        return np.array(
            [(wanted if v == self.value else 1.0 - wanted) if isinstance(v, str) else np.nan for v in values]
        )


class Success(msgspec.Struct, frozen=True, kw_only=True):
    """How success was decided for a run."""

    kind: Literal["binary", "rule", "continuous", "unscored"]
    """Rewards are all 0 or 1; a rule was stated; rewards are graded without a rule; nothing is scored."""
    rule: str | None
    """The rule in force; None when rollouts have no known success."""
    source: str
    """Where the rule came from."""
    suggestion: str | None = None
    """For graded rewards: a rule on the scale that was seen, to begin with."""


def parse_success_rule(text: str) -> SuccessRule:
    """Reads a rule such as `reward >= 1.0`.

    Raises:
        UsageError: the text is not FIELD OPERATOR VALUE, or orders something that is not a number.
    """
    match = _RULE.fullmatch(text)
    if match is None:
        raise _malformed(text, "FIELD OPERATOR VALUE with one of >= > <= < == !=")
    value = _parse_value(match["value"])
    if value is None:
        raise _malformed(text, "a number, true, false or a word after the operator")
    if match["operator"] not in ("==", "!=") and (isinstance(value, bool) or not isinstance(value, float)):
        raise _malformed(text, f"a number after {match['operator']}")
    return SuccessRule(field=match["field"], operator=match["operator"], value=value)  # type: ignore[arg-type]


def infer_success(rewards: Floats) -> Success:
    """Decides from rewards alone: success is reward 1 when every known reward is 0 or 1."""
    known = rewards[~np.isnan(rewards)]
    if known.size == 0:
        return Success(kind="unscored", rule=None, source="no rollout has a reward")
    if not is_binary(known).all():
        source = "rewards other than 0 and 1, and no success rule given"
        return Success(kind="continuous", rule=None, source=source, suggestion=suggested(known))
    return Success(kind="binary", rule=str(BINARY_RULE), source="every reward is 0 or 1")


def suggested(rewards: Floats) -> str:
    """A rule in the middle of the scale that rewards seem to be on, which is 0 to 1 if all are within it."""
    low, high = float(rewards.min()), float(rewards.max())
    return "reward >= 0.5" if low >= 0 and high <= 1 else f"reward > {low / 2 + high / 2:.2g}"


def is_binary(values: Floats) -> Bools:
    """Whether each value is 0 or 1 within the tolerance."""
    return (np.abs(values) <= TOLERANCE) | (np.abs(values - 1.0) <= TOLERANCE)


def _holds(numbers: Floats, operator: Operator, value: float) -> Bools:
    gap = numbers - value
    # inf - inf is nan, yet infinity equals itself.
    gap = np.where(numbers == value, 0.0, gap)
    match operator:
        case ">=":
            return gap >= -TOLERANCE
        case ">":
            return gap > TOLERANCE
        case "<=":
            return gap <= TOLERANCE
        case "<":
            return gap < -TOLERANCE
        case "==":
            return np.abs(gap) <= TOLERANCE
        case "!=":
            return np.abs(gap) > TOLERANCE


def _number(value: object) -> float:
    try:
        return float(value) if isinstance(value, bool | int | float) else float("nan")
    except OverflowError:  # a whole number of hundreds of digits
        return float("nan")


def _parse_value(text: str) -> float | bool | str | None:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if text[0] in "\"'":
        return text[1:-1] if len(text) >= 2 and text[-1] == text[0] else None
    try:
        number = float(text)
    except ValueError:
        return text if re.fullmatch(r"[\w.\-/]+", text) else None
    return number if np.isfinite(number) else None


def _malformed(text: str, expected: str) -> UsageError:
    return UsageError(f"success rule {text!r} is malformed: expected {expected}, for example 'reward >= 1.0'")


BINARY_RULE: Final = SuccessRule(field="reward", operator=">=", value=1.0)
