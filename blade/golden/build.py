"""Making a golden package: report, metrics sidecar and shallow control, from rollouts, labels and narrative.

The same sources give the same bytes: no clock, no directory and no hand in between.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from blade.audit.check import check_report
from blade.audit.evidence import Evidence, evidence_of
from blade.audit.verdicts import Check
from blade.diagnosis import Analysis
from blade.diagnosis.analysis import headline_of
from blade.golden.package.layout import METRICS, REPORT, SHALLOW, VERSUS
from blade.golden.shallow import make_shallow
from blade.golden.sources import NARRATIVE, Source, diagnose_model
from blade.metrics import Metric
from blade.report.claims import ClaimedText
from blade.report.comparison_report import PROSE_SECTIONS as COMPARISON_SECTIONS
from blade.report.comparison_report import render_comparison
from blade.report.files import write_file
from blade.report.headline import failing_rollouts
from blade.report.narrative import Narrative, NarrativeError, read_narrative
from blade.report.report import PROSE_SECTIONS, Prose, render_texts

REQUIRED = (
    "Executive Summary",
    "Dominant Failure Modes",
    "Concrete Examples",
    "Findings No Table Shows",
    "Recommendations",
)
COMPARISON_REQUIRED = ("Executive Summary", "Findings No Table Shows", "Recommendations")
CONTRASTS = "Sometimes-Pass Deep Dives"
EXAMPLES = "Concrete Examples"
LEAST_EXAMPLES = 3


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """A golden package, not yet written."""

    model: str
    """What it is about."""
    files: dict[str, bytes]
    """Contents by name."""
    text: str
    """The report."""
    claimed: ClaimedText
    """The address of everything it prints, and the numbers its narrative states itself."""
    evidence: Evidence
    """What it was made from."""

    def faults(self) -> list[Check]:
        """What in the report is wrong, or carries no address."""
        return check_report(self.text, evidence=self.evidence, claimed=self.claimed).faults


def build(source: Source, model: str) -> Built:
    """The package of a model, or the comparison of two.

    Raises:
        NarrativeError: the narrative lacks a section, or is about another model.
        WritingError: it names what is not there, with line and column.
        UsageError: rollouts are missing, or a label's proof does not hold.
    """
    narrative = read_narrative(source.place(model, NARRATIVE))
    about = narrative.front.model
    if about != model:
        raise NarrativeError(f"{narrative.where}: its front matter says it is about {about!r}, not {model!r}.")
    found = [diagnose_model(source, one) for one in model.split(VERSUS, 1)]
    evidence = evidence_of(found, slices=source.options.slices)
    prose = Prose(narrative=narrative, sources=evidence.writing, left_out=None)
    if evidence.comparison is not None:
        check_headings(narrative, COMPARISON_REQUIRED, COMPARISON_SECTIONS)
        rendered = render_comparison(evidence.comparison, prose).appendix
        files = {f"{model}{REPORT}": rendered.text.encode()}
    else:
        contrasts = [CONTRASTS] if found[0].analysis.buckets.sometimes else []
        check_headings(narrative, [*REQUIRED, *contrasts], PROSE_SECTIONS)
        examples = len(re.findall(r"^### ", narrative.sections[EXAMPLES], re.MULTILINE))
        if examples < LEAST_EXAMPLES:
            seen = f"{narrative.where}: {EXAMPLES} has {examples} sub-sections (###)"
            raise NarrativeError(f"{seen}, expected {LEAST_EXAMPLES} at least, one per example.")
        command = f"blade golden build {source.benchmark} --model {model}"
        texts = render_texts(found[0].analysis, command=command, prose=prose, benchmark=source.benchmark)
        rendered = texts.appendix
        files = {
            f"{model}{REPORT}": rendered.text.encode(),
            f"{model}{METRICS}": sidecar_of(source.benchmark, found[0].analysis),
            f"{model}{SHALLOW}": make_shallow(rendered.text).encode(),
        }
    claimed = rendered.with_lines(narrative.front.constants)
    return Built(model=model, files=files, text=rendered.text, claimed=claimed, evidence=evidence)


def check_headings(narrative: Narrative, wanted: Sequence[str], known: Sequence[str]) -> None:
    """Raises unless the narrative has every wanted section and no unknown one."""
    lacking = [name for name in wanted if not narrative.sections.get(name, "").strip()]
    unknown = [name for name in narrative.sections if name not in known]
    if lacking or unknown:
        seen = f"lacks {', '.join(lacking)}" if lacking else f"has unknown sections {', '.join(unknown)}"
        raise NarrativeError(f"{narrative.where}: {seen}; sections are {', '.join(known)}.")


def write(source: Source, built: Built) -> list[Path]:
    """Puts a package into its folder; returns the files."""
    places = [source.folder / name for name in built.files]
    for place, content in zip(places, built.files.values(), strict=True):
        write_file(place, content)
    return places


def sidecar_of(benchmark: str, analysis: Analysis) -> bytes:
    """The metrics sidecar: what a report says in numbers; its first entries are the names other tools look for."""
    metrics = analysis.metrics
    patterns = [] if analysis.pack is None else analysis.pack.patterns
    stored = {
        "benchmark": benchmark,
        "model": analysis.inputs.run,
        "num_tasks": analysis.coverage.tasks,
        "num_rollouts": analysis.coverage.rollouts,
        "pass_at_1": metrics.pass_at_1.value,
        "mean_reward": metrics.mean_reward.value,
        "success": analysis.success.rule,
        "headline": {"metric": analysis.headline, **measured(headline_of(analysis))},
        "failing_rollouts": failing_rollouts(analysis),
        "metrics": {
            name: measured(getattr(metrics, name))
            for name in ("pass_at_1", "consistency", "retry_value", "mean_reward", "coverage")
        },
        "pass_at_k": {k: metric.value for k, metric in metrics.pass_at_k.items()},
        "pass_pow_k": {k: metric.value for k, metric in metrics.pass_pow_k.items()},
        "buckets": msgspec.to_builtins(analysis.buckets),
        "tasks": {one.task: {"passed": one.c, "of": one.n} for one in analysis.tasks},
        "labels": {cause.task: cause.label for cause in analysis.causes},
        "slices": {
            table.field: {one.level: measured(one.headline) for one in table.levels} for table in analysis.slices
        },
        "funnel": {stage.name: stage.rollouts for stage in analysis.funnel},
        "signals": {one.code: {"title": one.title, "failed": one.failed} for one in analysis.signals},
        "patterns": {one.code: {"title": one.title, "primary": one.primary} for one in patterns},
        "reasons": {cause.task: cause.reason for cause in analysis.causes},
        "evidence": {cause.task: msgspec.to_builtins(cause.evidence) for cause in analysis.causes},
        "partings": {one.task: {"passing": one.passing, "failing": one.failing} for one in analysis.contrast.pairs},
    }
    return msgspec.json.format(msgspec.json.encode(stored), indent=2) + b"\n"


def measured(metric: Metric) -> dict[str, Any]:
    """A metric without its words."""
    return {"value": metric.value, "n": metric.n, "ci95": metric.ci95}
