"""The prose of a diagnosis: `narrative.md` in its folder, held against its rollouts and put into its report.

A section that does not hold is left out and named, so that a mistake in one costs nothing of the others. Prose of a
model may hold no link and no markup of its own, because a trajectory may have talked it into them.
"""

import re
from collections.abc import Mapping

import jinja2
import msgspec

from blade.audit.check import check_report
from blade.audit.evidence import Evidence, source_in
from blade.errors import BladeError
from blade.report.claims import Rendered, extract
from blade.report.marks import recording
from blade.report.narrative import Narrative, NarrativeError, fill_section, parse_narrative
from blade.report.report import PROSE_SECTIONS, Prose
from blade.report.text import Markdown
from blade.report.workspace import NARRATIVE, Workspace, render_again
from blade.report.writing import Environment
from blade.rollouts import Run

MARKUP = re.compile(r"<[A-Za-z/!?]|\]\(|\]\[|://|&#|\bwww\.")
"""What makes a link, an image or HTML."""


class Standard:
    """What the narrative of one diagnosis is held against: its values and its rollouts."""

    def __init__(self, workspace: Workspace) -> None:
        """Reads the rollouts; raises `InputError` when they are not where they were."""
        self.evidence = Evidence([source_in(workspace)])
        self.analysis = self.evidence.sources[0].analysis
        self.run: Run = workspace.run()

    def fill(self, narrative: Narrative, heading: str) -> Rendered:
        """The prose of one section with what it claims.

        Raises:
            WritingError: it names or quotes what is not there, with line and column.
            NarrativeError: it is not a section of a report, or holds what carries no address.
        """
        if heading not in PROSE_SECTIONS:
            known = ", ".join(PROSE_SECTIONS)
            raise NarrativeError(f"{narrative.where}: no report has a section {heading!r}; there are {known}.")
        place = f"{narrative.where}, section {heading!r}"
        if narrative.front.author.startswith("llm:"):  # prose of a model may be no more than words
            try:
                parts = [text for _, kind, text in Environment().lex(narrative.sections[heading]) if kind == "data"]
            except jinja2.TemplateSyntaxError as error:
                raise NarrativeError(f"{place}: {error.message}.") from error
            if (markup := MARKUP.search(Markdown("").join(parts))) is not None:
                raise NarrativeError(f"{place}: holds {markup[0]!r}; write words only, no links and no HTML.")
        with recording() as found:
            rendered = extract(fill_section(narrative, heading, self.evidence.writing), found)
        claimed = rendered.with_lines(dict(narrative.front.constants))
        for fault in check_report(rendered.text, evidence=self.evidence, claimed=claimed).faults[:1]:
            advice = f"; write {fault.write}, or declare it under constants" if fault.write else ""
            raise NarrativeError(f"{place}: states {fault.said!r} itself: {fault.why}{advice}.")
        return rendered


def read_own_narrative(workspace: Workspace) -> Narrative | None:
    """The narrative in the folder of a diagnosis, as written; `None` where there is none.

    Raises:
        NarrativeError: it cannot be read, or is about another run.
    """
    place = workspace.folder / NARRATIVE
    if not place.is_file():
        return None
    try:
        narrative = parse_narrative(place.read_text(encoding="utf-8"), where=NARRATIVE)
    except (OSError, UnicodeDecodeError) as error:
        raise NarrativeError(f"{place}: cannot be read: {error}.") from error
    inputs = workspace.analysis.inputs
    known = [inputs.run, *(model.value for model in inputs.models if model.value)]
    if narrative.front.model not in known:
        seen = f"its front matter says it is about {narrative.front.model!r}"
        raise NarrativeError(f"{place}: {seen}; this diagnosis is about {' or '.join(dict.fromkeys(known))}.")
    return narrative


def hold(narrative: Narrative, standard: Standard) -> tuple[Narrative, dict[str, str]]:
    """What of a narrative holds, and why the rest does not; every section by itself."""
    wrong: dict[str, str] = {}
    for heading in narrative.sections:
        try:
            standard.fill(narrative, heading)
        except BladeError as error:
            wrong[heading] = str(error)
    kept = {heading: text for heading, text in narrative.sections.items() if heading not in wrong}
    return msgspec.structs.replace(narrative, sections=kept), wrong


def render_narrated(workspace: Workspace) -> tuple[Workspace, Mapping[str, str]]:
    """Writes the report again, with the folder's narrative if it has one; and why sections of it are left out.

    Raises:
        NarrativeError: the narrative as a whole cannot be read.
    """
    narrative = read_own_narrative(workspace)
    if narrative is None:
        return render_again(workspace), {}
    standard = Standard(workspace)
    kept, wrong = hold(narrative, standard)
    left_out = list(dict.fromkeys([*narrative.front.not_written, *wrong]))
    prose = Prose(narrative=kept, sources=standard.evidence.writing, left_out=left_out)
    return render_again(workspace, prose), wrong


def sound_part(narrative: Narrative, standard: Standard) -> Narrative:
    """What of a narrative holds; the rest is noted as not written."""
    kept, wrong = hold(narrative, standard)
    front = msgspec.structs.replace(narrative.front, not_written=narrative.front.not_written | wrong)
    return msgspec.structs.replace(kept, front=front)
