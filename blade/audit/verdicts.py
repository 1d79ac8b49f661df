"""What became of what a report says: supported, contradicted, unbound, or beyond what can be told."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

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

    @property
    def faults(self) -> list[Check]:
        """What is wrong, or carries no address."""
        return [*self.contradicted, *self.unbound]


def as_document(audit: Audit) -> dict[str, Any]:
    """An audit as `--json` prints it."""

    def listed(checks: Sequence[Check], *names: str) -> list[dict[str, Any]]:
        return [{name: getattr(check, name) for name in ("line", "said", *names)} for check in checks]

    return {
        "claims": len(audit.checks),
        "supported": len(audit.supported),
        "contradicted": listed(audit.contradicted, "true", "why"),
        "unbound": listed(audit.unbound, "why", "write"),
        "unverifiable": listed(audit.unverifiable, "why"),
    }
