"""Words that compare: `twice`, `about half`, `2.3x`, held against the two numbers they stand with.

Standard library only.
"""

import re
from collections.abc import Iterator, Sequence

from blade.audit.claims import NUMERIC, Claim
from blade.audit.figures import HEDGE, HEDGES
from blade.audit.outcome import Check, number_text
from blade.audit.restated import SUPPOSED

RATIOS = {
    **{"twice": 2.0, "double": 2.0, "doubled": 2.0, "doubles": 2.0, "doubling": 2.0, "thrice": 3.0},
    **{"triple": 3.0, "tripled": 3.0, "triples": 3.0, "half": 0.5, "halve": 0.5, "halved": 0.5, "halves": 0.5},
    **{"third": 1 / 3, "thirds": 2 / 3, "quarter": 0.25, "quarters": 0.75, "fifth": 0.2, "fifths": 0.4},
    **{"two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0, "six": 6.0, "seven": 7.0, "eight": 8.0, "nine": 9.0},
    **{"ten": 10.0, "an order of magnitude": 10.0},
}
SHARE_IN_BRACKETS = re.compile(r"\([^()]*\)$")
FAIR = 0.125
"""How far from the ratio it names a word may be, as a share of it."""


def check_factors(claims: Sequence[Claim]) -> Iterator[Check]:
    """Every comparing word of a sentence that stands with exactly the numbers it compares."""
    numbers = [claim for claim in claims if claim.kind in NUMERIC]
    for claim in claims:
        ratio, hedge = said_ratio(claim)
        if ratio is None or SUPPOSED.search(claim.words):
            continue
        found = compared(claim, ratio, [number for number in numbers if number is not claim])
        if found is not None:
            holds = is_fair(ratio, hedge, found, exact=claim.kind == "figure", half=half_of(claim))
            true = number_text(found, "times", 2)
            yield Check(claim=claim, holds=holds, true=true, why=f"the numbers of this sentence make it {true}")


def half_of(claim: Claim) -> float:
    return claim.figures[0].half if claim.figures else 0.0


def said_ratio(claim: Claim) -> tuple[float | None, str]:
    """The ratio a word or a figure such as `2.3x` names, and how it is hedged."""
    if claim.kind == "figure" and claim.unit == "x" and not re.match(r"\s*\d", claim.words[claim.end :]):
        return claim.values[0], claim.figures[0].hedge
    if claim.kind != "factor":
        return None, ""
    words = re.split(r"[ -]", claim.text)
    ratio = RATIOS.get(claim.text) or RATIOS.get(words[-1]) or RATIOS.get(words[0])
    return ratio, hedge_before(claim)


def hedge_before(claim: Claim) -> str:
    before = claim.words[max(0, claim.start - 24) : claim.start]
    for found in HEDGE.finditer(before):
        if re.fullmatch(r"\s*(?:a\s+|the\s+)?", before[found.end() :]):
            return next(HEDGES[int(name[1:])][0] for name, words in found.groupdict().items() if words)
    return ""


def compared(claim: Claim, ratio: float, numbers: Sequence[Claim]) -> float | None:
    """The ratio of the numbers that a word compares; `None` unless there is no doubt which they are."""
    numbers = [number for number in numbers if not number.figures[0].word]
    near = [number for number in numbers if 0 <= number.start - claim.end <= 60]
    if ratio < 1 and near and near[0].kind == "fraction" and "(" in claim.words[claim.end : near[0].start]:
        return near[0].values[0] / near[0].values[1] if near[0].values[1] else None
    if ratio < 1 and near and near[0].unit == "%" and SHARE_IN_BRACKETS.search(claim.words[: near[0].end + 1]):
        return near[0].values[0] / 100 if near[0].kind == "figure" else None
    pairs = [number for number in numbers if number.kind == "change" or is_from_to(number)]
    singles = [number for number in numbers if number.kind == "figure" and number.unit != "x"]
    if len(pairs) == 1:
        return quotient(pairs[0].values[0], pairs[0].values[1], ratio)
    if len(singles) == len(numbers) == 2 and len({number.unit for number in singles}) == 1:
        return quotient(singles[0].values[0], singles[1].values[0], ratio)
    return None


def is_from_to(claim: Claim) -> bool:
    return claim.kind == "interval" and re.search(r"\bfrom\s+$", claim.words[: claim.start], re.IGNORECASE) is not None


def quotient(first: float, second: float, ratio: float) -> float | None:
    """One number over the other, the way round that the ratio means."""
    low, high = sorted((abs(first), abs(second)))
    if not low:
        return None
    return high / low if ratio >= 1 else low / high


def is_fair(ratio: float, hedge: str, found: float, *, exact: bool, half: float) -> bool:
    """Whether a word is a fair description of a ratio."""
    slack = max(half, (0.05 if exact else FAIR) * ratio)
    if hedge in ("more than", "at least"):
        return found >= ratio - half
    if hedge in ("less than", "at most"):
        return found <= ratio + half
    if hedge == "nearly":
        return ratio * 0.8 <= found <= ratio * 1.005
    return abs(found - ratio) <= (1.5 * slack if hedge == "about" else slack)
