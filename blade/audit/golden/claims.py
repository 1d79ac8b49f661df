"""Every claim of a golden report, held against the rows it was made from."""

from functools import partial

from blade.audit.check import check_report
from blade.audit.evidence import Evidence
from blade.audit.evidence import Source as Run
from blade.audit.golden.build import REPORT, Built
from blade.audit.golden.sources import Source
from blade.diagnosis import Diagnosed
from blade.errors import Problem
from blade.rollouts import Run as RolloutRun

HINT = "Correct the narrative, or the labels it speaks of."


def check_claims(source: Source, built: Built) -> list[Problem]:
    """Claims of a package's report that the rows, or the report itself, contradict."""
    command = f"blade golden build {source.benchmark} --model {built.model}"
    return contradictions(built.report, evidence_for(built, command), f"{built.model}{REPORT}")


def contradictions(report: str, evidence: Evidence, name: str) -> list[Problem]:
    """What is wrong in a report, by line."""
    return [
        Problem(where=f"{name}:{one.claim.line}", message=f"says {one.claim.said!r}: {one.why or one.true}", hint=HINT)
        for one in check_report(report, evidence=evidence).contradicted
    ]


def evidence_for(built: Built, command: str) -> Evidence:
    """What a package was made from, as evidence."""
    return Evidence([run_of(one, command) for one in built.found], built.comparison, [built.counted])


def run_of(found: Diagnosed, command: str | None = None) -> Run:
    """A diagnosed run as evidence."""
    return Run(found.analysis, partial(itself, found.run), command)


def itself(run: RolloutRun) -> RolloutRun:
    return run
