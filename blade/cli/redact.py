"""`blade redact`: redact secrets, home paths and internal addresses from a text."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.options import AsJson, epilog
from blade.errors import ProblemsFound

if TYPE_CHECKING:
    from blade.report.redaction import Found

EPILOG = epilog("blade redact out/report.md --output shared.md", "blade redact report.md --check")
MOST_LISTED = 20


def redact(
    path: Annotated[Path, typer.Argument(metavar="REPORT", help="A text file, such as a report.", show_default=False)],
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Output file; stdout by default.", show_default=False)
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only report what is found; exit with code 1 if anything is.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Redact secrets and private paths from a text.

    Removes keys, tokens, passwords, home paths, user names, e-mail and internal addresses.

    Not a guarantee: of secrets drawn from published forms, 97 % are removed where they stand alone and nearly all where
    a name says what they are. A password that reads like a word, and a bare digest or UUID that is used as a key, stay
    unless their name gives them away. Read before you share.
    """
    from blade.cli.inputs import read_text
    from blade.cli.terminal import print_as_json
    from blade.report.files import write_file
    from blade.report.redaction import redact

    result = redact(read_text(path, errors="replace"))
    if output is not None and not check:
        write_file(output, result.text.encode())
    if as_json:
        print_as_json(result)
    elif output is None and not check:
        typer.echo(result.text, nl=False)
    for line in found_lines(result.found, path):
        typer.echo(line, err=True)
    if check and result.found:
        raise ProblemsFound(f"{path}: holds {len(result.found)} things that should not be shared.")


def found_lines(found: "list[Found]", path: Path) -> list[str]:
    """One line for each thing found, up to a point."""
    from blade.report.text import one_line

    lines = [f"{path}:{one.line}: {one.kind} {one_line(one.shown)}" for one in found]
    rest = len(lines) - MOST_LISTED
    return lines[:MOST_LISTED] + ([f"… and {rest} more"] if rest > 0 else [])
