"""Making a golden package: report, metrics sidecar and shallow control, from rollouts, labels and narrative.

The same sources give the same bytes: no clock, no directory and no hand in between.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from blade.audit.golden.narrative import Narrative, read_narrative, render
from blade.audit.golden.proof import Proof
from blade.audit.golden.quantities import NarrativeError
from blade.audit.golden.shallow import make_shallow
from blade.audit.golden.sidecar import sidecar_of
from blade.audit.golden.sources import NARRATIVE, VERSUS, Source, diagnose_model, passed_by_key
from blade.audit.golden.values import values_of
from blade.audit.markdown import plain
from blade.audit.mentions import citations_in, tasks_in
from blade.comparison import Comparison
from blade.diagnosis import Analysis, Diagnosed
from blade.report.files import write_file
from blade.report.report import PROSE_SECTIONS, build_report, render_report
from blade.report.text import Markdown
from blade.rollouts import Run

REPORT, METRICS, SHALLOW = "_golden_report.md", "_golden_report_metrics.json", "_shallow.md"
REQUIRED = (
    "Executive Summary",
    "Dominant Failure Modes",
    "Concrete Examples",
    "Findings No Table Shows",
    "Recommendations",
)
CONTRASTS = "Sometimes-Pass Deep Dives"
EXAMPLES = "Concrete Examples"
LEAST_EXAMPLES = 3


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """A golden package, not yet written."""

    model: str
    """What it is about."""
    files: dict[str, bytes]
    """Contents by name."""
    found: list[Diagnosed]
    """The diagnosis, or the two of a comparison, that the report speaks of."""
    comparison: Comparison | None = None
    """What changed between the two."""
    counted: str
    """The report with nobody's prose in its sections, but with the same headings: what the rows alone say."""

    @property
    def report(self) -> str:
        """The report's text."""
        return self.files[f"{self.model}{REPORT}"].decode()


def build(source: Source, model: str) -> Built:
    """The package of a model, or the comparison of two.

    Raises:
        NarrativeError: the narrative states a number, names what is not there, or lacks a section.
        UsageError: rollouts are missing, or a label's proof does not hold.
    """
    if VERSUS in model:
        from blade.audit.golden.versus import build_versus

        return build_versus(source, model)
    narrative = narrative_for(source, model)
    found = diagnose_model(source, model)
    prose = render(narrative, values_of(found.analysis, Proof(found.run, passed_by_key(found))))
    check_prose(narrative, prose, [found.run])
    check_sections(narrative, found.analysis)
    report = render_golden(source, model, narrative, prose, found.analysis)
    counted = render_golden(source, model, narrative, without_words(prose), found.analysis)
    files = {
        f"{model}{REPORT}": report.encode(),
        f"{model}{METRICS}": sidecar_of(source.benchmark, found.analysis),
        f"{model}{SHALLOW}": make_shallow(report).encode(),
    }
    return Built(model=model, files=files, found=[found], counted=counted)


def narrative_for(source: Source, model: str) -> Narrative:
    """The narrative of a model; it must be about that model."""
    narrative = read_narrative(source.place(model, NARRATIVE))
    about = narrative.front.model
    if about != model:
        raise NarrativeError(f"{narrative.where}: its front matter says it is about {about!r}, not {model!r}.")
    return narrative


def render_golden(
    source: Source, model: str, narrative: Narrative, prose: dict[str, Markdown], analysis: Analysis
) -> str:
    """The report: what was counted, with what a reader wrote."""
    command = f"blade golden build {source.benchmark} --model {model}"
    counted = build_report(analysis, command=command)
    return render_report(
        msgspec.structs.replace(
            counted,
            benchmark=source.benchmark,
            author=narrative.front.author,
            prose=prose,
            constants=narrative.front.constants,
        )
    )


def without_words(prose: dict[str, Markdown]) -> dict[str, Markdown]:
    """The same sections with nothing said in them; what divides a section still does."""
    return {name: Markdown("### –\n" if "### " in text else "–") for name, text in prose.items()}


def check_sections(narrative: Narrative, analysis: Analysis) -> None:
    """Raises when the narrative has a section no report has, or lacks one that every golden report has."""
    wanted = [*REQUIRED, *([CONTRASTS] if analysis.buckets.sometimes else [])]
    check_headings(narrative, wanted, PROSE_SECTIONS)
    examples = re.findall(r"^### ", narrative.sections[EXAMPLES], re.MULTILINE)
    if len(examples) < LEAST_EXAMPLES:
        seen = f"{narrative.where}: {EXAMPLES} has {len(examples)} sub-sections (###)"
        raise NarrativeError(f"{seen}, expected {LEAST_EXAMPLES} at least, one per example.")


def check_headings(narrative: Narrative, wanted: Sequence[str], known: Sequence[str]) -> None:
    """Raises unless the narrative has every wanted section and no unknown one."""
    lacking = [name for name in wanted if not narrative.sections.get(name, "").strip()]
    unknown = [name for name in narrative.sections if name not in known]
    if lacking or unknown:
        seen = f"lacks {', '.join(lacking)}" if lacking else f"has unknown sections {', '.join(unknown)}"
        raise NarrativeError(f"{narrative.where}: {seen}; sections are {', '.join(known)}.")


def check_prose(narrative: Narrative, prose: dict[str, Markdown], runs: Sequence[Run]) -> None:
    """Raises when a citation or a task that the prose names by itself is in none of the runs."""
    known = {run.table.citation(row) for run in runs for row in range(len(run.table))}
    tasks = {task for run in runs for task in run.table.tasks}
    for heading, text in prose.items():
        for line in text.splitlines():
            cited = [key.partition("#")[0] for key, _, _ in citations_in(plain(line))]
            strangers = [key for key in cited if key not in known]
            strangers += [key for key, _, _ in tasks_in(plain(line)) if key not in tasks]
            if strangers:
                raise NarrativeError(f"{narrative.where}, section {heading!r}: there is no {strangers[0]} in the run.")


def write(source: Source, built: Built) -> list[Path]:
    """Puts a package into its folder; returns the files."""
    places = [source.folder / name for name in built.files]
    for place, content in zip(places, built.files.values(), strict=True):
        write_file(place, content)
    return places
