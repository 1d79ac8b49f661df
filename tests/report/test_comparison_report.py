"""A comparison's report: against golden files, section by section, and against hostile text; and its schema."""

import functools
import json
import re
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from conftest import Golden
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rollout_rows import Row, in_own_words, read_files, rollout, without
from struct_schemas import described_schema, schema_text

from blade.comparison import Comparison, compare_many
from blade.comparison.comparison import SCHEMA_VERSION
from blade.diagnosis import Diagnosed, diagnose
from blade.report.comparison_report import render_comparison, write_comparison

SCHEMA = described_schema(Comparison, f"BLADE comparison {SCHEMA_VERSION}")
STORED = resources.files("blade") / "schemas" / "comparison.schema.json"
PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
SECTIONS = [
    *("Verdict", "Pairing", "Decomposition", "Bucket Transitions", "Slices", "Tasks That Drove the Change"),
    *("Configuration Changes", "Definitions"),
]
HOSTILE = (
    "</td><script>alert(1)</script> | ![x](http://evil.example/p.png) `` ` \\` \n# Heading\n- item <!-- "
    "\x1b[31mred \u202eleft **b** {{ 7*7 }}"
)
FOREIGN = {"run", "files", "task", "level", "field", "name", "citation", "warnings", "sentence", "tied_with"} | {
    *("not_in_other_tasks", "only_scored_here_tasks", "title")
}
"""Fields whose text comes from rows, files or sentences about them."""


def rows(passes: Sequence[int], *, model: str = "m1", **fields: Any) -> list[Row]:
    """Two rollouts of each task, of which so many pass; even tasks are easy."""
    return [
        rollout(t, r, float(r < n), level="hard" if t % 2 else "easy", response={"model": model}, **fields)
        for t, n in enumerate(passes)
        for r in range(2)
    ]


def runs(folder: Path, **files: list[Row]) -> list[Diagnosed]:
    said: dict[str, Iterable[Row | str]] = {
        f"{name}.jsonl": [in_own_words(row, name) for row in made] for name, made in files.items()
    }
    return [diagnose(run) for run in read_files(folder, said)]


def two(folder: Path) -> list[Diagnosed]:
    """A base, and a candidate that lost eight tasks, one of them to a time-out, and lacks one."""
    before = [*rows([2, 2, 2, 2, 2, 2, 2, 2, 1, 0]), rollout(10, 0, 1.0, level="easy")]
    after = [*rows([1, 0, 1, 1, 0, 1, 1, 1, 2, 0], model="m2"), without(rollout(10, 0), "reward")]
    after[2] = rollout(1, 0, 0.0, level="hard", response={"model": "m2"}, agent_timed_out=True)
    return runs(folder, after=after, base=[*before, rollout(11, 0, 0.0, level="hard")])[::-1]


def three(folder: Path) -> list[Diagnosed]:
    passes = {"a": [2] * 9, "b": [1] * 8 + [2], "c": [0] * 8 + [2]}
    return runs(folder, **{name: rows(made, model=name) for name, made in passes.items()})


def graded(folder: Path) -> list[Diagnosed]:
    values = {"x": 0.25, "y": 0.75}
    return runs(folder, **{name: [rollout(t, 0, v + t / 100) for t in range(7)] for name, v in values.items()})


@functools.cache
def sample(kind: str) -> Comparison:
    from tempfile import TemporaryDirectory

    makers = {"two": two, "three": three, "graded": graded}
    with TemporaryDirectory() as folder:
        return compare_many(makers[kind](Path(folder)))


def appendix_of(comparison: Comparison) -> str:
    return render_comparison(comparison).appendix.text


@pytest.mark.parametrize("kind", ["two", "three", "graded"])
def test_reports_are_as_they_were_reviewed(kind: str, golden: Golden) -> None:
    rendered = re.sub(r"^- BLADE [^ ]+\. ", "- BLADE 0.0.0. ", appendix_of(sample(kind)), flags=re.MULTILINE)

    golden(f"comparison_{kind}_appendix.md", rendered)
    page = render_comparison(sample(kind)).page.text
    golden(f"comparison_{kind}.md", re.sub(r" BLADE [^ ]+\.$", " BLADE 0.0.0.", page, flags=re.MULTILINE))


