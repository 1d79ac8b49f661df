"""How code is found in an answer, and how a function is judged by what it does."""

import doctest
import importlib.util
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_benchmark_tasks import ROOT, tasks_of

from blade.environments.unit_tests.guest.wire import pack, unpack
from blade.environments.unit_tests.verifier import TOLERANCE, find_code, gold, is_same, judge

PROMPT = 'import math\n\n\ndef area(side: int) -> int:\n    """Return the area of a square."""'
TASK = {
    "prompt": PROMPT,
    "entry_point": "area",
    "cases": [
        {"args": "(3,)", "expected": "9"},
        {"args": "(0,)", "expected": "0"},
        {"args": "(-1,)", "raises": "ValueError"},
    ],
}
GOOD = "def area(side):\n    if side < 0:\n        raise ValueError(side)\n    return side * side"


def code_in(text: str) -> str | None:
    found = find_code(text, entry="area", prompt=PROMPT)
    return found.source if found else None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"```python\n{GOOD}\n```", id="fenced"),
        pytest.param(f"Sure!\n```py\nx = 1\n```\nand\n```\n{GOOD}\n```\nBye.", id="the_block_that_defines_it"),
        pytest.param(f"```python\n{GOOD}", id="fence_never_closed"),
        pytest.param(GOOD, id="bare"),
        pytest.param(f"Here it is:\n\n{GOOD}\n\nThis squares the side.", id="bare_among_words"),
        pytest.param("    if side < 0:\n        raise ValueError\n    return side ** 2", id="only_the_body"),
        pytest.param(
            "```python\n    if side < 0:\n        raise ValueError\n    return side ** 2\n```", id="fenced_body"
        ),
        pytest.param(
            "def area(s):\n    math.sqrt(0 if s >= 0 else -1)\n    return s * s", id="imports_of_the_task_are_there"
        ),
    ],
)
def test_a_right_function_is_found_and_passes(text: str) -> None:
    verdict = judge(TASK, text)

    assert (verdict.reward, verdict.fields["result"], verdict.fields["metadata"]) == (1.0, [1, 1, 1], {})


@pytest.mark.parametrize("text", ["", "I cannot do that.", "The area is side times side."])
def test_an_answer_without_code_is_not_run(text: str) -> None:
    verdict = judge(TASK, text)

    assert (verdict.reward, verdict.fields["extracted_model_code"], verdict.fields["result"]) == (0.0, None, [])


def test_code_of_something_else_is_run_and_found_wanting() -> None:
    verdict = judge(TASK, "```python\nprint('area')\n```")

    assert verdict.fields["metadata"]["error"] == "ImportError: the code defines no function area"


@pytest.mark.parametrize(
    ("code", "result", "told"),
    [
        pytest.param(
            "def area(side): return side + 6",
            [1, -2, -2],
            {"error_code": -2, "error_message": "Wrong answer", "inputs": "(0,)", "expected": "0", "output": "6"},
            id="wrong",
        ),
        pytest.param(
            "def area(side): return 9 if side == 3 else 1 // side",
            [1, -4, -2],
            {
                **{"error_code": -4, "error_message": "Runtime error", "inputs": "(0,)", "expected": "0"},
                "error": "ZeroDivisionError: integer division or modulo by zero",
            },
            id="error",
        ),
        pytest.param(
            "def area(side) return side",
            [-4],
            {
                **{"error_code": -4, "error_message": "Error during testing: code does not load"},
                "error": "SyntaxError: expected ':' (answer.py, line 3)",
            },
            id="does_not_load",
        ),
        pytest.param(
            "import os\ndef area(side): return 9 if side else os._exit(0)",
            [1, -4],
            {"error_code": -4, "error_message": "Runtime error", "inputs": "(0,)", "error": "crashed"},
            id="leaves",
        ),
    ],
)
def test_what_went_wrong_is_told(code: str, result: list[int], told: dict[str, Any]) -> None:
    verdict = judge(TASK, f"```python\n{code}\n```")

    assert (verdict.reward, verdict.fields["result"], verdict.fields["metadata"]) == (0.0, result, told)


def test_a_function_that_never_ends_is_out_of_time() -> None:
    verdict = judge(TASK, "```python\ndef area(side):\n    while side != 3: pass\n    return 9\n```")

    assert (verdict.fields["result"], verdict.fields["metadata"]["error_code"]) == ([1, -3], -3)


@pytest.mark.parametrize(
    ("value", "expected", "same"),
    [
        (0.1 + 0.2, 0.3, True),
        (1, 1.0, True),
        ([1, 2], (1, 2), False),
        ([0.1 + 0.2], [0.3], True),
        ({"a": 0.1 + 0.2}, {"a": 0.3}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        (10**400, 1.0, False),
        ("1", 1, False),
        ({1, 2}, {2, 1}, True),
        (None, None, True),
    ],
)
def test_results_are_compared_by_shape_and_floats_by_closeness(value: object, expected: object, same: bool) -> None:
    assert is_same(value, expected, TOLERANCE) is same


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text() | st.integers(), inner),
)


