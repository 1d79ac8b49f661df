"""How many lies does `blade check` catch, and how often does it cry wolf?

Clean reports of made-up runs, golden reports, and reports of any rollouts named on the command line are checked as they
are: every contradiction is a false alarm. Then one thing at a time is changed in them, and what is caught is counted by
kind: with the rows, with the rows but without the wording of our own reports (as for a stranger's), and with no rows.

Usage: python tests/bench/audit.py [ROLLOUTS...] [--most N] [--seed S]     exit 1 when a goal is missed
"""

import argparse
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "audit"))

from known_runs import DEMO, Blind, read_diagnosed
from mutations import lies

from blade.audit.check import check_report
from blade.audit.claims import NUMERIC
from blade.audit.evidence import Evidence, evidence_of
from blade.audit.golden.build import build
from blade.audit.golden.claims import evidence_for
from blade.audit.golden.guard import find_golden_benchmarks
from blade.audit.golden.sources import find_source
from blade.comparison import compare_many
from blade.diagnosis import diagnose
from blade.errors import BladeError
from blade.report.comparison_report import render_comparison
from blade.report.report import build_report, render_report
from blade.rollouts import ReadOptions, read_runs

ROOT = Path(__file__).resolve().parents[2]
GOAL = 0.95
WAYS = ("rows", "rows, own words", "itself")


class Case(NamedTuple):
    """A true report and what it is about."""

    name: str
    """Which."""
    text: str
    """The report."""
    evidence: dict[str, Evidence | None]
    """What it is checked against, by way."""


def make_case(name: str, text: str, evidence: Evidence) -> Case:
    blind = Blind(evidence.sources, evidence.comparison)
    return Case(name, text, dict(zip(WAYS, (evidence, blind, None), strict=True)))


def cases(files: Sequence[str]) -> list[Case]:
    """The report of every file, and the comparison of the demo with a run that was changed."""
    found = []
    for name in files:
        try:
            runs = [diagnose(run) for run in read_runs([name], ReadOptions())]
        except BladeError as error:
            print(f"left out: {error}", file=sys.stderr)
            continue
        for run in runs:
            found.append(make_case(run.run.name, render_report(build_report(run.analysis)), evidence_of([run])))
    with tempfile.TemporaryDirectory() as folder:
        found.append(comparison_case(Path(folder)))
    return [*found, *golden_cases()]


def golden_cases() -> list[Case]:
    """Every golden report of this checkout."""
    found = []
    for name in find_golden_benchmarks(ROOT):
        source = find_source(name, ROOT)
        for model in source.models():
            built = build(source, model)
            found.append(make_case(f"{name} {model}", built.report, evidence_for(source, built)))
    return found


def comparison_case(folder: Path) -> Case:
    """The demo beside itself with every third failure passed."""
    lines = DEMO.read_text(encoding="utf-8").splitlines(keepends=True)
    changed = [line.replace('"reward":0.0', '"reward":1.0') if n % 3 == 0 else line for n, line in enumerate(lines)]
    (folder / "candidate.jsonl").write_text("".join(changed), encoding="utf-8")
    runs = [read_diagnosed(DEMO), read_diagnosed(folder / "candidate.jsonl")]
    comparison = compare_many(runs)
    return make_case("comparison", render_comparison(comparison), Evidence((), comparison))


def alarms(found: Sequence[Case]) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """By way: contradictions of clean reports, numbers, and numbers nobody could judge."""
    wrong, numbers, unknown = Counter[str](), Counter[str](), Counter[str]()
    for case in found:
        for way in WAYS:
            audit = check_report(case.text, evidence=case.evidence[way])
            wrong[way] += len(audit.contradicted)
            for check in audit.contradicted:
                print(f"false alarm ({way}): {case.name} line {check.claim.line}: {check.claim.said}: {check.why}")
            counted = [check for check in audit.checks if check.claim.kind in NUMERIC]
            numbers[way] += len(counted)
            unknown[way] += sum(check.holds is None for check in counted)
    return wrong, numbers, unknown


def recall(found: Sequence[Case], *, seed: int, most: int, verbose: bool) -> dict[str, dict[str, list[bool]]]:
    """By kind of lie and way: whether each was caught."""
    caught: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for case in found:
        for lie in lies(case.text, seed=seed, most=most):
            for way in WAYS:
                audit = check_report(lie.text, evidence=case.evidence[way])
                caught[lie.kind][way].append(bool(audit.contradicted))
                if verbose and way != "itself" and not audit.contradicted:
                    print(f"missed by {way}: {case.name} line {lie.line} ({lie.kind}): {lie.change}")
    return caught


def main() -> int:
    """Prints both tables and returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rollouts", nargs="*", help="further rollouts to report on")
    parser.add_argument("--most", type=int, default=6, help="lies of a kind per report (default 6)")
    parser.add_argument("--seed", type=int, default=0, help="which lies are drawn (default 0)")
    parser.add_argument("--verbose", action="store_true", help="print every lie that was missed")
    options = parser.parse_args()
    found = cases([str(DEMO), *options.rollouts])
    wrong, numbers, unknown = alarms(found)
    print(f"{len(found)} clean reports")
    for way in WAYS:
        share = unknown[way] / numbers[way]
        print(f"  {way:<16} {wrong[way]} false alarms, {share:.1%} of {numbers[way]:,} numbers unverifiable")
    caught = recall(found, seed=options.seed, most=options.most, verbose=options.verbose)
    print(f"\n{'lies caught':<30}{'told':>6}" + "".join(f"{way:>18}" for way in WAYS))
    for kind, ways in caught.items():
        rates = "".join(f"{sum(ways[way]) / len(ways[way]):>18.1%}" for way in WAYS)
        print(f"{kind:<30}{len(ways['rows']):>6}{rates}")
    missed = [kind for kind, ways in caught.items() if sum(ways["rows"]) < GOAL * len(ways["rows"])]
    verdict = "missed" if missed or any(wrong.values()) else "met"
    print(f"\ngoal: at least {GOAL:.0%} of every kind caught with the rows, and no false alarm: {verdict}")
    return 1 if missed or any(wrong.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
