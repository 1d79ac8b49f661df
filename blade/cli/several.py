"""Several runs at once: a table of them on the terminal, and one JSON document of all."""

from typing import Any

import msgspec
from rich.console import Console
from rich.text import Text

from blade.cli.folders import RUNS
from blade.cli.pipeline import bucket_counts
from blade.cli.summary import LOOKS, WORDS, bar
from blade.cli.terminal import code_line, command, indented, name_last, path_lines, put
from blade.diagnosis.analysis import Analysis, headline_of
from blade.report.headline import interval_words, is_rate, value_words
from blade.report.numbers import count, plural
from blade.report.page.run_page import PAGE
from blade.report.text import one_line
from blade.report.workspace import REPORT, Workspace

MOST_RUNS = 28
BAR_WIDTH = 12
SHOWN_IF_ANY = ("missing", "bad lines")
MOST_NOTES = 4
MOST_TASKS = 0.9
"""Share of another run's tasks from which on two scores are taken for scores of the same tasks."""


def print_runs(console: Console, workspaces: list[Workspace], comparison: str | None = None) -> None:
    """One line per run, then where to look."""
    out = one_line(str(workspaces[0].folder.parent))
    put(console, Text(plural(len(workspaces), "run"), "bold"), *run_lines(workspaces[:MOST_RUNS]))
    if (hidden := len(workspaces) - MOST_RUNS) > 0:
        put(console, Text(f"  … and {plural(hidden, 'more run')} in {RUNS}", "dim"))
    notes = [*skipped(workspaces), *copies(workspaces), *on_fewer_tasks(workspaces)]
    put(console, *(indented(Text(line, "yellow")) for line in notes[:MOST_NOTES]))
    if (untold := len(notes) - MOST_NOTES) > 0:
        put(console, Text(f"  … and {plural(untold, 'more note')} in the reports", "dim"))
    if comparison is not None:
        put(console, Text(), Text("Compared", "bold"), indented(Text(one_line(comparison))))
    best = max(workspaces, key=lambda each: each.analysis.coverage.rollouts - each.analysis.coverage.unscored)
    put(console, Text(), Text("Read on", "bold"), code_line(command("cat", str(best.folder / REPORT))))
    put(console, *path_lines(console, f"{out}/{PAGE} in a browser leads to the page of every run"))
    put(console, *path_lines(console, f"{plural(len(workspaces), 'folder')} in {out}", f"listed in {out}/{RUNS}"))


def run_lines(workspaces: list[Workspace]) -> list[Text]:
    """A row per run; counts that are zero in all of them are left out."""
    titles = ["", "95 % interval", *(look.name for look in LOOKS), "bad lines", "", "run"]
    rows = [run_row(workspace.analysis) for workspace in workspaces]
    empty = {at for at, name in enumerate(titles) if name in SHOWN_IF_ANY and not any(r[at].plain > "0" for r in rows)}
    kept = [at for at in range(len(titles)) if at not in empty]
    return name_last([titles[at] for at in kept], [[row[at] for at in kept] for row in rows])


def run_row(analysis: Analysis) -> list[Text]:
    metric, sizes = headline_of(analysis), msgspec.structs.astuple(bucket_counts(analysis))
    has_buckets = analysis.success.kind in ("binary", "rule")
    return [
        Text(f"{WORDS[analysis.headline]} {value_words(metric, rate=is_rate(analysis))}", "bold"),
        Text(interval_words(metric, rate=is_rate(analysis))),
        *(Text(count(size) if has_buckets else "") for size in sizes),
        Text(count(analysis.coverage.malformed), "yellow" if analysis.coverage.malformed else "dim"),
        bar(sizes, width=BAR_WIDTH) if has_buckets else Text(),
        Text(one_line(analysis.inputs.run), "cyan"),
    ]


def copies(workspaces: list[Workspace]) -> list[str]:
    """Runs that hold the same rollouts as another."""
    pairs = [(w.analysis.inputs.run, ", ".join(w.analysis.inputs.copies)) for w in workspaces]
    return [f"{one_line(run)} holds the same rollouts as {one_line(same)}" for run, same in pairs if same]


def on_fewer_tasks(workspaces: list[Workspace]) -> list[str]:
    """Runs that have but some of the tasks that another run has, whose scores are of other things."""
    largest = max(workspaces, key=lambda each: len(each.analysis.tasks)).analysis
    known = {result.task for result in largest.tasks}
    shares = {w.analysis.inputs.run: known & {result.task for result in w.analysis.tasks} for w in workspaces}
    whole = f"the {plural(len(known), 'task')} of {one_line(largest.inputs.run)}"
    return [
        f"{one_line(run)} has {len(mine)} of {whole}: the two scores are of different tasks"
        for run, mine in shares.items()
        if 0 < len(mine) < MOST_TASKS * len(known)
    ]


def skipped(workspaces: list[Workspace]) -> list[str]:
    """Files that hold no run; every run says so."""
    notes = dict.fromkeys(note for w in workspaces for note in w.analysis.inputs.notes if note.startswith("skipped "))
    return [one_line(note) for note in notes]


def runs_document(workspaces: list[Workspace]) -> bytes:
    """All analyses in one JSON document."""
    runs: list[dict[str, Any]] = [
        {"name": w.analysis.inputs.run, "out": str(w.folder), "analysis": w.analysis} for w in workspaces
    ]
    return msgspec.json.format(msgspec.json.encode({"runs": runs}), indent=2)
