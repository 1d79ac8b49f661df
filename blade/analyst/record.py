"""What the analyst said, kept beside the diagnosis: one opinion per line in `opinions.jsonl`, votes and refusals too.

`labels.jsonl` holds only labels in force. Opinions are kept apart, so that rules, models and people can be held against
each other even on tasks where a person has the last word.
"""

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import msgspec
import numpy as np

from blade.analyst.asking import Opinion
from blade.diagnosis.labels import every_label
from blade.errors import InputError
from blade.metrics.agreement import Agreement, agree
from blade.report.files import append_line, locked
from blade.report.text import safe_json
from blade.report.workspace import LABELS, Workspace

OPINIONS = "opinions.jsonl"
DECODER = msgspec.json.Decoder(Opinion)
SEED = 0
"""Of the resampling behind the intervals, so that the same opinions give the same interval."""


class Between(msgspec.Struct, frozen=True, kw_only=True):
    """How far two kinds of labellers agree."""

    first: str
    """`rule`, `llm` or `human`."""
    second: str
    """The other."""
    agreement: Agreement
    """On the tasks both labelled."""


def keep_opinion(folder: Path, opinion: Opinion) -> None:
    """Adds an opinion to the record."""
    with locked(folder):
        append_line(folder / OPINIONS, safe_json(msgspec.json.encode(opinion)))


def read_opinions(folder: Path) -> dict[str, Opinion]:
    """The last opinion on every task."""
    path = folder / OPINIONS
    opinions: dict[str, Opinion] = {}
    for number, line in enumerate(path.read_bytes().splitlines() if path.exists() else [], start=1):
        try:
            opinion = DECODER.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise InputError(f"{path}:{number}: is not an opinion: {error}. Fix or remove the line.") from error
        opinions[opinion.task] = opinion
    return opinions


def agreements(workspace: Workspace) -> list[Between]:
    """Every two kinds of labellers that have a task in common."""
    said = labels_by_kind(workspace)
    rng = np.random.default_rng(SEED)
    pairs = ((first, second, common(said[first], said[second])) for first, second in combinations(said, 2))
    return [
        Between(
            first=first,
            second=second,
            agreement=agree([said[first][task] for task in tasks], [said[second][task] for task in tasks], rng),
        )
        for first, second, tasks in pairs
        if tasks
    ]


def common(first: Mapping[str, str], second: Mapping[str, str]) -> list[str]:
    return [task for task in first if task in second]


def labels_by_kind(workspace: Workspace) -> dict[str, dict[str, str]]:
    """By kind of author: the cause of every task it labelled last, drafts without their question mark."""
    said: dict[str, dict[str, str]] = {"rule": {}, "llm": {}, "human": {}}
    opinions = [one.label for one in read_opinions(workspace.folder).values() if one.label is not None]
    for label in [*every_label(workspace.folder / LABELS), *opinions]:
        kind = label.author.partition(":")[0]
        said[kind][label.task] = label.cause.rstrip("?")
    return said
