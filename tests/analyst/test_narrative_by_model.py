"""The analyst writes prose, and nothing in it is believed that was not looked up."""

from pathlib import Path
from typing import Any

import pytest
from loopback import Call, Say, Status
from obedient import answer, difference, obedient_writer, points, write
from small_readings import ROWS, narrated_by, read_by, row, workspace

from blade.analyst.facts import facts_of, quotes_of
from blade.analyst.narrating import Story
from blade.analyst.publishing import has_foreign_narrative, publish_story
from blade.audit.check import check_report
from blade.audit.evidence import evidence_in
from blade.audit.narrated import Standard, read_own_narrative, render_narrated
from blade.diagnosis.analyze import AnalyzeOptions
from blade.diagnosis.analyze import analyze as diagnose
from blade.report.workspace import APPENDIX, NARRATIVE, REPORT, Request, Workspace, open_workspace, write_workspace
from blade.rollouts import ReadOptions, read_runs

SECTIONS = [
    "Executive Summary",
    "Dominant Failure Modes",
    "Sometimes-Pass Deep Dives",
    "Findings No Table Shows",
    "Recommendations",
]
DEMO = Path(__file__).parents[2] / "blade" / "cli" / "demo_data" / "rollouts.jsonl"


@pytest.fixture
def opened(tmp_path: Path) -> Workspace:
    """A diagnosis whose tasks a model has read."""
    made = workspace(tmp_path)
    read_by(write, made)
    return open_workspace(made.folder)


def report_of(opened: Workspace, story: Story) -> str:
    """The report with what a model wrote in it."""
    publish_story(opened, story, author="llm:scripted")
    render_narrated(open_workspace(opened.folder))
    return (opened.folder / APPENDIX).read_text(encoding="utf-8")


def test_what_holds_becomes_the_prose_of_the_report(opened: Workspace) -> None:
    story = narrated_by(write, opened)
    report = report_of(opened, story)

    assert (list(story.sections), story.not_written) == (SECTIONS, {})
    assert "Prose by `llm:scripted`: a reading, whose numbers" in report
    assert "- **Guessing.** The answer is not looked up. In figures: pass@1 is 50.0 % (95 % interval " in report
    assert "Task `b` passed 1 of 2 rollouts. The passing rollout says what is so." in report
    assert "Failing: “`wrong`” (`b:0#1`). Passing: “`right`” (`b:1#1`)." in report


def test_every_claim_of_such_a_report_is_supported(opened: Workspace) -> None:
    report = report_of(opened, narrated_by(write, opened))
    audit = check_report(report, evidence=evidence_in(opened.folder))

    assert (audit.contradicted, audit.unverifiable) == ([], [])


