import subprocess
import sys
from pathlib import Path

import pytest

from blade.audit.claims import Claim, extract_claims

ROOT = Path(__file__).resolve().parents[2]


def of_kind(text: str, *kinds: str) -> list[Claim]:
    return [claim for claim in extract_claims(text) if claim.kind in kinds]


def test_figures_come_with_their_line_their_clause_and_their_section() -> None:
    (claim,) = of_kind("# Run\n\n## Summary\n\nIt went well; pass@1 is 62.2 %.\n", "figure")

    assert (claim.line, claim.values, claim.unit, claim.said) == (5, (62.2,), "%", "62.2 %")
    assert (claim.subject, claim.section) == ("pass@1 is 62.2 %.", ("Run", "Summary"))


def test_a_cell_is_about_its_row_and_its_column() -> None:
    (claim,) = of_kind("| level | tasks |\n|---|---|\n| `easy` | **12** |\n", "figure")

    assert (claim.row, claim.column, claim.values, claim.line) == ("`easy`", "tasks", (12.0,), 3)


@pytest.mark.parametrize(
    ("text", "kind", "found"),
    [
        pytest.param("See `12:3#5` and `a b:0`.", "citation", ["12:3#5", "a b:0"], id="backticks"),
        pytest.param("Run `blade diff DIR 25:2 'x y:0'`.", "citation", ["25:2", "x y:0"], id="in_a_command"),
        pytest.param("Seen at 12:3#5, at 12:30.", "citation", ["12:3#5"], id="bare_with_an_item"),
        pytest.param("`http://host:8080` and `10:00`", "citation", [], id="no_citation"),
        pytest.param("""`"page_size":1`, `{"a":1,"b":2`, `'n':3`""", "citation", [], id="pieces_of_json"),
        pytest.param("""`page_size:1` and `say "hi":0`""", "citation", ["page_size:1", 'say "hi":0'], id="odd_keys"),
        pytest.param("Tasks `a`, `b` and `c` fail.", "task", ["a", "b", "c"], id="code_tasks"),
        pytest.param("Task 12 and tasks 14, 15 and 31 fail.", "task", ["12", "14", "15", "31"], id="bare_tasks"),
        pytest.param("Only a few, but every one, is lowest.", "universal", ["only", "every"], id="universals"),
        pytest.param("`hard` is the weakest.", "superlative", ["weakest"], id="superlative"),
        pytest.param("Nearly double, or two times, or half.", "factor", ["double", "two times", "half"], id="factors"),
    ],
)
def test_ids_and_sweeping_words_are_found(text: str, kind: str, found: list[str]) -> None:
    assert [claim.text for claim in of_kind(text, kind)] == found


def test_the_number_of_a_task_is_no_figure() -> None:
    assert of_kind("Task 12 passed 3 of 5.", "figure") == []


def test_a_label_belongs_to_the_task_before_it_or_above_it() -> None:
    text = "Task `7` is BI+UK, task `8` KG?.\n\n### Task `9`: 0 of 5\n\n- Cause: **TI**\n\nWe saw BI often.\n"
    found = [(claim.text, claim.about) for claim in of_kind(text, "label")]

    assert found[:3] == [("BI+UK", ("7",)), ("KG?", ("8",)), ("TI", ("9",))]


def test_a_task_that_is_named_further_behind_does_not_take_the_label_of_the_heading() -> None:
    text = "### Task `9`: 0 of 5\n\n- Cause: **TI**, as where nothing is asked (task 10).\n\nBI: task `7`.\n"

    assert [(claim.text, claim.about) for claim in of_kind(text, "label")] == [("TI", ("9",)), ("BI", ("7",))]


def test_a_label_in_a_table_belongs_to_the_rows_task() -> None:
    (claim,) = of_kind("| task | cause |\n|---|---|\n| 12 | BI |\n", "label")

    assert (claim.text, claim.about) == ("BI", ("12",))


def test_a_quote_belongs_to_the_citation_before_it_or_behind_it() -> None:
    text = (
        '- `1:0#2`: “`It is "3" now`”\n\nIt says “no. Really.” (`2:1`), and “nothing” is cited.\n\nA “scare” quote.\n'
    )
    found = [(claim.text, claim.about) for claim in of_kind(text, "quote")]

    assert found == [('It is "3" now', ("1:0#2",)), ("no. Really.", ("2:1",)), ("nothing", ("2:1",))]


def test_a_block_quote_belongs_to_the_last_citation_above_it() -> None:
    (claim,) = of_kind("The rollout `1:0#2` ends so:\n\n> Done. It is set.\n", "quote")

    assert (claim.text, claim.about, claim.line) == ("Done. It is set.", ("1:0#2",), 3)


def test_figures_in_quotes_and_code_are_not_the_reports_own() -> None:
    assert of_kind("It says “3 mails” and `4 of 5`.", "figure", "fraction") == []


def test_a_denied_clause_is_known() -> None:
    affirmed, denied = of_kind("It failed 3 times; it did not pass 2 times.", "figure")

    assert (affirmed.positive, denied.positive) == (True, False)


def test_claims_are_found_where_nothing_is_installed() -> None:
    code = "from blade.audit.claims import extract_claims; print(len(extract_claims('3 of 5 tasks')))"
    found = subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=30)

    assert (found.stdout, found.stderr) == ("1\n", "")
