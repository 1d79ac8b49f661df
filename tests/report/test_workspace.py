"""The folder of a diagnosis: what is in it, what is not, and how it is read again."""

import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from small_workspaces import ROWS, diagnose, read_run, write_rows

from blade.diagnosis import AnalyzeOptions, Label, analyze
from blade.errors import InputError, UsageError
from blade.report.files import write_file
from blade.report.notes import diagnose_command
from blade.report.workspace import (
    Request,
    Workspace,
    append_label,
    canonical_json,
    open_workspace,
    render_again,
    write_workspace,
)
from blade.rollouts import ReadOptions, read_runs

SHARED = ["analysis.json", "appendix.md", "claims.json", "labels.jsonl", "reading_list.md", "report.html", "report.md"]


def texts(folder: Path) -> dict[str, bytes]:
    """The files that can be shared."""
    return {name: (folder / name).read_bytes() for name in SHARED}


def test_a_diagnosis_writes_its_files_and_how_to_read_it_again(tmp_path: Path) -> None:
    workspace = diagnose(tmp_path)

    assert sorted(path.name for path in workspace.folder.iterdir()) == [".blade", *SHARED]
    assert sorted(path.name for path in (workspace.folder / ".blade").iterdir()) == ["lock", "request.json"]


def test_an_opened_workspace_is_the_one_that_was_written(tmp_path: Path) -> None:
    workspace = diagnose(tmp_path, success="reward >= 0.5", slices=("model",))

    assert open_workspace(workspace.folder) == workspace


def test_the_same_rollouts_give_the_same_bytes_wherever_they_are(tmp_path: Path) -> None:
    here, there = diagnose(tmp_path / "here"), diagnose(tmp_path / "over" / "there")

    assert texts(here.folder) == texts(there.folder)


def test_rendering_again_without_new_labels_changes_nothing(tmp_path: Path) -> None:
    workspace = diagnose(tmp_path)
    before = texts(workspace.folder)

    render_again(open_workspace(workspace.folder))

    assert texts(workspace.folder) == before


def test_shared_files_name_no_directory(tmp_path: Path) -> None:
    rows = [*ROWS, {"task_id": None, "repeat": 0, "reward": 1.0}]
    workspace = diagnose(tmp_path / "private place", rows)

    assert [name for name, text in texts(workspace.folder).items() if b"private place" in text] == []
    assert b"private place" in (workspace.folder / ".blade" / "request.json").read_bytes()


def test_the_run_is_read_again_from_where_it_was(tmp_path: Path) -> None:
    run = open_workspace(diagnose(tmp_path).folder).run()

    assert [item.text for item in run.rollout("7*8:1").items] == ["What is 7*8?", "That makes 54, I think."]


def test_a_relative_input_is_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_rows(tmp_path)
    monkeypatch.chdir(tmp_path)
    folder = diagnose(Path()).folder.absolute()
    monkeypatch.chdir("/")

    assert len(open_workspace(folder).run().table) == 6


def test_the_report_names_the_command_with_its_options(tmp_path: Path) -> None:
    workspace = diagnose(tmp_path, success="reward >= 0.5", cluster_field="model")

    command = "blade diagnose math.jsonl --success 'reward >= 0.5' --cluster-field model --out DIR"
    assert f"- `{command}` with BLADE" in (workspace.folder / "report.md").read_text()


def test_the_pack_that_was_asked_for_is_in_the_command(tmp_path: Path) -> None:
    workspace = diagnose(tmp_path, pack="none")

    assert (
        "- `blade diagnose math.jsonl --pack none --out DIR` with BLADE" in (workspace.folder / "report.md").read_text()
    )


def test_a_folder_from_another_machine_can_be_rendered_but_not_read(tmp_path: Path) -> None:
    folder = diagnose(tmp_path).folder
    shutil.rmtree(folder / ".blade")

    workspace = render_again(open_workspace(folder))

    assert workspace.request is None
    with pytest.raises(InputError, match="does not say where its rollouts are; run `blade diagnose`"):
        workspace.run()


def test_a_workspace_without_its_labels_file_keeps_the_causes_it_had(tmp_path: Path) -> None:
    workspace = diagnose(tmp_path)
    (workspace.folder / "labels.jsonl").unlink()

    assert open_workspace(workspace.folder).labels == workspace.labels


def broken(folder: Path) -> None:
    (folder / "analysis.json").write_text("{")


