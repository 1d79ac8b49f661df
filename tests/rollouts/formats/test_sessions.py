"""Sessions of Claude Code and Codex: attempts that nobody scored."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from blade.cli.main import app
from blade.errors import InputError
from blade.rollouts.finding import find_inputs
from blade.rollouts.formats import claude_code, codex
from blade.rollouts.formats.reader import Probe
from blade.rollouts.formats.registry import passed_over, reader_for
from blade.rollouts.values import BadLine, Ending, Rollout, Usage

DATA = Path(__file__).parents[2] / "data" / "formats" / "sessions"
CLAUDE, CODEX = DATA / "claude.jsonl", DATA / "codex.jsonl"


def only(path: Path) -> Rollout:
    reader = claude_code if path.name != CODEX.name else codex
    (found,) = [one for one in reader.read(path) if isinstance(one, Rollout)]
    return found


def test_a_claude_code_session_is_told_with_its_sub_agents_and_tool_errors() -> None:
    session = only(CLAUDE)
    assert [(item.kind, item.name, item.agent, item.error, item.text) for item in session.items] == [
        ("message", None, None, None, "Fix the bug."),
        ("reasoning", None, None, None, "Hm."),
        ("message", None, None, None, "Let me look."),
        ("tool_call", "Bash", None, None, '{"command":"cat x"}'),
        ("tool_result", "Bash", None, "cat: x: No such file", "cat: x: No such file\nor directory"),
        ("tool_call", "Task", None, None, '{"prompt":"Search."}'),
        ("environment", None, "a1b2", None, "Search."),
        ("message", None, "a1b2", None, "It is in y."),
        ("tool_result", "Task", None, None, "Found in y."),
        ("environment", None, None, None, "Go on."),
        ("environment", None, None, None, "API Error: 529 overloaded"),
    ]
    assert [item.prompt for item in session.items].count(True) == 1


def test_a_claude_code_session_counts_each_answer_once() -> None:
    session = only(CLAUDE)
    # Three answers: 3 + 100 tokens in and 9 out, then twice 3 + 10 + 100 in and 7 out.
    assert session.usage == Usage(input_tokens=103 + 113 + 113, output_tokens=9 + 7 + 7, cached_tokens=300)
    assert (session.task, session.reward, session.model, session.agent) == ("5e55", None, "claude-m", "claude-code")
    assert (session.settings, session.seconds) == ({"agent_version": "2.1.0"}, 8.0)
    ending = Ending(kind="error", origin="model", name="overloaded_error", message="API Error: 529 overloaded")
    assert session.ending == ending


@pytest.mark.parametrize(
    ("result", "ending"),
    [
        ({"subtype": "success", "is_error": False}, Ending()),
        ({"subtype": "success", "is_error": True, "result": "overloaded"}, Ending(
            kind="error", origin="model", name="success", message="overloaded"
        )),
        ({"subtype": "error_max_turns"}, Ending(kind="limit", origin="agent", name="error_max_turns")),
        ({"subtype": "error_during_execution"}, Ending(kind="error", name="error_during_execution")),
    ],
)  # fmt: skip
def test_streamed_output_says_how_it_ended(tmp_path: Path, result: dict[str, object], ending: Ending) -> None:
    said = {"role": "assistant", "model": "m", "id": "a", "content": [{"type": "text", "text": "Done."}]}
    rows = [
        {"type": "system", "subtype": "init", "session_id": "s", "tools": ["Bash"], "claude_code_version": "2.1.0"},
        {"type": "assistant", "session_id": "s", "uuid": "u", "message": said},
        {"type": "result", "session_id": "s", "total_cost_usd": 0.5, "num_turns": 3, **result},
    ]
    path = tmp_path / "stream.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert claude_code.recognises(Probe(path))
    session = only(path)
    assert (session.ending, session.usage.cost, session.fields) == (ending, 0.5, {"num_turns": 3})


def test_a_sub_agents_file_is_no_session_of_its_own() -> None:
    part = DATA / "claude" / "subagents" / "agent-a1b2.jsonl"
    assert passed_over(part)
    assert find_inputs([str(DATA)]) == [CLAUDE, CODEX]
    assert part in claude_code.files(CLAUDE)


def test_a_codex_session_is_told_with_its_calls_and_usage() -> None:
    session = only(CODEX)
    assert [(item.kind, item.prompt, item.name, item.error, item.text) for item in session.items] == [
        ("message", True, None, None, "Be brief."),
        ("message", True, None, None, "Fix the bug."),
        ("reasoning", False, None, None, "Look first."),
        ("tool_call", False, "shell", None, '{"command":["ls"]}'),
        ("tool_result", False, "shell", None, "setup.py\n"),
        ("tool_call", False, "apply_patch", None, "*** Begin Patch"),
        ("tool_result", False, "apply_patch", "patch does not apply", "patch does not apply"),
        ("message", False, None, None, "Cannot."),
    ]
    assert session.usage == Usage(input_tokens=500, output_tokens=40, reasoning_tokens=15, cached_tokens=200)
    assert (session.task, session.model, session.agent, session.seconds) == ("c0de", "gpt-m", "codex", 12.0)
    assert session.ending == Ending(kind="cancelled", origin="user", name="interrupted")
    assert session.settings["reasoning_effort"] == "high"


def test_broken_lines_are_set_aside_and_an_empty_session_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "claude.jsonl"
    path.write_text(CLAUDE.read_text() + '{"type": "assistant", \n')
    assert [type(one) for one in claude_code.read(path)] == [BadLine, Rollout]
    path.write_text('{"type":"summary"}\n')
    with pytest.raises(InputError, match="the session holds no message"):
        list(claude_code.read(path))


@pytest.mark.parametrize(("path", "name"), [(CLAUDE, "claude-code"), (CODEX, "codex")])
def test_sessions_are_recognised_and_shown(tmp_path: Path, path: Path, name: str) -> None:
    reader = reader_for(path)
    assert reader is not None and reader.name == name
    done = CliRunner().invoke(app, ["diagnose", str(path), "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "1 without a score" in done.output
    shown = CliRunner().invoke(app, ["show", str(tmp_path / "out"), f"{only(path).task}:0"])
    assert "Fix the bug." in shown.output
