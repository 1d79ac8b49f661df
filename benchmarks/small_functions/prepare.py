"""Makes the tasks from `functions/` and `calls.yaml`: signature and docstring are the question, the body is the gold.

Run it to write `data/small_functions.jsonl`; it writes the same bytes every time.
"""

import ast
import importlib.util
from pathlib import Path
from typing import Any

import yaml

from blade.benchmarks.making import taking_turns, write_tasks

HERE = Path(__file__).parent


def source_of(kind: str) -> Path:
    return HERE / "functions" / f"{kind}.py"


def solutions(kind: str) -> dict[str, Any]:
    """Our solutions of a kind, by the name of the function."""
    spec = importlib.util.spec_from_file_location(f"small_functions_{kind}", source_of(kind))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return vars(module)


def sources(kind: str) -> dict[str, tuple[str, str]]:
    """For every function of a kind, its signature and docstring, and its whole text."""
    text = source_of(kind).read_text(encoding="utf-8")
    lines = text.splitlines()
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            head = "\n".join(lines[node.lineno - 1 : node.body[0].end_lineno])
            found[node.name] = (head, "\n".join(lines[node.lineno - 1 : node.end_lineno]))
    return found


def case(function: Any, call: str) -> dict[str, str]:
    """What a call gives, or which exception it raises."""
    try:
        return {"args": call, "expected": repr(function(*ast.literal_eval(call)))}
    except ValueError as error:
        return {"args": call, "raises": type(error).__name__}


def task(row: dict[str, Any], function: Any, texts: tuple[str, str]) -> dict[str, Any]:
    prompt, solution = texts
    # Names of the type hints that our solution's file imports.
    given = "from typing import Any\n\n\n" if "Any" in prompt else ""
    return {
        "kind": row["kind"],
        "difficulty": row["difficulty"],
        "entry_point": row["name"],
        "prompt": given + prompt,
        "solution": given + solution,
        "cases": [case(function, call) for call in row["calls"]],
    }


def prepare(output_dir: Path = HERE / "data") -> Path:
    asked: dict[str, list[dict[str, Any]]] = yaml.safe_load((HERE / "calls.yaml").read_text(encoding="utf-8"))
    rows = []
    for kind, wanted in asked.items():
        known, texts = solutions(kind), sources(kind)
        rows += [task({"kind": kind, **row}, known[row["name"]], texts[row["name"]]) for row in wanted]
    named = enumerate(taking_turns(rows, "kind"), start=1)
    tasks = [{"task_id": f"sf{number:02d}-{row['entry_point'].replace('_', '-')}", **row} for number, row in named]
    return write_tasks(Path(output_dir) / "small_functions.jsonl", tasks)


if __name__ == "__main__":
    print(prepare())
