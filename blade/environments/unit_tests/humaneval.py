"""Runs a test that is code, with a `check(candidate)` as HumanEval has it, out of the candidate's reach.

The test runs in a sandboxed process of its own. Whenever it calls the candidate, the call goes through this process to
the candidate's, and a plain value comes back. So the candidate can neither see nor change what it is judged by.
"""

from typing import Any

from blade.environments.unit_tests.guest.wire import pack
from blade.environments.unit_tests.sandbox import Died, Guest, GuestDied, Limits, Outcome, Raised, Returned, outcome_of

MOST_CALLS = 10_000
"""A test that calls more often than that never ends."""


def run_check(candidate: Guest, test: str, *, entry: str, limits: Limits) -> Outcome:
    """`Returned(True)` when the test passes; else what it raised, or why one of the two processes died."""
    with Guest(limits) as judge:
        try:
            judge.send({"test": test})
            for _ in range(MOST_CALLS):
                reply = judge.receive()
                if "ask" not in reply:
                    return Returned(True) if reply.get("passed") is True else outcome_of(reply)
                outcome = candidate.ask({"entry": entry, "call": reply["ask"]})
                if isinstance(outcome, Died):
                    return outcome
                judge.send(answer(outcome))
        except GuestDied as error:
            return Died(str(error))
    return Died("time_limit")


def answer(outcome: Returned | Raised) -> dict[str, Any]:
    """A candidate's outcome as the test's process is told of it."""
    if isinstance(outcome, Returned):
        return {"value": pack(outcome.value)}
    return {"raised": outcome.name, "message": outcome.message}
