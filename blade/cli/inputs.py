"""Standard input as a file: kept in the output folder, so that its trajectories can be shown later."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from blade.errors import InputError

STDIN = "-"
SPOOL = "stdin.jsonl"


def resolve_inputs(inputs: Sequence[str], out: Path) -> list[str]:
    """The inputs with `-` replaced by a file that holds what came in."""
    named = list(dict.fromkeys(inputs))
    return [str(spool(out)) if text == STDIN else text for text in named]


def spool(out: Path) -> Path:
    """Copies standard input into the folder; a copy that fails leaves what was there before."""
    if sys.stdin.isatty():
        typer.echo("blade: reading standard input; end it with Ctrl-D", err=True)
    place, draft = out / SPOOL, out / f".{SPOOL}.tmp"
    try:
        out.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
            size = file.tell()
        if size:
            draft.replace(place)
    except OSError as error:
        raise InputError(f"{place}: cannot be written: {error.strerror or error}.") from error
    finally:
        draft.unlink(missing_ok=True)
    if not size:
        raise InputError("standard input is empty; pipe rollouts into it, or name a file instead of -.")
    return place
