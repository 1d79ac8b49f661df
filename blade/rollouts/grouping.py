"""How rows fall into runs.

One set of files may hold several runs. `--group-by` says so; otherwise files that claim mostly the same rollouts, or
identify them in different ways, are taken as separate runs, and other files as shards of one.
"""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from blade.errors import UsageError
from blade.rollouts.duplicates import Policy
from blade.rollouts.identity import Identity, assign_keys, choose_identity, require_field, task_codes
from blade.rollouts.observing import registered
from blade.rollouts.reader import FileScan, Reading
from blade.rollouts.rows import MODEL_FIELDS, Ints, Rows, join_rows, pool
from blade.rollouts.sources import plain_name
from blade.rollouts.where import chosen_rows, fields_of

OVERLAP = 0.5
MOST_RUNS = 1000
BY_FILE = "file"
"""The name by which `--group-by` makes every file a run."""
RUN = "run"
"""The column in which a reader names the run of each row."""
BY_MODEL = "model"
"""The name by which `--group-by` makes every model a run, wherever rows say which one it was."""


class ReadOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a user can say about how rollouts are read."""

    format: str | None = None
    """Name of the format; detected by content when `None`."""
    task_field: str | None = None
    """Field that names the task."""
    repeat_field: str | None = None
    """Field that numbers attempts."""
    reward_field: str | None = None
    """Field that contains the score."""
    output_field: str | None = None
    """Field that holds the output: a text, or a list of messages or items."""
    group_by: tuple[str, ...] = ()
    """Fields whose values tell runs apart; `file` makes every file a run, `model` every model."""
    duplicates: Policy = "first"
    """Which of several conflicting rows is scored."""
    expected_repeats: int | None = None
    """Number of rollouts each task should have."""
    score: str | None = None
    """Which of several scorers counts, by its name."""
    variant: str | None = None
    """Which of several looks at the same attempts counts (a filter of lm-eval), by its name."""
    true_words: tuple[str, ...] = ()
    """Words that mean success where the score is a word; every other word means failure."""
    where: str | None = None
    """Expression over fields that rows must satisfy to be read at all."""
    records: str | None = None
    """Path of the list that holds the records of a JSON document."""
    trajectories: tuple[str, ...] = ()
    """Files, globs or folders that hold the trajectories of rows that have only scores."""
    join: str | None = None
    """Field that joins scores and trajectories: `NAME`, or `NAME=NAME_IN_TRAJECTORY`."""
    fields: tuple[str, ...] = ()
    """Further fields that must be read, for slices and clusters."""
    features: bool = True
    """Whether trajectories are looked at."""
    jobs: int = 1
    """Processes that read a large file."""
    use_cache: bool = True
    """Whether scans are kept for the next time."""
    observe: bool = False
    """Whether rows are looked at as a diagnosis needs it, while they are read."""

    def reading(self) -> Reading:
        """The part of the options a scan depends on."""
        named = (self.task_field, self.repeat_field, self.reward_field, *self.group_by, *self.fields)
        where = fields_of(self.where) if self.where else ()
        parts = (self.reward_field or "").removeprefix("-").split("/")
        fields = tuple(sorted({name for name in (*named, *parts, *where) if name and name != BY_FILE}))
        return Reading(
            format=self.format,
            output=self.output_field,
            fields=fields,
            features=self.features,
            records=self.records,
            observer=registered() if self.observe and self.features else None,
        )


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
    notes: list[str] = []
    """What must be said about how its rows were chosen."""


def draft_runs(scans: list[FileScan], options: ReadOptions) -> list[Draft]:
    """How the rows fall into runs; those that `--where` leaves out are in none."""
    drafts = all_drafts(scans, options)
    return drafts if options.where is None else chosen_drafts(drafts, options.where)


def all_drafts(scans: list[FileScan], options: ReadOptions) -> list[Draft]:
    names = run_names([found.path for found in scans])
    if options.group_by == (BY_FILE,):
        return [
            Draft(name=name, files=[found], rows=pool([found.scan])) for name, found in zip(names, scans, strict=True)
        ]
    if options.group_by:
        return grouped_runs(pool([found.scan for found in scans]), scans, options.group_by)
    parts = [part for name, found in zip(names, scans, strict=True) for part in runs_within(name, found)]
    together: dict[tuple[str, str | None], list[Part]] = {}
    for part in parts:
        together.setdefault((part.file.format.name, part.run), []).append(part)
    drafts = [draft for group in together.values() for draft in joined_drafts(group, options)]
    several = numbered(draft.name for draft in drafts)
    return [msgspec.structs.replace(draft, name=name) for draft, name in zip(drafts, several, strict=True)]


class Part(NamedTuple):
    """Rows of one source that belong to one run."""

    name: str
    """What the source is called."""
    run: str | None
    """What its reader calls the run; `None` when the format has no name for it."""
    file: FileScan
    rows: Rows
    whole: bool
    """Whether the source holds no other run."""


def runs_within(name: str, found: FileScan) -> list[Part]:
    """The runs a reader tells apart in one source."""
    rows = pool([found.scan])
    if found.reader is None or RUN not in rows.columns:
        return [Part(name, None, found, rows, True)]
    codes, texts = task_codes(rows.columns[RUN])
    used = np.unique(codes).tolist()
    return [
        Part(name, texts[code] if code >= 0 else None, found, rows.take(np.flatnonzero(codes == code)), len(used) == 1)
        for code in used
    ]


def joined_drafts(parts: list[Part], options: ReadOptions) -> list[Draft]:
    """Parts that are shards of one run as one draft; parts that claim the same rollouts as runs of their own."""
    if len(parts) == 1 or are_separate(parts, options):
        return [
            Draft(name=name, files=[part.file], rows=part.rows, grouped=not part.whole)
            for name, part in zip(own_names(parts), parts, strict=True)
        ]
    files = [part.file for part in parts]
    rows = join_rows([part.rows for part in parts], file=np.repeat(np.arange(len(parts)), [len(p.rows) for p in parts]))
    grouped = not all(part.whole for part in parts)
    return [
        Draft(name=parts[0].run or common_name([part.name for part in parts]), files=files, rows=rows, grouped=grouped)
    ]


def own_names(parts: list[Part]) -> list[str]:
    """What separate runs are called: what their reader calls them, namesakes by their model, else by their source."""
    if len(parts) == 1:
        return [parts[0].run or parts[0].name]
    models = [models_of(part.rows) for part in parts]
    if parts[0].run is not None and all(len(each) == 1 for each in models) and len(set().union(*models)) == len(parts):
        return [f"{parts[0].run} {model}" for each in models for model in each]
    return [part.name for part in parts]


def models_of(rows: Rows) -> set[str]:
    """The models that rows name."""
    return set(task_codes(rows.column(*MODEL_FIELDS))[1])


def chosen_drafts(drafts: list[Draft], where: str) -> list[Draft]:
    """The drafts without the rows an expression leaves out; drafts without rows are none.

    Raises:
        UsageError: no row is left.
    """
    chosen: list[Draft] = []
    for draft in drafts:
        mask = chosen_rows(where, draft.rows, [found.path.name for found in draft.files])
        if mask.any():
            note = f"{int(mask.sum())} of {len(mask)} rows satisfy --where {where}"
            rows = draft.rows.take(np.flatnonzero(mask))
            chosen.append(msgspec.structs.replace(draft, rows=rows, grouped=True, notes=[note]))
    if not chosen:
        raise UsageError(f"no row satisfies --where {where!r}.")
    return chosen


def are_separate(parts: list[Part], options: ReadOptions) -> bool:
    """Whether sources identify their rows in different ways, name different models, or any two claim mostly the same
    rollouts."""
    seen: set[tuple[str, int]] = set()
    ways: set[Identity] = set()
    models: set[str] = set()
    for part in parts:
        named = models_of(part.rows)
        if models and named and not models & named:
            return True
        models |= named
        fields = {"task_field": options.task_field, "repeat_field": options.repeat_field}
        try:
            identity = choose_identity(part.rows, part.file.format, **fields)
        except UsageError:
            return True
        ways.add(identity)
        keys = assign_keys(part.rows, identity)
        pairs = zip(keys.task.tolist(), keys.repeat.tolist(), strict=True)
        mine = {(keys.tasks[task], repeat) for task, repeat in pairs if task >= 0}
        if len(ways) > 1 or len(mine & seen) > OVERLAP * len(mine):
            return True
        seen |= mine
    return False


def run_names(paths: list[Path]) -> list[str]:
    """A short name for every file, each different: as many of its folders as it takes."""
    stems = [re.sub(r"\.(jsonl|ndjson|json|eval|parquet|csv|tsv)$", "", plain_name(path)) for path in paths]
    names, taken = stems, Counter(stems)
    # `run.jsonl` and `run.jsonl.gz` beside each other: no folder tells them apart.
    places = {(path.parent, name) for path, name in zip(paths, stems, strict=True)}
    for depth in range(1, max((len(path.parts) for path in paths), default=0)):
        if len(set(names)) == len(places):
            break
        folders = [[part for part in path.parent.parts[-depth:] if part != path.anchor] for path in paths]
        parts = zip(folders, stems, strict=True)
        names = ["-".join([*folder, stem]) if taken[stem] > 1 else stem for folder, stem in parts]
    return numbered(names)


def numbered(names: Iterable[str]) -> list[str]:
    """The names, a second one of the same kind with `(2)` behind it."""
    seen: Counter[str] = Counter()
    out: list[str] = []
    for name in names:
        seen[name] += 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return out


def common_name(names: list[str]) -> str:
    prefix = names[0]
    for name in names:
        while not name.startswith(prefix):
            prefix = prefix[:-1]
    return prefix.rstrip("-_. ") or f"{names[0]} and {len(names) - 1} more"


def grouped_runs(rows: Rows, scans: list[FileScan], fields: tuple[str, ...]) -> list[Draft]:
    """One draft per combination of values, in natural order; rows without a value come last."""
    values = [group_values(rows, scans, field) for field in fields]
    combinations, place = np.unique(np.stack([codes for codes, _ in values]), axis=1, return_inverse=True)
    count = combinations.shape[1]
    if count > MOST_RUNS:
        raise UsageError(f"--group-by {','.join(fields)}: {count} different values; pick a field with fewer.")
    texts = [texts for _, texts in values]
    names = [", ".join(map(list.__getitem__, texts, codes)) for codes in combinations.T.tolist()]
    return [
        Draft(name=name, files=scans, rows=rows.take(np.flatnonzero(place.ravel() == index)), grouped=True)
        for index, name in enumerate(numbered(names))
    ]


def group_values(rows: Rows, scans: list[FileScan], field: str) -> tuple[Ints, list[str]]:
    """Per row: index of its value; and the values, the last of which stands for none."""
    if field == BY_FILE:
        return rows.file, run_names([found.path for found in scans])
    if field == BY_MODEL and field not in rows.columns:
        field = next((path for path in MODEL_FIELDS if path in rows.columns), field)
    require_field(rows, field)
    codes, texts = task_codes(rows.columns[field])
    return np.where(codes < 0, len(texts), codes), [*texts, "none"]
