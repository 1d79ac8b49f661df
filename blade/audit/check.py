"""The check of a report.

What BLADE rendered is checked by its addresses, and whatever in it carries none is named. Any other prose is bound to
the rows. Without rows a report is checked against itself alone.
"""

import re

from blade.audit.arithmetic import check_arithmetic
from blade.audit.evidence import Evidence
from blade.audit.figures import find_figures
from blade.audit.ledger import check_ledger
from blade.audit.markdown import read_document, with_points
from blade.audit.mentions import statements
from blade.audit.prose import check_prose, check_reasons
from blade.audit.references import COMMAND
from blade.audit.rendered import blanked, check_claims
from blade.audit.sentences import check_sentences
from blade.audit.tables import check_tables, make_grid
from blade.audit.verdicts import Audit, Check
from blade.errors import BladeError
from blade.report.claims import ClaimedText
from blade.report.narrative import render_own_text

CURRENCY = re.compile(r"[$€£](?=\d)|(?<=\d)\s?€")
NO_ADDRESS = "it has no address"
NO_ROWS = "there are no rows to check it against"


def check_report(text: str, *, evidence: Evidence | None = None, claimed: ClaimedText | None = None) -> Audit:
    """Audits a Markdown report against rows, and against itself; without evidence against itself alone.

    Args:
        claimed: what `claims.json` says of it, when BLADE rendered it.
    """
    if evidence is None:  # numbers that disagree with one another, and those nobody can judge
        document = read_document(CURRENCY.sub("", with_points(text)))
        parts = [spoken for statement in statements(document) for spoken in statement.spoken]
        figures = ((spoken, one) for spoken in parts for one in find_figures(spoken.text) if not one.word)
        grids = [make_grid(table) for table in document.tables]
        faults = [*check_tables(grids), *check_ledger(document, grids), *check_arithmetic(document, grids)]
        faults += check_sentences(document)
        checks = list({(one.line, one.said): one for one in faults}.values())
        checks += [spoken.check(one, "unverifiable", why=NO_ROWS) for spoken, one in figures]
    elif claimed is None:
        checks = list(check_prose(text, evidence))
    else:
        checks, covered = check_claims(text, claimed, evidence)
        for check in check_prose(blanked(text, covered), evidence, strict=False):
            if check.verdict == "supported" and check.why != COMMAND:  # it is named, even if it is true
                write = check.write or f"{{{{ {check.why} }}}}"
                check = check._replace(verdict="unbound", why=NO_ADDRESS, write=write)
            checks.append(check)
        checks += check_reasons(claimed, evidence)
    return Audit(sorted(checks, key=lambda check: check.line))


def check_source(source: str, *, evidence: Evidence, where: str) -> Audit:
    """Audits a text that is still to be rendered: its values, and whatever it states without one."""
    try:
        rendered, constants = render_own_text(source, evidence.writing, where=where)
    except BladeError as error:
        return Audit([Check(getattr(error, "line", 1), where, "contradicted", "", str(error))])
    return check_report(rendered.text, evidence=evidence, claimed=rendered.with_lines(constants))
