"""Writes a set as a benchmark that `blade eval run --root DIR` can run: config, prompt, tasks and prepare script."""

import hashlib
from pathlib import Path

from blade.benchmarks.making import write_tasks
from blade.environments.external.sets import External, load_external
from blade.errors import InputError

PROMPTS = {
    "numeric": (
        'Solve the problem step by step. End with a last line of the form "Answer: 12", with one number in it.',
        "{question}",
    ),
    "mathematics": ("Solve the problem step by step. Put the final answer in \\boxed{{}}.", "{question}"),
    "unit_tests": (
        "Complete the Python function. Answer with the whole function in one code block and nothing else.",
        "```python\n{prompt}\n```",
    ),
    "constraints": ("Keep every instruction of the user exactly.", "{prompt}"),
    "choice": (
        'Answer the multiple-choice question. End with a last line of the form "Answer: B".',
        "{question}\n{choices}",
    ),
    "judged": (None, "{question}"),
    "json_facts": ("Answer with JSON that keeps this JSON Schema, and nothing else:\n{schema_text}", "{question}"),
    "sql": (
        "Write one SQLite query that answers the question over this database. Answer with the query in one code block."
        "\n\n{schema}",
        "{question}",
    ),
}
"""System and user text by environment, which none has whose tasks bring their own. Nothing of a set's own prompt is
taken over."""

CONFIG = """\
config_paths: [blade/environments/{environment}/config.yaml]
{name}_{environment}:
  _inherit_from: {environment}
  resources_servers:
    {environment}:
      description: Tasks of {kind}, from a file of the user's.
{name}_agent:
  _inherit_from: {environment}_agent
  responses_api_agents:
    tool_loop:
      resources_server: {{name: {name}_{environment}}}
      datasets:
      - name: {name}
        type: benchmark
        jsonl_fpath: benchmarks/{name}/data/{name}.jsonl
        sha256: {sha256}
{prompt}        prepare_script: benchmarks/{name}/prepare.py
        num_repeats: 1
blade:
  success: "reward >= 1.0"
  slices: [{slices}]
"""

SCRIPT = '''\
"""Makes the tasks again from the file they came from."""

from pathlib import Path

from blade.benchmarks.making import write_tasks
from blade.environments.external import load_external

SOURCE = Path({source!r})


def prepare(output_dir: Path = Path(__file__).parent / "data") -> Path:
    return write_tasks(Path(output_dir) / "{name}.jsonl", load_external("{kind}", SOURCE{split}).tasks)
'''


def write_package(kind: str, source: Path, folder: Path, *, split: str | None = None) -> tuple[External, Path]:
    """Writes `folder/benchmarks/SET`; what is there already is not overwritten.

    Returns:
        The set, and where the benchmark is.
    """
    external = load_external(kind, source, split=split)
    place = folder / "benchmarks" / kind
    if place.exists():
        raise InputError(f"{place}: already exists; choose another --out, or remove it.")
    data = write_tasks(place / "data" / f"{kind}.jsonl", external.tasks)
    told = {"kind": kind, "name": kind, "environment": external.environment}
    has_prompt = external.environment in PROMPTS
    config = {
        "sha256": hashlib.sha256(data.read_bytes()).hexdigest(),
        "slices": ", ".join(field for field in ("difficulty", "kind") if field in external.tasks[0]),
        "prompt": f"        prompt_config: benchmarks/{kind}/prompt.yaml\n" if has_prompt else "",
    }
    (place / "config.yaml").write_text(CONFIG.format(**told, **config), encoding="utf-8")
    if has_prompt:
        (place / "prompt.yaml").write_text(prompt_text(external.environment), encoding="utf-8")
    script = SCRIPT.format(**told, source=str(source.resolve()), split=f", split={split!r}" if split else "")
    (place / "prepare.py").write_text(script, encoding="utf-8")
    return external, place


def prompt_text(environment: str) -> str:
    """A prompt file."""
    import yaml

    system, user = PROMPTS[environment]
    said = {"user": user} if system is None else {"system": system, "user": user}
    text: str = yaml.safe_dump(said, sort_keys=False, allow_unicode=True)
    return text
