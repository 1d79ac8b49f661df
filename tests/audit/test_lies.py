"""Our own reports: true as they are, and caught when one thing in them is changed. `tests/bench/audit.py` does the same
on more reports, and prints what is caught by kind."""

from collections import Counter

import pytest
from known_runs import Blind, demo, demo_evidence, flights
from mutations import KINDS, lies
from small_packages import write_package

from blade.audit.check import check_report
from blade.audit.claims import NUMERIC
from blade.audit.evidence import Evidence, evidence_of
from blade.audit.golden.build import build
from blade.audit.golden.claims import evidence_for
from blade.audit.golden.sources import find_source
from blade.comparison import compare_many
from blade.diagnosis import Diagnosed
from blade.report.comparison_report import render_comparison
from blade.report.reading import render_reading_list
from blade.report.redaction import redact
from blade.report.report import build_report, render_report


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Diagnosed:
    """A small run."""
    return flights(tmp_path_factory.mktemp("lies"))


def test_a_clean_report_is_supported_to_the_last_claim() -> None:
    for text in (render_report(build_report(demo().analysis)), render_reading_list(demo().analysis)):
        audit = check_report(text, evidence=demo_evidence())

        assert [(check.claim.line, check.claim.said, check.why) for check in audit.contradicted] == []
        assert audit.unverifiable == []


def test_most_numbers_of_a_report_are_known_by_their_names_alone() -> None:
    blind = Blind(demo_evidence().sources)
    audit = check_report(render_report(build_report(demo().analysis)), evidence=blind)
    outcomes = Counter(check.holds for check in audit.checks if check.claim.kind in NUMERIC)

    assert [(check.claim.line, check.claim.said, check.why) for check in audit.contradicted] == []
    assert outcomes[True] > 0.8 * outcomes.total()


def test_a_report_without_its_secrets_is_as_true(small: Diagnosed) -> None:
    text = render_report(build_report(small.analysis))

    assert check_report(redact(text).text, evidence=evidence_of([small])).contradicted == []


@pytest.mark.parametrize("kind", KINDS)
def test_lies_in_a_report_are_caught(kind: str, small: Diagnosed) -> None:
    text, evidence = render_report(build_report(small.analysis)), evidence_of([small])
    told = [lie for lie in lies(text, seed=1, most=4) if lie.kind == kind]
    missed = [lie for lie in told if not check_report(lie.text, evidence=evidence).contradicted]

    assert told, "no such lie could be told"
    assert [(lie.line, lie.change) for lie in missed] == []


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Evidence]:
    """A golden report and what it was made from."""
    source = find_source(str(write_package(tmp_path_factory.mktemp("golden"))))
    built = build(source, "model-a")
    return built.report, evidence_for(source, built)


def test_a_golden_report_is_supported_to_the_last_claim(golden: tuple[str, Evidence]) -> None:
    audit = check_report(golden[0], evidence=golden[1])

    assert audit.supported
    assert [(one.claim.line, one.claim.said, one.why) for one in (*audit.contradicted, *audit.unverifiable)] == []


@pytest.mark.parametrize("kind", KINDS)
def test_lies_in_a_golden_report_are_caught(kind: str, golden: tuple[str, Evidence]) -> None:
    told = [lie for lie in lies(golden[0], seed=3, most=4) if lie.kind == kind]
    missed = [lie for lie in told if not check_report(lie.text, evidence=golden[1]).contradicted]

    assert told, "no such lie could be told"
    assert [(lie.line, lie.change) for lie in missed] == []


def test_lies_in_a_comparison_are_caught() -> None:
    comparison = compare_many([demo(), demo()])
    text, evidence = render_comparison(comparison), Evidence((), comparison)

    assert check_report(text, evidence=evidence).contradicted == []
    for lie in lies(text, seed=2, most=1):
        assert check_report(lie.text, evidence=evidence).contradicted, (lie.line, lie.kind, lie.change)
