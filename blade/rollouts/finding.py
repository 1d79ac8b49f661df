"""Finding inputs: files, globs and folders; a folder that is one source of a foreign format stays whole."""

import difflib
import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from blade.errors import InputError
from blade.rollouts.formats.registry import passed_over, reader_for
from blade.rollouts.sources import is_sidecar, looks_like_rollouts
from blade.rollouts.urls import UrlPath, as_path, matching


def find_inputs(inputs: Iterable[str], form: str | None = None) -> list[Path]:
    """Every source the user meant, each once, in the order given; what is in a folder in name order."""
    found: dict[Path, None] = {}
    for text in inputs:
        for path in expand(text, form):
            found.setdefault(path)
    return list(found)


def expand(text: str, form: str | None) -> list[Path]:
    """The sources one argument stands for."""
    path = as_path(text)
    remote = isinstance(path, UrlPath)
    if path.is_dir():
        found = list(in_folder(path, form))
        if not found and not remote and not os.access(path, os.R_OK | os.X_OK):
            raise InputError(f"{text}: cannot be read: Permission denied.")
        if not found:
            raise InputError(
                f"{text}: no rollouts in this folder: no *.jsonl, *.json, *.eval, *.csv or *.parquet file, "
                "and no folder of a known format (see `blade list formats`)."
            )
        return found
    if path.exists() and not remote and not path.is_file():
        raise InputError(
            f"{text}: is a pipe or a device, which cannot be read twice; write it to a file and name that."
        )
    if path.exists():
        return [path]
    if glob.has_magic(text):
        names = [] if remote else sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207 - Path.glob refuses /…
        matches = matching(text) if remote else [Path(name) for name in names]
        found = [p for p in matches if (p.is_file() and not is_sidecar(p)) or (p.is_dir() and reader_for(p, form))]
        if not found:
            raise InputError(f"{text}: no file matches this pattern; check it with `ls`.")
        return [path for path in found if remote or path.is_dir() or not passed_over(path)] or found
    if path.is_symlink():
        raise InputError(f"{text}: is a link that leads to no file.")
    raise InputError(f"{text}: no such file or directory{did_you_mean(path)}")


def in_folder(folder: Path, form: str | None) -> Iterator[Path]:
    """The sources in a folder: itself, if it is one, else what is in it."""
    if reader_for(folder, form) is not None:
        yield folder
        return
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    for entry in entries:
        if entry.is_dir():
            if not entry.is_symlink():
                yield from in_folder(entry, form)
        elif entry.is_file() and looks_like_rollouts(entry) and not passed_over(entry):
            yield entry


def did_you_mean(path: Path) -> str:
    """A suffix for the error when a neighbour has nearly this name."""
    if not path.parent.is_dir():
        return ""
    close = difflib.get_close_matches(path.name, [p.name for p in path.parent.iterdir()], n=1, cutoff=0.75)
    return f"; did you mean {path.with_name(close[0])}?" if close else "."
