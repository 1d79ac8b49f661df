"""A narrative names values and states none: what it may say, and what it is told when it says too much."""

import re
from pathlib import Path

import pytest
from small_packages import write_package

from blade.audit.golden.build import build
from blade.audit.golden.narrative import environment, read_narrative
from blade.audit.golden.proof import Proof, told_at
from blade.audit.golden.quantities import NarrativeError
from blade.audit.golden.sources import diagnose_model, find_source, passed_by_key
from blade.audit.golden.values import values_of

HEAD = "---\nauthor: human:tests\nmodel: model-a\nconstants: {}\n---\n"
NARRATIVE = "golden_reports/model-a.narrative.md"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_package(tmp_path_factory.mktemp("package"))


def said(package: Path, template: str) -> str:
    """What a sentence of the Executive Summary becomes."""
    place = package / NARRATIVE
    before = place.read_text(encoding="utf-8")
    head, _, rest = before.partition("## Executive Summary\n")
    place.write_text(f"{head}## Executive Summary\n\n{template}\n\n## Dominant{rest.partition('## Dominant')[2]}")
    try:
        report = build(find_source(str(package)), "model-a").report
    finally:
        place.write_text(before, encoding="utf-8")
    return report.partition("## Executive Summary\n\n")[2].partition("\n\n## ")[0]


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        pytest.param("{{ headline }} ({{ headline.interval }})", "55.0 % (26.6 % to 80.6 %)", id="headline"),
        pytest.param("{{ rollouts }} of {{ tasks }}, {{ failing }}", "40 of 10, 18", id="counts"),
        pytest.param("{{ metrics.retry_value }}, {{ pass_at['4'] }}", "+15.0 pp, 70.0 %", id="metrics"),
        pytest.param("{{ buckets.never.count }}: {{ buckets.never }}", "3: `5`, `7`, `8`", id="bucket"),
        pytest.param("{{ buckets.never.share }}", "30.0 %", id="share"),
        pytest.param("{{ labels.DA.count }} {{ labels.DA }}", "0 none", id="label_nobody_gave"),
        pytest.param("{{ slices.difficulty.easy - slices.difficulty.hard }}", "+80.0 pp", id="difference"),
        pytest.param("{{ slices.kind.carry.tasks | words | capital }} tasks", "Four tasks", id="words"),
        pytest.param("{{ task('4') }}, {{ task('4').failed }}", "1 of 4, 3", id="task"),
        pytest.param("{{ labels.KG.count + labels.UK.count }}", "2", id="sum_of_counts"),
        pytest.param("{{ (failing / rollouts) | percent }}", "45.0 %", id="computed_share"),
        pytest.param("{{ find(task='5', says='carry').count }}", "4", id="found"),
        pytest.param("{{ find(field='kind', value='words', passed=true).count }}", "6", id="found_by_field"),
        pytest.param("{{ quote('5:0#1', 'attempt 0') }}", "“`attempt 0`” (`5:0#1`)", id="quote"),
        pytest.param("{{ field('7:0', 'expected_answer') }}", "`127`", id="field"),
        pytest.param("{% for t in buckets.never %}{{ label(t) }} {% endfor %}", "BI KG BI", id="loop"),
        pytest.param("{{ funnel['passed'].rollouts }}", "22", id="funnel"),
        pytest.param("Literal `5:0#1` and task `5`.", "Literal `5:0#1` and task `5`.", id="ids"),
        pytest.param("pass@1 of gpt-4o, 95 % interval", "pass@1 of gpt-4o, 95 % interval", id="names"),
    ],
)
def test_a_value_is_written_as_its_kind_is(package: Path, template: str, expected: str) -> None:
    assert said(package, template) == expected


