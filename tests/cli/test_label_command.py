"""`blade label` and `blade report`: a judgement with proof, and the report that takes it up."""

import json
from pathlib import Path
from typing import Any

import pytest
from blade_command import blade, diagnosed, document
from rollout_rows import Row, write_rows

WRONG_FLIGHT = ("1", "--cause", "BI", "--cite", "1:1#4", "--quote", '"SK2"', "--reason", "books the wrong flight")


def last_label(out: Path) -> Any:
    return json.loads((out / "labels.jsonl").read_text().splitlines()[-1])


def cause_of(out: Path, task: str) -> Any:
    causes = json.loads((out / "analysis.json").read_bytes())["causes"]
    return next(cause for cause in causes if cause["task"] == task)


def test_a_label_is_written_and_named(tmp_path: Path) -> None:
    out = diagnosed(tmp_path)
    found = blade("label", out, *WRONG_FLIGHT, "--author", "human:ada", "--confidence", "high")

    assert (found.exit_code, found.stdout) == (0, "1: BI by human:ada\n")
    assert found.stderr == f"Put it into the report with: blade report {out}\n"
    assert last_label(out) == {
        "task": "1",
        "cause": "BI",
        "confidence": "high",
        "author": "human:ada",
        "reason": "books the wrong flight",
        "evidence": [{"citation": "1:1#4", "quote": '"SK2"'}],
    }


def test_the_author_is_the_user_by_default(tmp_path: Path) -> None:
    found = blade("label", diagnosed(tmp_path), *WRONG_FLIGHT, "--json", env={"USER": "grace"})

    assert document(found)["author"] == "human:grace"


def test_quotes_belong_to_the_citations_of_the_same_rank(tmp_path: Path) -> None:
    words = ("--cite", "2:0#2", "--quote", "no such city", "--cite", "2:1", "--reason", "r", "--cause", "KG+BI")

    label = document(blade("label", diagnosed(tmp_path), "2", *words, "--json"))

    assert label["evidence"] == [{"citation": "2:0#2", "quote": "no such city"}, {"citation": "2:1", "quote": None}]


def test_an_empty_quote_leaves_its_citation_without_one(tmp_path: Path) -> None:
    words = ("--cite", "2:1", "--quote", "", "--cite", "2:0#2", "--quote", "no such city", "--reason", "r")

    label = document(blade("label", diagnosed(tmp_path), "2", *words, "--cause", "KG", "--json"))

    assert label["evidence"] == [{"citation": "2:1", "quote": None}, {"citation": "2:0#2", "quote": "no such city"}]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["1", "--cause", "XX", "--cite", "1:1", "--reason", "r"], "DA, IR, TI, BI, UK, KG", id="cause"),
        pytest.param(["9", "--cause", "BI", "--cite", "1:1", "--reason", "r"], "no task '9'", id="task"),
        pytest.param(["1", "--cause", "BI", "--cite", "1:9", "--reason", "r"], "it has 0, 1", id="rollout"),
        pytest.param(["1", "--cause", "BI", "--cite", "1:1#99", "--reason", "r"], "7 items", id="item"),
        pytest.param(
            ["1", "--cause", "BI", "--cite", "1:1#4", "--quote", "LH1", "--reason", "r"],
            "does not occur there verbatim; it stands at #3",
            id="quote",
        ),
        pytest.param(
            ["1", "--cause", "BI", "--cite", "1:1", "--quote", "a", "--quote", "b", "--reason", "r"],
            "give every --quote its own --cite",
            id="too_many_quotes",
        ),
        pytest.param(
            ["1", "--cause", "BI", "--cite", "1:1", "--reason", "r", "--author", "ada"], "human:NAME", id="author"
        ),
        pytest.param(["1", "--cause", "BI", "--cite", "1:1", "--reason", " "], "reason", id="reason"),
    ],
)
def test_a_label_whose_proof_does_not_hold_is_refused(tmp_path: Path, words: list[str], said: str) -> None:
    out = diagnosed(tmp_path)
    before = (out / "labels.jsonl").read_bytes()

    found = blade("label", out, *words)

    assert (found.exit_code, found.stdout) == (2, "")
    assert said in found.stderr
    assert (out / "labels.jsonl").read_bytes() == before


def test_the_report_takes_up_the_label(tmp_path: Path) -> None:
    out = diagnosed(tmp_path)
    blade("label", out, *WRONG_FLIGHT)

    found = blade("report", out)

    assert found.exit_code == 0
    assert "1 decided, 1 undecided" in found.stdout
    assert cause_of(out, "1")["reason"] == "books the wrong flight"
    assert "books the wrong flight" in (out / "appendix.md").read_text()


def test_the_json_of_a_report_is_the_analysis_with_the_labels(tmp_path: Path) -> None:
    out = diagnosed(tmp_path)
    blade("label", out, *WRONG_FLIGHT)

    analysis = document(blade("report", out, "--json"))

    assert analysis == json.loads((out / "analysis.json").read_bytes())
    assert [cause["author"].partition(":")[0] for cause in analysis["causes"]] == ["human", "rule"]


def test_a_label_outlives_another_diagnosis(tmp_path: Path) -> None:
    out = diagnosed(tmp_path)
    blade("label", out, *WRONG_FLIGHT)

    diagnosed(tmp_path)

    assert cause_of(out, "1")["label"] == "BI"


def test_a_mode_is_labelled_where_every_failing_rollout_shows_it(tmp_path: Path) -> None:
    def attempt(task: int, repeat: int, *, slow: bool) -> Row:
        ending = {"kind": "timeout", "origin": "agent", "name": "agent_timeout"} if slow else {"kind": "completed"}
        return {"task": f"t{task}", "repeat": repeat, "reward": float(repeat > 1), "ending": ending, "output": []}

    rows = [attempt(task, repeat, slow=repeat < (1 if task == 0 else 2)) for task in range(6) for repeat in range(4)]
    write_rows(tmp_path / "run.jsonl", rows)
    blade("diagnose", tmp_path / "run.jsonl", "--out", tmp_path / "out")
    words = ("--mode", "ended-with-agent-timeout-timeout-agent", "--cause", "BI", "--reason", "waits for a prompt")
    found = blade("label", tmp_path / "out", *words, "--author", "human:ada")

    assert found.exit_code == 0
    assert found.stdout.splitlines() == [f"t{task}: BI by human:ada" for task in range(1, 6)]
    assert "t0: not labelled, 1 of its 2 failing rollouts show it" in found.stderr
    assert blade("label", tmp_path / "out", "t0", "--cause", "BI", "--reason", "r").exit_code == 2


@pytest.mark.parametrize(
    ("reason", "problem"),
    [
        ("as in `1:7#2`", "the reason says 1:7#2, but"),
        ("`1:1#4` says “cancelled at once”", "the reason says “cancelled at once”, but"),
        ("task 1 always passes", "true is sometimes passes"),
    ],
)
def test_a_reason_that_says_what_is_not_so_is_refused(tmp_path: Path, reason: str, problem: str) -> None:
    out = diagnosed(tmp_path)
    before = (out / "labels.jsonl").read_bytes()
    found = blade("label", out, *WRONG_FLIGHT[:-1], reason)

    assert (found.exit_code, problem in found.stderr) == (2, True), found.stderr
    assert (out / "labels.jsonl").read_bytes() == before
