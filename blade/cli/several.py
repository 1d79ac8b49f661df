"""Several runs at once: a table of them on the terminal, and one JSON document of all."""

from typing import Any

import msgspec
from rich.console import Console
from rich.text import Text

from blade.cli.bars import LOOKS, bar
from blade.cli.folders import RUNS
from blade.cli.highlights import code_line, grid
from blade.cli.pipeline import bucket_counts
from blade.cli.summary import WORDS
from blade.cli.terminal import command, put
from blade.diagnosis.analysis import Analysis, headline_of
from blade.report.headline import interval_words, is_rate, value_words
from blade.report.numbers import count, plural
from blade.report.text import one_line
from blade.report.workspace import REPORT, Workspace

MOST_RUNS = 40
BAR_WIDTH = 12


def print_runs(console: Console, workspaces: list[Workspace], comparison: str | None = None) -> None:
    """One line per run, then where to look."""
    out = one_line(str(workspaces[0].folder.parent))
    table = grid("run", "", "95 % interval", *(look.name for look in LOOKS), "bad lines", "")
    for workspace in workspaces[:MOST_RUNS]:
        table.add_row(*run_row(workspace.analysis))
    put(console, Text(plural(len(workspaces), "run"), "bold"), table)
    if (hidden := len(workspaces) - MOST_RUNS) > 0:
        put(console, Text(f"  … and {plural(hidden, 'more run')} in {RUNS}", "dim"))
    put(console, *(Text(f"  {line}", "yellow") for line in [*copies(workspaces), *skipped(workspaces)]))
    if comparison is not None:
        put(console, Text(), Text("Compared", "bold"), Text(f"  {one_line(comparison, 400)}"))
    put(console, Text(), Text("Read on", "bold"), code_line(command("cat", str(workspaces[0].folder / REPORT))))
    put(console, Text(f"  {plural(len(workspaces), 'folder')} in {out}, listed in {out}/{RUNS}", "dim"))


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
