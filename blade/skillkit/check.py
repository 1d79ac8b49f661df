"""Checking a skill: everything wrong with it, each with its place and what to do."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from blade.diagnosis.packs import check_pack
from blade.diagnosis.packs.load import TAXONOMY, load_pack
from blade.errors import InputError, Problem
from blade.skillkit.body import REFERENCES, files_below, link_problems, reference_problems, size_problems
from blade.skillkit.commands import CommandCheck, command_problems
from blade.skillkit.evals import eval_problems
from blade.skillkit.fields import house_problems, spec_problems
from blade.skillkit.frontmatter import SKILL_FILE, Parts, read_parts
from blade.skillkit.scripts import script_problems


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
