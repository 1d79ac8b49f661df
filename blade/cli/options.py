"""Options that several commands share, declared once: one by one, or as the parameters of a function that makes a value
of them and takes its place among a command's own (`with_options`)."""

import contextlib
import inspect
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blade.errors import UsageError

if TYPE_CHECKING:
    from blade.engine.cluster import Cluster

Command = Callable[..., None]

EXIT_CODES = "Exit codes: 0 good, 1 problems found, 2 wrong usage, 3 input unreadable."

Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="Folder that `blade diagnose --out DIR` wrote.", show_default=False)
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print a single JSON document on stdout; commentary goes to stderr.")
]
Root = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Checkout that contains `benchmarks/`; the current one by default.")
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


class EngineName(StrEnum):
    """Who does the work."""

    local = "local"
    ray = "ray"


@contextlib.contextmanager
def working_on(
    engine: Annotated[
        EngineName, typer.Option(help="Where work is divided: processes of this machine, or a Ray cluster.")
    ] = EngineName.local,
    ray_address: Annotated[
        str | None,
        typer.Option(
            metavar="ADDR",
            help="Ray cluster to join: HOST:PORT, ray://HOST:PORT or auto; otherwise RAY_ADDRESS, or one on this "
            "machine.",
        ),
    ] = None,
) -> "Iterator[Cluster | None]":
    """Has everything within divided by the engine; gives the cluster, if there is one.

    Raises:
        UsageError: Ray is not installed, or an address is given for nothing.
        InputError: the cluster cannot be joined, or a node of it lacks BLADE.
    """
    if engine is EngineName.local:
        if ray_address is not None:
            raise UsageError("--ray-address is only used with --engine ray.")
        yield None
        return
    from blade.engine import use
    from blade.engine.cluster import joined

    with joined(ray_address) as cluster, use(cluster):
        yield cluster
