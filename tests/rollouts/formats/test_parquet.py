"""Parquet tables, and lighteval's details, which the tests write with pyarrow in the form lighteval 0.13 gives them."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from blade.cli.main import app
from blade.errors import InputError
from blade.rollouts.formats import lighteval, parquet
from blade.rollouts.formats.reader import Loose, Note
from blade.rollouts.formats.registry import reader_for
from blade.rollouts.values import Expected, Rollout

pyarrow = pytest.importorskip("pyarrow")

TASK = "lighteval|toy|0"


def table(path: Path, rows: list[dict[str, Any]], group: int | None = None) -> Path:
    from pyarrow import parquet as files

    path.parent.mkdir(parents=True, exist_ok=True)
    files.write_table(pyarrow.Table.from_pylist(rows), path, row_group_size=group)
    return path


def detail(number: int, *, text: list[str], metric: dict[str, float], **parts: Any) -> dict[str, Any]:
    """A row as lighteval writes it: a `Doc`, a `ModelResponse` and the metrics of the document."""
    doc = {
        "query": "2+2?", "choices": ["4", "5"], "gold_index": [0], "specific": {"level": "easy"}, "id": str(number),
        "task_name": TASK, "generation_size": 64, "num_samples": max(1, len(text)), "stop_sequences": ["\n"],
    }  # fmt: skip
    response = {
        "input": [{"role": "user", "content": "2+2?"}], "text": text, "text_post_processed": None, "logprobs": [],
        "reasonings": [None], "truncated_tokens_count": 0,
    }  # fmt: skip
    return {"doc": doc, "metric": metric, "model_response": response | parts}


@pytest.fixture
def details(tmp_path: Path) -> Path:
    folder = tmp_path / "details" / "acme" / "m-7b" / "2026-01-01T00-00-00"
    rows = [
        detail(0, text=["So 4"], metric={"em": 1.0, "f1": 0.5}, text_post_processed=["4"]),
        detail(1, text=["5", "4"], metric={"em": 0.0, "f1": 0.0}),
        detail(2, text=[], metric={"em": 0.0, "f1": 0.0}, logprobs=[-3.0, -1.5]),
    ]
    table(folder / f"details_{TASK}_2026-01-01T00-00-00.parquet", rows)
    return folder


def rollouts(path: Path) -> list[Rollout]:
    return [one for one in lighteval.READER.read(path, None) if isinstance(one, Rollout)]


def test_rows_of_any_table_are_records(tmp_path: Path) -> None:
    path = table(
        tmp_path / "t.parquet", [{"task_id": n, "score": n / 2, "image": b"x", "tags": ["a"]} for n in range(5)], 2
    )
    found = [one for one in parquet.READER.read(path, None) if isinstance(one, Loose)]
    assert found[3].record == {"task_id": 3, "score": 1.5, "image": None, "tags": ["a"]}
    assert [one.source.offset for one in found] == [0, 1, 2, 3, 4]
    assert list(parquet.READER.read(path, {3})) == [found[3]]


def test_diagnose_reads_a_table(tmp_path: Path) -> None:
    rows = [{"task_id": f"t{n // 2}", "response": "x", "reward": float(n % 2)} for n in range(8)]
    path = table(tmp_path / "rollouts.parquet", rows)
    assert reader_for(path) is parquet.READER
    run = CliRunner().invoke(app, ["diagnose", str(path), "--out", str(tmp_path / "out"), "--json"])
    assert run.exit_code == 0, run.output
    assert json.loads(run.stdout)["metrics"]["pass_at_1"]["value"] == 0.5


def test_a_missing_library_and_a_broken_file_are_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = table(tmp_path / "t.parquet", [{"a": 1}])
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(InputError, match="cannot be read as parquet"):
        list(parquet.READER.read(broken, None))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"pip install 'blade-diagnostics\[parquet\]'"):
        list(parquet.READER.read(path, None))


def test_lighteval_details_keep_scores_answers_and_what_was_right(details: Path) -> None:
    assert reader_for(details) is lighteval.READER
    first, several, chosen = rollouts(details)
    assert [one.task for one in (first, several, chosen)] == [f"{TASK}/{n}" for n in range(3)]
    assert (first.reward, first.scores, first.answer) == (1.0, {"em": 1.0, "f1": 0.5}, "4")
    assert first.expected == Expected(answers=["4"]) and first.model == "acme/m-7b"
    assert first.settings == {"generation_size": 64, "num_samples": 1, "stop_sequences": '["\\n"]'}
    assert first.fields == {"task_name": TASK, "doc": {"level": "easy"}}
    assert [item.text for item in several.items if not item.prompt] == ["5", "4"] and several.answer is None
    assert chosen.answer == "5"


def test_lighteval_says_which_metric_counts_and_finds_rows_again(details: Path) -> None:
    notes = [one.text for one in lighteval.READER.read(details, None) if isinstance(one, Note)]
    assert notes == ["em counts as the score; --score also takes f1"]
    assert [one for one in lighteval.READER.read(details, {1}) if isinstance(one, Rollout)] == rollouts(details)[1:2]


def test_a_table_that_only_has_the_name_is_not_details(tmp_path: Path) -> None:
    path = table(tmp_path / "details_x_2026-01-01T00-00-00.parquet", [{"a": 1}])
    assert reader_for(path) is parquet.READER
