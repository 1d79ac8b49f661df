"""A small checkout in the form of NeMo Gym's, made up here: every rule of its configs, and the traps real ones set."""

from pathlib import Path

FILES = {
    # Two environments with an agent each, as a server's own config has them.
    "resources_servers/checker/configs/checker.yaml": """
checker:
  resources_servers:
    checker: {entrypoint: app.py, domain: math, description: Compares numbers., judge: {name: j, runs: 2}}
checker_simple_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.py
      resources_server: {type: resources_servers, name: checker}
      model_server: {type: responses_api_models, name: policy_model}
      datasets:
      - {name: train, type: train, jsonl_fpath: resources_servers/checker/data/train.jsonl, license: MIT}
""",
    "resources_servers/runner/configs/runner.yaml": """
runner:
  resources_servers:
    runner: {entrypoint: app.py, domain: coding, description: Runs unit tests.}
runner_simple_agent:
  responses_api_agents:
    simple_agent: {entrypoint: app.py, resources_server: {type: resources_servers, name: runner}}
""",
    "responses_api_agents/desk/configs/desk.yaml": """
desk_agent:
  responses_api_agents:
    desk:
      entrypoint: app.py
      domain: agent
      description: Judges itself.
      key: ???
      url: "${desk_url}/v1"
""",
    # The usual form: inherit both, bind them, add the dataset.
    "benchmarks/sums/config.yaml": """
config_paths: [resources_servers/checker/configs/checker.yaml]
sums_checker: {_inherit_from: checker}
sums_agent:
  _inherit_from: checker_simple_agent
  responses_api_agents:
    simple_agent:
      resources_server: {name: sums_checker}
      datasets:
      - {name: sums, type: benchmark, jsonl_fpath: benchmarks/sums/data/sums.jsonl,
         prompt_config: benchmarks/sums/prompt.yaml, prepare_script: benchmarks/sums/prepare.py, num_repeats: 32}
""",
    # A second config in the same folder, which says less: no repeats, no prompt, no name of the environment.
    "benchmarks/sums/config_hard.yaml": """
config_paths: [resources_servers/checker/configs/checker.yaml]
hard_agent:
  _copy: checker_simple_agent
  responses_api_agents:
    simple_agent:
      datasets:
      - {name: hard, type: benchmark, jsonl_fpath: benchmarks/sums/data/hard.jsonl,
         prepare_script: benchmarks/sums/prepare.py}
""",
    # Two levels down: `config` stays part of the name.
    "benchmarks/live/v5/config.yaml": """
config_paths: [resources_servers/runner/configs/runner.yaml]
live_runner: {_inherit_from: runner, resources_servers: {runner: {description: Live contests.}}}
live_agent:
  _inherit_from: runner_simple_agent
  responses_api_agents:
    simple_agent:
      resources_server: {name: live_runner}
      datasets:
      - {name: live, type: benchmark, jsonl_fpath: benchmarks/live/v5/data.jsonl,
         prepare_script: benchmarks/live/v5/prepare.py, num_repeats: 3}
""",
    # No environment; the domain is the agent's and only shows after resolution, beside values nobody has given.
    "benchmarks/office/configs/desk.yaml": """
config_paths: [responses_api_agents/desk/configs/desk.yaml]
office_agent:
  _inherit_from: desk_agent
  responses_api_agents:
    desk:
      datasets:
      - {name: office, type: benchmark, jsonl_fpath: benchmarks/office/office.jsonl,
         prepare_script: benchmarks/office/prepare.py, num_repeats: 8}
""",
    # Suites include benchmarks and declare none; one names a file that is not there, the other includes that suite.
    "benchmarks/suites/all.yaml": """
config_paths:
- benchmarks/sums/config.yaml
- benchmarks/suites/broken.yaml
""",
    "benchmarks/suites/broken.yaml": """
config_paths:
- benchmarks/live/v5/config.yaml
- benchmarks/sums/config_harder.yaml
""",
    "benchmarks/sums/prompt.yaml": "user: 'Add {a} and {b}.'\n",
}  # fmt: skip


def write_checkout(folder: Path, files: dict[str, str] | None = None) -> Path:
    """The checkout, with some files replaced or added."""
    for name, text in {**FILES, **(files or {})}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
