"""The analyst believes nothing that was not looked up."""

from pathlib import Path
from typing import Any

import pytest
from loopback import Call, Garbage, Say, Status, in_turn
from obedient import answer, obedient
from small_readings import ROWS, read_by, row, workspace

from blade.analyst.record import agreements, read_opinions
from blade.diagnosis.labels import Evidence, Label
from blade.report.workspace import append_label, open_workspace


def test_an_answer_that_holds_becomes_the_label_of_its_task(tmp_path: Path) -> None:
    opened = workspace(tmp_path)
    read_by(obedient, opened)
    label = open_workspace(opened.folder).labels["c"]

    assert (label.cause, label.author) == ("KG", "llm:scripted")
    assert label.evidence == [Evidence(citation="c:0#1", quote="wrong")]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        pytest.param("I think it is KG.", "holds no JSON object", id="prose"),
        pytest.param('{"cause": "KG"}', "does not follow the schema", id="incomplete"),
        pytest.param(answer("XX"), "unknown cause 'XX'", id="no_such_cause"),
        pytest.param(answer("KG", "R9#1"), "'R9#1' is not a rollout you were shown", id="no_such_rollout"),
        pytest.param(answer("KG", "R1#7"), "the rollout has 2 items", id="no_such_item"),
        pytest.param(answer("KG", quote="never said"), "does not occur there verbatim", id="made_up_quote"),
        pytest.param(answer("KG", evidence=[]), "give one to four", id="no_evidence"),
        pytest.param(answer("KG", reason=" "), "a label needs a reason", id="no_reason"),
        pytest.param(answer("KG", reason="It fails 12 times."), "states '12'", id="made_up_number"),
        pytest.param(answer("KG", reason="It fails '12' times."), "states '12'", id="made_up_number_in_quotes"),
        pytest.param(answer("KG", reason="It fails in seven ways."), "states 'seven'", id="made_up_number_in_words"),
        pytest.param(answer("KG", reason="It says “I give up”."), "quotes '“I give up”'", id="made_up_words"),
    ],
)
def test_an_answer_that_does_not_hold_goes_back_and_ends_undecided(tmp_path: Path, said: str, reason: str) -> None:
    opened = workspace(tmp_path)
    before = opened.labels["c"]
    told: list[str] = []

    def stubborn(call: Call) -> Say:
        told.append(call.words)
        return Say(said)

    (opinion,) = [found for found in read_by(stubborn, opened, attempts=2, concurrency=1) if found.task == "c"]

    assert opinion.label is None and opinion.undecided is not None and reason in opinion.undecided
    assert sum("was not accepted" in words for words in told) == 2  # once for each of the two tasks
    assert open_workspace(opened.folder).labels["c"] == before


def test_a_reason_may_speak_of_what_it_cites_and_of_fields(tmp_path: Path) -> None:
    rows = [*ROWS[:2], row("n", 0, 0.0, "that makes -12, which is wrong", expected="15")]
    reason = "R1 answers -12 where 15 is expected, and says “which is wrong” at R1#1."
    (opinion,) = read_by(lambda _: Say(answer("KG", reason=reason)), workspace(tmp_path, rows))

    assert opinion.label is not None
    assert opinion.label.reason == "`n:0` answers -12 where 15 is expected, and says “which is wrong” at `n:0#1`."


def test_a_mended_answer_is_taken(tmp_path: Path) -> None:
    def learns(call: Call) -> Say:
        return Say(answer("BI") if "was not accepted" in call.words else answer("BI", quote="made up"))

    opinions = read_by(learns, workspace(tmp_path))

    assert [(opinion.label is not None, len(opinion.votes[0].refused)) for opinion in opinions] == [(True, 1)] * 2


def test_the_majority_of_votes_counts_and_a_tie_decides_nothing(tmp_path: Path) -> None:
    def by_seed(causes: str) -> Any:
        return lambda call: Say(answer(causes.split()[call.body["seed"]], confidence="medium"))

    (first, *_) = read_by(by_seed("BI KG BI"), workspace(tmp_path / "a"), votes=3, tasks=1)
    (second, *_) = read_by(by_seed("BI KG"), workspace(tmp_path / "b"), votes=2, tasks=1)

    assert first.label is not None and (first.label.cause, first.label.confidence) == ("BI", "medium")
    assert (second.label, second.undecided) == (None, "votes are tied between BI and KG")


