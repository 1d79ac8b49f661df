"""What the overview says: the answer, its numbers, and nothing where there is nothing to say."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from markupsafe import Markup
from rollout_rows import call, message, result, rollout
from sample_analyses import binary_analysis
from small_workspaces import ROWS, read_run, write_rows

from blade.diagnosis import analyze
from blade.diagnosis.analysis import PackUse, PatternSeen
from blade.diagnosis.predictors import Predictor
from blade.metrics import Metric
from blade.report.onepage import make_page
from blade.report.page import svg
from blade.report.page.associations import dollars, fifths, predictor_row
from blade.report.page.modes import page_modes
from blade.report.page.overview import Overview, build_overview
from blade.report.page.trajectories import expected_of
from blade.rollouts import Rollout
from blade.rollouts.values import Expected, ExpectedCall


def overview_of(folder: Path, rows: list[dict[str, object]]) -> Overview:
    return build_overview(analyze(read_run(write_rows(folder, rows))))


def test_the_answer_is_the_score_what_goes_with_failing_and_what_is_decided(tmp_path: Path) -> None:
    found = overview_of(tmp_path, ROWS)

    # Three tasks with rates 1, 1/2 and 0.
    assert found.answer[0].startswith("pass@1 is 50.0 % (95 % interval ")
    said = "over 3 tasks and 6 scored rollouts. Of 3 tasks, 1 always passed, 1 sometimes and 1 never."
    assert found.answer[0].endswith(said)
    assert found.answer[2] == "Causes of the 2 tasks that do not always pass: 2 undecided."
    assert [(part.name, part.tasks) for part in found.buckets] == [("always", 1), ("sometimes", 1), ("never", 1)]


def test_the_page_and_the_report_say_the_same_of_the_score_and_the_causes(tmp_path: Path) -> None:
    analysis = analyze(read_run(write_rows(tmp_path, [*ROWS, rollout("sqrt", 2, None)])))

    report = [line.replace("**", "") for line in make_page(analysis).answer]
    page = build_overview(analysis).answer

    assert page[0] == " ".join(report[:2])
    assert page[2] in report
    assert "6 scored rollouts" in page[0]


def test_a_signal_is_named_where_nothing_better_was_seen() -> None:
    analysis = msgspec.structs.replace(binary_analysis(), modes=[], pack=None, predictors=[])
    signal = max(analysis.signals, key=lambda signal: signal.failed)

    assert build_overview(analysis).answer[1].startswith(f"Most frequent failure mode: {signal.title} ({signal.failed}")


def test_a_mode_counts_the_rollouts_that_belong_to_it() -> None:
    seen = PatternSeen(
        code="wrong", title="wrong result", cause=None, intervention="rl",
        rollouts=5, primary=4, tasks=2, passed=0, citations=[],
    )  # fmt: skip
    elsewhere = msgspec.structs.replace(seen, code="cut", primary=0)
    analysis = binary_analysis()
    pack = PackUse(name="p", title="", version="1", why="", patterns=[seen, elsewhere], failing=9, unexplained=0)

    found = page_modes(msgspec.structs.replace(analysis, modes=[], pack=pack))

    assert [(mode.code, mode.failed, mode.tasks) for mode in found] == [("wrong", 4, 2)]


def test_graded_rewards_have_a_mean_and_no_buckets(tmp_path: Path) -> None:
    found = overview_of(tmp_path, [rollout(task, 0, task / 4) for task in range(5)])

    (answer,) = found.answer
    assert answer.startswith("Mean reward is 0.500 (95 % interval ")
    assert answer.endswith("over 5 tasks and 5 scored rollouts. Rewards are graded.")
    assert (found.buckets, found.curves) == ([], None)


def test_rollouts_that_all_pass_leave_nothing_to_explain(tmp_path: Path) -> None:
    found = overview_of(tmp_path, [rollout(task, 0, 1.0) for task in range(4)])

    assert found.answer[1:] == ["Every rollout passed."]
    assert {"modes", "causes", "fixes", "reading"} & {panel.id for panel in found.panels} == set()


def test_success_by_fifths_goes_from_the_least_to_the_most() -> None:
    values = np.arange(10.0)
    passed = np.array([1, 1, 1, 0, 1, 0, 0, 0, 0, 0.0])

    # Pairs of rollouts in order: 2 of 2, 1 of 2, 1 of 2, none, none.
    assert fifths(values, passed) == [1.0, 0.5, 0.5, 0.0, 0.0]
    assert fifths(np.ones(10), passed) is None
    assert fifths(values, np.zeros(10)) is None
    assert fifths(np.full(10, np.nan), passed) is None


def test_a_predictor_stands_beside_the_rate_of_the_other_tasks() -> None:
    inside = Metric(value=0.2, n=5, ci95=(0.1, 0.3), definition="")
    outside = Metric(value=0.7, n=15, definition="")
    split = Predictor(
        feature="level", rule="have `level` hard", inside=inside, outside=outside, explained=0.4, p_value=0.001, tried=9
    )

    found = predictor_row(split)

    assert (found.name, found.value, found.aside) == ("Tasks that have `level` hard", "20.0 %", "others 70.0 %")


def test_pictures_escape_what_they_are_given() -> None:
    assert svg.element("text", "<b>", class_='a"b', x=1.50, y=None) == Markup(
        '<text class="a&#34;b" x="1.5">&lt;b&gt;</text>'
    )


@pytest.mark.parametrize(
    ("value", "said"), [(None, "n/a (n=0)"), (0.00123, "$0.0012"), (0.045, "$0.045"), (12.5, "$12.50")]
)
def test_dollars_are_written_with_the_digits_they_need(value: float | None, said: str) -> None:
    assert dollars(value) == said


def test_what_a_task_lists_is_shown_thing_by_thing() -> None:
    wanted = Expected(calls=[ExpectedCall(name="book", arguments={"room": 1})], outputs=["42"], answers=["a", "b"])

    assert list(expected_of(Rollout(task="t", repeat=0, expected=wanted))) == [
        ("call", 'book({"room": 1})'),
        ("output", "42"),
        ("answer", "a"),
        ("answer", "b"),
    ]
    assert list(expected_of(Rollout(task="t", repeat=0, expected=Expected(calls=[])))) == [
        ("call", "none: nothing should change")
    ]


def test_the_funnel_and_the_effort_are_told_where_rows_have_them(tmp_path: Path) -> None:
    steps = [call("find", "{}"), result("found"), message("done")]
    rows = [
        rollout(task, repeat, float(repeat), output=steps[: 1 + 2 * repeat]) for task in range(6) for repeat in (0, 1)
    ]

    panels = {panel.id: panel for panel in overview_of(tmp_path, rows).panels}

    assert [(row.name, row.value, row.aside) for row in panels["effort"].rows if row.name == "Output items"] == [
        ("Output items", "pass 3.0", "fail 1.0")
    ]
    assert panels["funnel"].rows[0].value == "12"
