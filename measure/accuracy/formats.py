"""Right answers written another way: what a strict verifier wrongly refuses."""

import random
from fractions import Fraction

SEEN = {
    "number": ("{}.0", "\\boxed{{{}}}", "{} euros", "${}$", "{grouped}"),
    "fraction": ("\\frac{{{top}}}{{{bottom}}}", "$\\frac{{{top}}}{{{bottom}}}$", "{top} / {bottom}"),
    "letter": ("({})", "{})", "{lower}", "**{}**"),
    "date": ("{upper}", "{}.", "  {}"),
}
FRESH = {
    "number": ("= {}", "x = {}", "€{grouped}", "+{}", "\\text{{{}}}", "{} (euros)"),
    "fraction": ("\\dfrac{{{top}}}{{{bottom}}}", "P = {top}/{bottom}", "({top}/{bottom})"),
    "letter": ("Option {}", "\\text{{{}}}", "{}.", "[{}]"),
    "date": ("{month} {day}, {year}", "\\text{{{}}}", "{lower}", "{day}. {month} {year}"),
}


def reformatted(answer: str, kind: str, rng: random.Random, *, fresh: bool) -> str:
    """The same answer in another format."""
    fields = {"lower": answer.lower(), "upper": answer.upper()}
    if kind == "number":
        whole, _, rest = answer.partition(".")
        fields["grouped"] = f"{int(whole):,}" + (f".{rest}" if rest else "")
    if kind == "fraction":
        value = Fraction(answer)
        fields |= {"top": str(value.numerator), "bottom": str(value.denominator)}
    if kind == "date":
        fields |= dict(zip(("day", "month", "year"), answer.split(), strict=True))
    options = [form for form in (FRESH if fresh else SEEN)[kind] if not (form == "{}.0" and "." in answer)]
    return rng.choice(options).format(answer, **fields)
