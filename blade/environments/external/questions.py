"""Sets that are answered in words, numbers or letters."""

import hashlib
import random
import re
import string
from collections.abc import Mapping
from typing import Any

from blade.environments.choice.verifier import lettered
from blade.environments.constraints.checks import CHECKS, missing_arguments
from blade.environments.external.row_files import NotATask, decoded, first_of
from blade.environments.numeric.numbers import read_number, write_number
from blade.rollouts.boxes import last_boxed

Fields = Mapping[str, Any]
Task = dict[str, Any]


def gsm8k(row: Fields) -> Task:
    """GSM8K: the answer stands after #### at the end of a worked solution."""
    steps, mark, final = row["answer"].rpartition("####")
    number = read_number(final)
    if not mark or number is None:
        raise NotATask("its answer has no number after ####")
    lines = len([line for line in steps.splitlines() if line.strip()])
    return {
        "question": row["question"],
        "expected_answer": write_number(number),
        "kind": "gsm8k",
        "difficulty": "easy" if lines <= 2 else "medium" if lines <= 4 else "hard",
    }


def math(row: Fields) -> Task:
    """MATH and AIME: the answer is a field, or stands in the last box of a worked solution."""
    answer = first_of(row, "answer")
    if answer is None or "\\boxed" in str(answer):
        answer = last_boxed(str(answer or row.get("solution") or ""))
    if answer is None or not str(answer).strip():
        raise NotATask("its solution has no boxed answer")
    level = str(first_of(row, "level", "difficulty") or "")
    return {
        "question": first_of(row, "problem", "question"),
        "expected_answer": str(answer).strip(),
        "kind": str(first_of(row, "subject", "type") or "math"),
        **({"difficulty": level} if level else {}),
    }


def ifeval(row: Fields) -> Task:
    """IFEval and IFBench: instructions by id; a row with one that no rule of ours checks is left out whole."""
    names, arguments = row["instruction_id_list"], decoded(row["kwargs"], "kwargs")
    if not isinstance(names, list) or not isinstance(arguments, list) or len(names) != len(arguments):
        raise NotATask("instruction_id_list and kwargs are not lists of the same length")
    for name, given in zip(names, arguments, strict=True):
        if not isinstance(name, str) or name not in CHECKS:
            raise NotATask(f"no rule checks the instruction {name}")
        if not isinstance(given, dict | None):
            raise NotATask(f"the kwargs of the instruction {name} are not a mapping")
        if missing := missing_arguments(name, given or {}):
            raise NotATask(f"the instruction {name} lacks {', '.join(missing)}")
    kept = [
        {key: value for key, value in {**(given or {}), **IFEVAL_MEANS.get(name, {})}.items() if value is not None}
        for name, given in zip(names, arguments, strict=True)
    ]
    kind = names[0].partition(":")[0] if len(names) == 1 else "several"
    return {"prompt": row["prompt"], "instruction_id_list": names, "kwargs": kept, "must_answer": False, "kind": kind}


IFEVAL_MEANS: dict[str, dict[str, Any]] = {
    "keywords:existence": {"whole_word": False},
    "keywords:frequency": {"whole_word": False},
    "length_constraints:number_paragraphs": {"anywhere": True},
}
"""Where IFEval's rule is looser than the words of its instruction, and ours would be stricter."""


def mmlu(row: Fields) -> Task:
    """MMLU and MMLU-Pro: options in a list or in columns A, B, ...; the answer is a letter or a place from 0."""
    options = first_of(row, "choices", "options") or lettered_columns(row)
    if not isinstance(options, list) or not 2 <= len(options) <= 26:
        raise NotATask("it has no list of options, nor columns A, B, ...")
    options = [str(option) for option in options]
    letter = letter_of(row["answer"], len(options))
    subject = row.get("subject") if row.get("category") is None else row["category"]
    return {**choice(str(row["question"]), options, letter), "kind": str(subject or "mmlu")}


