"""Several runs at once: a table of them on the terminal, and one JSON document of all."""

from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from blade.cli.bars import LOOKS, bar
from blade.cli.folders import RUNS
from blade.cli.highlights import code_line, grid
from blade.cli.pipeline import bucket_counts
from blade.cli.summary import WORDS
from blade.cli.terminal import command, indented, put
from blade.diagnosis.analysis import Analysis, headline_of
from blade.report.headline import interval_words, is_rate, value_words
from blade.report.numbers import count, plural
from blade.report.text import one_line
from blade.report.workspace import REPORT, Workspace

MOST_RUNS = 40
BAR_WIDTH = 12
WIDE = 90
"""Columns a terminal needs before numbers are never broken; then the names of runs give way."""
NUMBERS = 80
"""Columns that everything but the name takes, about."""
SHOWN_IF_ANY = ("missing", "bad lines")


def print_runs(console: Console, workspaces: list[Workspace], comparison: str | None = None) -> None:
    """One line per run, then where to look."""
    out = one_line(str(workspaces[0].folder.parent))
    put(console, Text(plural(len(workspaces), "run"), "bold"), runs_table(workspaces[:MOST_RUNS], width=console.width))
    if (hidden := len(workspaces) - MOST_RUNS) > 0:
        put(console, Text(f"  … and {plural(hidden, 'more run')} in {RUNS}", "dim"))
    put(console, *(Text(f"  {line}", "yellow") for line in [*copies(workspaces), *skipped(workspaces)]))
    if comparison is not None:
        put(console, Text(), Text("Compared", "bold"), indented(Text(one_line(comparison, 400))))
    put(console, Text(), Text("Read on", "bold"), code_line(command("cat", str(workspaces[0].folder / REPORT))))
    put(console, Text(f"  {plural(len(workspaces), 'folder')} in {out}, listed in {out}/{RUNS}", "dim"))


def runs_table(workspaces: list[Workspace], *, width: int) -> Table:
    """A row per run; counts that are zero in all of them are left out."""
    titles = ["run", "", "95 % interval", *(look.name for look in LOOKS), "bad lines", ""]
    rows = [run_row(workspace.analysis) for workspace in workspaces]
    kept = [
        at for at, title in enumerate(titles) if title not in SHOWN_IF_ANY or any(row[at].plain > "0" for row in rows)
    ]
    if max(len(row[0]) for row in rows) > width - NUMBERS:
        kept.pop()  # the bar only repeats the counts, and names need its room
    table = grid(*(titles[at] for at in kept))
    for at, column in zip(kept[1:], table.columns[1:], strict=True):
        column.no_wrap = width >= WIDE
        column.justify = "right" if titles[at] or at == 1 else "left"
    for row in rows:
        table.add_row(*(row[at] for at in kept))
    return table


def run_row(analysis: Analysis) -> list[Text]:
    metric, sizes = headline_of(analysis), msgspec.structs.astuple(bucket_counts(analysis))
    has_buckets = analysis.success.kind in ("binary", "rule")
    return [
        Text(one_line(analysis.inputs.run, 40), "cyan"),
        Text(f"{WORDS[analysis.headline]} {value_words(metric, rate=is_rate(analysis))}", "bold"),
        Text(interval_words(metric, rate=is_rate(analysis))),
        *(Text(count(size) if has_buckets else "") for size in sizes),
        Text(count(analysis.coverage.malformed), "yellow" if analysis.coverage.malformed else "dim"),
        bar(sizes, width=BAR_WIDTH) if has_buckets else Text("no success rule"),
    ]


def copies(workspaces: list[Workspace]) -> list[str]:
    """Runs that hold the same rollouts as another."""
    pairs = [(w.analysis.inputs.run, ", ".join(w.analysis.inputs.copies)) for w in workspaces]
    return [f"{one_line(run, 60)} holds the same rollouts as {one_line(same, 120)}" for run, same in pairs if same]


def skipped(workspaces: list[Workspace]) -> list[str]:
    """Files that hold no run; every run says so."""
    notes = dict.fromkeys(note for w in workspaces for note in w.analysis.inputs.notes if note.startswith("skipped "))
    return [one_line(note, 300) for note in notes]


def runs_document(workspaces: list[Workspace]) -> bytes:
    """All analyses in one JSON document."""
    runs: list[dict[str, Any]] = [
        {"name": w.analysis.inputs.run, "out": str(w.folder), "analysis": w.analysis} for w in workspaces
    ]
    return msgspec.json.format(msgspec.json.encode({"runs": runs}), indent=2)
