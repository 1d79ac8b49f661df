"""Standard input as a file: kept in the output folder, so that its trajectories can be shown later."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import typer

from blade.errors import InputError

STDIN = "-"
SPOOL = "stdin.jsonl"


@contextmanager
def resolved_inputs(inputs: Sequence[str], out: Path) -> Iterator[list[str]]:
    """The inputs with `-` and pipes replaced by files that hold what came in.

    What an earlier diagnosis was made from is put back when this one fails.
    """
    named = list(dict.fromkeys(inputs))
    spooled = {text: out / spool_name(text) for text in named if text == STDIN or is_pipe(text)}
    before = {place: place.with_name(f".{place.name}.before") for place in spooled.values() if place.is_file()}
    for place, kept in before.items():
        shutil.copyfile(place, kept)
    try:
        yield [str(spool(out, text)) if text in spooled else text for text in named]
    except BaseException:
        for place, kept in before.items():
            kept.replace(place)
        raise
    finally:
        for kept in before.values():
            kept.unlink(missing_ok=True)


def spool_name(text: str) -> str:
    return SPOOL if text == STDIN else f"pipe-{Path(text).name}.jsonl"


def is_pipe(text: str) -> bool:
    """Whether a path can be read only once, as `<(command)` and `/dev/stdin` can."""
    path = Path(text)
    return path.exists() and not path.is_file() and not path.is_dir()


def spool(out: Path, text: str = STDIN) -> Path:
    """Copies standard input or a pipe into the folder; a copy that fails leaves what was there before."""
    if text == STDIN and sys.stdin.isatty():
        typer.echo("blade: reading standard input; end it with Ctrl-D", err=True)
    name = spool_name(text)
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
