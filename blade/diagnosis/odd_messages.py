"""Failing rollouts whose last message is no answer, in whatever words: a service's error, a refusal, a mere plan.

Such a message takes up nothing of its task, comes to several tasks and to none that passes, after no call where all
others call, and the verifier finds no answer in it. Each of these is a hint, and so is each thing it speaks of.
"""

from collections import defaultdict

from blade.diagnosis.clock import Clock
from blade.diagnosis.lexicon import is_good_news, is_machine, is_plan, refusal_weight, service_weight
from blade.diagnosis.odd_results import SEVERAL, Odd
from blade.diagnosis.readings import Reading, Readings
from blade.diagnosis.usual import Usually
from blade.rollouts.patterns import SHORT_MESSAGE
from blade.rollouts.phrases import fingerprint

ENOUGH = 4
"""Hints of structure and of words together that decide."""
ENOUGH_ALONE = 3
"""Hints of structure that decide whatever the words."""

AT_ONCE, CERTAINLY_AT_ONCE = 0.01, 0.001
"""How unlikely it must be by chance that a message comes at one time, with words for it and without."""


def odd_messages(failing: list[Reading], readings: Readings, usually: Usually, *, clock: Clock) -> list[Odd]:
    """Every failing rollout whose last message is no answer; the clock says when it was made."""
    groups: dict[int, list[Reading]] = defaultdict(list)
    for reading in failing:
        if 0 < len(reading.said) <= SHORT_MESSAGE and not reading.is_parsed:
            groups[fingerprint(reading.said) or -reading.row - 1].append(reading)
    out: list[Odd] = []
    for words, group in groups.items():
        tasks, chance = len({reading.task for reading in group}), clock.chance([reading.row for reading in group])
        for reading in group if words not in usually.said else ():
            code = judge(reading.said, lacks(reading, tasks, readings, usually), chance=chance)
            out += [(code, reading, reading.ends_at)] if code else []
    return out


def lacks(reading: Reading, tasks: int, readings: Readings, usually: Usually) -> int:
    """How much of what passing rollouts have a message lacks.

    One that is about its task is more of an answer; one that other tasks hear too is about none.
    """
    missing = usually.would_call(reading) + usually.are_parsed
    if readings.mentions_task(reading):
        return max(0, missing - 1)
    return missing + usually.mention_task + min(tasks, SEVERAL) - 1


def judge(said: str, hints: int, *, chance: float) -> str | None:
    """The signal a message gives, if any: what it speaks of tells a service from one who declines, and so does when.

    `chance` is how likely it is that it came so often in so short a time.
    """
    service, refusal = weigh(said)
    if hints and is_plan(said) and not refusal:
        return "stopped_early"
    if not hints or (hints < ENOUGH_ALONE and hints + max(service, refusal) < ENOUGH):
        return None
    if chance < (AT_ONCE if service else CERTAINLY_AT_ONCE):
        service += 2
    if not service and not refusal:
        return "stock_answer"
    return "provider_error" if service > refusal else "refusal"


def weigh(said: str) -> tuple[int, int]:
    """How much a message sounds like a service's error and like a refusal; one that brings good news is neither."""
    if is_good_news(said) and not is_machine(said):
        return 0, 0
    return service_weight(said), refusal_weight(said)


def fenced_answers(failing: list[Reading], passing: list[Reading]) -> list[Odd]:
    """Answers that are data in a code fence, where bare data passes and none in a fence does."""
    bare = any(reading.said.startswith(("{", "[", "<")) for reading in passing)
    if not bare or any(reading.is_fenced for reading in passing):
        return []
    return [("fenced_answer", reading, reading.ends_at) for reading in failing if reading.is_fenced]
