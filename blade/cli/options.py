"""Options that several commands share, declared once."""

from pathlib import Path
from typing import Annotated

import typer

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
