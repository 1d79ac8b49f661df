"""`blade demo`: the whole story on data that comes with the package."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.options import epilog
from blade.errors import InputError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from blade.report.workspace import Workspace

EPILOG = epilog("blade demo", "blade demo --out /tmp/demo")
DATA = "rollouts"
"""Folder of the demonstration that the rollouts are copied to, so that its reader can look at them."""


def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Output folder: a new one, or that of an earlier demo.")
    ] = Path("blade-demo"),
) -> None:
    """Diagnose made-up rollouts that come with BLADE.

    No data, no key and no network needed.
    """
    from blade.cli.pipeline import cores, diagnose_into
    from blade.cli.summary import print_summary
    from blade.cli.terminal import make_console
    from blade.diagnosis import AnalyzeOptions
    from blade.rollouts import ReadOptions

    rollouts = lay_out(out)
    done = diagnose_into(out, [str(rollouts)], read=ReadOptions(jobs=cores()), options=AnalyzeOptions())
    console, workspace = make_console(), done.workspaces[0]
    print_step(console, "blade", "diagnose", str(rollouts), "--out", str(out))
    print_summary(console, workspace)
    print_excerpts(console, workspace)
    typer.echo(f"\nOpen {out / 'report.html'} in a browser, or read {out / 'report.md'}.")
    typer.echo(f"The rollouts they speak of are made up; they are in {rollouts.parent}.")


def lay_out(out: Path) -> Path:
    """Copies the shipped files into the folder; the path of the rollouts among them.

    Raises:
        UsageError: the folder holds something else.
    """
    from importlib.resources import files

    place = out / DATA
    if out.exists() and not place.is_dir() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out}: exists and is not an earlier demo; choose another folder with --out.")
    try:
        place.mkdir(parents=True, exist_ok=True)
        for file in (files("blade.cli") / "demo_data").iterdir():
            if file.name.endswith((".jsonl", ".json")):
                (place / file.name).write_bytes(file.read_bytes())
    except OSError as error:
        raise InputError(f"{place}: cannot be written: {error.strerror or error}.") from error
    return place / "rollouts.jsonl"


def print_step(console: "Console", *words: str) -> None:
    """A command as somebody would type it."""
    from rich.rule import Rule
    from rich.text import Text

    from blade.cli.terminal import command

    console.print()
    console.print(Rule(Text(f"$ {command(*words)}", "bold"), align="left", style="dim"))
    console.print()


def print_excerpts(console: "Console", workspace: "Workspace") -> None:
    """A look into a failing rollout, and at where a failing and a passing one part."""
    from blade.cli.side_by_side import compare, print_comparison
    from blade.cli.trajectory import print_rollout, select_rollout

    analysis, folder = workspace.analysis, str(workspace.folder)
    cited = [c for signal in analysis.signals if signal.kind == "behaviour" for c in signal.citations if "#" in c]
    pairs = [item.read for item in analysis.reading_list if len(item.read) == 2]
    if cited:
        print_step(console, "blade", "show", folder, cited[0])
        print_rollout(console, select_rollout(workspace, cited[0], items=None, max_chars=300))
    if pairs:
        print_step(console, "blade", "diff", folder, *pairs[0], "--context", "1")
        print_comparison(console, compare(workspace, *pairs[0], context=1, max_chars=300, any_task=False))
