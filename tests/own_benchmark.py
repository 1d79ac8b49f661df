"""A checkout with one small benchmark of our own form, for tests: sums, judged by the numeric environment."""

import hashlib
import json
from pathlib import Path
from typing import Any

from rollout_rows import Row, message, rollout

from blade.benchmarks import Benchmark, find_benchmark

TASKS = [
    {"task_id": f"sum-{n}", "question": f"What is {n} + {n}?", "expected_answer": str(2 * n), "difficulty": level}
    for n, level in ((1, "easy"), (20, "hard"))
]
CONFIG = """
config_paths: [blade/environments/numeric/config.yaml]
sums_numeric: {_inherit_from: numeric}
sums_agent:
  _inherit_from: numeric_agent
  responses_api_agents:
    tool_loop:
      resources_server: {name: sums_numeric}
      datasets:
      - {name: sums, type: benchmark, jsonl_fpath: benchmarks/sums/data/sums.jsonl, sha256: "SHA",
         prepare_script: benchmarks/sums/prepare.py, num_repeats: 2}
blade: {success: "reward >= 1.0", slices: [difficulty]}
"""
PREPARE = """
import json
from pathlib import Path
TASKS = json.loads('''TASKS''')
def prepare(output_dir):
    print("chatter")
    path = Path(output_dir) / "sums.jsonl"
    path.write_text("".join(json.dumps(task) + "\\n" for task in TASKS))
    return path
"""


def write_sums(root: Path, *, script: str | None = None, frozen: bool = True) -> Benchmark:
    """The benchmark, with its tasks frozen and its hash pinned."""
    folder = root / "benchmarks" / "sums"
    (folder / "data").mkdir(parents=True, exist_ok=True)
    data = "".join(json.dumps(task) + "\n" for task in TASKS).encode()
    (folder / "config.yaml").write_text(CONFIG.replace("SHA", hashlib.sha256(data).hexdigest()))
    (folder / "prepare.py").write_text(
        PREPARE.replace("TASKS''", json.dumps(TASKS) + "''") if script is None else script
    )
    if frozen:
        (folder / "data" / "sums.jsonl").write_bytes(data)
    return find_benchmark("sums", root)


def sum_rollout(task: int, repeat: int, said: str, reward: Any, **fields: Any) -> Row:
    """A rollout of a task, with the task's own fields."""
    output = [message(f"Answer: {said}")]
    row = rollout(task, repeat, reward, output=output, agent_ref={"name": "sums_agent"})
    return {**TASKS[task], **row, **fields}
