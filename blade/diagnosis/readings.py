"""What a closer look at rollouts notes: how each ended, what its tools told it, and what its task is about.

Only rollouts of tasks that do not always pass are read in full, and some that pass to compare them with; the table
knows enough about the rest.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from blade.diagnosis.actions import Deviation, deviation_of
from blade.diagnosis.answers import GIVEN_FIELDS, answer_of, expected_of, first_stated, normalize
from blade.diagnosis.arguments import invalid_call
from blade.diagnosis.budget import within_budget
from blade.diagnosis.lexicon import FILLER
from blade.diagnosis.scripted_user import left_script
from blade.diagnosis.sentences import CANNOT
from blade.diagnosis.shapes import Met, shape_of
from blade.metrics.values import Floats, Ints
from blade.rollouts import Item, Rollout, Run
from blade.rollouts.features import split_thinking
from blade.rollouts.patterns import SHORT_MESSAGE
from blade.rollouts.phrases import fingerprint
from blade.rollouts.table import RolloutTable

MOST_ROLLOUTS = 5000
FOR_COMPARISON = 300
"""Rollouts of tasks that always pass that are read too: what is odd must be odd beside them."""
KEPT = 2000
"""Characters kept of what was said last."""
FEWEST_LETTERS = 4
"""What a tool says in fewer letters, many say."""
MOST_RESULTS = 200
TOPIC = 4000
"""Characters of a prompt in which its task's terms are looked for."""
FENCED_DATA = re.compile(r"\s*```\w*\s*[\[{<].*[\]}>]\s*```\s*\Z", re.DOTALL)
TERM = re.compile(r"[^\W_]{4,}|\w*\d\w*")
IDENTIFIER = re.compile(r"[^\W_]+(?:_[^\W_]+)+")
"""What is common by its parts, `retry_request`, is rare as a whole."""
COMMON = 0.2
"""A term in the prompts of more tasks than this is not what a task is about."""


class Answered(NamedTuple):
    """What a row answered, in full and without harmless differences."""

    row: int
    given: str
    plain: str
    expected: str | None


class Told(NamedTuple):
    """What a tool said."""

    kind: Met
    """The tool and the shape of its answer."""
    words: int
    """A number that two answers share when they differ in numbers and ids alone; 0 for a very short or a long one."""
    asked: str
    """Arguments of the call it answers."""
    at: int
    """Position of the item."""


class Reading(NamedTuple):
    """What was noted of one rollout."""

    row: int
    task: int
    told: list[Told]
    """What tools said, in order."""
    last_told: str
    """The last of it, verbatim."""
    is_cut: bool
    """Whether the rollout ends on what a tool said: the model never got its turn."""
    said: str
    """The last message, when nothing follows it."""
    ends_at: int
    """Position of the last item that is no thought, -1 when there is none."""
    calls: int
    """Tool calls."""
    taken_up: frozenset[str]
    """Terms of the prompt and of the calls that the last message takes up."""
    is_fenced: bool
    """Whether its answer is nothing but data in a code fence."""
    is_parsed: bool
    """Whether the verifier took an answer out of it."""
    deviation: Deviation | None
    """How its changes differ from those its task expects; `None` when they do not, or nobody knows."""
    misled_at: int | None
    """Position of the user's turn that asked for something else than the task."""
    gave_up_at: int
    """Position of the first message that says that something cannot be done, else of the last; -1 without one."""
    invalid_at: int | None
    """Position of the first call that its tool's schema does not allow and that was never made right."""
    answer: Answered | None


class Readings(NamedTuple):
    """All rollouts that were read."""

    all: list[Reading]
    common: frozenset[str]
    """Terms that so many prompts share that none of them is about a task."""
    left: int = 0
    """Rollouts that were worth reading and were not, for want of budget."""

    def answers(self) -> list[Answered]:
        """The answers of those that gave one."""
        return [reading.answer for reading in self.all if reading.answer is not None]

    def mentions_task(self, reading: Reading) -> bool:
        """Whether the last message takes up anything of its task."""
        return bool(reading.taken_up - self.common)


NOTHING_READ = Readings([], frozenset())


