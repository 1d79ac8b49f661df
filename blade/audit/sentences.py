"""Numbers in sentences that disagree with each other, or with a list beside them."""

import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from blade.audit.figures import Figure, Pair, agrees, find_figures, find_pairs
from blade.audit.ledger import SOME
from blade.audit.markdown import CODE, QUOTED, Document, blanked_code, shown, without_code_marks
from blade.audit.verdicts import Check

SHARE_BEHIND = re.compile(r"\s*[,=:]?\s*(?:or\s+|i\.e\.,?\s+)?|\s*(?:[\w-]+\s+){0,4}?[(\[=]\s*")
"""What may stand between `12 of 50` and its share."""
VERSUS = re.compile(r"[\s)]*(?:vs\.?|versus|against|to|compared (?:to|with))\s+(?:[\w-]+\s+){0,2}\(?")
"""What stands between two numbers that are compared."""
CHANGE_BEHIND = re.compile(r"[\s)]*[,(:;—–-]\s*(?:(?:a|an|i\.e\.)\s+)?(?:\w+\s+){0,3}(?:of\s+|by\s+)?")
"""What stands between two numbers and their difference."""
RELATIVE = re.compile(
    r"\s+(?:relative\s+)?(?:drop|decrease|reduction|decline|cut|fewer|less|lower|increase|rise|gain|growth|more|higher|slower)\b"
)
ID = r"[\w.-]*\d[\w.-]*"
LISTED = re.compile(rf"(?:\s*\(|\s*:|\s*[—–-])\s*((?:{ID})(?:\s*,\s*(?:and\s+)?{ID}|\s+and\s+{ID})+)\s*[).;]?")
ADDED = re.compile(r"(?<![\w.*×])(\d[\d,]*)((?:\s*\+\s*\d[\d,]*)+)(?!\s*[*×x]\s*\d)(?:\s*=\s*(\d[\d,]*))?")
COMPUTED = re.compile(
    r"(?<![\w.+*×-])(\d[\d,]*(?:(?:\s+[a-z]+)?\s*[+*×x]\s*\d[\d,]*(?:\s+[a-z]+)?)+?)\s*=\s*(\d[\d,]*)(?![\d.])"
)
"""Products and sums with what comes of them: `115 tasks x 4 trials = 460`, `22*3 + 17*2 = 100`."""
PRODUCT = re.compile(
    r"(?<![\w.])(\d[\d,]*)(?:\s+[a-z-]+){0,3}\s+\((\d[\d,]*(?:\s+[a-z-]+){0,2}(?:\s*[×x*]\s*\d[\d,]*(?:\s+[a-z-]+){0,2})+)\)"
)
"""A number with what it is made of: `150 runs (15 tests × 10 iterations)`."""
PART = re.compile(r"(?<![\w.])(\d[\d,]*)\s+(?!of\b|%|percent)[A-Za-z][\w-]*")
PART_OF = re.compile(r"\s+(?!of\b|%|percent)[A-Za-z][\w-]*(?:\s+[\w-]+){0,2}\s*(?:[,;.)]|and\b|$)")
ALL = re.compile(r"\ball\s+(?:of\s+)?(?:the\s+)?$", re.IGNORECASE)
MEMBERS = re.compile(r"\s+(?:[a-z-]+\s+){0,3}?(?:tasks?|problems?|questions?|rollouts?|instances?|ids?)\b")


class Text(NamedTuple):
    """A text with its numbers."""

    text: str
    line: int
    figures: Sequence[Figure]
    pairs: list[Pair]

    def fault(self, figure: Figure | str, true: str, why: str) -> Check:
        """A number that is wrong, or other words."""
        words = figure if isinstance(figure, str) else self.text[figure.start : figure.end]
        return Check(self.line, shown(words).strip(), "contradicted", true, why, sentence=shown(self.text))


def check_sentences(document: Document) -> Iterator[Check]:
    """Everything that sentences and cells get wrong by their own numbers."""
    for sentence in document.sentences():
        text = read_text(sentence.text, sentence.line)
        for check in (
            check_about,
            check_parts,
            check_percentages,
            check_changes,
            check_ratios,
            check_additions,
            check_listing,
        ):
            yield from check(text)
    yield from check_shared(document)
    for table in document.tables:
        for row in table.rows:
            for cell in row.cells:
                text = read_text(cell, row.line)
                yield from check_parts(text)
                yield from check_percentages(text)


