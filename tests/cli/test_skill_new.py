"""`blade skill new`: a draft that the next commands take as it is."""

from pathlib import Path

from blade_command import airline, blade, document


def test_a_draft_is_taken_by_validate_and_diagnose(tmp_path: Path) -> None:
    rollouts = airline(tmp_path)

    done = document(blade("skill", "new", "airline-desk", "--from", rollouts, "--out", tmp_path / "skills", "--json"))

    folder = tmp_path / "skills" / "airline-desk"
    assert done == {"written": [str(folder / "SKILL.md"), str(folder / "assets" / "taxonomy.yaml")]}
    assert blade("skill", "validate", folder).exit_code == 0
    words = ("diagnose", rollouts, "--pack", folder / "assets" / "taxonomy.yaml", "--out", tmp_path / "out")
    assert document(blade(*words, "--json"))["pack"]["name"] == "airline-desk"


def test_the_way_on_is_shown(tmp_path: Path) -> None:
    found = blade("skill", "new", "desk", "--from", airline(tmp_path), "--out", tmp_path / "skills")

    assert found.exit_code == 0
    assert found.stdout.startswith("Wrote ")
    assert "blade diagnose" in found.stderr and "--pack" in found.stderr


def test_a_bad_name_and_a_missing_file_are_told_apart(tmp_path: Path) -> None:
    assert blade("skill", "new", "Bad Name", "--from", airline(tmp_path), "--out", tmp_path).exit_code == 2
    assert blade("skill", "new", "good", "--from", tmp_path / "none.jsonl", "--out", tmp_path).exit_code == 3
