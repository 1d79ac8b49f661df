"""How the rows of a set become tasks: one function per set, which raises `NotATask` for a row it must leave out."""

import re
import string
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from blade.environments.choice.verifier import lettered
from blade.environments.constraints.checks import CHECKS, missing_arguments
from blade.environments.external.reading import Row, read_rows
from blade.environments.numeric.numbers import read_number, write_number
from blade.errors import InputError, UsageError

Fields = Mapping[str, Any]


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """A row that is no task here."""

    line: int
    """Where it stands in the file, from 1."""
    reason: str
    """Why it was left out."""


class External(msgspec.Struct, frozen=True, kw_only=True):
    """A set, as tasks of an environment."""

    kind: str
    """Which set: gsm8k, humaneval, ifeval or mmlu."""
    environment: str
    """The environment that judges its tasks."""
    tasks: list[dict[str, Any]]
    """The tasks, in the order of the file."""
    left_out: list[LeftOut]
    """Rows that are no tasks, with the reason."""


class NotATask(Exception):
    """A row must be left out; the message is the reason."""


class Set(NamedTuple):
    environment: str
    texts: list[str]
    """Fields every row must have as a text."""
    others: list[str]
    """Fields every row must have in some form."""
    convert: Callable[[Fields], dict[str, Any]]


def external_kinds() -> list[str]:
    """Names of the sets that can be loaded."""
    return sorted(SETS)


def load_external(kind: str, path: Path) -> External:
    """The tasks of a set in a file.

    Raises:
        UsageError: No set is called so.
        InputError: The file cannot be read, or none of its rows is a task of that set.
    """
    if kind not in SETS:
        raise UsageError(f"no set is named '{kind}'; there are {', '.join(external_kinds())}.")
    tasks, left_out = [], []
    for row in read_rows(path):
        try:
            tasks.append(named(kind, row, convert_row(SETS[kind], row)))
        except NotATask as reason:
            left_out.append(LeftOut(line=row.line, reason=f"of {row.source}: {reason}" if row.source else str(reason)))
    if not tasks:
        raise InputError(f"{path}: none of its {len(left_out)} rows is a task of {kind}: {left_out[0].reason}.")
    return External(kind=kind, environment=SETS[kind].environment, tasks=tasks, left_out=left_out)


def convert_row(which: Set, row: Row) -> dict[str, Any]:
    if row.fault is not None:
        raise NotATask(row.fault)
    needs = [*which.texts, *which.others]
    if missing := [field for field in needs if row.fields.get(field) in (None, "")]:
        raise NotATask(f"it has no {', '.join(missing)}")
    if odd := [field for field in which.texts if not isinstance(row.fields[field], str)]:
        raise NotATask(f"its {', '.join(odd)} is no text")
    return which.convert(row.fields)


def named(kind: str, row: Row, task: dict[str, Any]) -> dict[str, Any]:
    """A task with an id that tells its line, in file order when sorted."""
    place = f"{row.source}-{row.line:06d}" if row.source else f"{row.line:06d}"
    return {"task_id": f"{kind}-{place}", **task}


def gsm8k(row: Fields) -> dict[str, Any]:
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


def humaneval(row: Fields) -> dict[str, Any]:
    """HumanEval: a `check(candidate)` judges the completed function."""
    if "def check(" not in row["test"]:
        raise NotATask("its test defines no check(candidate)")
    task = {name: row[name] for name in ("prompt", "entry_point", "test")}
    return {**task, "solution": row["prompt"] + str(row.get("canonical_solution") or ""), "kind": "humaneval"}


def ifeval(row: Fields) -> dict[str, Any]:
    """IFEval: instructions by id; a row with one that no rule of ours checks is left out whole."""
    names, arguments = row["instruction_id_list"], row["kwargs"]
    if not isinstance(names, list) or not isinstance(arguments, list) or len(names) != len(arguments):
        raise NotATask("instruction_id_list and kwargs are not lists of the same length")
    for name, given in zip(names, arguments, strict=True):
        if not isinstance(name, str) or name not in CHECKS:
            raise NotATask(f"no rule checks the instruction {name}")
        if not isinstance(given, dict | None):
            raise NotATask(f"the kwargs of the instruction {name} are no mapping")
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


def mmlu(row: Fields) -> dict[str, Any]:
    """MMLU-style: options in a list or in columns A, B, ...; the answer is a letter or a place from 0."""
    options = row.get("choices") or row.get("options") or lettered_columns(row)
    if not isinstance(options, list) or not 2 <= len(options) <= 26:
        raise NotATask("it has no list of options, nor columns A, B, ...")
    options = [str(option) for option in options]
    letter = letter_of(row["answer"], len(options))
    subject = row.get("subject") or row.get("category") or "mmlu"
    task = {"question": row["question"], "options": options, "choices": lettered(options), "expected_answer": letter}
    return {**task, "kind": str(subject)}


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


SETS: dict[str, Set] = {
    "gsm8k": Set("numeric", ["question", "answer"], [], gsm8k),
    "humaneval": Set("unit_tests", ["prompt", "entry_point", "test"], [], humaneval),
    "ifeval": Set("constraints", ["prompt"], ["instruction_id_list", "kwargs"], ifeval),
    "mmlu": Set("choice", ["question"], ["answer"], mmlu),
}
