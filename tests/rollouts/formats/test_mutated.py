"""Damaged samples of every format: reading them may find less and must never fail in a way of its own."""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from inspect_logs import as_object
from test_helm import request_state, write_run
from test_openai_evals import PROMPT, event, write_log
from trace_samples import SAMPLES as TRACES
from trace_samples import write_lines

from blade.errors import BladeError
from blade.rollouts.formats.own import encoded
from blade.rollouts.formats.reader import Probe
from blade.rollouts.formats.registry import all_readers
from blade.rollouts.values import BadLine, Rollout

DATA = Path(__file__).parents[2] / "data" / "formats"
SAMPLES = [
    pytest.param("claude-code", "sessions/claude.jsonl", id="claude-code"),
    pytest.param("codex", "sessions/codex.jsonl", id="codex"),
    pytest.param("bfcl", "bfcl", id="bfcl"),
    pytest.param("verifiers", "verifiers/new", id="verifiers-new"),
    pytest.param("verifiers", "verifiers/old/results.jsonl", id="verifiers-old"),
    pytest.param("promptfoo", "promptfoo/results.json", id="promptfoo"),
    pytest.param("mini-swe-agent", "swe-bench/batch/org__repo-1/org__repo-1.traj.json", id="mini-swe-agent"),
    pytest.param("openhands", "openhands/output.jsonl", id="openhands"),
    pytest.param("swe-agent", "swe-agent/org__repo-7.traj", id="swe-agent"),
    pytest.param("swe-bench", "swe-bench/batch", id="swe-bench"),
    pytest.param("tau2", "tau2/results.json", id="tau2"),
    pytest.param("lm-eval", "lm-eval", id="lm-eval"),
    pytest.param("harbor", "harbor/job", id="harbor"),
    pytest.param("inspect", "inspect/agents.eval", id="inspect"),
    pytest.param("inspect", "inspect/agents.json", id="inspect-object"),
    pytest.param("helm", "made/helm", id="helm"),
    pytest.param("json-table", "made/table.json", id="json-table"),
    pytest.param("json-table", "made/objects", id="json-objects"),
    pytest.param("openai-evals", "made/openai-evals.jsonl", id="openai-evals"),
    *(pytest.param(name.removesuffix("-openinference"), f"made/{name}.jsonl", id=name) for name in TRACES),
    pytest.param("atif", "harbor/job/chess__e5/agent/trajectory.json", id="atif"),
    pytest.param("terminal-bench", "terminal-bench/run", id="terminal-bench"),
]
EVENTS = [
    event(0, "s.0", "sampling", prompt=PROMPT, sampled=["4"]),
    event(1, "s.0", "match", correct=True, expected="4", picked="4"),
]
VALUES = st.sampled_from([None, True, -1, 1.5, 10**400, "", "\0/..", [], {}, [None], {"a": [1]}, [[{"b": "é"}]]])


@pytest.mark.parametrize(("name", "sample"), SAMPLES)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damage_never_surprises(name: str, sample: str, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = copied(DATA / sample, Path(folder))
        files = sorted(file for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file())
        for file in data.draw(st.lists(st.sampled_from(files), min_size=1, max_size=3, unique=True)):
            file.write_bytes(damaged(file.read_bytes(), data))
        for reader in all_readers().values():
            reader.recognises(Probe(path))
        reader = all_readers()[name]
        reader.files(path)
        try:
            found = list(reader.read(path, None))
        except BladeError:
            return
        for one in found:
            if isinstance(one, Rollout):
                encoded(one)


STRANGERS = [
    b'{"task_id": "t", "score": 1}',
    b'{"_ng_task_index": 0, "_ng_rollout_index": 0, "reward": 1, "response": {"output": []}}',
    b"5",
]
LINES = [each for each in SAMPLES if str(each.values[1]).endswith(".jsonl")]


@pytest.mark.parametrize(("name", "sample"), LINES)
def test_lines_of_another_format_are_counted(name: str, sample: str, tmp_path: Path) -> None:
    path = copied(DATA / sample, tmp_path)
    before = list(all_readers()[name].read(path, None))
    path.write_bytes(b"\n".join([path.read_bytes().rstrip(), *STRANGERS]))
    after = list(all_readers()[name].read(path, None))
    bad = [one for one in after if isinstance(one, BadLine)]
    assert sum(isinstance(one, Rollout) for one in after) == sum(isinstance(one, Rollout) for one in before)
    lines = path.read_bytes().count(b"\n") + 1
    assert [one.line for one in bad] == [lines - 2, lines - 1, lines]


def copied(source: Path, folder: Path) -> Path:
    if source.name == "helm":
        return write_run(
            folder / "helm", [request_state("id1", " A"), request_state("id2", None)], {("id1", 0, None): 1}
        )
    rows = {name: {"passed": name > "b", "tests": [{"n": 1}], "note": name} for name in "abcd"}
    if source.name == "table.json":
        return write_lines(folder / source.name, [{"mean": 0.5, "eval": rows}])
    if source.name == "objects":
        (folder / "objects").mkdir()
        for name, row in rows.items():
            write_lines(folder / "objects" / f"{name}.json", [row])
        return folder / "objects"
    if source.name == "openai-evals.jsonl":
        return write_log(folder, EVENTS, report={"accuracy": 1})
    if source.parent.name == "made":
        return write_lines(folder / source.name, TRACES[source.stem]())
    if not source.exists():
        return as_object(source.with_suffix(".eval"), folder / source.name)
    if source.is_file():
        return Path(shutil.copy(source, folder / source.name))
    return Path(shutil.copytree(source, folder / source.name))


def damaged(content: bytes, data: st.DataObject) -> bytes:
    """Bytes cut or flipped, or JSON with keys removed and values of other types."""
    how = data.draw(st.sampled_from(["cut", "flip", "value", "value", "value"]))
    at = data.draw(st.integers(0, max(0, len(content) - 1)))
    if how == "cut":
        return content[:at]
    if how == "flip":
        return content[:at] + bytes([data.draw(st.integers(0, 255))]) + content[at + 1 :]
    lines = content.splitlines() or [b""]
    whole = decoded(content)
    which = data.draw(st.integers(0, len(lines) - 1))
    value = whole if whole is not None else decoded(lines[which])
    if value is None:
        return content
    changed = json.dumps(changed_value(value, data)).encode()
    return changed if whole is not None else b"\n".join([*lines[:which], changed, *lines[which + 1 :]])


def decoded(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None


def changed_value(value: Any, data: st.DataObject) -> Any:
    """The value with one part, however deep, removed or replaced."""
    if isinstance(value, dict) and value and data.draw(st.integers(0, 5)):
        key = data.draw(st.sampled_from(sorted(value)))
        if data.draw(st.integers(0, 4)) == 0:
            return {name: part for name, part in value.items() if name != key}
        return {**value, key: changed_value(value[key], data)}
    if isinstance(value, list) and value and data.draw(st.integers(0, 5)):
        index = data.draw(st.integers(0, len(value) - 1))
        return [*value[:index], changed_value(value[index], data), *value[index + 1 :]]
    return data.draw(VALUES)
