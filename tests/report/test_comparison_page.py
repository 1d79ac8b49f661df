"""The page of a comparison: every paired task is drawn, the parts lead from one headline to the other."""

import re
from pathlib import Path

import msgspec
import pytest
from page_files import data_of, inline_rollouts, page_text
from rollout_rows import Row, read_files, rollout

from blade.comparison import compare
from blade.comparison.pairing import pair
from blade.diagnosis import Diagnosed, diagnose
from blade.report.comparison_report import write_comparison
from blade.report.comparison_rows import Words
from blade.report.page.comparison_overview import build_comparison_overview, driver_link, matrix, waterfall_panel


def rows(passes: list[int], model: str) -> list[Row]:
    """Two rollouts of each task, of which so many pass."""
    return [
        rollout(f"t<{t}>", r, float(r < n), response={"model": model}) for t, n in enumerate(passes) for r in range(2)
    ]


@pytest.fixture
def runs(tmp_path: Path) -> list[Diagnosed]:
    """A base, and a candidate that lost two tasks and gained one."""
    found = read_files(tmp_path, {"a.jsonl": rows([2, 2, 1, 0, 1], "a"), "b.jsonl": rows([0, 1, 1, 2, 1], "b")})
    return [diagnose(run) for run in found]


def test_the_page_holds_both_sides_of_every_task_that_moved(tmp_path: Path, runs: list[Diagnosed]) -> None:
    write_comparison(tmp_path / "out", runs)
    page = page_text(tmp_path / "out", "comparison.html")
    data = data_of(page)

    assert {driver["task"] for driver in data["drivers"]} == {"t<0>", "t<1>", "t<3>"}
    held = [[row for row, part in enumerate(side["rollouts"]["chunk"]) if part is not None] for side in data["sides"]]
    assert held == [[0, 1, 2, 3, 6, 7], [0, 1, 2, 3, 6, 7]]
    assert [one["row"] for one in inline_rollouts(page)] == [*held[0], *held[1]]
    assert "t<0>" not in page.replace(page[page.index('id="page-data"') :], "")


def test_every_paired_task_has_a_bar_and_those_that_moved_are_links(runs: list[Diagnosed]) -> None:
    comparison, pairing = compare(runs[0], runs[1]), pair(runs[0].outcomes, runs[1].outcomes)

    drawn = build_comparison_overview(comparison, pairing).differences

    assert re.findall(r'class="(worse|better|same)"', drawn) == ["worse", "worse", "same", "same", "better"]
    assert drawn.count("<a href=") == len(comparison.drivers) == 3
    assert driver_link(comparison.drivers[0]).startswith("#t%3C0%3E:")


def test_the_matrix_counts_tasks_by_bucket_in_both_runs(runs: list[Diagnosed]) -> None:
    found = {name: [(cell.tasks, cell.kind) for cell in cells] for name, cells in matrix(compare(runs[0], runs[1]))}

    # Base: t0 and t1 always, t2 and t4 sometimes, t3 never; candidate: t0 never, t1 sometimes, t3 always.
    assert found == {
        "always": [(0, "same"), (1, "worse"), (1, "worse")],
        "sometimes": [(0, "better"), (2, "same"), (0, "worse")],
        "never": [(1, "better"), (0, "better"), (0, "same")],
    }


def test_small_parts_of_the_change_are_one_step_and_listed_below(runs: list[Diagnosed]) -> None:
    comparison = compare(runs[0], runs[1])
    one = next(part for part in comparison.decomposition if part.base_rollouts is not None)
    values = [0.4, -0.3, 0.2, -0.2, 0.1, -0.1, 0.09, 0.08, 0.02, -0.01, 0.0]
    parts = [msgspec.structs.replace(one, title=f"part {value}", value=value) for value in values]

    panel = waterfall_panel(msgspec.structs.replace(comparison, decomposition=parts), Words(True))

    assert panel is not None and len(panel.rows) == 1 + 8 + 1 + 1
    # 0.02 − 0.01; what is zero is no part.
    assert [row.value for row in panel.rows if row.name == "2 smaller parts"] == ["+1.0 pp"]
    assert [row.name for row in panel.folded] == ["Part 0.02", "Part -0.01"]


def test_of_several_runs_the_adjusted_verdict_stands_beside_the_plain_one(tmp_path: Path) -> None:
    passes = {"a": [2, 2, 1, 0, 1], "b": [0, 1, 1, 2, 1], "c": [2, 2, 2, 2, 2]}
    runs = [diagnose(run) for run in read_files(tmp_path, {f"{n}.jsonl": rows(p, n) for n, p in passes.items()})]

    write_comparison(tmp_path / "out", runs)

    assert "<p>Adjusted for all 3 pairs of runs (Holm): " in page_text(tmp_path / "out", "comparison.html")
