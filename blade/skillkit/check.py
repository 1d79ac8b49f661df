"""Checking a skill: everything wrong with it, each with its place and what to do.

Of the commands in a skill's text, ours and the skill's own scripts are looked at. What a `blade` command accepts is
known to the command line, not to this room, so whoever checks hands in that knowledge.
"""

import itertools
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from blade.diagnosis.packs import check_pack
from blade.diagnosis.packs.load import TAXONOMY, load_pack
from blade.errors import InputError, Problem
from blade.skillkit.body import REFERENCES, files_below, link_problems, reference_problems, size_problems
from blade.skillkit.evals import eval_problems
from blade.skillkit.fields import house_problems, spec_problems
from blade.skillkit.markdown import Fenced, Prose, blocks, code_spans
from blade.skillkit.scripts import script_problems
from blade.skillkit.skill import SKILL_FILE, Parts, read_parts

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


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """Which rules a skill is held to."""

    ours: bool = True
    """Our own rules too, not only those of the specification."""
    run_scripts: bool = False
    """Whether its scripts may be started, to see that they explain themselves."""
    commands: CommandCheck | None = None
    """Knows our commands; without it they are not checked."""


def check_skill(folder: Path, rules: Rules = Rules()) -> list[Problem]:  # noqa: B008 - frozen
    """Everything wrong with the skill in a folder; nothing when it is good."""
    path = folder / SKILL_FILE
    try:
        parts = read_parts(path)
    except InputError as error:
        place, _, said = str(error).removeprefix(str(path)).partition(": ")
        return [Problem(where=f"{path}{place}", message=said.removesuffix("."))]
    name = folder.resolve().name
    found = list(in_file(path, spec_problems(parts, name)))
    return [*found, *our_problems(folder, parts, rules)] if rules.ours else found


def our_problems(folder: Path, parts: Parts, rules: Rules) -> Iterator[Problem]:
    """What breaks our own rules."""
    body, line = parts.body, parts.body_line
    yield from in_file(
        folder / SKILL_FILE,
        [
            *house_problems(parts),
            *size_problems(body, line),
            *link_problems(folder, body, line),
            *command_problems(folder, body, line, check=rules.commands),
        ],
    )
    yield from in_folder(folder, reference_problems(folder, body))
    for path in files_below(folder / REFERENCES):
        yield from in_file(path, text_problems(folder, path, rules))
    yield from in_folder(folder, script_problems(folder, body, run=rules.run_scripts))
    yield from taxonomy_problems(folder)
    yield from in_folder(folder, eval_problems(folder))


def text_problems(folder: Path, path: Path, rules: Rules) -> Iterator[Problem]:
    """Links and commands of a reference, which are written relative to the skill as well."""
    if path.suffix != ".md":
        return
    text = path.read_text(encoding="utf-8", errors="replace")
    yield from link_problems(folder, text)
    yield from command_problems(folder, text, check=rules.commands)


def taxonomy_problems(folder: Path) -> Iterator[Problem]:
    """A taxonomy that is none, or that goes by another name than its skill."""
    path = folder / TAXONOMY
    if not path.exists():
        return
    problems = check_pack(path)
    yield from problems
    if not problems and (name := load_pack(path).name) != folder.resolve().name:
        said = f"the pack is called {name!r}, its skill {folder.resolve().name!r}"
        yield Problem(where=str(path), message=said, hint="they must be the same; rename the pack")


def in_file(path: Path, problems: Iterable[Problem]) -> Iterator[Problem]:
    """Problems on lines of a file, with the file named."""
    return (msgspec.structs.replace(problem, where=f"{path}:{problem.where}") for problem in problems)


def in_folder(folder: Path, problems: Iterable[Problem]) -> Iterator[Problem]:
    """Problems of files of a folder, with the folder named."""
    return (msgspec.structs.replace(problem, where=f"{folder / problem.where}") for problem in problems)
