"""Makes the tasks from `requests.yaml`: instructions as ids and arguments, kinds in turn.

Run it to write `data/careful_instructions.jsonl`; it writes the same bytes every time.
"""

from pathlib import Path
from typing import Any

import yaml

from blade.benchmarks.making import taking_turns, write_tasks

HERE = Path(__file__).parent


def task(number: int, request: dict[str, Any]) -> dict[str, Any]:
    risky = request["kind"] == "over_refusal"
    made = {
        "task_id": f"ci{number:02d}-{request['id']}",
        "kind": request["kind"],
        "difficulty": request["difficulty"],
        "prompt": request["prompt"],
        "instruction_id_list": [instruction["id"] for instruction in request["instructions"]],
        "kwargs": [{k: v for k, v in instruction.items() if k != "id"} for instruction in request["instructions"]],
        "must_answer": risky,
        "looks_like": request.get("looks_like"),
        "reference_answer": request["answer"],
    }
    return made


def prepare(output_dir: Path = HERE / "data") -> Path:
    requests = taking_turns(yaml.safe_load((HERE / "requests.yaml").read_text(encoding="utf-8")), "kind")
    tasks = [task(number, request) for number, request in enumerate(requests, start=1)]
    return write_tasks(Path(output_dir) / "careful_instructions.jsonl", tasks)


if __name__ == "__main__":
    print(prepare())
