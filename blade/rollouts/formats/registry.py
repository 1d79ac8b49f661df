"""The readers of foreign formats, ours and those installed beside us.

Order matters only where a file could be taken for two formats: the stricter reader stands first.
"""

import difflib
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

from blade.errors import InputError, UsageError
from blade.rollouts.formats.reader import Probe, Reader

MODULES = (
    "inspect", "harbor", "terminal_bench", "atif", "openhands", "swe_bench", "swe_agents", "claude_code", "codex",
    "lm_eval", "tau2", "promptfoo", "verifiers", "bfcl", "braintrust", "langfuse", "langsmith", "lighteval", "otlp",
    "parquet", "phoenix", "weave", "openai_evals", "helm", "delimited", "json_tables",
)  # fmt: skip
"""Modules beside this one that each hold a reader, or two."""
READERS = tuple(
    value
    for name in MODULES
    for value in vars(import_module(f"blade.rollouts.formats.{name}")).values()
    if isinstance(value, Reader)
)
NATIVE = {
    "gym": "NeMo Gym rollouts (JSON Lines) with their sidecars",
    "tau-bench": "tau-bench trajectories (a JSON array of trials)",
    "blade": "BLADE's own rows (JSON Lines)",
    "records": "Any JSON records, one per line, in an array or in a list of a document",
}
"""Formats that are read as records, without a reader."""
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


def check_format(name: str | None) -> None:
    """Raises `UsageError` for a format nobody knows."""
    known = [*NATIVE, *all_readers()]
    if name is not None and name not in known:
        close = difflib.get_close_matches(name, known, n=3)
        hint = f"did you mean {' or '.join(close)}? " if close else ""
        raise UsageError(f"unknown format {name!r}; {hint}`blade list formats` lists them all.")


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


def list_formats() -> list[dict[str, str]]:
    """Every format that can be read, by name; its source is `blade`, or a package that is installed beside it."""
    titles = {**NATIVE, **{reader.name: reader.title for reader in all_readers().values()}}
    ours = {*NATIVE, *(reader.name for reader in READERS)}
    return [
        {"name": name, "title": titles[name], "source": "blade" if name in ours else "installed"}
        for name in sorted(titles)
    ]
