"""`blade report`: write the report again, with the labels as they now stand."""

from blade.cli.options import AsJson, Folder, epilog

EPILOG = epilog("blade report out")


def report(folder: Folder, as_json: AsJson = False) -> None:
    """Write the report, the analysis and the reading list again with the labels in force."""
    from blade.cli.folders import open_folder
    from blade.cli.highlights import cause_lines
    from blade.cli.summary import file_lines, print_section
    from blade.cli.terminal import foreign, make_console, print_json, put
    from blade.report.workspace import ANALYSIS, render_again

    workspace = render_again(open_folder(folder))
    if as_json:
        print_json((workspace.folder / ANALYSIS).read_bytes())
        return
    console = make_console()
    put(console, foreign(f"Written again in {folder}", "bold"), *file_lines())
    print_section(console, "Causes", cause_lines(workspace.analysis))
