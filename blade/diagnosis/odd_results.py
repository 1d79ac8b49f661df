"""Failing rollouts whose last tool result is an error, in whatever words: the machine's end, or an error overlooked.

An error is unlike what the tool says where all is well, says no to something, or comes whatever the tool is asked. It
is the machine's when no tool ever answered as usual after it and the rollout broke off there or gave up; it was
overlooked when an answer follows that does not say so.
"""

from collections import defaultdict
from typing import NamedTuple

from blade.diagnosis.lexicon import is_good_news, is_trouble, machine_loss_weight
from blade.diagnosis.readings import Reading, Readings, Told
from blade.diagnosis.usual import Usually, says_it_failed, share
from blade.rollouts.patterns import SHORT_MESSAGE
from blade.rollouts.phrases import OPENING, TOOL_ERROR

SEVERAL = 3
"""Tasks that end on the same words: no chance any more."""
OFTEN = 0.25
"""Where more rollouts than this end on what a tool said, that is how this run ends."""

Odd = tuple[str, Reading, int]
"""Signal, rollout and item."""


class Ending(NamedTuple):
    """What rollouts whose tools said the same last have in common."""

    tasks: int
    is_fatal: bool
    """No tool ever answered as usual after it, and no passing rollout met it."""
    is_cut: bool
    """Some rollout ends on it."""


def odd_results(failing: list[Reading], readings: Readings, usually: Usually) -> list[Odd]:
    """Every failing rollout whose last tool result is an error that explains it."""
    endings = shared_results(failing, readings, usually)
    breaks_off = share(reading.is_cut for reading in readings.all) <= OFTEN
    out: list[Odd] = []
    for reading in failing:
        if not reading.told:
            continue
        last = reading.told[-1]
        ending = endings[last.words] if last.words else Ending(1, not usually.has_met(last), reading.is_cut)
        if not is_error(reading, ending, usually, breaks_off=breaks_off):
            continue
        if is_machines_end(reading, ending, usually) and (breaks_off or not reading.is_cut):
            out.append(("sandbox_fault", reading, last.at))
        elif reading.said and not says_it_failed(reading.said) and usually.surprise(last):
            out.append(("ignored_tool_error", reading, reading.ends_at))
    return out


def shared_results(failing: list[Reading], readings: Readings, usually: Usually) -> dict[int, Ending]:
    """Words a tool said last -> what the rollouts that met them have in common."""
    harmless = {told.words for reading in readings.all for told in reading.told if was_got_over(reading, told, usually)}
    tasks: dict[int, set[int]] = defaultdict(set)
    cut: set[int] = set()
    for reading in failing:
        for told in reading.told[-1:]:
            tasks[told.words].add(reading.task)
            harmless |= {told.words} if usually.has_met(told) else set()
            cut |= {told.words} if reading.is_cut else set()
    return {words: Ending(len(found), words not in harmless, words in cut) for words, found in tasks.items()}


def was_got_over(reading: Reading, told: Told, usually: Usually) -> bool:
    """Whether a tool answered as usual after it."""
    later = [other for other in reading.told if other.at > told.at and other.words != told.words]
    return any(not usually.surprise(other) for other in later)


def is_error(reading: Reading, ending: Ending, usually: Usually, *, breaks_off: bool) -> bool:
    """Whether the last tool result is an error: by its words and its oddity, or by much oddity alone."""
    text, last = reading.last_told, reading.told[-1]
    if usually.is_usual(last):
        return False
    opens_so = TOOL_ERROR.match(text[:OPENING].encode("utf-8", "replace")) is not None
    words = 2 * opens_so + (len(text) <= SHORT_MESSAGE and is_trouble(text)) + speaks_of_loss(reading)
    odd = usually.surprise(last) + (ending.tasks >= SEVERAL and ending.is_fatal) + is_stuck(reading)
    odd += reading.is_cut and breaks_off
    return words + odd >= (2 if words else 3)


def speaks_of_loss(reading: Reading) -> bool:
    return len(reading.last_told) <= SHORT_MESSAGE and machine_loss_weight(reading.last_told) == 2


def is_stuck(reading: Reading) -> bool:
    """Whether a tool said the same twice at the end, though it was asked something else."""
    if len(reading.told) < 2 or not reading.told[-1].words:
        return False
    before, last = reading.told[-2:]
    return before.words == last.words and before.asked != last.asked


def is_machines_end(reading: Reading, ending: Ending, usually: Usually) -> bool:
    """Whether the machine under the tool is gone, rather than the call wrong.

    A rollout that says so needs only words for it; one that says nothing of the kind must break off or go round in
    circles there, or others must; one that says that all is well has overlooked an error.
    """
    if not ending.is_fatal or is_good_news(reading.said):
        return False
    odd = usually.surprise(reading.told[-1]) > 0 or ending.tasks >= SEVERAL
    ends_there = odd and (ending.is_cut or is_stuck(reading))
    stopped = reading.is_cut or says_it_failed(reading.said)
    return ends_there or (stopped and speaks_of_loss(reading))
