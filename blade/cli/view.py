"""`blade view`: the page of a diagnosis, or of several, served to a browser on this machine."""

from pathlib import Path
from typing import Annotated

import typer

from blade.cli.options import AsJson, Folder, epilog

EPILOG = epilog("blade view out", "blade view out --port 8421 --open")


def view(
    folder: Folder,
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="N", help="Port to listen on; 0 picks a free one.")
    ] = 0,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in your browser.")] = False,
    author: Annotated[
        str | None, typer.Option(metavar="WHO", help="Author of labels you give; human:YOU by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Serve the page of a diagnosis, and label tasks there.

    Trajectories are read from the rollout files, so runs of any size open at once. A folder of several runs opens with
    their table, which leads to each. The server listens on 127.0.0.1 only; the address it prints works once. Stop it
    with Ctrl-C.
    """
    import secrets
    import webbrowser

    from blade.cli.label import user_name
    from blade.cli.terminal import print_json
    from blade.errors import UsageError
    from blade.report.page.server import ViewServer
    from blade.report.page.viewer import Views

    runs, pages = what_to_view(folder)
    views = Views(runs, pages, author=author or f"human:{user_name()}", token=secrets.token_urlsafe(24))
    views.viewer("")  # a run that cannot be read says so now
    try:
        server = ViewServer(views, port)
    except OSError as error:
        raise UsageError(
            f"port {port} cannot be used: {error.strerror or error}; choose another with --port."
        ) from error
    if as_json:
        print_json(f'{{"url": "{server.url}"}}\n'.encode())
    else:
        typer.echo(server.url)
        typer.echo("Open this address in a browser; stop with Ctrl-C.", err=True)
    if open_browser:
        webbrowser.open(server.url)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        typer.echo("Stopped.", err=True)
    finally:
        server.server_close()


def what_to_view(folder: Path) -> tuple[dict[str, Path], dict[str, Path]]:
    """Runs and finished pages of a folder, by their addresses: one run, a table that leads to several, a comparison."""
    from blade.cli.folders import holds_several, run_folders
    from blade.report.page.comparison_page import COMPARISON_PAGE
    from blade.report.page.run_page import PAGE
    from blade.report.workspace import ANALYSIS

    runs = {run.name: run for run in run_folders(folder)} if holds_several(folder) else {"": folder}
    comparison = folder / COMPARISON_PAGE
    pages = {COMPARISON_PAGE: comparison} if comparison.exists() else {}
    if "" not in runs:
        return runs, {**pages, "": folder / PAGE, PAGE: folder / PAGE}
    if pages and not (folder / ANALYSIS).exists():  # `blade compare` wrote it
        return {}, {"": comparison}
    return runs, {}
