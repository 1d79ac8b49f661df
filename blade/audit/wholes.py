"""Counts that other places of a report fix: one kind of whole is one number, and a table's row says how many.

Standard library only.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

from blade.audit.claims import Claim, clause_around
from blade.audit.figures import agrees
from blade.audit.markdown import CODE_OPEN
from blade.audit.outcome import Check, decimals, number_text
from blade.audit.restated import SUPPOSED
from blade.audit.subjects import COUNTING, noun_behind, words_of
from blade.audit.told import Told

NARROWING = re.compile(
    r"\b(?:in|on|for|among|within|under|with|without|during|after|when|where|whose|until|except|outside|per|only|"
    r"excluding|including|by|that|who|which|at)\b",
    re.IGNORECASE,
)
LEAST_LISTED = 3


def check_wholes(told: Told) -> Iterator[Check]:
    """Denominators against each other, and counts of what a table names against the table."""
    yield from check_denominators(told)
    yield from check_named_rows(told)
    yield from check_listed_shares(told)


def check_listed_shares(told: Told) -> Iterator[Check]:
    """`Tool errors (44; 49%)`, `Early stops (31; 34%)`, …: counts of a section and their shares of all of them."""
    listed: dict[tuple[str, ...], list[tuple[Claim, Claim]]] = defaultdict(list)
    for speech in told.speeches:
        numbers = sorted((claim for claim in speech if claim.kind == "figure"), key=lambda claim: claim.start)
        for count, share in pairwise(numbers):
            if count.table is None and count.figures[0].is_whole and not count.unit and is_share_beside(count, share):
                listed[count.section].append((count, share))
    for pairs in (found for found in listed.values() if len(found) >= LEAST_LISTED):
        whole = sum(count.values[0] for count, _ in pairs)
        shares = [100 * count.values[0] / whole if whole else 0.0 for count, _ in pairs]
        holding = [agrees(share.figures[0], true) for (_, share), true in zip(pairs, shares, strict=True)]
        for (count, share), true, holds in zip(pairs, shares, holding, strict=True):
            if 3 * sum(holding) >= 2 * len(pairs):
                text = number_text(true, "%", decimals(share.figures[0].half))
                yield Check(
                    claim=share, holds=holds, true=text, why=f"{count.said} of the {whole:,.0f} listed is {text}"
                )


def is_share_beside(count: Claim, share: Claim) -> bool:
    """Whether both stand alone in brackets: `(44; 49%)`."""
    before, between, behind = count.words[: count.start], count.words[count.end : share.start], share.words[share.end :]
    is_alone = before.rstrip().endswith("(") and behind.lstrip().startswith(")")
    return share.unit == "%" and is_alone and between.strip() == ";"


def check_denominators(told: Told) -> Iterator[Check]:
    """`12 of 66 failures`, `9 of 63 failures`: the odd one out, where several places agree on a whole."""
    wholes: dict[frozenset[str], list[Claim]] = defaultdict(list)
    passages = [told.document.passages[sentence.passage].text for sentence in told.document.sentences()]
    for claim in told.claims:
        words = words_of(noun_behind(claim))
        if claim.kind != "fraction" or claim.table is not None or not words or is_narrowed(told, claim):
            continue
        if CODE_OPEN not in passages[claim.at]:
            wholes[words].append(claim)
    for found in wholes.values():
        (usual, times), *others = Counter(claim.values[1] for claim in found).most_common()
        if times < 2 or any(count > 1 for _, count in others):
            continue
        for claim in found:
            why = f"{times} other places say of {usual:,.0f}{noun_behind(claim).rstrip()}"
            yield Check(claim=claim, holds=claim.values[1] == usual, true=f"of {usual:,.0f}", why=why)


def is_narrowed(told: Told, claim: Claim) -> bool:
    """Whether a clause says where or when, or a sentence names something, or a heading does."""
    first, last = clause_around(claim.words, claim.start, claim.end)
    before = re.sub(r"\b(?:in|by|with|for|of)\s+(?:the\s+|all\s+)?$", "", claim.words[first : claim.start])
    others = f"{before} {claim.words[claim.end + len(noun_behind(claim)) : last]}"
    return bool(NARROWING.search(others) or "`" in claim.words or told.narrowed_by(claim.section))


def check_named_rows(told: Told) -> Iterator[Check]:
    """`41 syntax errors` in prose against a table with a row of that name."""
    named = row_counts(told)
    for claim in told.claims:
        words = words_of(noun_behind(claim)) - COUNTING
        if words not in named or not is_plain_count(claim) or is_narrowed(told, claim):
            continue
        counts = sorted({cell.values[0] for cell in named[words]})
        true = " or ".join(f"{count:,.0f}" for count in counts)
        why = f"the table at line {named[words][0].line} says {true}"
        yield Check(claim=claim, holds=claim.values[0] in counts, true=true, why=why)


def is_plain_count(claim: Claim) -> bool:
    """Whether a claim of a sentence says how many there are, without a hedge or a condition."""
    figure = claim.figures[0] if claim.figures else None
    if figure is None or claim.table is not None or claim.kind not in ("figure", "fraction"):
        return False
    return figure.is_whole and not figure.hedge and not SUPPOSED.search(claim.words)


def row_counts(told: Told) -> dict[frozenset[str], list[Claim]]:
    """By the words of a row's name: every count in rows of that name."""
    found: dict[frozenset[str], list[Claim]] = defaultdict(list)
    for claim in told.claims:
        words = words_of(claim.row or "") - COUNTING
        is_count = claim.kind in ("figure", "fraction") and claim.place > 0 and claim.figures[0].is_whole
        if claim.table is not None and is_count and len(words) >= 2 and "`" not in (claim.row or ""):
            found[words].append(claim)
    return found
