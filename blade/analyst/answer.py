"""What a model may say of a task, and what of it is believed: nothing that was not looked up.

The JSON Schema handed to the model is generated from `Answer`. Citations use the names of the excerpts (`R1#5`); a
quote must stand, word for word, where it is said to stand.
"""

import json
import re
from collections.abc import Iterator, Sequence

import msgspec

from blade.analyst.conversation import NotAccepted, read_json
from blade.analyst.excerpts import Excerpt
from blade.audit.figures import find_figures
from blade.audit.markdown import QUOTED, plain
from blade.diagnosis.analysis import Analysis
from blade.diagnosis.labels import Confidence, Evidence, Label
from blade.errors import BladeError
from blade.report.citations import item_of, rollout_of
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
        raise NotAccepted(f"{proof.rollout[:60]!r} is not a rollout you were shown; they are {names}, cited as R1#5.")
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
