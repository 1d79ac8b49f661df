"""What a report is held against: the diagnosis of one run or of several, their rollouts, and a comparison of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

import msgspec

from blade.audit.comparison_facts import comparison_facts
from blade.audit.knowledge import Knowledge
from blade.audit.mode_facts import mode_facts
from blade.audit.run_facts import run_facts
from blade.audit.told import Told, read_report
from blade.comparison import Comparison
from blade.comparison.comparison import DECODER
from blade.diagnosis import Analysis, Diagnosed
from blade.diagnosis.labels import Label
from blade.diagnosis.relabelling import relabel
from blade.errors import InputError
from blade.report.comparison_report import COMPARISON, render_comparison
from blade.report.notes import diagnose_command
from blade.report.reading import render_reading_list
from blade.report.redaction import redact
from blade.report.report import PROSE_SECTIONS, Prose, build_report, render_report, with_prose
from blade.report.text import Markdown
from blade.report.workspace import ANALYSIS, NARRATIVE, Workspace, open_workspace
from blade.rollouts import Run

DIVIDED = Markdown("### –")
"""Prose that says nothing and has a sub-section."""


@dataclass(frozen=True)
class Source:
    """One diagnosed run."""

    analysis: Analysis
    """What was computed, with the labels in force."""
    open_run: Callable[[], Run] | None = None
    """Reads its rollouts; nothing when nobody knows where they are."""
    command: str | None = None
    """The command that made the diagnosis, as its report prints it."""
    is_divided: bool = False
    """Whether a reader's prose has sub-sections, behind which what was counted gets a heading of its own."""

    @cached_property
    def run(self) -> Run | None:
        """Its rollouts, if they are where they were."""
        if self.open_run is None:
            return None
        try:
            return self.open_run()
        except InputError:
            return None


@dataclass(frozen=True)
class Evidence:
    """Everything a report may be checked against."""

    sources: Sequence[Source] = ()
    """The runs it may speak of."""
    comparison: Comparison | None = None
    """What changed between them."""
    renderings: Sequence[str] = field(default=())
    """Further texts that the rows alone give."""
    written: Sequence[str] = field(default=())
    """Texts of which the rows give every number and a reader the words, such as a golden report."""

    @cached_property
    def texts(self) -> list[str]:
        """Every text that the rows themselves give."""
        found = [text for source in self.sources for text in source_texts(source)]
        found += [render_comparison(self.comparison)] if self.comparison is not None else []
        found += self.renderings
        return [*found, *(shared for text in found if (shared := redact(text).text) != text)]

    @cached_property
    def rendered(self) -> list[Told]:
        """The same, read."""
        return [read_report(text) for text in self.texts]

    @cached_property
    def templates(self) -> list[Told]:
        """What was written, read."""
        return [read_report(text) for text in self.written]

    @cached_property
    def knowledge(self) -> Knowledge:
        """Every named value; of several runs each value is named by its run."""
        facts = [fact for s in self.sources[:1] for fact in (*run_facts(s.analysis), *mode_facts(s.analysis))]
        if self.comparison is not None:
            facts = [] if len(self.sources) != 1 else facts
            facts += comparison_facts(self.comparison)
        return Knowledge(facts if len(self.sources) <= 1 or self.comparison is not None else [])


def source_texts(source: Source) -> list[str]:
    """The report and the reading list of a diagnosis."""
    report = build_report(source.analysis, command=source.command)
    texts = [render_report(report), render_reading_list(source.analysis)]
    if source.is_divided:
        divided = with_prose(report, Prose(author="", sections=dict.fromkeys(PROSE_SECTIONS, DIVIDED)))
        texts.append(render_report(msgspec.structs.replace(divided, author=None)))
    return texts


def holds_evidence(folder: Path) -> bool:
    """Whether a folder holds a diagnosis or a comparison."""
    return (folder / ANALYSIS).is_file() or (folder / COMPARISON).is_file()


def evidence_in(folder: Path) -> Evidence:
    """What a folder holds that `blade diagnose` or `blade compare` wrote.

    Raises:
        InputError: it holds neither a diagnosis nor a comparison, or one that cannot be read.
    """
    comparison = read_comparison(folder / COMPARISON) if (folder / COMPARISON).is_file() else None
    places = [folder] if (folder / ANALYSIS).is_file() else sorted(path.parent for path in folder.glob(f"*/{ANALYSIS}"))
    if comparison is None and not places:
        open_workspace(folder)  # says what is missing
    return Evidence([source_in(open_workspace(place)) for place in places], comparison)


def source_in(workspace: Workspace) -> Source:
    """A diagnosis on disk."""
    request = workspace.request
    command = None if request is None else diagnose_command(request.inputs, request.read, request.analyze)
    analysis = relabel(workspace.analysis, workspace.labels)
    narrative = workspace.folder / NARRATIVE
    is_divided = narrative.is_file() and b"\n### " in narrative.read_bytes()
    return Source(analysis, None if request is None else workspace.run, command, is_divided)


def read_comparison(place: Path) -> Comparison:
    """A comparison on disk."""
    try:
        return DECODER.decode(place.read_bytes())
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(f"{place}: cannot be read: {error}; run `blade compare` again.") from error


def evidence_of(found: Sequence[Diagnosed], labels: Mapping[str, Label] | None = None) -> Evidence:
    """Runs that were diagnosed just now, and their comparison where they are several.

    Args:
        labels: by task, the label in force where it is not the draft.

    Raises:
        UsageError: several runs that have no task in common, or were judged by different rules.
    """
    comparison = None
    if len(found) > 1:
        from blade.comparison import compare_many

        comparison = compare_many(list(found))
    return Evidence(
        [Source(relabel(one.analysis, labels or {}), partial(_known, one.run)) for one in found], comparison
    )


def _known(run: Run) -> Run:
    return run
