"""From the user's arguments to runs: find, scan, group, identify, resolve duplicates, join sidecars."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from blade.engine import engine_for
from blade.errors import InputError, UsageError
from blade.rollouts import formats, outcome, ranges
from blade.rollouts.columns import Column
from blade.rollouts.conform import decode_any
from blade.rollouts.duplicates import merge_copies, resolve
from blade.rollouts.expected import Expected, expect
from blade.rollouts.fetch import fetch
from blade.rollouts.finding import find_inputs
from blade.rollouts.foreign import scan_source
from blade.rollouts.formats.reader import Reader
from blade.rollouts.formats.registry import check_format, reader_for
from blade.rollouts.grouping import Draft, ReadOptions, draft_runs
from blade.rollouts.guessed_score import check_words
from blade.rollouts.guessing import guesses
from blade.rollouts.identity import Keys, assign_keys, choose_identity, join_keys, task_codes, unkeyed_reason
from blade.rollouts.joining import Join
from blade.rollouts.reader import FileScan, scan_file
from blade.rollouts.rows import MODEL_FIELDS, Ints, Rows, append, bad_line, pool
from blade.rollouts.sidecars import Sidecars, find_sidecars, has_sidecars
from blade.rollouts.table import Floats, InputFile, RolloutTable, Run
from blade.rollouts.values import BadLine

VARIANT = "variant"
SCORES = "scores."
"""Columns in which readers keep how an attempt was looked at, and what each scorer said."""
MANY_FILES = 16
"""From so many small files on, dividing them is worth starting workers."""
FileProgress = Callable[[Path, int, int], None]
"""Called with the file that is being read, bytes done and bytes in all."""


def read_runs(inputs: Sequence[str], options: ReadOptions, *, progress: FileProgress | None = None) -> list[Run]:
    """Every run in the inputs.

    Raises:
        InputError: an input is missing, empty or unreadable, or none holds a single rollout.
        UsageError: a field the user named does not exist, or an option does nothing here.
    """
    check_format(options.format)
    named = {Path(text) for text in inputs}
    scans, skipped = scan_all(find_inputs(inputs, options.format), named, options, progress)
    if options.records is not None and (reader := scans[0].reader) and all(found.reader for found in scans):
        raise UsageError(f"--records does nothing here: {scans[0].path} is read as {reader.name}, not as a document.")
    builders: list[RunBuilder] = []
    runs: list[Run] = []
    failed: list[tuple[Draft, UsageError | InputError]] = []
    for draft in draft_runs(scans, options):
        try:
            builders.append(RunBuilder(draft, options))
            runs.append(builders[-1].build())
        except (UsageError, InputError) as raised:
            failed.append((draft, raised))
    read = {file.path for run in runs for file in run.files}
    for draft, error in failed:
        # What the user named must be read, at least in part; what was found in a folder may be something else.
        if not runs or any(found.path in named - read for found in draft.files):
            raise error
        reason = first_line(error, draft.files)
        skipped.append(reason if reason.startswith(draft.name) else f"{draft.name}: {reason}")
    notes = [*check_true_words(builders, options.true_words), *(f"skipped {text}" for text in skipped)]
    return [msgspec.structs.replace(run, notes=run.notes + notes) for run in runs] if notes else runs


def check_true_words(builders: "list[RunBuilder]", wanted: Sequence[str]) -> list[str]:
    """What must be said of words that mean success and never occur.

    Raises:
        UsageError: none of them occurs.
    """
    seen = list(dict.fromkeys(word for builder in builders for word in builder.words))
    known = {word.strip().casefold() for word in seen}
    never = [word for word in wanted if word.casefold() not in known]
    if never and len(never) == len(wanted):
        there = f"scores are: {', '.join(seen[:8])}" if seen else "the scores are numbers"
        raise UsageError(f"--true-words {','.join(wanted)}: no score is one of these words; {there}.")
    return [f"no score is {word!r}, which --true-words names" for word in never]


def first_line(error: UsageError | InputError, files: Sequence[FileScan]) -> str:
    """Why something was skipped, in a sentence that calls files by their names alone: reports leave the machine."""
    text = str(error).partition("\n")[0]
    for found in files:
        text = text.replace(str(found.path), found.path.name)
    return f"{text[:-1]}; `blade diagnose` on it alone shows how" if text.endswith(":") else text


def scan_all(
    paths: list[Path], named: Collection[Path], options: ReadOptions, progress: FileProgress | None
) -> tuple[list[FileScan], list[str]]:
    """The files that hold rows; why the others do not, which is an error of one that was named or when none does."""
    scans: list[FileScan] = []
    skipped: list[str] = []
    first: InputError | UsageError | None = None
    for path, found in zip(paths, scan_each(paths, options, progress), strict=True):
        if isinstance(found, FileScan):
            scans.append(found)
            continue
        if path in named:
            raise found
        first = first or found
        skipped.append(first_line(found, ()).replace(str(path), path.name))
    if first is not None and not scans:
        raise first
    return scans, skipped


def scan_each(
    paths: list[Path], options: ReadOptions, progress: FileProgress | None
) -> Iterator[FileScan | InputError | UsageError]:
    """The scan of every file, or why there is none, in order; small files are divided among workers as a whole."""
    alone = msgspec.structs.replace(options, jobs=1)
    engine = engine_for(options.jobs)
    small = [path for path in paths if not is_large(path)] if engine.workers > 1 and not options.join else []
    together = iter(engine.map(partial(try_scan, options=alone), small) if len(small) >= MANY_FILES else ())
    for path in paths:
        if len(small) >= MANY_FILES and not is_large(path):
            yield next(together)
        else:
            yield try_scan(path, options=options, progress=progress)


def is_large(path: Path) -> bool:
    """Whether a file is divided itself."""
    return path.is_file() and path.stat().st_size >= 2 * ranges.MIN_RANGE


def try_scan(
    path: Path, *, options: ReadOptions, progress: FileProgress | None = None
) -> FileScan | InputError | UsageError:
    """The scan of a file, or why there is none."""
    try:
        return scan_one(path, options, progress)
    except (InputError, UsageError) as error:
        return error


def scan_one(path: Path, options: ReadOptions, progress: FileProgress | None) -> FileScan:
    """The scan of a file.

    Raises:
        InputError: the file holds no rollout or cannot be read.
        UsageError: the options do not fit it.
    """

    def report(done: int, total: int) -> None:
        if progress is not None:
            progress(path, done, total)

    reader = joined_reader(options) or reader_for(path, options.format)
    if reader is not None:
        found = scan_source(path, reader, options.reading(), use_cache=options.use_cache, progress=report)
    else:
        found = scan_file(path, options.reading(), jobs=options.jobs, use_cache=options.use_cache, progress=report)
    if not len(found.scan) and not found.scan.bad:
        raise InputError(f"{path}: no rollouts in it: its JSON holds no record.")
    if not len(found.scan):
        bad = found.scan.bad[0]
        many = f"all {len(found.scan.bad)} lines are bad" if len(found.scan.bad) > 1 else "its only line is bad"
        raise InputError(f"{path}: no rollouts in it: {many}; line {bad.line} {bad.reason}.")
    return found


def joined_reader(options: ReadOptions) -> Reader | None:
    """What reads scores together with their trajectories, when the user says where those are.

    Raises:
        UsageError: only one of the two options is given.
    """
    if bool(options.trajectories) != bool(options.join):
        raise UsageError("--trajectories and --join go together: the first says where, the second by which field.")
    plain = msgspec.structs.replace(options, observe=False).reading()
    return Join(options.trajectories, str(options.join), plain).reader() if options.join else None


class RunBuilder:
    """The steps from rows to a run, in order; each adds to what the next needs."""

    def __init__(self, draft: Draft, options: ReadOptions) -> None:
        self.options = options
        self.draft = draft
        form = draft.files[0].format
        self.files = [self._input_file(found) for found in draft.files]
        rows, said = one_variant(draft.rows, options.variant)
        self.identity = choose_identity(rows, form, task_field=options.task_field, repeat_field=options.repeat_field)
        score = score_field(rows, options.score) if options.score is not None else options.reward_field
        self.reward_field = outcome.choose_reward(
            rows, form, score, required=not set(options.fields) & rows.columns.keys(), words=options.true_words
        )
        self.words: list[str] = []
        if self.reward_field in rows.columns and options.true_words:
            levels = rows.columns[self.reward_field].coded().levels
            self.words = [t for t in levels if isinstance(t, str) and isinstance(outcome.plain_score(t), str)]
        check_words(rows, self.reward_field, options, draft.files[0].path)
        if options.output_field is not None and options.features and (rows.fact("items") <= 0).all():
            raise UsageError(f"no row has a text or a list of messages in the field {options.output_field!r}.")
        self.keys = assign_keys(rows, self.identity)
        self.guessed: list[str] = []
        if form.name == formats.FORMATS["records"].name:
            head = decode_any(next(iter(self._fetch(rows, [0])))[1])
            path = draft.files[0].path
            self.guessed = guesses(rows, form, self.identity, self.reward_field, options, path, head, self.keys)
        self.rows = outcome.with_scores(rows, self.reward_field, words=options.true_words)
        said += outcome.score_notes(rows, self.reward_field, options.true_words)
        self.bad = [
            BadLine(file=str(found.path), line=bad.line, offset=bad.offset, reason=bad.reason)
            for found in draft.files
            for bad in found.scan.bad
        ]
        self.bad_scores: list[BadLine] = []
        self.notes = [*draft.notes, *said]
        # A note that names an option says what happens without it.
        chosen = [f"--{name} " for name in ("score", "variant") if getattr(options, name) is not None]
        self.notes += [
            note for found in draft.files for note in found.scan.notes if not any(name in note for name in chosen)
        ]
        self.notes += [note for file in self.files for note in file.sidecars.notes]
        if draft.grouped and any(has_sidecars(file.path) for file in self.files):
            self.notes.append("materialized inputs and failures files are not used when rows are grouped into runs")
        if draft.grouped and self.bad:
            self.notes.append("bad lines belong to no group: every run lists those of all its files")

    def build(self) -> Run:
        """The run."""
        rows, keys = self._usable(self.rows)
        if self.identity.repeat_field is None:
            keys = merge_copies(rows, keys, read=lambda chosen: self._fetch(rows, chosen))
        policy = self.options.duplicates
        resolution = resolve(
            rows,
            keys,
            self._paths(),
            policy=policy,
            scored=~np.isnan(self._rewards(rows)),
            read=lambda chosen: self._fetch(rows, chosen),
        )
        kept = resolution.kept
        keys = Keys(tasks=keys.tasks, task=keys.task[kept], repeat=resolution.repeat[kept])
        rows, keys, recovered = self._with_failures(rows.take(kept), keys)
        wanted = expect(keys, self.identity, self.files, repeats=self.options.expected_repeats)
        rows, keys = begun(rows, keys)
        return Run(
            name=self.draft.name,
            files=self.files,
            table=self._table(rows, keys, wanted),
            identity=self.identity,
            reward_field=self.reward_field,
            bad=sorted(self.bad, key=place_of),
            bad_scores=sorted(self.bad_scores, key=place_of),
            duplicates=resolution.duplicates,
            surplus=resolution.surplus,
            recovered=recovered,
            expected_from=wanted.source,
            notes=[*self.notes, *wanted.notes],
            guessed=self.guessed,
        )

    def _input_file(self, found: FileScan) -> InputFile:
        beside = Sidecars()
        if found.format.name == "gym" and not self.draft.grouped:
            beside = find_sidecars(found.path, features=self.options.features, use_cache=self.options.use_cache)
        parts = [found.path] if found.reader is None else found.reader.files(found.path)
        return InputFile(
            path=found.path,
            format=found.format,
            reader=found.reader,
            size=sum(part.stat().st_size for part in parts),
            rows=len(found.scan),
            sidecars=beside,
            sightings=found.scan.sightings,
        )

    def _paths(self) -> list[str]:
        return [str(file.path) for file in self.files]

    def _fetch(self, rows: Rows, chosen: Iterable[int]) -> Iterator[tuple[int, bytes]]:
        return fetch(self.files, rows, chosen)

    def _usable(self, rows: Rows) -> tuple[Rows, Keys]:
        """The rows with a key; the others become bad lines. A score that is no number leaves its row without one."""
        keys = self.keys
        for row in np.flatnonzero(keys.task < 0).tolist():
            self.bad.append(bad_line(rows, row, self._paths(), unkeyed_reason(rows, row, self.identity)))
        good = np.flatnonzero(keys.task >= 0)
        # A field that the success rule reads too may hold words.
        numeric = self.reward_field is not None and self.reward_field not in self.options.fields
        wrong = outcome.bad_scores(rows, str(self.reward_field)) if numeric else []
        for row, reason in wrong:
            if keys.task[row] >= 0:
                self.bad_scores.append(bad_line(rows, row, self._paths(), reason))
        if len(self.bad_scores) == len(good):
            first = min([*self.bad, *self.bad_scores], key=place_of)
            raise InputError(f"{first.file}: no usable rollouts in it; line {first.line}: {first.reason}.")
        return rows.take(good), Keys(tasks=keys.tasks, task=keys.task[good], repeat=keys.repeat[good])

    def _rewards(self, rows: Rows) -> Floats:
        return rows.numbers(self.reward_field) if self.reward_field else np.full(len(rows), np.nan)

    def _with_failures(self, rows: Rows, keys: Keys) -> tuple[Rows, Keys, int]:
        """Rows of the failures files join the run where no later attempt replaced them; how many were replaced."""
        recovered = 0
        found = [file.sidecars.failures for file in self.files if file.sidecars.failures is not None]
        pairs = zip(keys.task.tolist(), keys.repeat.tolist(), strict=True) if found else ()
        done = {(keys.tasks[task], repeat) for task, repeat in pairs}
        for failures in found:
            lost = pool([failures.scan])
            lost_keys = self._failure_keys(lost)
            if not (lost_keys.task >= 0).any():
                self.notes.append(f"{failures.path.name} is not used: its rows lack what identifies the rollouts")
                continue
            last: dict[tuple[str, int], int] = {}
            for row in np.flatnonzero(lost_keys.task >= 0).tolist():
                key = (lost_keys.tasks[int(lost_keys.task[row])], int(lost_keys.repeat[row]))
                recovered += key in done
                if key not in done:
                    last[key] = row
            chosen = np.asarray(sorted(last.values()), dtype=np.int64)
            rows = append(rows, lost.take(chosen), file=len(self.files))
            keys = join_keys(
                keys, Keys(tasks=lost_keys.tasks, task=lost_keys.task[chosen], repeat=lost_keys.repeat[chosen])
            )
            self.files.append(failure_file(failures))
        return rows, keys, recovered

    def _failure_keys(self, lost: Rows) -> Keys:
        """Keys of failed attempts; none where attempts are only known by their order in the main file."""
        if self.identity.repeat_field is None:
            return Keys(tasks=[], task=np.full(len(lost), -1), repeat=np.zeros(len(lost), dtype=np.int64))
        return assign_keys(lost, self.identity)

    def _table(self, rows: Rows, keys: Keys, wanted: Expected) -> RolloutTable:
        order = np.lexsort((keys.repeat, keys.task))
        rows = rows.take(order)
        task, repeat = keys.task[order], keys.repeat[order]
        rows = with_input_fields(rows, wanted, keys.tasks, task, repeat)
        failed_file = np.asarray([file.failed for file in self.files])[rows.file]
        failure = outcome.failure_classes(rows)
        reward = np.where(failed_file, np.nan, self._rewards(rows))
        ended = outcome.endings(rows, failure, failed_file=failed_file)
        typed = "ending.kind" in rows.columns
        given, made = outcome.tokens(rows)
        if wanted.tasks is not keys.tasks:
            position = {text: index for index, text in enumerate(wanted.tasks)}
            task = np.asarray([position[text] for text in keys.tasks], dtype=np.int64)[task] if len(task) else task
        return RolloutTable(
            tasks=wanted.tasks,
            expected=wanted.counts,
            task=task,
            repeat=repeat,
            reward=reward,
            status=outcome.statuses(ended, scored=~np.isnan(reward)),
            failure=ended.name if typed else failure,
            ending=ended.kind,
            origin=ended.origin,
            ending_name=ended.name,
            model=rows.column(*MODEL_FIELDS),
            agent=rows.column(*outcome.AGENT_FIELDS),
            input_tokens=given,
            output_tokens=made,
            seconds=outcome.seconds(rows),
            rows=rows,
        )


def begun(rows: Rows, keys: Keys) -> tuple[Rows, Keys]:
    """The rows of rollouts that began; those a format lists as not run are missing, unless all are."""
    idle = outcome.equals(rows.column("ending.kind"), "not_run")
    if not idle.any() or idle.all():
        return rows, keys
    kept = np.flatnonzero(~idle)
    return rows.take(kept), Keys(tasks=keys.tasks, task=keys.task[kept], repeat=keys.repeat[kept])


def one_variant(rows: Rows, wanted: str | None) -> tuple[Rows, list[str]]:
    """The rows of one variant, the wanted one or else the first, and what there is beside it.

    Raises:
        UsageError: there is no such variant.
    """
    column = rows.columns.get(VARIANT)
    if column is None or not column.known().any():
        if wanted is not None:
            raise UsageError(f"--variant {wanted}: these rollouts have no variants.")
        return rows, []
    codes, names = task_codes(column)
    first = names[int(codes[np.flatnonzero(codes >= 0)[0]])]
    chosen = first if wanted is None else wanted
    if chosen not in names:
        raise UsageError(f"no variant {chosen!r}; variants are: {', '.join(names)}.")
    others = [name for name in names if name != chosen]
    note = f"{chosen} is counted of {len(names)} variants; choose another with --variant: {', '.join(others)}"
    kept = np.flatnonzero((codes == names.index(chosen)) | (codes < 0))
    return rows.take(kept), [note] if others else []


def score_field(rows: Rows, name: str) -> str:
    """The column of a scorer.

    Raises:
        UsageError: there is no such scorer.
    """
    for path in (f"{SCORES}{name}", name):
        if path in rows.columns:
            return path
    known = [path.removeprefix(SCORES) for path in rows.columns if path.startswith(SCORES)]
    there = f"scores are: {', '.join(known)}" if known else "these rows have no named scores; use --reward-field"
    raise UsageError(f"no score {name!r}; {there}.")


def place_of(bad: BadLine) -> tuple[str, int]:
    return bad.file, bad.offset


def failure_file(failures: FileScan) -> InputFile:
    size, rows = failures.path.stat().st_size, len(failures.scan)
    return InputFile(path=failures.path, format=failures.format, size=size, rows=rows, failed=True)


def with_input_fields(rows: Rows, wanted: Expected, tasks: list[str], task: Ints, repeat: Ints) -> Rows:
    """Adds the fields that only the materialized inputs have: verifiers often drop what they do not need."""
    if wanted.inputs is None:
        return rows
    pairs = zip(task.tolist(), repeat.tolist(), strict=True)
    places = np.asarray([wanted.places.get((tasks[t], r), -1) for t, r in pairs], dtype=np.int64)
    added: dict[str, Column] = {}
    for path, column in wanted.inputs.columns.items():
        if path not in rows.columns and not path.startswith(("responses_create_params.", "agent_ref.")):
            added[path] = outcome.take_or_unknown(column, places)
    return msgspec.structs.replace(rows, columns={**rows.columns, **added})
