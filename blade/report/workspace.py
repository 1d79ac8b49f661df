"""The folder a diagnosis lives in: `report.html`, `report.md`, `appendix.md`, `analysis.json` and so on.

A reader may add `narrative.md`, whose prose the report then carries. These files hold no machine paths and can be
shared as far as what the rollouts say can. Where the rollouts are, and how to read them again, stands in
`.blade/request.json` beside them.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import msgspec

from blade.diagnosis.analysis import DECODER, SCHEMA_VERSION, Analysis
from blade.diagnosis.analyze import AnalyzeOptions
from blade.diagnosis.differences import Conventions, conventions_of
from blade.diagnosis.judging import decide_success
from blade.diagnosis.labels import Label, read_labels
from blade.diagnosis.relabelling import draft_labels, relabel
from blade.errors import InputError, UsageError
from blade.report.claims import CLAIMS, ClaimsFile, Rendered
from blade.report.claims import DECODER as CLAIMS_DECODER
from blade.report.files import append_line, locked, write_file
from blade.report.labelling import check_label, labels_file, signed_lines
from blade.report.notes import diagnose_command, make_notes
from blade.report.page.run_page import write_run_page
from blade.report.page.trajectories import judged
from blade.report.reading_list import render_reading_list
from blade.report.redaction import Redacted, redact
from blade.report.report import Prose, render_texts
from blade.report.streams import json_pieces
from blade.report.text import plain, safe_json
from blade.rollouts import ReadOptions, Rollout, Run, read_runs
from blade.rollouts.finding import find_inputs
from blade.rollouts.sources import WORKSPACE

ANALYSIS = "analysis.json"
REPORT = "report.md"
APPENDIX = "appendix.md"
MOST_SIBLINGS = 200
"""Rollouts that tell about a run's tools, about."""
LABELS = "labels.jsonl"
READING_LIST = "reading_list.md"
NARRATIVE = "narrative.md"
REQUEST = f"{WORKSPACE}/request.json"


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """How to read and analyse the same run again."""

    inputs: list[str]
    """Absolute paths of the rollout files."""
    read: ReadOptions = ReadOptions()
    """How they were read."""
    analyze: AnalyzeOptions = AnalyzeOptions()
    """How they were analysed."""
    run: str
    """Name of the run among those in the files."""


Value = TypeVar("Value")
REQUEST_DECODER = msgspec.json.Decoder(Request)


