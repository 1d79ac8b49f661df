"""How a number is written with so many digits, wherever it is printed: halves go away from zero, as people round.

A share such as 0.7125 is 71.25 % to a reader, whatever its nearest binary number is, so what is rounded is the number
as it reads with `SIGNIFICANT` digits. `f"{x:.1f}"` would print 71.2 here and 71.3 for its neighbour.
"""

from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

SIGNIFICANT = 12
"""Digits of a binary number that can be trusted after some arithmetic."""


def fixed(value: float, digits: int = 1, *, signed: bool = False) -> str:
    """The number with so many decimals and its thousands set apart; 0 carries no minus."""
    try:
        rounded = Decimal(f"{value:.{SIGNIFICANT}g}").quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    except (InvalidOperation, OverflowError):  # nan, infinity, or more digits than a decimal holds
        rounded = Decimal(0) if value == 0 else Decimal(str(value))
    if rounded.is_nan() or rounded.is_infinite():
        return f"{value:+f}" if signed else f"{value:f}"
    return f"{abs(rounded) if rounded == 0 else rounded:{'+' if signed else ''},.{digits}f}"


def percent(share: float, digits: int = 1, *, signed: bool = False) -> str:
    """0.42 as `42.0 %`."""
    return f"{fixed(100.0 * share, digits, signed=signed)} %"