SHARED = re.compile(r"\s*\(\s*|\s+(?:[^\s()%\d]+\s+){1,8}?\(\s*")
"""What stands between a count and its share: `9 wrote files (50 %)`, `24.2 % (2,055 instances)`."""
MOST_WRONG = 0.34
ABOUT = re.compile(r"\W*(?:out\s+of|of|among|in)\s+(?:(?:all|the|these|those)\s+)*", re.IGNORECASE)
REST = re.compile(r"\b(?:remaining|rest|others?)\s+$", re.IGNORECASE)
"""What says that a number is what is left of a whole."""


def check_shared(document: Document) -> Iterator[Check]:
    """Counts with their shares under one heading, where the text states what they are of and most of them fit it."""
    sections: dict[tuple[str, ...], list[Text]] = {}
    for sentence in document.sentences():
        sections.setdefault(sentence.section, []).append(read_text(sentence.text, sentence.line))
    everything = [text for texts in sections.values() for text in texts]
    for section, texts in sections.items():
        above = [text for name, found in sections.items() if section[: len(name)] == name for text in found]
        pairs = [pair for text in texts for pair in shares_of(text)]
        for stated in (above, everything) if len(pairs) > 1 else ():  # what they are of stands above, or anywhere
            wholes = {one.value for text in stated for one in text.figures if one.is_whole and one.value}
            fitting = {whole: [agrees(p, 100.0 * n.value / whole) for _, n, p in pairs] for whole in wholes}
            whole = max(fitting, key=lambda one: (sum(fitting[one]), one), default=0.0)
            kept = {n.value for (_, n, _), fits in zip(pairs, fitting.get(whole, []), strict=False) if fits and n.value}
            lost = [pair for place, pair in enumerate(pairs) if not any(fits[place] for fits in fitting.values())]
            if len(kept) >= 2 and max(kept) >= 10 and len(lost) <= MOST_WRONG * len(pairs):
                for text, n, p in lost if stated is above or len(pairs) > 2 else []:
                    if base_of(text) is None:
                        yield text.fault(p, f"{100.0 * n.value / whole:.1f} %", f"{n.value:,g} of {whole:,g}")
                break


def base_of(text: Text) -> Figure | None:
    """What a sentence says at its beginning that all of it is about: `Of the 256 unresolved instances, …`."""
    first = text.figures[0] if text.figures else None
    return first if first and first.is_whole and ABOUT.fullmatch(text.text[: first.start]) else None


def check_about(text: Text) -> Iterator[Check]:
    """`Of the 256 instances, 41 (16.0 %) …; the remaining 215 …`: shares of that base, and what is left of it."""
    base = base_of(text)
    if base is None or not base.value:
        return
    wholes = {one.value for one in text.figures if one.is_whole and one.value}
    for _, n, p in shares_of(text):
        if n != base and not any(agrees(p, 100.0 * n.value / whole) for whole in wholes):
            yield text.fault(p, f"{100.0 * n.value / base.value:.1f} %", f"{n.value:,g} of {base.value:,g}")
    counts = [one for one in text.figures[1:] if one.is_whole and not (one.hedge or one.word)]
    if len(counts) == 2 and REST.search(text.text[: counts[1].start]):
        left = base.value - counts[0].value
        if counts[1].value != left:
            yield text.fault(counts[1], f"{left:,g}", f"what {counts[0].value:,g} leaves of {base.value:,g}")


def shares_of(text: Text) -> Iterator[tuple[Text, Figure, Figure]]:
    """Counts and their shares in a text; where the count says what it is of, that is checked by itself."""
    parts = {one.start for pair in text.pairs for one in (pair.first, pair.second)}
    for first, second in zip(text.figures, text.figures[1:], strict=False):
        n, p = (first, second) if second.unit == "%" else (second, first)
        between = text.text[first.end : second.start]
        is_pair = n.is_whole and p.unit == "%" and SHARED.fullmatch(between) is not None
        is_pair &= not (p == first and between.startswith(" of "))  # of something that has no number here
        whole = next((pair for pair in text.pairs if pair.first == n and pair.kind == "fraction"), None)
        if is_pair and (n.start not in parts or whole is not None):
            yield text, n, p


