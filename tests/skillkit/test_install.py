"""Installing a skill: safe to repeat, and never at the cost of what somebody wrote."""

from pathlib import Path

import pytest
from small_skills import skill_text, write_skill

from blade.errors import InputError
from blade.skillkit.install import Installed, install_skill, place_for


def snapshot(folder: Path) -> dict[str, str]:
    """Every file that is not hidden, by its path."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in sorted(files)}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    skill = write_skill(tmp_path / "from", scripts__x_DOT_py="print()", evals__evals_DOT_json="{}")
    (skill / "scripts" / "__pycache__").mkdir()
    (skill / "scripts" / "__pycache__" / "x.pyc").write_bytes(b"x")
    return skill


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "project" / ".claude" / "skills"


def test_a_skill_is_copied_without_what_only_its_authors_need(source: Path, place: Path) -> None:
    done = install_skill(source, place)

    assert done == Installed(
        skill="little", place=str(place / "little"), action="installed", changed=["SKILL.md", "scripts/x.py"]
    )
    assert snapshot(place) == {"little/SKILL.md": skill_text(), "little/scripts/x.py": "print()"}


def test_installing_again_changes_nothing(source: Path, place: Path) -> None:
    install_skill(source, place)
    before = {path: path.stat().st_mtime_ns for path in (place / "little").rglob("*")}

    assert install_skill(source, place).action == "unchanged"
    assert {path: path.stat().st_mtime_ns for path in (place / "little").rglob("*")} == before


def test_a_newer_skill_replaces_what_nobody_touched(source: Path, place: Path) -> None:
    install_skill(source, place)
    (source / "SKILL.md").write_text(skill_text("New."), encoding="utf-8")
    (source / "scripts" / "x.py").unlink()

    done = install_skill(source, place)

    assert (done.action, done.changed) == ("updated", ["SKILL.md", "scripts/x.py"])
    assert snapshot(place) == {"little/SKILL.md": skill_text("New.")}


def test_an_edited_file_is_kept_until_the_user_insists(source: Path, place: Path) -> None:
    install_skill(source, place)
    (place / "little" / "SKILL.md").write_text("mine", encoding="utf-8")

    refused = install_skill(source, place)

    assert (refused.action, refused.kept) == ("refused", ["SKILL.md"])
    assert snapshot(place)["little/SKILL.md"] == "mine"
    assert install_skill(source, place, force=True).action == "updated"
    assert snapshot(place)["little/SKILL.md"] == skill_text()


def test_files_that_somebody_added_stay(source: Path, place: Path) -> None:
    install_skill(source, place)
    (place / "little" / "notes.md").write_text("mine", encoding="utf-8")
    (source / "SKILL.md").write_text(skill_text("New."), encoding="utf-8")

    assert install_skill(source, place).action == "updated"
    assert snapshot(place)["little/notes.md"] == "mine"


def test_a_skill_of_the_same_name_that_was_there_before_is_not_overwritten(source: Path, place: Path) -> None:
    (place / "little").mkdir(parents=True)
    (place / "little" / "SKILL.md").write_text("somebody else's", encoding="utf-8")

    assert install_skill(source, place).action == "refused"
    assert snapshot(place) == {"little/SKILL.md": "somebody else's"}


def test_a_dry_run_says_what_would_be_done_and_does_nothing(source: Path, place: Path) -> None:
    assert install_skill(source, place, dry_run=True).action == "installed"
    assert not place.exists()


def test_a_link_to_the_skill_itself_is_left_alone_and_one_elsewhere_is_not_followed(
    source: Path, place: Path, tmp_path: Path
) -> None:
    place.mkdir(parents=True)
    (place / "little").symlink_to(source)
    assert install_skill(source, place).action == "unchanged"

    elsewhere = write_skill(tmp_path / "elsewhere", "theirs")
    (place / "little").unlink()
    (place / "little").symlink_to(elsewhere)
    assert install_skill(source, place).action == "refused"
    assert install_skill(source, place, force=True).action == "installed"
    assert (elsewhere / "SKILL.md").read_text(encoding="utf-8") == "theirs"


def test_a_link_inside_a_skill_is_not_copied(source: Path, place: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    (source / "notes.md").symlink_to(tmp_path / "secret")

    assert "notes.md" not in install_skill(source, place).changed


def test_a_broken_record_is_an_input_error(source: Path, place: Path) -> None:
    install_skill(source, place)
    (place / ".blade-skills.json").write_text("[]", encoding="utf-8")

    with pytest.raises(InputError, match="is not a record of installed skills"):
        install_skill(source, place)


def test_each_agent_has_its_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    project = Path("p")

    assert [place_for(agent, user=False, project=project) for agent in ("claude", "codex", "agents")] == [
        project / ".claude/skills",
        project / ".codex/skills",
        project / ".agents/skills",
    ]
    assert place_for("claude", user=True, project=project) == tmp_path / ".claude/skills"
    assert place_for("codex", user=True, project=project) == tmp_path / ".agents/skills"
