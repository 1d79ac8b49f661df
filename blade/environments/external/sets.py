"""Which sets there are, and how their rows become tasks: a row that must be left out raises `NotATask`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from blade.environments.answering import final_text
from blade.environments.environment import load_environment
from blade.environments.external import code, questions, tools
from blade.environments.external.row_files import NotATask, Row, read_rows
from blade.errors import InputError, UsageError

Fields = Mapping[str, Any]
MOST_NAMES = 10


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """A row that is not a task here."""

    line: int
    """Where it stands in the file, from 1."""
    reason: str
    """Why it was left out."""


class External(msgspec.Struct, frozen=True, kw_only=True):
    """A set, as tasks of an environment."""

    kind: str
    """Which set, e.g. gsm8k."""
    environment: str
    """The environment that judges its tasks."""
    tasks: list[dict[str, Any]]
    """The tasks, in the order of the file."""
    left_out: list[LeftOut]
    """Rows that are no tasks, with the reason."""


class Set(NamedTuple):
    environment: str
    texts: list[str]
    """Fields every row must have as a text; `a|b` is either."""
    others: list[str]
    """Fields every row must have in some form."""
    convert: Callable[[Fields], dict[str, Any]]
    complete: Callable[[Path, list[Row]], list[Row]] | None = None
    """Adds to the rows what stands in files beside them."""


SETS: dict[str, Set] = {
    "aime": Set("mathematics", ["problem|question"], ["answer"], questions.math),
    "bfcl": Set("function_calls", [], ["id", "question", "function"], tools.bfcl, tools.with_keys),
    "gpqa": Set("choice", ["question", "correct answer"], [], questions.gpqa),
    "gsm8k": Set("numeric", ["question", "answer"], [], questions.gsm8k),
    "hotpotqa": Set("judged", ["question", "answer"], [], questions.hotpotqa),
    "humaneval": Set("unit_tests", ["prompt", "entry_point", "test"], [], code.humaneval),
    "ifbench": Set("constraints", ["prompt"], ["instruction_id_list", "kwargs"], questions.ifeval),
    "ifeval": Set("constraints", ["prompt"], ["instruction_id_list", "kwargs"], questions.ifeval),
    "json_schema": Set("json_facts", [], ["json_schema|schema"], tools.json_schema),
    "math": Set("mathematics", ["problem|question"], ["answer|solution"], questions.math),
    "mbpp": Set("unit_tests", ["text|prompt"], ["code", "test_list"], code.mbpp),
    "mmlu": Set("choice", ["question"], ["answer"], questions.mmlu),
    "mmlu_pro": Set("choice", ["question"], ["answer", "options"], questions.mmlu),
    "simpleqa": Set("judged", ["problem|question", "answer"], [], questions.simpleqa),
    "text_to_sql": Set("sql", ["question", "db_id", "query|sql"], [], tools.text_to_sql, tools.with_databases),
    "xstest": Set("judged", ["prompt"], ["type|label"], questions.xstest),
}


def external_kinds() -> list[str]:
    """Names of the sets that can be loaded."""
    return sorted(SETS)


def load_external(kind: str, path: Path, *, split: str | None = None) -> External:
    """The tasks of a set in a file or folder.

    Raises:
        UsageError: No set is called so.
        InputError: It cannot be read, or none of its rows is a task of that set.
    """
    if kind not in SETS:
        raise UsageError(f"no set is named '{kind}'; there are {', '.join(external_kinds())}.")
    rows = read_rows(path, split=split)
    complete = SETS[kind].complete
    tasks, left_out = [], []
    for row in complete(path, rows) if complete else rows:
        try:
            tasks.append(named(kind, row, convert_row(SETS[kind], row)))
        except NotATask as reason:
            left_out.append(LeftOut(line=row.line, reason=f"of {row.source}: {reason}" if row.source else str(reason)))
    if not tasks:
        raise InputError(
            f"{path}: no row is a task of {kind}; line {left_out[0].line}: {left_out[0].reason.rstrip('.')}."
        )
    return External(kind=kind, environment=SETS[kind].environment, tasks=tasks, left_out=left_out)


def convert_row(which: Set, row: Row) -> dict[str, Any]:
    if row.fault is not None:
        raise NotATask(row.fault)
    fields = {**row.fields, **{str(name).lower(): value for name, value in row.fields.items() if len(str(name)) > 1}}
    for need in [*which.texts, *which.others]:
        there = [name for name in need.split("|") if fields.get(name) not in (None, "")]
        if not there:
            raise NotATask(f"it has no {need.replace('|', ' or ')}; its fields are {shown_names(row.fields)}")
        if need in which.texts and not isinstance(fields[there[0]], str):
            raise NotATask(f"its {there[0]} is not a text")
    return which.convert(fields)


def shown_names(fields: Fields) -> str:
    names = [str(name)[:40] for name in fields]
    return ", ".join(names[:MOST_NAMES]) + (", …" if len(names) > MOST_NAMES else "") or "none"


def named(kind: str, row: Row, task: dict[str, Any]) -> dict[str, Any]:
    """A task with an id that tells its line, in file order when sorted."""
    place = f"{row.source}-{row.line:06d}" if row.source else f"{row.line:06d}"
    return {"task_id": f"{kind}-{place}", **task}


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What the tasks of a set do with their own answers."""

    tasks: int
    """Tasks that were tried."""
    gold_passes: int
    """Tasks whose right answer gets full marks."""
    without_gold: int
    """Tasks that come without a right answer, so that only the empty one could be tried."""
    problems: list[str]
    """Tasks whose right answer fails, or whose empty answer passes."""


def check_external(external: External) -> Checked:
    """Judges the right answer and an empty one for every task."""
    environment = load_environment(external.environment)
    problems: list[str] = []
    passes = without = 0
    for task in external.tasks:
        gold = environment.gold(task)
        if environment.verify(task, []).reward >= 1.0:
            problems.append(f"{task['task_id']}: an empty answer passes")
        if not final_text(gold) and all(item.get("type") != "function_call" for item in gold):
            without += 1
        else:
            found = environment.verify(task, gold)
            passes += found.reward >= 1.0
            if found.reward < 1.0:
                told = {name: value for name, value in found.fields.items() if value and "error" in name}
                problems.append(f"{task['task_id']}: its right answer fails" + (f" ({told})" if told else ""))
    return Checked(tasks=len(external.tasks), gold_passes=passes, without_gold=without, problems=problems)
