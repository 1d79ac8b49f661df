"""Sentences in anybody's words, bound to the demo's rollouts: pass@1 is 62.2 % over 36 tasks, 12 of which always pass,
18 sometimes and 6 never; `hard` tasks pass 29.2 %, `easy` ones 93.3 %."""

from pathlib import Path

import pytest
from known_runs import demo, demo_evidence, read_diagnosed
from rollout_rows import message, rollout, write_rows

from blade.audit.binding import Binder
from blade.audit.check import check_report, check_source
from blade.audit.evidence import Evidence, Source, evidence_of
from blade.audit.markdown import plain
from blade.audit.mentions import Spoken
from blade.audit.verdicts import as_document
from blade.diagnosis.labels import Label
from blade.diagnosis.relabelling import relabel
from blade.report.values import every_value

TRUE = [
    "Overall pass@1 comes to 62.2%.",
    "With a pass@1 of 0.622, the run is mediocre.",
    "pass@3 reaches 81.7 %, pass^3 only 39.2 %.",
    "The 95 % interval of pass@1 runs from 49.8 % to 73.4 %.",
    "Twelve of 36 tasks always pass.",
    "18 tasks are sometimes-pass and 6 are never-pass.",
    "On hard tasks, pass@1 drops to 29.2 %.",
    "Task `25` passes only 1 of 5 times.",
    "Task `27` is labelled TI.",
    "Four tasks carry the label BI.",
    "The pattern `no_tool_called` was seen in 11 failing rollouts.",
    "`8:2#2` says “A few routine mails about the coffee machine”.",
    "`8:2#2` says “A few … coffee machine; nothing needs your attention.”",
    "Tasks `20`, `24` and `26` never pass.",
    "6 tasks never pass: `20`, `24`, `26`, `27`, `31`, `32`.",
    "There are 36 tasks and 176 rollouts.",
    "16.7 % of the tasks never pass.",
    "Half of the tasks sometimes pass.",
    "Eighteen tasks pass sometimes.",
    "Task 25 succeeded in 1 of its 5 rollouts.",
    "With 3 attempts, pass@3 reaches 81.7 %.",
    "| label | tasks | which |\n|---|---|---|\n| TI | 2 | `18`, `27` |",
    "| Category | Tasks | Pass@1 |\n|---|---|---|\n| mail | 8 | 65% |\n| records | 8 | 57.5% |",
    "| Task | Passed | Cause |\n|---|---|---|\n| 27 | 0/5 | TI |\n| 32 | 0/5 | BI |",
    "pass@1 is 62.2 % (49.8 % to 73.4 %).",
    "16.7 % of the tasks never pass, 50.0 % pass sometimes and 33.3 % always.",
    "12 of 36 tasks (33.3 %) always pass.",
    "Task `20` fails in all 5 rollouts.",
    "The agent solved 106 of its 176 attempts.",
    "Six of the thirty-six problems were never solved.",
    "Pass@1 lands at 62.2 %, so most attempts succeed.",
    "168 of 176 rollouts finished with a message.",
    "`state_match` is false in 51 failing rollouts, over 18 tasks.",
    "Task `25` passed once in five attempts.",
    "Task `25`: 1/5.",
    "One in six tasks is never solved.",
    "More than 60 % of the attempts succeed.",
    "62.2 % it is (49.8 % to 73.4 %).",
    "Never: `20`, `24`, `26`, `27`, `31`, `32`.",
    "`hard`: 5 of 12 tasks never pass.",
    "Of the `medium` tasks 9 pass sometimes.",
    "None of the `easy` tasks never passes.",
    "`25:2` passed, `25:0` failed.",
    "`25` is the worst of the rest: 1 of 5.",
    "`num_tool_calls` is 1 in 15 failing rollouts, over 7 tasks, such as `25`.",
    "| Task | Passed | Rollouts |\n|---|---|---|\n| 25 | 1 | 5 |",
    "`25:0#2`: “The address is easy to guess; send it now.”\n`25:2` passed.",
]
FALSE = [
    ("pass@1 is 62.2 % (49.8 % to 81.7 %).", "81.7 %"),
    ("50.0 % of the tasks never pass, 50.0 % pass sometimes and 33.3 % always.", "50.0 %"),
    ("12 of 36 tasks (62.2 %) always pass.", "62.2 %"),
    ("Task `25` fails in all 5 rollouts.", "25"),
    ("Task `25` passes only 5 of 5 times.", "5"),
    ("Task `25` passes. It is labelled KG.", "KG"),
    ("Task `20` always passes.", "always pass"),
    ("Task `25` passed 1 of 5; see `25:0#3`.", "25:0#3"),
    ("Overall pass@1 comes to 61.2%.", "61.2%"),
    ("The success rate is roughly 72 %.", "72 %"),
    ("Overall pass@1 is '72.2 %'.", "72.2 %"),
    ("pass@3 reaches 81.7 %, pass^3 only 49.2 %.", "49.2 %"),
    ("The 95 % interval of pass@1 runs from 49.8 % to 83.4 %.", "83.4 %"),
    ("13 of 36 tasks always pass.", "13"),
    ("18 tasks are sometimes-pass and 7 are never-pass.", "7"),
    ("On hard tasks, pass@1 drops to 39.2 %.", "39.2 %"),
    ("`easy` tasks reach 93.3 % while `hard` ones stop at 19.2 %.", "19.2 %"),
    ("Task `25` passes only 2 of 5 times.", "2"),
    ("Task `25` is labelled KG.", "KG"),
    ("The pattern `no_tool_called` was seen in 12 failing rollouts.", "12"),
    ("See `8:2` and `99:1`.", "99:1"),
    ("See `8:9`.", "8:9"),
    ("See `8:2#77`.", "8:2#77"),
    ("Tasks `20` and `25` never pass.", "25"),
    ("6 tasks never pass: `20`, `24`, `26`, `27`, `31`, `33`.", "33"),
    ("| label | tasks | which |\n|---|---|---|\n| TI | 2 | `18`, `26` |", "TI"),
    ("| Category | Tasks | Pass@1 |\n|---|---|---|\n| mail | 8 | 75% |\n| records | 8 | 57.5% |", "75%"),
    ("| Task | Passed | Cause |\n|---|---|---|\n| 25 | 1/5 | KG |\n| 20 | 0/5 | KG |", "KG"),
    ("The rerun cost 17 dollars.", "17"),
    ("A third of the tasks never pass.", "A third"),
    ("A dozen tasks never pass.", "A dozen"),
    ("Twice as many tasks pass sometimes as never.", "Twice"),
    ("Task 25 succeeded in 5 of its 5 rollouts.", "5"),
    ("Task `25` passed 1 of 1.", "1"),
    ("Task `25` passed 5 of 1.", "1"),
    ("Task `25` passed 0 of 0.", "0"),
    ("`8:2#1` says “A few routine mails about the coffee machine”.", "“A few routine mails about the coffee machine”"),
    ("26.7 % of the tasks never pass.", "26.7 %"),
    ("It says “we have never been here before”.", "“we have never been here before”"),
    ("The agent solved 70 of its 176 attempts.", "70"),
    ("Seven of the thirty-six problems were never solved.", "Seven"),
    ("`state_match` is false in 51 failing rollouts and 51 passing ones.", "51"),
    ("`state_match` is false in 51 failing rollouts, over 19 tasks.", "19"),
    ("`state_match` is false in 0 failing rollouts.", "0"),
    ("Task `25` passed twice in five attempts.", "25"),
    ("Task `25`: 2/5.", "2"),
    ("A quarter of the variance is nobody's.", "A quarter"),
    ("Seven do not.", "Seven"),
    ("Tasks `20`, `24` and `nope-7` never pass.", "nope-7"),
    ("`nope-7` is labelled TI.", "nope-7"),
    ("More than 40 % of the attempts succeed.", "40 %"),
    ("65.2 % it is (49.8 % to 73.4 %).", "65.2 %"),
    ("Of 27 the rest is 70 (rate 100 %).", "100 %"),
    ("pass@8 is 62.2 %, 95 % interval 49.8 % to 73.4 %.", "pass@8"),
    ("The 97 % interval of pass@1 runs from 49.8 % to 73.4 %.", "97 % interval"),
    ("The expected call always happens.", "always"),
    ("Of the 12 hard tasks, five are never solved and none never.", "never"),
    ("Twelve of the 36 tasks always pass, a third of them are unstable.", "a third"),
    ("12 sometimes pass, 18 sometimes, 6 never.", "12"),
    ("`25:0` passed.", "passed"),
    ("`5` is the worst of the rest: 1 of 5.", "5"),
    ("Never: `20`, `24`, `25`.", "25"),
    ("`num_tool_calls` is 1 in 15 failing rollouts, over 7 tasks, such as `20`.", "20"),
    ("No `hard` task sometimes passes.", "sometimes"),
    ("168 of 168 rollouts finished with a message.", "168"),
    ("Task `20` never passes; task `24` does.", "24"),
    ("Task `0` always passes, task `1` does not.", "1"),
    ("Task `18` is labelled TI; task `19` is not.", "19"),
]
UNDER = "# Findings\n\n## Answer\n\n"


