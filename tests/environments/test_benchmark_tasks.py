"""What holds for the tasks of every benchmark: they can be made again, told apart, solved, and not slept through."""

import hashlib
import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from blade.environments import Environment, load_environment
from blade.environments.answering import message

ROOT = Path(__file__).resolve().parents[2] / "benchmarks"
NAMES = sorted(path.parent.name for path in ROOT.glob("*/config.yaml"))
DIFFICULTIES = {"easy", "medium", "hard"}


def read_tasks(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def tasks_of(name: str) -> list[dict[str, Any]]:
    return read_tasks(ROOT / name / "data" / f"{name}.jsonl")


def config_of(name: str) -> dict[str, Any]:
    config: dict[str, Any] = yaml.safe_load((ROOT / name / "config.yaml").read_text(encoding="utf-8"))
    return config


def environment_of(name: str) -> Environment:
    (included,) = config_of(name)["config_paths"]
    return load_environment(Path(included).parent.name)


def dataset_of(name: str) -> dict[str, Any]:
    loop = config_of(name)[f"{name}_agent"]["responses_api_agents"]["tool_loop"]
    dataset: dict[str, Any] = loop["datasets"][0]
    return dataset


@pytest.mark.parametrize("name", NAMES)
def test_preparing_again_gives_the_same_bytes(name: str, tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location(f"prepare_{name}", ROOT / name / "prepare.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = module.prepare(tmp_path)

    assert made == tmp_path / f"{name}.jsonl"
    assert made.read_bytes() == (ROOT / name / "data" / f"{name}.jsonl").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_the_config_pins_the_data(name: str) -> None:
    data = (ROOT / name / "data" / f"{name}.jsonl").read_bytes()

    assert dataset_of(name)["sha256"] == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("name", NAMES)
def test_there_are_enough_tasks_in_slices_worth_looking_at(name: str) -> None:
    tasks = tasks_of(name)
    kinds = {task["kind"] for task in tasks}

    assert 36 <= len(tasks) <= 48
    assert {task["difficulty"] for task in tasks} == DIFFICULTIES
    assert all(sum(task["kind"] == kind for task in tasks) >= 4 for kind in kinds)


@pytest.mark.parametrize("name", NAMES)
def test_no_task_is_there_twice(name: str) -> None:
    prompt = yaml.safe_load((ROOT / name / "prompt.yaml").read_text(encoding="utf-8"))
    texts = [re.sub(r"\W+", " ", prompt["user"].format(**task)).casefold() for task in tasks_of(name)]
    examples = [re.sub(r"\W+", " ", example["user"]).casefold() for example in prompt["examples"]]

    assert len({task["task_id"] for task in tasks_of(name)}) == len(texts)
    assert len({*texts, *examples}) == len(texts) + len(examples)


@pytest.mark.parametrize("name", NAMES)
def test_the_perfect_answer_gets_full_marks_and_none_gets_nothing(name: str) -> None:
    environment = environment_of(name)
    marks = {
        task["task_id"]: (environment.verify(task, environment.gold(task)).reward, environment.verify(task, []).reward)
        for task in tasks_of(name)
    }

    assert {task: mark for task, mark in marks.items() if mark != (1.0, 0.0)} == {}


@pytest.mark.parametrize("name", NAMES)
def test_the_verdict_names_the_same_fields_whatever_was_answered(name: str) -> None:
    environment = environment_of(name)
    task = tasks_of(name)[0]
    verdicts = [environment.verify(task, items) for items in (environment.gold(task), [], [{"type": "message"}])]

    assert len({tuple(verdict.fields) for verdict in verdicts}) == 1
    assert json.loads(json.dumps([verdict.fields for verdict in verdicts]))


@pytest.mark.parametrize("name", NAMES)
def test_the_prompt_shows_two_worked_examples(name: str) -> None:
    prompt = yaml.safe_load((ROOT / name / "prompt.yaml").read_text(encoding="utf-8"))

    assert set(prompt) == {"system", "user", "examples"}
    # Calls of tools cannot be shown as exchanges of texts; such examples are told in the system text.
    told = re.findall(r"\bExample \d", prompt["system"])
    assert [set(example) for example in prompt["examples"]] + told in (
        [{"user", "assistant"}] * 2,
        ["Example 1", "Example 2"],
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_readme_counts_the_tasks_as_they_are(name: str) -> None:
    readme = (ROOT / name / "README.md").read_text(encoding="utf-8")
    (said,) = [line for line in readme.splitlines() if line.startswith("| tasks |")]
    difficulties = [task["difficulty"] for task in tasks_of(name)]

    assert said.startswith(f"| tasks | {len(difficulties)}: ")
    assert {level: f"{difficulties.count(level)} {level}" in said for level in DIFFICULTIES} == dict.fromkeys(
        DIFFICULTIES, True
    )
    assert all(f"`{kind}`" in readme for kind in {task["kind"] for task in tasks_of(name)})


MANIFESTS = sorted(ROOT.glob("*/rollouts/*_manifest.json"))


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_shipped_rollouts_answer_the_frozen_tasks(path: Path) -> None:
    made_with = json.loads(path.read_text(encoding="utf-8"))["settings"]

    assert made_with["dataset"] == dataset_of(path.parts[-3])["sha256"]


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_shipped_rewards_are_what_the_verifier_says_today(path: Path) -> None:
    environment = environment_of(path.parts[-3])
    rows = read_tasks(path.with_name(path.name.replace("_manifest.json", ".jsonl")))
    # Every judgement of a function starts a process.
    looked_at = rows[::25] if environment.name == "unit_tests" else rows
    differing = [
        f"{row['_ng_task_index']}:{row['_ng_rollout_index']}"
        for row in looked_at
        if (verdict := environment.verify(row, row["response"]["output"])).reward != row["reward"]
        or {name: row.get(name) for name in verdict.fields} != verdict.fields
    ]

    assert differing == []


NEARLY_RIGHT = {
    "spiral": """
def spiral(rows):
    out = []
    while rows:
        out += rows.pop(0)
        out += [row.pop() for row in rows if row]
        if rows:
            out += rows.pop()[::-1]
    return out
""",
    "count-words": """
def count_words(text):
    for sign in ".,!?":
        text = text.replace(sign, "")
    words = text.lower().split()
    return {word: words.count(word) for word in words}
""",
    "evaluate": "def evaluate(text):\n    return eval(text)\n",
    "last-item": """
def last_item(items, default):
    return next((item for item in items[::-1] if item is not None), default)
""",
}
"""Programs that are wrong in one point, each of which the cases of its task must tell from a right one."""


@pytest.mark.parametrize("name", NEARLY_RIGHT)
def test_a_function_that_is_nearly_right_fails(name: str) -> None:
    (task,) = (row for row in tasks_of("small_functions") if row["task_id"].endswith(f"-{name}"))
    verdict = load_environment("unit_tests").verify(task, [message(f"```python\n{NEARLY_RIGHT[name]}\n```")])

    assert verdict.reward == 0.0
    assert verdict.fields["tests_passed"] > 3


def test_no_name_ends_in_a_full_stop_before_the_end_of_an_office_request() -> None:
    for task in tasks_of("office_desk"):
        assert "Ltd. " not in task["request"], task["request"]
