"""The report in one page: it has at most 80 lines whatever the run is like, and cuts nothing that is to be copied."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rollout_rows import Row, analyze_rows, in_own_words, read_files, rollout
from sample_analyses import (
    BINARY,
    analysis_of,
    binary_analysis,
    continuous_analysis,
    gain,
    outcomes_of,
    unscored_analysis,
    with_text,
)

from blade.comparison import compare_many
from blade.diagnosis import diagnose
from blade.diagnosis.analysis import Analysis, Intervention, Mode, ReadingItem, SourceFile
from blade.diagnosis.predictors import Predictor
from blade.report.comparison_report import MOST_LINES as MOST_COMPARISON_LINES
from blade.report.comparison_report import render_comparison
from blade.report.onepage import MOST_LINES, fitting_prose, with_summary
from blade.report.report import build_report, render_page
from blade.report.text import Markdown, clauses

LONG = "a task key of many words, as some benchmarks use the whole question for it; " * 8


def page_of(analysis: Analysis, prose: str = "") -> list[str]:
    report = build_report(analysis)
    page = with_summary(report.page, Markdown(prose) if prose else None)
    return render_page(msgspec.structs.replace(report, page=page)).splitlines()


def crowded(times: int, key: str = "t") -> Analysis:
    """A run with so many of everything that a page could list."""
    analysis = binary_analysis()
    rate = msgspec.structs.replace(analysis.metrics.pass_at_1, definition="rate")
    modes = [
        Mode(
            code=f"m{n}",
            kind="difference",
            subject="",
            title=f"{key} was called {n} times",
            basis="by definition",
            failed=9,
            passed=1,
            tasks=["prove"],
            citations=[f"{key}:{n}"],
        )
        for n in range(times)
    ]
    fixes = [
        Intervention(
            action="prompt", target=f"f{n}", what=f"repair {key}", cause="BI", headroom=gain(0.1), tasks=1, rollouts=1
        )
        for n in range(times)
    ]
    files = [SourceFile(name=f"{key}{n}.jsonl", format=f"format {n}", bytes=1, rows=1) for n in range(times)]
    split: dict[str, Any] = {"inside": rate, "outside": rate, "explained": 0.5, "p_value": 0.001, "tried": 9}
    inputs = msgspec.structs.replace(
        analysis.inputs,
        files=files,
        notes=[key] * times,
        copies=[key] * times,
        models=analysis.inputs.models * times,
        published=analysis.inputs.published * times,
    )
    reading = [ReadingItem(task=f"{key}{n}", bucket="never", why=key, read=[key], command="") for n in range(times)]
    return msgspec.structs.replace(
        analysis,
        inputs=inputs,
        modes=modes,
        interventions=fixes,
        health=analysis.health * times,
        signals=analysis.signals * times,
        slices=analysis.slices * times,
        funnel=analysis.funnel * times,
        predictors=[Predictor(feature=key, rule=f"have {key}", **split)] * times,
        reading_list=reading,
    )


@pytest.mark.parametrize(
    "analysis",
    [
        pytest.param(binary_analysis(), id="small"),
        pytest.param(continuous_analysis(), id="continuous"),
        pytest.param(unscored_analysis(), id="unscored"),
        pytest.param(crowded(200), id="200_of_everything"),
        pytest.param(crowded(60, LONG), id="huge_keys"),
        pytest.param(crowded(30, "two\nlines | `and` more"), id="keys_of_two_lines"),
        pytest.param(analysis_of(outcomes_of([[1]], ["only"]), BINARY), id="one_rollout"),
        pytest.param(analysis_of(outcomes_of([[0] * 40] * 300, [f"t{n}" for n in range(300)]), BINARY), id="never"),
        pytest.param(analysis_of(outcomes_of([[None]], ["x"]), BINARY), id="missing"),
    ],
)
def test_the_page_has_at_most_80_lines(analysis: Analysis) -> None:
    assert len(page_of(analysis)) <= MOST_LINES == 80


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 40), st.text(max_size=30), st.lists(st.text(max_size=60), max_size=40))
def test_no_run_and_no_prose_makes_the_page_longer(times: int, key: str, paragraphs: list[str]) -> None:
    assert len(page_of(crowded(times, key or "t"), "\n\n".join(paragraphs))) <= MOST_LINES


@pytest.mark.parametrize("text", ["\n\n\n", "# x\n" * 90, LONG])
def test_foreign_text_makes_no_more_lines(text: str) -> None:
    assert len(page_of(with_text(text))) <= MOST_LINES


def test_a_long_summary_ends_with_a_whole_paragraph_and_says_where_the_rest_is() -> None:
    prose = Markdown("First.\n\nSecond,\nof two lines.\n\n" + "x\n" * 30)

    assert (
        fitting_prose(prose, 9) == "First.\n\nSecond,\nof two lines.\n\nThe rest of this summary is in `appendix.md`."
    )


def test_keys_and_commands_are_whole() -> None:
    task = "which-of-these-is-right-" * 9
    (line,) = [line for line in page_of(crowded(1, task)) if line.startswith("- Read task")]

    assert f"`{task}0`" in line
    assert f"`blade show DIR {task}`" in line


def test_reasons_end_with_a_whole_clause() -> None:
    assert clauses("never passes; `a` was called with another `b` than expected; and more", 30) == "never passes"
    assert clauses("one clause that is longer than what was asked for", 10).endswith("asked for")


def comparison_lines(folder: Path, runs: int, tasks: int, key: str = "t") -> list[str]:
    rows: dict[str, Iterable[Row | str]] = {
        f"{key[:30]}{run}.jsonl": [
            in_own_words(
                rollout(f"{key}{task}", repeat, float((task + repeat) % (run + 2) == 0), kind=f"k{task % 9}"), str(run)
            )
            for task in range(tasks)
            for repeat in range(2)
        ]
        for run in range(runs)
    }
    return render_comparison(compare_many([diagnose(run) for run in read_files(folder, rows)])).page.text.splitlines()


@pytest.mark.parametrize(
    ("runs", "tasks", "key"),
    [(2, 3, "t"), (2, 60, "t"), (9, 40, "t"), (3, 30, LONG)],
    ids=["few", "many", "nine", "long"],
)
def test_the_page_of_a_comparison_has_at_most_80_lines(tmp_path: Path, runs: int, tasks: int, key: str) -> None:
    lines = comparison_lines(tmp_path, runs, tasks, key)

    assert len(lines) <= MOST_COMPARISON_LINES == 80
    assert not re.search(r"\n\n\n", "\n".join(lines))


def test_the_table_names_modes_and_the_recommendations_what_to_do_with_the_rule_in_whole_sentences() -> None:
    rule = f"Ask first. {'Then wait for the answer of the user. ' * 9}"
    mode = Mode(
        code="m", kind="difference", subject="", title="`cancel` was called though not expected",
        basis="by definition", failed=9, passed=0, tasks=["prove"], citations=["prove:0"],
    )  # fmt: skip
    what = f"{mode.title} (9 failing rollouts): have the agent check it. The prompt says (`a:0#0`): “{rule.strip()}”"
    fix = Intervention(action="prompt", target="m", what=what, cause="BI", headroom=gain(0.1), tasks=1, rollouts=9)
    lines = page_of(msgspec.structs.replace(binary_analysis(), modes=[mode], interventions=[fix]))

    assert "| `cancel` was called though not expected | 9 | 0 | 1 | +10.0 pp | `prove:0` |" in lines
    assert any(
        line.startswith("- Fix first (at most +10.0 pp): `cancel`") and line.endswith("check it.") for line in lines
    )
    (said,) = [line for line in lines if line.startswith("- **At most +10.0 pp**")]
    assert said.endswith("Then wait for the answer of the user”.")


def test_a_run_without_a_success_rule_is_told_what_to_do_and_no_stage_that_explains_nothing() -> None:
    page = "\n".join(page_of(continuous_analysis()))

    assert "Nothing is left to read or to fix" not in page
    assert "--success" in page.partition("## Recommendations")[2].partition("## Health")[0]


def test_a_table_of_modes_leaves_out_what_passing_rollouts_show_more_often(tmp_path: Path) -> None:
    def modes(silent: Iterable[int]) -> str:
        rows = [rollout(task, repeat, reward=task % 2) for task in range(6) for repeat in range(2)]
        for row in rows:
            if row["_ng_task_index"] in silent:
                row["response"]["output"] = []
        page = "\n".join(page_of(analyze_rows(tmp_path, rows)))
        return page.split("## Dominant Failure Modes")[1].split("\n## ")[0]

    assert "no answer" in modes(silent=[0, 2, 4]), "only failing rollouts say nothing"
    assert "no answer" not in modes(silent=[0, 1, 3, 5]), "most of those that say nothing pass"
