"""The slow way to read one row: decode it whole, mend what can be mended, name what cannot.

Rows reach it only when the fast decoder refused them, so that a bad line costs no more than itself. Nothing a
row contains may raise anything but `BadRow`.
"""

import json
from typing import Any, NamedTuple

import msgspec

from blade.rollouts.fields import OWN, Leaf, Tree
from blade.rollouts.layout import Layout
from blade.rollouts.lines import OVERLONG, longest_line

ITEM_TEXTS = ("type", "role", "name", "call_id", "tool_call_id")
SHOWN = 40
BEYOND_JSON = (b"NaN", b"Infinity", b"\\u")
"""What Python writes into JSON although strict decoders refuse it."""


class BadRow(Exception):
    """The row cannot be used; the message says what was seen and what was expected."""


class Reason(NamedTuple):
    """Why a row is bad. An exception that is kept would keep the row, and all that was made of it, as well."""

    text: str


def quick_row(data: bytes, layout: Layout) -> Any:
    """The row as the layout's Struct, or `None` when the layout refuses it."""
    try:
        if not data.isascii():
            check_utf8(data)
        return layout.decoder.decode(data)
    except (BadRow, msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None


def check_utf8(data: bytes) -> None:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRow(f"invalid UTF-8 at byte {error.start} of the row") from error


def mended_row(record: Any, layout: Layout) -> Any:
    """A row that was decoded whole as the layout's Struct, or the reason why it cannot be."""
    if not isinstance(record, dict):
        return Reason(f"is {article(record)}, expected an object")
    try:
        return layout.decoder.decode(msgspec.json.encode(conform(record, layout.tree, path="")))
    except BadRow as bad:
        return Reason(str(bad))
    except (msgspec.MsgspecError, RecursionError, ValueError, OverflowError) as error:
        return Reason(f"does not fit the fields of its file: {error}")


def decode_any(data: bytes) -> Any:
    """Any JSON value, and what Python writes although JSON lacks it: NaN and Infinity are unknown numbers, lone
    surrogates become replacement characters."""
    if not data.isascii():
        check_utf8(data)
    try:
        return msgspec.json.decode(data)
    except RecursionError as error:
        raise BadRow("is nested too deeply to read") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        if any(mark in data for mark in BEYOND_JSON):
            return decode_python(data)
        raise BadRow(reason_for(data, error)) from error


def decode_python(data: bytes) -> Any:
    try:
        text = json.dumps(json.loads(data, parse_constant=lambda _: None), ensure_ascii=False)
        return msgspec.json.decode(text.encode("utf-8", "replace"))
    except RecursionError as error:
        raise BadRow("is nested too deeply to read") from error
    except (ValueError, msgspec.MsgspecError) as error:
        raise BadRow(reason_for(data, error)) from error


def reason_for(data: bytes, error: Exception) -> str:
    """Why some bytes are not JSON, in a user's words."""
    text = data.strip()
    if text == OVERLONG.strip():
        return f"is longer than {longest_line() >> 20} MiB; BLADE_MAX_LINE_MB allows more"
    if not text.strip(b", "):
        return "is cut short: the file ends before its JSON does"
    if not text.startswith((b"{", b"[", b'"')):
        if b"placeholder" in text[:200].lower():
            return f"placeholder text {bytes_excerpt(text)}, expected a JSON object"
        return f"is not JSON: begins with {bytes_excerpt(text)}, expected an object"
    if "out of range" in str(error):
        return "holds a number too large to read"
    if "truncated" in str(error):
        return "is truncated: the JSON ends before its object does"
    return f"is not JSON: {str(error).removeprefix('JSON is malformed: ')}"


def bytes_excerpt(text: bytes) -> str:
    return repr(text[:SHOWN].decode("utf-8", "replace"))


def article(value: Any) -> str:
    """What a decoded value is, with its article."""
    if value is None:
        return "null"
    names = {bool: "a true/false", int: "a number", float: "a number", str: "a text", list: "a list"}
    return names.get(type(value), "an object")


def conform(record: dict[str, Any], tree: Tree, *, path: str) -> dict[str, Any]:
    """The record cut down to what the tree reads, each value in the shape its leaf needs."""
    out: dict[str, Any] = {}
    for key, node in tree.items():
        value = record.get(key)
        if value is not None:
            where = f"{path}{key}"
            out[key] = branch(value, node, path=where) if isinstance(node, dict) else leaf(value, node, path=where)
    return out


def branch(value: Any, tree: Tree, *, path: str) -> Any:
    if isinstance(value, dict):
        return conform(value, tree, path=f"{path}.")
    if OWN in tree and is_scalar(value):
        return value
    if path in ("response", "responses_create_params"):
        raise BadRow(f"{path} is {article(value)}, expected an object")
    return None


def leaf(value: Any, kind: Leaf, *, path: str) -> Any:
    if kind is Leaf.ITEMS:
        return value if isinstance(value, str) else mended_items(value, path=path)
    if kind is Leaf.LIST:
        return [v for v in value if is_scalar(v)] if isinstance(value, list) else None
    if kind in (Leaf.NULL, Leaf.SKIP, Leaf.LONG):
        return None
    if kind in (Leaf.TEXT, Leaf.ANY, Leaf.PRESENT) or is_scalar(value):
        return value
    if path == "reward":
        return msgspec.json.encode(value).decode()[:SHOWN]  # a score that is not a number, as a text would be
    if path.startswith("_ng_"):
        raise BadRow(f"{path} is {article(value)}, expected a number")
    return None


def is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def is_beginning(turn: list[Any], following: list[Any]) -> bool:
    """Whether the turn after this one begins with all of it."""
    return bool(turn) and bool(following) and isinstance(following[0], list) and following[0][: len(turn)] == turn


def is_text_or_nothing(value: Any) -> bool:
    return value is None or isinstance(value, str)


def with_texts(item: dict[str, Any]) -> dict[str, Any]:
    """The item with names that are texts."""
    return {key: str(v) if key in ITEM_TEXTS and v is not None else v for key, v in item.items()}


def mended_items(value: Any, *, path: str) -> list[dict[str, Any]]:
    """Items in one flat list (some agents nest them by turn), with names that are texts."""
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        raise BadRow(f"{path} is {article(value)}, expected a list of items")
    out: list[dict[str, Any]] = []
    for index, item in enumerate(value):
        if isinstance(item, list) and is_beginning(item, value[index + 1 : index + 2]):
            continue  # the next turn tells all of this one again
        if isinstance(item, list):
            out.extend(mended_items(item, path=f"{path}[{index}]"))
        elif isinstance(item, dict):
            out.append(item if all(map(is_text_or_nothing, map(item.get, ITEM_TEXTS))) else with_texts(item))
        elif isinstance(item, str):
            out.append({"role": "assistant", "content": item})
        else:
            raise BadRow(f"{path}[{index}] is {article(item)}, expected an item")
    return out
