"""Sets that are answered in calls, JSON or queries, and what of them stands in files beside the questions."""

import json
import re
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from blade.environments.external.row_files import KEYS_BESIDE, NotATask, Row, decoded, file_rows, first_of
from blade.errors import InputError

Fields = Mapping[str, Any]
Task = dict[str, Any]

TYPES = {"dict": "object", "float": "number", "tuple": "array", "list": "array", "int": "integer", "str": "string"}
OTHER_LANGUAGES = ("java", "javascript")
DIALOGUES = ("multi_turn", "memory", "web_search", "format_sensitivity")
MOST_SCHEMA = 20_000


def with_keys(path: Path, rows: list[Row]) -> list[Row]:
    """BFCL keeps its answers by id in a folder beside the questions."""
    folder = path if path.is_dir() else path.parent
    keys: dict[Any, Any] = {}
    for file in sorted((folder / KEYS_BESIDE).glob("*.json*")):
        if path.is_dir() or file.name == path.name:
            keys |= {row.fields.get("id"): row.fields.get("ground_truth") for row in file_rows(file)}
    return [row._replace(fields={"ground_truth": keys.get(row.fields.get("id")), **row.fields}) for row in rows]


def bfcl(row: Fields) -> Task:
    """BFCL: one turn of Python calls, of no call at all, or of any; dialogues and other languages are left out."""
    name = str(row["id"])
    kind = re.sub(r"_\d+(?:-\d+)*$", "", name)
    if any(word in kind for word in DIALOGUES):
        raise NotATask("it is a dialogue, or needs a backend")
    if any(word in kind.split("_") for word in OTHER_LANGUAGES):
        raise NotATask("its arguments are written in another language than Python")
    functions = [function_of(function) for function in list_of(decoded(row["function"], "function"), "function")]
    turns = list_of(decoded(row["question"], "question"), "question")
    turns = turns if turns and isinstance(turns[0], list) else [turns]
    if len(turns) != 1 or not all(isinstance(said, dict) and {"role", "content"} <= said.keys() for said in turns[0]):
        raise NotATask("its question is not one turn of messages")
    asked = [{"type": "message", "role": said["role"], "content": str(said["content"])} for said in turns[0]]
    expects_none = "irrelevance" in kind
    any_call = "relevance" in kind and not expects_none
    truth = decoded(row.get("ground_truth"), "ground_truth")
    if not truth and not (expects_none or any_call):
        raise NotATask(f"it has no ground_truth; BFCL keeps it in {KEYS_BESIDE}/ beside the questions")
    return {
        "responses_create_params": {"input": asked},
        "functions": functions,
        "expected_calls": [] if expects_none or any_call else [call_of(one) for one in list_of(truth, "ground_truth")],
        "any_call": any_call,
        "kind": kind,
    }


def list_of(value: Any, name: str) -> list[Any]:
    if isinstance(value, dict):
        return [value]
    if not isinstance(value, list):
        raise NotATask(f"its {name} is not a list")
    return value


def call_of(truth: Any) -> dict[str, Any]:
    """An expected call; its accepted values by argument."""
    if not isinstance(truth, dict) or len(truth) != 1:
        raise NotATask("its ground_truth does not name one function per call")
    [(name, arguments)] = truth.items()
    if not isinstance(arguments, dict):
        raise NotATask("its ground_truth has no accepted values by argument")
    if impossible := [argument for argument, values in arguments.items() if values == []]:
        raise NotATask(f"its ground_truth accepts no value for {impossible[0]}")
    return {"name": plain_name(name), "arguments": arguments}


def function_of(function: Any) -> dict[str, Any]:
    """A function's schema as servers take it."""
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise NotATask("one of its functions has no name")
    parameters = schema_of(function.get("parameters") or {"type": "object", "properties": {}})
    return {
        "name": plain_name(function["name"]),
        "description": str(function.get("description") or ""),
        "parameters": parameters,
    }