def test_the_narrative_is_a_file_that_people_and_golden_reports_can_go_on_with(opened: Workspace) -> None:
    report_of(opened, narrated_by(write, opened))
    narrative = read_own_narrative(opened)

    assert narrative is not None
    assert (narrative.front.author, narrative.front.model) == ("llm:scripted", "run")
    assert "{{ headline | pct }}" in narrative.sections["Executive Summary"]
    assert '{{ cite("b:0#1", "wrong") }}' in narrative.sections["Sometimes-Pass Deep Dives"]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        pytest.param("It guesses.", "holds no JSON object", id="prose"),
        pytest.param('{"points": []}', "give one to 5", id="no_points"),
        pytest.param(points("It fails 12 of them."), "states '12'", id="number"),
        pytest.param(points("It fails three of them."), "states 'three'", id="number_in_words"),
        pytest.param(points("Half of them fail."), "states 'Half'", id="share_in_words"),
        pytest.param(points("It stops half way."), "says 'half', which nobody has counted", id="half_in_words"),
        pytest.param(points("All rollouts time out."), "says 'All'", id="all"),
        pytest.param(points("It never calls a tool."), "says 'never'", id="never"),
        pytest.param(points("No rollout calls a tool."), "says 'No rollout'", id="none"),
        pytest.param(points("Most rollouts crash."), "says 'Most'", id="most"),
        pytest.param(points("It says “I give up” at once."), "quotes '“I give up”'", id="quotation"),
        pytest.param(points("It says 'I give up' at once."), "quotes", id="single_quotation"),
        pytest.param(points("It calls `rm` there."), "holds '`'", id="code"),
        pytest.param(points("See [this](http://x.example)."), "holds", id="link"),
        pytest.param(points("<img src=x onerror=y> is shown."), "holds '<i'", id="html"),
        pytest.param(points("It has {{ headline }} there."), "holds '{'", id="template"),
        pytest.param(points("As F3 shows, it guesses."), "speaks of F3", id="name_in_text"),
        pytest.param(points(facts=["F99"]), "there is no fact 'F99'", id="no_such_fact"),
        pytest.param(points(quotes=["never said"]), "there is no quote 'never said'", id="made_up_quote"),
        pytest.param(points(facts=[], quotes=[]), "names no ", id="no_proof"),
        pytest.param(points(" … "), "says nothing", id="empty"),
        pytest.param(points("long " * 120), "at most 500 are taken", id="too_long"),
        pytest.param(points("It begins at 7:0#9 there."), "7:0", id="no_such_place"),
    ],
)
def test_what_does_not_hold_goes_back_and_ends_not_written(opened: Workspace, said: str, reason: str) -> None:
    asked: list[str] = []

    def stubborn(call: Call) -> Any:
        asked.append(call.words)
        return write(call, section=said)

    story = narrated_by(stubborn, opened, attempts=2)
    report = report_of(opened, story)

    assert list(story.sections) == ["Sometimes-Pass Deep Dives"]
    assert all(reason in why for why in story.not_written.values()) and len(story.not_written) == 4
    assert sum("was not accepted" in words for words in asked) == 4
    assert "Left out, as it did not hold: Executive Summary, Dominant Failure Modes, Findings No Table Shows" in report


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        pytest.param(difference(failing="right"), "does not occur there verbatim", id="not_in_the_failing_one"),
        pytest.param(difference(passing="this is"), "stands in R1 too", id="in_both"),
        pytest.param(difference(where=("R1#0", "R2#1")), "does not occur there verbatim", id="another_item"),
        pytest.param(
            difference(where=("R1#1", "R1#1")), "'R1#1' is not a rollout you were shown", id="another_rollout"
        ),
        pytest.param(difference("What about b?", where=("R1#0", "R2#1")), "was given to R1", id="its_prompt"),
        pytest.param('{"difference": "It looks it up."}', "does not follow the schema", id="incomplete"),
        pytest.param(difference(words="It tries twice."), "states 'twice'", id="number"),
    ],
)
def test_a_difference_that_is_none_is_not_written(opened: Workspace, said: str, reason: str) -> None:
    story = narrated_by(lambda call: write(call, differs=said), opened, attempts=1)

    assert reason in story.not_written["Sometimes-Pass Deep Dives"]


def test_a_mended_section_is_taken(opened: Workspace) -> None:
    def learns(call: Call) -> Any:
        return write(call, section=None if "was not accepted" in call.words else points("All fail."))

    assert list(narrated_by(learns, opened).sections) == SECTIONS


def test_an_answer_that_was_cut_is_told_so(opened: Workspace) -> None:
    story = narrated_by(lambda call: Say('{"points": [', is_cut=True), opened, attempts=1)

    assert all(why.endswith("The reply was cut at its limit of tokens.") for why in story.not_written.values())


def test_a_server_that_fails_costs_the_part_it_fails_at(opened: Workspace) -> None:
    def ill(call: Call) -> Any:
        return Status(400, "too long") if "section Recommendations" in call.words else write(call)

    story = narrated_by(ill, opened)

    assert list(story.sections) == SECTIONS[:-1]
    assert story.not_written["Recommendations"].startswith("rejected:")


