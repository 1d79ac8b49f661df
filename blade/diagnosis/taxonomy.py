"""A taxonomy pack in the service of a diagnosis: which one is used, what it saw, and what follows from it.

What a pack knows about a benchmark family comes before what holds for any: its patterns are grounds for causes ahead of
the generic signals, its funnel replaces the generic one, and its interventions those of the modes they cover.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from blade.diagnosis.analysis import MAX_LISTED, Action, Mode, PackUse, PatternSeen
from blade.diagnosis.causes import Proof, places_of
from blade.diagnosis.found import Found, about_rows, count, say
from blade.diagnosis.modes import Tested
from blade.diagnosis.noting import Observations
from blade.diagnosis.packs import Choice, PackResult, PatternHits, apply_pack, choose_pack, load_pack
from blade.metrics import Outcomes
from blade.rollouts import Run
from blade.rollouts.columns import codes_in

NO_PACK = "none"
PROVEN = 0.95
"""How sure a pattern is that its pack calls as good as proven."""
COVERED = 0.8
"""Share of a generic mode's rollouts one pattern must hold to take its place."""
ACTIONS: dict[str, Action] = {
    "data": "data repair",
    "prompt": "prompt",
    "agent_loop": "agent loop",
    "verifier_repair": "verifier repair",
    "environment": "environment",
    "sft": "sft",
    "rl": "rl",
    "documentation": "documentation",
}
TO_REPAIR = {"DA": "repair the data", "IR": "repair the infrastructure", "TI": "repair the task or its verifier"}


class Taxonomy(NamedTuple):
    """A pack's view of a run; without one there is nothing but the reason."""

    why: str
    result: PackResult | None


def classify(run: Run, outcomes: Outcomes, wanted: str | None, seen: Observations) -> Taxonomy:
    """The run under the pack the user names, else under the one its fields call for."""
    if wanted == NO_PACK:
        return Taxonomy("switched off with --pack none", None)
    choice = choose_pack(run) if wanted is None else Choice(load_pack(wanted), "named by the user")
    if choice.pack is None:
        return Taxonomy(choice.why, None)
    return Taxonomy(choice.why, apply_pack(choice.pack, run, outcomes, seen))


def describe_pack(run: Run, taxonomy: Taxonomy) -> PackUse | None:
    """What stands in the analysis about the pack."""
    result = taxonomy.result
    if result is None:
        return None
    return PackUse(
        name=result.pack.name,
        title=result.pack.title,
        version=result.pack.version,
        why=taxonomy.why,
        patterns=[
            PatternSeen(
                code=hits.rule.code,
                title=hits.rule.title,
                cause=hits.rule.cause,
                intervention=ACTIONS[hits.rule.intervention],
                rollouts=len(hits.rows),
                primary=int(hits.primary.sum()),
                tasks=len(codes_in(run.table.task[hits.rows[hits.primary]])),
                passed=hits.passed,
                citations=own_first(run, hits),
                by=hits.by[:12],
            )
            for hits in result.patterns
            if len(hits.rows)
        ],
        failing=result.failing,
        unexplained=result.unexplained,
    )


def own_first(run: Run, hits: PatternHits) -> list[str]:
    """Where a pattern was seen, the rollouts that belong to it first."""
    order = np.argsort(~hits.primary, kind="stable")[:MAX_LISTED]
    return run.table.citations(hits.rows[order], hits.items[order])


def pack_findings(run: Run, taxonomy: Taxonomy, known: list[Found]) -> list[Found]:
    """Patterns that blame data, infrastructure or verifier, as findings; those that say what is known are left out."""
    out: list[Found] = []
    for hits in [] if taxonomy.result is None else taxonomy.result.patterns:
        rule, rows = hits.rule, hits.rows[hits.primary]
        if rule.cause not in ("DA", "IR", "TI") or not len(rows):
            continue
        if any(finding.cause == rule.cause and np.isin(rows, other).all() for finding, other in known):
            continue
        message = f"{rule.title} in {count(len(rows), 'rollout')} that did not pass"
        hint = f"{TO_REPAIR[rule.cause]} before blaming the model"
        finding = say(rule.code, rule.cause, message, hint)
        out.append(about_rows(run.table, finding, rows, items=hits.items[hits.primary]))
    return out


def pack_proofs(taxonomy: Taxonomy) -> list[Proof]:
    """Patterns that name a cause and are as good as a proof, each with the rollouts that belong to it."""
    if taxonomy.result is None:
        return []
    return [
        Proof(
            hits.rule.code,
            hits.rule.cause,
            hits.rule.title,
            places_of(hits.rows[hits.primary], hits.items[hits.primary]),
            PROVEN,
        )
        for hits in taxonomy.result.patterns
        if hits.rule.cause in ("DA", "IR", "TI", "BI")
        and hits.rule.confidence == "high"
        and hits.primary.any()
        and hits.passed == 0
    ]


def named_by_pack(modes: list[Mode], mined: Sequence[Tested], taxonomy: Taxonomy) -> list[Mode]:
    """The modes with the cause and the words of the pattern that holds the same rollouts."""
    patterns = [] if taxonomy.result is None else [h for h in taxonomy.result.patterns if h.primary.any()]
    out: list[Mode] = []
    for mode, found in zip(modes, mined, strict=True):
        rows = set(found.failing.tolist())
        same = (
            hits.rule
            for hits in patterns
            if len(rows & set(hits.rows.tolist())) >= COVERED * len(rows | set(hits.rows.tolist()))
        )
        rule = next(same, None)
        if rule is not None:
            mode = msgspec.structs.replace(mode, also=[rule.title, *mode.also], cause=mode.cause or rule.cause)
        out.append(mode)
    return out
