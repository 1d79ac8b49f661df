"""Packages that keep their promises pass; each broken promise is told by its own message."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rollout_rows import write_rows
from small_packages import rows_of, write_json, write_package, write_text

from blade.golden.package.checks import Check
from blade.golden.package.validate import validate
from blade.golden.shallow import PREAMBLE, make_shallow

Breaking = Callable[[Path], None]


def failures(checks: list[Check]) -> list[str]:
    return [check.message for check in checks if check.status == "FAIL"]


def test_a_package_that_keeps_its_promises_passes(tmp_path: Path) -> None:
    checks = validate(write_package(tmp_path))

    assert failures(checks) == []
    assert {check.phase for check in checks} == {"skill", "rollouts", "golden"}


def test_the_parts_are_also_found_at_the_top_level_places(tmp_path: Path) -> None:
    folder = write_package(tmp_path / "benchmarks")
    (tmp_path / "skills").mkdir()
    (folder / "skill").rename(tmp_path / "skills" / "small-sums")
    (tmp_path / "golden_reports").mkdir()
    (folder / "golden_reports").rename(tmp_path / "golden_reports" / "small_sums")

    assert failures(validate(folder)) == []


def replace(name: str, old: str, new: str) -> Breaking:
    """Changes the first occurrence of a text in a file of the package."""

    def change(folder: Path) -> None:
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    return change


def remove(name: str) -> Breaking:
    return lambda folder: (folder / name).unlink()


def append(name: str, text: str) -> Breaking:
    return lambda folder: write_text(folder / name, (folder / name).read_text(encoding="utf-8") + text)


def row(line: int, **fields: object) -> Breaking:
    """Changes fields in one row of the first model."""

    def rewrite(folder: Path) -> None:
        rows = rows_of("model-a")
        rows[line - 1].update(fields)
        write_rows(folder / "rollouts" / "model-a.jsonl", rows)

    return rewrite


def one_row_less(folder: Path) -> None:
    write_rows(folder / "rollouts" / "model-a.jsonl", rows_of("model-a")[:-1])


def empty(name: str, pattern: str) -> Breaking:
    """Removes files of a folder of the package."""

    def clear(folder: Path) -> None:
        for path in (folder / name).glob(pattern):
            path.unlink()

    return clear


def rewrite(name: str, text: str) -> Breaking:
    return lambda folder: write_text(folder / name, text)


def copy_run(folder: Path) -> None:
    write_rows(folder / "rollouts" / "model-b.jsonl", rows_of("model-a"))


def other_tasks(folder: Path) -> None:
    moved = [{**row, "_ng_task_index": row["_ng_task_index"] + 100} for row in rows_of("model-b")]
    write_rows(folder / "rollouts" / "model-b.jsonl", moved)


def facts(change: Callable[[list[dict[str, object]]], object]) -> Breaking:
    """Changes the facts of the first model."""

    def rewrite(folder: Path) -> None:
        place = folder / FACTS
        value = json.loads(place.read_text(encoding="utf-8"))
        change(value["anchor_facts"])
        write_json(place, value)

    return rewrite


SKILL, RUN = "skill/SKILL.md", "rollouts/model-a.jsonl"
REPORT, METRICS = "golden_reports/model-a_golden_report.md", "golden_reports/model-a_golden_report_metrics.json"
FACTS, SHALLOW = "golden_reports/model-a_anchor_facts.json", "golden_reports/model-a_shallow.md"
BROKEN = [
    ("no_skill", remove(SKILL), "no SKILL.md in"),
    ("no_frontmatter", replace(SKILL, "---\n", ""), "no frontmatter between two lines"),
    ("no_description", replace(SKILL, "description", "compatibility"), "the skill has no description"),
    ("dead_link", remove("skill/references/verdicts.md"), "dead links in SKILL.md: references/verdicts.md"),
    ("short_skill", replace(SKILL, "\nRead what the verifier said.\n" * 8, ""), "expected 50 and 3 at least"),
    ("open_skill", append(SKILL, "\nTODO: say more\n"), "SKILL.md holds placeholders: line"),
    ("no_rollouts", empty("rollouts", "*"), "no rollout file in"),
    ("placeholder_line", append(RUN, "<PLACEHOLDER ROW>\n"), "line 41 is a placeholder, not a rollout"),
    ("cut_line", append(RUN, '{"_ng_task_index": 7, "rew'), "line 41 is not JSON"),
    ("not_an_object", append(RUN, "[1, 2]\n"), "line 41 is a JSON list, not an object"),
    ("empty_run", rewrite(RUN, ""), "model-a.jsonl: is empty"),
    ("no_repeat_id", row(4, _ng_rollout_index=None), "rows without a task id or a rollout id: line 4"),
    ("text_reward", row(3, reward="abc"), 'line 3 has "abc"'),
    ("null_reward", row(3, reward=None), "line 3 has null"),
    ("flag_reward", row(3, reward=True), "line 3 has true"),
    ("nan_reward", row(3, reward=float("nan")), "line 3 has NaN"),
    ("duplicate_key", row(2, _ng_rollout_index=0), "1 keys occur more than once: 0:0"),
    ("missing_repeat", one_row_less, "1 tasks without their 4 rollouts (config.yaml says): 9 has 3"),
    ("copied_run", copy_run, "the same rollouts under two names: model-a.jsonl and model-b.jsonl"),
    ("one_run", remove("rollouts/model-b.jsonl"), "1 different scored runs, expected 2"),
    ("disjoint_tasks", other_tasks, "runs are about different tasks: model-a.jsonl lacks 100, 101, 102"),
    ("no_report", empty("golden_reports", "*_report.md"), "no *_golden_report.md"),
    ("short_report", rewrite(REPORT, "# Report\n"), "1 lines, 0 sections; expected 40 and 3"),
    ("open_report", append(REPORT, "\nTBD\n"), "holds placeholders: 'TBD'"),
    ("unfilled_report", append(REPORT, "\nIt is {{ pass_at_1 }}.\n"), "holds placeholders"),
    ("fabricated_id", append(REPORT, "\nSee `5:9#1`.\n"), "cites rollouts that are in no file: 5:9"),
    ("no_metrics", remove(METRICS), "model-a_golden_report_metrics.json: is missing"),
    ("broken_metrics", rewrite(METRICS, "{"), "is not a JSON object"),
    ("empty_metrics", rewrite(METRICS, "{}"), "has none of model"),
    ("wrong_metrics", replace(METRICS, '"num_tasks": 10', '"num_tasks": 7'), "num_tasks is 7, the rows give 10"),
    ("wrong_bucket", replace(METRICS, '"0",\n      ', ""), "always is 3, the rows give 4"),
    ("text_metrics", replace(METRICS, '"num_tasks": 10', '"num_tasks": "ten"'), "num_tasks is ten, the rows give 10"),
    ("no_facts", remove(FACTS), "model-a_anchor_facts.json: is missing"),
    ("few_facts", facts(lambda listed: listed.__delitem__(slice(7, None))), "7 anchor facts, expected 8 at least"),
    ("short_fact", facts(lambda listed: listed[0].update(fact="Too short")), "B1 says less than 20 characters"),
    ("odd_difficulty", facts(lambda listed: listed[0].update(difficulty="hard")), "B1 has difficulty 'hard'"),
    ("odd_rating", facts(lambda listed: listed[0].update(mean_score="good")), "B1 has mean_score 'good'"),
    ("same_id", facts(lambda listed: listed[0].update(id="B2")), "B2 is used twice"),
    ("same_fact", facts(lambda listed: listed[0].update(fact=listed[1]["fact"])), "B2 repeats B1"),
    ("stale_control", append(SHALLOW, "\nAnd a finding.\n"), "is not what make-shallow gives"),
]


@pytest.mark.parametrize(("change", "message"), [pytest.param(c, m, id=i) for i, c, m in BROKEN])
def test_a_broken_promise_is_told(tmp_path: Path, change: Breaking, message: str) -> None:
    folder = write_package(tmp_path)
    change(folder)

    found = [check for check in validate(folder, engine=False) if check.status == "FAIL"]

    assert [check for check in found if message in check.message], [check.message for check in found]
    assert [check.message for check in found if not check.hint] == []


def test_a_sidecar_that_counts_its_tasks_is_compared_too(tmp_path: Path) -> None:
    folder = write_package(tmp_path)
    stated = {"model": "model-a", "benchmark": "small_sums", "total_tasks": 10, "buckets": {"always": 4, "never": 2}}
    write_json(folder / METRICS, stated)

    assert failures(validate(folder, phase="golden", engine=False)) == [
        "model-a_golden_report_metrics.json: does not follow from model-a.jsonl: never is 2, the rows give 3"
    ]


def test_a_comparison_report_needs_no_sidecar_and_no_facts(tmp_path: Path) -> None:
    assert failures(validate(write_package(tmp_path, versus=True), phase="golden")) == []


def test_one_phase_alone_is_checked(tmp_path: Path) -> None:
    folder = write_package(tmp_path)
    (folder / SKILL).unlink()

    assert failures(validate(folder, phase="rollouts")) == []


def test_what_is_no_folder_is_told(tmp_path: Path) -> None:
    assert failures(validate(tmp_path / "nowhere", phase="skill")) == [f"{tmp_path / 'nowhere'}: is not a folder"]


WITHOUT_NARRATIVE = empty("golden_reports", "*.narrative.md")
FALSE = [
    ("digit", replace(REPORT, "| pass@1 | 55.0 %", "| pass@1 | 56.0 %"), "says '56.0 %'"),
    ("quote", replace(REPORT, "“`A dozen is ten`”", "“`A dozen is nine`”"), "A dozen is nine"),
    ("label", replace(REPORT, "labelled KG", "labelled BI"), "says 'BI'"),
    ("fact", replace(FACTS, '"value": 0.55', '"value": 0.56'), "B6: pass_at_1 is 0.55, not 0.56"),
]


@pytest.mark.parametrize(("change", "message"), [pytest.param(c, m, id=i) for i, c, m in FALSE])
def test_what_a_report_by_hand_says_falsely_is_told(tmp_path: Path, change: Breaking, message: str) -> None:
    folder = write_package(tmp_path)
    WITHOUT_NARRATIVE(folder)
    change(folder)

    assert [told for told in failures(validate(folder, phase="golden")) if message in told]


def test_a_report_by_hand_that_is_true_passes(tmp_path: Path) -> None:
    folder = write_package(tmp_path)
    WITHOUT_NARRATIVE(folder)

    assert failures(validate(folder, phase="golden")) == []


def test_a_package_is_known_by_the_other_spelling_of_its_names(tmp_path: Path) -> None:
    folder = write_package(tmp_path)
    WITHOUT_NARRATIVE(folder)
    golden = folder / "golden_reports"
    (golden / "model-a_golden_report.md").rename(golden / "model-a-golden-report.md")
    (golden / "model-a_golden_report_metrics.json").rename(golden / "model-a-golden-report.metrics.json")
    (golden / "model-a_anchor_facts.json").rename(golden / "model-a-anchor-facts.json")

    assert failures(validate(folder, phase="golden")) == []


def test_drift_of_a_built_report_fails(tmp_path: Path) -> None:
    folder = write_package(tmp_path)
    replace("golden_reports/model-b.narrative.md", "separates them", "divides them")(folder)

    (told,) = failures(validate(folder, phase="golden"))
    assert told.startswith("model-b_golden_report.md: 1 problems: model-b_golden_report.md:9: says ")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param("name: small-sums", "name: small-sums\nmetadata: [a, b]", "metadata", id="odd_metadata"),
        pytest.param("wrong.", "wrong. " * 200, "expected at most 1024", id="long_description"),
        pytest.param("name: small-sums", "name: Small_Sums", "Small_Sums", id="odd_name"),
        pytest.param("name:", "when: now\nname:", "when", id="unknown_field"),
    ],
)
def test_a_skill_that_breaks_the_specification_fails(tmp_path: Path, old: str, new: str, message: str) -> None:
    folder = write_package(tmp_path)
    replace(SKILL, old, new)(folder)

    (told,) = failures(validate(folder, phase="skill"))
    assert told.startswith("the skill has 1 faults") and message in told


@given(
    content=st.lists(
        st.binary(max_size=40) | st.sampled_from([b"{}", b"[]", b'{"task_id": 1, "reward": 1}']), max_size=8
    )
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_a_rollout_file_holds_is_told_and_not_raised(tmp_path: Path, content: list[bytes]) -> None:
    place = tmp_path / "odd" / "rollouts" / "m.jsonl"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(b"\n".join(content))

    assert failures(validate(tmp_path / "odd", phase="rollouts", engine=False))


@given(text=st.text(alphabet=st.sampled_from("ab#| -`~\n"), max_size=120))
def test_a_control_never_holds_more_than_its_report(text: str) -> None:
    kept = [line for line in make_shallow(text).splitlines()[len(PREAMBLE) :] if line]

    assert set(kept) <= {line.rstrip() for line in text.splitlines()}
