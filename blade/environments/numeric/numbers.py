r"""Numbers as people and models write them: 1,250.50, -3/4, 1 1/2, ½, \frac{3}{4}, 3 \times 10^{2}, 2.5e3, 25%.

A number is a `Fraction`, so that 0.75 and 3/4 are the same. A percent sign and a currency are left out: a question
says in which unit it wants its answer.
"""

import re
import unicodedata
from fractions import Fraction

LATEX_SPACES = re.compile(r"\\[,;:! ]|~|\\quad|\\left|\\right|\\displaystyle|[\u00a0\u2009\u202f]")
LATEX_TEXT = re.compile(r"\\(?:text|textbf|mathrm|mathbf|mbox)\{([^{}]*)\}")
LATEX_FRACTION = re.compile(r"\\[dt]?frac\{\s*(-?[\d.,]+)\s*\}\{\s*(-?[\d.,]+)\s*\}")
LATEX_DIGITS = re.compile(r"\\[dt]?frac\s*(\d)\s*(\d)")
SIGNS = str.maketrans({"−": "-", "–": "-", "⁄": "/", "×": "*", "·": "*"})

PLAIN = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+"
NUMBER = re.compile(
    # A minus is a sign where nothing stands right before it: 12-3 is a difference, and pages 3-4 are none below zero.
    rf"(?P<sign>(?<![\w.)])-\s?)?\\?[$€£]?\s?"
    rf"(?:(?P<whole>\d+)\s+(?P<part>\d+)\s?/\s?(?P<of>[1-9]\d*)"
    rf"|(?P<top>{PLAIN})\s?/\s?(?P<bottom>[1-9]\d*)(?![\d.])"
    rf"|(?P<plain>{PLAIN})(?:\s?(?:\*|\\times|\\cdot)\s?10\^\{{?(?P<power>-?\d{{1,2}})\}}?|[eE](?P<exponent>[+-]?\d{{1,2}})(?!\w))?)"
)

MOST_DIGITS = 200


def plain_text(text: str) -> str:
    r"""Text in which LaTeX and typography are written out: `\frac{1}{2}` as ` 1/2`, `½` as ` 1/2`, `−` as `-`."""
    spelled = "".join(f" {unicodedata.normalize('NFKC', sign)}" if is_vulgar(sign) else sign for sign in text)
    spelled = LATEX_TEXT.sub(r" \1 ", LATEX_SPACES.sub("", spelled).replace("{,}", ","))
    spelled = LATEX_DIGITS.sub(r" \1/\2 ", spelled)
    return LATEX_FRACTION.sub(r" \1/\2 ", spelled.translate(SIGNS)).replace("\\%", "%")


def is_vulgar(sign: str) -> bool:
    """Whether a character is a fraction of its own, such as ½."""
    return unicodedata.decomposition(sign).startswith("<fraction>")


def find_numbers(text: str) -> list[re.Match[str]]:
    """Where numbers stand in a text that `plain_text` gave; a longer row of digits is no number anybody meant."""
    return [found for found in NUMBER.finditer(text) if len(found[0]) <= MOST_DIGITS]


def value_of(found: re.Match[str]) -> Fraction:
    """What a number that was found is worth."""
    sign = -1 if found["sign"] else 1
    if found["whole"]:
        return sign * (int(found["whole"]) + Fraction(int(found["part"]), int(found["of"])))
    if found["top"]:
        return sign * decimal(found["top"]) / int(found["bottom"])
    return sign * decimal(found["plain"]) * Fraction(10) ** int(found["power"] or found["exponent"] or 0)


def decimal(digits: str) -> Fraction:
    return Fraction(digits.replace(",", ""))


def read_number(text: str) -> Fraction | None:
    """The number a text consists of; `None` when it holds none, or more than one."""
    found = find_numbers(plain_text(text))
    return value_of(found[0]) if len(found) == 1 else None


def write_number(value: Fraction) -> str:
    """A number as a decimal where that ends within twelve digits, otherwise as a fraction."""
    scaled = value * 10**12
    if scaled.denominator != 1:
        return f"{value.numerator}/{value.denominator}"
    whole, digits = divmod(abs(scaled.numerator), 10**12)
    text = f"{whole}.{digits:012d}".rstrip("0").rstrip(".")
    return f"-{text}" if value < 0 else text