def test_every_report_has_its_sections_in_order() -> None:
    found = [re.findall(r"^## (.*)$", appendix_of(sample(kind)), re.MULTILINE) for kind in ("two", "three")]

    assert found == [SECTIONS, [*SECTIONS[:-1], "All Pairs and Ranking", SECTIONS[-1]]]


def test_regressions_stand_before_improvements() -> None:
    rendered = appendix_of(sample("two"))

    assert 0 < rendered.index("### Regressions") < rendered.index("### Improvements")


def test_the_parts_as_printed_are_those_of_the_file() -> None:
    found = sample("two")
    printed = re.findall(r"^\| [^|]+ \| [^|]+ \| ([+-][0-9.]+) pp \|", appendix_of(found), re.MULTILINE)

    moving = [part for part in found.decomposition if part.value or part.base_rollouts]
    assert [float(value) for value in printed] == [round(100 * part.value, 1) for part in moving]


def test_blank_lines_never_come_in_pairs_and_nothing_is_none() -> None:
    for kind in ("two", "three", "graded"):
        rendered = appendix_of(sample(kind))
        assert "\n\n\n" not in rendered
        assert re.findall(r"\bNone\b|\bnan\b|\bTrue\b|\bFalse\b", rendered) == []


def test_the_same_runs_give_the_same_bytes(tmp_path: Path) -> None:
    write_comparison(tmp_path / "first", three(tmp_path / "x"))
    write_comparison(tmp_path / "again", three(tmp_path / "y"))

    files = [{f.name: f.read_bytes() for f in (tmp_path / name).iterdir()} for name in ("first", "again")]
    assert files[0] == files[1]
    assert sorted(files[0]) == ["appendix.md", "claims.json", "comparison.html", "comparison.json", "comparison.md"]


def with_text(text: str) -> Comparison:
    """A comparison of three runs in which everything foreign is this text."""
    return msgspec.convert(replaced(msgspec.to_builtins(sample("three")), text), Comparison)


def replaced(value: Any, text: str, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: replaced(part, text, name) for name, part in value.items()}
    if isinstance(value, list):
        return [replaced(part, text, key) for part in value]
    is_configured = key in ("base", "candidate")
    return text if isinstance(value, str) and (key in FOREIGN or is_configured) else value


def shape(rendered: str) -> list[tuple[str, int]]:
    return [(token.type, token.level) for token in PARSER.parse(rendered)]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=30) | st.text(alphabet="`|\\<>[]()!*_~#-=+:&$@\n\r\t 1.w/", max_size=30))
@example(HOSTILE)
@example("|")
@example("\\")
@example("``a`|`")
def test_no_text_changes_what_a_report_is_made_of(text: str) -> None:
    assert shape(appendix_of(with_text(text))) == shape(appendix_of(with_text("x")))


def test_hostile_text_is_shown_and_does_nothing() -> None:
    rendered = appendix_of(with_text(HOSTILE))
    html = PARSER.render(rendered)

    assert [tag for tag in ("<script", "<img", "<a ", "<!--", "<h1>Heading") if tag in html] == []
    assert re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", rendered) == []
    assert "{{ 7*7 }}" in html


def test_the_stored_schema_is_the_generated_one(pytestconfig: pytest.Config) -> None:
    if pytestconfig.getoption("--update-golden"):
        Path(str(STORED)).write_text(schema_text(SCHEMA), encoding="utf-8")

    assert STORED.read_text(encoding="utf-8") == schema_text(SCHEMA)


@pytest.mark.parametrize("kind", ["two", "three", "graded"])
def test_comparisons_of_every_kind_are_valid(kind: str) -> None:
    document = json.loads(msgspec.json.encode(sample(kind)))
    validator = jsonschema.Draft202012Validator(SCHEMA)

    assert [error.message for error in validator.iter_errors(document)] == []
    assert {"pairs", "ranking"} & document.keys() == ({"pairs", "ranking"} if kind == "three" else set())


def test_a_comparison_without_a_verdict_is_not_valid() -> None:
    document = json.loads(msgspec.json.encode(sample("two")))
    del document["verdict"]

    found = jsonschema.Draft202012Validator(SCHEMA).iter_errors(document)
    assert [error.message for error in found] == ["'verdict' is a required property"]


def test_every_field_of_the_schema_is_described() -> None:
    structs = SCHEMA["$defs"].items()

    assert [f"{s}.{f}" for s, d in structs for f, p in d["properties"].items() if not p.get("description")] == []
