"""Commands that a skill tells an agent to run: found in its text, and held against what really exists.

Only commands of ours and the skill's own scripts are looked at. What a `blade` command accepts is known to the command
line, not to this room, so whoever checks hands in that knowledge.
"""

import itertools
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from blade.errors import Problem
from blade.skillkit.markdown import Fenced, Prose, blocks, code_spans

CommandCheck = Callable[[Sequence[str], bool], str | None]
"""Says what is wrong with the words after `blade`; the flag says whether they are a whole command or just a mention."""

SHELLS = frozenset({"", "console", "sh", "bash", "shell", "zsh"})
PROMPT = "$ "
BETWEEN = frozenset({"|", "||", "&&", ";", "&", "(", ")"})
"""What ends one command and begins another."""
SCRIPT = re.compile(r"(?:\./)?(scripts/[\w./-]+)")


class Command(NamedTuple):
    """One command in a text."""

    line: int
    words: list[str]
    whole: bool
    """Whether it stands in a block of code, to be run as it is."""


def command_problems(folder: Path, text: str, line: int = 1, *, check: CommandCheck | None) -> Iterator[Problem]:
    """Commands that do not exist, or do not take what they are given."""
    for command in commands_in(text, line):
        said, hint = complaint(folder, command, check)
        if said:
            shown = " ".join(command.words)
            yield Problem(where=str(command.line), message=f"`{clipped(shown)}`: {said}", hint=hint)


def complaint(folder: Path, command: Command, check: CommandCheck | None) -> tuple[str | None, str]:
    """What is wrong with a command, and what to do; nothing for other programs."""
    words = command.words
    if words[0] == "blade" and check is not None:
        return check(words[1:], command.whole), "see `blade --help`"
    script = next((match[1] for word in words[:3] if (match := SCRIPT.fullmatch(word))), None)
    return (script_complaint(folder, script, words), "see the script") if script else (None, "")


def script_complaint(folder: Path, script: str, words: Sequence[str]) -> str | None:
    """A script that is not there, or a flag that does not occur in it."""
    path = folder / script
    if not path.is_file():
        return f"there is no {script}"
    source = path.read_text(encoding="utf-8", errors="replace")
    flags = [word.partition("=")[0] for word in words if word.startswith("--")]
    unknown = [flag for flag in flags if flag != "--help" and f'"{flag}"' not in source and f"'{flag}'" not in source]
    return f"{script} knows no {unknown[0]}" if unknown else None


def commands_in(text: str, line: int = 1) -> Iterator[Command]:
    """The commands of a text, in order."""
    for block in blocks(text, line):
        if isinstance(block, Fenced):
            yield from fenced_commands(block)
        else:
            yield from mentioned_commands(block)


def fenced_commands(block: Fenced) -> Iterator[Command]:
    """Commands of a shell's block; where some lines have a prompt, only those are commands."""
    if block.language not in SHELLS:
        return
    prompted = any(line.lstrip().startswith(PROMPT) for line in block.lines)
    for number, line in joined(block):
        typed = line.lstrip()
        if prompted and not typed.startswith(PROMPT):
            continue
        for words in split_commands(typed.removeprefix(PROMPT)):
            yield Command(number, words, True)


def mentioned_commands(block: Prose) -> Iterator[Command]:
    for span in code_spans(block.text):
        if span.split(" ")[0] == "blade" or SCRIPT.search(span):
            yield from (Command(block.line, words, False) for words in split_commands(span))


def joined(block: Fenced) -> Iterator[tuple[int, str]]:
    """Lines with those that end in a backslash joined to the next, each with its number."""
    kept, start = "", block.line
    for number, line in enumerate(block.lines, start=block.line):
        start = start if kept else number
        kept += line
        if kept.endswith("\\"):
            kept = kept[:-1] + " "
            continue
        yield start, kept
        kept = ""
    if kept:
        yield start, kept


def split_commands(line: str) -> Iterator[list[str]]:
    """The commands of a line, each as its words; none when a shell could not read it."""
    command: list[str] = []
    words = iter([*shell_words(line), ";"])
    for word in words:
        if word in BETWEEN:
            yield from [command] if command else []
            command = []
        elif set(word) <= set("<>&"):
            next(words)  # the file that is read or written
        else:
            command.append(word)


def shell_words(line: str) -> list[str]:
    """The words of a line up to a comment, signs between commands as words of their own."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;()<>")
    lexer.whitespace_split = True
    lexer.commenters = ""  # a sign inside of a word, as in 12:3#5, is none
    try:
        return list(itertools.takewhile(lambda word: not word.startswith("#"), lexer))
    except ValueError:
        return []


def clipped(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."
