"""The score in the form that tools around golden packages read: `reward.json` and its keys. Standard library only.

The names are the field's; what they measure is ours: statements that hold, facts that are said, rollouts that exist.
"""

from typing import Any

from blade.audit.judge.judge import FACTS, PROOF, STRUCTURE, Judgement
from blade.audit.judge.meets import Met
from blade.audit.judge.said import Said
from blade.audit.judge.truth import Truth
from blade.audit.markdown import read_document

NOTE = (
    "quantitative: statements that hold; evidence: rollouts cited and quoted that exist; anchor_coverage: weight of "
    "the facts that are asserted; golden_overlap: the golden report's statements that are made here too; table_score: "
    "its values that are stated here. Final = truth * (facts, proof, structure), below every cap."
)


def reward_of(found: Judgement, report: str, golden: str, truth: Truth) -> dict[str, Any]:
    """The content of `reward.json`."""
    mine, best = Said(read_document(report), truth), Said(read_document(golden), truth)
    earned = FACTS * found.facts + PROOF * found.proof + STRUCTURE * found.structure.score
    return {
        "final_score": round(found.score, 4),
        "checklist": {
            "score": round(earned, 4),
            "structure": round(found.structure.score, 4),
            "quantitative": round(found.truth, 4),
            "evidence": round(found.proof, 4),
            "anchor_coverage": round(found.facts, 4),
        },
        "holistic": {
            "normalized_score": round(found.truth * earned, 4),
            "golden_overlap": round(share(statements(mine), statements(best)), 4),
            "table_score": round(share(values(mine), values(best)), 4),
        },
        "anchor_hits": [hit(one) for one in found.found],
        "caps": [{"limit": cap.limit, "why": cap.why} for cap in found.caps],
        "note": NOTE,
    }


def hit(one: Met) -> dict[str, Any]:
    """A fact and whether the report asserts it."""
    is_met = one.verdict == "met"
    return {
        **{"id": one.fact.id, "score": 1.0 if is_met else 0.0, "met": is_met, "fact": one.fact.fact},
        **{"verdict": one.verdict, "line": one.line, "by": one.by},
    }


def values(said: Said) -> set[tuple[str, float]]:
    """Values a report states."""
    return {(one.path, one.figure.value) for one in said.numbers if one.positive}


def statements(said: Said) -> set[tuple[str, ...]]:
    """Everything about tasks and rollouts that a report states."""
    return {
        *(("label", one.task, one.label) for one in said.labelled if one.positive),
        *(("rate", one.task, str(one.passed)) for one in said.rated if one.positive),
        *(("rollout", one.citation.partition("#")[0]) for one in said.cited),
    }


def share(mine: set[Any], best: set[Any]) -> float:
    """How much of what the golden report has is here too."""
    return len(mine & best) / len(best) if best else 0.0
