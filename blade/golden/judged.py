"""Judging with everything at hand: the golden package a report is about, and what the rows say about its claims."""

from pathlib import Path

import msgspec

from blade.audit.check import check_report
from blade.audit.evidence import evidence_of
from blade.audit.verdicts import Audit, Check
from blade.errors import InputError
from blade.golden.build import build
from blade.golden.facts import FactsError, read_facts
from blade.golden.judge import Judgement, Statement, judge
from blade.golden.package.layout import FACTS, GoldenFiles, benchmark_of, find_package, rollouts_beside
from blade.golden.sources import NARRATIVE, choose_golden, diagnose_model, source_of
from blade.golden.votes import Vote, ask_for_votes
from blade.llm.model import Model


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """A judgement, and what a model had to do with it."""

    judgement: Judgement
    """What the report is worth."""
    vote: Vote | None = None
    """What a model made of the facts no check decides; `None` without one."""


def judge_report(report: str, files: GoldenFiles, *, asked: Model | None = None) -> Judged:
    """A report against a golden package; a model that is asked decides the facts without a check.

    Raises:
        InputError: the package's facts cannot be read.
    """
    if not files.beside(FACTS).is_file():
        raise InputError(f"{files.report.parent}: has no {files.model}_anchor_facts.json; draft them first.")
    try:
        facts = read_facts(files.beside(FACTS)).anchor_facts
    except FactsError as error:
        raise InputError(f"{error}.") from error
    prose = [fact for fact in facts if fact.check is None]
    vote = ask_for_votes(asked, report, prose) if asked is not None and prose else None
    golden = files.report.read_text(encoding="utf-8")
    checked: list[Statement] = []
    rollouts = rollouts_beside(files)
    if rollouts is not None and report != golden:  # claims are held to the rollouts themselves
        source = source_of(find_package(rollouts.parent.parent))
        evidence = evidence_of([diagnose_model(source, files.model)])
        audit = check_report(report, evidence=evidence)
        checked = [as_statement(one) for one in (*audit.supported, *audit.contradicted)]
    found = judge(report, golden, facts, checked=checked, found=vote.found if vote else ())
    return Judged(judgement=found, vote=vote)


def as_statement(check: Check) -> Statement:
    """A claim that was held to the rows."""
    rows = frozenset({"="})
    if check.verdict == "supported":
        return Statement(line=check.line, said=check.said, kinds=rows)
    true, is_made_up = check.true or check.why, not check.true
    return Statement(line=check.line, said=check.said, true=true, is_made_up=is_made_up, kinds=rows, wrong=rows)


def check_golden_report(golden: Path, report: str, model: str | None = None) -> Audit | None:
    """Audits a report in a folder of golden reports: by its addresses where it can be built, else against the rows.

    Args:
        model: whose report it is; by default the one whose model the report names.

    Returns:
        `None` when the folder belongs to no benchmark with rollouts.

    Raises:
        UsageError: nobody can tell whose report it is.
        InputError: the package's sources cannot be read.
    """
    folder = benchmark_of(golden)
    if folder is None:
        return None
    source = source_of(find_package(folder))
    model = model or choose_golden(golden, report).model
    if source.place(model, NARRATIVE).is_file():
        built = build(source, model)
        is_ours = len(set(built.text.splitlines()) & set(report.splitlines())) > len(report.splitlines()) / 2
        return check_report(report, evidence=built.evidence, claimed=built.claimed if is_ours else None)
    if model not in source.rollouts:
        return None
    return check_report(report, evidence=evidence_of([diagnose_model(source, model)]))
