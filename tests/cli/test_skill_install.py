"""`blade skill install` and `blade list skills`."""

from pathlib import Path

from blade_command import blade, document
from small_skills import skill_text, write_skill


def test_named_skills_are_installed_for_every_agent_asked_for(tmp_path: Path) -> None:
    found = blade("skill", "install", "tau", "speech", "--agent", "claude", "--agent", "codex", "--project", tmp_path)

    assert (found.exit_code, found.stderr) == (0, "")
    assert sorted(path.parent.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("SKILL.md")) == [
        ".claude/skills/speech", ".claude/skills/tau", ".codex/skills/speech", ".codex/skills/tau",
    ]  # fmt: skip


def test_without_names_every_skill_that_comes_with_blade_is_installed(tmp_path: Path) -> None:
    done = document(blade("skill", "install", "--agent", "agents", "--project", tmp_path, "--json"))
    listed = document(blade("list", "skills", "--json"))

    assert [one["skill"] for one in done] == [skill["name"] for skill in listed]
    assert {one["action"] for one in done} == {"installed"}
    assert blade("skill", "validate", tmp_path / ".agents" / "skills").exit_code == 0


def test_edits_are_refused_with_1_and_named(tmp_path: Path) -> None:
    words = ("skill", "install", "tau", "--agent", "claude", "--project", tmp_path)
    assert blade(*words).exit_code == 0
    (tmp_path / ".claude/skills/tau/SKILL.md").write_text("mine", encoding="utf-8")

    found = blade(*words)

    assert found.exit_code == 1
    assert "refused" in found.stdout and "SKILL.md" in found.stdout
    assert found.stderr == "blade: tau edited there and left alone; --force overwrites the edits.\n"


def test_a_skill_that_is_none_is_not_installed(tmp_path: Path) -> None:
    folder = write_skill(tmp_path, skill_text(name="other"))

    found = blade("skill", "install", folder, "--agent", "claude", "--project", tmp_path)

    assert found.exit_code == 3
    assert "name is 'other', its folder is 'little'" in found.stderr
    assert not (tmp_path / ".claude").exists()


def test_an_unknown_name_is_answered_with_a_close_one(tmp_path: Path) -> None:
    found = blade("skill", "install", "taw", "--agent", "claude", "--project", tmp_path)

    assert (found.exit_code, found.stderr) == (2, "blade: no skill 'taw'; did you mean 'tau'?\n")


def test_skills_of_another_checkout_are_listed_and_broken_ones_named(tmp_path: Path) -> None:
    folder = write_skill(tmp_path / ".agents" / "skills")
    (tmp_path / ".agents" / "skills" / "broken").mkdir()
    (tmp_path / ".agents" / "skills" / "broken" / "SKILL.md").write_text("no frontmatter", encoding="utf-8")

    found = blade("list", "skills", "--root", tmp_path)
    as_json = document(blade("list", "skills", "--root", tmp_path, "--json"))

    assert found.exit_code == 0
    assert found.stdout.startswith("little\n    Explains why a run of a little benchmark scored as it did.\n")
    assert "has no frontmatter" in found.stderr
    assert [(skill["name"], skill["taxonomy"], skill["path"]) for skill in as_json] == [("little", False, str(folder))]


def test_one_skill_is_shown_with_all_it_says() -> None:
    found = blade("list", "skills", "tau")

    assert found.exit_code == 0
    assert "brings a taxonomy pack, scripts/action_diff.py" in found.stdout
    assert "Use when" in found.stdout
