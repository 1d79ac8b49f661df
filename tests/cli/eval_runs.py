"""A checkout with one small benchmark, and `blade eval run` on it as a process that can be killed."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

CONFIG = """\
config_paths: [blade/environments/numeric/config.yaml]
sums_numeric: {{_inherit_from: numeric}}
sums_agent:
  _inherit_from: numeric_agent
  responses_api_agents:
    tool_loop:
      resources_server: {{name: sums_numeric}}
      temperature: 0.5
      max_output_tokens: 64
      datasets:
      - name: sums
        type: benchmark
        jsonl_fpath: benchmarks/sums/data/sums.jsonl
        sha256: {sha256}
        prompt_config: benchmarks/sums/prompt.yaml
        prepare_script: benchmarks/sums/prepare.py
        num_repeats: 2
blade: {{success: "reward >= 1.0"}}
"""


def make_checkout(folder: Path, *, tasks: int = 3) -> Path:
    """Tasks that ask for `n + 1`."""
    place = folder / "checkout" / "benchmarks" / "sums"
    (place / "data").mkdir(parents=True)
    rows = [{"task_id": f"s{n}", "question": f"{n} + 1", "expected_answer": str(n + 1)} for n in range(tasks)]
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    (place / "data" / "sums.jsonl").write_bytes(data)
    (place / "config.yaml").write_text(CONFIG.format(sha256=hashlib.sha256(data).hexdigest()), encoding="utf-8")
    (place / "prompt.yaml").write_text('user: "What is {question}?"\n', encoding="utf-8")
    (place / "prepare.py").write_text("", encoding="utf-8")
    return folder / "checkout"


def words_for(checkout: Path, url: str, output: Path, *more: str) -> list[str]:
    """The words of a run."""
    named = ["--benchmark", "sums", "--root", str(checkout), "--model", "m-1", "--base-url", url]
    return ["eval", "run", *named, "--output", str(output), *more]


def start(words: list[str]) -> subprocess.Popen[bytes]:
    """The command in a process of its own."""
    environment = {**os.environ, "COLUMNS": "100"}
    command = [sys.executable, "-m", "blade", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def keys_of(path: Path) -> list[tuple[int, int]]:
    return sorted((row["_ng_task_index"], row["_ng_rollout_index"]) for row in rows_of(path))