def plain_name(name: str) -> str:
    """A name without the dots and other signs that servers refuse."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64]


def schema_of(value: Any, *, named: bool = False) -> Any:
    """A schema in the words of JSON Schema; `any` is no type. What is only named like a keyword stays as it is."""
    if isinstance(value, list):
        return [schema_of(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    found = {key: schema_of(inner, named=key == "properties" and not named) for key, inner in value.items()}
    if not named and isinstance(found.get("type"), str):
        kind = TYPES.get(found["type"].lower(), found["type"])
        found = {**found, "type": kind} if kind != "any" else {key: found[key] for key in found if key != "type"}
    return found


def json_schema(row: Fields) -> Task:
    """Sets of JSON schemas: with an answer, whose facts count too, or with the schema alone."""
    schema = decoded(first_of(row, "json_schema", "schema"), "schema")
    if not isinstance(schema, dict):
        raise NotATask("its schema is not an object")
    asked = decoded_or_text(row.get("prompt"))
    messages = asked if isinstance(asked, list) else []
    text = "\n\n".join(str(said.get("content")) for said in messages if isinstance(said, dict)) or str(asked or "")
    question = text or "Write JSON that the schema allows, with something in it."
    answer = first_of(row, "completion", "answer", "expected") or valid_example(row.get("tests"))
    task = {"question": question, "schema": schema, "schema_text": json.dumps(schema, ensure_ascii=False)}
    expected = None if answer is None else decoded(answer, "answer")
    return {
        **task,
        "expected": expected if row.get("tests") is None else None,
        "example": expected,
        "kind": "json_schema",
    }


def decoded_or_text(value: Any) -> Any:
    try:
        return decoded(value, "prompt")
    except NotATask:
        return value


def valid_example(tests: Any) -> Any:
    """An instance that a set says is valid."""
    rows = tests if isinstance(tests, list) else []
    return next(
        (test["data"] for test in rows if isinstance(test, dict) and test.get("valid") and "data" in test), None
    )


def with_databases(path: Path, rows: list[Row]) -> list[Row]:
    """Text-to-SQL sets keep a SQLite file per database, somewhere beside the questions."""
    folder = path if path.is_dir() else path.parent
    files = {file.stem: file for ending in ("sqlite", "db") for file in sorted(folder.rglob(f"*.{ending}"))}
    if not files:
        raise InputError(f"{folder}: holds no SQLite database (.sqlite, .db); put them beside the questions.")
    schemas: dict[str, str] = {}
    made = []
    for row in rows:
        name = str(row.fields.get("db_id"))
        if name in files and name not in schemas:
            schemas[name] = schema_text(files[name])
        found = {"database": str(files[name].resolve()), "schema": schemas[name]} if name in files else {}
        made.append(row._replace(fields={**row.fields, **found}))
    return made


def schema_text(database: Path) -> str:
    """The statements that made a database's tables."""
    try:
        connection = sqlite3.connect(f"file:{quote(str(database.resolve()))}?mode=ro&immutable=1", uri=True)
        try:
            rows = connection.execute("SELECT sql FROM sqlite_master WHERE type IN ('table', 'view') AND sql NOT NULL")
            return ";\n".join(str(sql) for (sql,) in rows)[:MOST_SCHEMA]
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise InputError(f"{database}: cannot be read as SQLite: {error}.") from error


def text_to_sql(row: Fields) -> Task:
    """Spider and BIRD: a question over a database; BIRD adds evidence, and compares results as sets."""
    if "database" not in row:
        raise NotATask(f"no database is named {row['db_id']}")
    is_bird = "evidence" in row or "sql" in row
    evidence = str(row.get("evidence") or "").strip()
    return {
        "question": row["question"] + (f"\nNote: {evidence}" if evidence else ""),
        "schema": row["schema"],
        "database": row["database"],
        "query": str(first_of(row, "query", "sql")),
        "compare": "set" if is_bird else "bag",
        "kind": str(row["db_id"]),
        **({"difficulty": str(row["difficulty"])} if row.get("difficulty") else {}),
    }
