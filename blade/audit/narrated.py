"""The narrative of a diagnosis: `narrative.md` in its folder, held against its rollouts and put into its report.

It has the form of a golden narrative and its rules, with one difference: a section that does not hold is left out and
named, so that a mistake in one costs nothing of the others. Prose of a model may hold no link and no markup of its own,
because a trajectory may have talked it into them.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import msgspec

from blade.audit.check import check_report
from blade.audit.evidence import Evidence, source_in
from blade.audit.golden.build import check_prose
from blade.audit.golden.narrative import Narrative, check_literals, parse_narrative, prose_of, render
from blade.audit.golden.proof import Proof
from blade.audit.golden.quantities import NarrativeError
from blade.audit.golden.sources import verdict
from blade.audit.golden.values import values_of
from blade.audit.outcome import Check
from blade.diagnosis.judging import decide_success
from blade.errors import BladeError
from blade.report.report import PROSE_SECTIONS, Prose, build_report, render_report, with_prose
from blade.report.text import Markdown
from blade.report.workspace import NARRATIVE, Workspace, render_again
from blade.rollouts import Run

MARKUP = re.compile(r"<[A-Za-z/!?]|\]\(|\]\[|://|&#|\bwww\.")
"""What makes a link, an image or HTML."""


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a narrative."""

    prose: Prose
    """Sections that hold, with their values."""
    wrong: dict[str, str]
    """Sections that do not, and why."""


class Standard:
    """What the narrative of one diagnosis is held against: its values, its rollouts, and the audit of reports."""

    def __init__(self, workspace: Workspace) -> None:
        """Reads the rollouts; raises `InputError` when they are not where they were."""
        self.source = source_in(workspace)
        self.analysis = self.source.analysis
        self.run: Run = workspace.run()
        rule = workspace.request.analyze.success if workspace.request else None
        success = decide_success(self.run.table, rule)[1].tolist()
        passed = {self.run.table.citation(row): verdict(value) for row, value in enumerate(success)}
        self.values = values_of(self.analysis, Proof(self.run, passed))

    @cached_property
    def evidence(self) -> Evidence:
        """The same for the audit."""
        return Evidence([self.source])

    def fill(self, narrative: Narrative, heading: str) -> Markdown:
        """The prose of one section.

        Raises:
            NarrativeError: it states a number, names or quotes what is not there, or is no section of a report.
        """
        if heading not in PROSE_SECTIONS:
            known = ", ".join(PROSE_SECTIONS)
            raise NarrativeError(f"{narrative.where}: no report has a section {heading!r}; there are {known}.")
        alone = msgspec.structs.replace(narrative, sections={heading: narrative.sections[heading]})
        check_literals(alone)
        if narrative.front.author.startswith("llm:"):
            check_markup(alone, heading)
        prose = render(alone, self.values)
        check_prose(alone, prose, [self.run])
        return prose[heading]

    def doubts(self, heading: str, prose: str) -> list[Check]:
        """Claims of a section that the rows do not support: contradicted first, then those nobody can judge."""
        audit = check_report(f"# Narrative\n\n## {heading}\n\n{prose}\n", evidence=self.evidence)
        return [*audit.contradicted, *audit.unverifiable]


def check_markup(narrative: Narrative, heading: str) -> None:
    """Raises when prose of a model would be more than words."""
    found = MARKUP.search("".join(prose_of(narrative.sections[heading], narrative.where)))
    if found is not None:
        place = f"{narrative.where}, section {heading!r}"
        raise NarrativeError(f"{place}: holds {found[0]!r}; write words only, no links and no HTML.")


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


def hold(narrative: Narrative, standard: Standard) -> Held:
    """Every section by itself."""
    sections: dict[str, Markdown] = {}
    wrong: dict[str, str] = {}
    for heading in narrative.sections:
        try:
            sections[heading] = standard.fill(narrative, heading)
        except BladeError as error:
            wrong[heading] = str(error)
    front = narrative.front
    left_out = list(dict.fromkeys([*front.not_written, *wrong]))
    prose = Prose(author=front.author, sections=sections, constants=front.constants, left_out=left_out)
    return Held(prose=prose, wrong=wrong)


def render_narrated(workspace: Workspace) -> tuple[Workspace, Mapping[str, str]]:
    """Writes the report again, with the folder's narrative if it has one; and why sections of it are left out.

    Raises:
        NarrativeError: the narrative as a whole cannot be read.
    """
    narrative = read_own_narrative(workspace)
    if narrative is None:
        return render_again(workspace), {}
    held = hold(narrative, Standard(workspace))
    return render_again(workspace, held.prose), held.wrong


def sound_part(narrative: Narrative, standard: Standard) -> Narrative:
    """What of a narrative holds and nothing in the whole report contradicts; the rest is noted as not written."""
    held = hold(narrative, standard)
    report = with_prose(build_report(standard.analysis, command=standard.source.command), held.prose)
    is_divided = any("### " in text for text in held.prose.sections.values())
    evidence = Evidence([replace(standard.source, is_divided=True)]) if is_divided else standard.evidence
    wrong = dict(held.wrong)
    for check in check_report(render_report(report), evidence=evidence).contradicted:
        for heading in set(check.claim.section) & set(held.prose.sections):
            wrong.setdefault(heading, f"says {check.claim.said!r}: {check.why or check.true}")
    kept = {heading: text for heading, text in narrative.sections.items() if heading not in wrong}
    front = msgspec.structs.replace(narrative.front, not_written=narrative.front.not_written | wrong)
    return msgspec.structs.replace(narrative, front=front, sections=kept)
