"""The report: one complete value, and its two texts, the page and the appendix.

Everything the templates show stands in `Report`, so that a report can be tested without reading Markdown. Templates
escape every text that is not Markdown already and stop at anything unknown.
"""

import functools
from typing import Any, NamedTuple

import jinja2
import msgspec

from blade.diagnosis.analysis import Analysis, Count
from blade.report import numbers, text
from blade.report.addresses import addressed_struct, size
from blade.report.advice import Advice, advise
from blade.report.claims import Rendered, extract
from blade.report.dives import Dives, dive_into
from blade.report.headline import is_rate
from blade.report.inventory import Inventory, take_inventory
from blade.report.listing import Listing, first
from blade.report.marks import recording
from blade.report.modes import ContrastSection, FailureModes, contrast_section, failure_modes
from blade.report.narrative import Narrative, fill_section
from blade.report.notes import Notes, make_notes
from blade.report.onepage import OnePage, make_page, with_summary
from blade.report.results import BucketSection, Results, StageRow, bucket_section, collect_results, stage_rows
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
TEXT_FILTERS = (text.md, text.sentence, text.clauses, text.cell, text.code, text.code_cell)
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
    page: OnePage
    """The one-page report; all below is the appendix."""
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
    """Dominant Failure Modes: what separates pass from fail."""
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
        """The prose of a section and the blank line after it."""
        return said(self.prose, section, headed=headed)

    def byline(self) -> Markdown:
        """Who wrote the prose, and which of it does not hold."""
        if self.author is None:
            return Markdown("")
        by = f"Prose by {text.code(self.author)}"
        why = "`narrative.md` and `blade report DIR` say why"
        if self.left_out is None:
            return Markdown(f"{by}, who read the rollouts; every number is computed from them. ")
        if not self.prose:
            return Markdown(f"{by} did not hold and is left out; {why}. ")
        out = ", ".join(map(text.md, self.left_out))
        more = f" Left out, as it did not hold: {out}; {why}." if out else ""
        return Markdown(f"{by}: a reading, whose numbers and quotes were looked up in the rollouts.{more} ")


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
        page=make_page(analysis),
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
    """A report with what a reader wrote."""
    sections, front = prose.filled(), prose.narrative.front
    return msgspec.structs.replace(
        report,
        author=front.author,
        prose=sections,
        page=with_summary(report.page, sections.get(SUMMARY)),
        constants=addressed_struct(front.constants, "constants:"),
        left_out=prose.left_out,
    )


def is_gym(analysis: Analysis) -> bool:
    """Whether the rows are Gym's, which keep the model inside the response."""
    return any(file.format == "gym" for file in analysis.inputs.files)


class Texts(NamedTuple):
    """What a report says, with the address of everything it prints."""

    page: Rendered
    """`report.md`."""
    appendix: Rendered
    """`appendix.md`."""


def render_page(report: Report) -> str:
    """The one-page report as Markdown."""
    return templates().get_template("report.md.jinja").render(report=report)


def render_appendix(report: Report) -> str:
    """Everything behind the page as Markdown; a golden report has this form."""
    return templates().get_template("appendix.md.jinja").render(report=report)


def render_texts(
    analysis: Analysis, *, command: str | None = None, prose: Prose | None = None, benchmark: str | None = None
) -> Texts:
    """The texts of an analysis with the address of everything they print."""
    with recording() as found:
        report = build_report(addressed_struct(analysis, "analysis:"), command=command)
        report = msgspec.structs.replace(report if prose is None else with_prose(report, prose), benchmark=benchmark)
        return Texts(extract(render_page(report), found), extract(render_appendix(report), found))


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
    return environment


def finalize(value: Any) -> Any:
    """Markdown as it is, any other text escaped; a number without a filter is a mistake in the template."""
    if isinstance(value, jinja2.Undefined | Markdown):
        return value
    if isinstance(value, str):
        return text.cell(value)
    raise TypeError(f"the template shows {value!r} as it is; give it a filter")
