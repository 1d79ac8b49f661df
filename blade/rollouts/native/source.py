"""Which C source a library was built from. It needs nothing installed: the package is built with it."""

from pathlib import Path
from zlib import crc32


def source_version(folder: Path) -> int:
    """A number for the C source in a folder; a library that says another one was built from another source."""
    version = 0
    for path in sorted([*folder.glob("*.c"), *folder.glob("*.h")]):
        version = crc32(path.read_bytes(), version)
    return version >> 1 or 1
