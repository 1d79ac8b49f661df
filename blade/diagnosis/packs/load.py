"""Packs by name or by file: reading raises the first problem, checking collects them all."""

import difflib
from functools import cache
from pathlib import Path

from blade.diagnosis.packs.check import Fault, find_faults
from blade.diagnosis.packs.document import Document, parse_document, read_document
from blade.diagnosis.packs.pack import Pack, make_pack
from blade.errors import InputError, Problem, UsageError

SUFFIXES = (".yaml", ".yml")
TAXONOMY = "assets/taxonomy.yaml"
"""Where a skill has its pack."""


def load_pack(which: str | Path) -> Pack:
    """A shipped pack by its name, or any pack by its file."""
    if isinstance(which, str) and not is_file_name(which):
        return shipped_pack(which)
    path = Path(which)
    document = read_document(path)
    faults = find_faults(document)
    if faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise InputError(f"{sentence(path, document, faults[0])}{more}")
    return make_pack(document.value, path)


def check_pack(path: str | Path) -> list[Problem]:
    """Everything wrong with a pack's file; nothing when it is good."""
    path = Path(path)
    try:
        document = read_document(path)
    except InputError as error:
        where, message = split_place(path, str(error))
        return [Problem(where=where, message=message)]
    return [
        Problem(where=f"{path}:{document.line(fault.keys)}", message=fault.message, hint=fault.hint)
        for fault in find_faults(document)
    ]


def split_place(path: Path, said: str) -> tuple[str, str]:
    """`file:12: what is wrong.` as its place and its message."""
    place, _, message = said.removeprefix(str(path)).partition(": ")
    return f"{path}{place}", message.removesuffix(".")


def sentence(path: Path, document: Document, fault: Fault) -> str:
    hint = f"; {fault.hint}" if fault.hint else ""
    end = "" if hint.endswith("?") else "."
    return f"{path}:{document.line(fault.keys)}: {fault.message}{hint}{end}"


def is_file_name(which: str) -> bool:
    return which.endswith(SUFFIXES) or "/" in which or "\\" in which


def skills_folder() -> Path:
    """Where the skills that come with BLADE are: inside of the installed package, beside it in a checkout."""
    package = Path(__file__).resolve().parents[2]
    inside = package / "skills"
    return inside if inside.is_dir() else package.parent / "skills"


def shipped_names() -> list[str]:
    """Names of the packs that come with BLADE: the skills that bring a taxonomy."""
    return sorted(path.parents[1].name for path in skills_folder().glob(f"*/{TAXONOMY}"))


@cache
def shipped_pack(name: str) -> Pack:
    """A pack that comes with BLADE. Those are checked by its tests, so they are not checked again here."""
    names = shipped_names()
    if name not in names:
        close = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(names)}; a file name ends in .yaml."
        raise UsageError(f"no pack {name!r}; {hint}")
    return make_pack(parse_document((skills_folder() / name / TAXONOMY).read_bytes()).value, None)
