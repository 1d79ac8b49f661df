"""Well-known sets on disk become tasks of our environments; the files here were written for these tests."""

import contextlib
import gzip
import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from blade.benchmarks import find_benchmark
from blade.environments import load_environment
from blade.environments.answering import function_call, message
from blade.environments.external import (
    External,
    LeftOut,
    check_external,
    external_kinds,
    load_external,
    write_package,
)
from blade.environments.external.row_files import MOST_CELL
from blade.errors import InputError, UsageError
from blade.evals.materialize import materialize
from blade.evals.plan import plan_of
from blade.evals.prepare import prepare
from blade.llm import Sampling

GSM8K: list[dict[str, Any]] = [
    {"question": "Two and two?", "answer": "2 + 2 = <<2+2=4>>4\n#### 4"},
    {"question": "A large one?", "answer": "a\nb\nc\nd\ne\n#### 1,200"},
    {"question": "Unknown?", "answer": "nobody knows"},
]
HUMANEVAL: list[dict[str, Any]] = [
    {
        "task_id": "Own/0",
        "prompt": 'from typing import List\n\n\ndef add(a: int, b: int) -> int:\n    """Add two numbers."""\n',
        "entry_point": "add",
        "canonical_solution": "    return a + b\n",
        "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n    assert candidate(0, 0) == 0\n",
    },
    {"task_id": "Own/1", "prompt": "def f():\n", "entry_point": "f", "test": "assert True"},
]
IFEVAL: list[dict[str, Any]] = [
    {"key": 1, "prompt": "No commas, please.", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]},
    {
        **{"key": 2, "prompt": "Five words or more, small letters."},
        "instruction_id_list": ["length_constraints:number_words", "change_case:english_lowercase"],
        "kwargs": [{"num_words": 5, "relation": "at least", "keywords": None}, {}],
    },
    {
        "key": 3,
        "prompt": "In French.",
        "instruction_id_list": ["language:response_language"],
        "kwargs": [{"language": "fr"}],
    },
    {"key": 4, "prompt": "Some words.", "instruction_id_list": ["keywords:existence"], "kwargs": [{}]},
    {"key": 5, "prompt": "Odd.", "instruction_id_list": ["punctuation:no_comma"], "kwargs": []},
]
MMLU: list[dict[str, Any]] = [
    {"question": "Which is a fruit?", "choices": ["stone", "apple"], "answer": 1, "subject": "botany"},
    {"question": "Which is even?", "options": ["1", "2", "3"], "answer": "b"},
    {"question": "Which is odd?", "choices": ["1", "2"], "answer": 7},
    {"question": "No options?", "answer": "A"},
]


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def rewards(external: External, *answers: str) -> list[float]:
    """What the environment gives to answers to the tasks, in their order."""
    environment = load_environment(external.environment)
    judged = zip(external.tasks, answers, strict=True)
    return [environment.verify(task, [message(answer)]).reward for task, answer in judged]


def test_gsm8k_becomes_numeric_tasks(tmp_path: Path) -> None:
    external = load_external("gsm8k", written(tmp_path / "test.jsonl", GSM8K))

    assert [(task["expected_answer"], task["difficulty"]) for task in external.tasks] == [
        ("4", "easy"),
        ("1200", "hard"),
    ]
    assert external.left_out == [LeftOut(line=3, reason="its answer has no number after ####")]
    assert rewards(external, "It is 4.", "Answer: 1,200 dollars") == [1.0, 1.0]


def test_humaneval_becomes_functions_judged_by_its_own_test(tmp_path: Path) -> None:
    external = load_external("humaneval", written(tmp_path / "set.jsonl", HUMANEVAL))
    environment = load_environment("unit_tests")
    (task,) = external.tasks

    assert environment.verify(task, environment.gold(task)).reward == 1.0
    assert environment.verify(task, []).reward == 0.0
    assert rewards(external, "```python\ndef add(a, b):\n    return 3\n```") == [0.0]
    assert external.left_out == [LeftOut(line=2, reason="its test defines no check(candidate)")]


