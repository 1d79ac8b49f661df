"""Judges a function by calling it.

A task has `prompt` (signature and docstring), `entry_point`, and `cases`: arguments and the expected result, or the
exception to be raised, as Python literals. Or, as HumanEval has it, `test`: code with a `check(candidate)`, which
then runs in a sandboxed process of its own and reaches the candidate only by asking for calls.

Result codes, as runners of such tests have them: 1 passed, -2 wrong result, -3 time limit, -4 an error was raised.
Cases after one at which the process died are not run and have no code.
"""

import ast
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from blade.environments.answering import TextEnvironment
from blade.environments.command import judge_rows
from blade.environments.environment import Task, Verdict
from blade.environments.unit_tests.extraction import find_code, preamble
from blade.environments.unit_tests.humaneval import run_check
from blade.environments.unit_tests.sandbox import Died, Guest, Limits, Outcome, Raised, Returned

PASSED, WRONG, TIME_LIMIT, ERROR = 1, -2, -3, -4
MOST_SHOWN = 200


class Result(NamedTuple):
    """How a case went."""

    code: int
    details: dict[str, Any]
    """What is told of a case that did not pass."""
    died: bool = False


def judge(task: Task, text: str) -> Verdict:
    """Full marks when every case passes."""
    code = find_code(text, entry=task["entry_point"], prompt=task.get("prompt") or "")
    total = len(task.get("cases") or [None])
    results = [] if code is None else run_tests(task, code.source)
    codes = [result.code for result in results]
    failed = next((result for result in results if result.code != PASSED), None)
    fields = {
        "extracted_model_output": code.shown if code else None,
        "extracted_model_code": code.source if code else None,
        "result": codes,
        "tests_passed": codes.count(PASSED),
        "tests_total": total,
        "metadata": failed.details if failed else {},
    }
    return Verdict(reward=float(codes == [PASSED] * total), fields=fields)


def run_tests(task: Task, source: str) -> list[Result]:
    """Results of the cases, in order, up to the one at which the process died."""
    limits = Limits()
    with Guest(limits) as guest:
        loaded = guest.load(source, task["entry_point"])
        if loaded != Returned(True):
            return [not_loaded(loaded, task["entry_point"])]
        if task.get("test"):
            # Tests use what the prompt defines before the function, as in HumanEval's own order of things.
            test = preamble(task.get("prompt") or "", task["entry_point"]) + task["test"]
            return [check_result(run_check(guest, test, entry=task["entry_point"], limits=limits))]
        results: list[Result] = []
        for case in task["cases"]:
            results.append(run_case(guest, task["entry_point"], case))
            if results[-1].died:
                break
        return results


def run_case(guest: Guest, entry: str, case: Mapping[str, str]) -> Result:
    outcome = guest.call(entry, ast.literal_eval(case["args"]))
    if isinstance(outcome, Died):
        return died(outcome, {"inputs": case["args"]})
    told = {"inputs": case["args"], "expected": case.get("expected") or f"raises {case.get('raises')}"}
    if "raises" in case:
        right = isinstance(outcome, Raised) and case["raises"] in outcome.kinds
    elif isinstance(outcome, Raised):
        return error(outcome, told)
    else:
        right = is_same(outcome.value, ast.literal_eval(case["expected"]))
    if right:
        return Result(PASSED, {})
    return Result(WRONG, {**told, "output": shown(outcome), "error_code": WRONG, "error_message": "Wrong answer"})


def shown(outcome: Returned | Raised) -> str:
    """What a call gave, cut short."""
    if isinstance(outcome, Raised):
        return f"raises {outcome.name}: {outcome.message}"[:MOST_SHOWN]
    try:
        return ascii(outcome.value)[:MOST_SHOWN]
    except (ValueError, RecursionError):
        return "a value too large to show"


def error(outcome: Raised, told: dict[str, str]) -> Result:
    said = f"{outcome.name}: {outcome.message}"[:MOST_SHOWN]
    return Result(ERROR, {**told, "error": said, "error_code": ERROR, "error_message": "Runtime error"})


def died(outcome: Died, told: dict[str, str]) -> Result:
    code = TIME_LIMIT if outcome.reason == "time_limit" else ERROR
    message = "Time limit exceeded" if code == TIME_LIMIT else "Runtime error"
    return Result(code, {**told, "error": outcome.reason, "error_code": code, "error_message": message}, died=True)


def not_loaded(outcome: Outcome, entry: str) -> Result:
    """Why the code gave no function to call."""
    if isinstance(outcome, Died):
        return died(outcome, {})
    if isinstance(outcome, Returned):
        outcome = Raised("ImportError", ["ImportError"], f"the code defines no function {entry}")
    result = error(outcome, {})
    return result._replace(details={**result.details, "error_message": "Error during testing: code does not load"})


def check_result(outcome: Outcome) -> Result:
    """How a `check` went: what it asserts is a wrong answer, what the candidate raised is an error."""
    if isinstance(outcome, Died):
        return died(outcome, {})
    if isinstance(outcome, Returned):
        return Result(PASSED, {})
    if outcome.kinds[0] != "AssertionError":
        return error(outcome, {})
    details = {"error": f"AssertionError: {outcome.message}"[:MOST_SHOWN]}
    return Result(WRONG, {**details, "error_code": WRONG, "error_message": "Wrong answer"})


def is_same(value: Any, expected: Any) -> bool:
    """Whether a result is as expected: of the same shape, and floats within a billionth of each other."""
    if isinstance(expected, float) and isinstance(value, int | float):
        near = abs(value) < 1e300 and math.isclose(value, expected, rel_tol=1e-9, abs_tol=1e-9)
        return value == expected or near
    if isinstance(expected, list | tuple):
        alike = type(value) is type(expected) and len(value) == len(expected)
        return alike and all(map(is_same, value, expected))
    if isinstance(expected, dict):
        return (
            isinstance(value, dict)
            and value.keys() == expected.keys()
            and all(is_same(value[key], expected[key]) for key in expected)
        )
    return bool(value == expected)


def gold(task: Task) -> str:
    solution = task.get("solution") or ""
    return f"```python\n{solution.rstrip()}\n```" if solution else ""


ENVIRONMENT = TextEnvironment("unit_tests", judge=judge, gold=gold)


def main() -> None:
    """Judges rollout rows: `python -m blade.environments.unit_tests.verifier rollouts.jsonl`."""
    judge_rows(ENVIRONMENT)


if __name__ == "__main__":
    main()
