"""Pack files as strangers write them: every mistake named with its line, and nothing but a `BladeError` ever raised."""

import json
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pack_runs import HEAD, STAGES, pack_text, pattern, write_pack

from blade.diagnosis.analysis import ObservationKind
from blade.diagnosis.labels import CAUSES, Confidence
from blade.diagnosis.packs import check_pack, load_pack, shipped_names
from blade.diagnosis.packs.document import MAX_BYTES, Refused, parse_document
from blade.diagnosis.packs.evaluate import FACT_NAMES
from blade.diagnosis.packs.pack import Intervention
from blade.diagnosis.packs.values import HOLDS
from blade.errors import BladeError, InputError, Problem, UsageError
from blade.rollouts.table import STATUSES

SCHEMA: dict[str, Any] = json.loads(
    resources.files("blade").joinpath("schemas", "taxonomy.schema.json").read_text(encoding="utf-8")
)
GOOD = pack_text(pattern("{field: n, equals: 1}"))
ALIASES = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
NO_REPEAT = "a group may be optional ('?') but not repeated; repeat a character or a class"
PLAIN_GROUPS = "only plain groups '(...)' and '(?:...)' are allowed, and '(?i)' at the beginning"
TAG = "name: !!python/object/apply:os.system ['touch here']\n"


def condition(said: str) -> str:
    return pack_text(pattern(said))


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        pytest.param(ALIASES, 1, "anchors (&name) are not allowed in a pack", id="alias_bomb"),
        pytest.param("a: 1\nb: *a\n", 2, "aliases (*name) are not allowed in a pack; write the text again", id="alias"),
        pytest.param(
            TAG,
            1,
            "tags are not allowed in a pack, found 'tag:yaml.org,2002:python/object/apply:os.system'",
            id="python_tag",
        ),
        pytest.param("a: b\n# c\na: d\n", 3, "the key 'a' stands twice, first on line 1", id="duplicate_key"),
        pytest.param("a: b\n---\na: c\n", 2, "a pack is one document; remove the second '---'", id="two_documents"),
        pytest.param(
            "\na: \x07\n", 1, "is not YAML: it holds a character that texts may not hold", id="control_character"
        ),
        pytest.param("? [a, b]\n: c\n", 1, "a key must be a text", id="list_as_key"),
        pytest.param("\n" + "[" * 30 + "]" * 30, 2, "a pack is at most 24 levels deep", id="deep"),
        pytest.param("[" + "1," * 20_001 + "]", 1, "a pack has at most 20000 values", id="many_values"),
        pytest.param("a" * (10 << 20), 1, "a pack has at most 256 KB", id="ten_megabytes"),
    ],
)
def test_files_that_no_pack_may_be_are_refused_with_their_line(
    tmp_path: Path, text: str, line: int, message: str
) -> None:
    path = write_pack(tmp_path, text)

    assert check_pack(path) == [Problem(where=f"{path}:{line}", message=message)]
    with pytest.raises(InputError) as raised:
        load_pack(path)
    assert str(raised.value) == f"{path}:{line}: {message}."


def test_broken_yaml_is_named_with_its_line_in_the_parsers_words(tmp_path: Path) -> None:
    path = write_pack(tmp_path, "a: [1, 2\nb: 3\n")

    (problem,) = check_pack(path)

    assert (problem.where, problem.message[:13]) == (f"{path}:2", "is not YAML: ")


