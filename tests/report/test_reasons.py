"""The reasons of readers' labels are checked with the texts that print them."""

from pathlib import Path

import pytest
from small_workspaces import diagnose, human_label

from blade.audit.check import check_report
from blade.audit.evidence import evidence_in
from blade.audit.verdicts import Check, Verdict
from blade.diagnosis.labels import Evidence
from blade.report.workspace import APPENDIX, append_label, read_claims, render_again


def checks_of(folder: Path, reason: str) -> list[Check]:
    """What is found about the appendix that prints a reason."""
    workspace = diagnose(folder)
    append_label(workspace, human_label("sqrt", Evidence(citation="sqrt:1#1"), reason=reason))
    out = render_again(workspace).folder
    claims = read_claims(out)
    assert claims is not None
    text = (out / APPENDIX).read_text()
    return check_report(text, evidence=evidence_in(out), claimed=claims.texts[APPENDIX]).checks


@pytest.mark.parametrize(
    ("reason", "said", "verdict"),
    [
        pytest.param("guesses 3 where it should work it out", "3", "supported", id="stands_in_what_is_cited"),
        pytest.param("calls the tool 4711 times", "4711", "unverifiable", id="a_readers_own_word"),
        pytest.param("says so at `nowhere:0#1` as well", "nowhere:0#1", "contradicted", id="no_such_place"),
        pytest.param("all of 17 tasks fail", "17", "unverifiable", id="of_the_run"),
    ],
)
def test_what_a_reason_states_is_checked(tmp_path: Path, reason: str, said: str, verdict: Verdict) -> None:
    own = [check for check in checks_of(tmp_path, reason) if check.said == said and check.sentence == reason]
    assert [check.verdict for check in own] == [verdict]


def test_a_reason_without_figures_is_one_claim(tmp_path: Path) -> None:
    assert {check.verdict for check in checks_of(tmp_path, "does not know square roots")} == {"supported"}