def choice(question: str, options: list[str], letter: str) -> Task:
    return {"question": question, "options": options, "choices": lettered(options), "expected_answer": letter}


def lettered_columns(row: Fields) -> list[str]:
    """What stands in columns A, B, ...; one left empty between others would move the letters of those after it."""
    cells = [row.get(letter) for letter in string.ascii_uppercase]
    count = max((place for place, cell in enumerate(cells, 1) if cell not in (None, "")), default=0)
    empty = [place for place, cell in enumerate(cells[:count]) if cell in (None, "")]
    if empty:
        raise NotATask(f"its option {string.ascii_uppercase[empty[0]]} is empty")
    return [str(cell) for cell in cells[:count]]


def letter_of(answer: Any, count: int) -> str:
    """The letter of the right option."""
    letters = string.ascii_uppercase[:count]
    said = str(answer).strip()
    if re.fullmatch(r"\d{1,2}", said) and int(said) < count:
        return letters[int(said)]
    if len(said) == 1 and said.upper() in letters:
        return said.upper()
    raise NotATask(f"its answer is neither one of {letters[0]} to {letters[-1]} nor a place from 0 to {count - 1}")


def gpqa(row: Fields) -> Task:
    """GPQA: the right option and three wrong ones, in an order drawn from the question itself."""
    right = row["correct answer"].strip()
    wrong = [str(row.get(f"incorrect answer {number}") or "").strip() for number in (1, 2, 3)]
    options = [right, *(option for option in wrong if option)]
    if len(options) < 2 or len(set(options)) < len(options):
        raise NotATask("its options are not all different")
    # Its own seed for every question, so that neither the order of rows nor a sample of them moves an option.
    random.Random(hashlib.sha256(row["question"].encode("utf-8", "replace")).digest()).shuffle(options)
    letter = string.ascii_uppercase[options.index(right)]
    kind = first_of(row, "high-level domain", "subdomain") or "gpqa"
    return {**choice(row["question"].strip(), options, letter), "kind": str(kind)}


def hotpotqa(row: Fields) -> Task:
    """HotPotQA: paragraphs, if the edition has them, and a short answer; a judge decides what no equality does."""
    context = paragraphs(row.get("context"))
    question = f"{context}\n\n{row['question']}" if context else row["question"]
    told = {"kind": str(row.get("type") or "hotpotqa"), "difficulty": str(row.get("level") or "unknown")}
    return {"question": question, "expected_answer": row["answer"], "judge_by": "reference", **told}


def paragraphs(context: Any) -> str:
    """HotPotQA's paragraphs: pairs of a title and sentences, or two columns of them."""
    if isinstance(context, dict):
        context = list(zip(context.get("title") or [], context.get("sentences") or [], strict=False))
    pairs = [pair for pair in context or [] if len(pair) == 2] if isinstance(context, list) else []
    return "\n\n".join(f"{title}\n{''.join(map(str, sentences))}" for title, sentences in pairs)


def simpleqa(row: Fields) -> Task:
    """SimpleQA: a short fact, with its topic in the metadata."""
    found = re.search(r"""['"]topic['"]:\s*['"]([^'"]+)""", str(row.get("metadata") or ""))
    topic = str(row.get("topic") or (found[1] if found else "simpleqa"))
    question = first_of(row, "problem", "question")
    return {"question": question, "expected_answer": row["answer"], "judge_by": "reference", "kind": topic}


def xstest(row: Fields) -> Task:
    """XSTest: safe prompts that are to be answered, and contrasts that are to be refused."""
    label = str(row.get("label") or ("unsafe" if str(row["type"]).startswith("contrast") else "safe"))
    if label not in ("safe", "unsafe"):
        raise NotATask(f"its label is {label!r}, neither safe nor unsafe")
    wanted = "complied" if label == "safe" else "refused"
    return {
        "question": row["prompt"],
        "judge_by": "refusal",
        "expected_answer": wanted,
        "kind": str(row.get("type") or label),
    }
