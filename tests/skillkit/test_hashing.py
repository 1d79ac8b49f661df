"""A folder of skills is named by what is in it; the names are those NeMo Gym gives."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.errors import InputError
from blade.skillkit.skill import hash_files, hash_folder


def write_skill(folder: Path, name: str, text: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "SKILL.md").write_bytes(text.encode())


def test_one_skill_has_the_name_that_gym_gives_it(tmp_path: Path) -> None:
    write_skill(tmp_path, "demo", "---\nname: demo\ndescription: A demo skill.\n---\n\n# Demo\n")

    assert hash_folder(tmp_path) == "8a1c167c2f6a"


def test_skills_are_ordered_by_path_components_as_gym_does(tmp_path: Path) -> None:
    for name in ("a", "a-b"):
        write_skill(tmp_path, name, f"---\nname: {name}\ndescription: d\n---\nbody\n")

    # in plain text order "a-b/SKILL.md" would come first and give 620123d658bf
    assert hash_folder(tmp_path) == "913de6d028e2"


def test_hidden_files_count_and_links_to_folders_do_not(tmp_path: Path) -> None:
    write_skill(tmp_path, "demo", "---\nname: demo\ndescription: A demo skill.\n---\n\n# Demo\n")
    (tmp_path / "link").symlink_to(tmp_path / "demo", target_is_directory=True)
    assert hash_folder(tmp_path) == "8a1c167c2f6a"

    (tmp_path / ".hidden").write_bytes(b"")
    assert hash_folder(tmp_path) != "8a1c167c2f6a"


@given(st.dictionaries(st.sampled_from(["a/x", "a-b/x", "b", "c/d/e"]), st.binary(max_size=4), min_size=1))
def test_the_name_does_not_depend_on_the_order_files_are_found_in(files: dict[str, bytes]) -> None:
    assert hash_files(dict(reversed(files.items()))) == hash_files(files)


@given(st.binary(max_size=4), st.binary(max_size=4))
def test_the_name_depends_on_the_content(one: bytes, other: bytes) -> None:
    assert (hash_files({"a": one}) == hash_files({"a": other})) == (one == other)


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a folder of skills"):
        hash_folder(tmp_path / "none")
