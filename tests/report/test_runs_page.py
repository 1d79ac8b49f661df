"""Several runs in one picture: who is on the Pareto front, what is not drawn, and the page that leads to each run."""

import re
from pathlib import Path

import pytest
from page_files import page_text
from rollout_rows import Row, read_files, rollout

from blade.diagnosis import Diagnosed, diagnose
from blade.metrics import Metric
from blade.report.page.runs_page import write_runs_page
from blade.report.page.tradeoff import RunPoint, frontier, log_ticks, nice_ticks, run_point, tradeoff

TASKS = frozenset("abc")


def point(name: str, score: float | None, dollars: float | None = None, **more: object) -> RunPoint:
    fields: dict[str, object] = {"tasks": TASKS, "rate": True, "tokens": None, **more}
    return RunPoint(name=name, headline=Metric(value=score, n=3, definition=""), dollars=dollars, **fields)  # type: ignore[arg-type]


def rows(model: str, passes: int, tokens: int, tasks: int = 4, **usage: float) -> list[Row]:
    """A rollout of each task, of which so many pass, with its usage."""
    spent = {"input_tokens": tokens, "output_tokens": 10, **usage}
    return [rollout(f"t{t}", 0, float(t < passes), response={"model": model, "usage": spent}) for t in range(tasks)]


def runs_of(folder: Path, files: dict[str, list[Row]]) -> list[Diagnosed]:
    return [diagnose(run) for run in read_files(folder, {f"{name}.jsonl": own for name, own in files.items()})]


@pytest.mark.parametrize(
    ("places", "front"),
    [
        pytest.param([(1, 0.2), (2, 0.5), (3, 0.4), (4, 0.9)], [0, 1, 3], id="dominated"),
        pytest.param([(1, 0.5), (1, 0.6), (2, 0.6)], [1], id="same_cost_or_same_score"),
        pytest.param([(1, 0.5), (1, 0.5)], [0, 1], id="equals_share_the_front"),
    ],
)
def test_the_front_holds_what_nobody_beats(places: list[tuple[float, float]], front: list[int]) -> None:
    assert frontier(places) == front


def test_a_run_whose_cost_nobody_knows_is_named_and_not_drawn_as_free() -> None:
    found = tradeoff([point("a", 0.5, 1.0), point("b", 0.7, 2.0), point("mystery", 0.9)])

    assert found is not None and found.front == ["a", "b"]
    assert found.chart.count("<circle") == 2 and "mystery" not in found.chart
    assert found.notes[0].startswith("Cost unknown: `mystery`.")


def test_tokens_stand_in_where_more_runs_tell_them() -> None:
    found = tradeoff([point("a", 0.5, 1.0, tokens=10.0), point("b", 0.7, tokens=20.0), point("c", 0.1, tokens=30.0)])

    assert found is not None and found.front == ["a", "b"]
    assert "tokens per rollout" in found.chart and found.chart.count("<circle") == 3


def test_runs_in_one_place_are_not_drawn() -> None:
    assert tradeoff([point("a", 0.5, 1.0), point("copy", 0.5, 1.0)]) is None


def test_runs_over_other_tasks_are_in_no_picture_together() -> None:
    assert tradeoff([point("a", 0.5, 1.0), point("b", 0.7, 2.0, tasks=frozenset("z"))]) is None
    assert tradeoff([point("a", None, 1.0), point("b", 0.7, 2.0)]) is None


def test_axes_have_round_numbers() -> None:
    assert nice_ticks(0.0, 1.0) == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert nice_ticks(0.0, 390.0) == [0.0, 100.0, 200.0, 300.0, 400.0]
    assert log_ticks(0.002, 0.4) == pytest.approx([0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5])
    assert log_ticks(0.00012, 40.0) == pytest.approx([0.0001, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0])


def test_what_files_state_is_the_cost_and_tokens_are_counted(tmp_path: Path) -> None:
    (one,) = runs_of(tmp_path, {"a": rows("m", 2, 90, cost=0.5)})

    found = run_point(one)

    assert (found.dollars, found.unpriced, found.tokens) == (0.5, 0, 100.0)


def test_the_page_of_a_folder_leads_to_every_run(tmp_path: Path) -> None:
    runs = runs_of(tmp_path, {"a": rows("m<b>", 1, 10), "b": rows("n", 3, 90)})

    write_runs_page(tmp_path, runs, ["a", "b c"])

    page = page_text(tmp_path)
    assert re.findall(r'<th scope="row"><a href="([^"]*)">(\w)</a>', page) == [
        ("a/report.html", "a"),
        ("b%20c/report.html", "b"),
    ]
    assert "b scores highest: pass@1 75.0\u00a0%" in page
    assert "a and b are on the Pareto front" in page
    assert "Cost unknown: <code>a</code>, <code>b</code>." in page


def test_scores_over_different_tasks_are_not_ranked(tmp_path: Path) -> None:
    runs = runs_of(tmp_path, {"a": rows("m", 1, 10), "b": rows("n", 3, 90, tasks=5)})

    write_runs_page(tmp_path, runs, ["a", "b"])

    page = page_text(tmp_path)
    assert "different tasks" in page and "scores highest" not in page and '<svg class="scatter"' not in page
