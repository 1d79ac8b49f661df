"""`blade validate`: what a user sees of a package's checks."""

from pathlib import Path

import pytest
from blade_command import blade, document
from small_packages import write_package


def test_a_good_package_is_told_so_line_by_line(tmp_path: Path) -> None:
    found = blade("validate", write_package(tmp_path), "--phase", "skill")

    assert found.exit_code == 0
    assert found.stdout.splitlines()[:2] == ["Skill", "  ok    SKILL.md begins with frontmatter"]
    assert found.stdout.splitlines()[-1].startswith("Summary: 6/6 checks passed")


def test_a_failure_exits_with_one_and_says_what_to_do(tmp_path: Path) -> None:
    found = blade("validate", tmp_path, "--phase", "rollouts")

    assert found.exit_code == 1
    assert "  wrong no rollout file in" in found.stdout
    assert "    Put one file of scored rollouts per model there" in found.stdout


def test_a_name_is_looked_up_among_the_benchmarks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_package(tmp_path / "benchmarks")
    monkeypatch.chdir(tmp_path)

    assert document(blade("validate", "small_sums", "--json"))["failed"] == 0