def read_closely(run: Run, success: Floats) -> Readings:
    """Everything noted of the rollouts worth reading."""
    wanted = worth_reading(run.table, success)
    rows = within_budget(run.table, wanted, most=MOST_ROLLOUTS)
    noted: list[Reading] = []
    topics: dict[int, frozenset[str]] = {}
    for row, rollout in run.numbered_rollouts(rows.tolist()):
        task = int(run.table.task[row])
        if task not in topics:
            topics[task] = terms(item.text[:TOPIC] for item in rollout.items if item.prompt)
        noted.append(note(row, task, rollout, topics[task]))
    return Readings(noted, common_terms(topics.values()), len(wanted) - len(rows))


def worth_reading(table: RolloutTable, success: Floats) -> Ints:
    """Rows with a verdict of tasks that fail at least once, and some others that pass."""
    fails = np.zeros(len(table.tasks), dtype=bool)
    fails[table.task[success == 0.0]] = True
    known = ~np.isnan(success)
    chosen = known & fails[table.task]
    others = np.flatnonzero(known & ~fails[table.task])
    chosen[others[:: max(1, len(others) // FOR_COMPARISON)]] = chosen.any()
    return np.flatnonzero(chosen)


def terms(texts: Iterable[str]) -> frozenset[str]:
    """Words, numbers and identifiers that may be what a text is about."""
    found = (term for text in texts for form in (TERM, IDENTIFIER) for term in form.findall(text))
    return frozenset(map(str.lower, found)) - FILLER


def common_terms(topics: Iterable[frozenset[str]]) -> frozenset[str]:
    found = list(topics)
    counts = Counter(term for topic in found for term in topic)
    return frozenset(term for term, count in counts.items() if count > max(1, COMMON * len(found)))


def note(row: int, task: int, rollout: Rollout, topic: frozenset[str]) -> Reading:
    """What is noted of one rollout of a task about some terms."""
    made = [item for item in rollout.items if not item.prompt]
    ending = next((item for item in reversed(made) if item.kind != "reasoning"), None)
    said = split_thinking(ending.text)[1].strip()[:KEPT] if ending and ending.kind == "message" else ""
    deviation = deviation_of(rollout)
    about = topic | terms(item.text[:TOPIC] for item in made if item.kind in ("tool_call", "environment"))
    return Reading(
        row=row,
        task=task,
        told=told_by(made),
        last_told=next((item.text[:KEPT] for item in reversed(made) if item.kind == "tool_result"), ""),
        is_cut=ending is not None and ending.kind == "tool_result",
        said=said,
        ends_at=-1 if ending is None else ending.position,
        calls=sum(item.kind == "tool_call" for item in made),
        taken_up=terms([said]) & about,
        is_fenced=ending is not None and FENCED_DATA.match(split_thinking(ending.text)[1]) is not None,
        is_parsed=first_stated(rollout, GIVEN_FIELDS) is not None,
        deviation=deviation,
        misled_at=None if deviation is None else left_script(rollout, deviation),
        gave_up_at=gave_up_at(made),
        invalid_at=invalid_call(rollout.items, rollout.tools),
        answer=answered(row, rollout),
    )


def gave_up_at(items: Sequence[Item]) -> int:
    """Position of the first message that says that something cannot be done, else of the last message."""
    said = [item for item in items if item.kind == "message"]
    chosen = next((item for item in said if CANNOT.search(item.text)), said[-1] if said else None)
    return -1 if chosen is None else chosen.position


def told_by(items: Sequence[Item]) -> list[Told]:
    """What tools said; an answer that does not name its call belongs to the one before it."""
    out: list[Told] = []
    calls: dict[str | None, Item] = {}
    for item in items:
        if item.kind == "tool_call":
            calls[item.call_id] = calls[None] = item
        elif item.kind == "tool_result":
            call = calls.get(item.call_id) or calls.get(None)
            name, asked = ("", "") if call is None else (call.name or "", call.text)
            kind = Met(item.name or name, shape_of(item.text))
            out.append(Told(kind, words_of(item.text), asked, item.position))
    return out[-MOST_RESULTS:]


def words_of(text: str) -> int:
    return fingerprint(text, fewest=FEWEST_LETTERS) if len(text) <= SHORT_MESSAGE else 0


def answered(row: int, rollout: Rollout) -> Answered | None:
    """What a rollout answered; `None` where it gave no answer."""
    given = answer_of(rollout)
    if not given or not given.strip():
        return None
    return Answered(row, given, normalize(given), expected_of(rollout))
