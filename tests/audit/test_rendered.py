"""A report that BLADE rendered is checked by its addresses: all of it holds as written, and nothing can be changed."""

import random
import re
from functools import cache

import msgspec
import pytest
from known_runs import demo, demo_evidence

from blade.audit.check import check_report
from blade.report.claims import Rendered
from blade.report.report import render_texts


@cache
def rendered() -> Rendered:
    return render_texts(demo().analysis).appendix


def faults(text: str) -> list[tuple[int, str]]:
    audit = check_report(text, evidence=demo_evidence(), claimed=rendered().with_lines())
    return [(check.line, check.said) for check in (*audit.contradicted, *audit.unbound)]


def test_everything_a_report_says_has_an_address_that_gives_it() -> None:
    audit = check_report(rendered().text, evidence=demo_evidence(), claimed=rendered().with_lines())

    assert len(audit.supported) == len(audit.checks) > 1000


def test_a_claim_says_where_it_is_printed_and_where_it_comes_from() -> None:
    claim = next(one for one in rendered().claims if one.address == "analysis:/metrics/pass_at_1/value")
    line = rendered().text.split("\n")[claim.line - 1]

    assert line[claim.column - 1 :].startswith(claim.text) and claim.text == "62.2 %"


def test_every_changed_number_id_or_label_is_found() -> None:
    rng, lines = random.Random(7), rendered().text.split("\n")
    claims = [one for one in rendered().claims if re.search(r"\d", one.text)]
    for claim in rng.sample(claims, 40):
        digit = re.search(r"\d", claim.text)
        assert digit is not None
        other = claim.text[: digit.start()] + str((int(digit[0]) + 3) % 10) + claim.text[digit.end() :]
        line = lines[claim.line - 1]
        changed = line[: claim.column - 1] + other + line[claim.column - 1 + len(claim.text) :]
        text = "\n".join([*lines[: claim.line - 1], changed, *lines[claim.line :]])
        assert claim.line in [at for at, _ in faults(text)], claim


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("always passed", "never passed", id="a_word"),
        pytest.param("\n## Aggregate Results\n", "\nAll is well.\n\n## Aggregate Results\n", id="a_new_sentence"),
        pytest.param("\n## Aggregate Results\n", "\nIt passed 99 %.\n\n## Aggregate Results\n", id="a_new_number"),
    ],
)
def test_an_edited_line_is_named(old: str, new: str) -> None:
    assert faults(rendered().text.replace(old, new, 1))


def test_a_line_that_is_gone_takes_its_claims_with_it() -> None:
    lines = rendered().text.split("\n")
    number = next(n for n, line in enumerate(lines) if line.startswith("| pass@1 |"))

    assert faults("\n".join([*lines[:number], *lines[number + 1 :]]))


def test_another_analysis_contradicts_what_was_rendered() -> None:
    coverage = msgspec.structs.replace(demo().analysis.coverage, tasks=37)
    other = render_texts(msgspec.structs.replace(demo().analysis, coverage=coverage)).appendix
    audit = check_report(other.text, evidence=demo_evidence(), claimed=other.with_lines())

    assert {(check.said, check.true) for check in audit.contradicted} >= {("37", "36")}


def test_a_constant_must_be_declared() -> None:
    claim = msgspec.structs.replace(rendered().claims[0], form=["constant"], address=["constant", "7"])
    claimed = msgspec.structs.replace(rendered().with_lines(), claims=[claim])

    assert check_report(rendered().text, evidence=demo_evidence(), claimed=claimed).contradicted
