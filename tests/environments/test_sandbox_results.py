"""What code of a model tries to do to its result: leave early, flood, forge, patch and crash."""

import pytest
from sandbox_attacks import attack

from blade.environments.unit_tests.sandbox import Died, Raised, Returned, outcome_of


@pytest.mark.parametrize("status", [0, 1])
def test_leaving_at_once_is_no_result(status: int) -> None:
    assert attack(f"import os\ndef f():\n    os._exit({status})") == Died("crashed")
    assert attack(f"import os\nos._exit({status})") == Died("crashed")


def test_sys_exit_and_interrupts_are_exceptions_like_others() -> None:
    outcome = attack("import sys\ndef f():\n    sys.exit(0)")

    assert isinstance(outcome, Raised) and outcome.kinds[0] == "SystemExit"


def test_a_flood_of_output_goes_nowhere() -> None:
    code = (
        "import sys\ndef f():\n    for _ in range(1000): print('x' * 10000); print('y', file=sys.stderr)\n    return 1"
    )

    assert attack(code) == Returned(1)


def test_a_flood_of_results_is_cut() -> None:
    assert attack("def f():\n    return 'x' * 10**6") == Died("too_much_output")


def test_endless_recursion_is_an_error_or_a_crash_of_the_guest_alone() -> None:
    plain = attack("def f():\n    return f()")
    deep = attack("import sys\nsys.setrecursionlimit(10**9)\ndef f():\n    return f()")

    assert isinstance(plain, Raised) and plain.kinds[0] == "RecursionError"
    assert isinstance(deep, Died | Raised)


def test_a_crash_of_the_interpreter_is_only_that() -> None:
    assert attack("import ctypes\ndef f():\n    ctypes.string_at(0)") == Died("crashed")


def test_deeply_nested_results_do_not_hurt_the_judge() -> None:
    code = "def f():\n    nest = []\n    for _ in range(100000): nest = [nest]\n    return nest"

    assert isinstance(attack(code), Raised | Died)


def test_an_object_that_equals_everything_comes_out_as_no_value_at_all() -> None:
    code = """
        class Yes:
            def __eq__(self, other): return True
            def __hash__(self): return 0
        class Text(str):
            def __eq__(self, other): return True
        def f(): return [Yes(), Text('mine')]
    """
    outcome = attack(code)

    assert isinstance(outcome, Returned)
    assert outcome.value[0] != 5
    assert type(outcome.value[1]) is str and outcome.value[1] == "mine"


def test_patched_builtins_and_helpers_change_nothing_outside() -> None:
    code = """
        import builtins, json, sys
        def f():
            builtins.repr = builtins.isinstance = lambda *args: True
            json.dumps = lambda value: '{"value": 1}'
            for module in list(sys.modules.values()):
                for name in ('pack', 'line', 'raised'):
                    if hasattr(module, name):
                        setattr(module, name, lambda *args: b'{"value": 42}\\n')
            return 7
    """
    # It can say what it likes about its own result: it still has to know the right one.
    assert attack(code) in (Returned(7), Returned(42), Returned(1), Died("malformed_reply"), Died("crashed"))
    assert isinstance(1, int) and repr(1) == "1"


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(b'{"passed": true}\n', id="a_verdict"),
        pytest.param(b'{"ready": true}\n', id="a_handshake"),
        pytest.param(b"[1]\n", id="no_object"),
        pytest.param(b"nonsense\n", id="no_json"),
        pytest.param(b"[" * 50_000 + b"\n", id="nested"),
        pytest.param(b'{"value": {"set": [{"list": []}]}}\n', id="not_hashable"),
        pytest.param(b'{"value": {"evil": 1}}\n', id="unknown_tag"),
        pytest.param(b'{"value": {"int": "zz"}}\n', id="no_number"),
        pytest.param(b'{"raised": 1, "kinds": 5, "message": null}\n', id="odd_exception"),
        pytest.param(b'{"value": {"other": 1}}\n', id="odd_object"),
    ],
)
def test_a_forged_reply_is_no_result(reply: bytes) -> None:
    code = """
        import os
        def f(reply):
            for number in range(3, 16):
                try:
                    os.write(number, reply)
                except OSError:
                    pass
            os._exit(0)
    """
    assert isinstance(attack(code, reply), Died)


@pytest.mark.parametrize(
    "raised",
    [
        pytest.param("type('ValueError', (Exception,), {})()", id="only_the_name"),
        pytest.param("type('X', (KeyError, ValueError), {})()", id="of_every_kind"),
    ],
)
def test_an_exception_is_of_the_nearest_kind_that_python_has(raised: str) -> None:
    outcome = attack(f"def f():\n    raise {raised}")

    assert isinstance(outcome, Raised) and "ValueError" not in outcome.kinds


@pytest.mark.parametrize("kind", ["int", "no_such", "ValueError "])
def test_a_forged_kind_of_exception_is_no_reply(kind: str) -> None:
    assert outcome_of({"raised": "ValueError", "kind": kind, "message": ""}) == Died("malformed_reply")


def test_requests_read_ahead_hold_no_expected_results() -> None:
    code = """
        import os
        def f():
            seen = []
            for number in range(3, 16):
                try:
                    seen.append(os.read(number, 0))
                except OSError:
                    pass
            return [part for part in seen if part]
    """
    assert attack(code) == Returned([])
