"""How anything gets onto the screen: plain where plain is needed, and never able to do something to the terminal.

Text from rollouts, files and arguments goes through `foreign` before it is printed. Without a terminal there are no
colours and lines are `PLAIN_WIDTH` wide; an output that knows only ASCII gets stand-ins for our signs.
"""

import codecs
import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import msgspec
import typer
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from blade.report.text import one_line, plain, safe_json

PLAIN_WIDTH = 100
STAND_INS = {
    "█": "#", "▒": "+", "░": "-", "·": ".", "–": "-", "—": "-", "−": "-", "…": "...", "×": "x", "→": "->", "│": "|",
    "─": "-", "≥": ">=", "≤": "<=", "√": "sqrt", "‑": "-", "“": '"', "”": '"', "’": "'", "\u202f": " ", "\xa0": " ",
}  # fmt: skip
BARE_WORD = re.compile(r"[A-Za-z0-9@%+=:,./_-][A-Za-z0-9@%+=:,./_#-]*")
"""What a shell takes as it is; `12:3#5` is such a word."""


class Screen(Console):
    """A console that leaves a closed pipe to the command's front, as every other error."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def make_console(*, stderr: bool = False) -> Console:
    """A console that takes neither markup nor emoji codes, so that only styles we set ourselves exist."""
    stream = sys.stderr if stderr else sys.stdout
    accept_any_character(stream)
    is_plain = not stream.isatty() and "COLUMNS" not in os.environ
    return Screen(file=stream, width=PLAIN_WIDTH if is_plain else None, highlight=False, markup=False, emoji=False)


def accept_any_character(stream: TextIO) -> None:
    """Lets an ASCII terminal, and text with half a character in it, be printed without an error."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="stand_ins")


def stand_ins(error: UnicodeError) -> tuple[str, int]:
    """What is printed for characters the output cannot show."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    unknown = error.object[error.start : error.end]
    return "".join(STAND_INS.get(sign, escaped(sign)) for sign in unknown), error.end


def escaped(sign: str) -> str:
    return sign.encode("ascii", "backslashreplace").decode("ascii")


codecs.register_error("stand_ins", stand_ins)


def foreign(text: str, style: str = "") -> Text:
    """Somebody else's text, fit for a terminal; styles in it have no effect."""
    return Text(plain(text), style=style)


def put(console: Console, *lines: RenderableType) -> None:
    """Prints lines; those that must not be wrapped are not, and what is not a terminal gets no blanks at line ends."""
    for line in lines:
        soft_wrap = isinstance(line, Text) and bool(line.no_wrap)
        if console.is_terminal:
            console.print(line, soft_wrap=soft_wrap)
            continue
        with console.capture() as captured:
            console.print(line, soft_wrap=soft_wrap)
        console.file.write("".join(f"{part.rstrip()}\n" for part in captured.get().splitlines()))


def height(console: Console, *lines: RenderableType) -> int:
    """Lines these take on the screen; one that is not to be wrapped is one."""
    is_whole = [isinstance(line, Text) and bool(line.no_wrap) for line in lines]
    return sum(
        line.plain.count("\n") + 1 if whole and isinstance(line, Text) else len(console.render_lines(line, pad=False))
        for line, whole in zip(lines, is_whole, strict=True)
    )


def code_line(text: str) -> Text:
    """A command, never broken over lines."""
    return Text(f"  {text}", "bold cyan", no_wrap=True, overflow="ignore")


def path_lines(console: Console, *parts: str) -> list[Text]:
    """Quiet words around paths, in one line or, where that is too wide, a line each; never cut, for they are copied."""
    line = f"  {', '.join(parts)}"
    lines = [line] if len(line) <= console.width else [f"  {part}" for part in parts]
    return [Text(each, "dim", no_wrap=True, overflow="ignore") for each in lines]


def grid(*titles: str, numbers: bool = True) -> Table:
    """A table without lines; columns between the first and the last hold numbers."""
    table = Table(box=None, show_header=any(titles), header_style="dim", padding=(0, 0, 0, 2))
    for index, title in enumerate(titles):
        is_number = numbers and 0 < index < len(titles) - 1
        table.add_column(title, justify="right" if is_number else "left", overflow="fold")
    return table


def name_last(titles: Sequence[str], rows: Sequence[Sequence[Text | str]]) -> list[Text]:
    """Rows of numbers that end with a name: as it comes last it is neither cut nor broken, however long it is."""
    cells = [[Text(title, "dim") for title in titles], *([Text("").append(cell) for cell in row] for row in rows)]
    widths = [max(row[at].cell_len for row in cells) for at in range(len(titles) - 1)]
    lines = []
    for row in cells if any(titles) else cells[1:]:
        line = Text(no_wrap=True, overflow="ignore")
        for cell, width in zip(row[:-1], widths, strict=True):
            line.append(" " * (width - cell.cell_len + 2)).append_text(cell)
        lines.append(line.append("  ").append_text(row[-1]))
    return lines


def indented(text: Text, by: int = 2) -> Padding:
    """A paragraph of a section; its wrapped lines stay under their first word."""
    return Padding(text, (0, 0, 0, by))


def command(*words: str) -> str:
    """A command to copy: a shell reads each word as it is."""
    return " ".join(word if BARE_WORD.fullmatch(word) else shlex.quote(one_line(word)) for word in words)


def print_json(document: bytes) -> None:
    """The only thing on stdout; characters that terminals act on are escaped, which means the same to a reader."""
    typer.echo(safe_json(document).rstrip(b"\n"))


def print_as_json(value: object) -> None:
    """A value as the only thing on stdout."""
    print_json(msgspec.json.format(msgspec.json.encode(value, enc_hook=path_as_text), indent=2))


def path_as_text(value: Any) -> str:
    """What JSON has no form for and results hold all the same: paths."""
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(f"no JSON for {type(value).__name__}")