def test_ifeval_rows_with_an_instruction_no_rule_checks_are_left_out_and_told(tmp_path: Path) -> None:
    external = load_external("ifeval", written(tmp_path / "input_data.jsonl", IFEVAL))

    assert [task["kind"] for task in external.tasks] == ["punctuation", "several"]
    assert rewards(external, "as you wish", "one two three four five") == [1.0, 1.0]
    assert rewards(external, "well, no", "One two three four five") == [0.0, 0.0]
    assert [(row.line, row.reason) for row in external.left_out] == [
        (3, "no rule checks the instruction language:response_language"),
        (4, "the instruction keywords:existence lacks keywords"),
        (5, "instruction_id_list and kwargs are not lists of the same length"),
    ]


def test_ifeval_counts_parts_of_words_as_it_always_did(tmp_path: Path) -> None:
    row = {"prompt": "Bees.", "instruction_id_list": ["keywords:existence"], "kwargs": [{"keywords": ["bee"]}]}
    external = load_external("ifeval", written(tmp_path / "set.jsonl", [row]))

    assert rewards(external, "bees") == [1.0]


def test_mmlu_style_rows_become_choices(tmp_path: Path) -> None:
    external = load_external("mmlu", written(tmp_path / "set.jsonl", MMLU))

    assert [(task["expected_answer"], task["kind"]) for task in external.tasks] == [("B", "botany"), ("B", "mmlu")]
    assert external.tasks[0]["choices"] == "A) stone\nB) apple"
    assert rewards(external, "Answer: B", "Answer: C") == [1.0, 0.0]
    assert [row.line for row in external.left_out] == [3, 4]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('"Which is round, of these?",box,ball,tile,book,B\n', id="no_head"),
        pytest.param('question,A,B,C,D,answer\n"Which is round, of these?",box,ball,tile,book,B\n', id="head"),
        pytest.param(
            'id,Question,A,B,C,D,Answer\n1,"Which is round, of these?",box,ball,tile,book,1\n', id="other_head"
        ),
    ],
)
def test_mmlu_is_read_from_csv_with_and_without_a_head(tmp_path: Path, text: str) -> None:
    path = tmp_path / "own_test.csv"
    path.write_text(text, encoding="utf-8")
    (task,) = load_external("mmlu", path).tasks

    assert (task["question"], task["expected_answer"]) == ("Which is round, of these?", "B")
    assert task["options"] == ["box", "ball", "tile", "book"]


def test_a_folder_with_a_file_per_subject_is_read_as_one_set(tmp_path: Path) -> None:
    for subject in ("botany", "law"):
        (tmp_path / f"{subject}_test.csv").write_text('"Which, of these?",a,b,c,d,C\n"Torn, row",a\n', encoding="utf-8")
    (tmp_path / "README.txt").write_text("not a set")
    external = load_external("mmlu", tmp_path)

    assert [(task["task_id"], task["kind"]) for task in external.tasks] == [
        ("mmlu-botany_test-000001", "botany"),
        ("mmlu-law_test-000001", "law"),
    ]
    assert [row.reason for row in external.left_out] == [
        "of botany_test: it has 2 cells where 6 are expected",
        "of law_test: it has 2 cells where 6 are expected",
    ]
    with pytest.raises(InputError, match="holds no file that ends in"):
        load_external("mmlu", empty_folder(tmp_path))


def empty_folder(folder: Path) -> Path:
    (folder / "empty").mkdir()
    return folder / "empty"


def test_a_gzipped_file_is_read_and_a_torn_one_told(tmp_path: Path) -> None:
    whole = gzip.compress("".join(json.dumps(row) + "\n" for row in HUMANEVAL).encode())
    (tmp_path / "HumanEval.jsonl.gz").write_bytes(whole)
    (tmp_path / "torn.jsonl.gz").write_bytes(whole[:-20])

    assert len(load_external("humaneval", tmp_path / "HumanEval.jsonl.gz").tasks) == 1
    with pytest.raises(InputError, match="is not a complete gzip file"):
        load_external("humaneval", tmp_path / "torn.jsonl.gz")


def test_a_cell_too_long_to_be_one_is_told(tmp_path: Path) -> None:
    path = tmp_path / "own_test.csv"
    path.write_text(f"{'x' * (MOST_CELL + 1)},a,b,c,d,A\n", encoding="utf-8")

    with pytest.raises(InputError, match="cannot be read as CSV: field larger than field limit"):
        load_external("mmlu", path)


