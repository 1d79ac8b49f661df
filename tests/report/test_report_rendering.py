"""Reports as they are rendered: whole texts against golden files, and what hostile text may not do to them."""

import functools
import re

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from sample_analyses import (
    BINARY,
    Golden,
    analysis_of,
    binary_analysis,
    continuous_analysis,
    outcomes_of,
    unscored_analysis,
    with_text,
)

from blade.diagnosis.analysis import MAX_LISTED, Analysis
from blade.report.report import build_report, finalize, render_appendix, render_page

PAGE_SECTIONS = [
    *("Executive Summary", "Aggregate Results", "What Explains the Score", "Dominant Failure Modes"),
    *("Recommendations", "Health", "Reproducibility Notes"),
]
SECTIONS = [
    *("Artifact Inventory", "Aggregate Results", "Workflow Funnel", "Task Outcome Buckets"),
    *("Dominant Failure Modes", "Sometimes-Pass Deep Dives", "Never-Pass Deep Dives", "Cross-Model Comparison"),
    *("Recommendations", "Reproducibility Notes"),
]
HOSTILE = (
    "</td><script>alert(1)</script> | ![x](http://evil.example/p.png) [y](javascript:1) `` ` \\` ~~~ "
    "\n# Heading\n- item\r\n<!-- \x1b[31mred\x1b[0m \u202eright-to-left\u202c \x00 $x$ @team ops@evil.example "
    "www.evil.example **bold** __b__ {{ 7*7 }} {% raw %}"
)
PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def rendered(analysis: Analysis) -> str:
    """The page and the appendix, one after the other."""
    report = build_report(analysis)
    return f"{render_page(report)}\n{render_appendix(report)}"


@pytest.mark.parametrize(
    ("name", "analysis"),
    [
        pytest.param("report_binary.md", binary_analysis(), id="binary"),
        pytest.param("report_continuous.md", continuous_analysis(), id="continuous"),
        pytest.param("report_unscored.md", unscored_analysis(), id="unscored"),
        pytest.param("report_hostile.md", with_text("\n# <b>|`x`[y](z)\x1b[31m\u202e"), id="hostile"),
    ],
)
def test_reports_are_as_they_were_reviewed(name: str, analysis: Analysis, golden: Golden) -> None:
    report = build_report(analysis)
    notes = msgspec.structs.replace(report.notes, version="0.0.0")

    report = msgspec.structs.replace(report, notes=notes)
    golden(name, render_page(report))
    golden(name.replace("report", "appendix"), render_appendix(report))


@pytest.mark.parametrize("analysis", [binary_analysis(), continuous_analysis(), unscored_analysis()])
def test_every_report_has_all_sections_in_order(analysis: Analysis) -> None:
    assert re.findall(r"^## (.*)$", rendered(analysis), re.MULTILINE) == [*PAGE_SECTIONS, *SECTIONS]


def test_an_analysis_read_back_from_json_gives_the_same_bytes() -> None:
    again = msgspec.json.decode(msgspec.json.encode(binary_analysis()), type=Analysis)

    assert rendered(again) == rendered(binary_analysis())


def test_blank_lines_never_come_in_pairs() -> None:
    assert "\n\n\n" not in rendered(binary_analysis()) + rendered(continuous_analysis()) + rendered(unscored_analysis())


def shape(tokens: list[Token]) -> list[tuple[str, int]]:
    """What Markdown is made of: blocks, rows and cells in order."""
    return [(token.type, token.level) for token in tokens]


@functools.cache
def harmless_shape() -> list[tuple[str, int]]:
    return shape(PARSER.parse(rendered(with_text("x"))))


def inline_types(tokens: list[Token]) -> set[str]:
    return {child.type for token in tokens for child in token.children or []}


HARMLESS = {"text", "code_inline", "softbreak", "strong_open", "strong_close", "em_open", "em_close", "text_special"}


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.text(min_size=1, max_size=40) | st.text(alphabet="`|\\<>[]()!*_~#-=+:&$@\n\r\t 1.w/", min_size=1, max_size=40)
)
@example(HOSTILE)
@example("|")
@example("\\")
@example("`")
@example("``a`|`")
def test_no_text_changes_what_a_report_is_made_of(text: str) -> None:
    tokens = PARSER.parse(rendered(with_text(text)))

    assert shape(tokens) == harmless_shape()
    assert inline_types(tokens) <= HARMLESS


