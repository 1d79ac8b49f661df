"""Labels: who says why a task failed, with what proof.

`labels.jsonl` holds one label per line and is only ever appended to; a later line overrides an earlier one for the
same task. Rules, models and people all write the same value and differ only in `author`.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec

from blade.errors import InputError, UsageError

CAUSES: dict[str, str] = {
    "DA": "data artifact",
    "IR": "infrastructure reliability",
    "TI": "task or verifier issue",
    "BI": "behavioural issue",
    "UK": "unreliable knowledge",
    "KG": "knowledge gap",
}
"""Root causes, in the order in which they are tried."""

Confidence = Literal["low", "medium", "high"]
CONFIDENCES: tuple[Confidence, ...] = ("low", "medium", "high")
UNDECIDED = "?"
"""Stands for the cause of a task where nothing is proven."""
CAUSE_FORM = re.compile(rf"(?:{'|'.join(CAUSES)})(?:\+(?:{'|'.join(CAUSES)}))*\??")
"""One cause, several joined by `+` when the evidence demands it, and `?` behind one that its author is not sure of."""


class Evidence(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """Where to look, and what stands there."""

    citation: str
    """`task:repeat` or `task:repeat#item`."""
    quote: str | None = None
    """Verbatim text at that place."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A cause that may turn out to be the right one."""

    label: str
    """The cause."""
    probability: float
    """How often tasks that look like this one turn out to have it, as measured on labelled rows."""


class Label(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Why a task is not always passed."""

    task: str
    """Task key."""
    cause: str
    """A cause, or several joined by `+`; a trailing `?` marks doubt, and `?` alone that nothing is proven."""
    confidence: Confidence
    """How sure the author is."""
    author: str
    """`rule:<code>`, `llm:<model>` or `human:<name>`."""
    reason: str
    """Why, in one sentence."""
    evidence: list[Evidence] = []
    """The proof."""
    candidates: list[Candidate] = []
    """Where nothing is proven: the causes it may be, most likely first; empty where nobody can say."""


DECODER = msgspec.json.Decoder(Label)


def is_by_rule(author: str) -> bool:
    """Whether nobody has read the rollouts: a rule wrote the label, not a person or a model."""
    return author.startswith("rule:")


def check_cause(cause: str) -> str:
    """The cause as it is; an unknown one is the user's mistake."""
    parts = cause.rstrip("?").split("+")
    if not CAUSE_FORM.fullmatch(cause) or len(set(parts)) < len(parts):
        raise UsageError(f"unknown cause {cause!r}; expected one of {', '.join(CAUSES)}, or a mix such as BI+KG.")
    return cause


def read_labels(path: Path) -> dict[str, Label]:
    """The label in force for every task."""
    return {label.task: label for label in every_label(path)}


def every_label(path: Path) -> list[Label]:
    """All lines of a labels file in order, those that a later one overrides too."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}.") from error
    labels: list[Label] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            labels.append(DECODER.decode(line))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise InputError(f"{path}:{number}: is not a label: {error}.") from error
    return labels


def write_labels(path: Path, labels: Iterable[Label]) -> None:
    """Starts a labels file anew."""
    path.write_bytes(b"".join(msgspec.json.encode(label) + b"\n" for label in labels))
