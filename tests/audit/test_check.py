"""Sentences in anybody's words, held against the demo's rollouts: pass@1 is 62.2 % over 36 tasks, 12 of which always
pass, 18 sometimes and 6 never; `hard` tasks pass 29.2 %, `easy` ones 93.3 %."""

from pathlib import Path

import pytest
from known_runs import demo, demo_evidence, read_diagnosed
from rollout_rows import Row, rollout, write_rows

from blade.audit.check import as_document, check_report
from blade.audit.evidence import Evidence, Source, evidence_of
from blade.diagnosis.labels import Label
from blade.diagnosis.relabelling import relabel

TRUE = [
    "Overall pass@1 comes to 62.2%.",
    "With a pass@1 of 0.622, the run is mediocre.",
    "The model solves 62 % of the tasks.",
    "The success rate is roughly 60 %.",
    "pass@3 reaches 81.7 %, pass^3 only 39.2 %.",
    "The 95 % interval of pass@1 runs from 49.8 % to 73.4 %.",
    "Twelve of 36 tasks always pass.",
    "A third of the tasks (12 of 36) always pass.",
    "Of 36 tasks 12 always pass.",
    "18 tasks are sometimes-pass and 6 are never-pass.",
    "176 of 180 expected rollouts are there; 4 are missing.",
    "On hard tasks, pass@1 drops to 29.2 %.",
    "`easy` tasks reach 93.3 % while `hard` ones stop at 29.2 %.",
    "pass@1 is 62.2 % in total, 29.2 % for `hard`, 64.2 % for `medium` and 93.3 % for `easy`.",
    "Of the 12 `hard` tasks, 5 never pass.",
    "Task `25` passes only 1 of 5 times.",
    "Task 12 succeeded in 3 of its 5 rollouts.",
    "Task `25` is labelled BI+UK.",
    "Eight tasks carry the label BI.",
    "The signal `no_tool_call` was seen in 10 failing rollouts.",
    "In 5 rollouts the model ran out of tokens or turns.",
    "All five rollouts of task `32` declined the task.",
    "Failing rollouts use 301 output tokens on average, passing ones 291.",
    "Counting missing rollouts as failures, the headline is 58.9 %.",
    "Without infrastructure failures pass@1 is 64.4 %.",
    "`8:2#2` says “A few routine mails about the coffee machine”.",
    "`8:2#2` says “A few … coffee machine; nothing needs your attention.”",
    "Tasks `20`, `24` and `26` never pass.",
    "The lowest headline is that of `hard`.",
    "Every category has at least 6 tasks.",
    "No task is without a known outcome.",
    "Only tasks `20` and `24` are KG.",
    "The gain of KG is at most +5.6 pp.",  # two tasks of 36, and neither ever passed
    "If KG tasks always passed, pass@1 would be at most +5.6 pp more.",
    "## Next\n\n| cause | meaning | tasks | at most |\n|---|---|---|---|\n| KG | knowledge gap | 2 | +5.6 pp |",
    "6 tasks never pass: `20`, `24`, `26`, `27`, `31`, `32`.",
    "| label | tasks | which |\n|---|---|---|\n| KG | 2 | `20`, `24` |",
    "| Category | Tasks | Pass@1 |\n|---|---|---|\n| mail | 8 | 65% |\n| records | 8 | 57.5% |",
    "| Task | Passed | Cause |\n|---|---|---|\n| 25 | 1/5 | BI+UK |\n| 20 | 0/5 | KG |",
]
FALSE = [
    ("Overall pass@1 comes to 61.2%.", "61.2%", "62.2 %"),
    ("The success rate is roughly 72 %.", "72 %", "62.2 %"),
    ("Overall pass@1 is '72.2 %'.", "72.2 %", "62.2 %"),
    ("pass@3 reaches 81.7 %, pass^3 only 49.2 %.", "49.2 %", "39.2 %"),
    ("The 95 % interval of pass@1 runs from 49.8 % to 83.4 %.", "49.8 % to 83.4 %", "49.8 % to 73.4 %"),
    ("13 of 36 tasks always pass.", "13 of 36", "12 of 36 or 24"),
    ("18 tasks are sometimes-pass and 7 are never-pass.", "7", "6 of 36 or 24"),
    ("On hard tasks, pass@1 drops to 39.2 %.", "39.2 %", "29.2 %"),
    ("`easy` tasks reach 93.3 % while `hard` ones stop at 19.2 %.", "19.2 %", "29.2 %"),
    ("Of the 12 `hard` tasks, 4 never pass.", "4", "5 of 12"),
    ("Task `25` passes only 2 of 5 times.", "2 of 5", "1 of 5"),
    ("Task `25` is labelled KG.", "KG", "BI+UK"),
    ("The signal `no_tool_call` was seen in 12 failing rollouts.", "12", "10"),
    ("See `8:2` and `99:1`.", "`99:1`", "tasks 0, 1, 10, 11, 12 and 31 more"),
    ("See `8:9`.", "`8:9`", "repeats 0, 1, 2, 3, 4"),
    ("See `8:2#77`.", "`8:2#77`", "items 0 to 2"),
    ("Tasks `20` and `25` never pass.", "never", "task 25 sometimes"),
    ("No rollout is missing.", "No", "4 of 180"),
    ("Only task `20` is KG.", "Only", "tasks 20, 24"),
    ("The headroom of KG is +15.6 pp.", "+15.6 pp", "5.6 pp"),
    ("| cause | at most |\n|---|---|\n| KG | +15.6 pp |", "+15.6 pp", "5.6 pp"),
    ("6 tasks never pass: `20`, `24`, `26`, `27`, `31`, `33`.", "never", "task 33 sometimes"),
    ("| label | tasks | which |\n|---|---|---|\n| KG | 2 | `20`, `26` |", "`26`", "BI"),
    ("The lowest headline is that of `medium`.", "lowest", "hard (29.2 %)"),
    ("| Category | Tasks | Pass@1 |\n|---|---|---|\n| mail | 8 | 75% |\n| records | 8 | 57.5% |", "75%", "65.0 %"),
    ("| Task | Passed | Cause |\n|---|---|---|\n| 25 | 1/5 | KG |\n| 20 | 0/5 | KG |", "KG", "BI+UK"),
]


