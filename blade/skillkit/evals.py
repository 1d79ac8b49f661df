"""`evals/evals.json`: realistic requests that show whether a skill helps.

The form is that of the skill-creation guide: each entry is a prompt, the files it speaks of, and assertions about what
comes out. An assertion that also holds without the skill shows nothing; only a run in both arms can tell.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from blade.errors import InputError, Problem

EVALS = "evals/evals.json"


class EvalCase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One request."""

    id: int | str
    """Tells it from the others."""
    prompt: str
    """What a user would say."""
    expected_output: str
    """What a good answer is, in words."""
    files: list[str] = []
    """Files the request speaks of, relative to the skill."""
    assertions: list[str]
    """What must be so of the answer; each can be told to hold or not."""


class EvalSet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All requests of a skill."""

    skill_name: str
    """The skill they are for."""
    evals: list[EvalCase]
    """The requests."""


def read_evals(folder: Path) -> EvalSet:
    """A skill's requests.

    Raises:
        InputError: the file cannot be read, or is not of this form.
    """
    path = folder / EVALS
    try:
        return msgspec.json.decode(path.read_bytes(), type=EvalSet)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}.") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}.") from error


def eval_problems(folder: Path) -> Iterator[Problem]:
    """What is wrong with the requests, where there are any."""
    if not (folder / EVALS).exists():
        return
    try:
        said = read_evals(folder)
    except InputError as error:
        yield Problem(where=EVALS, message=str(error).partition(": ")[2].removesuffix("."))
        return
    if said.skill_name != folder.name:
        yield Problem(where=EVALS, message=f"is for {said.skill_name!r}, expected {folder.name!r}")
    for name, times in Counter(str(case.id) for case in said.evals).items():
        if times > 1:
            yield Problem(where=EVALS, message=f"the id {name} stands {times} times", hint="give each its own")
    for case in said.evals:
        yield from case_problems(folder, case)


def case_problems(folder: Path, case: EvalCase) -> Iterator[Problem]:
    where = f"{EVALS} {case.id}"
    if not case.prompt.strip():
        yield Problem(where=where, message="has no prompt", hint="write what a user would say")
    if not any(text.strip() for text in case.assertions):
        yield Problem(where=where, message="asserts nothing", hint="say what must be so of the answer")
    for name in case.files:
        inside = (folder / name).resolve().is_relative_to(folder.resolve())
        if not inside or not (folder / name).is_file():
            yield Problem(where=where, message=f"{name!r} is not a file of the skill", hint="paths begin at SKILL.md")
