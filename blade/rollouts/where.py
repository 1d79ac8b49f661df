"""`--where`: which rows count, as a small expression over their fields.

Comparisons with `and`, `or`, `not`, `in` and brackets, in Python's notation: `system == "x" and run != "y"`. A field is
a name, with dots reaching into objects; `field("odd name")` names any other. A row without the field satisfies `!=`
and `not in` and nothing else. The expression is taken apart, never run.
"""

import ast
import json
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from blade.errors import UsageError
from blade.rollouts.columns import Column
from blade.rollouts.identity import require_field
from blade.rollouts.rows import MODEL_FIELDS, Rows

Mask = npt.NDArray[np.bool_]
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip
HOLDS_FOR_UNKNOWN = (ast.NotEq, ast.NotIn)
CONSTANTS = {"true": True, "false": False, "null": None, "none": None}
FORM = 'a comparison such as \'system == "x" and difficulty != "hard"\''


def parse_where(text: str) -> ast.expr:
    """The expression, taken apart.

    Raises:
        UsageError: it is not an expression of this form.
    """
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UsageError(f"--where {text!r} is malformed: expected {FORM}.") from error


def fields_of(text: str) -> tuple[str, ...]:
    """The fields an expression names."""
    found: dict[str, None] = {}
    inside: set[ast.AST] = set()
    for node in ast.walk(parse_where(text)):
        name = None if node in inside else field_name(node)
        if name is not None and name.lower() not in CONSTANTS:
            found.setdefault(name)
            inside.update(ast.walk(node))
    return tuple(found)


def field_name(node: ast.AST) -> str | None:
    """The field a part of an expression names; `None` for other parts."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = field_name(node.value)
        return None if before is None else f"{before}.{node.attr}"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "field":
        given = node.args[0] if len(node.args) == 1 else None
        return given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else None
    return None


def chosen_rows(text: str, rows: Rows, files: Sequence[str]) -> Mask:
    """Per row: whether it satisfies the expression; `file` is the name of a row's file.

    Raises:
        UsageError: the expression is malformed or names a field no row has.
    """

    def column(name: str) -> Column:
        if name == "file" and name not in rows.columns:
            return Column(kind="text", values=rows.file.astype(np.int32), levels=list(files))
        if name == "model" and name not in rows.columns:
            name = next((path for path in MODEL_FIELDS if path in rows.columns), name)
        require_field(rows, name)
        return rows.columns[name]

    def holds(node: ast.expr) -> Mask:
        if isinstance(node, ast.BoolOp):
            parts = [holds(value) for value in node.values]
            combine = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
            return np.asarray(combine.reduce(parts))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ~holds(node.operand)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return compared(node.left, node.ops[0], node.comparators[0])
        if (name := field_name(node)) is not None:  # a flag stands for itself
            return by_level(column(name), bool, unknown=False)
        raise UsageError(f"--where {text!r}: {ast.unparse(node)!r} is not allowed; expected {FORM}.")

    def compared(left: ast.expr, op: ast.cmpop, right: ast.expr) -> Mask:
        name, given = field_name(left), constant(right)
        if name is None or name.lower() in CONSTANTS:
            raise UsageError(f"--where {text!r}: expected a field before {ast.unparse(right)!r}.")
        if type(op) in (ast.Is, ast.IsNot):
            op = ast.Eq() if isinstance(op, ast.Is) else ast.NotEq()
        if given is None and isinstance(op, ast.Eq | ast.NotEq):
            known = column(name).known()
            return known if isinstance(op, ast.NotEq) else ~known
        compare = COMPARE[type(op)]

        def test(level: Any) -> bool:
            try:
                return bool(compare(level, given))
            except TypeError:  # a word is neither more nor less than a number
                return False

        return by_level(column(name), test, unknown=isinstance(op, HOLDS_FOR_UNKNOWN))

    def constant(node: ast.expr) -> Any:
        if isinstance(node, ast.Name) and node.id.lower() in CONSTANTS:
            return CONSTANTS[node.id.lower()]
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
            raise UsageError(
                f"--where {text!r}: {ast.unparse(node)!r} is not a value; write texts in quotes."
            ) from error

    return holds(parse_where(text))


def by_level(column: Column, test: Callable[[Any], bool], *, unknown: bool) -> Mask:
    """Per row: whether its value passes; each distinct value is tested once."""
    coded = column.coded()
    table = np.asarray([*(test(level) for level in coded.levels), unknown], dtype=np.bool_)
    return np.asarray(table[coded.values])


def where_name(name: str) -> str:
    """A field as `--where` writes it."""
    return name if all(part.isidentifier() for part in name.split(".")) else f"field({json.dumps(name)})"


def literal(level: object) -> str:
    return json.dumps(level, ensure_ascii=False) if isinstance(level, str) else str(level)
