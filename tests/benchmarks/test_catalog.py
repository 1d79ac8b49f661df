import textwrap
from pathlib import Path

import pytest
from small_checkout import write_checkout

from blade.benchmarks.catalog import find_benchmark, find_root, read_catalog
from blade.benchmarks.nodes import ConfigError
from blade.errors import BladeError, InputError, Problem, UsageError
from blade.evals.prepare import prepare

SETTINGS = "{entrypoint: a.py, temperature: 0.7, top_p: 0.9, max_output_tokens: 300, max_turns: 4, datasets: [*d]}"
OWN = f"""
d: &d
  {{name: own, type: benchmark, jsonl_fpath: benchmarks/own/own.jsonl, sha256: abc, prompt_config: null,
   prepare_script: benchmarks/own/prepare.py}}
own_agent: {{responses_api_agents: {{tool_loop: {SETTINGS}}}}}
blade: {{success: "reward >= 1.0", skill: own-skill, slices: [difficulty, kind]}}
"""


def with_config(folder: Path, text: str) -> Path:
    return write_checkout(folder, {"benchmarks/own/config.yaml": text})


def test_every_benchmark_is_listed_with_its_domain_agent_environment_and_repeats(tmp_path: Path) -> None:
    found = read_catalog(write_checkout(tmp_path)).benchmarks
    assert [(b.name, b.domain, b.agent, b.environment, b.num_repeats) for b in found] == [
        ("live/v5/config", "coding", "simple_agent", "runner", 3),
        ("office/configs/desk", "agent", "desk", None, 8),
        ("sums", "math", "simple_agent", "checker", 32),
        ("sums/config_hard", "math", "simple_agent", "checker", 1),
    ]


def test_descriptions_and_instances_are_those_of_the_benchmark(tmp_path: Path) -> None:
    found = read_catalog(write_checkout(tmp_path)).benchmarks
    assert [(b.agent_name, b.description) for b in found] == [
        ("live_agent", "Live contests."),
        ("office_agent", "Judges itself."),
        ("sums_agent", "Compares numbers."),
        ("hard_agent", "Compares numbers."),
    ]


def test_a_dangling_include_is_one_finding_at_the_line_that_names_it(tmp_path: Path) -> None:
    assert read_catalog(write_checkout(tmp_path)).problems == [
        Problem(
            where="benchmarks/suites/broken.yaml:4",
            message="includes 'benchmarks/sums/config_harder.yaml', which does not exist",
            hint="did you mean 'benchmarks/sums/config_hard.yaml'?",
        )
    ]


def test_a_benchmark_whose_environment_is_in_a_missing_file_is_listed_all_the_same(tmp_path: Path) -> None:
    text = """
        config_paths: [resources_servers/gone/configs/gone.yaml]
        own_environment: {_inherit_from: gone_resources_server}
        own_agent:
          _inherit_from: gone_simple_agent
          responses_api_agents:
            simple_agent:
              resources_server: {name: own_environment}
              datasets:
              - {name: own, type: benchmark, jsonl_fpath: benchmarks/own/own.jsonl, num_repeats: 2,
                 prepare_script: benchmarks/own/prepare.py}
    """
    found = read_catalog(with_config(tmp_path, textwrap.dedent(text)))

    own = next(one for one in found.benchmarks if one.name == "own")
    assert (own.agent, own.environment, own.num_repeats) == ("simple_agent", None, 2)
    assert [problem.message for problem in found.problems if problem.where.startswith("benchmarks/own/")] == [
        "includes 'resources_servers/gone/configs/gone.yaml', which does not exist"
    ]
    with pytest.raises(ConfigError, match="gone"):
        find_benchmark("own", tmp_path)


def test_a_manifest_beside_a_config_declares_no_second_benchmark(tmp_path: Path) -> None:
    before = read_catalog(write_checkout(tmp_path))
    manifest = "name: sums\nkind: benchmark\ndatasets: [{name: sums, type: benchmark}]\n"
    assert read_catalog(write_checkout(tmp_path, {"benchmarks/sums/manifest.yaml": manifest})) == before


@pytest.mark.parametrize("value", ["???", "${oc.env:SHARD}", "${nowhere.at_all}"])
def test_a_benchmark_whose_data_its_runner_names_is_listed_and_not_prepared(tmp_path: Path, value: str) -> None:
    text = OWN.replace("benchmarks/own/own.jsonl", f'"{value}"').replace("0.7", "'???'")
    found = find_benchmark("own", with_config(tmp_path, text))
    assert (found.name, found.num_repeats, found.data, found.temperature) == ("own", 1, None, None)
    with pytest.raises(ConfigError, match="does not say where the tasks of 'own' are"):
        prepare(found)


