from pathlib import Path
from typing import Any

import pytest
from blade_command import blade, document
from small_checkout import write_checkout

from blade.benchmarks.catalog import find_root


def listed(*words: Any) -> Any:
    return document(blade("list", "benchmarks", *words, "--json"))


def test_the_list_has_the_keys_programs_rely_on(tmp_path: Path) -> None:
    rows = listed("--root", write_checkout(tmp_path))
    assert [row["name"] for row in rows] == ["live/v5/config", "office/configs/desk", "sums", "sums/config_hard"]
    assert rows[2] == {
        "name": "sums",
        "domain": "math",
        "description": "Compares numbers.",
        "agent": "simple_agent",
        "agent_name": "sums_agent",
        "environment": "checker",
        "num_repeats": 32,
        "has": {"data": False, "rollouts": False, "skill": False, "golden": False},
    }


def test_a_dangling_include_is_one_line_on_stderr_and_the_rest_is_listed(tmp_path: Path) -> None:
    found = blade("list", "benchmarks", "--root", write_checkout(tmp_path))
    assert found.exit_code == 0
    assert found.stderr == (
        "blade: benchmarks/suites/broken.yaml:4: includes 'benchmarks/sums/config_harder.yaml', which does not exist; "
        "did you mean 'benchmarks/sums/config_hard.yaml'?\n"
    )


def test_the_table_has_a_line_per_benchmark_and_its_description_below(tmp_path: Path) -> None:
    shown = blade("list", "benchmarks", "--root", write_checkout(tmp_path)).stdout
    assert shown.splitlines()[:3] == [
        "name                 domain  agent         environment  repeats  has",
        "live/v5/config       coding  simple_agent  runner       3        –",
        "    Live contests.",
    ]


def test_one_benchmark_is_shown_with_everything_about_it(tmp_path: Path) -> None:
    root = write_checkout(tmp_path)
    one = listed("sums", "--root", root)
    assert (one["name"], one["config"], one["skill"]) == ("sums", "benchmarks/sums/config.yaml", None)
    assert "prepare script" in blade("list", "benchmarks", "sums", "--root", root).stdout


def test_an_unknown_name_is_wrong_usage_and_suggests_one(tmp_path: Path) -> None:
    found = blade("list", "benchmarks", "smus", "--root", write_checkout(tmp_path))
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr.endswith("did you mean 'sums'?\n")


def test_a_checkout_without_benchmarks_is_told(tmp_path: Path) -> None:
    found = blade("list", "benchmarks", "--root", tmp_path)
    assert (found.exit_code, found.stdout) == (3, "")
    (tmp_path / "benchmarks").mkdir()
    assert "No benchmark is declared" in blade("list", "benchmarks", "--root", tmp_path).stdout
    assert listed("--root", tmp_path) == []


def test_our_own_benchmarks_are_all_listed_without_a_problem() -> None:
    found = blade("list", "benchmarks", "--root", find_root(), "--json")
    rows = document(found)
    assert found.stderr == ""
    assert {row["agent"] for row in rows} == {"tool_loop"}
    assert all(row["has"]["data"] and row["num_repeats"] >= 4 and row["domain"] for row in rows)


@pytest.mark.parametrize(
    ("words", "names"),
    [
        pytest.param(["coding"], ["live/v5/config"], id="any_type"),
        pytest.param(["benchmarks", "math"], ["sums", "sums/config_hard"], id="a_type"),
        pytest.param(["sums", "hard"], ["sums/config_hard"], id="two_words"),
        pytest.param(["benchmarks"], [], id="a_type_alone_is_a_word"),
        pytest.param(["skills", "math"], ["sums-skill"], id="skills"),
    ],
)
def test_search_finds_by_words(tmp_path: Path, words: list[str], names: list[str]) -> None:
    skill = "---\nname: sums-skill\ndescription: Reads math rollouts.\n---\nBody.\n"
    root = write_checkout(tmp_path, {"skills/sums-skill/SKILL.md": skill})
    found = document(blade("search", *words, "--root", root, "--json"))
    assert [one["name"] for one in found if one["type"] == "benchmark" or words[0] == "skills"] == names


def test_finding_nothing_is_said_and_is_no_error(tmp_path: Path) -> None:
    root = write_checkout(tmp_path)
    found = blade("search", "quantum", "--root", root, "--json")
    assert (found.exit_code, found.stdout) == (0, "[]\n")
    assert "no benchmarks or skills match 'quantum'" in found.stderr
    assert blade("search", "quantum", "--root", root).stdout == ""


def test_a_slip_of_the_pen_is_told(tmp_path: Path) -> None:
    found = blade("search", "coidng", "--root", write_checkout(tmp_path))
    assert "live/v5/config" in found.stdout
    assert "nothing matches 'coidng' exactly; these are close." in found.stderr


def test_a_hostile_description_cannot_act_on_the_terminal(tmp_path: Path) -> None:
    dataset = "{type: benchmark, jsonl_fpath: benchmarks/e/d, prepare_script: benchmarks/e/p}"
    settings = f'{{entrypoint: x, domain: d, description: "\\e[31mred\\u202e", datasets: [{dataset}]}}'
    text = f"evil: {{responses_api_agents: {{a: {settings}}}}}"
    root = write_checkout(tmp_path, {"benchmarks/evil/config.yaml": text})
    shown = blade("list", "benchmarks", "--root", root).stdout + blade("search", "evil", "--root", root).stdout
    assert "red" in shown and "\x1b" not in shown and "\u202e" not in shown