def test_a_reader_that_is_sure_at_once_is_not_asked_again(tmp_path: Path) -> None:
    def read(folder: str, confidence: str) -> int:
        said = Say(answer("KG", confidence=confidence))
        (opinion, *_) = read_by(lambda _: said, workspace(tmp_path / folder), votes=3, tasks=1)
        return len(opinion.votes)

    assert (read("sure", "high"), read("unsure", "medium")) == (1, 3)


def test_the_first_task_of_a_group_is_read_first_and_the_others_are_asked_whether_it_holds_there(
    tmp_path: Path,
) -> None:
    rows = [*ROWS[:2], *(row(task, repeat, 0.0, f"wrong in {task}") for task in "xyz" for repeat in range(2))]
    opened = workspace(tmp_path, rows)
    assert len({item.group for item in opened.analysis.reading_list}) == 1
    asked: list[str] = []

    def reader(call: Call) -> Say:
        asked.append(call.words)
        return Say(answer("KG", reason="It does not know."))

    opinions = read_by(reader, opened, concurrency=3)

    assert [opinion.label is not None for opinion in opinions] == [True] * 3
    assert ["which you judged as follows" in words for words in asked] == [False, True, True]
    assert all("KG (high confidence): It does not know." in words for words in asked[1:])


def test_what_the_task_lists_and_the_rollout_did_otherwise_is_shown_to_the_reader(tmp_path: Path) -> None:
    asked: list[str] = []

    def reader(call: Call) -> Say:
        asked.append(call.words)
        return Say(answer("KG"))

    read_by(
        reader,
        workspace(
            tmp_path, [*ROWS[:2], row("n", 0, 0.0, "this is wrong: 12", expected_answer="15", extracted_answer="12")]
        ),
    )

    assert any("difference: " in words and "expected 15" in words for words in asked)


def test_a_fault_of_the_server_stops_one_task_only(tmp_path: Path) -> None:
    def ill(call: Call) -> Any:
        return Status(400, "too long") if "also wrong" in call.words else Say(answer("KG"))

    opinions = {opinion.task: opinion for opinion in read_by(ill, workspace(tmp_path))}

    assert opinions["b"].label is not None
    assert opinions["c"].undecided is not None and opinions["c"].undecided.startswith("rejected:")


def test_rate_limits_and_garbage_are_tried_again(tmp_path: Path) -> None:
    script = in_turn(Status(429, retry_after="0"), Say(answer("KG")), Garbage(), Say(answer("KG")))
    opinions = read_by(script, workspace(tmp_path), concurrency=1)

    assert [opinion.label is not None for opinion in opinions] == [True, True]


def test_a_person_keeps_the_last_word_and_agreement_is_told(tmp_path: Path) -> None:
    opened = workspace(tmp_path)
    said = Label(task="c", cause="TI", confidence="high", author="human:ada", reason="the gold is wrong")
    append_label(opened, said)
    opened = open_workspace(opened.folder)
    read_by(obedient, opened, again=True)
    opened = open_workspace(opened.folder)
    found = {(pair.first, pair.second): pair.agreement for pair in agreements(opened)}

    assert opened.labels["c"] == said
    assert read_opinions(opened.folder)["c"].label is not None
    assert (found["llm", "human"].agreed, found["llm", "human"].n) == (0, 1)
    assert found["rule", "llm"].n == 2


def test_nothing_secret_leaves_the_machine(tmp_path: Path) -> None:
    secret = "hf_" + "k3y" * 8
    seen: list[str] = []

    def listening(call: Call) -> Say:
        seen.append(call.words)
        return Say(answer("KG"))

    rows = [*ROWS, row("d", 0, 0.0, f"wrong, with {secret}", note=f"key {secret}")]
    read_by(listening, workspace(tmp_path, rows))

    assert any("wrong, with [redacted:api_key]" in words for words in seen)
    assert not any(secret in words for words in seen)
