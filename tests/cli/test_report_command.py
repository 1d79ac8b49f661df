"""`blade report` with a narrative that somebody wrote into the folder of a diagnosis."""

from pathlib import Path

import pytest
from blade_command import airline, blade, diagnosed

HEAD = "---\nauthor: human:kim\nmodel: airline\n---\n"
GOOD = f"""{HEAD}## Executive Summary

pass@1 is {{{{ headline | pct }}}}; {{{{ buckets.never | count }}}} of {{{{ tasks | count }}}} tasks never pass.

## Dominant Failure Modes

### The other flight

It books what nobody asked for: {{{{ cite("1:1#6", "Booked SK2.") }}}}.
"""


def narrated(folder: Path, narrative: str) -> Path:
    out = diagnosed(folder)
    (out / "narrative.md").write_text(narrative, encoding="utf-8")
    return out


def test_a_narrative_becomes_the_prose_of_its_sections(tmp_path: Path) -> None:
    out = narrated(tmp_path, GOOD)
    found = blade("report", out)
    report, appendix = ((out / name).read_text(encoding="utf-8") for name in ("report.md", "appendix.md"))

    assert (found.exit_code, found.stderr) == (0, "")
    assert "Prose by `human:kim`: a reading, whose numbers" in report
    assert "pass@1 is 50.0 %; 1 of 3 tasks never pass.\n\n- **pass@1 is 50.0 %**" in report
    assert "It books what nobody asked for: “`Booked SK2.`” (`1:1#6`).\n\n### In numbers" in appendix
    assert blade("check", out / "report.md").exit_code == 0
    assert blade("check", out / "appendix.md").exit_code == 0


def test_what_does_not_hold_is_left_out_and_told(tmp_path: Path) -> None:
    out = narrated(tmp_path, GOOD + "\n## Recommendations\n\nFix 12 things.\n\n## My Thoughts\n\nNone.\n")
    found = blade("report", out)
    report = (out / "report.md").read_text(encoding="utf-8")

    assert found.exit_code == 1
    assert "left out: Recommendations: narrative.md, section 'Recommendations': states '12' itself" in found.stderr
    assert "left out: My Thoughts: narrative.md: no report has a section 'My Thoughts'" in found.stderr
    assert ", without these sections of narrative.md: Recommendations, My Thoughts" in " ".join(found.stdout.split())
    assert "Left out, as it did not hold: Recommendations, My Thoughts" in report
    assert "12 things" not in report and "1 of 3 tasks never pass." in report
    assert blade("check", out / "report.md").exit_code == 0


@pytest.mark.parametrize(
    ("narrative", "said"),
    [
        pytest.param("## Executive Summary\n", "begin it with front matter", id="no_front_matter"),
        pytest.param(
            HEAD.replace("airline", "other") + "## Recommendations\n", "this diagnosis is about", id="stranger"
        ),
    ],
)
def test_a_narrative_that_cannot_be_read_is_one_sentence(tmp_path: Path, narrative: str, said: str) -> None:
    out = narrated(tmp_path, narrative)
    before = (out / "report.md").read_bytes()
    found = blade("report", out)

    assert (found.exit_code, found.stderr.count("\n")) == (2, 1)
    assert said in found.stderr
    assert (out / "report.md").read_bytes() == before


def test_diagnosing_again_keeps_the_prose_that_still_holds(tmp_path: Path) -> None:
    out = narrated(tmp_path, GOOD.replace("1:1#6", "1:9#6"))
    found = blade("diagnose", airline(tmp_path), "--out", out, "--quiet")
    report = (out / "report.md").read_text(encoding="utf-8")

    assert found.exit_code == 0
    assert "left out: Dominant Failure Modes" in found.stderr and "task 1 has no repeat 9" in found.stderr
    assert "1 of 3 tasks never pass." in report


def test_the_example_that_agents_are_given_holds_for_the_shipped_rollouts(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    guide = (root / "skills" / "blade-analysis" / "references" / "narrative.md").read_text(encoding="utf-8")
    blade("diagnose", root / "blade" / "cli" / "demo_data" / "rollouts.jsonl", "--out", tmp_path, "--quiet")
    (tmp_path / "narrative.md").write_text(guide.partition("```markdown\n")[2].partition("```")[0], encoding="utf-8")

    assert (found := blade("report", tmp_path)).exit_code == 0, found.stderr
    assert (found := blade("check", tmp_path / "report.md")).exit_code == 0, found.stdout
