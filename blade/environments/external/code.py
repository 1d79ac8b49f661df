"""Sets that are answered in Python: tests become cases, where they are a list of calls, or else stay the code they are.

EvalPlus keeps thousands of calls as code that needs numpy; its inputs and results are read out of it, never run.
"""

import ast
import re
from collections.abc import Mapping
from typing import Any

from blade.environments.external.row_files import NotATask, first_of

Fields = Mapping[str, Any]
Task = dict[str, Any]

MOST_CASES = 400
"""Calls per task: the sandbox's time is for all of them."""


def humaneval(row: Fields) -> Task:
    """HumanEval, and its plus tests: a `check(candidate)` judges the completed function."""
    cases = listed_cases(row["test"])
    if cases is None and "def check(" not in row["test"]:
        raise NotATask("its test defines no check(candidate)")
    task = {name: row[name] for name in ("prompt", "entry_point")}
    judged = {"test": row["test"]} if cases is None else cases
    return {**task, **judged, "solution": row["prompt"] + str(row.get("canonical_solution") or ""), "kind": "humaneval"}


def mbpp(row: Fields) -> Task:
    """MBPP, its sanitised edition and its plus tests: assertions over a function that they alone name."""
    asserts, setup = row["test_list"], row.get("test_setup_code") or "\n".join(row.get("test_imports") or [])
    if not isinstance(asserts, list) or not all(isinstance(line, str) for line in asserts) or not asserts:
        raise NotATask("its test_list is not a list of texts")
    entry = entry_of(asserts, str(row["code"]))
    cases = listed_cases(row["test"]) if isinstance(row.get("test"), str) else None
    told = "\n".join(
        f"# {line}" for line in [*str(first_of(row, "text", "prompt")).splitlines(), "It must pass:", *asserts]
    )
    judged = {"test": check_of(setup, entry, asserts)} if cases is None else cases
    return {"prompt": told, "entry_point": entry, **judged, "solution": str(row["code"]), "kind": "mbpp"}


def entry_of(asserts: list[str], solution: str) -> str:
    """The one function of the solution that the assertions call."""
    try:
        defined = {node.name for node in ast.parse(solution).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        names = {
            node.id for line in asserts for node in ast.walk(ast.parse(line.strip())) if isinstance(node, ast.Name)
        }
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NotATask("its code or one of its tests is not Python") from None
    used = sorted(defined & names)
    if len(used) != 1:
        raise NotATask(f"its tests use {', '.join(used) or 'nothing'} of the solution, expected one function")
    return used[0]


def check_of(setup: str, entry: str, asserts: list[str]) -> str:
    """Assertions as HumanEval has them."""
    lines = [*setup.splitlines(), "", "def check(candidate):", f"    {entry} = candidate"]
    return "\n".join([*lines, *(f"    {line}" for text in asserts for line in text.strip().splitlines())]) + "\n"


def listed_cases(test: str) -> Task | None:
    """Cases and tolerance of a test that compares `results` with what `inputs` give; `None` for any other test."""
    if not re.search(r"^\s*inputs\s*=", test, re.MULTILINE):
        return None
    try:
        tree = ast.parse(test)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found: dict[str, Any] = {}
    tolerance: list[float] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            if node.targets[0].id in ("inputs", "results"):
                found[node.targets[0].id] = node.value
        elif is_comparison(node):
            tolerance.append(node.args[2].value)  # type: ignore[attr-defined]
    values = found.get("inputs"), found.get("results")
    if len(tolerance) != 1 or not all(isinstance(value, ast.List) for value in values):
        return None
    given, expected = ([ast.unparse(one) for one in value.elts] for value in values)  # type: ignore[union-attr]
    pairs = list(zip(given, expected, strict=False))
    if not pairs or not all(is_plain(text) for pair in pairs for text in pair):
        return None
    kept = pairs[:: -(-len(pairs) // MOST_CASES)]
    cases = [{"args": repr(tuple(ast.literal_eval(args))), "expected": result} for args, result in kept]
    return {"cases": cases, "tolerance": tolerance[0] or 1e-6}


def is_comparison(node: ast.AST) -> bool:
    """`assertion(f(*inp), exp, 0)`, as EvalPlus writes it."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "assertion"
        and len(node.args) == 3
        and isinstance(node.args[1], ast.Name)
        and isinstance(node.args[2], ast.Constant)
        and isinstance(node.args[2].value, int | float)
    )


def is_plain(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return False
    return True
