"""Rows in the Gym shape and the runs they make, before anything is wrong with them."""

import json
import random
from pathlib import Path
from typing import Any, NamedTuple

Row = dict[str, Any]
Item = dict[str, Any]

START = 1_760_000_000
GAVE_UP = "gave up"
"""Key of `MadeRun.natural` for failing rollouts that stop after an error and say so: no fault, though behaviour."""


class Task(NamedTuple):
    """What one task is, as far as faults need to know."""

    prompt: str
    rate: float
    """How often the model solves it."""
    answer: str = ""
    wrong: tuple[str, ...] = ()
    """Plausible wrong answers, the model's favourite first."""
    kind: str = ""
    stable: bool = False
    """Whether the model, when wrong, nearly always gives its favourite."""


class MadeRun(NamedTuple):
    """A run, and what innocent things happen in it."""

    family: str
    rows: list[Row]
    tasks: list[Task]
    natural: dict[str, set[str]]
    """Signal code -> rollouts in which the signal is literally true and nothing is wrong; and `GAVE_UP`."""


def key(row: Row) -> str:
    """The row's citation."""
    return f"{row['_ng_task_index']}:{row['_ng_rollout_index']}"


def said(text: str) -> Item:
    """A message of the model."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "status": "completed", "content": content}


def thought(text: str) -> Item:
    """A reasoning item."""
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}


def call(name: str, arguments: dict[str, Any], call_id: str) -> Item:
    """A tool call."""
    return {"type": "function_call", "name": name, "arguments": json.dumps(arguments), "call_id": call_id}


def result(text: str, call_id: str) -> Item:
    """What the tool answered."""
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def text_of(item: Item) -> str:
    """The words of an item."""
    if item["type"] == "message":
        content = item["content"]
        return str(content if isinstance(content, str) else content[0]["text"])
    if item["type"] == "reasoning":
        return str(item["summary"][0]["text"])
    return str(item.get("output", item.get("arguments")))


def gym_row(
    task: int, repeat: int, reward: float, *, prompt: list[Item], output: list[Item], model: str, **fields: Any
) -> Row:
    """A row as a Gym server writes it; tokens and times are filled in when the run is finished."""
    request = {"input": prompt, "temperature": 1.0, "max_output_tokens": 4096, "tools": fields.pop("tools", [])}
    response = {"model": model, "object": "response", "status": "completed", "error": None, "incomplete_details": None}
    return {
        "_ng_task_index": task,
        "_ng_rollout_index": repeat,
        "agent_ref": {"type": "responses_api_agents", "name": "simple_agent"},
        "responses_create_params": request,
        "response": {**response, "output": output},
        "reward": reward,
        **fields,
    }


def finish_rows(rows: list[Row], rng: random.Random) -> list[Row]:
    """Rows in the order in which they completed, with ids, times and tokens."""
    order = sorted(rows, key=lambda row: row["_ng_rollout_index"] * len(rows) / 40 + rng.random() * 60)
    for place, row in enumerate(order):
        response = row["response"]
        response["id"] = f"resp_{rng.getrandbits(64):016x}"
        response["created_at"] = START + 7.0 * place + rng.random() * 5
        given = sum(len(str(item.get("content"))) for item in row["responses_create_params"]["input"])
        made = sum(len(text_of(item)) for item in response["output"] if item["type"] != "function_call_output")
        heard = sum(len(text_of(item)) for item in response["output"] if item["type"] == "function_call_output")
        usage = {"input_tokens": (given + heard) // 4 + rng.randint(20, 60), "output_tokens": made // 4 + 1}
        response["usage"] = {**usage, "total_tokens": sum(usage.values())}
    return order


def write_run(path: Path, rows: list[Row]) -> Path:
    """The rows as a file of lines."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def write_inputs(path: Path, rows: list[Row]) -> None:
    """The materialized inputs beside a file: everything that was asked for."""
    kept = ("_ng_task_index", "_ng_rollout_index", "agent_ref", "responses_create_params")
    write_run(path.with_name(f"{path.stem}_materialized_inputs.jsonl"), [{k: row[k] for k in kept} for row in rows])


def rates(count: int, rng: random.Random) -> list[float]:
    """How often each task is solved: many always, many never, the rest between."""
    return [rng.betavariate(0.55, 0.5) for _ in range(count)]