@pytest.mark.parametrize(
    ("text", "line", "message", "hint"),
    [
        pytest.param("[1, 2]", 1, "the pack is [1, 2], expected a mapping", "", id="no_mapping"),
        pytest.param("", 1, "the pack is nothing, expected a mapping", "", id="empty_file"),
        pytest.param(HEAD + STAGES, 1, "the pack has no 'patterns'", "add it", id="missing_section"),
        pytest.param(GOOD + "stags: []\n", 11, "unknown key 'stags'", "did you mean 'stages'?", id="unknown_key"),
        pytest.param(
            GOOD.replace('version: "1"', "version: 1"), 4, "version is 1, expected a text", "", id="version_in_quotes"
        ),
        pytest.param(
            GOOD.replace("name: little", "name: Little Pack"),
            1,
            'name: "Little Pack" is not of the form ^[a-z][a-z0-9]*(-[a-z0-9]+)*$',
            "",
            id="name_form",
        ),
        pytest.param(
            GOOD.replace("confidence: low", "confidence: lo"),
            10,
            'patterns[0].confidence is "lo", expected low, medium, high',
            "did you mean 'low'?",
            id="enum",
        ),
        pytest.param(GOOD.replace("patterns:\n", "patterns: []\n#"), 9, "patterns: is empty", "", id="no_patterns"),
        pytest.param(
            GOOD + pattern("{success: false}"), 11, "the code 'seen' stands twice in patterns", "", id="code_twice"
        ),
        pytest.param(
            condition("{fild: n, equals: 1}"), 10, "unknown key 'fild'", "did you mean 'field'?", id="condition_key"
        ),
        pytest.param(
            condition("{}"),
            10,
            "patterns[0].when has none of all, any, not, field, fact, status, seen, success",
            "add one",
            id="no_subject",
        ),
        pytest.param(
            condition("{field: n, fact: items, equals: 1}"),
            10,
            "'field' and 'fact' do not go together",
            "join them with 'all' or 'any'",
            id="two_subjects",
        ),
        pytest.param(
            condition("{field: n}"),
            10,
            "patterns[0].when asks nothing",
            "add a question such as equals, in, is_null or matches",
            id="no_question",
        ),
        pytest.param(
            condition("{fact: tool_calls, matches: a}"),
            10,
            "'matches' does not go with 'fact'",
            "",
            id="wrong_question",
        ),
        pytest.param(
            condition("{success: true, equals: 1}"),
            10,
            "'equals' and 'success' do not go together",
            "join them with 'all' or 'any'",
            id="question_without_field",
        ),
        pytest.param(
            condition("{fact: toolcalls, equals: 1}"), 10, None, "did you mean 'tool_calls'?", id="unknown_fact"
        ),
        pytest.param(condition("{field: a..b, equals: 1}"), 10, None, "", id="bad_path"),
        pytest.param(
            condition("{field: n, is_null: yes}"),
            10,
            'patterns[0].when.is_null is "yes", expected true',
            "",
            id="yes_is_a_word",
        ),
        pytest.param(
            condition("{field: n, greater: large}"),
            10,
            'patterns[0].when.greater is "large", expected a number',
            "",
            id="no_number",
        ),
        pytest.param(
            condition("{status: done}"),
            10,
            'patterns[0].when.status: "done" is not one of completed, truncated, failed',
            "",
            id="status",
        ),
        pytest.param(condition("{seen: {kind: answr}}"), 10, None, "did you mean 'answer'?", id="seen_kind"),
        pytest.param(
            condition("{field: n, equals: [1]}"),
            10,
            "patterns[0].when.equals is [1], expected a text or a number or true or false",
            "",
            id="constant",
        ),
        pytest.param(
            condition("{field: n, matches: '(a+)+$'}"),
            10,
            'the expression "(a+)+$" is not allowed: ' + NO_REPEAT + " (character 6)",
            "",
            id="catastrophic_expression",
        ),
        pytest.param(
            condition("{seen: {kind: call, subject: '(?<=a)b'}}"),
            10,
            'the expression "(?<=a)b" is not allowed: ' + PLAIN_GROUPS + " (character 2)",
            "",
            id="lookbehind",
        ),
    ],
)
def test_mistakes_are_named_with_their_line_and_what_to_do(
    tmp_path: Path, text: str, line: int, message: str | None, hint: str
) -> None:
    path = write_pack(tmp_path, text)

    problem = check_pack(path)[0]

    assert (problem.where, problem.hint) == (f"{path}:{line}", hint)
    assert message is None or problem.message == message
    with pytest.raises(InputError, match=rf"little\.yaml:{line}: "):
        load_pack(path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("name: little", 'name: "little\\n"', id="line_break_after_the_name"),
        pytest.param("title: A little pack", 'title: "A \\e[31mred pack"', id="escape_sequence_in_the_title"),
        pytest.param("description: For tests.", 'description: "For \\e[2J tests."', id="escape_in_the_description"),
    ],
)
def test_texts_of_a_pack_cannot_write_to_the_terminal(tmp_path: Path, old: str, new: str) -> None:
    (problem,) = check_pack(write_pack(tmp_path, GOOD.replace(old, new)))

    assert problem.message.isprintable()


def test_all_mistakes_are_found_in_the_order_of_their_lines(tmp_path: Path) -> None:
    text = GOOD.replace("title: A little pack", "titel: A little pack").replace("confidence: low", "confidence: x")
    path = write_pack(tmp_path, text)

    assert [(problem.where.rpartition(":")[2], problem.message) for problem in check_pack(path)] == [
        ("1", "the pack has no 'title'"),
        ("2", "unknown key 'titel'"),
        ("10", 'patterns[0].confidence is "x", expected low, medium, high'),
    ]
    with pytest.raises(InputError, match=r"little\.yaml:1: the pack has no 'title'; add it\. \(and 2 more\)"):
        load_pack(path)


def test_a_good_pack_has_no_problems_and_is_read(tmp_path: Path) -> None:
    path = write_pack(tmp_path, GOOD)

    assert (check_pack(path), load_pack(path).name, load_pack(str(path)).source) == ([], "little", "little.yaml")


