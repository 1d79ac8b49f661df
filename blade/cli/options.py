"""Options that several commands share, declared once: one by one, or as the parameters of a function that makes a value
of them and takes its place among a command's own (`with_options`)."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

Command = Callable[..., None]

EXIT_CODES = "Exit codes: 0 good, 1 problems found, 2 wrong usage, 3 input unreadable."

Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="Folder that `blade diagnose --out DIR` wrote.", show_default=False)
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print a single JSON document on stdout; commentary goes to stderr.")
]
Root = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Checkout that contains `benchmarks/`; the current one by default."),
]
MaxChars = Annotated[
    int,
    typer.Option(min=20, metavar="N", help="Maximum characters per item; longer texts are shortened in the middle."),
]


def epilog(*examples: str) -> str:
    """What stands under a command's options: how it is called, and what its exit code means."""
    # click leaves the lines of a paragraph that begins with \\b as they are.
    return "\n".join(["\b", "Example:" if len(examples) == 1 else "Examples:", *(f"  {e}" for e in examples)]) + (
        f"\n\n{EXIT_CODES}"
    )


def with_options(**groups: Callable[..., Any]) -> Callable[[Command], Command]:
    """Gives a command the options of some functions, each in the place of the parameter that takes what it makes."""
    options = {name: inspect.signature(group).parameters for name, group in groups.items()}

    def taking(command: Command) -> Command:
        def taken(**given: Any) -> None:
            made = {name: group(**{one: given.pop(one) for one in options[name]}) for name, group in groups.items()}
            command(**given, **made)

        own = inspect.signature(command).parameters.items()
        every = [one for name, mine in own for one in (options[name].values() if name in groups else [mine])]
        every = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in every]
        taken.__name__, taken.__module__, taken.__doc__ = command.__name__, command.__module__, command.__doc__
        taken.__annotations__ = {one.name: one.annotation for one in every}
        taken.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        return taken

    return taking
