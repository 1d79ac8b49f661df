"""Every verifier can be run on rows by itself: `python -m blade.environments.NAME.verifier ROWS`."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_benchmark_tasks import NAMES, environment_of, tasks_of

from blade.environments import environment_names
from blade.environments.external.sets import SETS


def verify(environment: str, *words: str, rows: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"blade.environments.{environment}.verifier", *words]
    return subprocess.run(command, input=rows, capture_output=True, text=True)


def row(task: dict[str, Any], items: list[dict[str, Any]]) -> str:
    return json.dumps({**task, "response": {"output": items}}) + "\n"


def test_every_environment_is_used_by_a_benchmark_or_an_external_set() -> None:
    used = {environment_of(name).name for name in NAMES} | {which.environment for which in SETS.values()}

    assert sorted(used) == environment_names()


@pytest.mark.parametrize("name", NAMES)
def test_a_verifier_gives_one_verdict_per_row(name: str) -> None:
    environment, task = environment_of(name), tasks_of(name)[0]
    done = verify(environment.name, "-", rows=row(task, environment.gold(task)) + row(task, []))

    assert (done.returncode, done.stderr) == (0, "")
    assert [json.loads(line)["reward"] for line in done.stdout.splitlines()] == [1.0, 0.0]


def test_a_line_that_is_no_row_is_told_and_the_others_are_judged(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("nonsense\n\n" + row({"expected_answer": "4"}, []) + '{"expected_answer": "4"}\n', encoding="utf-8")
    done = verify("numeric", str(path))

    assert (done.returncode, len(done.stdout.splitlines())) == (1, 1)
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == ["line 1", "line 4"]


def test_what_cannot_be_read_or_judged_is_one_sentence() -> None:
    missing = verify("numeric", "no-such-file.jsonl")
    unknown = verify("constraints", "-", rows=row({"instruction_id_list": ["a:b"], "kwargs": [{}]}, []))

    assert (missing.returncode, missing.stderr) == (3, "no-such-file.jsonl: No such file or directory\n")
    assert (unknown.returncode, unknown.stderr.split(";")[0]) == (3, "no rule checks the instruction 'a:b'")
