"""Every claim of a golden report, held against the rows it was made from."""

from functools import partial
from pathlib import Path

from blade.audit.check import check_report
from blade.audit.evidence import Evidence
from blade.audit.evidence import Source as Run
from blade.audit.golden.build import REPORT, Built, build
from blade.audit.golden.sources import NARRATIVE, Source, choose_golden, diagnose_model, source_of
from blade.audit.package.layout import benchmark_of, find_package
from blade.diagnosis import Diagnosed
from blade.errors import Problem
from blade.rollouts import Run as RolloutRun

HINT = "Correct the narrative, or the labels it speaks of."


def check_claims(source: Source, built: Built) -> list[Problem]:
    """Claims of a package's report that the rows, or the report itself, contradict."""
    return contradictions(built.report, evidence_for(source, built), f"{built.model}{REPORT}")


def contradictions(report: str, evidence: Evidence, name: str) -> list[Problem]:
    """What is wrong in a report, by line."""
    return [
        Problem(where=f"{name}:{one.claim.line}", message=f"says {one.claim.said!r}: {one.why or one.true}", hint=HINT)
        for one in check_report(report, evidence=evidence).contradicted
    ]


def evidence_for(source: Source, built: Built) -> Evidence:
    """What a package was made from, as evidence."""
    command = f"blade golden build {source.benchmark} --model {built.model}"
    runs = [run_of(one, command) for one in built.found]
    return Evidence(runs, built.comparison, renderings=[built.counted], written=[built.report])


def evidence_beside(golden: Path, report: str, model: str | None = None) -> Evidence | None:
    """The rows that a report in a folder of golden reports is about, and what it was built from if it was.

    Args:
        model: whose report it is; by default the one whose model the report names.

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
        return evidence_for(source, build(source, model))
    return Evidence([run_of(diagnose_model(source, model))]) if model in source.rollouts else None


def run_of(found: Diagnosed, command: str | None = None) -> Run:
    """A diagnosed run as evidence."""
    return Run(found.analysis, partial(itself, found.run), command)


def itself(run: RolloutRun) -> RolloutRun:
    return run
