"""Numbers in sentences that disagree with each other, or with a list beside them."""

import math
import re
from collections.abc import Iterator

from blade.audit.arithmetic import SOME, Text, read_text
from blade.audit.markdown import CODE, Document, blanked_code, without_code_marks
from blade.audit.verdicts import Check

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
ALL = re.compile(r"\ball\s+(?:of\s+)?(?:the\s+)?$", re.IGNORECASE)
MEMBERS = re.compile(r"\s+(?:[a-z-]+\s+){0,3}?(?:tasks?|problems?|questions?|rollouts?|instances?|ids?)\b")


def check_sentences(document: Document) -> Iterator[Check]:
    """Everything that sentences and cells get wrong by their own numbers."""
    for sentence in document.sentences():
        text = read_text(sentence.text, sentence.line)
        for check in (
            check_parts,
            check_additions,
            check_listing,
        ):
            yield from check(text)
    for table in document.tables:
        for row in table.rows:
            for cell in row.cells:
                text = read_text(cell, row.line)
                yield from check_parts(text)


def check_parts(text: Text) -> Iterator[Check]:
    """A part is not more than its whole; `24/7` may be anything."""
    for pair in text.pairs:
        is_of = "of" in text.text[pair.first.end : pair.second.start]
        if pair.kind == "fraction" and pair.first.value > pair.second.value > 0 and is_of:
            part, whole = f"{pair.first.value:,g}", f"{pair.second.value:,g}"
            yield text.fault(text.text[pair.start : pair.end], f"at most {whole}", f"{part} is more than {whole}")


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
