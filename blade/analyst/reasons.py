"""What a model may say in the reason of a label: numbers and quotations only as they stand where it points.

A reason is printed as it is, and an audit cannot tell it from what was counted. So a number that stands neither in a
cited item nor in a field of a rollout that was shown is refused, and so are words in quotation marks.
"""

import json
import re
from collections.abc import Iterator, Sequence

from blade.analyst.conversation import NotAccepted
from blade.analyst.excerpts import Excerpt
from blade.audit.figures import find_figures
from blade.audit.markdown import QUOTED, plain
from blade.diagnosis.labels import Label
from blade.report.citations import item_of, rollout_of

NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
NAME = re.compile(r"\bR(\d+)(#\d+)?\b")


def check_reason(label: Label, excerpts: Sequence[Excerpt]) -> None:
    """Raises `NotAccepted` when the reason states or quotes what stands in nothing it cites."""
    shown = "\n".join(texts_behind(label, excerpts))
    for quoted in QUOTED.findall(label.reason):
        if quoted[1:-1].strip(" .,") not in shown:
            raise NotAccepted(f"your reason quotes {quoted[:60]!r}, which stands in nothing you cite; leave it out.")
    known = numbers_in(shown)
    reason = plain(label.reason)
    for figure in find_figures(reason):
        if figure.value not in known and not (figure.word and figure.value <= 1):
            said = reason[figure.start : figure.end].strip()
            raise NotAccepted(f"your reason states {said!r}, which stands in nothing you cite; leave it out.")


def texts_behind(label: Label, excerpts: Sequence[Excerpt]) -> Iterator[str]:
    """The cited items, and the fields of the rollouts that were shown."""
    rollouts = {excerpt.citation: excerpt.rollout for excerpt in excerpts}
    for proof in label.evidence:
        place = item_of(proof.citation)
        items = rollouts[rollout_of(proof.citation)].items
        yield from (item.text for item in items if place in (None, item.position))
    yield from (json.dumps(rollout.fields, ensure_ascii=False, default=str) for rollout in rollouts.values())


def numbers_in(text: str) -> set[float]:
    """Every number of a text, in digits or in words, with its sign and without."""
    digits = {float(found.replace(",", "").rstrip(".")) for found in NUMBER.findall(text)}
    signed = {figure.value for figure in find_figures(text)}
    return digits | signed | set(map(abs, signed))


def with_citations(reason: str, excerpts: Sequence[Excerpt]) -> str:
    """The reason with rollouts called by their citations, which readers of the report know."""
    known = {excerpt.name: excerpt.citation for excerpt in excerpts}

    def cited(found: re.Match[str]) -> str:
        name = f"R{found[1]}"
        return f"`{known[name]}{found[2] or ''}`" if name in known else found[0]

    return NAME.sub(cited, reason)
