"""Members of a zip archive, one at a time, whatever they are packed with.

The standard library does not unpack Zstandard members before Python 3.14, and gives up on an archive whose end is
missing. A writer that was stopped leaves exactly that, so members are then found by walking from the first header.
"""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec
import zstandard

from blade.errors import InputError
from blade.rollouts.lines import longest_line

MAGIC = b"PK\x03\x04"
HEADER = struct.Struct("<4s5H3L2H")
STORED, DEFLATED, ZSTANDARD = 0, 8, 93
ZSTANDARD_MAGIC = b"\x28\xb5\x2f\xfd"
SIZES_FOLLOW = 0x08
LARGE = 0xFFFFFFFF
STEP = {DEFLATED: 1 << 16, ZSTANDARD: 1 << 10}
"""Packed bytes taken at a time: what they unpack to at worst fits into memory, whatever the archive claims."""
UNREADABLE = (zipfile.BadZipFile, OSError, struct.error, NotImplementedError, ValueError)


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One file in an archive."""

    name: str
    """Its path in the archive."""
    offset: int
    """Where its header begins; different for every member."""
    method: int
    """How it is packed."""
    packed: int | None
    """Bytes it takes in the archive; `None` when only unpacking can tell."""
    size: int
    """Bytes it has when unpacked; 0 when only unpacking can tell."""
    checksum: int | None
    """CRC-32 of its bytes; `None` when unknown."""


class Damaged(Exception):
    """A member that cannot be unpacked."""


class Archive(msgspec.Struct, frozen=True, kw_only=True):
    """What an archive holds."""

    path: Path
    """Where it is."""
    members: dict[str, Member]
    """Its members by name, in the order they were written; of two with one name the later counts."""
    complete: bool
    """Whether it ends as an archive should."""


def open_archive(path: Path) -> Archive:
    """The members of an archive; those before the cut when it has no end.

    Raises:
        InputError: it cannot be read at all.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            found = [
                Member(
                    name=info.filename, offset=info.header_offset, method=info.compress_type,
                    packed=info.compress_size, size=info.file_size, checksum=info.CRC,
                )
                for info in archive.infolist()
            ]  # fmt: skip
        return Archive(path=path, members=by_name(found), complete=True)
    except UNREADABLE:
        pass
    try:
        with path.open("rb") as file:
            return Archive(path=path, members=by_name(list(walk(file))), complete=False)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}.") from error


def by_name(members: list[Member]) -> dict[str, Member]:
    found: dict[str, Member] = {}
    for member in sorted(members, key=lambda member: member.offset):
        found.pop(member.name, None)
        found[member.name] = member
    return found


def walk(file: BinaryIO) -> Iterator[Member]:
    """Members found from header to header, until something else comes."""
    offset = 0
    while True:
        file.seek(offset)
        raw = file.read(HEADER.size)
        if len(raw) < HEADER.size or raw[:4] != MAGIC:
            return
        _, _, flags, method, _, _, checksum, packed, size, name_size, extra_size = HEADER.unpack(raw)
        name = file.read(name_size).decode("utf-8", "replace")
        packed, size = large_sizes(file.read(extra_size), packed, size)
        member = Member(
            name=name, offset=offset, method=method, packed=packed, size=size, checksum=checksum
        )  # fmt: skip
        if flags & SIZES_FOLLOW:
            member = msgspec.structs.replace(member, packed=None, size=0, checksum=None)
            try:
                end = file.tell() + len_packed(file, method)
            except Damaged:
                yield member
                return
            file.seek(end)
            following = file.read(24)
            skipped = following.find(MAGIC)
            yield member
            if skipped < 0:
                return
            offset = end + skipped
        else:
            yield member
            offset = file.tell() + packed


def large_sizes(extra: bytes, packed: int, size: int) -> tuple[int, int]:
    """Sizes beyond 4 GB, which stand in a field of their own."""
    while LARGE in (packed, size) and len(extra) >= 4:
        kind, length = struct.unpack_from("<HH", extra)
        if kind == 1 and length >= 16:
            size, packed = struct.unpack_from("<QQ", extra, 4)
        extra = extra[4 + length :]
    return packed, size


def len_packed(file: BinaryIO, method: int) -> int:
    """How many bytes the packed data that begins here takes."""
    unpacker = unpacker_of(method)
    taken = 0
    try:
        while not unpacker.eof:
            piece = file.read(STEP[method])
            if not piece:
                raise Damaged("it is cut off")
            unpacker.decompress(piece)
            taken += len(piece)
    except (zlib.error, zstandard.ZstdError) as error:
        raise Damaged(str(error)) from error
    return taken - len(unpacker.unused_data)


def unpacker_of(method: int) -> "zlib._Decompress | zstandard.ZstdDecompressionObj":
    if method == DEFLATED:
        return zlib.decompressobj(-zlib.MAX_WBITS)
    if method == ZSTANDARD:
        return zstandard.ZstdDecompressor().decompressobj()
    raise Damaged(f"it is packed with method {method}, which is not known here")


def unpack(file: BinaryIO, member: Member) -> bytes:
    """The bytes of a member.

    Raises:
        Damaged: they are cut off, do not unpack, or are not those that were packed.
    """
    raw = b""
    if member.offset >= 0:
        file.seek(member.offset)
        raw = file.read(HEADER.size)
    if len(raw) < HEADER.size or raw[:4] != MAGIC:
        raise Damaged("its header is not where it should be")
    name_size, extra_size = HEADER.unpack(raw)[-2:]
    file.seek(name_size + extra_size, 1)
    packed = file.read(-1 if member.packed is None else member.packed)
    if member.packed is not None and len(packed) < member.packed:
        raise Damaged("it is cut off")
    data = packed if member.method == STORED else unpacked(packed, member.method)
    if member.checksum is not None and zlib.crc32(data) != member.checksum:
        raise Damaged("its checksum does not match")
    return data


def unpacked(packed: bytes, method: int) -> bytes:
    """Unpacks one deflate stream, or as many Zstandard frames as there are, up to the size that a line may have."""
    pieces: list[bytes] = []
    size = place = 0
    while True:
        unpacker = unpacker_of(method)
        while not unpacker.eof:
            part = packed[place : place + STEP[method]]
            if not part:
                raise Damaged("it is cut off")
            try:
                pieces.append(unpacker.decompress(part))
            except (zlib.error, zstandard.ZstdError) as error:
                raise Damaged(f"it does not unpack: {error}") from error
            place += len(part)
            size += len(pieces[-1])
            if size > longest_line():
                raise Damaged(f"it is longer than {longest_line() >> 20} MiB; BLADE_MAX_LINE_MB allows more")
        place -= len(unpacker.unused_data)
        if method != ZSTANDARD or packed[place : place + 4] != ZSTANDARD_MAGIC:
            return b"".join(pieces)
