"""The report: one complete value, and its rendering.

Everything the template shows stands in `Report`, so that a report can be tested without reading Markdown. The template
escapes every text that is not Markdown already and stops at anything unknown.
"""

import functools
from typing import Any

import jinja2
import msgspec

from blade.diagnosis.analysis import Analysis, Count
from blade.report import numbers, text
from blade.report.addresses import addressed_struct, size
from blade.report.advice import Advice, advise
from blade.report.claims import Rendered, extract
from blade.report.contrasts import ContrastSection, contrast_section
from blade.report.dives import Dives, dive_into
from blade.report.headline import is_rate
from blade.report.inventory import Inventory, take_inventory
from blade.report.listing import Listing, first
from blade.report.marks import recording
from blade.report.modes import FailureModes, failure_modes
from blade.report.narrative import Narrative, fill_section
from blade.report.notes import Notes, make_notes
from blade.report.outcomes import BucketSection, StageRow, bucket_section, stage_rows
from blade.report.results import Results, collect_results
from blade.report.summary import summarize
from blade.report.text import Markdown
from blade.report.writing import Sources

MOST_MODELS = 20
PROSE_SECTIONS = (
    *("Executive Summary", "Aggregate Results", "Workflow Funnel", "Task Outcome Buckets", "Dominant Failure Modes"),
    *("Concrete Examples", "Sometimes-Pass Deep Dives", "Never-Pass Deep Dives", "Findings No Table Shows"),
    *("Cross-Model Comparison", "Recommendations"),
)
"""Sections a reader can write for, in the order of the report."""
SUMMARY = PROSE_SECTIONS[0]
TEXT_FILTERS = (text.md, text.cell, text.code, text.code_cell)
NUMBER_FILTERS = (
    *(numbers.percent, numbers.share, numbers.interval, numbers.number, numbers.number_interval, numbers.points),
    *(numbers.signed_pp, numbers.signed_pp_interval, numbers.count, numbers.plural, numbers.amount),
    *(numbers.signed_number, numbers.signed_number_interval, numbers.p_value),
    *(numbers.signed_amount, numbers.signed_amount_interval, numbers.tokens, numbers.seconds, numbers.size),
)


