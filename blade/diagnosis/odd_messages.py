"""Failing rollouts whose last message is no answer, in whatever words: a service's error, a refusal, a mere plan.

Such a message takes up nothing of its task, comes to several tasks and to none that passes, after no call where all
others call, and the verifier finds no answer in it. Each of these is a hint, and so is each thing it speaks of.
"""

from collections import defaultdict
from typing import NamedTuple

from blade.diagnosis.clock import Clock
from blade.diagnosis.lexicon import is_good_news, is_machine, is_plan, refusal_weight, service_weight
from blade.diagnosis.odd_results import SEVERAL, Odd
from blade.diagnosis.readings import Reading, Readings
from blade.diagnosis.usual import Usually, share
from blade.rollouts.patterns import SHORT_MESSAGE
from blade.rollouts.phrases import fingerprint

ENOUGH = 4
"""Hints of structure and of words together that decide."""
ENOUGH_ALONE = 3
"""Hints of structure that decide whatever the words."""

AT_ONCE, CERTAINLY_AT_ONCE = 0.01, 0.001
"""How unlikely it must be by chance that messages come at one time, with words for it and without."""
MOSTLY = 0.5
"""A message that takes up the task in no more of the rollouts that end with it is about none."""


class Group(NamedTuple):
    """Rollouts that end with the same words."""

    members: list[Reading]
    hints: int
    """How much of what passing rollouts have those words lack."""

    @property
    def rows(self) -> list[int]:
        return [reading.row for reading in self.members]


def odd_messages(failing: list[Reading], readings: Readings, usually: Usually, *, clock: Clock) -> list[Odd]:
    """Every failing rollout whose last message is no answer; the clock says when it was made."""
    by_words: dict[int, list[Reading]] = defaultdict(list)
    for reading in failing:
        if 0 < len(reading.said) <= SHORT_MESSAGE and not reading.is_parsed:
            by_words[fingerprint(reading.said) or -reading.row - 1].append(reading)
    groups = [
        Group(same, lacks(same, readings, usually)) for words, same in by_words.items() if words not in usually.said
    ]
    suspects = [row for group in groups if group.hints for row in group.rows]
    out: list[Odd] = []
    for group in groups:
        chance, beside = clock.chance(group.rows), clock.chance_beside(group.rows, suspects)
        codes = [judge(reading.said, group.hints, chance=chance, beside=beside) for reading in group.members]
        out += [(code, reading, reading.ends_at) for code, reading in zip(codes, group.members, strict=True) if code]
    return out


def lacks(same: list[Reading], readings: Readings, usually: Usually) -> int:
    """How much of what passing rollouts have some words lack.

    Words about their task are more of an answer; those that other tasks hear too are about none.
    """
    missing = usually.would_call(same[0]) + usually.are_parsed
    if share(readings.mentions_task(reading) for reading in same) > MOSTLY:
        return max(0, missing - 1)
    return missing + usually.mention_task + min(len({reading.task for reading in same}), SEVERAL) - 1


def judge(said: str, hints: int, *, chance: float, beside: float) -> str | None:
    """The signal a message gives, if any: what it speaks of tells a service from one who declines, and so does when.

    `chance` is how likely it is that it came so often in so short a time, `beside` that odd messages of any words did.
    A service fails at a time; whoever declines does so by the task, whatever the words.
    """
    service, refusal = weigh(said)
    if hints and is_plan(said) and not refusal:
        return "stopped_early"
    certainly = chance < CERTAINLY_AT_ONCE
    at_once = certainly or beside < CERTAINLY_AT_ONCE or (service and chance < AT_ONCE)
    service += 2 * at_once
    if not hints or (hints < ENOUGH_ALONE and hints + max(service, refusal) < ENOUGH):
        return None
    if not service and not refusal:
        return "stock_answer"
    return "provider_error" if certainly or service > refusal else "refusal"


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