@pytest.mark.parametrize("text", TRUE)
def test_what_is_true_is_supported_in_anybodys_words(text: str) -> None:
    audit = check_report(UNDER + text, evidence=demo_evidence())

    assert audit.supported
    assert [(check.said, check.why) for check in (*audit.contradicted, *audit.unbound)] == []


@pytest.mark.parametrize(("text", "said"), FALSE)
def test_what_is_false_is_never_supported_under_any_heading(text: str, said: str) -> None:
    audit = check_report(UNDER + text, evidence=demo_evidence())

    assert said in [check.said for check in (*audit.contradicted, *audit.unbound)]


def test_markup_inside_a_quotation_does_not_make_it_false(tmp_path: Path) -> None:
    says = "Press <b>Enter</b> to **leave** the_room_now, ![map](m.png) in hand, _please_."
    rows = [rollout(0, repeat, 1.0, output=[message(says)]) for repeat in range(2)]
    evidence = evidence_of([read_diagnosed(write_rows(tmp_path / "rows.jsonl", rows))])
    for words in (says[:-1], "to **leave** the_room_now", "![map](m.png) in hand"):
        (found, *_) = check_report(f"`0:1#1` says “{words}”.", evidence=evidence).checks
        assert found.verdict == "supported"
    (changed, *_) = check_report("`0:1#1` says “to **reach** the_room_now”.", evidence=evidence).checks
    assert changed.verdict == "contradicted"