class Prose(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader wrote about a diagnosis, and what its values are looked up in."""

    narrative: Narrative
    """The prose; its sections hold."""
    sources: Sources
    """Where its values come from."""
    left_out: list[str] | None = []
    """Sections that were asked for or written, and do not hold; `None` in a golden report, which has none."""

    def filled(self) -> dict[str, Markdown]:
        """The prose by section."""
        return {heading: fill_section(self.narrative, heading, self.sources) for heading in self.narrative.sections}


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a report says, section by section."""

    run: str
    """Name of the run."""
    benchmark: str | None = None
    """The benchmark it was run on, when that is known."""
    author: str | None = None
    """Who wrote the prose; `None` when nobody did."""
    prose: dict[str, Markdown] = {}
    """What a reader wrote, by section; it stands before what was counted."""
    constants: dict[str, str] = {}
    """Numbers the prose states itself, and what they mean."""
    left_out: list[str] | None = None
    """Sections of the prose that do not hold; `None` in a golden report, which has none of them and a reader of all."""
    has_success: bool
    """Whether rollouts pass and fail."""
    summary: list[Markdown]
    """Executive Summary."""
    inventory: Inventory
    """Artifact Inventory."""
    results: Results
    """Aggregate Results."""
    funnel: list[StageRow]
    """Workflow Funnel."""
    buckets: BucketSection
    """Task Outcome Buckets."""
    modes: FailureModes
    """Dominant Failure Modes."""
    contrast: ContrastSection
    """Dominant Failure Modes: what separates pass from fail, and what each mode costs."""
    sometimes: Dives
    """Sometimes-Pass Deep Dives."""
    never: Dives
    """Never-Pass Deep Dives."""
    models: Listing[Count]
    """Cross-Model Comparison: models that answered."""
    model_field: str
    """The field that names them."""
    advice: Advice
    """Recommendations."""
    notes: Notes
    """Reproducibility Notes."""

    def said(self, section: str, *, headed: bool = False) -> Markdown:
        """The prose of a section and the blank line behind it."""
        return said(self.prose, section, headed=headed)


COUNTED = "### In numbers\n\n"
"""What stands between prose with sub-sections of its own and what was counted, which belongs to none of them."""


def said(prose: dict[str, Markdown], section: str, *, headed: bool) -> Markdown:
    """The prose of a section, under a heading of its own where nothing was counted; nothing where nobody wrote any."""
    if section not in prose:
        return Markdown("")
    if headed:
        return Markdown(f"## {section}\n\n{prose[section]}\n\n")
    has_parts = any(line.startswith("### ") for line in prose[section].splitlines())
    return Markdown(f"{prose[section]}\n\n{COUNTED if has_parts else ''}")


def build_report(analysis: Analysis, *, command: str | None = None) -> Report:
    """The report of an analysis, with nobody's prose in it.

    Args:
        command: the command that made the analysis; without one, a command that names its files.
    """
    return Report(
        run=analysis.inputs.run,
        has_success=is_rate(analysis),
        summary=summarize(analysis),
        inventory=take_inventory(analysis),
        results=collect_results(analysis),
        funnel=stage_rows(analysis),
        buckets=bucket_section(analysis),
        modes=failure_modes(analysis),
        contrast=contrast_section(analysis),
        sometimes=dive_into(analysis, "sometimes"),
        never=dive_into(analysis, "never"),
        models=first([model for model in analysis.inputs.models if model.value is not None], MOST_MODELS),
        model_field="response.model" if is_gym(analysis) else "model",
        advice=advise(analysis),
        notes=make_notes(analysis, command),
    )


def with_prose(report: Report, prose: Prose) -> Report:
    """A report with what a reader wrote; the counted summary stays behind the reader's, but in a golden report."""
    sections, front = prose.filled(), prose.narrative.front
    if SUMMARY in sections and prose.left_out is not None:
        counted = "\n".join(f"- {sentence}" for sentence in report.summary)
        sections[SUMMARY] = Markdown(said(sections, SUMMARY, headed=False) + counted)
    return msgspec.structs.replace(
        report,
        author=front.author,
        prose=sections,
        constants=addressed_struct(front.constants, "constants:"),
        left_out=prose.left_out,
    )


def is_gym(analysis: Analysis) -> bool:
    """Whether the rows are Gym's, which keep the model inside the response."""
    return any(file.format == "gym" for file in analysis.inputs.files)


def render_report(report: Report) -> str:
    """The report as Markdown."""
    return templates().get_template("report.md.jinja").render(report=report)


def render_with_claims(
    analysis: Analysis, *, command: str | None = None, prose: Prose | None = None, benchmark: str | None = None
) -> Rendered:
    """The report of an analysis with the address of everything it prints."""
    with recording() as found:
        report = build_report(addressed_struct(analysis, "analysis:"), command=command)
        report = msgspec.structs.replace(report if prose is None else with_prose(report, prose), benchmark=benchmark)
        return extract(render_report(report), found)


@functools.cache
def templates() -> jinja2.Environment:
    """Where the templates are, and how they are filled."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("blade.report"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=finalize,
    )
    environment.filters |= {function.__name__: function for function in (*TEXT_FILTERS, *NUMBER_FILTERS)}
    environment.filters["length"] = size
    environment.filters["bound"] = lambda value: (
        numbers.count(value) if isinstance(value, int) else numbers.number(value, 2)
    )
    return environment


def finalize(value: Any) -> Any:
    """Markdown as it is, any other text escaped; a number without a filter is a mistake in the template."""
    if isinstance(value, jinja2.Undefined | Markdown):
        return value
    if isinstance(value, str):
        return text.cell(value)
    raise TypeError(f"the template shows {value!r} as it is; give it a filter")
