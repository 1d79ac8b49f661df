"""Standard input as a file: kept in the output folder, so that its trajectories can be shown later."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import typer

from blade.errors import InputError

STDIN = "-"
SPOOL = "stdin.jsonl"


def resolve_inputs(inputs: Sequence[str], out: Path) -> list[str]:
    """The inputs with `-` and pipes replaced by files that hold what came in."""
    named = list(dict.fromkeys(inputs))
    return [str(spool(out, text)) if text == STDIN or is_pipe(text) else text for text in named]


def is_pipe(text: str) -> bool:
    """Whether a path can be read only once, as `<(command)` and `/dev/stdin` can."""
    path = Path(text)
    return path.exists() and not path.is_file() and not path.is_dir()


def spool(out: Path, text: str = STDIN) -> Path:
    """Copies standard input or a pipe into the folder; a copy that fails leaves what was there before."""
    if text == STDIN and sys.stdin.isatty():
        typer.echo("blade: reading standard input; end it with Ctrl-D", err=True)
    name = SPOOL if text == STDIN else f"pipe-{Path(text).name}.jsonl"
    place, draft = out / name, out / f".{name}.tmp"
    try:
        out.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as file:
            copy_stream(text, file)
            size = file.tell()
        if size:
            draft.replace(place)
    except OSError as error:
        raise InputError(f"{place}: cannot be written: {error.strerror or error}.") from error
    finally:
        draft.unlink(missing_ok=True)
    if not size:
        if text != STDIN:
            raise InputError(f"{text}: is empty; expected rollouts.")
        raise InputError("standard input is empty; pipe rollouts into it, or name a file instead of -.")
    return place


def copy_stream(text: str, file: BinaryIO) -> None:
    if text == STDIN:
        shutil.copyfileobj(sys.stdin.buffer, file)
        return
    with Path(text).open("rb") as stream:
        shutil.copyfileobj(stream, file)
