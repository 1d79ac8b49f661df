"""A report that was read: its text, its claims, and the views of them that checks share. Standard library only."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from blade.audit.claims import Claim, claims_of
from blade.audit.grid import Grid, grids
from blade.audit.markdown import Document, read_document, shown
from blade.audit.subjects import words_of

GENERIC = words_of(
    "executive summary overview result aggregate metric key finding conclusion introduction background method detail "
    "analysis failure mode recommendation appendix limitation bucket funnel outcome task rollout takeaway discussion "
    "deep dive example evidence workflow phase distribution comparison cross root cause error taxonomy breakdown "
    "category next step dominant headline quantitative qualitative statistic data note reproducibility artifact "
    "inventory intervention priority observation pattern stage quality health configuration change verdict slice "
    "concrete example drove table show model rate number file run"
)
"""Words of headings that narrow nothing."""


@dataclass(frozen=True)
class Told:
    """A report with its claims."""

    document: Document
    """Its passages and tables."""
    claims: Sequence[Claim]
    """Everything it asserts, by line."""

    @cached_property
    def title(self) -> str:
        """The heading that is the whole report's; nothing when there are several."""
        first = [shown(passage.text) for passage in self.document.passages if passage.level == 1]
        return first[0] if len(first) == 1 else ""

    @cached_property
    def speeches(self) -> list[list[Claim]]:
        """Claims by the sentence or cell they are from, in their order there."""
        found: dict[int, list[Claim]] = defaultdict(list)
        for claim in self.claims:
            found[claim.at].append(claim)
        return [sorted(claims, key=lambda claim: claim.start) for _, claims in sorted(found.items())]

    @cached_property
    def grids(self) -> list[Grid]:
        """Its tables with their numbers."""
        return grids(self.document, self.claims)

    def narrowed_by(self, section: Sequence[str]) -> frozenset[str]:
        """Words of the headings above something that narrow what it is about."""
        titles = [heading for heading in section if heading != self.title]
        return frozenset(word for heading in titles for word in words_of(heading) - GENERIC)


def read_report(text: str) -> Told:
    """A report with its claims."""
    document = read_document(text)
    return Told(document, claims_of(document))
