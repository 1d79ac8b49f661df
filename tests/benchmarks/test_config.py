from pathlib import Path
from typing import Any

import pytest

from blade.benchmarks.config import Config, Server, load_config
from blade.benchmarks.includes import Root
from blade.benchmarks.nodes import ConfigError, plain
from blade.errors import Problem


def load(folder: Path, files: dict[str, str]) -> Config:
    """The config that the first of some files begins."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return load_config(Root(folder), folder / next(iter(files)))


def resolved(folder: Path, *texts: str) -> Any:
    """What `a.yaml` comes to, `b.yaml`, `c.yaml`, … standing beside it."""
    return plain(load(folder, {f"{letter}.yaml": text for letter, text in zip("abcdef", texts, strict=False)}).tree)


def refused(folder: Path, *texts: str) -> str:
    with pytest.raises(ConfigError) as caught:
        resolved(folder, *texts)
    return str(caught.value)


def test_the_includer_overrides_and_later_siblings_override_earlier_ones(tmp_path: Path) -> None:
    value = resolved(
        tmp_path,
        "config_paths: [b.yaml, c.yaml]\nx: {own: a}",
        "x: {own: b, both: b, only_b: b}",
        "x: {own: c, both: c}\n",
    )
    assert value == {"x": {"own": "a", "both": "c", "only_b": "b"}}


def test_a_later_siblings_includes_override_an_earlier_sibling(tmp_path: Path) -> None:
    assert resolved(tmp_path, "config_paths: [b.yaml, c.yaml]", "x: b", "config_paths: [d.yaml]", "x: d") == {"x": "d"}


def test_a_file_belongs_to_whoever_names_it_first_counted_from_the_top(tmp_path: Path) -> None:
    # a names b and c; b names c as well, but c is a's already and so comes after b.
    assert resolved(tmp_path, "config_paths: [b.yaml, c.yaml]", "config_paths: [c.yaml]\nx: b", "x: c") == {"x": "c"}


def test_one_file_under_two_spellings_is_included_once(tmp_path: Path) -> None:
    config = load(tmp_path, {"a.yaml": "config_paths: [b.yaml, ./sub/../b.yaml]", "b.yaml": "x: 1"})
    assert [path.name for path in config.files] == ["b.yaml", "a.yaml"]


def test_includes_that_go_in_a_circle_end(tmp_path: Path) -> None:
    texts = ["config_paths: [b.yaml]\nx: a", "config_paths: [c.yaml]\ny: b", "config_paths: [a.yaml, c.yaml]\ny: c"]
    assert resolved(tmp_path, *texts) == {"x": "a", "y": "b"}


def test_mappings_merge_deeply_and_lists_are_replaced(tmp_path: Path) -> None:
    value = resolved(
        tmp_path,
        "config_paths: [b.yaml]\nx: {deep: {own: 1}, list: [9], map: 3, none: null, text: {now: map}}",
        "x: {deep: {theirs: 2}, list: [1, 2], map: {a: 1}, none: {b: 2}, text: old}",
    )
    assert value == {
        "x": {"deep": {"theirs": 2, "own": 1}, "list": [9], "map": 3, "none": None, "text": {"now": "map"}}
    }


def test_inheriting_moves_and_lays_its_own_keys_over(tmp_path: Path) -> None:
    value = resolved(
        tmp_path,
        "config_paths: [b.yaml]\nmine: {_inherit_from: generic, deep: {own: 1}, list: [3]}",
        "generic: {deep: {own: 0, theirs: 2}, list: [1, 2], kept: yes}\nother: 5",
    )
    assert value == {"other": 5, "mine": {"deep": {"own": 1, "theirs": 2}, "list": [3], "kept": True}}


def test_several_may_inherit_from_one_which_then_is_gone(tmp_path: Path) -> None:
    value = resolved(tmp_path, "one: {_inherit_from: g, x: 1}\ntwo: {_inherit_from: g, x: 2}\ng: {x: 0, y: 9}")
    assert value == {"one": {"x": 1, "y": 9}, "two": {"x": 2, "y": 9}}


def test_copying_leaves_the_original_in_place(tmp_path: Path) -> None:
    assert resolved(tmp_path, "one: {_copy: g.part, x: 1}\ng: {part: {x: 0, y: 9}}") == {
        "one": {"x": 1, "y": 9},
        "g": {"part": {"x": 0, "y": 9}},
    }


def test_inheritance_follows_a_chain_in_any_order(tmp_path: Path) -> None:
    text = "top: {_inherit_from: middle, t: 1}\nbottom: {b: 3, t: 3, m: 3}\nmiddle: {_inherit_from: bottom, m: 2, t: 2}"
    assert resolved(tmp_path, text) == {"top": {"b": 3, "t": 1, "m": 2}}


def test_a_path_may_lead_into_what_was_itself_inherited(tmp_path: Path) -> None:
    text = "one: {_copy: two.part}\ntwo: {_inherit_from: g}\ng: {part: {x: 1}}"
    assert resolved(tmp_path, text) == {"one": {"x": 1}, "two": {"part": {"x": 1}}}


def test_the_text_forms_take_any_value(tmp_path: Path) -> None:
    text = "a: '${inherit_from:g.number}'\nb: ['${copy:g.list}']\ng: {number: 5, list: [1, 2]}"
    assert resolved(tmp_path, text) == {"a": 5, "b": [[1, 2]], "g": {"list": [1, 2]}}


def test_keys_are_deleted_from_what_was_merged_or_inherited_at_any_depth(tmp_path: Path) -> None:
    value = resolved(
        tmp_path,
        "config_paths: [b.yaml]\nmerged: {_delete_key: 'x, y'}\nmine: {_inherit_from: g, deep: {_delete_key: a, b: 5}}",
        "merged: {x: 1, y: 2, z: 3}\ng: {deep: {a: 1, b: 2, c: 3}}",
    )
    assert value == {"merged": {"z": 3}, "mine": {"deep": {"b": 5, "c": 3}}}


def test_an_includer_may_delete_the_directive_of_what_it_includes(tmp_path: Path) -> None:
    value = resolved(
        tmp_path,
        "config_paths: [b.yaml]\nmine: {_delete_key: 'agents, _inherit_from'}\nother: {_inherit_from: g}",
        "mine: {_inherit_from: g, agents: {a: 1}}\ng: {agents: {b: 2}}",
    )
    assert value == {"mine": {}, "other": {"agents": {"b": 2}}}


def test_resolvers_give_what_stands_somewhere_or_a_plain_default(tmp_path: Path) -> None:
    text = (
        "a: ${oc.env:HOME,null}\nb: ${oc.env:HOME,1e-6}\nc: ${oc.env:HOME,''}\nd: ${oc.select:engine,tavily}\n"
        "e: ${oc.select:x.y,5}\nx: {y: 7}\nf: '${oc.select:nobody,host}:${oc.env:PORT,80}'\n"
    )
    found = resolved(tmp_path, text)
    assert [found[key] for key in "abcdef"] == [None, 1e-6, "", "tavily", 7, "host:80"]


def test_references_are_filled_in_absolute_relative_inside_texts_and_nested(tmp_path: Path) -> None:
    text = (
        "host: h\nwhich: host\nport: 80\n"
        "url: {full: 'http://${host}:${.port}/${..port}', port: 8080, named: '${${which}}', same: '${url.port}'}\n"
        "list: [1, {first: '${list[0]}', second: '${list.0}'}]\nliteral: 'a \\${host}'\nwhole: ${url.port}\n"
    )
    assert resolved(tmp_path, text) == {
        "host": "h",
        "which": "host",
        "port": 80,
        "url": {"full": "http://h:8080/80", "port": 8080, "named": "h", "same": 8080},
        "list": [1, {"first": 1, "second": 1}],
        "literal": "a ${host}",
        "whole": 8080,
    }


def test_what_is_not_set_is_listed_with_its_place_and_stays_unset(tmp_path: Path) -> None:
    config = load(
        tmp_path, {"a.yaml": "x:\n  key: ???\n  url: ${nobody}\n  home: ${oc.env:HOME}\n  d: ${oc.env:H,7}\n"}
    )
    assert plain(config.tree) == {"x": {"key": "???", "url": "???", "home": "???", "d": 7}}
    assert config.unset == [
        Problem(where="a.yaml:2", message="'x.key' must be given (???)"),
        Problem(where="a.yaml:3", message="'x.url' refers to '${nobody}', which is not set"),
        Problem(where="a.yaml:4", message="'x.home' refers to '${oc.env:HOME}', which is not set"),
    ]


@pytest.mark.parametrize(
    "text", ["x: ${y}\ny: ${x}", "x: {y: '${x}'}", "x: a ${x}", "x: ${y}\ny: {p: '${x}'}", "x: ${x.p}"]
)
def test_a_reference_that_leads_back_to_itself_is_not_set(tmp_path: Path, text: str) -> None:
    unset = load(tmp_path, {"a.yaml": text}).unset
    assert [problem.message for problem in unset if "which leads back to it" in problem.message]


def test_a_path_may_lead_through_another_reference(tmp_path: Path) -> None:
    assert resolved(tmp_path, "a: ${b.p.q}\nb: ${c}\nc: {p: '${d}'}\nd: {q: 4}")["a"] == 4


def test_anything_may_stand_inside_a_text(tmp_path: Path) -> None:
    assert resolved(tmp_path, "x: {a: 1}\nn: null\ny: 'see ${x} and ${n}'")["y"] == "see {'a': 1} and None"


def test_an_unset_value_gives_way_to_one_that_was_set(tmp_path: Path) -> None:
    config = load(tmp_path, {"a.yaml": "config_paths: [b.yaml]\nx: {_inherit_from: g}", "b.yaml": "g:\n  k: ???\n"})
    assert [problem.message for problem in config.unset] == ["'x.k' must be given (???)"]
    assert resolved(tmp_path, "config_paths: [b.yaml]\ng:\n  k: ???\n", "g: {k: 1}") == {"g": {"k": 1}}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param(
            "generic: {}\nx: {_inherit_from: generik}",
            "a.yaml:2: refers to 'generik', which is nowhere in the config; did you mean 'generic'?",
            id="a_path_nobody_defines",
        ),
        pytest.param(
            "x: {_inherit_from: y}\ny: {_inherit_from: x}",
            "a.yaml:1: inherits from itself: y from x from y.",
            id="inheritance_in_a_circle",
        ),
        pytest.param("x: {_inherit_from: [y]}", "a.yaml:1: _inherit_from is a list, not the path", id="no_path"),
        pytest.param("x: {_delete_key: y}", "a.yaml:1: _delete_key names 'y', which is not", id="nothing_to_delete"),
        pytest.param("x: {_delete_key: 3}", "a.yaml:1: _delete_key is a number, not keys", id="no_keys"),
        pytest.param("[1]", "a.yaml:1: a config is a mapping of names to settings, not a list.", id="a_list"),
    ],
)
def test_what_cannot_be_resolved_is_told_at_its_line(tmp_path: Path, text: str, told: str) -> None:
    assert refused(tmp_path, text).startswith(told)


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([f"x{n}: {{a: {{_copy: x{n - 1}}}, b: {{_copy: x{n - 1}}}}}" for n in range(1, 40)], id="copies"),
        pytest.param([f"x{n}: {{_copy: x{n - 1}}}" for n in range(1, 3000)], id="a_long_chain"),
        pytest.param([f"x{n}: ['${{x{n - 1}}}', '${{x{n - 1}}}']" for n in range(1, 40)], id="references"),
        pytest.param([f"x{n}: '${{x{n - 1}}}${{x{n - 1}}}'" for n in range(1, 40)], id="texts"),
    ],
)
def test_no_config_unfolds_without_end(tmp_path: Path, lines: list[str]) -> None:
    first = "x0: some text" if "'" in lines[0] else "x0: {k: v}"
    assert "\n" not in refused(tmp_path, "\n".join([first, *reversed(lines)]))


@pytest.mark.parametrize("entry", ["../outside.yaml", "/etc/hostname", "x/../../outside.yaml", "linked.yaml"])
def test_nothing_outside_the_root_is_included(tmp_path: Path, entry: str) -> None:
    (tmp_path / "outside.yaml").write_text("secret: 1")
    root = tmp_path / "root"
    root.mkdir()
    (root / "linked.yaml").symlink_to(tmp_path / "outside.yaml")
    config = load(root, {"a.yaml": f"config_paths: [{entry}]\nx: 1"})
    assert plain(config.tree) == {"x": 1}
    assert [problem.where for problem in config.problems] == ["a.yaml:1"]
    assert f"'{entry}' leads out of the root" in config.problems[0].message


def test_a_missing_include_is_one_problem_and_the_rest_is_read(tmp_path: Path) -> None:
    config = load(tmp_path, {"a.yaml": "config_paths:\n- b.yaml\n- bb.yaml\nx: 1", "b.yaml": "y: 2"})
    assert plain(config.tree) == {"x": 1, "y": 2}
    assert config.problems == [
        Problem(where="a.yaml:3", message="includes 'bb.yaml', which does not exist", hint="did you mean 'b.yaml'?")
    ]


def test_what_follows_from_a_missing_include_is_blamed_on_it(tmp_path: Path) -> None:
    told = refused(tmp_path, "config_paths: [gone.yaml]\nx: {_inherit_from: generic}")
    assert told == "a.yaml:1: includes 'gone.yaml', which does not exist; write the file or take the entry out."


@pytest.mark.parametrize("paths", ["b.yaml", "{b: c}", "[b.yaml, 3]"])
def test_include_lists_that_are_none_are_a_problem(tmp_path: Path, paths: str) -> None:
    config = load(tmp_path, {"a.yaml": f"config_paths: {paths}\nx: 1", "b.yaml": "y: 2"})
    assert [problem.where for problem in config.problems] == ["a.yaml:1"]
    assert "not a list of paths" in config.problems[0].message


def test_what_begins_with_blade_is_also_found_beside_the_package(tmp_path: Path) -> None:
    (tmp_path / "benchmarks").mkdir()
    place = Root(tmp_path).locate("blade/benchmarks/config.py", None)  # type: ignore[arg-type]
    assert place.is_file() and not place.is_relative_to(tmp_path)


def test_servers_are_found_and_almost_servers_told(tmp_path: Path) -> None:
    text = (
        "good: {resources_servers: {numeric: {entrypoint: v.py, domain: math}}}\n"
        "agent: {responses_api_agents: {loop: {entrypoint: a.py}}}\n"
        "poor: {resources_servers: {numeric: {domain: math}}}\n"
        "two: {responses_api_models: {a: {entrypoint: x}, b: {entrypoint: y}}}\n"
        "empty: {responses_api_agents: {loop: null}}\n"
        "setting: 3\n"
    )
    config = load(tmp_path, {"a.yaml": text})
    assert [(s.name, s.kind, s.implementation) for s in config.servers][:2] == [
        ("good", "resources_servers", "numeric"),
        ("agent", "responses_api_agents", "loop"),
    ]
    assert isinstance(config.server("resources_servers", "good"), Server)
    assert [(problem.where, problem.message) for problem in config.problems] == [
        ("a.yaml:3", "'poor' lacks entrypoint under resources_servers.numeric"),
        ("a.yaml:4", "'two' must hold one implementation under responses_api_models"),
        ("a.yaml:5", "'empty' has no settings under responses_api_agents.loop"),
    ]
