"""`scripts/blade_toolkit.py` with nothing installed, from any directory: what scripts written for it rely on."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from small_packages import write_package

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = """\
## 1. Aggregate Metrics

| metric | value |
|---|---|
| tasks | 3 |

### Nested

| leak | x |
|---|---|

## Workflow Funnel and Phase Distribution

| phase | count |
|---|---|
| done | 2 |

## Dominant Failure Modes

| mode | task |
|---|---|
| took_wrong_turn | 17 |

- bullet

```
fenced
```
"""
TOOLKIT = ROOT / "scripts" / "blade_toolkit.py"


def toolkit(
    *words: str | Path, bare: bool = True, cwd: Path | None = None, **env: str
) -> subprocess.CompletedProcess[str]:
    """Runs the script; `bare` is Python without any installed package."""
    command = [sys.executable, *(["-S"] if bare else []), str(TOOLKIT), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env={**os.environ, **env}, timeout=120)


def test_the_control_keeps_totals_and_drops_what_takes_reading(tmp_path: Path) -> None:
    report = tmp_path / "report.md"
    report.write_text(SAMPLE, encoding="utf-8")

    done = toolkit("make-shallow", "--input", report, "--output", tmp_path / "deep" / "shallow.md", cwd=tmp_path)

    kept = (tmp_path / "deep" / "shallow.md").read_text(encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    assert all(words in kept for words in ("| metric | value |", "| phase | count |", "## Dominant Failure Modes"))
    assert not any(words in kept for words in ("leak", "took_wrong_turn", "bullet", "fenced"))


def test_a_good_package_passes_and_what_needs_the_engine_is_skipped(tmp_path: Path) -> None:
    done = toolkit("validate", "--benchmark-dir", write_package(tmp_path), cwd=tmp_path)

    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert {line.split()[0] for line in lines[:-1]} == {"[PASS]", "[SKIP]"}
    assert all(line.endswith("(install blade)") for line in lines if line.startswith("[SKIP]"))
    passed = sum(line.startswith("[PASS]") for line in lines)
    assert lines[-1].startswith(f"Summary: {passed}/{passed} checks passed, ")


def test_nothing_is_skipped_where_the_engine_is_installed(tmp_path: Path) -> None:
    done = toolkit("validate", "--benchmark-dir", write_package(tmp_path), "--phase", "rollouts", bare=False)

    assert done.returncode == 0, done.stdout
    assert "[SKIP]" not in done.stdout


def test_a_broken_package_fails_with_a_hint_under_the_line(tmp_path: Path) -> None:
    folder = write_package(tmp_path)
    (folder / "skill" / "references" / "verdicts.md").unlink()

    done = toolkit("validate", "--benchmark-dir", folder, "--phase", "skill")

    lines = done.stdout.splitlines()
    place = lines.index("[FAIL] dead links in SKILL.md: references/verdicts.md")
    assert done.returncode == 1
    assert lines[place + 1] == "       Paths are relative to the skill's folder."
    assert lines[-1].startswith("Summary: 6/7 checks passed")


def test_the_same_checks_are_printed_as_json(tmp_path: Path) -> None:
    done = toolkit("validate", "--benchmark-dir", tmp_path, "--phase", "rollouts", "--json")

    found = json.loads(done.stdout)
    assert (done.returncode, found["passed"], found["failed"]) == (1, 0, 1)
    assert found["checks"][0]["message"].startswith("no rollout file in")


def test_the_order_of_sets_changes_nothing(tmp_path: Path) -> None:
    folder = write_package(tmp_path)
    run = folder / "rollouts" / "model-a.jsonl"
    rows = [{**json.loads(line), "task_id": "same", "rollout_id": 1} for line in run.read_text().splitlines()]
    run.write_text("".join(json.dumps(row) + "\n" for row in rows))

    outputs = {toolkit("validate", "--benchmark-dir", folder, PYTHONHASHSEED=seed).stdout for seed in ("0", "1", "42")}

    assert len(outputs) == 1
    assert "(_ng_task_index)" in outputs.pop()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(["make-shallow", "--input", "nowhere.md", "--output", "x.md"], 3, id="no_such_file"),
        pytest.param(["validate"], 2, id="no_folder_named"),
        pytest.param(["frobnicate"], 2, id="no_such_command"),
    ],
)
def test_wrong_use_is_told_without_a_traceback(tmp_path: Path, words: list[str], code: int) -> None:
    done = toolkit(*words, cwd=tmp_path)

    assert done.returncode == code
    assert "Traceback" not in done.stderr and done.stderr
