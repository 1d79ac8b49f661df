"""`blade skill validate`: problems with their places and hints, and exit codes a script can use."""

import json
from pathlib import Path

from blade_command import blade, document
from small_skills import skill_text, write_skill


def test_a_good_skill_is_called_good(tmp_path: Path) -> None:
    folder = write_skill(tmp_path)

    found = blade("skill", "validate", tmp_path)

    assert (found.exit_code, found.stdout, found.stderr) == (0, f"{folder}: good\n", "")
    assert document(blade("skill", "validate", folder, "--json")) == {
        "skills": [{"path": str(folder), "valid": True, "problems": []}]
    }


def test_problems_are_printed_with_what_to_do_and_exit_with_1(tmp_path: Path) -> None:
    folder = write_skill(tmp_path, skill_text("```\nblade dignose x\n```"))

    found = blade("skill", "validate", folder)
    as_json = blade("skill", "validate", folder, "--json")

    said = "`blade dignose x`: there is no command 'dignose' in blade"
    assert found.exit_code == as_json.exit_code == 1
    assert found.stdout == f"{folder}/SKILL.md:7: {said}; see `blade --help`\n"
    assert found.stderr == "blade: 1 problem in 1 skill.\n"
    assert json.loads(as_json.stdout)["skills"][0]["problems"] == [
        {"where": f"{folder}/SKILL.md:7", "message": said, "hint": "see `blade --help`"}
    ]


def test_the_specification_alone_can_be_asked_for(tmp_path: Path) -> None:
    folder = write_skill(tmp_path, skill_text("```\nblade dignose x\n```"))

    assert blade("skill", "validate", folder, "--spec-only").exit_code == 0


def test_scripts_are_run_when_asked_for_and_counted_otherwise(tmp_path: Path) -> None:
    folder = write_skill(tmp_path, skill_text("Run `scripts/x.py`."), scripts__x_DOT_py="raise SystemExit(3)")

    left, run = blade("skill", "validate", folder), blade("skill", "validate", folder, "--run-scripts")

    assert (left.exit_code, run.exit_code) == (0, 1)
    assert left.stderr == "blade: 1 script was not run; --run-scripts starts each with --help.\n"


def test_a_folder_without_a_skill_is_unreadable_input(tmp_path: Path) -> None:
    found = blade("skill", "validate", tmp_path)

    assert (found.exit_code, found.stderr) == (3, f"blade: {tmp_path}: holds no SKILL.md, and no folder with one.\n")


def test_what_a_skill_says_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    folder = write_skill(tmp_path, skill_text(more='"\\e[31mred": x\n'))

    found = blade("skill", "validate", folder)

    assert found.exit_code == 1
    assert "\x1b" not in found.output