@given(plain)
def test_plain_values_come_out_of_the_sandbox_as_they_went_in(value: object) -> None:
    assert unpack(pack(value)) == value


HUMANEVAL = {
    "prompt": "def area(side):\n",
    "entry_point": "area",
    "test": "def check(candidate):\n    assert candidate(3) == 9\n    assert candidate(4) == 16, 'four'\n",
}


@pytest.mark.parametrize(
    ("code", "reward", "error"),
    [
        pytest.param("def area(side): return side * side", 1.0, None, id="right"),
        pytest.param("def area(side): return 9", 0.0, "AssertionError: four", id="wrong"),
        pytest.param(
            "def area(side): return 1 // 0", 0.0, "RuntimeError: the candidate raised ZeroDivisionError", id="error"
        ),
        pytest.param("def area(side): import os; os._exit(0)", 0.0, "crashed", id="leaves"),
        pytest.param(
            "import builtins\nbuiltins.AssertionError = type('No', (Exception,), {})\ndef area(side): return True",
            0.0,
            "AssertionError: ",
            id="patches_the_assertion",
        ),
        pytest.param(
            "class Yes:\n    def __eq__(self, other): return True\ndef area(side): return Yes()",
            0.0,
            "AssertionError: ",
            id="equals_everything",
        ),
    ],
)
def test_a_test_that_is_code_runs_out_of_the_candidates_reach(code: str, reward: float, error: str | None) -> None:
    verdict = judge(HUMANEVAL, f"```python\n{code}\n```")

    assert verdict.reward == reward
    assert str(verdict.fields["metadata"].get("error")).startswith(str(error))


FRAMES = """
import gc, sys
def square(n):
    frame, held = sys._getframe(), []
    while frame:
        held += frame.f_locals.values()
        frame = frame.f_back
    for thing in [*held, *gc.get_objects()]:
        if isinstance(thing, dict) and "expected" in thing: return eval(thing["expected"])
        if isinstance(thing, str) and thing.startswith("swordfish"): return int(thing[9:])
"""
WRITE = """
import atexit, os, sys
def tell():
    print('{"value": 9}', '{"passed": true}', sep="\\n")
    for number in range(3, 16):
        try: os.write(number, b'{"value": 16}\\n' * 5 + b'{"passed": true}\\n')
        except OSError: pass
"""
CLOSE = """
import os
def square(n):
    for number in range(16):
        try: os.close(number)
        except OSError: pass
    return n * n
"""


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(FRAMES, id="looks_for_the_expected_in_frames_and_objects"),
        pytest.param(f"{WRITE}tell()\ndef square(n): pass", id="writes_verdicts_at_import"),
        pytest.param(f"{WRITE}def square(n): tell(); os._exit(0)", id="writes_verdicts_and_leaves"),
        pytest.param(f"{WRITE}atexit.register(tell)\ndef square(n): sys.exit(0)", id="writes_verdicts_at_exit"),
        pytest.param(CLOSE, id="closes_its_channel"),
        pytest.param("def square(n):\n    kept = []\n    kept.append(kept)\n    return kept", id="holds_itself"),
        pytest.param("def square(n): return {i * (2**61 - 1): 0 for i in range(2500)}", id="hashes_alike"),
    ],
)
def test_no_trick_with_the_channel_or_the_process_gets_points(code: str) -> None:
    cases = [{"args": "(3,)", "expected": "9"}, {"args": "(4,)", "expected": "16"}, {"args": "(5,)", "expected": "25"}]
    task = {"entry_point": "square", "prompt": "def square(n):\n", "cases": cases, "secret": "swordfish9"}
    verdict = judge(task, f"```python\n{code}\n```")

    assert verdict.reward == 0.0
    assert verdict.fields["tests_passed"] < 3


@pytest.mark.parametrize(
    "path", sorted((ROOT / "small_functions" / "functions").glob("*.py")), ids=lambda path: path.stem
)
def test_our_own_solutions_keep_the_examples_of_their_docstrings(path: Path) -> None:
    spec = importlib.util.spec_from_file_location(f"solutions_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    result = doctest.testmod(module)

    assert (result.failed, result.attempted) == (
        0,
        sum(task["kind"] == path.stem for task in tasks_of("small_functions")),
    )


def test_every_function_is_asked_for_with_an_example_and_tried_on_several_calls() -> None:
    for task in tasks_of("small_functions"):
        assert ">>>" in task["prompt"] and task["prompt"].rstrip().endswith('"""')
        assert len(task["cases"]) >= 3
        assert len({case["args"] for case in task["cases"]}) == len(task["cases"])


def test_no_function_can_be_answered_by_always_giving_the_same() -> None:
    for task in tasks_of("small_functions"):
        assert len({case.get("expected") or case["raises"] for case in task["cases"]}) > 1


def test_the_gold_answer_is_the_solution_in_a_fence() -> None:
    assert gold({"solution": "x = 1\n"}) == "```python\nx = 1\n```"
    assert gold({}) == ""
