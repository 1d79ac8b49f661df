"""Prose without addresses, and the reasons of labels: all they state, bound to the rows by value, unit and words.

In a reason, a figure that stands in a cited rollout holds. What stands for nothing that is known is the reader's own
word, which nobody can verify.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import product

from blade.audit.binding import Binder
from blade.audit.evidence import Evidence
from blade.audit.figures import WORDS
from blade.audit.markdown import read_document, without_quotes
from blade.audit.mentions import CELL_JOINT, statements
from blade.audit.references import References
from blade.audit.verdicts import FOLLOWS, Check
from blade.diagnosis.labels import CAUSE_FORM, Label, is_by_rule
from blade.errors import BladeError, UsageError
from blade.report.claims import ClaimedText
from blade.report.values import Value

REASON = re.compile(r"(\w+):/causes/(\d+)/reason")
"""The address of a reason."""
OUTCOMES = re.compile(r'"\]\.(?:c|rate|mean_reward)\b')
"""What tells a task from others; how many rollouts it has does not."""
OWN_WORD = "said by {} and standing in nothing it cites"
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def check_prose(text: str, evidence: Evidence, *, strict: bool = True) -> Iterator[Check]:
    """Everything that prose states, bound to the rows."""
    document = read_document(text)
    binder, references = Binder(evidence.values, strict=strict), References(evidence)
    for block in statements(document):
        numbers, bound, at = list[Check](), dict[int, Value](), 0
        for one in block.spoken:
            numbers += binder.check(one._replace(text=without_quotes(one.text)))
            bound |= {at + start: value for start, value in binder.bound_at.items()}
            at += len(one.text) + len(CELL_JOINT)
        about: dict[str, set[str]] = {"supported": set(), "contradicted": set()}
        for check in numbers:
            if check.verdict in about:
                about[check.verdict] |= {
                    task for task in evidence.tasks if OUTCOMES.search(check.why) and f'["{task}"].' in check.why
                }
        proven = about["supported"] - about["contradicted"]
        named = list(references.check(block, proven, about["contradicted"], bound))
        ids = {one.said for one in named if one.said in evidence.tasks and one.verdict == "supported"}
        is_proven = len(ids) > 1 and len(block.spoken) == 1 and all(one.verdict == "supported" for one in named)
        for check in numbers:  # as many as are listed
            is_length = is_proven and check.verdict == "unbound" and check.said.lower() in counted_as(len(ids))
            yield check._replace(verdict="supported", why=FOLLOWS, write="") if is_length else check
        yield from named
        if strict and not block.is_heading:
            yield from binder.check_words(block, bound.values(), references.buckets_said)


def counted_as(number: int) -> set[str]:
    """A count as figures, and as words."""
    return {str(number), *(word for word, value in WORDS.items() if value == number)}


def check_reasons(claimed: ClaimedText, evidence: Evidence) -> Iterator[Check]:
    """What became of everything that the reasons in a rendered text state."""
    for claim in claimed.claims:
        found = REASON.fullmatch(claim.address) if isinstance(claim.address, str) else None
        causes = evidence.documents.get(found[1], {}).get("causes", []) if found else []
        if found is None or int(found[2]) >= len(causes):
            continue
        cause = causes[int(found[2])]
        if is_by_rule(cause["author"]):
            continue  # what rules say is counted from the rows
        numbers: set[str] = set()
        cited = {entry["citation"].partition("#")[0] for entry in cause.get("evidence", [])}
        for citation, run in product(cited, [source.run for source in evidence.sources if source.run is not None]):
            with suppress(BladeError):
                items = run.rollout_at(run.row(citation)).items
                numbers |= {number for item in items for number in NUMBER.findall(item.text)}
        for check in check_prose(claim.text, evidence, strict=False):
            if check.verdict != "supported" and check.said.strip("$€£ %").rstrip(".,") in numbers:
                check = check._replace(verdict="supported", true="", why="stands in a cited rollout")
            elif check.verdict == "unbound":
                check = check._replace(verdict="unverifiable", why=OWN_WORD.format(cause["author"]), write="")
            yield check._replace(line=claim.line, sentence=claim.text)


def check_reason(label: Label, evidence: Evidence) -> None:
    """Stops before a label is written whose reason names what is not there or says what is not so.

    Raises:
        UsageError: with what it says and what is true.
    """
    said = (one for one in check_prose(label.reason, evidence, strict=False) if one.verdict == "contradicted")
    wrong = next((one for one in said if not CAUSE_FORM.fullmatch(one.said)), None)  # which cause, the label says
    if wrong is not None:
        true = f"true is {wrong.true}" if wrong.true else wrong.why
        raise UsageError(f"the reason says {wrong.said}, but {true}.")
