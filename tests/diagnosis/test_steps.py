"""The decisive step: claimed where something shows it, and nowhere else."""

import json
from typing import Any

import msgspec

from blade.diagnosis.differences import Conventions, differences_of
from blade.diagnosis.steps import Step, decisive_step
from blade.rollouts import Item, Rollout
from blade.rollouts.values import Ending, Expected, ExpectedCall

RUN = Conventions(listed=frozenset({"drop", "pay", "look"}), reading=frozenset({"look"}))


def called(*calls: tuple[str, dict[str, Any], bool], expected: list[ExpectedCall]) -> Rollout:
    """A failed rollout: tool, arguments and whether the tool took the call."""
    items: list[Item] = []
    for number, (name, arguments, taken) in enumerate(calls):
        text, key, at = json.dumps(arguments), str(number), 2 * number
        items.append(Item(position=at, kind="tool_call", name=name, text=text, call_id=key))
        error = None if taken else "no"
        items.append(Item(position=at + 1, kind="tool_result", name=name, text="", call_id=key, error=error))
    return Rollout(task="a", repeat=0, success=False, items=items, expected=Expected(calls=expected))


def team(*said: tuple[str, str], answers: list[str] | None = None, errors: tuple[int, ...] = ()) -> Rollout:
    """A failed talk of several agents; `run` is what executes their code."""
    items = [
        Item(
            position=at,
            kind="tool_result" if name == "run" else "message",
            agent=None if name == "run" else name,
            text=text,
            error="NameError" if at in errors else None,
        )
        for at, (name, text) in enumerate(said)
    ]
    return Rollout(task="a", repeat=0, success=False, items=items, expected=Expected(answers=answers))


def claimed(rollout: Rollout, run: Conventions = RUN) -> tuple[int, str] | None:
    step = decisive_step(rollout, differences_of(rollout, run), run)
    return None if step is None else (step.item, step.kind)


def test_the_first_change_that_was_not_expected_is_decisive() -> None:
    listed = [ExpectedCall(name="pay", arguments={"to": "x", "sum": 1})]
    rollout = called(("look", {"id": 3}, True), ("pay", {"to": "y", "sum": 1}, True), expected=listed)

    assert decisive_step(rollout, differences_of(rollout, RUN), RUN) == Step(
        item=2, kind="change", why="`pay.to` is not as expected", probability=0.55
    )


def test_arguments_that_the_user_has_just_agreed_to_are_nobodys_for_sure() -> None:
    listed = [ExpectedCall(name="pay", arguments={"to": "x", "sum": 1})]
    made = called(("pay", {"to": "y", "sum": 1}, True), ("drop", {"id": 1}, True), expected=listed)
    yes = Item(position=0, kind="environment", role="user", text="Yes, please.")
    items = [yes, *(msgspec.structs.replace(item, position=item.position + 1) for item in made.items)]

    assert claimed(made) == (0, "change")
    assert claimed(msgspec.structs.replace(made, items=items)) is None


def test_a_refused_call_counts_when_the_task_does_not_expect_its_tool() -> None:
    listed = [ExpectedCall(name="pay", arguments={"to": "x"})]

    assert claimed(called(("drop", {"id": 1}, False), expected=listed)) == (0, "change")
    assert claimed(called(("pay", {"to": "x"}, False), expected=listed)) is None


def test_nothing_is_claimed_of_what_was_left_undone_or_passed() -> None:
    undone = called(("look", {}, True), expected=[ExpectedCall(name="pay")])
    extra = msgspec.structs.replace(called(("drop", {}, True), expected=[]), success=True)

    assert (claimed(undone), claimed(extra)) == (None, None)


def test_the_agent_whose_action_failed_first_is_claimed_in_short_rollouts_only() -> None:
    said = [("ann", "plan"), ("bob", "code"), ("run", "boom"), ("ann", "code"), ("run", "boom")]
    short, long = team(*said, errors=(2, 4)), team(*said, *[("ann", "more")] * 10, errors=(2, 4))
    step = decisive_step(short, [], RUN)

    assert step is not None
    assert (step.item, step.agent, step.kind) == (1, "bob", "error")
    assert claimed(long) is None
    assert claimed(short, Conventions(errors_usual=True)) is None


def test_a_wrong_answer_is_traced_to_where_it_was_first_said() -> None:
    said = [("ann", "How many?"), ("bob", "code"), ("run", "1,120"), ("ann", "It is **1120**."), ("bob", "DONE")]

    assert claimed(team(*said, answers=["60"])) == (1, "answer")
    assert claimed(team(*said, answers=["1120"])) is None
    assert claimed(team(*said, answers=["sixty"])) is None, "a number is not an answer in words"
    assert claimed(team(*said[:-1], answers=["60"])) is None, "the talk was not ended"
    assert claimed(team(("ann", "Of 1120?"), *said[1:], answers=["60"])) is None, "it was given"


def test_a_rollout_that_ran_out_of_turns_gave_no_answer() -> None:
    said = [("ann", "Well"), ("ann", "Say 17"), ("ann", "So it is **17**.")]
    rollout = team(*said, answers=["5"])

    assert claimed(rollout) == (1, "answer")
    assert claimed(msgspec.structs.replace(rollout, ending=Ending(kind="limit"))) is None