def test_html_links_and_images_in_foreign_text_stay_text() -> None:
    html = PARSER.render(rendered(with_text(HOSTILE)))

    assert [tag for tag in ("<script", "<img", "<a ", "<!--", "<h1>Heading") if tag in html] == []
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_control_and_bidirectional_characters_leave_no_trace() -> None:
    assert re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", rendered(with_text(HOSTILE))) == []


def test_template_syntax_in_foreign_text_is_not_run() -> None:
    report = rendered(with_text(" {{ 7*7 }}"))

    assert "{{ 7\\*7 }}" in report
    assert " 49" not in report


def test_a_number_without_a_filter_stops_the_template() -> None:
    with pytest.raises(TypeError, match="give it a filter"):
        finalize(0.1)


def test_the_summary_puts_nothing_forward_that_rests_on_drafts() -> None:
    # The intervention with most headroom rests on draft labels; the next one on what was seen.
    answer = build_report(binary_analysis()).page.answer

    assert [line for line in answer if line.startswith("Fix")] == [
        "Fix first (at most +5.0 pp): raise the token or turn limit, or make the agent shorter."
    ]


def test_with_one_rollout_per_task_nothing_is_said_to_pass_sometimes() -> None:
    analysis = analysis_of(outcomes_of([[1], [0]], ["a", "b"]), BINARY)

    assert build_report(analysis).page.answer[:2] == [
        "**pass@1 is 50.0 %** (95 % interval 7.8 % to 92.2 %) over 2 tasks and 2 scored rollouts.",
        "Of 2 tasks, 1 passed and 1 did not. "
        "With at most one scored rollout per task, no task can be seen to pass *sometimes*.",
    ]


def judged(task: str) -> Analysis:
    """The sample with a cause that a person gave."""
    analysis = binary_analysis()
    causes = [
        msgspec.structs.replace(cause, author="human:ada") if cause.task == task else cause for cause in analysis.causes
    ]
    return msgspec.structs.replace(analysis, causes=causes)


def test_signals_are_counted_in_failing_rollouts_where_those_are_known() -> None:
    # `truncated` is in sort:1, which failed, and in sort:2, which passed.
    (sort,) = build_report(judged("sort")).sometimes.tasks.shown

    assert [(seen.title, seen.rollouts) for seen in sort.signals] == [("ran out of tokens or turns", 1)]


def test_signals_are_counted_in_all_rollouts_where_failing_ones_are_too_many_to_list() -> None:
    analysis = judged("sort")
    cut = msgspec.structs.replace(analysis.funnel[-1], lost=[f"prove:{n}" for n in range(MAX_LISTED)])
    dives = build_report(msgspec.structs.replace(analysis, funnel=[cut])).sometimes

    (sort,) = dives.tasks.shown
    assert (dives.only_failing, sort.signals[0].rollouts) == (False, 2)


def test_headroom_of_judged_causes_is_the_share_of_the_score_their_tasks_lose() -> None:
    # prove passes 0 of 4 and is one of 5 scored tasks: (1 - 0) / 5 = 20 pp.
    (row,) = build_report(binary_analysis()).advice.causes

    assert (row.label, row.count, row.tasks, row.headroom) == ("KG", 1, "`prove`", "+20.0 pp")


def test_deep_dives_are_bounded_and_the_rest_counted() -> None:
    analysis = analysis_of(outcomes_of([[0, 0]] * 53, [f"t{n}" for n in range(53)]), BINARY)
    report = build_report(analysis)

    assert (len(report.never.drafts.shown), report.never.drafts.rest) == (50, 3)
    assert "… and 3 more tasks; `analysis.json` holds them all." in render_appendix(report)


def test_what_was_cut_is_counted() -> None:
    report = rendered(binary_analysis())

    # 12 lines are bad, 11 of them are listed in the analysis, and 10 are shown.
    assert "Lines that could not be used (12):" in report
    assert "… and 2 more." in report


def test_a_report_never_says_none_or_nan() -> None:
    for analysis in (binary_analysis(), continuous_analysis(), unscored_analysis()):
        assert re.findall(r"\bNone\b|\bnan\b|\bTrue\b|\bFalse\b", rendered(analysis)) == []