@pytest.mark.parametrize(
    ("template", "message"),
    [
        pytest.param("It passes 55 % of them.", "states '55 %' itself", id="percent"),
        pytest.param("It fails three tasks.", "states 'three' itself", id="word"),
        pytest.param("It passes '55 %' of them.", "states '55 %' itself", id="single_quotes"),
        pytest.param("It fails `3` rollouts.", "states '3' itself", id="number_in_code"),
        pytest.param("{{ 55 }}", "states '55' itself", id="number_in_expression"),
        pytest.param("{{ '55 %' }}", "states '55 %' itself", id="text_in_expression"),
        pytest.param("{{ failing + 1 }}", "states '1' itself", id="arithmetic"),
        pytest.param("{{ 3 | count }}", "states '3' itself", id="filtered"),
        pytest.param("{% set n = 3 %}{{ n }}", "states '3' itself", id="set"),
        pytest.param("{{ buckets.nevr }}", "no bucket 'nevr'; there are never", id="unknown_bucket"),
        pytest.param("{{ slices.colour }}", "no field 'colour'; there are difficulty, kind", id="unknown_field"),
        pytest.param("{{ task('12') }}", "no task '12'", id="unknown_task"),
        pytest.param("{{ heading }}", "'heading' is undefined", id="unknown_name"),
        pytest.param("{{ cite('5:9') }}", "task 5 has no repeat 9", id="unknown_rollout"),
        pytest.param("{{ cite('5:0#7') }}", "the rollout has 2 items", id="unknown_item"),
        pytest.param("See `5:9#1`.", "there is no 5:9 in the run", id="literal_citation"),
        pytest.param("See task `12`.", "there is no 12 in the run", id="literal_task"),
        pytest.param("{{ quote('5:0#1', 'keeping the carry') }}", "is not there word for word", id="altered_quote"),
        pytest.param("{{ field('5:0', 'colour') }}", "nothing under 'colour'", id="unknown_verifier_field"),
        pytest.param("{{ failing / rollouts }}", "has no kind; give it a filter", id="no_kind"),
        pytest.param("{{ slices.difficulty }}", "has several values", id="several_values"),
        pytest.param("{{ task('0').label }}", "has no label: it always passes", id="no_label"),
        pytest.param("{{ headline | replace('5', '6') }}", "No filter named 'replace'", id="rewriting"),
        pytest.param("{{ ''.__class__.__mro__ }}", "unsafe", id="escape"),
        pytest.param("{% if headline %}", "Unexpected end of template", id="syntax"),
    ],
)
def test_what_is_not_a_value_of_the_run_is_an_error(package: Path, template: str, message: str) -> None:
    with pytest.raises(NarrativeError, match=r"model-a.narrative.md") as caught:
        said(package, template)

    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("result.1", -2, id="an_item"),
        pytest.param("result.2", None, id="no_such_item"),
        pytest.param("metadata.codes.0", 7, id="further_down"),
        pytest.param("result", [1, -2], id="the_list"),
        pytest.param("0.result", None, id="no_such_field"),
    ],
)
def test_an_item_of_a_list_is_reached_by_its_place(path: str, expected: object) -> None:
    assert told_at({"result": [1, -2], "metadata": {"codes": [7]}}, path) == expected


def test_a_declared_constant_may_be_stated_and_is_told_at_the_end(package: Path) -> None:
    report = build(find_source(str(package)), "model-a").report

    assert "- The prose states `twelve` itself: what a dozen is." in report


@pytest.mark.parametrize(
    ("source", "message"),
    [
        pytest.param("## Executive Summary\n", "begin it with front matter", id="no_front_matter"),
        pytest.param("---\nmodel: x\n---\n", "missing required field `author`", id="no_author"),
        pytest.param("---\nauthor: me\nmodel: x\n---\n## A\n", "'me' is not llm:MODEL or human:NAME", id="odd_author"),
        pytest.param("---\nauthor: [\n---\n", "front matter is wrong", id="not_yaml"),
        pytest.param(HEAD + "Prose.\n", "begin its prose with a heading", id="no_heading"),
    ],
)
def test_a_narrative_that_cannot_be_read_says_why(tmp_path: Path, source: str, message: str) -> None:
    place = tmp_path / "model-a.narrative.md"
    place.write_text(source, encoding="utf-8")

    with pytest.raises(NarrativeError, match=message.replace("[", r"\[")):
        read_narrative(place)


def test_the_guide_for_writers_names_every_value_there_is(package: Path) -> None:
    guide = (Path(__file__).resolve().parents[2] / "golden_reports" / "README.md").read_text(encoding="utf-8")
    found = diagnose_model(find_source(str(package)), "model-a")
    rows = [line.split("|")[1] for line in guide.partition("| name | is |")[2].splitlines() if line.startswith("| `")]

    told = {name for row in rows for name in re.findall(r"`(\w+)", row)}
    assert told == set(values_of(found.analysis, Proof(found.run, passed_by_key(found))))
    assert set(re.findall(r"`(\w+)", guide.partition("Filters: ")[2])) == set(environment().filters)
