"""Well-known sets on disk become tasks of our environments; the files here were written for these tests."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from blade.benchmarks import find_benchmark
from blade.environments import load_environment
from blade.environments.external import External, LeftOut, external_kinds, load_external, write_package
from blade.environments.external.reading import MOST_CELL
from blade.environments.items import message
from blade.errors import InputError, UsageError
from blade.evals.prepare import prepare

GSM8K = [
    {"question": "Two and two?", "answer": "2 + 2 = <<2+2=4>>4\n#### 4"},
    {"question": "A large one?", "answer": "a\nb\nc\nd\ne\n#### 1,200"},
    {"question": "Unknown?", "answer": "nobody knows"},
]
HUMANEVAL = [
    {
        "task_id": "Own/0",
        "prompt": 'from typing import List\n\n\ndef add(a: int, b: int) -> int:\n    """Add two numbers."""\n',
        "entry_point": "add",
        "canonical_solution": "    return a + b\n",
        "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n    assert candidate(0, 0) == 0\n",
    },
    {"task_id": "Own/1", "prompt": "def f():\n", "entry_point": "f", "test": "assert True"},
]
IFEVAL = [
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
    with pytest.raises(InputError, match="is no whole gzip file"):
        load_external("humaneval", tmp_path / "torn.jsonl.gz")


def test_a_cell_too_long_to_be_one_is_told(tmp_path: Path) -> None:
    path = tmp_path / "own_test.csv"
    path.write_text(f"{'x' * (MOST_CELL + 1)},a,b,c,d,A\n", encoding="utf-8")

    with pytest.raises(InputError, match="cannot be read as CSV: field larger than field limit"):
        load_external("mmlu", path)


@pytest.mark.parametrize(
    ("kind", "line", "reason"),
    [
        pytest.param("gsm8k", "{", "line 1 is no JSON", id="no_json"),
        pytest.param("gsm8k", "7", "line 1 is no JSON object", id="no_object"),
        pytest.param("gsm8k", '{"question": ["?"], "answer": "#### 1"}', "its question is no text", id="list"),
        pytest.param("gsm8k", '{"question": "?", "answer": 4}', "its answer is no text", id="number"),
        pytest.param("gsm8k", '{"question": "?", "answer": "#### one or 2 or 3"}', "has no number", id="several"),
        pytest.param("humaneval", '{"prompt": "def f():", "entry_point": "f", "test": {}}', "test is no text", id="he"),
        pytest.param(
            "ifeval",
            '{"prompt": "p", "instruction_id_list": [{"a": 1}], "kwargs": [{}]}',
            "no rule checks the instruction",
            id="instruction_is_an_object",
        ),
        pytest.param(
            "ifeval",
            '{"prompt": "p", "instruction_id_list": ["punctuation:no_comma"], "kwargs": ["{}"]}',
            "are no mapping",
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
        pytest.param("nonsense\n", "line 1 is no JSON", id="no_json"),
        pytest.param("[1, 2]", "line 1 is no JSON object", id="no_objects"),
        pytest.param(
            '{"a": 1}\n', "none of its 1 rows is a task of gsm8k: it has no question, answer", id="other_rows"
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
    with pytest.raises(UsageError, match="there are gsm8k, humaneval, ifeval, mmlu"):
        load_external("squad", tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    ("kind", "rows"), [("gsm8k", GSM8K), ("humaneval", HUMANEVAL), ("ifeval", IFEVAL), ("mmlu", MMLU)]
)
def test_a_set_becomes_a_benchmark_that_can_be_found_and_made_again(
    tmp_path: Path, kind: str, rows: list[dict[str, Any]]
) -> None:
    external, place = write_package(kind, written(tmp_path / "set.jsonl", rows), tmp_path / "mine")
    benchmark = find_benchmark(kind, tmp_path / "mine")
    made = prepare(benchmark)

    assert (benchmark.environment, benchmark.folder) == (external.environment, place)
    assert (made.tasks, made.problems) == (len(external.tasks), [])


def test_every_set_is_tried_here() -> None:
    assert external_kinds() == ["gsm8k", "humaneval", "ifeval", "mmlu"]


def test_a_benchmark_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    source = written(tmp_path / "set.jsonl", GSM8K)
    write_package("gsm8k", source, tmp_path)

    with pytest.raises(InputError, match="is there already"):
        write_package("gsm8k", source, tmp_path)