def test_a_file_that_is_not_there_is_an_input_error(tmp_path: Path) -> None:
    path = tmp_path / "none.yaml"

    assert check_pack(path) == [Problem(where=str(path), message="cannot be read: No such file or directory")]
    with pytest.raises(InputError, match=r"none\.yaml: cannot be read: No such file or directory\."):
        load_pack(path)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("multiple-choise", "no pack 'multiple-choise'; did you mean 'multiple-choice'?", id="close"),
        pytest.param("x", f"no pack 'x'; there are {', '.join(shipped_names())}; a file name ends in .yaml.", id="far"),
    ],
)
def test_an_unknown_name_is_a_usage_error(name: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        load_pack(name)

    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("no", "no", id="norway"),
        pytest.param("on", "on", id="on"),
        pytest.param("2024-01-01", "2024-01-01", id="date"),
        pytest.param("1_000", "1_000", id="underscore"),
        pytest.param("0x10", "0x10", id="hex"),
        pytest.param("9" * 40, "9" * 40, id="too_long_for_a_number"),
        pytest.param("1e3", 1000.0, id="exponent"),
        pytest.param("-.5", -0.5, id="decimal"),
        pytest.param("'1'", "1", id="quoted"),
        pytest.param("~", None, id="tilde"),
        pytest.param("true", True, id="true"),
    ],
)
def test_only_plain_numbers_flags_and_null_are_not_texts(text: str, value: Any) -> None:
    assert parse_document(f"a: {text}\n".encode()).value == {"a": value}


def test_every_value_knows_its_line() -> None:
    document = parse_document(b"a:\n  - b: 1\n    c:\n      - x\n  - d\n")

    assert [document.line(keys) for keys in [("a",), ("a", 0, "b"), ("a", 0, "c", 0), ("a", 1)]] == [1, 2, 4, 5]
    assert document.line(("a", 0, "nowhere", "at", "all")) == 2


def test_the_schema_is_a_valid_schema_and_says_what_everything_means() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    described = {name for name, entry in SCHEMA["$defs"].items() if "description" in entry}
    bare = [
        f"{owner}.{name}"
        for owner, entry in {"": SCHEMA, **SCHEMA["$defs"]}.items()
        for name, property_ in entry.get("properties", {}).items()
        if "description" not in property_ and property_.get("$ref", "").rpartition("/")[2] not in described
    ]

    assert bare == []


def test_the_schema_knows_the_words_that_the_engine_knows() -> None:
    defs = SCHEMA["$defs"]
    leaf, pattern_, seen = (defs[name]["properties"] for name in ("condition", "pattern", "seen"))

    assert set(leaf["fact"]["enum"]) == set(FACT_NAMES)
    assert defs["status"]["enum"] == list(STATUSES)
    assert set(seen["kind"]["enum"]) < set(get_args(ObservationKind))
    assert pattern_["cause"]["enum"] == list(CAUSES)
    assert pattern_["confidence"]["enum"] == list(get_args(Confidence))
    assert pattern_["intervention"]["enum"] == list(get_args(Intervention))
    assert set(HOLDS) <= set(leaf) and set(HOLDS) <= set(defs["beside"]["properties"])


words = st.sampled_from(
    ["name", "title", "matches", "stages", "patterns", "when", "all", "any", "not", "field", "fact", "seen", "code",
     "equals", "in", "is_null", "by", "beside", "over", "kind", "subject", "said", "success", "status", "mark",
     "little", "n", "a.b[]", "(a+)+", "message", "&x", "*x", "!!python/name:os.system", "<<", "- ", "{", "]", ": "]
)  # fmt: skip
values = st.recursive(
    words | st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4),
    max_leaves=25,
)


def only_blade_errors(folder: Path, data: bytes) -> None:
    path = folder / "garbage.yaml"
    path.write_bytes(data)
    problems = check_pack(path)
    try:
        load_pack(path)
    except BladeError as error:
        assert problems and str(error).startswith(str(path))
    else:
        assert problems == []


@given(st.binary(max_size=200) | st.lists(words | st.sampled_from(["\n", " ", "\t", "a"])).map("".join).map(str.encode))
def test_no_garbage_raises_anything_but_a_blade_error(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    only_blade_errors(tmp_path_factory.mktemp("garbage"), data)


@given(values)
def test_no_well_formed_nonsense_raises_anything_but_a_blade_error(
    tmp_path_factory: pytest.TempPathFactory, value: Any
) -> None:
    data = yaml.safe_dump({**yaml.safe_load(GOOD), "patterns": value}, allow_unicode=True).encode()
    only_blade_errors(tmp_path_factory.mktemp("nonsense"), data)


@given(values)
def test_no_nonsense_in_a_condition_raises_anything_but_a_blade_error(
    tmp_path_factory: pytest.TempPathFactory, value: Any
) -> None:
    said = yaml.safe_load(GOOD)
    said["patterns"][0]["when"] = value
    only_blade_errors(tmp_path_factory.mktemp("nonsense"), yaml.safe_dump(said, allow_unicode=True).encode())


def test_a_pack_needs_no_more_than_its_limit_of_bytes(tmp_path: Path) -> None:
    filled = GOOD.encode() + b"#" * (MAX_BYTES - len(GOOD.encode()))

    assert parse_document(filled).value["name"] == "little"
    with pytest.raises(Refused):
        parse_document(filled + b"#")


def test_reading_a_shipped_pack_does_not_import_the_schema_validator() -> None:
    code = (
        "import sys; from blade.diagnosis.packs import load_pack; load_pack('rtl'); print('jsonschema' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"
