"""What a model may say of a task, and what of it is believed: nothing that was not looked up.

The JSON Schema handed to the model is generated from `Answer`. Citations use the names of the excerpts (`R1#5`); a
quote must stand, word for word, where it is said to stand.
"""

import re
from collections.abc import Sequence

import msgspec

from blade.analyst.conversation import NotAccepted, read_json
from blade.analyst.excerpts import Excerpt
from blade.analyst.reasons import check_reason, with_citations
from blade.diagnosis.analysis import Analysis
from blade.diagnosis.labels import Confidence, Evidence, Label
from blade.errors import BladeError
from blade.report.labelling import check_label
from blade.rollouts import Run

CITED = re.compile(r"`?(R\d+)(?:#(\d+))?`?")
MOST_REASON = 400


class Proof(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the evidence is."""

    rollout: str
    """Name of the rollout and number of the item, such as R1#5."""
    quote: str
    """Words that stand there, copied exactly."""


class Answer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why one task is not always passed."""

    evidence: list[Proof]
    """One to four places that show it, the decisive one first."""
    reason: str
    """Why this cause and not another, in one or two sentences without numbers that are not in the evidence."""
    cause: str
    """DA, IR, TI, BI, UK or KG; two joined by + only when the evidence demands it."""
    confidence: Confidence
    """How sure you are."""


DECODER = msgspec.json.Decoder(Answer)
SCHEMA = msgspec.json.schema(Answer)


def to_label(answer: Answer, task: str, excerpts: Sequence[Excerpt], *, author: str) -> Label:
    """The answer as a label of the task, with real citations."""
    if not 1 <= len(answer.evidence) <= 4:
        raise NotAccepted(f"you gave {len(answer.evidence)} pieces of evidence; give one to four.")
    if len(answer.reason) > MOST_REASON:
        raise NotAccepted(f"your reason has {len(answer.reason)} characters; at most {MOST_REASON} are taken.")
    known = {excerpt.name: excerpt.citation for excerpt in excerpts}
    evidence = [cite(proof, known) for proof in answer.evidence]
    return Label(
        task=task,
        cause=answer.cause.strip().rstrip("?"),
        confidence=answer.confidence,
        author=author,
        reason=" ".join(answer.reason.split()),
        evidence=evidence,
    )


def cite(proof: Proof, known: dict[str, str]) -> Evidence:
    match = CITED.fullmatch(proof.rollout.strip())
    if match is None or match[1] not in known:
        names = ", ".join(known)
        raise NotAccepted(f"{proof.rollout[:60]!r} is no rollout you were shown; they are {names}, cited as R1#5.")
    return Evidence(citation=known[match[1]] + (f"#{match[2]}" if match[2] else ""), quote=proof.quote)


def accept(text: str, task: str, excerpts: Sequence[Excerpt], *, author: str, judged: tuple[Analysis, Run]) -> Label:
    """The label a reply amounts to, once everything in it was looked up.

    Raises:
        NotAccepted: with what is wrong, in words for the model.
    """
    label = to_label(read_json(text, DECODER), task, excerpts, author=author)
    try:
        checked = check_label(label, *judged)
    except BladeError as error:
        raise NotAccepted(renamed(str(error), excerpts)) from error
    check_reason(checked, excerpts)
    return msgspec.structs.replace(checked, reason=with_citations(checked.reason, excerpts))


def renamed(message: str, excerpts: Sequence[Excerpt]) -> str:
    """A message in which rollouts are called what the model calls them."""
    for excerpt in excerpts:
        message = message.replace(f"{excerpt.citation}", excerpt.name)
    return message