class Workspace(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One diagnosis on disk."""

    folder: Path
    """Where it is."""
    analysis: Analysis
    """What was computed, with the labels that were in force when it was last rendered."""
    request: Request | None
    """Where the rollouts are; `None` when the folder came from another machine without it."""

    @cached_property
    def labels(self) -> dict[str, Label]:
        """By task: the label in force; those of tasks that are no longer in the rollouts stay in the file only.

        Raises:
            InputError: the folder's labels cannot be read.
        """
        place = self.folder / LABELS
        labels = read_labels(place) if place.exists() else {one.task: one for one in draft_labels(self.analysis)}
        return {result.task: labels[result.task] for result in self.analysis.tasks if result.task in labels}

    def run(self) -> Run:
        """The run, read again through the cache.

        Raises:
            InputError: the rollouts are not where they were, or are not this run's.
        """
        if self.request is None:
            raise InputError(f"{self.folder}: does not say where its rollouts are; run `blade diagnose` on them again.")
        runs = read_runs(self.request.inputs, self.request.read)
        for run in runs:
            if run.name == self.request.run:
                return run
        names = ", ".join(run.name for run in runs)
        raise InputError(f"{self.folder}: its rollouts no longer hold a run {self.request.run!r}; they hold {names}.")


def judged_rollouts(workspace: Workspace, run: Run, rows: Sequence[int]) -> list[Rollout]:
    """Rollouts in the order asked for, with the verdict of the rule the run was diagnosed with; nan is none."""
    rule = workspace.request.analyze.success if workspace.request else None
    success = decide_success(run.table, rule)[1]
    return [judged(run.rollout_at(row), success[row]) for row in rows]


def run_conventions(workspace: Workspace, run: Run) -> Conventions:
    """What rollouts from all over the run tell about its tools."""
    rows = range(0, len(run.table), max(1, len(run.table) // MOST_SIBLINGS))
    return conventions_of(judged_rollouts(workspace, run, rows))


def write_workspace(folder: Path, run: Run, analysis: Analysis, request: Request) -> Workspace:
    """Writes a diagnosis; labels by people and models that the folder already has stay, and stay in force."""
    inputs = [str(path.absolute()) for path in find_inputs(request.inputs)]
    request = msgspec.structs.replace(request, inputs=inputs, run=run.name)
    with locked(folder):
        place = folder / LABELS
        signed = signed_lines(place)
        if signed:
            refuse_strangers(folder, inputs)
        write_file(place, labels_file(draft_labels(analysis), signed))
        write_file(folder / REQUEST, canonical_json(request))
        # Without labels that somebody signed, those in force are the drafts, as the analysis has them.
        return _render(Workspace(folder=folder, analysis=analysis, request=request), run=run, relabelled=bool(signed))


def refuse_strangers(folder: Path, inputs: list[str]) -> None:
    """What somebody judged of one run must not be said of another: its tasks may have the same keys."""
    request = folder / REQUEST
    if not request.is_file():
        return
    before = {Path(text).name for text in _read(request, REQUEST_DECODER).inputs}
    if before.isdisjoint(Path(text).name for text in inputs):
        raise UsageError(
            f"{folder}: holds labels that readers gave to {', '.join(sorted(before))}; choose another --out."
        )


def open_workspace(folder: Path) -> Workspace:
    """Reads a diagnosis.

    Raises:
        InputError: the folder holds none, or one that this version cannot read.
    """
    place = folder / ANALYSIS
    if not place.is_file():
        if folder.is_file():
            seen, command = "is a file, not the folder of a diagnosis", f"blade diagnose {folder} --out DIR"
        else:
            seen = "has no analysis.json" if folder.is_dir() else "is not a folder"
            command = f"blade diagnose ROLLOUTS --out {folder}"
        raise InputError(f"{folder}: {seen}; make a diagnosis with `{command}`.")
    analysis = _read(place, DECODER)
    if analysis.schema_version.partition(".")[0] != SCHEMA_VERSION.partition(".")[0]:
        seen = f"has schema version {analysis.schema_version}, expected {SCHEMA_VERSION}"
        raise InputError(f"{place}: {seen}; run `blade diagnose` again.")
    request = folder / REQUEST
    return Workspace(
        folder=folder,
        analysis=analysis,
        request=_read(request, REQUEST_DECODER) if request.is_file() else None,
    )


def append_label(workspace: Workspace, label: Label, run: Run | None = None) -> Label:
    """Adds a label to the workspace, as it was written: citations in plain form.

    Args:
        run: the workspace's run, when it was read already.

    Raises:
        UsageError: the label's task, cause, author, citations or quotes do not hold.
    """
    checked = check_label(label, workspace.analysis, run or workspace.run())
    with locked(workspace.folder):
        append_line(workspace.folder / LABELS, safe_json(msgspec.json.encode(checked)))
    return checked


def render_again(workspace: Workspace, prose: Prose | None = None) -> Workspace:
    """Puts the labels as they now stand into the analysis and writes it, the report, the page and the reading list."""
    run: Run | None = None
    with contextlib.suppress(InputError, UsageError):  # rollouts that have gone leave the page without trajectories
        run = workspace.run()
    with locked(workspace.folder):
        return _render(workspace, prose, run=run)


def write_shareable(workspace: Workspace) -> dict[str, Redacted]:
    """Writes `report.shareable.md` and `appendix.shareable.md`, without secrets and private places; returns both."""
    shared = {}
    for name in (REPORT, APPENDIX):
        redacted = redact((workspace.folder / name).read_text(encoding="utf-8"))
        shared[name.replace(".md", ".shareable.md")] = redacted
    for name, redacted in shared.items():
        write_file(workspace.folder / name, redacted.text.encode())
    return shared


def write_texts(folder: Path, rendered: Mapping[str, Rendered], constants: dict[str, str] | None = None) -> None:
    """Writes rendered texts, and what they claim into the folder's `claims.json` beside what others claim."""
    texts = {} if (known := read_claims(folder)) is None else known.texts
    for name, one in rendered.items():
        write_file(folder / name, one.text.encode())
        texts = {**texts, name: one.with_lines(constants)}
    write_file(folder / CLAIMS, msgspec.json.encode(ClaimsFile(texts=dict(sorted(texts.items())))) + b"\n")


def read_claims(folder: Path) -> ClaimsFile | None:
    """What the texts in a folder claim; `None` when nothing says."""
    place = folder / CLAIMS
    return _read(place, CLAIMS_DECODER) if place.is_file() else None


def canonical_json(value: msgspec.Struct) -> bytes:
    """JSON with fields in the Struct's order, two spaces deep, unsafe signs escaped, ending in a newline.

    Raises:
        InputError: a file has a name that JSON cannot hold.
    """
    return b"".join(canonical_pieces(value))


def canonical_pieces(value: msgspec.Struct) -> Iterator[bytes]:
    """The same in pieces."""
    try:
        yield from map(safe_json, json_pieces(value, indent=2))
    except UnicodeEncodeError as error:
        raise InputError(f"{plain(error.object)}: this name is not UTF-8; rename the file.") from error
    yield b"\n"


def _render(workspace: Workspace, prose: Prose | None = None, *, run: Run | None, relabelled: bool = True) -> Workspace:
    """Writes everything that is made of an analysis, with the labels that its folder has now."""
    now = Workspace(folder=workspace.folder, analysis=workspace.analysis, request=workspace.request)
    folder, request = now.folder, now.request
    analysis = relabel(now.analysis, now.labels) if relabelled else now.analysis
    write_file(folder / ANALYSIS, canonical_pieces(analysis))
    command = None if request is None else diagnose_command(request.inputs, request.read, request.analyze)
    texts = render_texts(analysis, command=command, prose=prose)
    constants = {} if prose is None else prose.narrative.front.constants
    rendered = {REPORT: texts.page, APPENDIX: texts.appendix, READING_LIST: render_reading_list(analysis)}
    write_texts(folder, rendered, constants)
    options = None if request is None else request.analyze
    write_run_page(folder, analysis, run, options, command=make_notes(analysis, command).command)
    return Workspace(folder=folder, analysis=analysis, request=request)


def _read(path: Path, decoder: "msgspec.json.Decoder[Value]") -> Value:
    try:
        return decoder.decode(path.read_bytes())
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}; run `blade diagnose` again.") from error
