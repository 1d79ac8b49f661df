"""The compiled half of the reader, where it was built and the processor can run it.

Nothing depends on it but speed: what it reads, the Python half reads as well, with the same result.
`BLADE_NATIVE=0` leaves it out.
"""

import ctypes
import functools
import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from blade.rollouts.native.source import source_version

LIBRARY = Path(__file__).with_name("libblade.so")

SPAN = np.dtype([("start", "u4"), ("length", "u4")])
FIELD = np.dtype([
    ("key", "u4"), ("key_length", "u4"), ("action", "i4"), ("slot", "i4"), ("node", "i4"), ("limit", "u4"),
    ("whole", "u4"),
])  # fmt: skip
NODE = np.dtype([("first", "i4"), ("count", "i4")])
ITEM = np.dtype([
    ("row", "u4"), ("kind", "u4"), ("payload", SPAN), ("name", SPAN), ("type", SPAN), ("call_id", SPAN),
    ("digest", "u8"),
])  # fmt: skip
LEVEL = np.dtype([("slot", "u4"), ("text", SPAN), ("at", "u4")])
"""The C structures of the same names."""

ALL_READ, REFUSED, NO_ROOM = range(3)
"""How reading ended."""


ADDRESS, COUNT, SIZE = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64


class Job(ctypes.Structure):
    """What the library is asked, and where it puts the answer: the C structure of the same name."""

    data: int
    size: int
    offset: int
    line: int
    rows: int
    items_count: int
    levels_count: int
    texts_size: int
    refused_count: int
    lines: int
    _fields_ = (
        ("data", ADDRESS), ("size", SIZE), ("offset", SIZE), ("line", SIZE), ("seed", SIZE), ("fields", ADDRESS),
        ("nodes", ADDRESS), ("keys", ADDRESS), ("numbers", ADDRESS), ("codes", ADDRESS), ("tags", ADDRESS),
        ("places", ADDRESS), ("prompt_steps", ADDRESS), ("seen", ADDRESS), ("items", ADDRESS), ("levels", ADDRESS),
        ("texts", ADDRESS), ("levels_hash", ADDRESS), ("refused", ADDRESS), ("rows_room", COUNT), ("items_room", COUNT),
        ("levels_room", COUNT), ("texts_room", COUNT), ("levels_hash_room", COUNT), ("refused_room", COUNT),
        ("rows", COUNT), ("items_count", COUNT), ("levels_count", COUNT), ("texts_size", COUNT),
        ("refused_count", COUNT), ("tries", COUNT), ("lines", COUNT),
    )  # fmt: skip


@functools.cache
def library() -> ctypes.CDLL | None:
    """The library, or `None` where there is none that can be used."""
    if os.environ.get("BLADE_NATIVE") == "0" or not LIBRARY.exists():
        return None
    try:
        found = ctypes.CDLL(str(LIBRARY))
        version = found.blade_version()
    except (OSError, AttributeError):
        return None
    if version != source_version(LIBRARY.parent):  # an older one, or a processor without what it needs
        return None
    found.blade_read_rows.argtypes = [ctypes.POINTER(Job), COUNT]
    found.blade_gather.argtypes = [ADDRESS, ADDRESS, ADDRESS, SIZE, ctypes.c_uint8, ADDRESS]
    found.blade_gather.restype = None
    return found


def address(array: npt.NDArray[np.generic]) -> int:
    """Where the values of an array are."""
    return array.ctypes.data


def gathered(
    data: bytes | bytearray, starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64], separator: bytes
) -> npt.NDArray[np.uint8] | None:
    """Pieces of a buffer end to end, with a separator behind each; `None` without the library."""
    found = library()
    if found is None or not len(data):
        return None
    out = np.empty(int(lengths.sum()) + len(lengths), dtype=np.uint8)
    source = np.frombuffer(data, dtype=np.uint8)
    starts, lengths = np.ascontiguousarray(starts), np.ascontiguousarray(lengths)
    found.blade_gather(address(source), address(starts), address(lengths), len(starts), separator[0], address(out))
    return out
