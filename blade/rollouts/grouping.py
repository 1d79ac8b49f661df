"""How rows fall into runs.

One set of files may hold several runs. `--group-by` says so; otherwise files that claim mostly the same rollouts are
taken as separate runs, and files that do not as shards of one.
"""

import re
from pathlib import Path

import msgspec
import numpy as np

from blade.rollouts.columns import level_text
from blade.rollouts.duplicates import Policy
from blade.rollouts.identity import assign_keys, choose_identity, natural_key, require_field
from blade.rollouts.reader import FileScan, Reading
from blade.rollouts.rows import Rows, pool
from blade.rollouts.sources import plain_name

OVERLAP = 0.5
BY_FILE = "file"
"""The name by which `--group-by` makes every file a run."""


class ReadOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a user can say about how rollouts are read."""

    format: str | None = None
    """Name of the format; detected by content when `None`."""
    task_field: str | None = None
    """Field that names the task."""
    repeat_field: str | None = None
    """Field that numbers attempts."""
    reward_field: str | None = None
    """Field that holds the score."""
    output_field: str | None = None
    """Field that holds the output: a text, or a list of messages or items."""
    group_by: tuple[str, ...] = ()
    """Fields whose values tell runs apart; `file` makes every file a run."""
    duplicates: Policy = "first"
    """Which of several conflicting rows is scored."""
    expected_repeats: int | None = None
    """How many rollouts every task should have."""
    fields: tuple[str, ...] = ()
    """Further fields that must be read, for slices and clusters."""
    features: bool = True
    """Whether trajectories are looked at."""
    jobs: int = 1
    """Processes that read a large file."""
    use_cache: bool = True
    """Whether scans are kept for the next time."""

    def reading(self) -> Reading:
        """The part of the options a scan depends on."""
        named = (self.task_field, self.repeat_field, self.reward_field, *self.group_by, *self.fields)
        fields = tuple(sorted({name for name in named if name and name != BY_FILE}))
        return Reading(format=self.format, output=self.output_field, fields=fields, features=self.features)


class Draft(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Rows that will become one run."""

    name: str
    """What the run is called."""
    files: list[FileScan]
    """The files the rows come from."""
    rows: Rows
    """The rows."""
    grouped: bool = False
    """Whether the files hold rows of other runs too."""


def draft_runs(scans: list[FileScan], options: ReadOptions) -> list[Draft]:
    """How the rows fall into runs."""
    names = run_names([found.path for found in scans])
    rivals = not options.group_by and len(scans) > 1 and are_rivals(scans)
    if options.group_by == (BY_FILE,) or rivals:
        alone = zip(names, scans, strict=True)
        return [Draft(name=name, files=[found], rows=pool([found.scan])) for name, found in alone]
    rows = pool([found.scan for found in scans])
    if not options.group_by:
        return [Draft(name=names[0] if len(names) == 1 else common_name(names), files=scans, rows=rows)]
    return grouped_runs(rows, scans, options.group_by)


def are_rivals(scans: list[FileScan]) -> bool:
    """Whether any two files claim mostly the same rollouts."""
    seen: set[tuple[str, int]] = set()
    for found in scans:
        rows = pool([found.scan])
        keys = assign_keys(rows, choose_identity(rows, found.format))
        pairs = zip(keys.task.tolist(), keys.repeat.tolist(), strict=True)
        mine = {(keys.tasks[task], repeat) for task, repeat in pairs if task >= 0}
        if len(mine & seen) > OVERLAP * len(mine):
            return True
        seen |= mine
    return False


def run_names(paths: list[Path]) -> list[str]:
    """A short name for every file, each different."""
    stems = [re.sub(r"\.(jsonl|ndjson|json)$", "", plain_name(path)) for path in paths]
    if len(set(stems)) == len(stems):
        return stems
    places = zip(paths, stems, strict=True)
    return [f"{path.parent.name}-{name}" if stems.count(name) > 1 else name for path, name in places]


def common_name(names: list[str]) -> str:
    prefix = names[0]
    for name in names:
        while not name.startswith(prefix):
            prefix = prefix[:-1]
    return prefix.rstrip("-_. ") or f"{names[0]} and {len(names) - 1} more"


def grouped_runs(rows: Rows, scans: list[FileScan], fields: tuple[str, ...]) -> list[Draft]:
    """One draft per combination of values, in natural order."""
    for field in fields:
        if field != BY_FILE:
            require_field(rows, field)
    labels = [group_label(rows, scans, fields, row) for row in range(len(rows))]
    members: dict[str, list[int]] = {}
    for row, label in enumerate(labels):
        members.setdefault(label, []).append(row)
    return [
        Draft(name=label, files=scans, rows=rows.take(np.asarray(members[label])), grouped=True)
        for label in sorted(members, key=natural_key)
    ]


def group_label(rows: Rows, scans: list[FileScan], fields: tuple[str, ...], row: int) -> str:
    values: list[str] = []
    for field in fields:
        value = plain_name(scans[int(rows.file[row])].path) if field == BY_FILE else rows.columns[field].at(row)
        values.append("none" if value is None else level_text(value))
    return ", ".join(values)
