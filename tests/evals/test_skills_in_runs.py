"""Skills in a run: the model is told of them, opens what it likes and nothing else, and the rows say what it read."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import Call, Loopback, Say, Tool, in_turn
from small_benchmark import read_rows, run_small, small_plan

from blade.errors import InputError, UsageError
from blade.evals.skills import TURNS, Library, SkillSession, read_library

SKILL = "---\nname: {name}\ndescription: How to\n  {name}.\nmetadata:\n  version: '2'\n---\n\n# Steps of {name}\n"


def write_skills(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name / "references").mkdir(parents=True)
        (folder / name / "SKILL.md").write_text(SKILL.format(name=name), encoding="utf-8")
        (folder / name / "references" / "more.md").write_text("More.", encoding="utf-8")
    return folder


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    return write_skills(tmp_path / "skills", "count", "add-up")


def test_a_model_that_opens_a_skill_leaves_a_record_of_it(tmp_path: Path, skills: Path) -> None:
    script = in_turn(
        Say("", (Tool("read_skill_file", {"path": "count/SKILL.md"}),)),
        Say("", (Tool("read_skill_file", {"path": "count/references/more.md"}),)),
        Say("", (Tool("read_skill_file", {"path": "count/SKILL.md"}),)),
        Say("1"),
    )
    plan = small_plan(tmp_path, [{"answer": 1}], repeats=1, max_turns=1 + TURNS)
    library = read_library(str(skills))
    with Loopback(script) as server:
        run_small(plan, server, tmp_path / "out.jsonl", library=library)
    [row] = read_rows(tmp_path / "out.jsonl")

    assert row["skills_read"] == ["count/SKILL.md", "count/references/more.md"]
    assert row["reward"] == 1.0
    assert row["response"]["output"][1]["output"].endswith("# Steps of count\n")
    assert row["skills_ref"] == {
        "path": str(skills),
        "hash": library.hash,
        "skills": [
            {"name": "add-up", "description": "How to add-up.", "version": "2"},
            {"name": "count", "description": "How to count.", "version": "2"},
        ],
    }


def test_a_model_that_opens_none_leaves_an_empty_record(tmp_path: Path, skills: Path) -> None:
    plan = small_plan(tmp_path, [{"answer": 1}], repeats=1)
    with Loopback(in_turn(Say("1"))) as server:
        run_small(plan, server, tmp_path / "out.jsonl", library=read_library(str(skills)))

    assert [row["skills_read"] for row in read_rows(tmp_path / "out.jsonl")] == [[]]


def test_the_model_is_told_of_the_skills_and_how_to_open_them(tmp_path: Path, skills: Path) -> None:
    plan = small_plan(tmp_path, [{"answer": 1}], repeats=1)
    with Loopback(in_turn(Say("1"))) as server:
        run_small(plan, server, tmp_path / "out.jsonl", library=read_library(str(skills)))
        asked = server.calls[0].body

    system = asked["messages"][0]["content"]
    assert system.startswith("You count {up}.\n\nYou have skills:")
    assert system.endswith("\n- add-up (add-up/SKILL.md): How to add-up.\n- count (count/SKILL.md): How to count.")
    assert [tool["function"]["name"] for tool in asked["tools"]] == ["read_skill_file"]


def test_a_verifier_does_not_see_that_skills_were_opened(tmp_path: Path, skills: Path) -> None:
    script = in_turn(
        Say("", (Tool("read_skill_file", {"path": "count/SKILL.md"}), Tool("add", {}))),
        Say("done"),
    )
    plan = small_plan(tmp_path, [{"answer": 1, "calls": 1}], repeats=1, max_turns=3)
    with Loopback(script) as server:
        run_small(plan, server, tmp_path / "out.jsonl", library=read_library(str(skills)))
    [row] = read_rows(tmp_path / "out.jsonl")

    assert (row["made"], row["reward"]) == (1, 1.0)


def test_other_skills_are_refused_on_resume(tmp_path: Path, skills: Path) -> None:
    plan = small_plan(tmp_path, [{"answer": 1}], repeats=2)
    with Loopback(in_turn(Say("1"))) as server:
        run_small(plan, server, tmp_path / "out.jsonl", library=read_library(str(skills)))
        (skills / "count" / "SKILL.md").write_text(SKILL.format(name="count") + "!", encoding="utf-8")
        with pytest.raises(UsageError, match=r"skills was \w{12}, is \w{12}"):
            run_small(plan, server, tmp_path / "out.jsonl", library=read_library(str(skills)), resume=True)


def test_a_folder_that_changes_meanwhile_is_noted_and_not_shown(tmp_path: Path, skills: Path) -> None:
    def meddle(call: Call) -> Say:
        (skills / "count" / "SKILL.md").write_text("nonsense", encoding="utf-8")
        return in_turn(Say("", (Tool("read_skill_file", {"path": "count/SKILL.md"}),)), Say("1"))(call)  # type: ignore[return-value]

    plan = small_plan(tmp_path, [{"answer": 1}], repeats=1, max_turns=3)
    with Loopback(meddle) as server:
        result = run_small(plan, server, tmp_path / "out.jsonl", library=read_library(str(skills)))
    [row] = read_rows(tmp_path / "out.jsonl")

    assert "# Steps of count" in row["response"]["output"][1]["output"]
    assert result.notes == [f"{skills}: changed during the run; the rollouts used it as it was at the start"]


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "/etc/passwd",
        "count/../../secret.txt",
        "count/SKILL.md/../../../secret.txt",
        "~/.ssh/id",
        "link",
    ],
)
def test_nothing_outside_the_folder_can_be_opened(tmp_path: Path, skills: Path, path: str) -> None:
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    (skills / "folder").symlink_to(tmp_path, target_is_directory=True)

    assert read_library(str(skills)).open(path).startswith("Error: no file is named")


def test_a_file_that_is_a_link_to_one_outside_is_refused(tmp_path: Path, skills: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    (skills / "count" / "notes.txt").symlink_to(tmp_path / "secret.txt")

    with pytest.raises(InputError, match=r"notes\.txt: leads out of the folder, and would be shown to the model"):
        read_library(str(skills))


def test_a_file_that_is_a_link_to_one_inside_is_opened(skills: Path) -> None:
    (skills / "count" / "same.md").symlink_to(skills / "count" / "references" / "more.md")

    assert read_library(str(skills)).open("count/same.md") == "More."


def test_a_folder_too_large_to_hold_is_refused_before_it_is_read(skills: Path) -> None:
    with (skills / "count" / "huge.bin").open("wb") as file:
        file.truncate(10**12)

    with pytest.raises(InputError, match="holds more than 100 MB"):
        read_library(str(skills))


@given(st.text(max_size=40))
def test_whatever_a_model_asks_for_it_is_answered(path: str) -> None:
    library = Library(given="s", folder=Path("s"), hash="0", skills={}, files={"a/SKILL.md": b"\xff", "a/b": b"x"})

    assert isinstance(library.open(path), str)
    assert isinstance(SkillSession(library, None).call("read_skill_file", path), str)


def test_folders_are_listed_long_files_cut_and_binaries_named(tmp_path: Path, skills: Path) -> None:
    (skills / "count" / "long.txt").write_text("x" * 50_000, encoding="utf-8")
    (skills / "count" / "image.png").write_bytes(b"\x89PNG\xff")
    library = read_library(str(skills))

    listed = "count/SKILL.md\ncount/image.png\ncount/long.txt\ncount/references/more.md"
    assert library.open("count/") == listed
    assert library.open("count/long.txt").endswith("\n[10000 more characters are not shown]")
    assert library.open("count/image.png") == "count/image.png is not a text (5 bytes)."


def test_a_single_skill_may_be_given(tmp_path: Path, skills: Path) -> None:
    library = read_library(str(skills / "count"))

    assert list(library.skills) == ["count/SKILL.md"]
    assert library.open("count/references/more.md") == "More."


@pytest.mark.parametrize("name", ["missing", "empty", "file"])
def test_a_folder_without_skills_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")

    with pytest.raises(InputError, match=name):
        read_library(str(tmp_path / name))


def test_a_folder_among_the_skills_that_is_none_is_refused(tmp_path: Path, skills: Path) -> None:
    (skills / "notes").mkdir()

    with pytest.raises(InputError, match=r"notes: has no SKILL\.md"):
        read_library(str(skills))
