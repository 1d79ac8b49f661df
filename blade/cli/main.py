"""The command's front: what commands there are, and what a user sees when something goes wrong.

This is the one place where a `BladeError` becomes a line on stderr and an exit code. A programming error is not
caught: its traceback is what we need to see.
"""

import contextlib
import os
import sys
from typing import Annotated, Any, NoReturn

import typer

from blade._version import __version__
from blade.cli import (
    analyze,
    check,
    compare,
    demo,
    diagnose,
    diff,
    eval_group,
    golden_group,
    judge,
    label,
    list_group,
    redact,
    report,
    search,
    show,
    skill_group,
    validate,
    values,
    view,
)
from blade.cli.groups import InOrder, offer
from blade.cli.options import epilog
from blade.errors import BladeError, InputError

INTERRUPTED = 130


SECTIONS = {
    "Understand a run": ("diagnose", "show", "diff", "label", "report", "view", "values", "analyze", "demo"),
    "Compare runs": ("compare",),
    "Check what is written": ("check", "judge", "redact"),
    "Make rollouts": ("eval", "list", "search"),
    "Benchmarks and skills": ("skill", "golden", "validate"),
}
"""What people come for, and the commands that serve it."""


class Front(InOrder):
    """Runs a command and turns what stops it into one sentence and an exit code."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Lists the commands under what they are for."""
        width = formatter.width - 6 - max(map(len, self.commands))
        for title, names in SECTIONS.items():
            rows = [(name, self.commands[name].get_short_help_str(width)) for name in names if name in self.commands]
            with formatter.section(title):
                formatter.write_dl(rows)

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
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
app.command(epilog=diagnose.EPILOG)(diagnose.diagnose)
app.command(epilog=show.EPILOG)(show.show)
app.command(epilog=diff.EPILOG)(diff.diff)
app.command(epilog=label.EPILOG)(label.label)
app.command(epilog=report.EPILOG)(report.report)
app.command(epilog=values.EPILOG)(values.values)
app.command(epilog=view.EPILOG)(view.view)
app.command(epilog=check.EPILOG)(check.check)
app.command(epilog=compare.EPILOG)(compare.compare)
app.command(epilog=analyze.EPILOG)(analyze.analyze)
app.command(epilog=redact.EPILOG)(redact.redact)
app.command(epilog=demo.EPILOG)(demo.demo)
offer(app, "eval", eval_group.group)
offer(app, "list", list_group.group)
app.command(epilog=search.EPILOG)(search.search)
offer(app, "skill", skill_group.group)
app.command(epilog=validate.EPILOG)(validate.validate)
offer(app, "golden", golden_group.group)
app.command(epilog=judge.EPILOG)(judge.judge)


def print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"blade {__version__}\n{versions()}")
        raise typer.Exit


def versions() -> str:
    """What a report of a bug needs to know beside our own version."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    def told(name: str) -> str:
        try:
            return version(name)
        except PackageNotFoundError:
            return "not installed"

    rows = {"python": f"{platform.python_version()} on {platform.system()} {platform.machine()}"}
    rows |= {name: told(name) for name in ("msgspec", "numpy", "zstandard", "hyperscan", "openai", "anthropic")}
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
