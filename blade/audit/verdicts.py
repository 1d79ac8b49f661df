"""What became of what a report says: supported, contradicted, unbound, or beyond what can be told."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import msgspec

Verdict = Literal["supported", "contradicted", "unbound", "unverifiable"]
FOLLOWS = "follows from the numbers beside it"
"""Why a number holds that is no value itself."""


class Check(NamedTuple):
    """One thing a report says, and what was found about it."""

    line: int
    """Line of the report."""
    said: str
    """What it says."""
    verdict: Verdict
    """What became of it."""
    true: str = ""
    """What is true, when it is contradicted."""
    why: str = ""
    """What it was held against."""
    write: str = ""
    """What to write instead, so that it carries its address."""
    sentence: str = ""
    """Where it is said."""


@dataclass(frozen=True)
class Audit:
    """What became of everything a report says."""

    checks: list[Check] = field(default_factory=list)
    """By line."""

    def of(self, verdict: Verdict) -> list[Check]:
        """Everything with a verdict."""
        return [check for check in self.checks if check.verdict == verdict]

    @property
    def supported(self) -> list[Check]:
        """What holds."""
        return self.of("supported")

    @property
    def contradicted(self) -> list[Check]:
        """What does not, with what is true."""
        return self.of("contradicted")

    @property
    def unbound(self) -> list[Check]:
        """What stands for no value of the run that could be told."""
        return self.of("unbound")

    @property
    def unverifiable(self) -> list[Check]:
        """What nobody can judge, because nothing is there to judge it by."""
        return self.of("unverifiable")


class Contradicted(msgspec.Struct, frozen=True, kw_only=True):
    """Something wrong, as `--json` prints it."""

    line: int
    """Line of the report."""
    said: str
    """What it says."""
    true: str
    """What is true."""
    why: str
    """What it was held against."""


class Unbound(msgspec.Struct, frozen=True, kw_only=True):
    """Something that stands for no value, as `--json` prints it."""

    line: int
    """Line of the report."""
    said: str
    """What it says."""
    why: str
    """Why it could not be bound, with the nearest candidates."""
    write: str
    """What to write instead, where something is near."""


class Unverifiable(msgspec.Struct, frozen=True, kw_only=True):
    """Something nobody can judge, as `--json` prints it."""

    line: int
    """Line of the report."""
    said: str
    """What it says."""
    why: str
    """Why it cannot be judged."""


class AuditDocument(msgspec.Struct, frozen=True, kw_only=True):
    """An audit as `--json` prints it."""

    claims: int
    """Things that were checked."""
    supported: int
    """Those that hold."""
    contradicted: list[Contradicted]
    """Those that do not."""
    unbound: list[Unbound]
    """Those that stand for no value of the run that could be told."""
    unverifiable: list[Unverifiable]
    """Those that nobody can judge."""


def as_document(audit: Audit) -> AuditDocument:
    """An audit for programs."""
    return AuditDocument(
        claims=len(audit.checks),
        supported=len(audit.supported),
        contradicted=[Contradicted(line=c.line, said=c.said, true=c.true, why=c.why) for c in audit.contradicted],
        unbound=[Unbound(line=c.line, said=c.said, why=c.why, write=c.write) for c in audit.unbound],
        unverifiable=[Unverifiable(line=c.line, said=c.said, why=c.why) for c in audit.unverifiable],
    )
