"""Inspect logs to read: those made by inspect-ai, and others put together from their members."""

import json
import struct
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from blade.rollouts.formats import inspect
from blade.rollouts.formats.reader import Found, Note
from blade.rollouts.formats.zips import open_archive, unpack
from blade.rollouts.values import BadLine, Rollout

LOGS = Path(__file__).parents[2] / "data/formats/inspect"
EVERY_WAY = LOGS / "every_way.eval"
AGENTS = LOGS / "agents.eval"


def members(path: Path) -> dict[str, bytes]:
    """What is in an archive."""
    archive = open_archive(path)
    with path.open("rb") as file:
        return {name: unpack(file, member) for name, member in archive.members.items()}


def write_archive(path: Path, files: Iterable[tuple[str, bytes]]) -> Path:
    """An archive with deflated members, by hand: some tests want names twice, and no end."""
    body, directory = b"", b""
    for name, data in files:
        packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
        packed = packer.compress(data) + packer.flush()
        rest = struct.pack("<4H3L2H", 0, 8, 0, 0, zlib.crc32(data), len(packed), len(data), len(name.encode()), 0)
        directory += b"PK\x01\x02" + struct.pack("<2H", 20, 20) + rest + struct.pack("<3H2L", 0, 0, 0, 0, len(body))
        directory += name.encode()
        body += b"PK\x03\x04" + struct.pack("<H", 20) + rest + name.encode() + packed
    count = directory.count(b"PK\x01\x02")
    end = b"PK\x05\x06" + struct.pack("<4H2LH", 0, 0, count, count, len(directory), len(body), 0)
    path.write_bytes(body + directory + end)
    return path


def as_object(path: Path, target: Path) -> Path:
    """The same log as Inspect writes it in JSON: the header with its samples in it."""
    files = members(path)
    samples = [data for name, data in files.items() if name.startswith("samples/")]
    header = files["header.json"].rstrip()
    assert header.endswith(b"}")
    target.write_bytes(header[:-1] + b', "samples": [' + b", ".join(samples) + b"]}")
    return target


def log_with(folder: Path, *samples: dict[str, Any], **header: Any) -> Path:
    """A small log of these samples, as an object."""
    log = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m", "dataset": {}, "config": {}}}
    whole = [{"id": 1, "epoch": 1, "input": "q", "target": "a", "messages": [], **sample} for sample in samples]
    path = folder / "log.json"
    path.write_text(json.dumps({**log, **header, "samples": whole}))
    return path


def read(path: Path) -> list[Found]:
    return list(inspect.READER.read(path, None))


def rollouts(path: Path) -> dict[str, Rollout]:
    return {found.task: found for found in read(path) if isinstance(found, Rollout)}


def notes(path: Path) -> list[str]:
    return [found.text for found in read(path) if isinstance(found, Note)]


def bad_lines(path: Path) -> list[str]:
    return [found.reason for found in read(path) if isinstance(found, BadLine)]
