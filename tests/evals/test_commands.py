"""Agents that are started by command: what they get, what is taken from them, and what they cannot do."""

import asyncio
import json
import os
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from blade.environments import load_environment
from blade.errors import UsageError
from blade.evals.commands import FILES_OUT, CommandLimits, CommandPlayer
from blade.evals.manifest import versions
from blade.evals.skills import read_library
from blade.llm import ModelError
from blade.rollouts.skills import SKILLS_READ

ASKED = {"input": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "What is 1 + 1?"}]}
ROW: dict[str, Any] = {
    **{"task_id": "t", "expected_answer": "2", "responses_create_params": ASKED},
    **{"_ng_task_index": 0, "_ng_rollout_index": 0},
}

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="programs are shut in on Linux only")
pytestmark = linux_only


def played(tmp_path: Path, script: str, *, row: dict[str, Any] = ROW, skills: Path | None = None, **limits: Any) -> Any:
    """The row that a scripted agent, written in Python, gets."""
    program = tmp_path / "agent.py"
    program.write_text(script, encoding="utf-8")
    library = read_library(str(skills)) if skills else None
    allowed = CommandLimits(**{"seconds": 20.0, "memory_mb": 2048, **limits})
    environment = load_environment("numeric")
    player = CommandPlayer(f"{sys.executable} {program}", "scripted", environment, allowed, library)
    return asyncio.run(player.judged(row))


def test_the_answer_is_the_file_and_the_task_is_in_the_folder(tmp_path: Path) -> None:
    script = """
import os, pathlib, sys
task = pathlib.Path("TASK.md").read_text()
assert "What is 1 + 1?" in task and "Be short." in task and sys.argv[1] == task
assert "expected" not in str(sorted(pathlib.Path(".").rglob("*"))) and pathlib.Path("data/in.txt").read_text() == "1"
pathlib.Path("answer.txt").write_text("Answer: 2")
pathlib.Path("made.txt").write_text("work")
print("done")
"""
    row = played(tmp_path, script, row={**ROW, "files": {"data/in.txt": "1"}})

    assert (row["reward"], row["agent_exit_code"], row[FILES_OUT]) == (1.0, 0, {"made.txt": "work"})
    assert [item["content"][0]["text"] for item in row["response"]["output"]] == ["Answer: 2"]
    assert (row["response"]["model"], row["response"]["status"]) == ("scripted", "completed")


def test_without_a_file_what_is_printed_is_the_answer(tmp_path: Path) -> None:
    assert played(tmp_path, "print('Answer: 2')")["reward"] == 1.0


def session(said: str) -> str:
    """A session as Claude Code streams it, with one call."""
    use = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "cat .claude/skills/sums/SKILL.md"}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "Add them."}
    usage = {"input_tokens": 7, "output_tokens": 3}
    lines = [
        {"type": "system", "subtype": "init", "session_id": "s", "tools": ["Bash"], "model": "m-2"},
        {
            **{"type": "assistant", "session_id": "s", "uuid": "u1"},
            "message": {"role": "assistant", "model": "m-2", "id": "a1", "content": [use], "usage": usage},
        },
        {"type": "user", "session_id": "s", "uuid": "u2", "message": {"role": "user", "content": [result]}},
        {
            **{"type": "assistant", "session_id": "s", "uuid": "u3"},
            "message": {"role": "assistant", "model": "m-2", "id": "a2", "content": [{"type": "text", "text": said}]},
        },
    ]
    return "\n".join(map(json.dumps, lines)) + "\n"


@pytest.mark.parametrize("place", ["stdout", "home"])
def test_what_the_agent_did_is_read_from_its_session(tmp_path: Path, place: str) -> None:
    written = json.dumps(session("It is 2."))
    if place == "stdout":
        script = f"print({written}, end='')"
    else:
        script = f"""
import os, pathlib
place = pathlib.Path(os.environ["HOME"]) / ".claude" / "projects" / "p"
place.mkdir(parents=True)
(place / "s.jsonl").write_text({written})
"""
    skills = tmp_path / "skills" / "sums"
    skills.mkdir(parents=True)
    (skills / "SKILL.md").write_text("---\nname: sums\ndescription: Adds. Use when adding.\n---\nAdd them.\n")
    row = played(tmp_path, script, skills=tmp_path / "skills")
    kinds = [item["type"] for item in row["response"]["output"]]

    assert kinds == ["function_call", "function_call_output", "message"]
    assert (row["reward"], row["response"]["model"], row[SKILLS_READ]) == (1.0, "m-2", ["sums/SKILL.md"])