@pytest.mark.parametrize("text", TRUE)
def test_what_is_true_is_supported_in_anybodys_words(text: str) -> None:
    audit = check_report(text, evidence=demo_evidence())

    assert audit.supported
    assert [(check.claim.said, check.why) for check in (*audit.contradicted, *audit.unverifiable)] == []


@pytest.mark.parametrize(("text", "said", "true"), FALSE)
def test_what_is_false_is_contradicted_with_the_true_value(text: str, said: str, true: str) -> None:
    found = check_report(text, evidence=demo_evidence()).contradicted

    assert [(check.claim.said, check.true) for check in found] == [(said, true)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("The rerun cost 17 dollars.", id="nothing_of_that_name"),
        pytest.param("Fixing truncation would gain 9.9 pp.", id="supposed"),
        pytest.param("KG tasks lie 5.6 pp behind those of last year.", id="points_that_are_no_gain"),
        pytest.param("Of the tasks about invoices, 7 never pass.", id="narrowed_by_unknown_words"),
        pytest.param("## Invoices\n\nHere 7 never pass.", id="narrowed_by_a_heading"),
        pytest.param(
            "Results on invoices:\n\n| metric | value |\n|---|---|\n| pass@1 | 12 % |", id="narrowed_by_a_caption"
        ),
        pytest.param("The `medium-rare` slice reaches 12 %.", id="unknown_level"),
        pytest.param("7 rollouts of 3 tasks hit the wall.", id="rollouts_of_tasks_that_do_something"),
        pytest.param("See `app.py:42`.", id="a_file_and_its_line"),
    ],
)
def test_what_rows_cannot_tell_is_called_unverifiable(text: str) -> None:
    audit = check_report(text, evidence=demo_evidence())

    assert (len(audit.contradicted), len(audit.supported)) == (0, 0)
    assert all(check.why for check in audit.unverifiable) and audit.unverifiable


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("The score would rise if task `20` always passed.", id="condition_behind"),
        pytest.param("If task `20` always passed, the score would rise.", id="condition_before"),
    ],
)
def test_a_condition_asserts_nothing(text: str) -> None:
    assert check_report(text, evidence=demo_evidence()).contradicted == []


