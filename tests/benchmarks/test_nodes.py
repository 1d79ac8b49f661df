from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.benchmarks.nodes import EXPONENT, ConfigError, parse_nodes, plain


def parsed(text: str | bytes) -> Any:
    return plain(parse_nodes(text, name="c.yaml"))


def test_scalars_are_plain_values_and_dates_stay_texts() -> None:
    text = "{a: 1, b: 2.5, c: x, d: null, e: yes, f: 2024-01-01, g: 1e5, h: '1', i: 0x10}"
    assert parsed(text) == {
        **{"a": 1, "b": 2.5, "c": "x", "d": None, "e": True, "f": "2024-01-01", "g": 1e5, "h": "1", "i": 16}
    }


def test_aliases_and_merge_keys_unfold_and_give_way_to_what_is_written() -> None:
    text = "base: &b {x: 1, y: 2}\nmore: &m {y: 3, z: 4}\nall: {<<: [*b, *m], x: 0}\nsame: *b\n"
    assert parsed(text)["all"] == {"x": 0, "y": 2, "z": 4}
    assert parsed(text)["same"] == {"x": 1, "y": 2}


def test_every_value_knows_its_line() -> None:
    node = parse_nodes("a:\n  b:\n  - 1\n  - 2\n", name="c.yaml")
    assert str(node.value["a"].value["b"].value[1].place) == "c.yaml:4"


def test_an_empty_file_is_an_empty_mapping() -> None:
    assert (parsed(""), parsed("# only a comment\n")) == ({}, {})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("a: 1\na: 2", "c.yaml:2: the key 'a' is there twice.", id="key_twice"),
        pytest.param("a: *b", "c.yaml:1: *b is not defined before it is used.", id="unknown_alias"),
        pytest.param("a: &a [*a]", "c.yaml:1: *a is not defined before it is used.", id="alias_inside_itself"),
        pytest.param("a: 1\n---\nb: 2", "c.yaml:3: a second document begins here", id="two_documents"),
        pytest.param("{[a]: 1}", "c.yaml:1: a key is a word, not a collection.", id="list_as_key"),
        pytest.param("a: {<<: 3}", "c.yaml:1: << needs a mapping.", id="merge_of_a_number"),
        pytest.param("a: !!python/object/apply:os.system [x]", "c.yaml:1: a collection of type", id="python_object"),
        pytest.param("a: !!python/name:os.system x", "c.yaml:1: 'x' is not a plain value of type", id="python_name"),
        pytest.param("a: !!int x", "c.yaml:1: 'x' is not a plain value of type", id="not_of_its_type"),
    ],
)
def test_what_no_config_should_hold_is_refused_at_its_line(text: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parsed(text)
    assert str(caught.value).startswith(told)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a: [1", id="open_list"),
        pytest.param("a: b: c", id="two_values"),
        pytest.param("\t- a", id="tab"),
        pytest.param(b"a: \xe4", id="latin_1"),
        pytest.param(b"\xff\xfe\x00", id="half_a_character"),
        pytest.param("a: \x00", id="nul"),
    ],
)
def test_malformed_text_is_one_sentence(text: str | bytes) -> None:
    with pytest.raises(ConfigError, match=r"^c\.yaml(:\d+)?: not valid YAML: [^\n]+\.$"):
        parsed(text)


def test_nesting_is_bounded() -> None:
    with pytest.raises(ConfigError, match="nested deeper than 60 levels"):
        parsed("[" * 100_000)


def test_aliases_cannot_unfold_without_end() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    bomb += "".join(f"a{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 9)}]\n" for n in range(20))
    with pytest.raises(ConfigError, match="unfolds to more than 100,000 values"):
        parsed(bomb)


WORDS = st.text().filter(lambda text: not EXPONENT.fullmatch(text))
"""Texts, without those that PyYAML writes bare and we, as the configs' own reader does, take for a number: `1e5`."""
LEAVES = st.none() | st.booleans() | st.integers() | WORDS


@given(st.recursive(LEAVES, lambda v: st.lists(v, max_size=4) | st.dictionaries(WORDS, v, max_size=4)))
def test_what_yaml_writes_is_read_back(value: Any) -> None:
    import yaml

    assert parsed(yaml.safe_dump({"value": value})) == {"value": value}


@given(st.text(alphabet="ab:-[]{}&*!|>'\"#\n ,?%@`\\", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parsed(text)
    except ConfigError as error:
        assert "\n" not in str(error)
