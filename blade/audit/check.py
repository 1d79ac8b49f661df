"""The audit of a report: every claim supported, contradicted or beyond what can be told.

What the rows say goes before what the report says about itself: a number that the rows give is right even where the
report's own sums disagree, for then it is another number that is wrong.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from blade.audit.arithmetic import check_arithmetic
from blade.audit.claims import Claim
from blade.audit.evidence import Evidence
from blade.audit.matching import check_numbers
from blade.audit.nothing import check_nothing
from blade.audit.outcome import Check
from blade.audit.places import check_places
from blade.audit.standing import check_standing
from blade.audit.sweeping import check_sweeping
from blade.audit.told import read_report
from blade.audit.wording import check_wording

SWEEPING = frozenset({"universal", "superlative", "factor", "name"})
NO_ROWS = "there are no rows to check it against"

Key = tuple[int, int, int, int, str, str]
"""What tells one claim from another."""


@dataclass(frozen=True)
class Audit:
    """What became of every claim of a report."""

    checks: list[Check] = field(default_factory=list)
    """One per claim, by line."""

    @property
    def claims(self) -> list[Claim]:
        """Everything that was checked."""
        return [check.claim for check in self.checks]

    @property
    def supported(self) -> list[Check]:
        """Claims that hold."""
        return [check for check in self.checks if check.holds is True]

    @property
    def contradicted(self) -> list[Check]:
        """Claims that do not, with what is true."""
        return [check for check in self.checks if check.holds is False]

    @property
    def unverifiable(self) -> list[Check]:
        """Claims nobody can judge, with why."""
        return [check for check in self.checks if check.holds is None]


def check_report(text: str, *, evidence: Evidence | None = None) -> Audit:
    """Audits a Markdown report against rows, and against itself; without evidence against itself alone."""
    told = read_report(text)
    found: dict[Key, Check] = {}
    if evidence is not None:
        places = list(check_places(told, evidence.sources))
        written = check_wording(told, evidence.templates)
        settle(found, (check for check in (*places, *written) if check.holds is False))
        settle(found, check_wording(told, evidence.rendered))
        settle(found, check_standing(told, evidence.sources))
        settle(found, places)
        settle(found, check_numbers(told, evidence.knowledge))
        settle(found, check_nothing(told, evidence.knowledge))
        settle(found, check_sweeping(told, [grid for rendering in evidence.rendered for grid in rendering.grids]))
        settle(found, written)
    settle(found, check_arithmetic(told))
    for claim in told.claims:
        if key_of(claim) not in found:
            found[key_of(claim)] = Check(claim=claim, holds=None, why=NO_ROWS)
    told_of = [check for check in found.values() if check.holds is not None or counts(check.claim)]
    return Audit(sorted(told_of, key=lambda check: (check.claim.line, check.claim.at, check.claim.start)))


def counts(claim: Claim) -> bool:
    """Whether a claim that nothing settles is one at all: most sweeping words are none, nor is `two` of `two ways`."""
    return claim.kind not in SWEEPING and not (claim.kind == "figure" and claim.figures[0].word)


class Contradicted(msgspec.Struct, frozen=True, kw_only=True):
    """A claim that is wrong, as `--json` prints it."""

    line: int
    """Line of the report."""
    said: str
    """What it says."""
    true: str
    """What is true."""
    why: str
    """What it was held against."""


class Unverifiable(msgspec.Struct, frozen=True, kw_only=True):
    """A claim nobody can judge, as `--json` prints it."""

    line: int
    """Line of the report."""
    said: str
    """What it says."""
    why: str
    """Why it cannot be judged."""


class AuditDocument(msgspec.Struct, frozen=True, kw_only=True):
    """An audit as `--json` prints it."""

    claims: int
    """Claims that were checked."""
    supported: int
    """Those that hold."""
    contradicted: list[Contradicted]
    """Those that do not."""
    unverifiable: list[Unverifiable]
    """Those that nobody can judge."""


def as_document(audit: Audit) -> AuditDocument:
    """An audit for programs."""
    wrong = [
        Contradicted(line=one.claim.line, said=one.claim.said, true=one.true, why=one.why) for one in audit.contradicted
    ]
    unknown = [Unverifiable(line=one.claim.line, said=one.claim.said, why=one.why) for one in audit.unverifiable]
    return AuditDocument(
        claims=len(audit.checks), supported=len(audit.supported), contradicted=wrong, unverifiable=unknown
    )


def settle(found: dict[Key, Check], checks: Iterable[Check]) -> None:
    """Adds what is settled of claims that nothing has settled yet."""
    for check in checks:
        key = key_of(check.claim)
        if key not in found or found[key].holds is None:
            found[key] = check


def key_of(claim: Claim) -> Key:
    return claim.line, claim.at, claim.start, claim.end, claim.kind, claim.text or claim.said