def read_text(text: str, line: int) -> Text:
    """The numbers of a text; what it quotes is somebody else's arithmetic."""
    text = QUOTED.sub(lambda found: "x" * len(found[0]), text)
    figures = find_figures(text)
    return Text(text, line, figures, find_pairs(text, figures))


def check_parts(text: Text) -> Iterator[Check]:
    """A part is not more than its whole; `24/7` may be anything."""
    for pair in text.pairs:
        is_of = "of" in text.text[pair.first.end : pair.second.start]
        if pair.kind == "fraction" and pair.first.value > pair.second.value > 0 and is_of:
            part, whole = f"{pair.first.value:,g}", f"{pair.second.value:,g}"
            yield text.fault(text.text[pair.start : pair.end], f"at most {whole}", f"{part} is more than {whole}")


def check_percentages(text: Text) -> Iterator[Check]:
    """`n of m (p %)` and `p % (n of m)`: the share is that of the two numbers."""
    for pair in text.pairs:
        if pair.kind != "fraction" or not pair.second.value or pair.first.value > pair.second.value:
            continue
        share = 100.0 * pair.first.value / pair.second.value
        for figure in text.figures:
            behind, before = text.text[pair.end : figure.start], text.text[figure.end : pair.start]
            is_behind = figure.start >= pair.end and SHARE_BEHIND.fullmatch(behind) is not None
            is_before = figure.end <= pair.start and re.fullmatch(r"\s*\(\s*", before) is not None
            is_before |= before == ", " and text.text[figure.start - 1] + text.text[pair.end : pair.end + 1] == "()"
            if figure.unit == "%" and (is_behind or is_before) and not agrees(figure, share):
                yield text.fault(figure, f"{share:.1f} %", "the share of the two numbers")


def compared(text: Text) -> Iterator[tuple[Figure, Figure]]:
    """Two numbers of one unit that are compared: `40 % → 52 %`, `from 3 to 5`, `6.6 % vs 2.6 %`."""
    for first, second in zip(text.figures, text.figures[1:], strict=False):
        is_change = any(pair.kind == "change" and pair.start == first.start for pair in text.pairs)
        between = text.text[first.end : second.start]
        is_from = not between.strip().startswith("to") or first.unit == "%" or is_preceded(text, first, "from")
        if first.unit == second.unit and (is_change or (is_from and VERSUS.fullmatch(between) is not None)):
            yield first, second


def is_preceded(text: Text, figure: Figure, word: str) -> bool:
    return re.search(rf"\b{word}\s+$", text.text[: figure.start], re.IGNORECASE) is not None


def check_changes(text: Text) -> Iterator[Check]:
    """`40 % → 52 % (+12 pp)`: the difference is that of the two numbers."""
    for first, second in compared(text):
        third = next((one for one in text.figures if one.start > second.end), None)
        if third is None or CHANGE_BEHIND.fullmatch(text.text[second.end : third.start]) is None:
            continue
        is_relative = third.unit == "%" and first.unit not in ("%", "pp") and min(first.value, second.value) > 0
        if is_relative and RELATIVE.match(text.text[third.end :]):
            change = 100.0 * abs(second.value - first.value) / first.value
            slack = 100.0 * (first.half + second.half) / first.value if first.unit or first.half < 0.5 else 0.0
            if not agrees(third._replace(half=third.half + slack), change):
                yield text.fault(third, f"{change:.1f} %", "the change of the two numbers")
        if third.unit.replace("pp", "%") != first.unit or (third.unit in ("%", "") and not third.signed):
            continue
        change = second.value - first.value
        slack = first.half + second.half if first.half < 0.5 or first.unit else 0.0
        off = min(abs(third.value - change), abs(third.value - abs(change)) if not third.signed else 1e9)
        if off > third.half + slack + 1e-9:
            yield text.fault(third, f"{change:+,.4g}", "the difference of the two numbers")


