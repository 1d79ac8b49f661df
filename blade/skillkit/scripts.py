"""Rules about the scripts a skill brings: an agent must learn of them, and they must explain themselves.

Running somebody's script is up to the user, so it happens only on request, without input, and not for long.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from blade.errors import Problem
from blade.skillkit.body import files_below

SCRIPTS = "scripts"
SECONDS = 20
SHOWN = 200


def script_files(folder: Path) -> list[Path]:
    """The scripts of a skill."""
    return [path for path in files_below(folder / SCRIPTS) if path.suffix in (".py", ".sh")]


def script_problems(folder: Path, body: str, *, run: bool) -> Iterator[Problem]:
    """Scripts that SKILL.md does not name, that are not Python, or that fail to explain themselves when asked."""
    for path in script_files(folder):
        name = path.relative_to(folder).as_posix()
        if name not in body:
            hint = "say when to run it and what it prints"
            yield Problem(where=name, message="is not named in SKILL.md", hint=hint)
        said = syntax_error(path)
        if said is None and run:
            said = help_error(path)
        if said is not None:
            yield Problem(where=name, message=said, hint="an agent calls it with --help first; mend it")


def syntax_error(path: Path) -> str | None:
    """Why Python cannot read a script; nothing in it is run."""
    if path.suffix != ".py":
        return None
    try:
        compile(path.read_bytes(), path.name, "exec")
    except (SyntaxError, ValueError, OSError) as error:
        return f"is not Python: {error}"
    return None


def help_error(path: Path) -> str | None:
    """Why a script does not explain itself: it must print something for --help and exit with 0."""
    command = [*interpreter(path), path.name, "--help"]
    quiet = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=path.parent, env=quiet, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"does not answer --help within {SECONDS} s"
    except OSError as error:
        return f"cannot be run: {error.strerror or error}"
    if done.returncode:
        said = " ".join(done.stderr.decode(errors="replace").split())[-SHOWN:]
        return f"exits with {done.returncode} on --help: {said}"
    return None if done.stdout.strip() else "prints nothing on --help"


def interpreter(path: Path) -> Sequence[str]:
    """What runs a script: this Python for Python, sh for the rest."""
    return (sys.executable, "-I") if path.suffix == ".py" else ("sh",)
