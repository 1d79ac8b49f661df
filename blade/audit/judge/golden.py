"""Judging with everything at hand: the golden package a report is about, and what the rows say about its claims."""

import msgspec

from blade.audit.check import check_report
from blade.audit.evidence import Evidence
from blade.audit.golden.claims import run_of
from blade.audit.golden.sources import diagnose_model, source_of
from blade.audit.judge.facts import FactsError, FactsFile, read_facts
from blade.audit.judge.held import Held, Kind
from blade.audit.judge.judge import Judgement, judge
from blade.audit.judge.truth import truth_beside
from blade.audit.judge.votes import Vote, ask_for_votes
from blade.audit.outcome import Check
from blade.audit.package.layout import GoldenFiles, find_package, rollouts_beside
from blade.errors import InputError
from blade.llm.model import Model

MADE_UP_CLAIMS: dict[str, Kind] = {"citation": "citation", "quote": "quote", "task": "task"}
"""Claims that are made up when they are wrong."""


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """A judgement and what it was made against."""

    files: GoldenFiles
    """The golden package."""
    judgement: Judgement
    """What the report is worth."""
    vote: Vote | None = None
    """What a model made of the facts no check decides; `None` without one."""


def judge_report(report: str, files: GoldenFiles, *, asked: Model | None = None) -> Judged:
    """A report against a golden package; a model that is asked decides the facts without a check.

    Raises:
        InputError: the package's facts cannot be read.
    """
    facts = facts_of(files).anchor_facts
    truth = truth_beside(files.report)
    prose = [fact for fact in facts if fact.check is None]
    vote = ask_for_votes(asked, report, prose, truth) if asked is not None and prose else None
    golden = files.report.read_text(encoding="utf-8")
    checked = wrong_claims(report, files, golden)
    found = judge(report, golden, facts, truth, checked=checked, found=vote.found if vote else ())
    return Judged(files=files, judgement=found, vote=vote)


def wrong_claims(report: str, files: GoldenFiles, golden: str) -> list[Held]:
    """Claims that the rollouts themselves contradict; none where there are no rollouts to ask."""
    rollouts = rollouts_beside(files.report, files.model)
    if rollouts is None:
        return []
    source = source_of(find_package(rollouts.parent.parent))
    evidence = Evidence([run_of(diagnose_model(source, files.model))], written=[golden])
    return [as_held(one) for one in check_report(report, evidence=evidence).contradicted]


def as_held(check: Check) -> Held:
    """A wrong claim as a statement; what is made up is told apart from what is mistaken."""
    claim = check.claim
    kind: Kind = MADE_UP_CLAIMS.get(claim.kind, "claim")
    return Held(kind=kind, holds=False, line=claim.line, said=claim.text or claim.said, true=check.true or check.why)


def facts_of(files: GoldenFiles) -> FactsFile:
    """The anchor facts of a package."""
    if files.facts is None:
        raise InputError(f"{files.report.parent}: has no {files.model}_anchor_facts.json; draft them first.")
    try:
        return read_facts(files.facts)
    except FactsError as error:
        raise InputError(f"{error}.") from error
