"""The readers of foreign formats, ours and those installed beside us.

Order matters only where a file could be taken for two formats: the stricter reader stands first.
"""

from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

from blade.errors import InputError
from blade.rollouts.formats import terminal_bench
from blade.rollouts.formats.reader import Probe, Reader

READERS: tuple[Reader, ...] = (terminal_bench.READER,)
GROUP = "blade.readers"
"""Entry point group of readers that other packages bring."""


@cache
def all_readers() -> dict[str, Reader]:
    """Every reader by name; one of ours is not replaced by another package's.

    Raises:
        InputError: an installed package names a reader that cannot be loaded.
    """
    found = {reader.name: reader for reader in READERS}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            reader = entry.load()
        except Exception as error:  # whatever a stranger's module raises when it is imported
            raise InputError(f"the reader {entry.name!r} ({entry.value}) cannot be loaded: {error}.") from error
        if not isinstance(reader, Reader):
            raise InputError(f"the entry point {entry.name!r} ({entry.value}) is not a blade Reader.")
        found.setdefault(reader.name, reader)
    return found


def reader_for(path: Path, name: str | None = None) -> Reader | None:
    """The reader of a source: the one the user names, else the first that recognises it.

    A named reader takes every file, but a folder only if it recognises it: its files may be the sources.
    """
    if name is not None:
        reader = all_readers().get(name)
        return reader if reader is not None and (not path.is_dir() or reader.recognises(Probe(path))) else None
    probe = Probe(path)
    return next((reader for reader in all_readers().values() if reader.recognises(probe)), None)


def passed_over(path: Path) -> bool:
    """Whether a file in a folder belongs to a known format and holds no rollouts."""
    probe = Probe(path)
    return any(reader.passes_over(probe) for reader in all_readers().values())
