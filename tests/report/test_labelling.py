"""Labels are taken only with proof that holds, and none is lost."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from small_workspaces import ROWS, diagnose, human_label

from blade.diagnosis.labels import Evidence, Label
from blade.errors import InputError, UsageError
from blade.report.workspace import Request, Workspace, append_label, open_workspace, render_again, write_workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """The diagnosis of the small run."""
    return diagnose(tmp_path)


def labels_in(workspace: Workspace) -> list[Label]:
    """Every line of the labels file, in order."""
    return [msgspec.json.decode(line, type=Label) for line in labels_file(workspace).read_bytes().splitlines()]


def labels_file(workspace: Workspace) -> Path:
    return workspace.folder / "labels.jsonl"


def test_a_label_with_proof_is_appended_as_the_last_line(workspace: Workspace) -> None:
    drafts = labels_in(workspace)
    label = human_label("sqrt", Evidence(citation="sqrt:0#1", quote="do not know `sqrt`"))

    append_label(workspace, label)

    assert labels_in(workspace) == [*drafts, label]


def test_citations_are_written_without_their_backticks(workspace: Workspace) -> None:
    label = append_label(workspace, human_label("sqrt", Evidence(citation=" `sqrt:1#1` ")))

    assert label.evidence == [Evidence(citation="sqrt:1#1")]


def test_a_quote_without_an_item_may_stand_anywhere_in_the_rollout(workspace: Workspace) -> None:
    proof = Evidence(citation="sqrt:1", quote="What is")

    assert append_label(workspace, human_label("sqrt", proof)).evidence == [proof]


@pytest.mark.parametrize(
    ("label", "message"),
    [
        pytest.param(human_label("cube"), "no task 'cube' in this run; tasks are 2+2, 7*8, sqrt", id="task"),
        pytest.param(human_label(cause="XX"), "unknown cause 'XX'", id="cause"),
        pytest.param(human_label(author="ada"), "author 'ada' is not one of", id="author"),
        pytest.param(human_label(reason=" "), "needs a reason", id="reason"),
        pytest.param(human_label("sqrt", Evidence(citation="sqrt")), "not a rollout", id="malformed_citation"),
        pytest.param(human_label("sqrt", Evidence(citation="sqrt:9")), "no repeat 9", id="unknown_rollout"),
        pytest.param(human_label("sqrt", Evidence(citation="sqrt:0#2")), "has 2 items", id="unknown_item"),
        pytest.param(
            human_label("sqrt", Evidence(citation="sqrt:0#0", quote="I do not know")),
            "does not occur there verbatim; it stands at #1",
            id="quote_of_another_item",
        ),
        pytest.param(
            human_label("sqrt", Evidence(citation="sqrt:0", quote="I don't know")), "verbatim; copy it", id="quote"
        ),
        pytest.param(human_label("sqrt", Evidence(citation="sqrt:0", quote="")), "quote is empty", id="empty_quote"),
    ],
)
def test_a_label_whose_proof_does_not_hold_is_refused(workspace: Workspace, label: Label, message: str) -> None:
    before = labels_file(workspace).read_bytes()

    with pytest.raises(UsageError) as refused:
        append_label(workspace, label)

    assert message in str(refused.value)
    assert labels_file(workspace).read_bytes() == before


def test_rendering_again_puts_a_label_in_force(workspace: Workspace) -> None:
    append_label(workspace, human_label("sqrt", Evidence(citation="sqrt:0#1", quote="I do not know")))

    again = render_again(open_workspace(workspace.folder))

    assert [(cause.task, cause.author) for cause in again.analysis.causes if cause.task == "sqrt"] == [
        ("sqrt", "human:ada")
    ]
    assert "by `human:ada`: does not know square roots" in (workspace.folder / "appendix.md").read_text()
    assert "sqrt" not in (workspace.folder / "reading_list.md").read_text()


def test_a_new_diagnosis_keeps_labels_of_people_and_models_and_replaces_those_of_rules(tmp_path: Path) -> None:
    workspace = diagnose(tmp_path)
    first = append_label(workspace, human_label("sqrt"))
    second = append_label(workspace, human_label("7*8", author="llm:model-b", cause="UK?"))

    again = diagnose(tmp_path, [row for row in ROWS if row["repeat"] == 1])

    # With repeat 1 alone both tasks are never passed, so the rule's draft for 7*8 is another one.
    drafts = [label for label in labels_in(again) if label.author.startswith("rule:")]
    assert labels_in(again) == [*drafts, first, second]
    assert [label.cause for label in drafts] == ["?", "?"]
    assert again.labels == {"sqrt": first, "7*8": second}


def test_a_label_of_a_task_that_is_gone_stays_in_the_file_but_not_in_force(tmp_path: Path) -> None:
    label = append_label(diagnose(tmp_path), human_label("sqrt"))

    again = diagnose(tmp_path, [row for row in ROWS if row["task_id"] != "sqrt"])

    assert labels_in(again)[-1] == label
    assert "sqrt" not in again.labels


def test_a_damaged_labels_file_stops_a_new_diagnosis_and_is_left_alone(workspace: Workspace) -> None:
    labels_file(workspace).write_bytes(b'{"task": "sqrt"\n')

    with pytest.raises(InputError, match=r"labels\.jsonl:1: is not a label"):
        write_workspace(workspace.folder, workspace.run(), workspace.analysis, must(workspace.request))

    assert labels_file(workspace).read_bytes() == b'{"task": "sqrt"\n'


def must(value: Request | None) -> Request:
    assert value is not None
    return value


def test_a_line_that_was_cut_off_does_not_swallow_the_next_label(workspace: Workspace) -> None:
    with labels_file(workspace).open("ab") as file:
        file.write(b'{"task": "sq')

    append_label(workspace, human_label("sqrt"))

    *_, cut_off, last = labels_file(workspace).read_bytes().splitlines()
    assert (cut_off, msgspec.json.decode(last, type=Label)) == (b'{"task": "sq', human_label("sqrt"))


WRITER = """
import sys
from pathlib import Path
from blade.report.files import append_line, locked
folder, name = Path(sys.argv[1]), sys.argv[2]
for number in range(200):
    with locked(folder):
        append_line(folder / "labels.jsonl", f'{name}{number} {"x" * 5000}'.encode())
"""


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    commands = [[sys.executable, "-c", WRITER, str(tmp_path), name] for name in ("a", "b")]
    writers = [subprocess.Popen(command) for command in commands]

    assert [writer.wait(60) for writer in writers] == [0, 0]
    lines = (tmp_path / "labels.jsonl").read_text().splitlines()
    assert sorted(lines) == sorted(f"{name}{number} {'x' * 5000}" for name in "ab" for number in range(200))