def test_there_is_no_network_and_no_variable_of_ours_unless_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", "secret")
    monkeypatch.setenv("OTHER_KEY", "secret")
    script = """
import json, os, pathlib, socket
def reach():
    try:
        socket.create_connection(("127.0.0.1", PORT), timeout=2).close()
        return True
    except OSError:
        return False
names = sorted(name for name in os.environ if name.endswith("_KEY"))
home = os.environ["HOME"] != HOME
pathlib.Path("answer.txt").write_text(json.dumps([reach(), names, home]))
"""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        script = script.replace("PORT", str(server.getsockname()[1])).replace("HOME)", "HOME)")
        script = script.replace("!= HOME", f"!= {os.environ.get('HOME', '')!r}")
        shut = played(tmp_path, script)
        opened = played(tmp_path, script, network=True, environment=("SOME_KEY",))

    texts = [json.loads(row["response"]["output"][0]["content"][0]["text"]) for row in (shut, opened)]
    assert texts == [[False, [], True], [True, ["SOME_KEY"], True]]


def test_folders_are_empty_for_the_agent_but_for_what_it_runs_from(tmp_path: Path) -> None:
    secret, gold = tmp_path / "home" / ".ssh" / "id", tmp_path / "checkout" / "gold.jsonl"
    for file in (secret, gold):
        file.parent.mkdir(parents=True)
        file.write_text("2")
    (tmp_path / "rollouts.jsonl").write_text("2")
    script = f"""
import json, os, pathlib
def read(path):
    try:
        return pathlib.Path(path).read_text()
    except OSError:
        return None
found = [read(path) for path in ({str(secret)!r}, {str(gold)!r}, {str(tmp_path / "rollouts.jsonl")!r})]
pathlib.Path("answer.txt").write_text(json.dumps(found))
"""
    everything = (str(tmp_path), str(tmp_path / "home"), str(tmp_path / "checkout"))
    shut, opened = (played(tmp_path, script, hidden=hidden, network=True) for hidden in (everything, ()))
    texts = [json.loads(row["response"]["output"][0]["content"][0]["text"]) for row in (shut, opened)]

    assert texts == [[None, None, ""], ["2", "2", "2"]]
    assert (secret.read_text(), gold.read_text()) == ("2", "2")


def test_an_agent_that_does_not_end_is_ended_with_all_it_started(tmp_path: Path) -> None:
    mark = tmp_path / "alive"
    script = f"""
import os, subprocess, sys, time
child = "import time, pathlib\\nfor n in range(10**6): pathlib.Path({str(mark)!r}).write_text(str(n)); time.sleep(0.05)"
subprocess.Popen([sys.executable, "-c", child], start_new_session=True)
open("answer.txt", "w").write("Answer: 2")
time.sleep(1000)
"""
    start = time.monotonic()
    row = played(tmp_path, script, seconds=1.5)
    seen = mark.read_text()
    time.sleep(0.3)

    assert time.monotonic() - start < 15
    assert mark.read_text() == seen
    assert (row["reward"], row["response"]["incomplete_details"]) == (1.0, {"reason": "max_time"})


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        pytest.param("import sys; print('no key', file=sys.stderr); sys.exit(3)", "server", id="exits"),
        pytest.param("x = bytearray(3 * 10**9)", "server", id="memory"),
        pytest.param("open('large', 'wb').write(bytes(600 * 2**20))", "server", id="file"),
        pytest.param("import time; time.sleep(1000)", "timeout", id="time"),
        pytest.param("import os; os.symlink('/etc/hostname', 'answer.txt'); os._exit(1)", "server", id="link"),
        pytest.param("import os; os.mkfifo('answer.txt'); os._exit(1)", "server", id="pipe"),
    ],
)
def test_an_agent_without_an_answer_leaves_no_verdict(tmp_path: Path, script: str, kind: str) -> None:
    with pytest.raises(ModelError) as raised:
        played(tmp_path, script, seconds=4.0)

    assert raised.value.kind == kind


@pytest.mark.parametrize("command", ["", "'", "no-such-program-here --x"])
def test_a_command_that_is_none_is_said_at_once(command: str) -> None:
    with pytest.raises(UsageError, match="agent-cmd"):
        CommandPlayer(command, "m", load_environment("numeric"), CommandLimits())


def test_a_task_with_a_file_outside_of_its_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="leads out of its folder"):
        played(tmp_path, "", row={**ROW, "files": {"../x": "1"}})


def test_tasks_with_tools_of_their_own_are_refused(tmp_path: Path) -> None:
    player = CommandPlayer(sys.executable, "m", load_environment("office"), CommandLimits())
    with pytest.raises(UsageError, match="need its own tools"):
        asyncio.run(player.judged({**ROW, "state": {}}))


def test_a_run_without_the_sdks_says_which_versions_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    known = metadata.version

    def version(name: str) -> str:
        if name in ("openai", "anthropic"):
            raise metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(metadata, "version", version)

    assert sorted(versions()) == ["blade", "msgspec", "python"]
