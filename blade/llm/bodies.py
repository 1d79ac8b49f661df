"""Bodies of answers: read strictly, and where half a character is all that is wrong with one, once more without it.

Models write bytes that are not UTF-8 and escapes that are half a character; that is their answer and no fault of the
server's. Anything else that cannot be read is not an answer. Nor is one that is too large, packed or unpacked: it is
given up while it arrives, so that memory and the time limit hold whatever a server sends.
"""

import json
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)
"""What decoding raises on a body that is none; `UnicodeDecodeError` is a `ValueError`."""


LARGEST = 64 * 2**20
"""Bytes of an unpacked body; the longest answers of today's models, with every log probability, take a tenth."""
STEP = 2**20
PACKED = {"gzip": 31, "x-gzip": 31, "deflate": 15}
"""Encodings that can be unpacked a bounded piece at a time, with zlib's word for them; no others are asked for."""


class BadBody(Exception):
    """A body that is given up; the argument says why."""


def taken(body: bytes, source: Any) -> Any:
    """A stream of a body that has arrived in full, in place of the one it came from.

    The client takes streams of its own class only, and which package that is from depends on the SDK's version.
    """
    base = next(kind for kind in type(source).__mro__ if kind.__name__ == "AsyncByteStream")

    async def pieces(_: Any) -> AsyncIterator[bytes]:
        yield body

    async def close(_: Any) -> None:
        await source.aclose()

    return type("Taken", (base,), {"__aiter__": pieces, "aclose": close})()


async def bound(response: Any) -> None:
    """Takes in the body of a response, bounded.

    Raises:
        BadBody: it is larger than an answer can be, or packed in a way that could be.
    """
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "", *PACKED):
        raise BadBody(f"it is packed as {encoding[:40]!r}, which was not asked for")
    unpack = zlib.decompressobj(PACKED[encoding]) if encoding in PACKED else None
    body: list[bytes] = []
    size = 0
    source = response.stream
    async for piece in source:
        for part in unpacked(unpack, piece) if unpack else (piece,):
            body.append(part)
            size += len(part)
            if size > LARGEST:
                raise BadBody(f"it is larger than {LARGEST // 2**20} MiB")
    for name in ("content-encoding", "content-length"):
        response.headers.pop(name, None)
    response.stream = taken(b"".join(body), source)


def unpacked(unpack: Any, piece: bytes) -> Iterator[bytes]:
    """A piece of a body in parts of bounded size, whatever is packed into it."""
    while piece:
        try:
            yield unpack.decompress(piece, STEP)
        except zlib.error:
            raise BadBody("it cannot be unpacked") from None
        piece = unpack.unconsumed_tail


async def ask_for_known(request: Any) -> None:
    request.headers["accept-encoding"] = "gzip, deflate"


BOUNDED: dict[str, list[Callable[..., Any]]] = {"request": [ask_for_known], "response": [bound]}
"""Hooks for the HTTP clients of both SDKs."""


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
