"""Figures in a text: every number that says how much, with its unit, its rounding and how it is hedged.

A number inside a name (`gpt-4o`, `pass@1`, `r-204`), a time, a date, a version or an ordinal says nothing about how
much and is not a figure. Neighbouring figures make a fraction (`3 of 5`), an interval (`49.8 % to 73.4 %`) or a change
(`62 % → 65 %`). Standard library only.
"""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from blade.audit.markdown import CODE_CLOSE, CODE_OPEN, blanked_code

Hedge = Literal["", "about", "at least", "at most", "more than", "less than", "nearly"]
Pairing = Literal["fraction", "interval", "change", "spread"]

ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
TEENS = ("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
TENS = ("ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
WORDS = {
    **{"zero": 0, "a dozen": 12, "two dozen": 24, "three dozen": 36, "a hundred": 100},
    **{
        word: number
        for words, first, step in ((ONES, 1, 1), (TEENS, 11, 1), (TENS, 10, 10))
        for number, word in zip(range(first, first + 9 * step, step), words, strict=True)
    },
    **{f"{ten} {one}": 10 * tens + ones for tens, ten in enumerate(TENS[1:], 2) for ones, one in enumerate(ONES, 1)},
}
"""Whole numbers written out."""
PARTS = {
    **{
        f"{one} {part}": 100.0 / size
        for one in ("a", "one")
        for part, size in zip(("half", "third", "quarter", "fifth", "tenth"), (2, 3, 4, 5, 10), strict=True)
    },
    **{"half": 50.0, "two thirds": 200 / 3, "three quarters": 75.0, "two fifths": 40.0, "three fifths": 60.0},
    **{"four fifths": 80.0, "twice": 2.0, "thrice": 3.0, "½": 50.0, "¼": 25.0, "¾": 75.0, "⅓": 100 / 3, "⅔": 200 / 3},
}
"""Shares in per cent and factors written out; they count where something follows that they are of."""
SCALES = {"k": 1e3, "K": 1e3, "M": 1e6, "bn": 1e9}
UNITS = {
    **dict.fromkeys(("%", "‰", "percent", "per cent"), "%"),
    **dict.fromkeys(
        ("pp", "pps", "p.p.", "percentage points", "percentage point", "points", "pts", "ppt", "ppts"), "pp"
    ),
    **dict.fromkeys(("x", "×", "fold", "-fold"), "x"),
    **dict.fromkeys(("s", "sec", "secs", "seconds", "second"), "s"),
    **dict.fromkeys(("min", "mins", "minutes", "minute"), "min"),
    **dict.fromkeys(("h", "hours", "hour"), "h"),
    **{unit: unit for unit in ("ms", "B", "kB", "MB", "GB", "TB")},
}
UNIT = "|".join(re.escape(unit).replace(r"\ ", r"\s+") for unit in sorted(UNITS, key=len, reverse=True))
SIGNS = str.maketrans({"−": "-", "–": "-", "‑": "-"})

NUMBER = re.compile(
    rf"""
    (?<![\w.@^#§$€£\\{CODE_OPEN}])             # not inside a name or a longer number
    (?<![^\d\s]/)(?<!\d,)                      # nor inside a path
    (?<![A-Za-z_][-‑.:])                        # nor gpt-4, r-204, v.2, task:3
    (?P<sign>(?<![%\w)\]])[+\-−–‑±](?=[\d.]))?
    (?P<digits>\d{{1,3}}(?:[,’'\u00a0\u202f\u2009]\d{{3}})+(?![\d])|\d+)
    (?P<decimals>\.\d+)?
    (?P<exponent>[eE][+-]?\d{{1,3}})?
    (?P<scale>(?:k|K|M|bn)(?![A-Za-z]))?
    (?P<unit>\s?(?:[%‰×]|(?:{UNIT})(?![A-Za-z0-9'’])))?
    (?![\w{CODE_CLOSE}])
    """,
    re.VERBOSE,
)
NO_FIGURES = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?|\b\d{1,2}:\d{2}(?::\d{2})?\b"  # dates and times
    r"|\b[A-Za-z]\w*\.\d[\w.]*-\d+\w*"  # names of models, such as Qwen2.5-7B
    r"|\bv?\d+(?:\.\d+){2,}\b|\b[a-z]+://\S+|\S+@\S+\.\w+"  # versions, addresses
    r"|\b\d+(?:st|nd|rd|th)\b|\b\d+-(?=[A-Za-z]{2,})(?!fold\b)[\w-]+"  # ordinals, compounds such as 3-step
    r"|\b(?:sections?|chapter|figures?|fig|tables?|appendix|steps?|phase|part|version|schema|seed|year|page|blade|"
    r"python|equation|nos?)[.:]?\s\d[\d.,–-]*\b|§\s*\d[\d.]*"
    r"|n/a \(n=0\)|\d+(?:\.\d+)?\s?%[\s-]?(?:-?confidence|intervals?\b|CIs?\b|power\b|bounds?\b|two-sided)",
    re.IGNORECASE,
)
"""Numbers that say nothing about how much, or only how an interval was made."""


def _spelled(words: Collection[str]) -> str:
    return "|".join(sorted((re.sub(r"[ -]", "[ -]", word) for word in words), key=len, reverse=True))


WORD = re.compile(
    rf"\b(?:(?P<part>(?<!first )(?<!second )(?<!other )(?:{_spelled(PARTS)})(?=\s+(?:of|as)\b|[,.;:)]|$)"
    rf"|half(?=\s+(?:the|all|its|their|these|those)\b)|{_spelled([part for part in PARTS if part.endswith('s')])}"
    rf"|one in (?P<of>{_spelled([word for word, number in WORDS.items() if number > 1])}))"
    rf"|once(?=\s+(?:in|out\s+of)\s)|{_spelled(WORDS)})\b",
    re.IGNORECASE,
)
HEDGES: tuple[tuple[Hedge, str], ...] = (
    ("at least", r"at least|no (?:less|fewer) than|not (?:less|fewer) than|a minimum of|>=|≥|upwards of"),
    ("at most", r"at most|no more than|not more than|a maximum of|up to|<=|≤|as (?:much|many) as"),
    ("more than", r"more than|over|above|greater than|exceed(?:s|ing|ed)?|beyond|upward of|>"),
    ("less than", r"less than|fewer than|below|under|smaller than|<"),
    ("nearly", r"nearly|almost|close to|just (?:under|below|short of)|not quite"),
    ("about", r"about|around|roughly|approximately|approx\.?|circa|ca\.|some|an estimated|~|≈|≃|∼"),
)
HEDGE = re.compile("|".join(rf"(?P<h{n}>(?<![\w])(?:{words}))" for n, (_, words) in enumerate(HEDGES)), re.IGNORECASE)
BEHIND_HEDGE = re.compile(r"^\s*(?:a\s+|the\s+)?$")
JOINTS: tuple[tuple[Pairing, re.Pattern[str]], ...] = (
    (
        "fraction",
        re.compile(
            r"\s+(?:times?\s+)?(?:(?:out\s+)?of|in)\s+(?:(?:the|all|its|their|these|those|a\s+total\s+of|which)\s+)*|/"
        ),
    ),
    ("interval", re.compile(r"\s*(?:–|—|‑|-|\.\.|…)\s*|\s+(?:to|through)\s+")),
    ("change", re.compile(r"\s*(?:→|->|⇒|=>)\s*")),
    ("spread", re.compile(r"\s*(?:±|\+/-|\+-)\s*")),
)


class Figure(NamedTuple):
    """A number that says how much."""

    value: float
    """The number as written: 62.2 for `62.2 %`."""
    unit: str
    """`%`, `pp`, `x`, `s`, `min`, `h`, `ms`, `B`, `kB`, `MB`, `GB`, `TB`, or nothing."""
    half: float
    """Half a unit of the last written digit: how far the truth may be away."""
    hedge: Hedge
    """How the number is softened."""
    signed: bool
    """Whether it was written with a sign, as differences are."""
    start: int
    """Where it begins in the text."""
    end: int
    """Where it ends, its unit included."""
    word: bool = False
    """Whether it was written out: `three`."""

    @property
    def is_whole(self) -> bool:
        """Whether it can be a count."""
        return not self.unit and self.value >= 0 and self.value.is_integer() and not self.signed


class Pair(NamedTuple):
    """Two figures that belong together."""

    kind: Pairing
    """What they make."""
    first: Figure
    """The part, the lower end, the value before, or the value."""
    second: Figure
    """The whole, the upper end, the value after, or the spread."""

    @property
    def start(self) -> int:
        return self.first.start

    @property
    def end(self) -> int:
        return self.second.end


@lru_cache(maxsize=20_000)
def find_figures(text: str) -> Sequence[Figure]:
    """The figures of a text, in order; numbers inside code are none."""
    kept = hidden(text)
    numbers = [_figure(found, kept) for found in NUMBER.finditer(kept)]
    words = [_word_figure(found, kept) for found in WORD.finditer(kept)]
    return tuple(sorted([*numbers, *words], key=lambda figure: figure.start))


def find_pairs(text: str, figures: Sequence[Figure]) -> list[Pair]:
    """Fractions, intervals and changes among neighbouring figures; a figure is in one pair at most."""
    kept, pairs, taken = hidden(text), list[Pair](), -1
    for left, right in pairwise(figures):
        between, before = kept[left.end : right.start], kept[max(0, left.start - 12) : left.start].lower()
        is_said = re.search(r"\bin\b", between) is None or (left.word and left.value <= right.value)  # not `12 in 2024`
        can_be = {
            "fraction": not (left.unit or right.unit) and left.is_whole and right.is_whole and is_said,
            "change": True,
        }
        is_alike = left.unit in ("", right.unit)
        kind = next((kind for kind, joint in JOINTS if joint.fullmatch(between) and can_be.get(kind, is_alike)), None)
        is_bracketed = before.rstrip().endswith(("[", "(")) and kept[right.end : right.end + 1] in ("]", ")")
        is_between = re.search(r"\bbetween\s+$", before) is not None
        if kind is None and between.strip() == ("," if is_bracketed else "and") and (is_bracketed or is_between):
            kind = "interval"
        if kind is not None and left.start >= taken:  # of `50–73 %` both are percentages
            pairs.append(Pair(kind, left if left.unit else left._replace(unit=right.unit), right))
            taken = right.end
    return pairs


def agrees(figure: Figure, truth: float) -> bool:
    """Whether a figure says the truth, as it is rounded and hedged; the truth in the figure's unit."""
    slack = figure.half * (1 + 1e-9) + 1e-9 * abs(figure.value)
    if figure.hedge == "about":
        slack = max(figure.half, last_digit(figure.value) / 2, 0.05 * abs(figure.value)) * (1 + 1e-9)
    near = abs(figure.value - truth) <= slack
    return {
        "at least": truth >= figure.value or near,
        "at most": truth <= figure.value or near,
        "more than": truth > figure.value,
        "less than": truth < figure.value,
        "nearly": near or 0.8 * figure.value <= truth <= figure.value,
    }.get(figure.hedge, near)


def last_digit(value: float) -> float:
    """The place of a whole number's last digit that is not 0: 10 for 170."""
    digits = f"{value:.0f}" if value.is_integer() and value else "1"
    return float(10 ** (len(digits) - len(digits.rstrip("0"))))


def hidden(text: str) -> str:
    """The text with code, dates, versions and the like replaced, character for character."""
    return NO_FIGURES.sub(lambda found: "x" * len(found[0]), blanked_code(text))


def _figure(found: re.Match[str], text: str) -> Figure:
    digits = re.sub(r"[^\d]", "", found["digits"])
    decimals = found["decimals"] or ""
    scale = SCALES.get(found["scale"] or "", 1.0) * float(f"1{found['exponent'] or 'e0'}")
    sign = -1.0 if (found["sign"] or "").translate(SIGNS) == "-" else 1.0
    unit = " ".join((found["unit"] or "").split())
    return Figure(
        value=sign * float(digits + decimals) * scale,
        unit=UNITS.get(unit, ""),
        half=0.5 * 10.0 ** -max(0, len(decimals) - 1) * scale,
        hedge=_hedge(text, found.start()),
        signed=bool(found["sign"]) and found["sign"] != "±",
        start=found.start(),
        end=found.end(),
    )


def _word_figure(found: re.Match[str], text: str) -> Figure:
    said, hedge = found[0].lower().replace("-", " "), _hedge(text, found.start())
    value, unit = float(WORDS.get(said, 1)), ""
    if found["part"]:
        value = 100.0 / WORDS[found["of"].lower().replace("-", " ")] if found["of"] else PARTS[said]
        unit, hedge = "x" if value < 10 and not found["of"] else "%", hedge or "about"
    return Figure(value, unit, 0.5, hedge, False, found.start(), found.end(), word=True)


def _hedge(text: str, start: int) -> Hedge:
    """The hedge that stands right before a figure, if one does."""
    before = text[max(0, start - 24) : start]
    for found in HEDGE.finditer(before):
        if BEHIND_HEDGE.match(before[found.end() :]):
            hedge = next(HEDGES[int(name[1:])][0] for name, words in found.groupdict().items() if words)
            whole = re.match(r"[\d,]+(?=\s+[A-Za-z])", text[start:])
            if found[0].lower() not in ("over", "under", "above", "some") or whole is None:
                return hedge
            # `over 36 tasks` names what was counted over; `over 100 tasks` may do so too, or be a bound.
            return "at least" if whole[0].endswith("00") else ""
    return ""