def test_the_number_of_a_section_is_no_claim() -> None:
    audit = check_report("## 4.2 Answer\n\npass@1 is 62.2 %.\n", evidence=demo_evidence())
    assert [check.said for check in audit.checks] == ["62.2 %"]


def test_a_number_no_words_point_to_is_listed_with_the_values_it_would_be_right_for() -> None:
    (unbound,) = check_report(f"{UNDER}Nobody expected 62.2 %.", evidence=demo_evidence()).unbound
    assert "pass_at_1 = 0.6222" in unbound.why and unbound.write == "{{ metrics.pass_at_1 | pct }}"


def test_a_false_headline_is_contradicted_with_the_true_value_and_what_to_write() -> None:
    (found,) = check_report(f"{UNDER}pass@1 is 43.0 %.", evidence=demo_evidence()).contradicted

    assert (found.line, found.said, found.true, found.write) == (5, "43.0 %", "62.2 %", "{{ metrics.pass_at_1 | pct }}")


def test_a_number_that_nothing_goes_by_is_unbound_and_not_called_false() -> None:
    audit = check_report("Of the tasks about invoices, 7 never pass.", evidence=demo_evidence())

    assert (audit.contradicted, [check.said for check in audit.unbound]) == ([], ["7", "never"])


def test_a_share_in_a_table_is_not_called_false_by_a_value_of_something_else() -> None:
    table = "| stage | rollouts | share |\n|---|---|---|\n| started | 176 | 100.0 % |"

    assert check_report(table, evidence=demo_evidence()).contradicted == []