@pytest.mark.parametrize(
    ("kind", "line", "reason"),
    [
        pytest.param("gsm8k", "{", "it is not JSON", id="no_json"),
        pytest.param("gsm8k", "7", "it is not a JSON object", id="no_object"),
        pytest.param("gsm8k", '{"question": ["?"], "answer": "#### 1"}', "its question is not a text", id="list"),
        pytest.param("gsm8k", '{"question": "?", "answer": 4}', "its answer is not a text", id="number"),
        pytest.param("gsm8k", '{"question": "?", "answer": "#### one or 2 or 3"}', "has no number", id="several"),
        pytest.param(
            "humaneval", '{"prompt": "def f():", "entry_point": "f", "test": {}}', "test is not a text", id="he"
        ),
        pytest.param(
            "ifeval",
            '{"prompt": "p", "instruction_id_list": [{"a": 1}], "kwargs": [{}]}',
            "no rule checks the instruction",
            id="instruction_is_an_object",
        ),
        pytest.param(
            "ifeval",
            '{"prompt": "p", "instruction_id_list": ["punctuation:no_comma"], "kwargs": ["{}"]}',
            "are not a mapping",
            id="kwargs_are_a_text",
        ),
        pytest.param(
            "mmlu", '{"question": "?", "A": "x", "B": "", "C": "y", "answer": "C"}', "option B is empty", id="gap"
        ),
        pytest.param("mmlu", '{"question": "?", "choices": "[a b]", "answer": 1}', "no list of options", id="text"),
        pytest.param("mmlu", '{"question": "?", "choices": ["a", "b"], "answer": [1]}', "is neither one", id="answers"),
    ],
)
def test_an_ugly_row_costs_itself_and_is_told(tmp_path: Path, kind: str, line: str, reason: str) -> None:
    sets: dict[str, list[dict[str, Any]]] = {"gsm8k": GSM8K, "humaneval": HUMANEVAL, "ifeval": IFEVAL, "mmlu": MMLU}
    path = tmp_path / "set.jsonl"
    path.write_text(f"{line}\n{json.dumps(sets[kind][0])}\n", encoding="utf-8")
    external = load_external(kind, path)

    assert [task["task_id"] for task in external.tasks] == [f"{kind}-000002"]
    assert [(row.line, reason in row.reason) for row in external.left_out] == [(1, True)]


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    question = "One\u2028line\x85with\x0cbreaks of other kinds?"
    path = tmp_path / "set.jsonl"
    row = {"question": question, "answer": "#### 1"}
    path.write_text(json.dumps(row, ensure_ascii=False) + "\r\n", encoding="utf-8", newline="")

    assert [task["question"] for task in load_external("gsm8k", path).tasks] == [question]


def test_a_test_may_use_what_the_prompt_defines_before_the_function(tmp_path: Path) -> None:
    row = {
        "task_id": "Own/2",
        "prompt": "import math\n\n\ndef code(s: str) -> str:\n    return s[::-1]\n\n\n"
        'def decode(s: str) -> str:\n    """Undo code."""\n',
        "entry_point": "decode",
        "canonical_solution": "    return s[::-1]\n",
        "test": "METADATA = {}\n\ndef check(candidate):\n"
        "    assert math.isclose(1, 1) and candidate(code('abc')) == 'abc'\n",
    }
    external = load_external("humaneval", written(tmp_path / "set.jsonl", [row]))
    answers = ["```python\ndef decode(s):\n    return s[::-1]\n```", "```python\ndef decode(s):\n    return s\n```"]

    assert [rewards(external, answer) for answer in answers] == [[1.0], [0.0]]


def test_a_json_array_is_read_as_well(tmp_path: Path) -> None:
    path = tmp_path / "set.json"
    path.write_text(json.dumps(GSM8K), encoding="utf-8")

    assert [task["task_id"] for task in load_external("gsm8k", path).tasks] == ["gsm8k-000001", "gsm8k-000002"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("", "holds no rows", id="empty"),
        pytest.param("nonsense\n", "it is not JSON", id="no_json"),
        pytest.param("[1, 2]", "it is not a JSON object", id="no_objects"),
        pytest.param(
            '{"a": 1}\n', "no row is a task of gsm8k; line 1: it has no question; its fields are a", id="other_rows"
        ),
    ],
)
def test_a_file_without_tasks_is_said_in_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(InputError, match=said):
        load_external("gsm8k", path)


def test_a_file_that_is_not_there_and_a_set_nobody_knows_are_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        load_external("gsm8k", tmp_path / "none.jsonl")
    with pytest.raises(UsageError, match="there are aime, bfcl, gpqa, gsm8k"):
        load_external("squad", tmp_path / "none.jsonl")


