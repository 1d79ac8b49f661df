"""Rows of rollout files and the runs they make, for tests: small, literal, in the Gym format unless said otherwise."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from blade.api import read, read_all
from blade.diagnosis import Analysis, AnalyzeOptions, analyze
from blade.rollouts import Run

Row = dict[str, Any]


def message(text: str, role: str = "assistant") -> Row:
    """A message as the Responses API stores it."""
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def call(name: str = "search", arguments: str = "{}", call_id: str = "c0") -> Row:
    """A tool call."""
    return {"type": "function_call", "name": name, "arguments": arguments, "call_id": call_id}


def result(text: str, call_id: str = "c0") -> Row:
    """What a tool answered."""
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def thought(text: str) -> Row:
    """A reasoning item."""
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}


def rollout(
    task: Any = 0, repeat: Any = 0, reward: Any = 1.0, *, output: list[Any] | None = None, **fields: Any
) -> Row:
    """A Gym row; `response` and `params` add to the response and the request, other names to the row."""
    answer = [message(f"answer {task} {repeat}")] if output is None else output
    request = {"input": [message(f"question {task}", "user")], **fields.pop("params", {})}
    response = {"id": f"resp_{task}_{repeat}", "model": "model-a", "output": answer, **fields.pop("response", {})}
    keys = {"_ng_task_index": task, "_ng_rollout_index": repeat, "reward": reward}
    return {**keys, "responses_create_params": request, "response": response, **fields}


def unindexed(question: str, reward: Any = 1.0, **fields: Any) -> Row:
    """A Gym row that carries neither index nor response id."""
    row = without(rollout(0, 0, reward, **fields), "_ng_task_index", "_ng_rollout_index")
    row["responses_create_params"]["input"] = [message(question, "user")]
    del row["response"]["id"]
    return row


def without(row: Row, *names: str) -> Row:
    """The row without some of its fields."""
    return {name: value for name, value in row.items() if name not in names}


def in_own_words(row: Row, run: str) -> Row:
    """The row with its made-up answer said otherwise than in other runs."""
    own: Row = json.loads(json.dumps(row).replace('"answer ', f'"{run} answers '))
    return own


def write_rows(path: Path, rows: Iterable[Row | str]) -> Path:
    """A file of lines; a text is written as it is."""
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def read_rows(folder: Path, rows: Iterable[Row | str], **options: Any) -> Run:
    """The run some rows make, written to `folder/run.jsonl`; sidecars already there are found."""
    return read(write_rows(folder / "run.jsonl", rows), **options)


def read_files(folder: Path, files: dict[str, Iterable[Row | str]], **options: Any) -> list[Run]:
    """Every run in some files, given as rows by name."""
    paths = [write_rows(folder / name, rows) for name, rows in files.items()]
    return read_all(paths, **options)


def analyze_rows(folder: Path, rows: Iterable[Row | str], *, success: str | None = None, **options: Any) -> Analysis:
    """The analysis of the run some rows make; `slices`, `cluster_field`, `pack` are for the analysis."""
    asked = {name: options.pop(name) for name in ("slices", "cluster_field", "pack") if name in options}
    return analyze(read_rows(folder, rows, **options), AnalyzeOptions(success=success, **asked))


def keys(run: Run) -> list[str]:
    """Every rollout of a run as a citation, in table order."""
    return [run.table.citation(row) for row in range(len(run.table))]


def reasons(run: Run) -> list[tuple[int, str]]:
    """Line and reason of every bad line."""
    return [(bad.line, bad.reason) for bad in run.bad]
