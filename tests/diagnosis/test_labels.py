from pathlib import Path

import pytest

from blade.diagnosis.labels import Evidence, Label, check_cause, read_labels, write_labels
from blade.errors import InputError, UsageError


def label(task: str, cause: str = "BI") -> Label:
    evidence = [Evidence(citation=f"{task}:0#3", quote="I can’t")]
    return Label(task=task, cause=cause, confidence="low", author="rule:refusal", reason="declined", evidence=evidence)


def test_labels_survive_their_file_and_the_last_one_is_in_force(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    write_labels(path, [label("a"), label("b:1#2"), label("a", "KG?")])
    assert read_labels(path) == {"a": label("a", "KG?"), "b:1#2": label("b:1#2")}


def test_blank_lines_between_labels_mean_nothing(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    write_labels(path, [label("a")])
    path.write_bytes(b"\n" + path.read_bytes() + b"  \n")
    assert list(read_labels(path)) == ["a"]


@pytest.mark.parametrize(
    "line",
    ["{", "[]", '{"task": "a"}', '{"task": "a", "cause": "BI", "confidence": "sure", "author": "x", "reason": ""}'],
)
def test_a_line_that_is_no_label_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "labels.jsonl"
    write_labels(path, [label("a")])
    path.write_bytes(path.read_bytes() + line.encode())
    with pytest.raises(InputError, match=r"labels.jsonl:2: is not a label"):
        read_labels(path)


def test_labels_that_are_not_there_are_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_labels(tmp_path / "labels.jsonl")


@pytest.mark.parametrize("cause", ["DA", "IR", "TI", "BI", "UK", "KG", "KG?", "BI+KG", "BI+KG?"])
def test_a_cause_is_one_of_six_or_a_mix(cause: str) -> None:
    assert check_cause(cause) == cause


@pytest.mark.parametrize("cause", ["", "XX", "bi", "BI+", "+BI", "BI?+KG", "BI KG", "BI\n"])
def test_any_other_cause_is_the_users_mistake(cause: str) -> None:
    with pytest.raises(UsageError, match="expected one of DA, IR, TI, BI, UK, KG, or a mix such as"):
        check_cause(cause)
