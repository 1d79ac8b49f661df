"""The desk's tools, what they refuse, and how the state they leave is judged."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_benchmark_tasks import tasks_of

from blade.environments.answering import function_call, message
from blade.environments.office.desk import TOOLS, Desk, check_arguments
from blade.environments.office.verifier import ENVIRONMENT

STATE: dict[str, list[dict[str, Any]]] = {
    "contacts": [{"name": "Ada Berg", "email": "ada@office.example", "phone": "555-1", "team": "Sales"}],
    "events": [
        {"id": "e1", "title": "Lunch", "date": "2025-03-11", "start": "09:00", "end": "10:30", "attendees": []},
    ],
    "mails": [{"id": "m1", "folder": "inbox", "from": "Ada Berg", "subject": "Hi", "body": "Hello"}],
    "records": [{"id": "r1", "customer": "Alder Ltd", "product": "lamps", "status": "open", "amount": 100}],
}
TASK: dict[str, Any] = {
    "state": STATE,
    "calls": [{"name": "cancel_event", "arguments": {"event_id": "e1"}}],
    "expected_answer": None,
}


def items(*calls: tuple[str, dict[str, Any]], said: str = "Done.") -> list[dict[str, Any]]:
    """Output items of a rollout that makes calls and ends with a message."""
    made = [function_call(name, json.dumps(given), call_id=str(n)) for n, (name, given) in enumerate(calls)]
    return [*made, message(said)]


def mailing(**changes: str) -> dict[str, Any]:
    """A task that asks for a mail, whose wording may be free."""
    mail = {"to": "ada@office.example", "subject": "Late", "body": "I am late.", **changes}
    return {"state": STATE, "calls": [{"name": "send_mail", "arguments": mail}], "expected_answer": None}


@pytest.mark.parametrize(
    ("tool", "arguments", "answer"),
    [
        ("find_contact", {"name": "ada"}, STATE["contacts"]),
        ("find_contact", {"name": "Zoe"}, []),
        ("list_events", {"date": "2025-03-11"}, STATE["events"]),
        ("list_mails", {}, [{"id": "m1", "from": "Ada Berg", "subject": "Hi"}]),
        ("list_mails", {"sender": "Zoe"}, []),
        ("read_mail", {"mail_id": "m1"}, STATE["mails"][0]),
        ("find_records", {"customer": "alder"}, STATE["records"]),
        ("send_mail", {"to": "x@y.example", "subject": "a", "body": "b"}, {"ok": True, "mail_id": "m101"}),
        (
            "update_record",
            {"record_id": "r1", "field": "amount", "value": 7},
            {"ok": True, "record": {**STATE["records"][0], "amount": 7}},
        ),
        (
            "move_event",
            {"event_id": "e1", "date": "2025-03-12", "start": "8:15"},
            {"ok": True, "event": {**STATE["events"][0], "date": "2025-03-12", "start": "08:15", "end": "09:45"}},
        ),
    ],
)
def test_a_tool_answers_with_json(tool: str, arguments: dict[str, Any], answer: Any) -> None:
    assert json.loads(Desk(STATE).call(tool, json.dumps(arguments))) == answer


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("fly", "{}", "there is no tool called fly"),
        ("__init__", "{}", "there is no tool called __init__"),
        ("read_mail", "not json", "invalid arguments: they are no JSON"),
        ("read_mail", "[" * 100_000, "invalid arguments: they are no JSON"),
        ("read_mail", "[1]", "invalid arguments: they must be a JSON object"),
        ("read_mail", "{}", "missing required argument: mail_id"),
        ("read_mail", '{"mail_id": "m1", "x": 1}', "unexpected argument: x"),
        ("read_mail", '{"mail_id": ["m1"]}', "invalid argument mail_id"),
        ("read_mail", '{"mail_id": "m9"}', "there is no mail with the id m9"),
        ("cancel_event", '{"event_id": "Lunch"}', "there is no event with the id Lunch"),
        ("list_events", '{"date": "tomorrow"}', "tomorrow is not a date"),
        ("list_events", '{"date": "20250311"}', "20250311 is not a date"),
        ("move_event", '{"event_id": "e1", "date": "2025-03-11", "start": "25:00"}', "25:00 is no time"),
        (
            "move_event",
            '{"event_id": "e1", "date": "2025-03-11", "start": "23:30"}',
            "the event would end after midnight",
        ),
        (
            "add_event",
            '{"title": "a", "date": "2025-03-11", "start": "10:00", "end": "09:00"}',
            "must end after it starts",
        ),
        ("send_mail", '{"to": "Ada", "subject": "a", "body": "b"}', "Ada is no mail address"),
        ("update_record", '{"record_id": "r1", "field": "customer", "value": "x"}', "it must be one of status, amount"),
        ("update_record", '{"record_id": "r1", "field": "status", "value": "gone"}', "status must be one of open"),
        ("update_record", '{"record_id": "r1", "field": "amount", "value": "much"}', "amount must be a whole number"),
        (
            "add_event",
            '{"title": "a", "date": "2025-03-11", "start": "09:00", "end": "10:00", "attendees": "ada"}',
            "must be a list of texts",
        ),
    ],
)
def test_a_call_that_cannot_be_made_is_answered_and_changes_nothing(tool: str, arguments: str, error: str) -> None:
    desk = Desk(STATE)

    assert error in json.loads(desk.call(tool, arguments))["error"]
    assert desk.state == STATE


def test_every_tool_is_described_as_responses_want_it() -> None:
    assert all(
        tool["type"] == "function" and set(tool["parameters"]["required"]) <= set(tool["parameters"]["properties"])
        for tool in TOOLS
    )
    assert all(hasattr(Desk, tool["name"]) for tool in TOOLS)
    assert len({tool["name"] for tool in TOOLS}) == 11


def test_the_state_of_the_task_is_never_changed() -> None:
    before = copy.deepcopy(STATE)
    session = ENVIRONMENT.open(TASK)
    session.call("cancel_event", '{"event_id": "e1"}')

    assert before == STATE
    assert json.loads(ENVIRONMENT.open(TASK).call("list_events", '{"date": "2025-03-11"}')) == STATE["events"]


def test_calls_are_replayed_and_their_recorded_answers_are_not_believed() -> None:
    claimed = {"type": "function_call_output", "call_id": "0", "output": '{"ok": true}'}
    verdict = ENVIRONMENT.verify(TASK, [function_call("cancel_event", '{"event_id": "e7"}', call_id="0"), claimed])

    assert (verdict.reward, verdict.fields["state_match"]) == (0.0, False)
    assert verdict.fields["wrong_calls"] == ["cancel_event: there is no event with the id e7"]


@pytest.mark.parametrize(("spam", "reward"), [(199, 1.0), (200, 0.0)])
def test_calls_that_are_too_many_to_be_replayed_are_not_trusted(spam: int, reward: float) -> None:
    looks = [("list_events", {"date": "2025-03-11"})] * spam
    verdict = ENVIRONMENT.verify(TASK, items(("cancel_event", {"event_id": "e1"}), *looks))

    assert (verdict.reward, verdict.fields["num_tool_calls"]) == (reward, spam + 1)


@pytest.mark.parametrize(
    ("calls", "difference"),
    [
        pytest.param([], ["unexpected"], id="nothing_done"),
        pytest.param(
            [("cancel_event", {"event_id": "e1"}), ("delete_mail", {"mail_id": "m1"})], ["missing"], id="too_much"
        ),
        pytest.param(
            [("move_event", {"event_id": "e1", "date": "2025-03-12", "start": "09:00"})], ["unexpected"], id="other"
        ),
    ],
)
def test_a_state_that_differs_is_told_row_by_row(
    calls: list[tuple[str, dict[str, Any]]], difference: list[str]
) -> None:
    verdict = ENVIRONMENT.verify(TASK, items(*calls))

    assert verdict.reward == 0.0
    assert [line.split()[1] for line in verdict.fields["state_diff"]] == difference


def test_a_detour_that_ends_in_the_right_state_is_right() -> None:
    new = {"title": "x", "date": "2025-03-11", "start": "12:00", "end": "13:00"}
    calls = [("add_event", new), ("cancel_event", {"event_id": "e101"}), ("cancel_event", {"event_id": "e1"})]
    verdict = ENVIRONMENT.verify(TASK, items(*calls))

    assert (verdict.reward, verdict.fields["num_tool_calls"], verdict.fields["num_expected_calls"]) == (1.0, 3, 1)


@pytest.mark.parametrize(
    ("mail", "words", "reward"),
    [
        pytest.param({"body": "  i am LATE"}, None, 1.0, id="case_and_stops_do_not_matter"),
        pytest.param({"body": "I will be late."}, None, 0.0, id="other_wording"),
        pytest.param({"body": "So sorry, I am late again"}, ["late"], 1.0, id="free_wording"),
        pytest.param({"body": "So sorry"}, ["late"], 0.0, id="free_wording_without_the_word"),
        pytest.param({"to": "bo@office.example"}, ["late"], 0.0, id="to_somebody_else"),
    ],
)
def test_mails_are_compared_by_what_matters(mail: dict[str, str], words: list[str] | None, reward: float) -> None:
    sent = {"to": "ada@office.example", "subject": "late", "body": "I am late.", **mail}

    assert ENVIRONMENT.verify({**mailing(), "body_words": words}, items(("send_mail", sent))).reward == reward


def test_a_mail_sent_twice_is_one_too_many() -> None:
    sent = {"to": "ada@office.example", "subject": "Late", "body": "I am late."}

    assert ENVIRONMENT.verify(mailing(), items(("send_mail", sent), ("send_mail", sent))).reward == 0.0


@pytest.mark.parametrize(
    ("said", "right"),
    [("Her number is 555-1.", True), ("555-1", True), ("It is 555-12", False), ("Done.", False), ("", False)],
)
def test_a_question_must_be_answered_in_the_last_message(said: str, right: bool) -> None:
    task = {"state": STATE, "calls": [], "expected_answer": "555-1"}
    verdict = ENVIRONMENT.verify(task, items(said=said))

    assert (verdict.reward, verdict.fields["answer_right"], verdict.fields["state_match"]) == (
        float(right),
        right,
        True,
    )


def test_sums_may_be_written_with_a_comma_and_a_currency() -> None:
    task = {"state": STATE, "calls": [], "expected_answer": "1170"}

    assert ENVIRONMENT.verify(task, items(said="They amount to **$1,170**.")).reward == 1.0


def test_a_question_whose_desk_was_changed_is_not_right() -> None:
    task = {"state": STATE, "calls": [], "expected_answer": "555-1"}
    verdict = ENVIRONMENT.verify(task, items(("delete_mail", {"mail_id": "m1"}), said="555-1"))

    assert (verdict.reward, verdict.fields["answer_right"], verdict.fields["state_match"]) == (0.0, True, False)


@given(
    st.sampled_from([tool["name"] for tool in TOOLS]) | st.text(),
    st.text() | st.dictionaries(st.text(), st.text()).map(json.dumps),
)
def test_no_call_stops_the_desk_or_the_judge(name: str, arguments: str) -> None:
    verdict = ENVIRONMENT.verify(TASK, [{"type": "function_call", "name": name, "arguments": arguments}, {}])

    assert verdict.reward == 0.0
    assert json.dumps(verdict.fields).encode()


@pytest.mark.parametrize(
    "odd", [{"type": "function_call"}, {"type": "function_call", "name": 5, "arguments": {"a": 1}}]
)
def test_odd_items_are_wrong_calls(odd: dict[str, Any]) -> None:
    assert ENVIRONMENT.verify(TASK, [odd]).fields["num_wrong_calls"] == 1


def test_half_characters_come_out_readable() -> None:
    verdict = ENVIRONMENT.verify(TASK, [function_call("read_mail", '{"mail_id": "\\ud800"}', call_id="0")])

    assert verdict.fields["wrong_calls"] == ["read_mail: there is no mail with the id \\ud800"]


def test_the_calls_of_every_task_are_ones_a_model_could_make() -> None:
    for task in tasks_of("office_desk"):
        assert len(task["calls"]) <= 8
        for call in task["calls"]:
            assert check_arguments(call["name"], json.dumps(call["arguments"])) == call["arguments"]


def test_ids_and_addresses_can_be_found_out_before_they_are_used() -> None:
    for task in tasks_of("office_desk"):
        desk, known = Desk(task["state"]), task["request"]
        for call in task["calls"]:
            used = [value for field, value in call["arguments"].items() if field.endswith("_id") or field == "to"]
            assert [value for value in used if value not in known] == [], task["task_id"]
            known += desk.call(call["name"], json.dumps(call["arguments"]))
