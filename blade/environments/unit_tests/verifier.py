"""Judges a function by calling it.

A task has `prompt` (signature and docstring), `entry_point`, and `cases`: arguments and the expected result (floats
within `tolerance`), or the exception to be raised, as Python literals. Or, as HumanEval has it, `test`: code with a
`check(candidate)`, which then runs in a sandboxed process of its own and reaches the candidate only by asking for
calls.

Result codes, as runners of such tests have them: 1 passed, -2 wrong result, -3 time limit, -4 an error was raised.
Cases after one at which the process died are not run and have no code.
"""

import ast
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from blade.environments.answering import TextEnvironment
from blade.environments.environment import Task, Verdict, judge_rows
from blade.environments.unit_tests.guest.wire import pack
from blade.environments.unit_tests.sandbox import Died, Guest, GuestDied, Limits, Outcome, Raised, Returned, outcome_of

FENCE = re.compile(r"```[ \t]*(?:python3?|py)?[ \t]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL | re.IGNORECASE)
CODE_LINE = re.compile(
    r"(?:def|class|import|from|async|if|for|while|try|except|else|elif|finally|with|return)\b|[@#)\]}'\"]|\w+\s*[=:(\[]"
)
MOST_CALLS = 10_000
"""A test that calls more often than that never ends."""

PASSED, WRONG, TIME_LIMIT, ERROR = 1, -2, -3, -4
MOST_SHOWN = 200
TOLERANCE = 1e-9
"""Between floats, unless a task says otherwise."""
FEW_CASES = 20
"""Cases that the usual limits are for; sets with hundreds of them want more time in all."""


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
    limits = Limits() if len(task.get("cases") or []) <= FEW_CASES else Limits(cpu_seconds=20, reply_bytes=1_000_000)
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
            results.append(run_case(guest, task["entry_point"], case, tolerance=task.get("tolerance") or TOLERANCE))
            if results[-1].died:
                break
        return results


def run_case(guest: Guest, entry: str, case: Mapping[str, str], *, tolerance: float) -> Result:
    outcome = guest.call(entry, ast.literal_eval(case["args"]))
    if isinstance(outcome, Died):
        return died(outcome, {"inputs": case["args"]})
    told = {"inputs": case["args"], "expected": case.get("expected") or f"raises {case.get('raises')}"}
    if "raises" in case:
        right = isinstance(outcome, Raised) and case["raises"] in outcome.kinds
    elif isinstance(outcome, Raised):
        return error(outcome, told)
    else:
        right = is_same(outcome.value, ast.literal_eval(case["expected"]), tolerance)
    if right:
        return Result(PASSED, {})
    return Result(WRONG, {**told, "output": excerpt(outcome), "error_code": WRONG, "error_message": "Wrong answer"})


def excerpt(outcome: Returned | Raised) -> str:
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


def is_same(value: Any, expected: Any, tolerance: float) -> bool:
    """Whether a result is as expected: of the same shape, and floats within a tolerance of each other."""
    if isinstance(expected, float) and isinstance(value, int | float):
        near = abs(value) < 1e300 and math.isclose(value, expected, rel_tol=TOLERANCE, abs_tol=tolerance)
        return value == expected or near
    if isinstance(expected, list | tuple):
        alike = type(value) is type(expected) and len(value) == len(expected)
        return alike and all(is_same(*pair, tolerance) for pair in zip(value, expected, strict=True))
    if isinstance(expected, dict):
        return (
            isinstance(value, dict)
            and value.keys() == expected.keys()
            and all(is_same(value[key], expected[key], tolerance) for key in expected)
        )
    return bool(value == expected)


def gold(task: Task) -> str:
    solution = task.get("solution") or ""
    return f"```python\n{solution.rstrip()}\n```" if solution else ""


class Code(NamedTuple):
    """Code that was found in an answer."""

    shown: str
    """The part of the answer it was found in."""
    source: str
    """What is run: the same, with what the task gives in front of it where it needs that."""


def find_code(text: str, *, entry: str, prompt: str) -> Code | None:
    """The definition of a function in an answer; `None` when nothing in it looks like code.

    Nothing is parsed here: a text made to break a parser breaks the guest's.
    """
    blocks: list[str] = FENCE.findall(text)
    shown = next((block for block in blocks if defines(block, entry)), None) or unfenced(text, entry)
    if shown is not None:
        return Code(shown, preamble(prompt, entry) + shown)
    body = blocks[0] if blocks else text
    if defines(prompt, entry) and is_body(body):
        return Code(body, f"{prompt.rstrip()}\n{body}")
    return Code(blocks[0], blocks[0]) if blocks else None


def defines(code: str, entry: str) -> bool:
    return re.search(rf"^(?:async\s+)?def\s+{re.escape(entry)}\s*\(", code, re.MULTILINE) is not None


def unfenced(text: str, entry: str) -> str | None:
    """Lines of code around a definition that stands in no fence: from the first to where words begin again."""
    lines = text.splitlines()
    if not defines(text, entry):
        return None
    start = next(place for place, line in enumerate(lines) if re.match(r"(?:async|def|import|from|class|@)\b", line))
    kept: list[str] = []
    for line in lines[start:]:
        if line.startswith("```") or (line.strip() and not line[0].isspace() and not CODE_LINE.match(line)):
            break
        kept.append(line)
    code = "\n".join(kept)
    return code if defines(code, entry) else None


def preamble(prompt: str, entry: str) -> str:
    """What a task gives before its function, such as imports: answers often leave it out."""
    found = re.search(rf"^(?:async\s+)?def\s+{re.escape(entry)}\b", prompt, re.MULTILINE)
    given = prompt[: found.start()].rstrip() if found else ""
    return f"{given}\n\n" if given else ""


def is_body(text: str) -> bool:
    """Whether a text goes on where a signature ends: its first line is indented code."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return first[:1].isspace() and CODE_LINE.match(first.strip()) is not None


def run_check(candidate: Guest, test: str, *, entry: str, limits: Limits) -> Outcome:
    """Runs a test that is code, with a `check(candidate)` as HumanEval has it, out of the candidate's reach.

    The test runs in a sandboxed process of its own. Whenever it calls the candidate, the call goes through this process
    to the candidate's, and a plain value comes back: the candidate can neither see nor change what it is judged by.
    It is `Returned(True)` when the test passes; else what it raised, or why one of the two processes died.
    """
    with Guest(limits) as judge:
        try:
            judge.send({"test": test, "entry": entry})
            for _ in range(MOST_CALLS):
                reply = judge.receive()
                if "ask" not in reply:
                    return Returned(True) if reply.get("passed") is True else outcome_of(reply)
                outcome = candidate.ask({"entry": entry, "call": reply["ask"]})
                if isinstance(outcome, Died):
                    return outcome
                judge.send(told(outcome))
        except GuestDied as error:
            return Died(str(error))
    return Died("time_limit")


def told(outcome: Returned | Raised) -> dict[str, Any]:
    """A candidate's outcome as the test's process is told of it."""
    if isinstance(outcome, Returned):
        return {"value": pack(outcome.value)}
    return {"raised": outcome.name, "message": outcome.message}


ENVIRONMENT = TextEnvironment("unit_tests", judge=judge, gold=gold)


if __name__ == "__main__":
    judge_rows(ENVIRONMENT)