def from_the_future(folder: Path) -> None:
    text = (folder / "analysis.json").read_text()
    (folder / "analysis.json").write_text(text.replace('"schema_version": "2.', '"schema_version": "3.'))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        pytest.param(shutil.rmtree, "is not a folder; make a diagnosis with `blade diagnose ROLLOUTS --out", id="gone"),
        pytest.param(lambda folder: (folder / "analysis.json").unlink(), "has no analysis.json", id="no_analysis"),
        pytest.param(broken, "cannot be read: .*; run `blade diagnose` again", id="broken"),
        pytest.param(from_the_future, "has schema version 3.0, expected 2.0", id="other_version"),
    ],
)
def test_a_folder_that_is_no_diagnosis_says_what_makes_one(tmp_path: Path, damage: object, message: str) -> None:
    folder = diagnose(tmp_path).folder
    assert callable(damage)
    damage(folder)

    with pytest.raises(InputError, match=message):
        open_workspace(folder)


def test_a_rollout_file_is_not_suggested_as_the_folder_of_its_diagnosis(tmp_path: Path) -> None:
    (log := tmp_path / "log.jsonl").write_text("{}")
    with pytest.raises(InputError, match=r"is a file, not the folder .*`blade diagnose .*log.jsonl --out DIR`"):
        open_workspace(log)


def test_rollouts_that_moved_away_are_missed_by_name(tmp_path: Path) -> None:
    workspace = diagnose(tmp_path)
    (tmp_path / "math.jsonl").unlink()

    with pytest.raises(InputError, match=r"math\.jsonl: no such file"):
        workspace.run()


def test_a_run_that_is_no_longer_in_the_files_is_missed_by_name(tmp_path: Path) -> None:
    workspace = diagnose(tmp_path)
    assert workspace.request is not None
    other = msgspec.structs.replace(workspace.request, run="physics")

    with pytest.raises(InputError, match="no longer hold a run 'physics'; they hold math"):
        Workspace(folder=workspace.folder, analysis=workspace.analysis, request=other).run()


def test_json_is_canonical(tmp_path: Path) -> None:
    analysis = diagnose(tmp_path).analysis
    text = canonical_json(analysis)

    assert text == canonical_json(msgspec.json.decode(text, type=type(analysis)))
    assert text.startswith(b'{\n  "schema_version": "2.0",\n  "inputs": {') and text.endswith(b"}\n")


def test_a_file_name_that_json_cannot_hold_is_an_input_error(tmp_path: Path) -> None:
    workspace = diagnose(tmp_path)
    assert workspace.request is not None
    request = msgspec.structs.replace(workspace.request, inputs=["math\udcff.jsonl"])

    with pytest.raises(InputError, match=r"math.\.jsonl: this name is not UTF-8; rename the file"):
        canonical_json(request)


def test_a_folder_that_cannot_be_written_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(InputError, match="cannot be written"):
        write_file(tmp_path / "file" / "report.md", b"")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "report.md").mkdir()

    with pytest.raises(InputError, match="cannot be written"):
        write_file(tmp_path / "report.md", b"new")

    assert [path.name for path in tmp_path.iterdir()] == ["report.md"]


def test_an_unscored_run_has_a_workspace_too(tmp_path: Path) -> None:
    given = {"responses_create_params": {"input": "What is sqrt?"}, "response": {"output": []}}
    workspace = diagnose(tmp_path, [given | {"_ng_task_index": 0, "_ng_rollout_index": n} for n in range(2)])

    assert open_workspace(workspace.folder) == workspace
    assert "**No rollout has a known score**" in (workspace.folder / "report.md").read_text()


def test_the_run_of_a_workspace_is_the_run_of_its_file(tmp_path: Path) -> None:
    workspace = diagnose(tmp_path)

    assert workspace.run().table.tasks == read_run(tmp_path / "math.jsonl").table.tasks


def test_labels_of_one_run_are_never_said_of_another(tmp_path: Path) -> None:
    rows = [{"task_id": str(task), "reward": 0.0} for task in range(2)]
    requests = []
    for name in ("first", "second"):
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
        requests.append(Request(inputs=[str(path)], read=ReadOptions(), analyze=AnalyzeOptions(), run=name))
    first, second = (read_runs(request.inputs, request.read)[0] for request in requests)
    workspace = write_workspace(tmp_path / "out", first, analyze(first), requests[0])
    append_label(workspace, Label(task="0", cause="BI", confidence="high", author="human:me", reason="I read it."))

    with pytest.raises(UsageError, match="labels that readers gave to first"):
        write_workspace(tmp_path / "out", second, analyze(second), requests[1])


def test_the_command_that_makes_a_diagnosis_again_says_how_rows_were_read() -> None:
    own = {"fields", "features", "jobs", "use_cache", "observe"}  # what users do not say, or what changes nothing
    stated: dict[str, Any] = {"duplicates": "last", "expected_repeats": 4}
    for name in {field.name for field in msgspec.structs.fields(ReadOptions)} - own - stated.keys():
        stated[name] = ("word",) if getattr(ReadOptions(), name) == () else "word"
    command = diagnose_command(["rows.jsonl"], ReadOptions(**stated))
    assert [name for name in stated if f"--{name.replace('_', '-')} " not in command] == []