def check_ratios(text: Text) -> Iterator[Check]:
    """`2.5x more often (6.6 % vs. 2.6 %)`: the factor is that of the two numbers."""
    for first, second in compared(text):
        before = [one for one in text.figures if one.end <= first.start]
        if not before or before[-1].unit != "x" or not first.value or not second.value:
            continue
        if text.text[: first.start].rstrip()[-1:] != "(" or before[-1].hedge:
            continue
        high, low = (first, second) if abs(first.value) > abs(second.value) else (second, first)
        ends = [(high.value + sign * high.half) / (low.value - sign * low.half) for sign in (-1, 1)]
        factor = before[-1]
        if not ends[0] - factor.half <= factor.value <= ends[1] + factor.half:
            yield text.fault(factor, f"{high.value / low.value:.2f}x", "the ratio of the two numbers")


def check_additions(text: Text) -> Iterator[Check]:
    """`46 + 24 = 75`, and `all 75 … (46 + 24)`."""
    for found in ADDED.finditer(blanked_code(text.text)):
        parts = [number(found[1]), *map(number, re.findall(r"\d[\d,]*", found[2]))]
        if found[3] and number(found[3]) != sum(parts):
            yield text.fault(found[0], f"{sum(parts):,g}", "what the numbers add up to")
        wholes = [one for one in text.figures if one.is_whole and ALL.search(text.text[: one.start]) and not found[3]]
        for whole in wholes:
            if not found.start() <= whole.start < found.end() and whole.value != sum(parts):
                yield text.fault(whole, f"{sum(parts):,g}", f"{found[0]} is that many")
    for found in PRODUCT.finditer(blanked_code(text.text)):
        true = math.prod(map(number, re.findall(r"\d[\d,]*", found[2])))
        if number(found[1]) != true:
            yield text.fault(found[1], f"{true:,g}", "what the numbers come to")
    for found in COMPUTED.finditer(blanked_code(text.text)):
        terms = [re.findall(r"\d[\d,]*", term) for term in found[1].split("+")]
        true = sum(math.prod(map(number, term)) for term in terms)
        if any(len(term) > 1 for term in terms) and number(found[2]) != true:
            yield text.fault(found[0], f"{true:,g}", "what the numbers come to")
    yield from check_breakdown(text)


def check_breakdown(text: Text) -> Iterator[Check]:
    """`1,024 failures: 600 timeouts, 300 crashes and 100 others`: parts that nearly add up to their whole."""
    plain_text = without_code_marks(text.text)
    head = re.split(r"[:(]|,(?!\d)", plain_text, maxsplit=1)[0]
    mark, tail = plain_text[len(head) : len(head) + 1], plain_text[len(head) + 1 :]
    wholes = [number(found[1]) for found in PART.finditer(head)]
    parts = [one for one in find_figures(tail) if not one.word]
    least = 3 if mark == "," else 2
    if len(wholes) != 1 or len(parts) < least or SOME.search(text.text) or not all(one.is_whole for one in parts):
        return
    total = sum(one.value for one in parts)
    is_listed = all(PART_OF.match(tail[one.end :]) or tail[: one.start].rstrip().endswith(":") for one in parts)
    if is_listed and wholes[0] >= max(one.value for one in parts) and 0 < abs(total - wholes[0]) <= 0.1 * wholes[0]:
        yield text.fault(f"{wholes[0]:,g}", f"{total:,g}", "what its parts add up to")


def number(text: str) -> float:
    return float(text.replace(",", ""))


def check_listing(text: Text) -> Iterator[Check]:
    """`5 tasks: a, b, c, d`: as many as are listed."""
    for figure in text.figures if not SOME.search(text.text) else ():
        noun = MEMBERS.match(text.text[figure.end :]) if figure.is_whole and figure.value >= 2 else None
        if noun is None:
            continue
        rest = text.text[figure.end + noun.end() :]
        codes = listed_codes(rest)
        bare = LISTED.match(without_code_marks(rest)) if not codes else None
        count = len(codes) or (len(re.findall(ID, bare[1])) if bare else 0)
        if count >= 2 and count != figure.value:
            yield text.fault(figure, str(count), "so many are listed behind it")


def listed_codes(text: str) -> list[str]:
    """Code right behind a noun, one after the other."""
    found, end = list[str](), 0
    for span in CODE.finditer(text):
        between = text[end : span.start()]
        if not re.fullmatch(r"\s*[(:—–]\s*" if not found else r"\s*(?:,\s*(?:and\s+)?|and\s+|&\s*)", between):
            break
        found.append(span[1])
        end = span.end()
    return found
