"""Citations, tasks, labels and quotes held against the rollouts themselves."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from blade.audit.claims import Claim
from blade.audit.evidence import Source
from blade.audit.mentions import split_citation
from blade.audit.outcome import Check
from blade.audit.told import Told
from blade.report.text import plain
from blade.rollouts import Rollout, Run
from blade.rollouts.table import examples

CUT = re.compile(r"…|\.\.\.|\[(?:…|\.\.\.)\]|\[redacted:\w+\]")
"""Where a quote leaves something out."""
FOLDED = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "\u00a0": " "})
HEDGED_LABEL = re.compile(
    r"\b(?:not|n't|instead|rather|was|were|before|earlier|formerly|originally|previously|changed|corrected|unlike|"
    r"or|versus|vs|would|could|might|if|first|draft)\b",
    re.IGNORECASE,
)
FILE = re.compile(r"\.[A-Za-z]{1,5}$")
FEW_WORDS = 4
FEW_LETTERS = 8
LONGEST = 20_000
"""Characters of an item that are searched for what a quote may have been."""


class Shelf:
    """The rollouts of some runs that a report cites, read once."""

    def __init__(self, sources: Sequence[Source], claims: Sequence[Claim]) -> None:
        self.sources = sources
        self.tasks = {result.task: source for source in sources for result in source.analysis.tasks}
        self.labels = [{cause.task: cause.label for cause in source.analysis.causes} for source in sources]
        self.runs = [source.run for source in sources]
        cited = {claim.text for claim in claims if claim.kind == "citation"}
        cited |= {citation for claim in claims if claim.kind == "quote" for citation in claim.about}
        self.rollouts: dict[str, list[Rollout]] = defaultdict(list)
        for run in filter(None, self.runs):
            self.read(run, cited)

    def read(self, run: Run, cited: set[str]) -> None:
        rows = {row for citation in cited if (row := row_of(run, citation)) is not None}
        for row, rollout in run.numbered_rollouts(sorted(rows)):
            self.rollouts[run.table.citation(row)].append(rollout)

    def find(self, citation: str) -> list[Rollout]:
        """The rollouts that a citation names, one for each run that has it."""
        parts = split_citation(citation)
        return self.rollouts.get(f"{parts[0]}:{parts[1]}", []) if parts else []


def row_of(run: Run, citation: str) -> int | None:
    parts = split_citation(citation)
    return None if parts is None else run.table.find(parts[0], parts[1])


def check_places(told: Told, sources: Sequence[Source]) -> Iterator[Check]:
    """Every id, label and quote of a report."""
    shelf = Shelf(sources, told.claims)
    checks = {"citation": check_citation, "task": check_task, "label": check_label, "quote": check_quote}
    for claim in told.claims:
        if claim.kind in checks:
            yield checks[claim.kind](claim, shelf)


def check_citation(claim: Claim, shelf: Shelf) -> Check:
    """A citation names a rollout that exists, and an item that it has."""
    task, repeat, item = split_citation(claim.text) or ("", 0, None)
    if task not in shelf.tasks:
        return unknown_task(claim, task, shelf, sure=not FILE.search(task))
    if not any(shelf.runs):
        return Check(claim=claim, holds=None, why="the rollouts are not where they were, so only its task is known")
    found = shelf.find(claim.text)
    if not found:
        return Check(claim=claim, holds=False, true=repeats_of(task, shelf), why=f"task {task} has no repeat {repeat}")
    longest = max(len(rollout.items) for rollout in found)
    if item is not None and item >= longest:
        true = f"items 0 to {longest - 1}" if longest else "no items"
        return Check(claim=claim, holds=False, true=true, why=f"{task}:{repeat} has {longest} items, counted from 0")
    return Check(claim=claim, holds=True, why="the rollout is there")


def repeats_of(task: str, shelf: Shelf) -> str:
    found = set[int]()
    for run in filter(None, shelf.runs):
        if task in run.table.tasks:
            found |= set(run.table.repeat[run.table.task == run.table.tasks.index(task)].tolist())
    return f"repeats {examples([str(repeat) for repeat in sorted(found)])}" if found else "no repeats"


def check_task(claim: Claim, shelf: Shelf) -> Check:
    """A task that is named exists."""
    if claim.text in shelf.tasks:
        return Check(claim=claim, holds=True, why="the task is there")
    return unknown_task(claim, claim.text, shelf, sure=claim.table is None or is_like(claim.text, shelf.tasks))


def unknown_task(claim: Claim, task: str, shelf: Shelf, *, sure: bool) -> Check:
    if not shelf.tasks or not sure:
        return Check(claim=claim, holds=None, why=f"{task} is no task of these rows, but may be something else")
    true = f"tasks {examples(sorted(shelf.tasks), 5)}"
    return Check(claim=claim, holds=False, true=true, why=f"there is no task {task}")


def is_like(key: str, tasks: Mapping[str, Source]) -> bool:
    """Whether a key has the form of this run's keys: all digits, or words built alike."""
    return form_of(key) in {form_of(task) for task in tasks}


