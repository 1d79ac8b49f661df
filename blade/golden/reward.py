"""The score in the form that tools around golden packages read: `reward.json` and its keys. Standard library only.

The names are the field's; what they measure is ours.
"""

from typing import Any

from blade.golden.judge import CAP, Judgement
from blade.golden.support import Met

NOTE = (
    "quantitative: statements that hold; evidence: what it says of the run beyond the facts and the totals; "
    "anchor_coverage: weight of the facts that are supported as well as by the golden report; golden_overlap and "
    "table_score: the golden report's values that are stated here; they and structure earn nothing. "
    "Final = quantitative * evidence * anchor_coverage, below every cap."
)


def reward_of(found: Judgement) -> dict[str, Any]:
    """The content of `reward.json`."""
    return {
        "final_score": round(found.score, 4),
        "checklist": {
            "score": round(found.earned, 4),
            "structure": round(found.structure, 4),
            "quantitative": round(found.truth, 4),
            "evidence": round(found.detail, 4),
            "anchor_coverage": round(found.facts, 4),
        },
        "holistic": {
            "normalized_score": round(found.truth * found.earned, 4),
            "golden_overlap": round(found.overlap, 4),
            "table_score": round(found.overlap, 4),
        },
        "anchor_hits": [hit(one) for one in found.found],
        "caps": [{"limit": CAP, "why": why} for why in found.caps],
        "note": NOTE,
    }


def hit(one: Met) -> dict[str, Any]:
    """A fact and whether the report asserts it."""
    is_met = one.verdict == "met"
    return {
        **{"id": one.fact.id, "score": round(one.support, 4) if is_met else 0.0, "met": is_met, "fact": one.fact.fact},
        **{"verdict": one.verdict, "line": one.line, "by": one.by},
    }
