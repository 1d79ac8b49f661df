import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from rollout_rows import read_rows, rollout

import blade
from blade.comparison import Comparison
from blade.report.ci import MARKER, MOST_LINES, github_comment, junit_xml


def compared(folder: Path, *, base: float, candidate: float, tasks: int = 20) -> Comparison:
    """Runs of which the first `rate * tasks` tasks pass in both repeats."""
    runs = []
    for name, rate in (("base", base), ("candidate", candidate)):
        rows = [rollout(f"t|{task}", repeat, float(task < rate * tasks)) for task in range(tasks) for repeat in (0, 1)]
        (folder / name).mkdir()
        runs.append(read_rows(folder / name, rows))
    return blade.compare(*runs)


def test_the_comment_says_the_verdict_first_and_fits_on_a_screen(tmp_path: Path) -> None:
    text = github_comment(compared(tmp_path, base=0.9, candidate=0.4), Path("diff"))
    lines = text.splitlines()
    assert (lines[0], len(lines) <= MOST_LINES) == (MARKER, True)
    assert lines[1].startswith("### 🔴 ") and lines[1].endswith("regressed")
    assert "**Did worse** (10 tasks)" in lines
    assert lines[-1] == "Full report: `diff/comparison.md`"


def test_the_comment_links_to_the_report_where_one_is_served(tmp_path: Path) -> None:
    text = github_comment(compared(tmp_path, base=0.5, candidate=0.5), Path("diff"), "https://ci.example/1")
    assert text.endswith("[Full report](https://ci.example/1)\n")


def test_a_driver_links_to_both_trajectories_where_the_page_is_served(tmp_path: Path) -> None:
    text = github_comment(
        compared(tmp_path, base=0.9, candidate=0.4), Path("diff"), "https://ci.example/comparison.html"
    )
    assert "| [side by side](https://ci.example/comparison.html#t%7C10:0?with=0) |" in text


def test_a_task_key_cannot_break_the_table(tmp_path: Path) -> None:
    text = github_comment(compared(tmp_path, base=0.9, candidate=0.4), Path("diff"))
    rows = [line for line in text.splitlines() if line.startswith("| `t")]
    assert rows and all(row.replace("\\|", "").count("|") == 6 for row in rows)


@pytest.mark.parametrize(
    ("candidate", "failures"), [pytest.param(0.4, 11, id="regressed"), pytest.param(0.85, 0, id="tied")]
)
def test_junit_fails_the_score_and_its_tasks_only_when_the_run_regressed(
    tmp_path: Path, candidate: float, failures: int
) -> None:
    suites = ET.fromstring(junit_xml([compared(tmp_path, base=0.9, candidate=candidate)]))
    assert len(suites.findall(".//failure")) == failures == int(suites[0].get("failures", ""))
    assert suites[0][0].get("name") == "score"