def test_a_quote_at_another_item_is_told_where_it_stands() -> None:
    (found,) = check_report("`8:2#1`: “A few routine mails about”", evidence=demo_evidence()).contradicted

    assert (found.claim.kind, found.true) == ("quote", "it stands at #2")


def test_a_changed_word_of_a_quote_is_told_with_the_words_that_stand_there() -> None:
    text = "`8:2#2`: “A few routine letters about the coffee machine”"
    (found,) = check_report(text, evidence=demo_evidence()).contradicted

    assert found.true.startswith("“A few routine mails about the coffee machine")


def test_the_label_in_force_is_the_one_that_counts() -> None:
    label = Label(task="25", cause="TI", confidence="high", author="human:ada", reason="the check is wrong")
    source = Source(relabel(demo().analysis, {"25": label}))

    assert [check.true for check in check_report("Task `25` is BI+UK.", evidence=Evidence([source])).contradicted] == [
        "TI"
    ]


def test_a_task_is_told_from_a_level_of_the_same_name(tmp_path: Path) -> None:
    rows: list[Row | str] = [
        rollout(task, n, float(n < task % 4), stops=1 + task % 2) for task in range(12) for n in range(3)
    ]
    evidence = evidence_of([read_diagnosed(write_rows(tmp_path / "run.jsonl", rows))])

    assert "stops=1" in {thing.key for thing in evidence.knowledge.facts if thing is not None}
    assert len(check_report("Task `1`: 1 of 3.", evidence=evidence).supported) == 2
    assert [check.true for check in check_report("Task `1`: 2 of 3.", evidence=evidence).contradicted] == ["1 of 3"]


def test_without_the_rollouts_a_citation_is_known_by_its_task_alone() -> None:
    audit = check_report("See `8:2` and `99:1`.", evidence=Evidence([Source(demo().analysis)]))

    assert [check.claim.text for check in audit.unverifiable] == ["8:2"]
    assert [check.claim.text for check in audit.contradicted] == ["99:1"]


def test_what_the_rows_give_is_right_even_where_another_number_is_wrong() -> None:
    text = "Of 36 tasks, 12 always passed, 18 sometimes and 7 never.\n"
    found = check_report(text, evidence=demo_evidence()).contradicted

    assert [check.claim.said for check in found] == ["7"]


def test_an_audit_is_a_document_for_programs() -> None:
    document = as_document(check_report("pass@1 is 61 %, at a cost of 5 euro.", evidence=demo_evidence()))

    assert (document.claims, document.supported) == (2, 0)
    assert [(entry.line, entry.said, entry.true) for entry in document.contradicted] == [(1, "61 %", "62.2 %")]
    assert [(entry.said, bool(entry.why)) for entry in document.unverifiable] == [("5", True)]


def test_two_runs_are_checked_by_their_comparison() -> None:
    evidence = evidence_of([demo(), demo()])

    assert evidence.comparison is not None
    audit = check_report("Over the 36 paired tasks nothing moved: 0 tasks worse.", evidence=evidence)
    assert (len(audit.supported), len(audit.contradicted)) == (2, 0)


def test_a_quotation_that_ends_like_a_citation_is_none() -> None:
    audit = check_report("It says “`Please call me back in 14:0`”.", evidence=demo_evidence())

    assert audit.contradicted == []