def test_what_the_file_itself_says_of_an_agent_goes_before_what_an_included_environment_says(tmp_path: Path) -> None:
    text = """
config_paths: [resources_servers/checker/configs/checker.yaml]
own_agent:
  _inherit_from: checker_simple_agent
  responses_api_agents:
    simple_agent:
      domain: knowledge
      description: Its own words.
      datasets: [{name: own, type: benchmark, jsonl_fpath: a.jsonl, prepare_script: a.py}]
"""
    found = find_benchmark("own", with_config(tmp_path, text))
    assert (found.domain, found.description) == ("knowledge", "Its own words.")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("x: [", "not valid YAML", id="unreadable"),
        pytest.param("config_paths: [gone.yaml]\nx: {type: benchmark}", "includes 'gone.yaml'", id="dangling"),
        pytest.param("x: {type: benchmark}", "no dataset has type benchmark; a benchmark has", id="no_server"),
        pytest.param(OWN.replace("[*d]", "[*d, *d]"), "2 datasets have type benchmark", id="two_datasets"),
        pytest.param(OWN.replace("prepare_script", "script"), "dataset lacks prepare_script", id="no_script"),
        pytest.param(OWN.replace("own.jsonl", "../../../x"), "leads out of the root", id="data_outside"),
        pytest.param(OWN.replace("sha256: abc", "num_repeats: 0"), "num_repeats is 0, not a whole", id="no_repeats"),
        pytest.param(OWN.replace("0.7", "hot"), "temperature is a text, not a number", id="temperature"),
        pytest.param(OWN.replace("success:", "succes:"), "'blade' holds success, skill and slices", id="own_block"),
        pytest.param(
            OWN.replace("entrypoint", "resources_server: {name: chek}, entrypoint"),
            "'own_agent' is bound to 'chek', which is not declared",
            id="dangling_reference",
        ),
    ],
)
def test_a_broken_benchmark_is_a_problem_and_hides_no_other(tmp_path: Path, text: str, told: str) -> None:
    catalog = read_catalog(with_config(tmp_path, text))
    mine = [problem for problem in catalog.problems if problem.where.startswith("benchmarks/own/config.yaml")]
    assert len(catalog.benchmarks) == 4
    assert [told in problem.message for problem in mine] == [True]


def test_what_only_blade_knows_is_read_with_sampling_and_paths(tmp_path: Path) -> None:
    found = find_benchmark("own", with_config(tmp_path, OWN))
    assert (found.success, found.skill, found.slices) == ("reward >= 1.0", "own-skill", ["difficulty", "kind"])
    assert (found.temperature, found.top_p, found.max_output_tokens, found.max_turns) == (0.7, 0.9, 300, 4)
    assert (found.sha256, found.prompt, found.num_repeats) == ("abc", None, 1)
    assert (found.data, found.folder) == (tmp_path / "benchmarks/own/own.jsonl", tmp_path / "benchmarks/own")


def test_an_environment_may_list_the_dataset_and_its_agent_is_found(tmp_path: Path) -> None:
    text = """
judge: {resources_servers: {checker: {entrypoint: v.py, domain: math, datasets: [{name: o, type: benchmark,
  jsonl_fpath: benchmarks/own/o.jsonl, prepare_script: benchmarks/own/prepare.py}]}}}
loop: {responses_api_agents: {tool_loop: {entrypoint: a.py, resources_server: {name: judge}}}}
"""
    found = find_benchmark("own", with_config(tmp_path, text))
    assert (found.agent, found.agent_name, found.environment) == ("tool_loop", "loop", "checker")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("sums", "sums", id="name"),
        pytest.param("benchmarks/sums", "sums", id="folder"),
        pytest.param("benchmarks/sums/config.yaml", "sums", id="file"),
        pytest.param("sums/config_hard", "sums/config_hard", id="second_config"),
        pytest.param("live/v5", "live/v5/config", id="without_config"),
    ],
)
def test_a_benchmark_is_found_by_name_folder_or_file(tmp_path: Path, name: str, expected: str) -> None:
    assert find_benchmark(name, write_checkout(tmp_path)).name == expected


def test_an_unknown_name_suggests_a_close_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no benchmark 'sum-s' in .*; did you mean 'sums'\?$"):
        find_benchmark("sum-s", write_checkout(tmp_path))
    with pytest.raises(UsageError, match="`blade list benchmarks` shows those there are"):
        find_benchmark("quite different", tmp_path)


def test_the_root_is_the_nearest_folder_upwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_checkout(tmp_path)
    monkeypatch.chdir(tmp_path / "benchmarks" / "sums")
    assert find_root() == tmp_path
    assert find_benchmark("sums").root == tmp_path


def test_a_root_without_benchmarks_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no folder named benchmarks; --root takes the folder that holds it"):
        find_root(tmp_path)


def test_hidden_folders_and_folders_that_go_in_circles_are_passed_over(tmp_path: Path) -> None:
    root = write_checkout(tmp_path, {"benchmarks/.cache/config.yaml": OWN})
    (root / "benchmarks" / "sums" / "again").symlink_to(root / "benchmarks")
    assert len(read_catalog(root).benchmarks) == 4


def test_no_error_of_a_config_is_more_than_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        find_benchmark("own", with_config(tmp_path, "x: {type: benchmark"))
    assert isinstance(caught.value, BladeError) and "\n" not in str(caught.value)
