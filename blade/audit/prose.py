"""Prose without addresses: everything it states, bound to the rows by value, unit and words."""

from collections.abc import Iterator

from blade.audit.binding import Binder
from blade.audit.evidence import Evidence
from blade.audit.markdown import read_document
from blade.audit.mentions import statements
from blade.audit.references import References, without_quotes
from blade.audit.verdicts import Check


def check_prose(text: str, evidence: Evidence) -> Iterator[Check]:
    """Everything that prose states, bound to the rows."""
    document = read_document(text)
    binder, references = Binder(evidence.values), References(evidence)
    for block in statements(document):
        numbers = [check for one in block.spoken for check in binder.check(one._replace(text=without_quotes(one.text)))]
        yield from numbers
        about: dict[str, set[str]] = {"supported": set(), "contradicted": set()}
        for check in numbers:
            if check.verdict in about:
                about[check.verdict] |= {task for task in evidence.tasks if f'["{task}"]' in check.why}
        proven = about["supported"] - about["contradicted"]
        yield from references.check(block, proven, about["contradicted"])
