"""Bodies of answers: read strictly, and where half a character is all that is wrong with one, once more without it.

Models write bytes that are no UTF-8 and escapes that are half a character; that is their answer and no fault of the
server's. Anything else that cannot be read is no answer.
"""

import json
from collections.abc import Callable
from typing import TypeVar

import msgspec

T = TypeVar("T")

UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)
"""What decoding raises on a body that is none; `UnicodeDecodeError` is a `ValueError`."""


def read_body(read: Callable[[bytes], T], body: bytes) -> T:
    """What a reader makes of a body.

    Raises:
        ValueError: nothing can be made of it.
    """
    try:
        return read(body)
    except UNREADABLE as error:
        try:
            return read(mended(body))
        except UNREADABLE:
            raise ValueError(str(error) or "it nests too deeply") from None


def mended(body: bytes) -> bytes:
    """A body with what is half a character replaced."""
    value = json.loads(body.decode("utf-8", "replace"))
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