def test_a_quote_at_another_item_is_told_where_it_stands() -> None:
    found = check_report("`8:2#1`: “A few letters about”", evidence=demo_evidence()).contradicted

    assert [check.said for check in found] == ["“A few letters about”"]


def test_the_label_in_force_is_the_one_that_counts() -> None:
    label = Label(task="25", cause="TI", confidence="high", author="human:ada", reason="the check is wrong")
    source = Source(relabel(demo().analysis, {"25": label}))

    found = check_report("Task `25` is BI+UK.", evidence=Evidence([source])).contradicted
    assert [check.true for check in found] == ["TI"]


def test_without_the_rollouts_a_citation_is_known_by_its_task_alone() -> None:
    audit = check_report("See `8:2` and `99:1`.", evidence=Evidence([Source(demo().analysis)]))

    assert [check.said for check in audit.unbound] == ["8:2"]
    assert [check.said for check in audit.contradicted] == ["99:1"]


def test_an_audit_is_a_document_for_programs() -> None:
    document = as_document(check_report("pass@1 is 61 %, at a cost of 5 euro.", evidence=demo_evidence()))

    assert (document["claims"], document["supported"]) == (2, 0)
    assert [(one["line"], one["said"], one["true"]) for one in document["contradicted"]] == [(1, "61 %", "62.2 %")]
    assert [(one["said"], bool(one["why"])) for one in document["unbound"]] == [("5", True)]
    assert document["unverifiable"] == []


def test_without_rows_nobody_can_judge_a_number() -> None:
    audit = check_report("pass@1 is 61 %.")

    assert ([check.said for check in audit.unverifiable], audit.contradicted) == (["61 %"], [])


def test_two_runs_are_checked_by_their_comparison() -> None:
    evidence = evidence_of([demo(), demo()])

    assert evidence.comparison is not None
    audit = check_report("Over the 36 paired tasks nothing moved.", evidence=evidence)
    assert (len(audit.supported), len(audit.contradicted)) == (1, 0)


def test_a_text_with_values_is_rendered_and_what_it_states_itself_is_named() -> None:
    source = "pass@1 is {{ pass_at_1 | pct }}, and 62.2 % is what it is. {{ cite('8:2#2', 'A few routine mails') }}"
    audit = check_source(source, evidence=demo_evidence(), where="findings.md")

    assert [check.said for check in audit.supported] == ["62.2 %", "“`A few routine mails`”", "`8:2#2`"]
    assert [(check.said, check.why) for check in audit.unbound] == [("62.2 %", "it has no address")]


def test_a_text_that_names_what_is_not_there_is_told_where() -> None:
    (found,) = check_source("\n{{ pas_at_1 | pct }}", evidence=demo_evidence(), where="f.md").contradicted

    assert found.why == "f.md:2:4: there is no 'pas_at_1'; did you mean pass_at_1, pass_at_k, pass_at_1_micro?"


def test_entries_that_share_a_name_are_each_written_so_that_they_lead_to_themselves() -> None:
    document = {"fixes": [{"kind": "prompt", "gain": 0.25}, {"kind": "prompt", "gain": 0.125}]}

    written = [value.written for value in every_value(document, "analysis") if value.kind == "real"]

    assert written == ["fixes.prompt.gain", 'fixes["1"].gain']


def test_a_count_of_another_mode_is_not_taken_for_that_of_the_mode_the_sentence_names() -> None:
    modes = [
        {"title": "`update_flights` was called with another `flights` than expected", "failed": 11, "passed": 1},
        {"title": "`update_flights` was called with another `payment_id` than expected", "failed": 9, "p_value": 1.0},
    ]
    values = [*every_value({"modes": modes}, "analysis"), *every_value({"rollouts": 40, "tasks": 20}, "coverage")]
    said = "`update_flights` was called with another `flights` than expected: {} failing and 1 passing rollouts."

    verdicts = [next(Binder(values).check(Spoken(plain(said.format(n)), 1))).verdict for n in (11, 9)]

    assert verdicts[0] == "supported"
    assert verdicts[1] != "supported"