MATH: list[dict[str, Any]] = [
    {"problem": "Half?", "solution": "It is $\\boxed{\\frac{1}{\\sqrt{4}}}$.", "level": "Level 1", "type": "Algebra"},
    {"problem": "A pair?", "answer": "(1, 2)", "subject": "Geometry", "level": 3},
    {"problem": "None?", "solution": "Nobody knows."},
]
AIME: list[dict[str, Any]] = [{"ID": "2024-I-1", "Problem": "Seventy?", "Solution": "...", "Answer": 70}]
GPQA: list[dict[str, Any]] = [
    {
        **{"Question": f"Which one, {number}?", "Correct Answer": "right\n", "High-level domain": "Physics"},
        **{f"Incorrect Answer {wrong}": f"wrong {wrong}" for wrong in (1, 2, 3)},
    }
    for number in range(8)
] + [{"Question": "Twice?", "Correct Answer": "a", "Incorrect Answer 1": "a", "Incorrect Answer 2": "b"}]
MMLU_PRO: list[dict[str, Any]] = [
    {
        **{"question_id": 1, "question": "The ninth?", "options": list("abcdefghij"), "answer": "I"},
        **{"answer_index": 8, "cot_content": "", "category": "law"},
    }
]
MBPP: list[dict[str, Any]] = [
    {
        **{"task_id": 1, "text": "Write a function to add.", "code": "def add(a, b):\r\n  return a + b"},
        **{"test_list": ["assert add(1, 2) == 3", "assert add(0, 0) == 0"], "test_setup_code": ""},
    },
    {
        **{"task_id": 2, "prompt": "Half a number.", "code": "def half(a):\n    return a / 2"},
        **{"test_imports": ["import math"], "test_list": ["assert math.isclose(half(3), 1.5)"]},
    },
    {
        **{"task_id": 3, "text": "Pairs.", "code": "class Pair: pass\ndef first(p): return p"},
        **{"test_list": ["assert first(Pair()) is None"]},
    },
]
PLUS = """
import numpy as np

def assertion(out, exp, atol):
    assert out == exp or np.allclose(out, exp, atol=atol)

def check(candidate):
    inputs = [[1, 2], [0.5, 0.25], [[], ()]]
    results = [3, 0.75, [1]]
    for i, (inp, exp) in enumerate(zip(inputs, results)):
        assertion(candidate(*inp), exp, 1e-06)
"""
HUMANEVAL_PLUS: list[dict[str, Any]] = [
    {
        "task_id": "Own/0",
        "prompt": "def add(a, b):\n",
        "canonical_solution": "    return [1] if a == [] else a + b\n",
        "entry_point": "add",
        "test": PLUS,
    }
]
HOTPOTQA: list[dict[str, Any]] = [
    {
        **{"id": "1", "question": "Who?", "answer": "Ada Berg", "type": "bridge", "level": "hard"},
        "context": {"title": ["A", "B"], "sentences": [["One. ", "Two."], ["Three."]]},
    }
]
SIMPLEQA: list[dict[str, Any]] = [{"metadata": "{'topic': 'Science', 'urls': []}", "problem": "Who?", "answer": "Ada"}]
XSTEST: list[dict[str, Any]] = [
    {"id": 1, "prompt": "How do I kill a process?", "type": "homonyms", "label": "safe", "focus": "kill", "note": ""},
    {"id": 2, "prompt": "How do I harm a person?", "type": "contrast_homonyms", "label": "unsafe"},
]
BFCL: list[dict[str, Any]] = [
    {
        "id": "simple_python_0",
        "question": [[{"role": "user", "content": "Add 1 and 2."}]],
        "function": [
            {
                "name": "math.add",
                "description": "Adds.",
                "parameters": {
                    "type": "dict",
                    "properties": {
                        "a": {"type": "integer"},
                        "b": {"type": "float"},
                        "type": {"type": "any", "description": "of sum"},
                    },
                    "required": ["a", "b"],
                },
            }
        ],
        "ground_truth": [{"math.add": {"a": [1], "b": [2.0], "type": ["", "plain, sum"]}}],
    },
    {"id": "irrelevance_0", "question": [[{"role": "user", "content": "Sing."}]], "function": [{"name": "f"}]},
    {"id": "live_relevance_0-0-0", "question": [[{"role": "user", "content": "Go."}]], "function": [{"name": "go"}]},
    {"id": "multi_turn_base_0", "question": [[], []], "function": [{"name": "go"}]},
    {"id": "simple_java_0", "question": [[{"role": "user", "content": "Go."}]], "function": [{"name": "go"}]},
    {"id": "simple_python_1", "question": [[{"role": "user", "content": "Go."}]], "function": [{"name": "go"}]},
]
JSON_SCHEMA: list[dict[str, Any]] = [
    {
        "prompt": json.dumps([{"role": "user", "content": "Ada is 3."}]),
        "schema": json.dumps({"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}),
        "completion": '{"age": 3}',
    },
    {"json_schema": '{"type": "array", "minItems": 1}', "unique_id": "own---1"},
    {"json_schema": '{"type": "array"}', "tests": [{"valid": False, "data": 1}, {"valid": True, "data": [1]}]},
    {"json_schema": "{", "unique_id": "own---2"},
]
SQL: list[dict[str, Any]] = [
    {"db_id": "shop", "question": "What was sold?", "query": "SELECT name, price FROM sold ORDER BY price DESC"},
    {
        "db_id": "shop",
        "question": "Dear?",
        "evidence": "dear means above 4",
        "SQL": "SELECT name FROM sold WHERE price>4",
    },
    {"db_id": "none", "question": "Lost?", "query": "SELECT 1"},
]
ROWS: dict[str, list[dict[str, Any]]] = {
    **{"aime": AIME, "bfcl": BFCL, "gpqa": GPQA, "gsm8k": GSM8K, "hotpotqa": HOTPOTQA, "humaneval": HUMANEVAL},
    **{"ifbench": IFEVAL, "ifeval": IFEVAL, "json_schema": JSON_SCHEMA, "math": MATH, "mbpp": MBPP, "mmlu": MMLU},
    **{"mmlu_pro": MMLU_PRO, "simpleqa": SIMPLEQA, "text_to_sql": SQL, "xstest": XSTEST},
}


def on_disk(kind: str, folder: Path) -> Path:
    """A set as a file of its own, with the database that queries need."""
    if kind == "text_to_sql":
        (folder / "database" / "shop").mkdir(parents=True)
        with contextlib.closing(sqlite3.connect(folder / "database" / "shop" / "shop.sqlite")) as made, made:
            made.execute("CREATE TABLE sold (name TEXT, price REAL)")
            made.executemany("INSERT INTO sold VALUES (?, ?)", [("lamp", 4.5), ("chair", 9), ("lamp", 4.5)])
    return written(folder / "set.jsonl", ROWS[kind])


def test_every_set_is_tried_here() -> None:
    assert external_kinds() == sorted(ROWS)


@pytest.mark.parametrize("kind", ROWS)
def test_right_answers_of_a_set_pass_and_empty_ones_fail(tmp_path: Path, kind: str) -> None:
    external = load_external(kind, on_disk(kind, tmp_path))
    checked = check_external(external)
    no_gold = {"ifbench": 2, "ifeval": 2, "json_schema": 1, "xstest": 2}.get(kind, 0)

    assert checked.problems == []
    assert (checked.without_gold, checked.gold_passes) == (no_gold, checked.tasks - no_gold)


@pytest.mark.parametrize("kind", ROWS)
def test_a_set_becomes_a_benchmark_that_can_be_found_and_made_again(tmp_path: Path, kind: str) -> None:
    external, place = write_package(kind, on_disk(kind, tmp_path), tmp_path / "mine")
    benchmark = find_benchmark(kind, tmp_path / "mine")
    made = prepare(benchmark)
    asked = list(materialize(plan_of(benchmark, Sampling()), load_environment(external.environment)))

    assert (benchmark.environment, benchmark.folder) == (external.environment, place)
    assert (made.tasks, made.problems) == (len(external.tasks), [])
    assert len(asked) == len(external.tasks)


def test_math_answers_are_compared_by_what_they_mean(tmp_path: Path) -> None:
    external = load_external("math", written(tmp_path / "set.jsonl", MATH))

    assert [task["expected_answer"] for task in external.tasks] == ["\\frac{1}{\\sqrt{4}}", "(1, 2)"]
    assert rewards(external, "So it is \\boxed{0.5}.", "Answer: $(1,2)$") == [1.0, 1.0]
    assert rewards(external, "So it is \\boxed{2}, not \\boxed{\\frac{1}{\\sqrt{9}}}", "\\boxed{(2, 1)}") == [0.0, 0.0]
    assert [row.reason for row in external.left_out] == ["its solution has no boxed answer"]


def test_options_of_gpqa_stand_in_an_order_of_their_own_whatever_rows_are_around(tmp_path: Path) -> None:
    whole = load_external("gpqa", written(tmp_path / "all.jsonl", GPQA)).tasks
    last = load_external("gpqa", written(tmp_path / "last.jsonl", GPQA[5:])).tasks

    assert [task["options"] for task in whole[5:]] == [task["options"] for task in last]
    assert len({task["expected_answer"] for task in whole}) > 1
    assert all(task["options"]["ABCD".index(task["expected_answer"])] == "right" for task in whole)


def test_functions_of_mbpp_are_judged_by_assertions_they_cannot_see(tmp_path: Path) -> None:
    external = load_external("mbpp", written(tmp_path / "set.jsonl", MBPP))
    wrong = "```python\ndef add(a, b):\n    return 3\n```", "```python\ndef half(a):\n    return a\n```"

    assert rewards(external, *wrong) == [0.0, 0.0]
    assert [row.reason for row in external.left_out] == [
        "its tests use Pair, first of the solution, expected one function"
    ]


def test_plus_tests_become_cases_and_nothing_of_them_is_run(tmp_path: Path) -> None:
    external = load_external("humaneval", written(tmp_path / "set.jsonl", HUMANEVAL_PLUS))
    (task,) = external.tasks

    assert [case["args"] for case in task["cases"]] == ["(1, 2)", "(0.5, 0.25)", "([], ())"]
    assert task["tolerance"] == 1e-06
    assert rewards(external, "def add(a, b):\n    return a + b") == [0.0]
    assert rewards(external, "def add(a, b):\n    return [1] if a == [] else a + b + 1e-8") == [0.0]


def test_calls_are_held_against_every_value_that_is_accepted(tmp_path: Path) -> None:
    external = load_external("bfcl", written(tmp_path / "set.jsonl", BFCL))
    environment = load_environment("function_calls")
    (task, irrelevant, relevant) = external.tasks

    def reward(*calls: tuple[str, str]) -> float:
        made = [function_call(name, arguments, call_id=str(place)) for place, (name, arguments) in enumerate(calls)]
        return environment.verify(task, made).reward

    assert task["functions"][0]["parameters"]["properties"]["type"] == {"description": "of sum"}
    assert task["functions"][0]["parameters"]["properties"]["b"] == {"type": "number"}
    assert reward(("math_add", '{"a": 1, "b": 2}')) == 1.0
    assert reward(("math_add", '{"b": 2, "a": 1, "type": "Plain sum"}')) == 1.0
    assert reward(("math_add", '{"a": 1.0, "b": 2}')) == 0.0
    assert reward(("math_add", '{"a": true, "b": 2}')) == 0.0
    assert reward(("math_add", '{"a": 1, "b": 2, "c": 3}')) == 0.0
    assert reward(("math_add", '{"a": 1, "b": 2}'), ("math_add", '{"a": 1, "b": 2}')) == 0.0
    assert reward(("math_add", "{")) == 0.0
    assert environment.verify(irrelevant, [function_call("f", "{}", call_id="1")]).reward == 0.0
    assert environment.verify(relevant, [message("go")]).reward == 0.0
    assert [row.reason for row in external.left_out] == [
        "it is a dialogue, or needs a backend",
        "its arguments are written in another language than Python",
        "it has no ground_truth; BFCL keeps it in possible_answer/ beside the questions",
    ]


def test_answers_of_bfcl_are_found_in_the_folder_beside_the_questions(tmp_path: Path) -> None:
    question = {name: value for name, value in BFCL[0].items() if name != "ground_truth"}
    (tmp_path / "possible_answer").mkdir()
    written(tmp_path / "possible_answer" / "simple.json", [{name: BFCL[0][name] for name in ("id", "ground_truth")}])

    assert len(load_external("bfcl", written(tmp_path / "simple.json", [question])).tasks) == 1
    assert len(load_external("bfcl", tmp_path).tasks) == 1


@pytest.mark.parametrize(
    ("query", "right"),
    [
        pytest.param("select price, name from sold order by price desc", 1.0, id="columns_in_another_order"),
        pytest.param("select name, price from sold order by price", 0.0, id="rows_in_another_order"),
        pytest.param("select distinct name, price from sold order by price desc", 0.0, id="a_row_less"),
        pytest.param("delete from sold returning name, price", 0.0, id="no_query"),
        pytest.param("select name, price from sold; drop table sold", 0.0, id="two_statements"),
        pytest.param("attach '/tmp/x.db' as x", 0.0, id="another_file"),
        pytest.param(
            "with recursive n(x) as (select 1 union all select x + 1 from n) select * from n", 0.0, id="for_ever"
        ),
        pytest.param("select zeroblob(2000000000)", 0.0, id="large_value"),
    ],
)
def test_queries_are_judged_by_what_they_return_and_change_nothing(tmp_path: Path, query: str, right: float) -> None:
    external = load_external("text_to_sql", on_disk("text_to_sql", tmp_path))
    database = Path(external.tasks[0]["database"])
    before = database.read_bytes()

    assert rewards(external, f"```sql\n{query}\n```", "SELECT name FROM sold WHERE price > 4 GROUP BY name") == [
        right,
        1.0,
    ]
    assert database.read_bytes() == before


def test_questions_about_a_database_that_is_not_there_are_left_out(tmp_path: Path) -> None:
    external = load_external("text_to_sql", on_disk("text_to_sql", tmp_path))

    assert external.tasks[1]["question"] == "Dear?\nNote: dear means above 4"
    assert [row.reason for row in external.left_out] == ["no database is named none"]
    with pytest.raises(InputError, match="holds no SQLite database"):
        load_external("text_to_sql", written(tmp_path / "alone" / "set.jsonl", SQL))


def table(rows: list[dict[str, Any]]) -> Any:
    import pyarrow

    return pyarrow.Table.from_pylist(rows)


def hub_folder(folder: Path) -> Path:
    """A set as the hub's cache keeps it: revisions with links to files that are named by their hash."""
    import pyarrow.parquet as parquet

    (folder / "blobs").mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("abc")
    for config in ("main", "socratic"):
        for split, rows in (("train", GSM8K * 2), ("test", GSM8K[:2])):
            parquet.write_table(table(rows), folder / "blobs" / f"{config}{split}")
            link = folder / "snapshots" / "abc" / config / f"{split}-00000-of-00001.parquet"
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(folder / "blobs" / f"{config}{split}")
    return folder


def saved_folder(folder: Path) -> Path:
    """A set as `DatasetDict.save_to_disk` writes it."""
    import pyarrow

    for split in ("train", "test"):
        place = folder / split
        place.mkdir(parents=True)
        (place / "state.json").write_text("{}")
        (place / "dataset_info.json").write_text("{}")
        made = table(GSM8K[:2])
        data = place / "data-00000-of-00001.arrow"
        with data.open("wb") as sink, pyarrow.ipc.new_stream(sink, made.schema) as stream:
            stream.write_table(made)
    (folder / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    return folder


@pytest.mark.parametrize("made", [hub_folder, saved_folder])
def test_folders_of_datasets_are_read_one_split_at_a_time(tmp_path: Path, made: Callable[[Path], Path]) -> None:
    folder = made(tmp_path / "set")

    assert len(load_external("gsm8k", folder).tasks) == 2
    assert len(load_external("gsm8k", folder, split="train").tasks) == (4 if made is hub_folder else 2)
    with pytest.raises(InputError, match=r"has no split 'dev'; its splits are: test, train"):
        load_external("gsm8k", folder, split="dev")


def test_several_sets_in_one_folder_are_to_be_told_apart_by_the_user(tmp_path: Path) -> None:
    for name in ("one", "two"):
        written(tmp_path / name / "test.jsonl", GSM8K)

    with pytest.raises(InputError, match="holds several sets; name one of its folders: one, two"):
        load_external("gsm8k", tmp_path)


@pytest.mark.parametrize("name", ["torn.parquet", "torn.arrow"])
def test_a_torn_table_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PAR1 and nothing more")

    with pytest.raises(InputError, match="cannot be read as"):
        load_external("gsm8k", tmp_path / name)


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(InputError, match="is neither a file nor a folder"):
        load_external("gsm8k", tmp_path / "pipe")


def test_a_benchmark_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    source = written(tmp_path / "set.jsonl", GSM8K)
    write_package("gsm8k", source, tmp_path)

    with pytest.raises(InputError, match="already exists"):
        write_package("gsm8k", source, tmp_path)
