"""The corpus by which the checks are measured: each report has a key, and each key speaks of its report."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

ROOT = Path(__file__).resolve().parents[2]
MEASURE = ROOT / "measure"
REPORTS = sorted(MEASURE.glob("reports/*/*.md"))
FINDINGS = sorted(MEASURE.glob("findings/*/*.md"))


def named(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


def key_of(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.yaml.decode(path.with_suffix(".yaml").read_bytes())
    return found


@pytest.mark.parametrize("path", REPORTS, ids=named)
def test_every_place_of_a_key_is_one_line_of_its_report(path: Path) -> None:
    text, key = path.read_text(), key_of(path)
    parts = [part for place in key["places"] for part in place["lines"]] + [hold["line"] for hold in key["holds"]]

    assert [part for part in parts if text.count(part) != 1] == []


@pytest.mark.parametrize("path", REPORTS, ids=named)
def test_no_line_belongs_to_two_places_of_a_key(path: Path) -> None:
    lines, places = path.read_text().splitlines(), key_of(path)["places"]
    owners = {line: sum(any(part in line for part in one["lines"]) for one in places) for line in lines}

    assert [line for line, count in owners.items() if count > 1] == []


@pytest.mark.parametrize("path", REPORTS, ids=named)
def test_every_figure_of_a_key_stands_in_its_line(path: Path) -> None:
    def stands(number: str, line: str) -> bool:
        return re.search(rf"(?<![\d.,]){re.escape(number)}(?!\d|[.,]\d)", line) is not None

    assert [one for one in key_of(path)["holds"] if not stands(one["number"], one["line"])] == []


@pytest.mark.parametrize("path", FINDINGS, ids=named)
def test_findings_are_about_a_run_that_ships(path: Path) -> None:
    assert (ROOT / key_of(path)["run"]).is_file()


@pytest.mark.parametrize("folder", ["reports/seen", "reports/unseen", "findings/seen", "findings/unseen"])
def test_seen_and_unseen_folders_hold_files_with_keys(folder: str) -> None:
    files = {suffix: {one.stem for one in (MEASURE / folder).glob(f"*.{suffix}")} for suffix in ("md", "yaml")}

    assert files["md"] == files["yaml"] != set()
