"""Options that several commands share, declared once."""

from pathlib import Path
from typing import Annotated

import typer

EXIT_CODES = "Exit codes: 0 good, 1 problems found, 2 wrong usage, 3 input unreadable."

Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="Folder that `blade diagnose --out DIR` wrote.", show_default=False)
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print exactly one JSON document on stdout, and commentary on stderr.")
]
Root = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Checkout that holds `benchmarks/`; by default the one you are in."),
]
MaxChars = Annotated[
    int, typer.Option(min=20, metavar="N", help="Characters shown per item; of longer texts, head and tail.")
]


def epilog(*examples: str) -> str:
    """What stands under a command's options: how it is called, and what its exit code means."""
    # click leaves the lines of a paragraph that begins with \\b as they are.
    return "\n".join(["\b", "Example:" if len(examples) == 1 else "Examples:", *(f"  {e}" for e in examples)]) + (
        f"\n\n{EXIT_CODES}"
    )
