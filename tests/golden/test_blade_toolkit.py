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
    assert lines[-1].startswith("Summary: 4/5 checks passed")


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


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The golden reports of a small package."""
    return write_package(tmp_path_factory.mktemp("package")) / "golden_reports"


def test_drafted_facts_have_the_keys_other_tools_read(golden: Path, tmp_path: Path) -> None:
    out = tmp_path / "facts.json"
    words = ["--benchmark", "small_sums", "--model-name", "model-a", "--num-facts", "9"]

    done = toolkit("extract-anchor-facts", "--golden", golden / "model-a_golden_report.md", "--output", out, *words)

    found = json.loads(out.read_text(encoding="utf-8"))
    assert (done.returncode, done.stderr) == (0, "")
    assert list(found) == [
        *("benchmark", "model", "extraction_method", "generated_at", "review_required", "anchor_facts"),
    ]
    assert [fact["id"] for fact in found["anchor_facts"]] == [f"B{n}" for n in range(1, 10)]
    assert set(found["anchor_facts"][0]) == {"id", "fact", "difficulty", "mean_score", "check"}


def test_too_few_facts_exit_with_one(golden: Path, tmp_path: Path) -> None:
    place = golden / "model-a_golden_report.md"

    done = toolkit("extract-anchor-facts", "--golden", place, "--output", tmp_path / "f.json", "--num-facts", "5")

    assert done.returncode == 1
    assert done.stdout.startswith("Wrote 5 anchor facts")


def test_a_report_without_a_sidecar_is_drafted_from_by_what_it_states(tmp_path: Path, golden: Path) -> None:
    lonely = tmp_path / "x_golden_report.md"
    lonely.write_text("## Cases\n\nIn 12 of 40 attempts the carry is dropped.\n\nIt is a pity, on the whole.\n")

    toolkit("extract-anchor-facts", "--golden", lonely, "--output", tmp_path / "f.json")

    facts = json.loads((tmp_path / "f.json").read_text(encoding="utf-8"))["anchor_facts"]
    assert [fact["fact"] for fact in facts] == ["In 12 of 40 attempts the carry is dropped."]


def test_a_score_has_the_keys_other_tools_read(golden: Path, tmp_path: Path) -> None:
    report, facts = golden / "model-a_golden_report.md", golden / "model-a_anchor_facts.json"
    words: list[str | Path] = ["--golden", report, "--anchor-facts", facts]

    done = toolkit("score", "--report", golden / "model-a_shallow.md", *words, "--output-dir", tmp_path / "out")

    found = json.loads(done.stdout)
    assert (done.returncode, found) == (0, json.loads((tmp_path / "out" / "reward.json").read_text(encoding="utf-8")))
    assert set(found["checklist"]) == {"score", "structure", "quantitative", "evidence", "anchor_coverage"}
    assert set(found["holistic"]) == {"normalized_score", "golden_overlap", "table_score"}
    assert {"id", "score", "met", "fact"} <= set(found["anchor_hits"][0])
    assert found["final_score"] <= 0.40 and found["note"]


def test_calibration_writes_its_rewards_and_enforces_its_targets(golden: Path, tmp_path: Path) -> None:
    report, facts = golden / "model-a_golden_report.md", golden / "model-a_anchor_facts.json"
    words: list[str | Path] = ["--golden-report", report, "--anchor-facts", facts]

    good = toolkit("calibrate", *words, "--shallow-report", golden / "model-a_shallow.md", "--output-dir", tmp_path)
    bad = toolkit("calibrate", *words, "--shallow-report", golden / "model-a_golden_report.md")

    assert (good.returncode, bad.returncode) == (0, 1)
    assert json.loads(good.stdout) == json.loads((tmp_path / "calibration_summary.json").read_text(encoding="utf-8"))
    assert json.loads(good.stdout)["spread"] >= 0.5
    rewards = [
        json.loads((tmp_path / name / "reward.json").read_text()) for name in ("golden-vs-self", "shallow-vs-golden")
    ]
    assert rewards[0]["final_score"] >= 0.90 and rewards[1]["final_score"] <= 0.40


def test_facts_that_cannot_be_read_are_told(golden: Path, tmp_path: Path) -> None:
    (tmp_path / "facts.json").write_text("{}", encoding="utf-8")
    words: list[str | Path] = [
        "--report",
        golden / "model-a_shallow.md",
        "--golden",
        golden / "model-a_golden_report.md",
    ]

    done = toolkit("score", *words, "--anchor-facts", tmp_path / "facts.json")

    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "blade_toolkit: facts.json: has no list under anchor_facts\n"
