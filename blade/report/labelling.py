"""Adding a label to a workspace, and what survives when the run is diagnosed again.

A label is taken only with proof that holds: every rollout it cites exists, and every quote stands there word for word.
Rule labels belong to the diagnosis and are made anew with it; what a person or a model said is never lost.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import msgspec

from blade.diagnosis.analysis import Analysis
from blade.diagnosis.labels import DECODER, Evidence, Label, check_cause, is_by_rule
from blade.errors import InputError, UsageError
from blade.report.citations import item_of
from blade.report.streams import PIECE
from blade.report.text import safe_json
from blade.rollouts import Item, Run
from blade.rollouts.table import examples, split_citation

ENCODER = msgspec.json.Encoder()
AUTHOR_FORM = re.compile(r"(rule|llm|human):\S.*")


def check_label(label: Label, analysis: Analysis, run: Run) -> Label:
    """The label with its citations in plain form.

    Raises:
        UsageError: the task, the cause, the author, a citation or a quote is wrong.
    """
    tasks = [result.task for result in analysis.tasks]
    if label.task not in set(tasks):
        raise UsageError(f"no task {label.task!r} in this run; tasks are {examples(tasks)}.")
    check_cause(label.cause)
    if not AUTHOR_FORM.fullmatch(label.author):
        raise UsageError(f"author {label.author!r} is not one of rule:CODE, llm:MODEL or human:NAME.")
    if not label.reason.strip():
        raise UsageError("a label needs a reason: one sentence saying why this is the cause.")
    evidence = [check_evidence(proof, run) for proof in label.evidence]
    strangers = [proof.citation for proof in evidence if split_citation(proof.citation)[0] != label.task]
    if strangers:
        raise UsageError(f"{strangers[0]} is not a rollout of task {label.task}; cite the task that is labelled.")
    return msgspec.structs.replace(label, evidence=evidence)


class ModeLabels(msgspec.Struct, frozen=True, kw_only=True):
    """What a label of a whole mode comes to."""

    labels: list[Label]
    """The labels of the tasks in which every failing rollout shows the mode."""
    skipped: dict[str, str]
    """Why other tasks of the mode get none."""


def labels_for_mode(code: str, said: Label, analysis: Analysis, labels: Mapping[str, Label]) -> ModeLabels:
    """A reader's label for every task of a mode, where each failing rollout shows the mode; and why not for the others.

    Raises:
        UsageError: there is no such mode.
    """
    mode = next((mode for mode in analysis.modes if code in (mode.code, mode.title)), None)
    if mode is None:
        raise UsageError(f"no mode {code!r} in this run; modes are {examples([mode.code for mode in analysis.modes])}.")
    failing = {result.task: result.rollouts - result.c for result in analysis.tasks}
    found: list[Label] = []
    skipped: dict[str, str] = {}
    for task in mode.tasks:
        cited = [citation for citation in mode.citations if split_citation(citation)[0] == task]
        if task in labels and not is_by_rule(labels[task].author):
            skipped[task] = f"judged by {labels[task].author}"
        elif len(cited) < failing[task]:
            skipped[task] = f"{len(cited)} of its {failing[task]} failing rollouts show it"
        else:
            evidence = [Evidence(citation=citation) for citation in cited]
            found.append(msgspec.structs.replace(said, task=task, evidence=evidence))
    return ModeLabels(labels=found, skipped=skipped)


def check_evidence(proof: Evidence, run: Run) -> Evidence:
    """The proof with its citation in plain form, once what it cites and quotes was found."""
    row, item = locate(proof.citation, run)
    citation = run.table.citation(row, item)
    if proof.quote is not None or item is not None:
        check_quote(proof.quote, run.rollout_at(row).items, citation=citation, item=item)
    return Evidence(citation=citation, quote=proof.quote)


def locate(citation: str, run: Run) -> tuple[int, int | None]:
    """Row and item of a citation."""
    text = citation.strip().strip("`")
    return run.row(text), item_of(text)


def check_quote(quote: str | None, items: Sequence[Item], *, citation: str, item: int | None) -> None:
    """Raises unless the item exists and the quote stands in it, or without an item in any of them."""
    if item is not None and item >= len(items):
        raise UsageError(f"{citation}: the rollout has {len(items)} items, counted from 0.")
    if quote is None:
        return
    if not quote.strip():
        raise UsageError(f"{citation}: the quote is empty; leave it out or copy text from the rollout.")
    holding = [found.position for found in items if quote in found.text]
    if not holding or (item is not None and item not in holding):
        elsewhere = f"; it stands at #{holding[0]}" if holding else "; copy it from what `blade show` prints"
        raise UsageError(f"{citation}: the quote {quote[:60]!r} does not occur there verbatim{elsewhere}.")


def signed_lines(place: Path) -> list[bytes]:
    """The lines of a labels file that no rule wrote, as they are; none where there is no file."""
    old = place.read_bytes() if place.exists() else b""
    return [line for number, line in enumerate(old.splitlines(), start=1) if is_kept(line, f"{place}:{number}")]


def labels_file(drafts: Iterable[Label], signed: Iterable[bytes]) -> Iterator[bytes]:
    """A labels file in pieces: the labels by rule, then the lines that somebody signed."""
    drafts = iter(drafts)
    while some := list(islice(drafts, PIECE)):
        yield safe_json(ENCODER.encode_lines(some))
    yield from (line + b"\n" for line in signed)


def is_kept(line: bytes, where: str) -> bool:
    """Whether a person or a model wrote this line."""
    if not line.strip():
        return False
    try:
        return not is_by_rule(DECODER.decode(line).author)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(f"{where}: is not a label: {error}. Fix or remove the line.") from error
