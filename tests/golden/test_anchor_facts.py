"""Anchor facts: their form, whether they are true, and how they are drafted."""

import json
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from small_packages import write_package
from struct_schemas import described_schema, schema_text

from blade.golden.drafting import draft_facts
from blade.golden.facts import Check, FactsError, FactsFile, as_json, make_check, read_facts
from blade.golden.truth import Truth, truth_beside, why_false

SCHEMA = described_schema(FactsFile, "BLADE anchor facts")
STORED = resources.files("blade") / "schemas" / "anchor_facts.schema.json"
GOLDEN = "golden_reports/model-a_golden_report.md"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_package(tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="module")
def truth(package: Path) -> Truth:
    return truth_beside(package / GOLDEN)


def test_the_stored_schema_is_the_generated_one(pytestconfig: pytest.Config) -> None:
    if pytestconfig.getoption("--update-golden"):
        Path(str(STORED)).write_text(schema_text(SCHEMA), encoding="utf-8")

    assert STORED.read_text(encoding="utf-8") == schema_text(SCHEMA)


def test_drafted_facts_keep_the_schema_and_say_that_nobody_rated_them(package: Path) -> None:
    stored = json.loads((package / "golden_reports" / "model-a_anchor_facts.json").read_text(encoding="utf-8"))

    jsonschema.Draft202012Validator(SCHEMA).validate(stored)
    assert stored["review_required"] is True
    assert {fact["mean_score"] for fact in stored["anchor_facts"]} == {None}


def test_facts_are_read_as_they_were_written(package: Path) -> None:
    place = package / "golden_reports" / "model-a_anchor_facts.json"

    assert as_json(read_facts(place)) == place.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("check", "why"),
    [
        pytest.param({"kind": "metric", "of": "pass_at_1", "value": 0.55}, "", id="metric"),
        pytest.param({"kind": "metric", "of": "pass_at_1", "value": 0.57, "tolerance": 0.05}, "", id="tolerated"),
        pytest.param({"kind": "metric", "of": "pass_at_1", "value": 0.57}, "pass_at_1 is 0.55, not 0.57", id="off"),
        pytest.param({"kind": "metric", "of": "slices.difficulty.hard", "value": 0.15}, "", id="slice"),
        pytest.param({"kind": "metric", "of": "colour", "value": 1.0}, "colour is None, not 1.0", id="unknown"),
        pytest.param({"kind": "count", "of": "buckets.never", "value": 3}, "", id="count"),
        pytest.param({"kind": "count", "of": "labels.BI", "value": 5}, "labels.BI is 4, not 5", id="wrong_count"),
        pytest.param({"kind": "task_set", "of": "labels.BI", "tasks": ["8", "5", "4", "2"]}, "", id="set"),
        pytest.param(
            {"kind": "task_set", "of": "buckets.never", "tasks": ["5", "7"]}, "buckets.never holds 5, 7, 8", id="subset"
        ),
        pytest.param({"kind": "label", "tasks": ["7"], "label": "KG"}, "", id="label"),
        pytest.param({"kind": "label", "tasks": ["7"], "label": "BI"}, "task 7 is labelled KG, not BI", id="mislabel"),
        pytest.param({"kind": "rate", "tasks": ["4"], "passed": 1, "total": 4}, "", id="rate"),
        pytest.param(
            {"kind": "ordering", "of": "slices.difficulty", "greater": "easy", "lesser": "hard"}, "", id="order"
        ),
        pytest.param(
            {"kind": "ordering", "of": "slices.difficulty", "greater": "hard", "lesser": "easy"},
            "hard has 0.15, easy has 0.95",
            id="turned_order",
        ),
        pytest.param({"kind": "citation", "citations": ["5:3#1"], "quote": "dropping the carry"}, "", id="quote"),
        pytest.param({"kind": "citation", "citations": ["5:9"]}, "there is no rollout 5:9", id="made_up"),
        pytest.param(
            {"kind": "citation", "citations": ["5:3"], "quote": "keeping"}, "5:3 does not say 'keeping'", id="misquote"
        ),
    ],
)  # fmt: skip
def test_a_fact_is_held_to_the_run(truth: Truth, check: dict[str, Any], why: str) -> None:
    assert why_false(make_check(check, "B1"), truth) == why


def checked(check: str) -> str:
    """A file of one fact with this check."""
    return f'{{"anchor_facts": [{{"fact": "x", "difficulty": "low", "check": {check}}}]}}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("{", "cannot be read", id="not_json"),
        pytest.param('{"facts": []}', "has no list under anchor_facts", id="no_list"),
        pytest.param('{"anchor_facts": [{"id": "B1"}]}', "fact 1: has no sentence under fact", id="no_sentence"),
        pytest.param('{"anchor_facts": [{"fact": "x", "difficulty": "odd"}]}', "difficulty is 'odd'", id="difficulty"),
        pytest.param(checked('{"kind": "metric", "of": "a"}'), r"its check \(metric\) lacks value", id="lacking"),
        pytest.param(checked('{"kind": "citation", "citations": ["1:1"], "x": 1}'), "does not know x", id="unknown"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(tmp_path: Path, text: str, message: str) -> None:
    place = tmp_path / "facts.json"
    place.write_text(text, encoding="utf-8")

    with pytest.raises(FactsError, match=message):
        read_facts(place)


def test_every_draft_is_true_and_most_of_them_take_reading(truth: Truth) -> None:
    facts = draft_facts(truth, most=12, benchmark="small_sums", model="model-a").anchor_facts

    assert [why_false(fact.check, truth) for fact in facts if fact.check] == [""] * 12
    assert sum(fact.difficulty == "high" for fact in facts) >= 6
    assert len({fact.check for fact in facts}) == 12


def test_drafts_name_their_causes_and_their_proof(truth: Truth) -> None:
    drafted = {fact.fact: fact.check for fact in draft_facts(truth, most=20, benchmark="", model="").anchor_facts}

    assert drafted["Tasks `2`, `4`, `5` and `8` are labelled BI (behavioural issue): drops the carry."] == Check(
        kind="task_set", of="labels.BI", tasks=("2", "4", "5", "8")
    )
    assert drafted["A reader of task `6` cites `6:3#1`: “A dozen is ten”."] == Check(
        kind="citation", citations=("6:3#1",), quote="A dozen is ten"
    )
