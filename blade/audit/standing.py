"""How tasks stand: what is said of named tasks, held against their buckets and their labels.

`task 12 never passes`, `tasks that always pass: 3, 5`, `only task 25 is KG`, and lists of tasks in the row of a bucket
or of a cause.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from blade.audit.claims import LABEL, Claim, clause_around
from blade.audit.evidence import Source
from blade.audit.knowledge import as_code
from blade.audit.mentions import tasks_in
from blade.audit.outcome import Check
from blade.audit.restated import SUPPOSED
from blade.audit.subjects import words_of
from blade.audit.told import Told

OPPOSITE = {"always": "never", "never": "always"}
PASSES = re.compile(r"\b(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|solve[sd]?|right)\b", re.IGNORECASE)
FAILS = re.compile(r"\b(?:fail(?:s|ed|ing)?|wrong|unsolved)\b", re.IGNORECASE)
NEGATED = re.compile(r"\bnot\b|n[’']t\b|\bno longer\b|\bnearly\b|\balmost\b|\bor\b", re.IGNORECASE)
BESIDE = re.compile(r"\s*(?:(?:both|all|each|also|still|thus|therefore|it|they)\s+)*")
BEHIND = re.compile(r"\s*(?:tasks?\s*)?[:(]\s*(?=`)")
OBLIQUE = re.compile(
    r"\b(?:of|than|like|unlike|to|with|from|by|as|against|versus|vs\.?)\s+(?:the\s+)?(?:tasks?\s+)?$", re.IGNORECASE
)
"""What makes a task that is named next not the one that is spoken of: `the twin of task 10`."""
LIST = re.compile(r"`([^`]+)`(?:\s*(?:,\s*(?:and\s+)?|and\s+)(?=`))?")


class Standing(NamedTuple):
    """What is known of the tasks of one run."""

    buckets: Mapping[str, str]
    """Their buckets."""
    labels: Mapping[str, str]
    """Their labels in force."""


def check_standing(told: Told, sources: Sequence[Source]) -> Iterator[Check]:
    """Everything that is said of named tasks; of one run only, for tasks of two may differ."""
    if len(sources) != 1:
        return
    analysis = sources[0].analysis
    buckets = {result.task: result.bucket or "no bucket" for result in analysis.tasks}
    standing = Standing(buckets, {cause.task: cause.label for cause in analysis.causes})
    for claim in told.claims:
        if claim.kind == "task" and claim.table is not None and claim.place > 0 and claim.text in buckets:
            yield from check_listed(claim, standing)
        elif claim.kind == "universal" and claim.table is None:
            yield from check_word(claim, standing)


def check_listed(claim: Claim, standing: Standing) -> Iterator[Check]:
    """A task in the row of a bucket is in that bucket, one in the row of a cause has that label."""
    row = (claim.row or "").strip("* `")
    meant = words_of(row) & {"always", "sometimes", "never", "nooutcome"}
    if LABEL.fullmatch(row):
        true = standing.labels.get(claim.text, "no label")
        why = f"the label in force for task {claim.text} is {true}"
        yield Check(claim=claim, holds=true == row, true=true, why=why)
    elif len(meant) == 1:
        true = standing.buckets[claim.text]
        name = next(iter(meant)).replace("nooutcome", "missing")
        yield Check(claim=claim, holds=true == name, true=true, why=f"task {claim.text} is in the bucket {true}")


def check_word(claim: Claim, standing: Standing) -> Iterator[Check]:
    """`always` and `never` with a verb, and `only` with a label, of named tasks."""
    first, last = clause_around(claim.words, claim.start, claim.end)
    if NEGATED.search(claim.words[first:last]) or SUPPOSED.search(claim.words[first : claim.start]):
        return
    if claim.text in OPPOSITE:
        yield from check_bucket(claim, first, standing)
    elif claim.text == "only":
        yield from check_only(claim, first, standing)


def check_bucket(claim: Claim, first: int, standing: Standing) -> Iterator[Check]:
    """Every task that is said to always or never pass does."""
    behind = claim.words[claim.end :].lstrip(" -")
    verb = PASSES.match(behind) or FAILS.match(behind)
    if verb is None:
        return
    tasks = subjects_of(claim, first) or tasks_behind(claim.words, claim.words.find(verb[0], claim.end) + len(verb[0]))
    meant = OPPOSITE[claim.text] if FAILS.match(verb[0]) else claim.text
    if tasks and set(tasks) <= set(standing.buckets):
        others = {task: standing.buckets[task] for task in tasks if standing.buckets[task] != meant}
        true = ", ".join(f"task {task} {bucket}" for task, bucket in others.items())
        yield Check(claim=claim, holds=not others, true=true, why=f"by their rollouts: {true}" if others else "")


def subjects_of(claim: Claim, first: int) -> list[str]:
    """The tasks of which a word is said: those right before it, unless they only tell what something else is of."""
    named = [task for task in tasks_in(as_code(claim.words[: claim.start])) if task[1] >= first]
    if not named or not BESIDE.fullmatch(claim.words[named[-1][2] : claim.start]):
        return []
    return [] if OBLIQUE.search(claim.words[: named[0][1]]) else [key for key, _, _ in named]


def tasks_behind(words: str, start: int) -> list[str]:
    """The tasks of a list that begins right there, behind a colon or a bracket."""
    opening = BEHIND.match(words, start)
    found, at = [], opening.end() if opening else -1
    while opening and (entry := LIST.match(words, at)):
        found.append(entry[1])
        at = entry.end()
    return found


def check_only(claim: Claim, first: int, standing: Standing) -> Iterator[Check]:
    """`only task 25 is BI+UK`: no other task has that label."""
    rest = claim.words[claim.end :]
    label = LABEL.search(rest)
    tasks = [key for key, _, _ in tasks_in(as_code(rest))]
    if label is None or not tasks or not set(tasks) <= set(standing.buckets) or len(set(LABEL.findall(rest))) > 1:
        return
    having = [task for task, cause in standing.labels.items() if cause == label[0]]
    others = [task for task in having if task not in tasks]
    holds = not others and set(tasks) <= set(having)
    true = f"tasks {', '.join(having)}" if having else "no task"
    yield Check(claim=claim, holds=holds, true=true, why=f"{label[0]} is the label of {true}")
