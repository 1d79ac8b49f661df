"""`blade list formats`: what can be read."""

from blade.cli.options import AsJson, epilog

EPILOG = epilog("blade list formats", "blade list formats --json")


def formats(as_json: AsJson = False) -> None:
    """List the formats that can be read.

    Readers that installed packages bring are listed too. A format is recognised by content; --format NAME of other
    commands names it.
    """
    from blade.cli.terminal import foreign, make_console, print_as_json, put
    from blade.rollouts.formats.registry import list_formats

    known = list_formats()
    if as_json:
        print_as_json(known)
        return
    console = make_console()
    width = max(len(entry["name"]) for entry in known) + 2
    for entry in known:
        line = foreign(entry["name"].ljust(width), "cyan")
        line.append_text(foreign(entry["title"], ""))
        put(console, line)
