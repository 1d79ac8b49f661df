"""A run that was cut short goes on where it was: every rollout once, and nothing of another kind mixed in."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from loopback import Call, Loopback, Say, Status, in_turn
from small_benchmark import keys, read_rows, run_small, small_plan, write_tasks

from blade.errors import UsageError
from blade.evals.journal import open_locked
from blade.evals.manifest import read_manifest
from blade.llm import Sampling

ALL = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]


def good(call: Call) -> Say:
    return Say("1")


def test_only_what_is_missing_is_asked_again(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    with Loopback(good) as server:
        run_small(small_plan(tmp_path), server, output)
        lines = output.read_bytes().splitlines(keepends=True)
        output.write_bytes(b"".join(lines[:2]))
        result = run_small(small_plan(tmp_path), server, output, resume=True)

        assert len(server.calls) == 6 + 4
    assert keys(output) == ALL
    assert output.read_bytes().startswith(b"".join(lines[:2]))
    assert (result.progress.done, result.progress.total) == (6, 6)


@pytest.mark.parametrize("cut", [1, 40, 400], ids=["a_byte", "some", "most"])
def test_a_torn_last_line_is_cut_off_and_asked_again(tmp_path: Path, cut: int) -> None:
    output = tmp_path / "out.jsonl"
    with Loopback(good) as server:
        run_small(small_plan(tmp_path), server, output)
        output.write_bytes(output.read_bytes()[:-cut])
        result = run_small(small_plan(tmp_path), server, output, resume=True)

    assert keys(output) == ALL
    assert result.notes == ["out.jsonl: a torn last line was cut off"]


def test_lines_that_are_unreadable_or_repeat_a_rollout_are_taken_out(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    with Loopback(good) as server:
        run_small(small_plan(tmp_path), server, output)
        lines = output.read_bytes().splitlines(keepends=True)
        output.write_bytes(b"".join([lines[0], b"\0\0\0\n", b'{"a": 1}\n', lines[0], *lines[1:]]))
        run_small(small_plan(tmp_path), server, output, resume=True)

        assert len(server.calls) == 6
    assert output.read_bytes() == b"".join(lines)


def test_a_run_that_never_began_is_begun(tmp_path: Path) -> None:
    with Loopback(good) as server:
        run_small(small_plan(tmp_path), server, tmp_path / "out.jsonl", resume=True)

    assert keys(tmp_path / "out.jsonl") == ALL


def test_a_failure_is_tried_again_and_says_so(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    plan = small_plan(tmp_path, repeats=1, limit=1)
    with Loopback(in_turn(Status(400, "no"), Status(400, "no"), Say("1"))) as server:
        for _ in range(3):
            run_small(plan, server, output, resume=True)
    [row] = read_rows(output)

    assert row["_ng_attempt_index"] == 2
    assert [lost.get("_ng_attempt_index") for lost in read_rows(tmp_path / "out_failures.jsonl")] == [None, 1]


def test_more_repeats_and_more_tasks_only_add_rollouts(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    with Loopback(good) as server:
        run_small(small_plan(tmp_path, repeats=1, limit=2), server, output)
        run_small(small_plan(tmp_path, repeats=2), server, output, resume=True)

        assert len(server.calls) == 6
    assert keys(output) == ALL


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param({"sampling": Sampling(seed=7, temperature=0.5)}, "temperature was not set, is 0.5", id="sampling"),
        pytest.param({"sampling": Sampling(seed=8)}, "seed was 7, is 8", id="seed"),
        pytest.param({"repeats": 1}, "repeats was 2, is 1", id="fewer_repeats"),
        pytest.param({"limit": 1}, "limit was not set, is 1", id="fewer_tasks"),
        pytest.param({"max_turns": 3}, "max_turns was 1, is 3", id="turns"),
    ],
)
def test_other_settings_are_refused_and_named(tmp_path: Path, change: dict[str, object], said: str) -> None:
    output = tmp_path / "out.jsonl"
    plan = small_plan(tmp_path)
    with Loopback(good) as server:
        run_small(plan, server, output)
        with pytest.raises(UsageError, match=f"was made differently: {said}; --force goes on anyway"):
            run_small(msgspec.structs.replace(plan, **change), server, output, resume=True)


def test_another_model_dataset_and_prompt_are_refused_and_named(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    plan = small_plan(tmp_path)
    with Loopback(good) as server:
        run_small(plan, server, output)
        write_tasks(tmp_path, [{"answer": 9}])
        assert plan.prompt is not None
        plan.prompt.write_text("user: 'Please say {answer}.'", encoding="utf-8")
        with pytest.raises(UsageError) as refused:
            run_small(plan, server, output, model="m-2", resume=True)

    for word in ("model was m-1, is m-2", "dataset was", "prompt was"):
        assert word in str(refused.value)


def test_a_user_who_insists_goes_on_and_the_manifest_says_so(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    with Loopback(good) as server:
        run_small(small_plan(tmp_path, limit=1), server, output)
        changed = small_plan(tmp_path, sampling=Sampling(seed=7, temperature=1.0))
        run_small(changed, server, output, resume=True, force=True)
    manifest = read_manifest(tmp_path / "out_manifest.json")

    assert keys(output) == ALL
    assert manifest is not None
    assert [sitting.changed for sitting in manifest.sittings] == [[], ["temperature was not set, is 1.0"]]


def test_rollouts_are_not_overwritten_by_accident(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    with Loopback(good) as server:
        run_small(small_plan(tmp_path), server, output)
        with pytest.raises(UsageError, match="go on with --resume, or overwrite them with --force"):
            run_small(small_plan(tmp_path), server, output)


def test_a_run_that_begins_anew_leaves_no_failures_of_the_old_one(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    with Loopback(in_turn(Status(400), Say("1"))) as server:
        run_small(small_plan(tmp_path, limit=1), server, output)
        (tmp_path / "out_aggregate_metrics.json").write_text("[]")
        run_small(small_plan(tmp_path, limit=1), server, output, force=True)

    assert (tmp_path / "out_failures.jsonl").read_bytes() == b""
    assert keys(output) == [(0, 0), (0, 1)]


def test_rollouts_without_a_manifest_are_not_taken_up_blindly(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    output.write_text(json.dumps({"_ng_task_index": 0, "_ng_rollout_index": 0, "reward": 1.0}) + "\n")
    with Loopback(good) as server:
        with pytest.raises(UsageError, match="has no manifest"):
            run_small(small_plan(tmp_path), server, output, resume=True)
        run_small(small_plan(tmp_path), server, output, resume=True, force=True)

    assert keys(output) == ALL


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    with Loopback(good) as server, open_locked(output), pytest.raises(UsageError, match="another run is writing"):
        run_small(small_plan(tmp_path), server, output, resume=True)


def test_a_writer_that_was_killed_leaves_no_lock(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    code = (
        "import pathlib, sys, time; from blade.evals.journal import open_locked; "
        "held = open_locked(pathlib.Path(sys.argv[1])); print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(output)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
        with pytest.raises(UsageError):
            open_locked(output)
        os.kill(holder.pid, signal.SIGKILL)

    open_locked(output).close()
