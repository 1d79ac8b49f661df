"""The arithmetic of single sentences: parts and wholes, shares, changes, intervals and counted lists.

Only what a sentence itself settles is judged; anything that could mean something else is left alone. Standard library
only.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from blade.audit.claims import NUMERIC, Claim
from blade.audit.figures import Figure, agrees
from blade.audit.outcome import Check, decimals, number_text

COUNTED = r"(?:rollouts?|tasks?|runs?|attempts?|samples?|failures?|cases?|problems?|rows?|items?|trials?|questions?)"
SHARE_BEHIND = re.compile(
    r"[^().;:]{0,60}\(\s*(?:or|i\.e\.,?|=|about|roughly|approximately|≈|~)?\s*$|\s*(?:,|=|or)\s*(?:or\s+)?$"
)
COUNT_BEHIND = re.compile(r"\s*(?:of\s+(?:the\s+|all\s+)?\w+\s*)?\(\s*(?:i\.e\.,?\s*|=\s*)?$")
CLOSED = re.compile(rf"\s*(?:scored\s+|failing\s+|failed\s+|all\s+)?{COUNTED}?\s*[),;]", re.IGNORECASE)
WHOLE = re.compile(r"\b(?:of|among|out\s+of)\s+(?:the\s+|all\s+|these\s+)*$", re.IGNORECASE)
THAT_IS = re.compile(r"\s*[,(]?\s*(?:i\.e\.|that is|which is),?\s*")
BUCKET = re.compile(r"\b(always|sometimes|never|no\s+(?:known\s+)?outcome|missing|unscored)\b", re.IGNORECASE)
SPLIT = re.compile(
    r"\b(?:fall|falls|fell|split|splits|divide|divides|break|breaks|consist|comprise|made up|composed)\b"
)
BETWEEN_CHANGE = re.compile(r"[^.;]{0,40}$")
INTERVAL_WORDS = re.compile(r"[(\[]|\b(?:interval|CI|confidence|range)\b", re.IGNORECASE)
LIST = re.compile(
    r"(?P<words>(?:\s+[A-Za-z'’-]+){1,12}?)\s*(?P<open>[:(])\s*"
    r"(?P<ids>`[^`]+`(?:\s*,\s*`[^`]+`)*(?:,?\s+and\s+`[^`]+`)?)(?:,?\s+and\s+(?P<more>[\d,]+)\s+more)?(?=\s*(?:[).;]|$))"
)
FAR_LIST = re.compile(r"[^:.;`]{3,240}:\s*(?P<ids>`[^`]+`(?:\s*,\s*`[^`]+`)*(?:,?\s+and\s+`[^`]+`)?)")


def check_sentence(claims: Sequence[Claim]) -> Iterator[Check]:
    """What the numbers of one sentence or cell say about each other."""
    numbers = sorted((claim for claim in claims if claim.kind in NUMERIC), key=lambda claim: claim.start)
    yield from (check for claim in numbers if claim.kind == "fraction" for check in check_fraction(claim))
    for left, right in pairwise(numbers):
        yield from check_neighbours(left, right)
    yield from check_parts(numbers)
    yield from check_split(numbers)
    yield from check_rise(numbers)
    yield from check_shares_of_whole(numbers)
    yield from (check for claim in numbers for check in check_list(claim))


def check_fraction(claim: Claim) -> Iterator[Check]:
    """A part cannot be more than its whole."""
    part, whole = claim.values
    if part > whole and claim.said != "24/7":
        yield Check(
            claim=claim, holds=False, true=f"at most {whole:,.0f}", why=f"{part:,.0f} is more than {whole:,.0f}"
        )


def check_neighbours(left: Claim, right: Claim) -> Iterator[Check]:
    """Two numbers next to each other: a fraction and its share, a change and its size, a value and its interval."""
    between = left.words[left.end : right.start]
    behind = right.words[right.end :]
    if left.kind == "fraction" and right.kind == "figure" and right.unit == "%":
        if SHARE_BEHIND.fullmatch(between) and re.match(r"\s*[),;.]|\s*$", behind):
            yield share_check(right, left)
    elif left.kind == "figure" and left.unit == "%" and right.kind == "fraction":
        if COUNT_BEHIND.fullmatch(between) and CLOSED.match(behind):
            yield share_check(left, right)
    elif is_change(left) and right.kind == "figure" and BETWEEN_CHANGE.fullmatch(between):
        yield from change_check(left, right)
    elif left.kind == "figure" and right.kind == "interval" and len(between) <= 40 and INTERVAL_WORDS.search(between):
        yield from interval_check(left, right)


def share_check(share: Claim, fraction: Claim) -> Check:
    figure, (part, whole) = share.figures[0], fraction.values
    true = 100 * part / whole if whole else 0.0
    why = f"{fraction.said} is {number_text(true, '%', decimals(figure.half))}"
    return Check(claim=share, holds=agrees(figure, true), true=number_text(true, "%", decimals(figure.half)), why=why)


def is_change(claim: Claim) -> bool:
    """Whether a pair says before and after: `62 % → 65 %`, `from 62 % to 65 %`."""
    comes_from = re.search(r"\bfrom\s+$", claim.words[: claim.start], re.IGNORECASE)
    return claim.kind == "change" or (claim.kind == "interval" and comes_from is not None)


def change_check(change: Claim, size: Claim) -> Iterator[Check]:
    """The size of a change, in points or relative to what was before."""
    (before, after), said = change.figures, size.figures[0]
    if before.unit != after.unit or said.unit not in ("pp", "%", before.unit):
        return
    by = after.value - before.value
    slack = before.half + after.half + said.half + 1e-9
    sizes = [by] if said.unit == "pp" or not before.value else [by, 100 * by / before.value]
    if said.unit != "pp" and not said.signed:
        return  # a third number of the same unit need not be the difference
    holds = any(
        abs(said.value - true) <= slack or (not said.signed and abs(said.value - abs(true)) <= slack) for true in sizes
    )
    true = number_text(by, "pp" if said.unit in ("pp", "%") else said.unit, decimals(said.half))
    yield Check(claim=size, holds=holds, true=true, why=f"{change.said} is a change of {true}")


def interval_check(value: Claim, interval: Claim) -> Iterator[Check]:
    """An interval holds the value before it."""
    point, (low, high) = value.figures[0], interval.figures
    is_other = point.unit != high.unit or (point.is_whole and not (low.is_whole and high.is_whole)) or low.word
    if is_other:
        return  # `0.71 over 120 documents (0.69 to 0.73)`, `16 hard tasks (three to five steps)`
    slack = point.half + max(low.half, high.half) + 1e-9
    holds = low.value <= high.value and low.value - slack <= point.value <= high.value + slack
    why = f"{interval.said} does not hold {value.said}"
    yield Check(claim=interval, holds=holds, true=f"an interval around {value.said}", why=why)


def check_parts(numbers: Sequence[Claim]) -> Iterator[Check]:
    """`Of 36 tasks, 12 always, 18 sometimes and 6 never`: the parts make up the whole."""
    whole = whole_of(numbers)
    parts = {word: figure.value for word, figure in bucket_figures([one for one in numbers if one is not whole])}
    if whole is None or not {"always", "sometimes", "never"} <= parts.keys():
        return
    added = sum(parts.values())
    why = f"{' + '.join(f'{value:,.0f}' for value in parts.values())} is {added:,.0f}"
    yield Check(claim=whole, holds=added == whole.values[0], true=f"{added:,.0f}", why=why)


def check_split(numbers: Sequence[Claim]) -> Iterator[Check]:
    """`The 41 errors fall into 26 wrong orders and 15 missing steps`: the parts make up the whole."""
    counts = [claim for claim in numbers if claim.kind == "figure" and claim.figures[0].is_whole]
    if len(counts) < 3 or len(counts) != len(numbers) or any(claim.figures[0].hedge for claim in counts):
        return
    between = counts[0].words[counts[0].end : counts[1].start]
    if not SPLIT.search(between):
        return
    added = sum(claim.values[0] for claim in counts[1:])
    why = f"{' + '.join(claim.said for claim in counts[1:])} is {added:,.0f}"
    yield Check(claim=counts[0], holds=added == counts[0].values[0], true=f"{added:,.0f}", why=why)


def check_rise(numbers: Sequence[Claim]) -> Iterator[Check]:
    """`rises from 57.5 % to a pass@4 of 80.0 %, a gain of 22.5 pp`: the points are the difference."""
    for before, after, size in zip(numbers, numbers[1:], numbers[2:], strict=False):
        kinds = [claim.kind for claim in (before, after, size)]
        is_rise = re.search(r"\bfrom\s+$", before.words[: before.start]) and re.search(
            r"\bto\b", before.words[before.end : after.start]
        )
        if kinds == ["figure"] * 3 and before.unit == after.unit == "%" and size.unit == "pp" and is_rise:
            by, said = after.values[0] - before.values[0], size.figures[0]
            slack = before.figures[0].half + after.figures[0].half + said.half + 1e-9
            holds = abs(abs(said.value) - abs(by)) <= slack and (not said.signed or said.value * by >= 0)
            true = number_text(by, "pp", decimals(said.half))
            yield Check(claim=size, holds=holds, true=true, why=f"{before.said} to {after.said} is a change of {true}")


def whole_of(numbers: Sequence[Claim]) -> Claim | None:
    """The count that a sentence divides: `of 36 tasks`."""
    for claim in numbers:
        if claim.kind == "figure" and claim.figures[0].is_whole and WHOLE.search(claim.words[: claim.start]):
            return claim
    return None


def bucket_figures(numbers: Sequence[Claim]) -> Iterator[tuple[str, Figure]]:
    """Counts with the bucket that is named behind them, before the next number."""
    for place, claim in enumerate(numbers):
        until = numbers[place + 1].start if place + 1 < len(numbers) else len(claim.words)
        found = BUCKET.search(claim.words[claim.end : min(until, claim.end + 40)])
        if claim.kind == "figure" and claim.figures[0].is_whole and found:
            yield " ".join(found[1].lower().split()), claim.figures[0]


def check_shares_of_whole(numbers: Sequence[Claim]) -> Iterator[Check]:
    """`Of 69 failures, 10 (14.5 %) …`: each share follows from its count and the whole."""
    whole = whole_of(numbers)
    for count, share in pairwise(numbers):
        between, behind = count.words[count.end : share.start], share.words[share.end :]
        is_pair = count.kind == share.kind == "figure" and count.figures[0].is_whole and share.unit == "%"
        is_share = (between.strip() == "(" and behind.startswith(")")) or THAT_IS.fullmatch(between)
        if whole is not None and is_pair and is_share and count is not whole:
            true = 100 * count.values[0] / whole.values[0] if whole.values[0] else 0.0
            shown = number_text(true, "%", decimals(share.figures[0].half))
            why = f"{count.said} of {whole.said} is {shown}"
            yield Check(claim=share, holds=agrees(share.figures[0], true), true=shown, why=why)


def check_list(claim: Claim) -> Iterator[Check]:
    """`3 tasks: a, b, c`, or `6 rollouts (a, b and 4 more)`: what is listed is as many as was said."""
    found = LIST.match(claim.words, claim.end)
    if not claim.figures[0].is_whole or claim.kind not in ("figure", "fraction"):
        return
    if found is None:
        yield from check_far_list(claim)
        return
    listed = len(re.findall(r"`[^`]+`", found["ids"])) + (int(found["more"].replace(",", "")) if found["more"] else 0)
    said = claim.values[0]
    is_example = re.search(r"example|such as|e\.g|like|including", found["words"])
    if found["more"] or listed > said or (found["open"] == ":" and not is_example):
        yield Check(
            claim=claim, holds=listed == said, true=f"{listed:,}", why=f"{listed:,} are listed or counted there"
        )


def check_far_list(claim: Claim) -> Iterator[Check]:
    """A list further behind its count, as in `14 tasks ask for a step (…): a, b, …`: it can confirm, not refute."""
    found = FAR_LIST.match(claim.words, claim.end)
    if found is not None and len(re.findall(r"`[^`]+`", found["ids"])) == claim.values[0] > 1:
        yield Check(claim=claim, holds=True, why="as many are listed behind it")
