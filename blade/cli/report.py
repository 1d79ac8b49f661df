"""`blade report`: write the report again, with the labels as they now stand."""

from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.options import AsJson, Folder, epilog

if TYPE_CHECKING:
    from collections.abc import Mapping

    from blade.report.redaction import Redacted

EPILOG = epilog("blade report out", "blade report out --shareable")


def report(
    folder: Folder,
    shareable: Annotated[
        bool,
        typer.Option("--shareable", help="Also write report.shareable.md, without secrets and private places."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Render the report again, with the labels in force.

    The analysis and the reading list are written again too.

    A narrative.md in the folder becomes the prose of the report's sections. Exits with 1 when a section of it does not
    hold; it is left out, and the report says so.
    """
    from blade.audit.narrated import render_narrated
    from blade.cli.folders import open_folder
    from blade.cli.highlights import cause_lines
    from blade.cli.summary import file_lines, print_section
    from blade.cli.terminal import foreign, make_console, print_json, put
    from blade.report.workspace import ANALYSIS, write_shareable

    workspace, wrong = render_narrated(open_folder(folder))
    tell_left_out(wrong)
    if shareable:
        redacted = write_shareable(workspace)
        typer.echo(redacted_line(redacted), err=True)
    if as_json:
        print_json((workspace.folder / ANALYSIS).read_bytes())
    else:
        console = make_console()
        put(console, foreign(f"Written again in {folder}{without_words(wrong)}", "bold"), *file_lines())
        print_section(console, "Causes", cause_lines(workspace.analysis))
    raise typer.Exit(1 if wrong else 0)


def tell_left_out(wrong: "Mapping[str, str]") -> None:
    """Why sections of the narrative are not in the report."""
    from blade.report.text import one_line

    for heading, why in wrong.items():
        typer.echo(f"left out: {one_line(heading, 60)}: {one_line(why, 400)}", err=True)


def without_words(wrong: "Mapping[str, str]") -> str:
    """Which sections of the narrative are not in the report."""
    from blade.report.text import one_line

    headings = ", ".join(one_line(heading, 60) for heading in wrong)
    return f", without these sections of narrative.md: {headings}" if wrong else ""


def redacted_line(redacted: "Redacted") -> str:
    """What was taken out of the shareable report."""
    from blade.report.numbers import plural
    from blade.report.workspace import SHAREABLE

    return f"{SHAREABLE}: {plural(len(redacted.found), 'private thing')} removed"
