"""`blade view`: the page of a diagnosis, served to a browser on this machine."""

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

    Trajectories are read from the rollout files, so runs of any size open at once. The server listens on 127.0.0.1
    only; the address it prints works once. Stop it with Ctrl-C.
    """
    import secrets
    import webbrowser

    from blade.cli.folders import open_folder
    from blade.cli.label import user_name
    from blade.cli.terminal import print_json
    from blade.errors import UsageError
    from blade.report.page.server import ViewServer
    from blade.report.page.viewer import Viewer

    viewer = Viewer(open_folder(folder), author=author or f"human:{user_name()}", token=secrets.token_urlsafe(24))
    try:
        server = ViewServer(viewer, port)
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
