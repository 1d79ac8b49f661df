"""The command's front: what commands there are, and what a user sees when something goes wrong.

This is the one place where a `BladeError` becomes a line on stderr and an exit code. A programming error is not
caught: its traceback is what we need to see.
"""

import contextlib
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from blade._version import __version__
from blade.cli.options import EXIT_CODES, epilog
from blade.errors import BladeError, InputError, Unclear

# Our products of matrices are small: starting a thread per core for them costs more than they do.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

INTERRUPTED = 130
LONGEST_TYPED = 600
"""A longer command, as a glob makes it, is not repeated in what could be typed instead."""
WRONG_USAGE: Any = typer.BadParameter.__mro__[2]
"""Click's `ClickException`: some versions of typer bring click along under a name of their own."""

SECTIONS = {
    "Understand a run": ("diagnose", "show", "diff", "label", "report", "view", "values", "analyze", "demo"),
    "Compare runs": ("compare",),
    "Check what is written": ("check", "judge", "redact"),
    "Make rollouts": ("eval", "list", "search"),
    "Benchmarks and skills": ("skill", "golden", "validate"),
}
"""What people come for, and the commands that serve it."""


class InOrder(TyperGroup):
    """Lists commands in the order they were added, which is the order of use."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)


class Front(InOrder):
    """Runs a command and turns what stops it into one sentence and an exit code."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Lists the commands under what they are for."""
        width = formatter.width - 6 - max(map(len, self.commands))
        for title, names in SECTIONS.items():
            rows = [(name, self.commands[name].get_short_help_str(width)) for name in names if name in self.commands]
            with formatter.section(title):
                formatter.write_dl(rows)

    def make_context(self, *args: Any, **extra: Any) -> Any:
        with usage_errors():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        try:
            with usage_errors():
                result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except Unclear as error:
            typed = sys.argv[1:]
            is_short = typed[:1] in (["diagnose"], ["compare"]) and sum(map(len, typed)) < LONGEST_TYPED
            stop(error.with_commands(typed) if is_short else str(error), error.exit_code)
        except BladeError as error:
            stop(str(error), error.exit_code)
        except KeyboardInterrupt:
            stop("interrupted.", INTERRUPTED)
        except BrokenPipeError:
            # Whoever reads us has had enough, as `blade show ... | head` does.
            drop_output()
            raise typer.Exit(0) from None
        except MemoryError:
            stop("not enough memory; try --jobs 1, or one file at a time.", InputError.exit_code)
        except OSError as error:
            if error.errno is None:  # not the system's: some libraries derive their own errors from OSError
                raise
            drop_output()
            stop(f"{error.filename or 'writing failed'}: {error.strerror or error}.", InputError.exit_code)


@contextlib.contextmanager
def usage_errors() -> Iterator[None]:
    """Tells a program about wrong options as it is told about every other error; people get the parser's own words."""
    try:
        yield
    except WRONG_USAGE as error:
        if "--json" not in sys.argv[1:]:
            raise
        stop(error.format_message(), error.exit_code)


def drop_output() -> None:
    """Sends what is still to be written nowhere, so that the interpreter's last flush does not fail once more."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def stop(message: str, code: int) -> NoReturn:
    """Says why on stderr, in text that cannot do anything to the terminal, with commands on lines of their own."""
    from blade.report.text import plain

    if "--json" in sys.argv[1:]:
        print_error_as_json(message, code)
        raise typer.Exit(code)
    first, *commands = message.split("\n")
    typer.echo("\n".join([f"blade: {plain(first)}", *(f"  {plain(line.strip())}" for line in commands)]), err=True)
    raise typer.Exit(code)


def print_error_as_json(message: str, code: int) -> None:
    """The same for a program: one object on stderr, so that stdout stays what it promises to be."""
    import msgspec

    from blade.report.text import plain, safe_json

    error = {"error": {"message": plain(message), "exit_code": code}}
    typer.echo(safe_json(msgspec.json.encode(error)), err=True)


app = typer.Typer(
    cls=Front,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
GROUPS = {
    "eval": "Make rollouts, and the files beside them.",
    "list": "Show what there is.",
    "skill": "Check, install and try Agent Skills.",
    "golden": "Make and guard golden reports.",
}
FUNCTIONS = {"eval": "evaluate"}
"""Commands that are called otherwise in Python, which has the name for something else."""
COMMANDS = (
    "diagnose", "show", "diff", "label", "report", "values", "view", "check", "compare", "analyze", "redact", "demo",
    "eval prepare", "eval run", "eval profile", "eval aggregate", "eval calibrate", "eval reverify",
    "list benchmarks", "list formats", "list skills", "search", "skill validate", "skill install", "skill eval",
    "skill new", "validate", "golden build", "golden check", "golden calibrate", "judge",
)  # fmt: skip
"""Every command, in the order of use. The module of `eval run` is `eval_run`, and the command is its `run`."""


def add_commands() -> None:
    """Adds every command with the examples of its module; a group called alone shows its help."""
    places = {"": app}
    for name, about in GROUPS.items():
        places[name] = typer.Typer(
            cls=InOrder,
            help=about,
            epilog=EXIT_CODES,
            add_completion=False,
            rich_markup_mode=None,
            no_args_is_help=True,
        )
        app.add_typer(places[name], name=name)
    for path in COMMANDS:
        group, _, name = path.rpartition(" ")
        module = import_module(f"blade.cli.{path.replace(' ', '_')}")
        places[group].command(name, epilog=module.EPILOG)(getattr(module, FUNCTIONS.get(name, name)))


add_commands()


def print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"blade {__version__}\n{versions()}")
        raise typer.Exit


def versions() -> str:
    """What a report of a bug needs to know beside our own version."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    def installed_version(name: str) -> str:
        try:
            return version(name)
        except PackageNotFoundError:
            return "not installed"

    rows = {"python": f"{platform.python_version()} on {platform.system()} {platform.machine()}"}
    rows |= {name: installed_version(name) for name in ("msgspec", "numpy", "zstandard", "openai", "anthropic")}
    return "\n".join(f"{name:10} {what}" for name, what in rows.items())


@app.callback(epilog=epilog("blade diagnose rollouts.jsonl --out out", "blade demo"))
def blade(
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Say which tasks of an LLM evaluation failed, why, and what to fix first."""


def main() -> None:
    """The `blade` command."""
    app(prog_name="blade")
