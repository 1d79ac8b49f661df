"""The decisive step of a failed rollout: the item at which it went wrong, claimed with its evidence or not at all.

Three kinds of evidence are known well enough. Where a task lists its calls, the first change that was not expected.
Where it does not and rollouts are short, the first action whose execution failed, unless passing rollouts of the run
see such errors as well. Else the item in which the wrong final answer first appears. The probabilities are
how often each is the labelled step of AgentRx's tau-bench failures and of half of Who&When, on which the constants here
were chosen; the other half is printed beside it (`make accuracy ARGS="--data …"`).
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from blade.diagnosis.answers import is_any_of, plain_number
from blade.diagnosis.differences import Conventions, Difference, refused_calls
from blade.rollouts import Item, Rollout

StepKind = Literal["change", "error", "answer"]

PROBABILITY: dict[StepKind, float] = {"change": 0.55, "error": 0.5, "answer": 0.6}
LAST_LINES = 3
"""Lines at the end of a final message that its answer is looked for in."""
SHORT = 12
"""Items an agent may produce before a failed action says little: in a long rollout many fail and are repaired."""
LITERAL = re.compile(r"\*\*([^*\n]{2,60})\*\*|[\"“]([^\"”\n]{2,60})[\"”]|(?<![\w.,])(-?\d+(?:\.\d+)?)(?![\w])")
"""What a text marks as a value: emphasis, quotes, numbers."""
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """Where a rollout went wrong."""

    item: int
    """Position of the decisive item."""
    kind: StepKind
    """What the claim rests on."""
    why: str
    """The evidence in a clause."""
    agent: str | None = None
    """Who acted, where several agents share a trajectory."""
    probability: float
    """How often such a claim is right."""


def decisive_step(rollout: Rollout, differences: Sequence[Difference], conventions: Conventions) -> Step | None:
    """The decisive step of a rollout that failed; `None` where nothing shows it well enough.

    Args:
        differences: what counts of expected against made.
        conventions: what the run's passing rollouts tell.
    """
    if rollout.success is not False:
        return None
    if rollout.expected is not None and rollout.expected.calls is not None:
        return first_wrong_change(rollout, differences, conventions) if differences else None
    return first_failed_action(rollout, conventions) or origin_of_answer(rollout)


def first_wrong_change(rollout: Rollout, differences: Sequence[Difference], conventions: Conventions) -> Step | None:
    """The first call that changed what it should not, or was refused and is not expected by the task at all.

    What a call was made with right after the user spoke is what the user agreed to, so that its arguments may be the
    user's mistake as well as the agent's: when such a call comes first, nothing is claimed.
    """
    wrong = {d.item: f"`{d.subject}` is not as expected" for d in differences if d.kind in ("argument", "call_extra")}
    expected = rollout.expected.calls if rollout.expected and rollout.expected.calls else []
    refused = refused_calls(rollout.items)
    changing = conventions.listed - conventions.reading - {call.name for call in expected}
    for item in rollout.items:
        if item.position in refused and item.name in changing:
            wrong.setdefault(item.position, f"`{item.name}` was refused and is not expected")
    first = min((position for position in wrong if position is not None), default=None)
    if first is None or (first in agreed(rollout) and first in {d.item for d in differences if d.kind == "argument"}):
        return None
    return step(rollout.items, first, "change", wrong[first])


def agreed(rollout: Rollout) -> set[int]:
    """Positions right after a turn of the user."""
    return {item.position + 1 for item in rollout.items if item.kind == "environment" and item.role == "user"}


def first_failed_action(rollout: Rollout, conventions: Conventions) -> Step | None:
    """What an agent did just before the first typed error of a short rollout."""
    made = [item for item in rollout.items if not item.prompt]
    if conventions.errors_usual or len(made) > SHORT:
        return None
    failed = next((item for item in made if item.error is not None), None)
    return None if failed is None else step(rollout.items, failed.position, "error", f"it failed: {failed.error}")


def origin_of_answer(rollout: Rollout) -> Step | None:
    """Where the wrong answer that a finished rollout ends on was first said."""
    answers = rollout.expected.answers if rollout.expected else None
    final = final_message(rollout.items)
    if not answers or final is None or not is_closed(rollout):
        return None
    made = [item for item in rollout.items if not item.prompt]
    # What opens a trajectory says what was given, even where an agent says it.
    given = " ".join(item.text for item in rollout.items if item.prompt or item is made[0])
    for value in answer_candidates(rollout, final):
        same_form = (plain_number(value) is None) == (plain_number(answers[0]) is None)
        if not same_form or is_any_of(value, answers) or holds(given, value):
            continue
        first = next((item for item in made if holds(item.text, value)), final)
        if first is not final:
            return step(rollout.items, first.position, "answer", f"`{value}` first appears here")
    return None


def is_closed(rollout: Rollout) -> bool:
    """Whether a rollout ended by itself; several agents must have ended their talk with a word."""
    several = len({item.agent for item in rollout.items if item.agent}) > 1
    return rollout.ending.kind == "completed" and (not several or len(rollout.items[-1].text.split()) < 2)


def answer_candidates(rollout: Rollout, final: Item) -> Iterator[str]:
    """The answer that was judged, else values at the end of the final message, last first."""
    if rollout.answer is not None:
        yield rollout.answer
        return
    lines = [line for line in final.text.splitlines() if line.strip()]
    found = LITERAL.findall(THOUSANDS.sub("", "\n".join(lines[-LAST_LINES:])))
    values = (next(part for part in groups if part).strip(" .:") for groups in reversed(found))
    yield from (value for value in values if value not in closing_words(rollout.items))


def final_message(items: Sequence[Item]) -> Item | None:
    """The last message of an agent that says something of its own."""
    closing = closing_words(items)
    spoken = [item for item in messages(items) if item.text.strip() not in closing]
    return spoken[-1] if spoken else None


def closing_words(items: Sequence[Item]) -> set[str]:
    """Messages of one word, with which agents end their talk."""
    return {item.text.strip() for item in messages(items) if len(item.text.split()) == 1}


def messages(items: Sequence[Item]) -> list[Item]:
    return [item for item in items if item.kind == "message" and not item.prompt and item.text.strip()]


def holds(text: str, value: str) -> bool:
    """Whether a text has a value as a whole word, whatever its case."""
    # Most texts do not have it at all, which is found out much faster; signs beyond ASCII have cases of their own.
    if text.isascii() and value.isascii() and without_commas(value) not in without_commas(text):
        return False
    pattern = rf"(?<![\w.]){re.escape(value)}(?!\w|\.\d)"
    return re.search(pattern, THOUSANDS.sub("", text) if "," in text else text, re.IGNORECASE) is not None


def without_commas(text: str) -> str:
    return text.replace(",", "").lower()


def step(items: Sequence[Item], position: int, kind: StepKind, why: str) -> Step:
    """A claim about an item; what tools and the environment said is put down to what an agent did before."""
    own = [item for item in items if item.position <= position and item.kind in ("message", "tool_call")]
    item = next((item for item in reversed(own) if item.position == position or not item.prompt), items[position])
    return Step(item=item.position, kind=kind, why=why, agent=item.agent, probability=PROBABILITY[kind])
