"""`blade report`: write the report again, with the labels as they now stand."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.options import AsJson, Folder, epilog
from blade.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from blade.report.redaction import Redacted

EPILOG = epilog(
    "blade report out", "blade report out --shareable", "blade report out --text findings.md --output answer.md"
)


def report(
    folder: Folder,
    shareable: Annotated[
        bool,
        typer.Option(
            "--shareable",
            help="Also write report.shareable.md and appendix.shareable.md, redacted. Share only these two: the other "
            "files are not redacted.",
        ),
    ] = False,
    text: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Render this text, with {{ values }}, instead of the report.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --text: output file; stdout by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Render the report again, with the labels in force.

    The analysis and the reading list are written again too.

    A narrative.md in the folder becomes the prose of the report's sections. Exits with 1 when a section of it does not
    hold; it is left out, and the report says so. With --text a text of your own is rendered and checked; `blade values`
    lists what it can name. Exits with 1 when anything in it is wrong or carries no address.
    """
    if text is not None:
        raise typer.Exit(render_own(folder, text, output))
    if output is not None:
        raise UsageError("--output only applies to --text; add --text FILE.")
    from blade.audit.narrated import render_narrated
    from blade.cli.folders import open_folder
    from blade.cli.summary import cause_lines, file_lines, print_section
    from blade.cli.terminal import foreign, make_console, print_json, put
    from blade.report.workspace import ANALYSIS, write_shareable

    workspace, wrong = render_narrated(open_folder(folder))
    tell_left_out(wrong)
    if shareable:
        for name, redacted in write_shareable(workspace).items():
            typer.echo(redacted_line(name, redacted), err=True)
        typer.echo("Share only these two: report.html and the other files here are not redacted.", err=True)
    if as_json:
        print_json((workspace.folder / ANALYSIS).read_bytes())
    else:
        console = make_console()
        put(console, foreign(f"Written again in {folder}{without_words(wrong)}", "bold"), *file_lines())
        print_section(console, "Causes", cause_lines(workspace.analysis))
    raise typer.Exit(1 if wrong else 0)


def render_own(folder: Path, text: Path, output: Path | None) -> int:
    """Renders somebody's text with its values, says what in it has none, and returns the exit code."""
    from blade.audit.check import check_report
    from blade.audit.evidence import evidence_in
    from blade.cli.check import print_checks
    from blade.cli.inputs import read_text
    from blade.cli.terminal import make_console
    from blade.report.narrative import render_own_text
    from blade.report.workspace import write_texts

    evidence = evidence_in(folder)
    rendered, constants = render_own_text(read_text(text), evidence.writing, where=text.name)
    audit = check_report(rendered.text, evidence=evidence, claimed=rendered.with_lines(constants))
    if output is not None and output.absolute() == text.absolute():
        raise UsageError(f"{output}: is the text itself; choose another file for what is rendered.")
    if output is None:
        typer.echo(rendered.text, nl=not rendered.text.endswith("\n"))
    else:
        write_texts(output.absolute().parent, {output.name: rendered}, constants)
        typer.echo(f"Wrote {output}", err=True)
    console = make_console(stderr=True)
    print_checks(console, audit.contradicted, "Contradicted", 50)
    print_checks(console, audit.unbound, "Without an address", 50)
    return 1 if audit.contradicted or audit.unbound else 0


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


def redacted_line(name: str, redacted: "Redacted") -> str:
    """What was taken out of a shareable text."""
    from blade.report.numbers import plural

    return f"{name}: {plural(len(redacted.found), 'private thing')} removed"
