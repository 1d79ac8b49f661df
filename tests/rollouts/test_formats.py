from typing import Any

import pytest
from rollout_rows import rollout, without
from scans import chat_row, flat_row

from blade.errors import UsageError
from blade.rollouts import formats
from blade.rollouts.fields import Leaf, learn
from blade.rollouts.formats import value_at


@pytest.mark.parametrize(
    ("rows", "name", "output"),
    [
        pytest.param([rollout()], "gym", "response.output", id="gym"),
        pytest.param([without(rollout(), "response")], "gym", "response.output", id="gym_without_response"),
        pytest.param([{"response": {"output": []}}], "gym", "response.output", id="only_a_response"),
        pytest.param([{"a": 1}, rollout()], "gym", "response.output", id="gym_among_others"),
        pytest.param([chat_row()], "tau-bench", "traj", id="tau_bench"),
        pytest.param([flat_row()], "records", "output", id="records"),
        pytest.param([{"id": 1, "messages": [], "output": "x"}], "records", "messages", id="best_guess_first"),
        pytest.param([{"id": 1, "score": 1}], "records", None, id="nothing_to_guess"),
        pytest.param([3, None, "x"], "records", None, id="no_objects"),
        pytest.param([], "records", None, id="nothing"),
    ],
)
def test_the_format_is_told_by_the_rows(rows: list[Any], name: str, output: str | None) -> None:
    form = formats.detect(rows)
    assert (form.name, form.output) == (name, output)


def test_a_named_format_is_taken_whatever_the_rows_look_like() -> None:
    assert [formats.named(name, [flat_row()]).name for name in formats.FORMATS] == list(formats.FORMATS)


def test_an_unknown_format_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match="unknown format 'gmy'; expected one of gym, tau-bench, blade, records"):
        formats.named("gmy", [])


@pytest.mark.parametrize(
    ("path", "value"), [("a.b", 1), ("a", {"b": 1}), ("x.y", 2), ("a.c", None), ("a.b.c", None), ("l.0", None)]
)
def test_a_path_finds_its_value_even_in_a_key_with_dots(path: str, value: Any) -> None:
    assert value_at({"a": {"b": 1}, "x.y": 2, "l": [3]}, path) == value


def test_what_is_not_an_object_has_no_values() -> None:
    records: list[Any] = [None, 3, []]
    assert [value_at(record, "a") for record in records] == [None, None, None]


def test_trajectories_are_decoded_only_when_they_are_looked_at() -> None:
    gym, learned = formats.FORMATS["gym"], learn([rollout(params={"tools": [{"name": "look"}]})])
    trees = {asked: gym.tree(learned, features=asked, hash_inputs=False) for asked in (True, False)}
    read = {asked: (tree["response"], tree["responses_create_params"]) for asked, tree in trees.items()}
    with_items: Any = ({"output": Leaf.ITEMS}, {"input": Leaf.ITEMS, "tools": Leaf.PRESENT})
    without_items: Any = ({"output": Leaf.SKIP}, {"input": Leaf.SKIP, "tools": Leaf.PRESENT})
    names: Any = {"id": Leaf.WORD, "model": Leaf.WORD}
    assert read == {True: (names | with_items[0], with_items[1]), False: (names | without_items[0], without_items[1])}


def test_a_prompt_is_decoded_when_it_has_to_name_the_task() -> None:
    tree: Any = formats.FORMATS["gym"].tree(learn([rollout()]), features=False, hash_inputs=True)
    assert (tree["responses_create_params"]["input"], tree["response"]["output"]) == (Leaf.ITEMS, Leaf.SKIP)
