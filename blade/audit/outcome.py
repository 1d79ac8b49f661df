"""What became of a claim: it holds, it does not, or nobody can tell. Standard library only."""

from dataclasses import dataclass

from blade.audit.claims import Claim


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One claim held against something."""

    claim: Claim
    """What was said."""
    holds: bool | None
    """Whether it is so; `None` when that cannot be told."""
    true: str = ""
    """What is true instead, or what the claim agrees with."""
    why: str = ""
    """What it was held against, or why it cannot be told."""


def number_text(value: float, unit: str = "", digits: int = 1) -> str:
    """A number as a report would write it: whole numbers whole, others with their digits."""
    shown = f"{value:,.0f}" if abs(value - round(value)) < 1e-9 and not unit else f"{value:,.{digits}f}"
    return f"{shown} {unit}".rstrip()


def decimals(half: float) -> int:
    """Digits behind the point that a figure of this rounding is written with."""
    digits = 0
    while half < 0.4 and digits < 6:
        half, digits = half * 10, digits + 1
    return digits
