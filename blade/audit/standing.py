"""How tasks stand: `task 12 never passes`, `tasks 3 and 5 always pass`, held against their buckets."""

import re
from collections.abc import Iterator, Mapping, Sequence

from blade.audit.claims import Claim, clause_around
from blade.audit.evidence import Source
from blade.audit.knowledge import as_code
from blade.audit.mentions import tasks_in
from blade.audit.outcome import Check
from blade.audit.subjects import words_of
from blade.audit.told import Told

OPPOSITE = {"always": "never", "never": "always", "sometimes": "sometimes"}
PASSES = re.compile(r"\b(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|solved?|is solved|right)\b", re.IGNORECASE)
FAILS = re.compile(r"\b(?:fail(?:s|ed|ing)?|wrong|unsolved)\b", re.IGNORECASE)
NEGATED = re.compile(r"\bnot\b|n[’']t\b|\bno longer\b|\bnearly\b|\balmost\b", re.IGNORECASE)


BELONGING = re.compile(r"\b(?!rollouts|attempts)\w+ (?:of|than|like|beside) tasks? $", re.IGNORECASE)
"""What makes a task only the owner of what is spoken of: the twin of task 12."""


def check_standing(told: Told, sources: Sequence[Source]) -> Iterator[Check]:
    """Every `always` and `never` that is said of named tasks; of one run only, for two may differ."""
    if len(sources) != 1:
        return
    buckets = {result.task: result.bucket or "" for result in sources[0].analysis.tasks}
    for claim in told.claims:
        if claim.kind == "task" and claim.table is not None and claim.text in buckets:
            yield from check_listed(claim, buckets)
        if claim.kind == "universal" and claim.text in ("always", "never") and claim.table is None:
            check = check_bucket(claim, buckets)
            if check is not None:
                yield check


def check_listed(claim: Claim, buckets: Mapping[str, str]) -> Iterator[Check]:
    """A task in the row of a bucket is in that bucket."""
    meant = words_of(claim.row or "") & {"always", "sometimes", "never", "nooutcome"}
    name = next(iter(meant), "").replace("nooutcome", "missing")
    if len(meant) == 1 and claim.place > 0:
        true = buckets[claim.text] or "no bucket"
        why = f"task {claim.text} is in the bucket {true}"
        yield Check(claim=claim, holds=buckets[claim.text] == name, true=true, why=why)


def check_bucket(claim: Claim, buckets: Mapping[str, str]) -> Check | None:
    """One such word; `None` when it is about something else."""
    first, last = clause_around(claim.words, claim.start, claim.end)
    clause = claim.words[first:last]
    verb = PASSES.match(claim.words[claim.end :].lstrip(" -")) or FAILS.match(claim.words[claim.end :].lstrip(" -"))
    said = as_code(claim.words[:last])
    tasks = [key for key, at, _ in tasks_in(said) if key in buckets and not BELONGING.search(said[:at])]
    if verb is None or not tasks or NEGATED.search(clause):
        return None
    meant = OPPOSITE[claim.text] if FAILS.match(verb[0]) else claim.text
    others = {task: buckets[task] for task in tasks if buckets[task] != meant}
    true = ", ".join(f"task {task} {bucket or 'is in no bucket'}" for task, bucket in others.items())
    return Check(claim=claim, holds=not others, true=true, why=f"by their rollouts: {true}" if others else "")
