"""Arithmetic that a sentence writes out: products, sums behind an equals sign or `in total`, what remains, fractions of
a number and relative changes. Words that say how the numbers belong together are required; without them nothing is
judged. Standard library only.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from blade.audit.claims import NUMERIC, Claim
from blade.audit.factors import is_fair, said_ratio
from blade.audit.outcome import Check, decimals, number_text
from blade.audit.restated import SUPPOSED

TIMES = re.compile(r"\s+(?:[A-Za-z-]+\s+){0,2}(?:x|×|\*|times)\s+")
PRODUCT_BEFORE = re.compile(r"\s+(?:[A-Za-z-]+\s+){0,3}[(=]\s*")
EQUALS = re.compile(r"\s*=\s*")
LISTED = re.compile(r"(?=[^=*/×]{1,40}\Z).*(?:,|\band\b|\+).*")
IN_TOTAL = re.compile(r"\s+(?:[A-Za-z-]+\s+){0,2}(?:in total|altogether|in all)\s*[,:(]")
SHARED_OUT = re.compile(r"\s+(?:for|from|by|on|in|at)\s+[^,;]+?\s*(?:,(?:\s*and)?|\s+and|[.)]?\s*$)")
REST = re.compile(r"\b(?:the|all)\s+(?:remaining|other|rest\b[^\d]*)\s*$|\bremaining\s+$", re.IGNORECASE)
RELATIVE = re.compile(
    r"[^.;]{0,30}\b(?:reduction|drop|decrease|fall|decline|increase|rise|growth|gain|improvement|cut)\s+of\s+$",
    re.IGNORECASE,
)
OF_NUMBER = re.compile(r"\s+of\s+(?:the\s+|all\s+|these\s+)*$")
OPENED = re.compile(r"[^()]*\(\s*$")


def check_written(claims: Sequence[Claim]) -> Iterator[Check]:
    """Everything that the numbers of one sentence are said to make."""
    numbers = sorted((claim for claim in claims if claim.kind in NUMERIC), key=lambda claim: claim.start)
    if len(numbers) < 2 or numbers[0].table is not None or SUPPOSED.search(numbers[0].words):
        return
    yield from check_products(numbers)
    yield from check_equation(numbers)
    yield from check_total(numbers)
    yield from check_rest(numbers)
    yield from (check for left, right in pairwise(numbers) for check in check_relative(left, right))
    yield from (check for claim in claims if claim.kind == "factor" for check in check_fraction_of(claim, numbers))


def between(left: Claim, right: Claim) -> str:
    return left.words[left.end : right.start]


def is_count(claim: Claim) -> bool:
    """Whether a claim is one plain number, neither rounded nor a word."""
    figure = claim.figures[0]
    return claim.kind == "figure" and not (figure.unit or figure.hedge or figure.word or figure.signed)


def made(claim: Claim, true: float, why: str) -> Check:
    """A number that others make; it holds as far as it is rounded."""
    figure = claim.figures[0]
    holds = abs(figure.value - true) <= figure.half * (not figure.is_whole) + 1e-9
    return Check(claim=claim, holds=holds, true=number_text(true, figure.unit, decimals(figure.half)), why=why)


def check_products(numbers: Sequence[Claim]) -> Iterator[Check]:
    """`240 episodes (60 tasks x 4 seeds)`, `60 x 4 = 240`."""
    for at, (left, right) in enumerate(pairwise(numbers)):
        if not (is_factor(left) and is_count(right) and is_times(left, right)):
            continue
        why = f"{left.said.rstrip('x× ')} times {right.said} is {left.values[0] * right.values[0]:,.0f}"
        before, behind = numbers[at - 1] if at else None, numbers[at + 2] if at + 2 < len(numbers) else None
        if before is not None and is_count(before) and PRODUCT_BEFORE.fullmatch(between(before, left)):
            yield made(before, left.values[0] * right.values[0], why)
        elif behind is not None and is_count(behind) and re.fullmatch(r"[^\d,;.]{0,20}=\s*", between(right, behind)):
            yield made(behind, left.values[0] * right.values[0], why)


def is_factor(claim: Claim) -> bool:
    return is_count(claim) or (claim.kind == "figure" and claim.unit == "x" and claim.said.endswith(("x", "×")))


def is_times(left: Claim, right: Claim) -> bool:
    words = between(left, right)
    return words.strip() == "" if left.unit == "x" else TIMES.fullmatch(words) is not None


def check_equation(numbers: Sequence[Claim]) -> Iterator[Check]:
    """`12, 9, 7 and 4 = 32`: three or more counts and what they are said to make."""
    for at, claim in enumerate(numbers[3:], start=3):
        parts = numbers[:at]
        is_list = all(LISTED.fullmatch(between(*pair)) for pair in pairwise(parts)) and all(map(is_count, parts))
        if is_list and is_count(claim) and EQUALS.fullmatch(between(parts[-1], claim)):
            added = sum(part.values[0] for part in parts)
            yield made(claim, added, f"{' + '.join(part.said for part in parts)} is {added:,g}")


def check_total(numbers: Sequence[Claim]) -> Iterator[Check]:
    """`12.4 in total, 4.1 for A, 3.3 for B and 5.0 for C`: the parts make up the total."""
    total, *parts = numbers
    ends = [*(part.start for part in parts[1:]), len(total.words)]
    is_shared_out = all(
        is_count(part) and SHARED_OUT.fullmatch(part.words[part.end : end].rstrip("$€£ "))
        for part, end in zip(parts, ends, strict=True)
    )
    if len(parts) >= 2 and is_count(total) and IN_TOTAL.match(total.words, total.end) and is_shared_out:
        added = sum(part.values[0] for part in parts)
        slack = sum(0.0 if part.figures[0].is_whole else part.figures[0].half for part in (total, *parts))
        why = f"{' + '.join(part.said for part in parts)} is {added:,g}"
        yield Check(claim=total, holds=abs(added - total.values[0]) <= slack + 1e-9, true=f"{added:,g}", why=why)


def check_rest(numbers: Sequence[Claim]) -> Iterator[Check]:
    """`44 of 90 …, 31 …, the remaining 15`: with what remains, the parts make up the whole."""
    counts = [claim for claim in numbers if claim.unit != "%"]
    first, last = counts[0] if counts else None, counts[-1] if counts else None
    if first is None or last is None or len(counts) < 2 or first.kind != "fraction":
        return
    if all(map(is_count, counts[1:])) and REST.search(last.words[: last.start]):
        part, whole = first.values
        left = whole - part - sum(claim.values[0] for claim in counts[1:-1])
        yield made(last, left, f"what remains of {whole:,.0f} is {left:,.0f}")


def check_relative(left: Claim, right: Claim) -> Iterator[Check]:
    """`from 32 to 18, a reduction of 44 %`: the change in percent of what was before."""
    comes_from = re.search(r"\bfrom\s+$", left.words[: left.start], re.IGNORECASE)
    if left.kind not in ("interval", "change") or (left.kind == "interval" and not comes_from):
        return
    before, after = left.values
    if left.unit == "%" or right.unit != "%" or not before or not RELATIVE.fullmatch(between(left, right)):
        return
    true, figure = 100 * abs(after - before) / before, right.figures[0]
    shown = number_text(true, "%", decimals(figure.half))
    holds = abs(abs(figure.value) - true) <= figure.half + (1.0 if figure.hedge else 0.0) + 1e-9
    yield Check(claim=right, holds=holds, true=shown, why=f"{left.said} is a change of {shown}")


def check_fraction_of(claim: Claim, numbers: Sequence[Claim]) -> Iterator[Check]:
    """`two thirds of the 120 answers (80)`: the number in brackets is that part of the other."""
    ratio, hedge = said_ratio(claim)
    behind = [number for number in numbers if number.start >= claim.end]
    if ratio is None or ratio >= 1 or len(behind) < 2 or not all(map(is_count, behind[:2])):
        return
    whole, part = behind[:2]
    is_part = OPENED.fullmatch(between(whole, part)) and part.words[part.end :].lstrip().startswith(")")
    if is_part and whole.values[0] and OF_NUMBER.fullmatch(claim.words[claim.end : whole.start]):
        found = part.values[0] / whole.values[0]
        why = f"{part.said} of {whole.said} is {number_text(found, 'times', 2)}"
        yield Check(claim=claim, holds=is_fair(ratio, hedge, found, exact=False, half=0.0), true=why, why=why)