def form_of(key: str) -> str:
    return re.sub(r"[A-Za-z]+", "a", re.sub(r"\d+", "0", key))


def check_label(claim: Claim, shelf: Shelf) -> Check:
    """A label is the one in force."""
    (task, *_) = claim.about
    known = [labels[task] for labels in shelf.labels if task in labels]
    if claim.text in known:
        return Check(claim=claim, holds=True, why="the label in force")
    if task not in shelf.tasks:
        return Check(claim=claim, holds=None, why=f"there is no task {task} in these rows")
    if not claim.positive or (claim.table is None and HEDGED_LABEL.search(claim.subject)):
        return Check(claim=claim, holds=None, why="it may not be meant as the label in force")
    true = " or ".join(sorted(set(known))) or "no label: the task always passes"
    return Check(claim=claim, holds=False, true=true, why=f"the label in force for task {task} is {true}")


def check_quote(claim: Claim, shelf: Shelf) -> Check:
    """A quote stands word for word where it is said to."""
    citation = claim.about[0]
    found, item = shelf.find(citation), (split_citation(citation) or ("", 0, None))[2]
    if not found:
        known = any(shelf.runs)
        return Check(
            claim=claim, holds=None, why=f"{citation} is not there" if known else "the rollouts are not at hand"
        )
    places = [place for rollout in found for place in holding(rollout, claim.text)]
    if any(item is None or place == item for place in places):
        return Check(claim=claim, holds=True, why="it stands there word for word")
    if places:
        true = f"it stands at #{min(place for place in places)}" if min(places) >= 0 else "it stands in another field"
        return Check(claim=claim, holds=False, true=true, why=f"{citation} does not say it")
    if is_own_words(claim, citation):
        return Check(claim=claim, holds=None, why="a few words in quotation marks may be the report's own")
    return Check(claim=claim, holds=False, true=nearest(found, item, claim.text), why=f"{citation} does not say it so")


def is_own_words(claim: Claim, citation: str) -> bool:
    """Whether a short quote is not put right beside its citation, as a quotation is."""
    between = claim.words[claim.words.find(f"`{citation}`") + len(citation) + 2 : claim.start]
    return len(claim.text.split()) < FEW_WORDS and not re.fullmatch(r"\s*[:(—–-]?\s*", between)


def holding(rollout: Rollout, quote: str) -> list[int]:
    """Items that hold a quote; -1 for what the row says outside of its trajectory."""
    items = [item.position for item in rollout.items if holds_quote(item.text, quote)]
    return items or ([-1] if holds_quote(str(rollout.fields), quote) else [])


def holds_quote(text: str, quote: str) -> bool:
    """Whether the pieces of a quote stand in a text, in their order."""
    at, said = 0, normal(text)
    pieces = [piece for piece in map(normal, CUT.split(quote)) if piece]
    for piece in pieces:
        found = said.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return bool(pieces)


def normal(text: str) -> str:
    """A text by its words and signs: white space as one blank, quotation marks straight."""
    return " ".join(plain(text).translate(FOLDED).split())


def nearest(found: Sequence[Rollout], item: int | None, quote: str) -> str:
    """The words at the cited place that are most like a quote."""
    said = normal(CUT.sub(" ", quote))
    texts = [normal(one.text) for rollout in found for one in rollout.items if item is None or one.position == item]
    matches = [
        (SequenceMatcher(None, text[:LONGEST], said, autojunk=False).find_longest_match(), text) for text in texts
    ]
    best, text = max(matches, key=lambda match: match[0].size, default=(None, ""))
    if best is None or best.size < FEW_LETTERS:
        return "other words; see `blade show`"
    start = max(0, best.a - best.b)
    return f"“{text[start : start + len(said) + FEW_LETTERS]}”"