def test_a_narrative_that_somebody_edited_is_kept(opened: Workspace) -> None:
    story = narrated_by(write, opened)
    report_of(opened, story)
    place = opened.folder / NARRATIVE
    assert not has_foreign_narrative(opened.folder)
    place.write_text(place.read_text().replace("Guessing", "Haste"))

    assert has_foreign_narrative(opened.folder)
    assert publish_story(opened, story, author="llm:scripted").is_kept
    assert "Haste" in place.read_text()


def test_a_story_of_nothing_says_so_and_leaves_an_earlier_one(opened: Workspace) -> None:
    nothing = Story(sections={}, not_written={"Recommendations": "no JSON object"})
    assert "Prose by `llm:scripted` did not hold and is left out" in report_of(opened, nothing)
    report_of(opened, narrated_by(write, opened))

    assert "**Guessing.**" in report_of(opened, nothing)


def test_a_run_about_which_nothing_can_be_asked_gets_no_narrative(opened: Workspace) -> None:
    assert publish_story(opened, Story(sections={}, not_written={}), author="llm:scripted").written == []
    assert not (opened.folder / NARRATIVE).exists()


def test_numbers_follow_the_labels_they_speak_of(opened: Workspace) -> None:
    story = narrated_by(lambda call: write(call, section=points(facts=[label_fact(opened)])), opened)
    before = report_of(opened, story)
    read_by(lambda call: Say(answer("BI" if "also wrong" in call.words else "KG")), opened, again=True)
    render_narrated(open_workspace(opened.folder))

    assert "In figures: the label `KG` (knowledge gap) is given to 2 tasks." in before
    assert "In figures: the label `KG` (knowledge gap) is given to 1 task." in (opened.folder / REPORT).read_text()


def label_fact(opened: Workspace) -> str:
    return next(fact.name for fact in facts_of(Standard(opened)) if "`KG`" in fact.text)


def test_every_fact_of_a_rich_run_is_offered_as_a_clause(tmp_path: Path) -> None:
    (run,) = read_runs([str(DEMO)], ReadOptions())
    request = Request(inputs=[str(DEMO)], run=run.name)
    standard = Standard(write_workspace(tmp_path, run, diagnose(run, AnalyzeOptions()), request))
    said = [str(fact.text) for fact in facts_of(standard)]

    assert len(said) > 40
    assert said[:4] == [
        "pass@1 is 62.2 % (95 % interval 49.8 % to 73.4 %)",
        "12 of 36 tasks always pass",
        "18 of 36 tasks sometimes pass",
        "6 of 36 tasks never pass",
    ]
    assert "pass@1 is 29.2 % where `difficulty` is `hard`" in said
    assert len(quotes_of(standard)) > 10


def test_nothing_secret_leaves_the_machine_with_the_narrative(tmp_path: Path) -> None:
    secret = "hf_" + "k3y" * 8
    seen: list[str] = []

    def listening(call: Call) -> Any:
        seen.append(call.words)
        return write(call)

    rows = [*ROWS, row("d", 0, 0.0, f"wrong, with {secret}"), row("d", 1, 1.0, f"right, with {secret}")]
    made = workspace(tmp_path, rows)
    read_by(lambda call: write(call, label=answer("KG", "R1#1", f"wrong, with {secret}")), made)
    narrated_by(listening, made)

    assert any("Write the section" in words and "[redacted:api_key]" in words for words in seen)
    assert not any(secret in words for words in seen)


def test_the_form_offers_only_what_there_is(opened: Workspace) -> None:
    forms: list[Any] = []

    def listening(call: Call) -> Any:
        if "Write the section" in call.words:
            forms.append(call.body["response_format"]["json_schema"])
        return obedient_writer(call)

    narrated_by(listening, opened)
    fields = forms[0]["schema"]["$defs"]["Point"]["properties"]

    assert forms[0]["strict"] is True
    assert fields["facts"]["items"]["enum"][:2] == ["F1", "F2"]
    assert fields["quotes"]["items"]["enum"][0] == "Q1"
