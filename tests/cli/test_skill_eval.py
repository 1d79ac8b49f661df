"""`blade skill eval`: the same tasks with and without a skill, and what came of it."""

import sys
from pathlib import Path

import pytest
from blade_command import blade, document
from eval_runs import keys_of, make_checkout, rows_of
from loopback import Call, Loopback, Say, Status, Tool

SKILL = "---\nname: sums\ndescription: How to add. Use when numbers are added.\n---\n\n# Add\n\nCount upwards.\n"


def solve(call: Call) -> Say:
    """Without the skill always 0; with it, opens it and is right."""
    asked = next(m["content"] for m in call.body["messages"] if m["role"] == "user")
    number = int(asked.removeprefix("What is ").partition(" ")[0])
    if not call.body.get("tools"):
        return Say("Answer: 0", tokens=(20, 4))
    if not any(m["role"] == "tool" for m in call.body["messages"]):
        return Say("", (Tool("read_skill_file", {"path": "sums/SKILL.md"}),), tokens=(60, 10))
    return Say(f"Answer: {number + 1}", tokens=(90, 4))


def write_skill(folder: Path) -> Path:
    (folder / "skills" / "sums").mkdir(parents=True)
    (folder / "skills" / "sums" / "SKILL.md").write_text(SKILL, encoding="utf-8")
    return folder / "skills"


def words_for(folder: Path, server: Loopback, *more: str) -> list[str]:
    named = ["--benchmark", "sums", "--model", "m-1", "--base-url", server.base_url]
    variants = f"none,{folder / 'skills'}"
    root = str(folder / "checkout")
    return ["skill", "eval", *named, "--root", root, "--variants", variants, "--out", str(folder / "trial"), *more]


def test_a_skill_that_helps_is_seen_to_help(tmp_path: Path) -> None:
    make_checkout(tmp_path, tasks=12)
    write_skill(tmp_path)
    with Loopback(solve) as server:
        found = blade(*words_for(tmp_path, server))

    assert found.exit_code == 0, found.stderr
    said = " ".join(found.stdout.split())
    assert "skills against none better on 12 tasks: s0, s1, s2, s3, s4, s5, s6, s7 and 4 more" in said
    # (60 + 10) + (90 + 4) tokens with the skill, 20 + 4 without: 140 more
    assert "per rollout +140 tokens" in said
    assert "opened sums/SKILL.md in 24 rollouts" in said
    assert "IMPROVED" in said
    assert (tmp_path / "trial" / "comparison.md").is_file()


def test_a_skill_that_nobody_opened_is_said_to_be_so(tmp_path: Path) -> None:
    make_checkout(tmp_path)
    write_skill(tmp_path)
    with Loopback(lambda call: Say("Answer: 1")) as server:
        found = blade(*words_for(tmp_path, server))

    assert "no file of its skills was ever opened" in found.stdout
    assert "changed together" not in found.stdout


def test_a_program_gets_scores_cost_use_and_the_paired_test(tmp_path: Path) -> None:
    make_checkout(tmp_path, tasks=12)
    write_skill(tmp_path)
    with Loopback(solve) as server:
        told = document(blade(*words_for(tmp_path, server, "--json", "--repeats", "1")))

    none, skills = told["variants"]
    assert (none["pass_rate"]["value"], skills["pass_rate"]["value"]) == (0.0, 1.0)
    assert (none["opened"]["value"], skills["opened"]["value"]) == (None, 1.0)
    assert skills["files"] == {"sums/SKILL.md": 12}
    assert told["comparison"]["verdict"] == "improved"
    assert len(told["duels"][0]["wins"]) == 12 and told["duels"][0]["unread_wins"] == 0
    rows = rows_of(tmp_path / "trial" / "skills.jsonl")
    assert {row["skills_ref"]["hash"] for row in rows} == {skills["hash"]}


def test_both_variants_are_asked_with_the_same_seeds(tmp_path: Path) -> None:
    make_checkout(tmp_path)
    write_skill(tmp_path)
    with Loopback(solve) as server:
        blade(*words_for(tmp_path, server))
    seeds = [
        sorted((row["task_id"], row["responses_create_params"]["metadata"]["extra_body"]) for row in rows_of(path))
        for path in (tmp_path / "trial" / "none.jsonl", tmp_path / "trial" / "skills.jsonl")
    ]

    assert seeds[0] == seeds[1]


def test_the_same_command_goes_on_where_failures_left_it(tmp_path: Path) -> None:
    make_checkout(tmp_path)
    write_skill(tmp_path)
    broken = True
    with Loopback(lambda call: Status(400) if broken and "1 + 1" in call.words else solve(call)) as server:
        first = blade(*words_for(tmp_path, server))
        asked, broken = len(server.calls), False
        second = blade(*words_for(tmp_path, server))

        # the two rollouts of one task: one reply each without the skill, two each with it
        assert len(server.calls) - asked == 2 + 4
    assert (first.exit_code, second.exit_code) == (1, 0)
    for label in ("none", "skills"):
        assert len(keys_of(tmp_path / "trial" / f"{label}.jsonl")) == 6


def test_a_changed_skill_is_not_mixed_with_the_old_one(tmp_path: Path) -> None:
    make_checkout(tmp_path)
    skills = write_skill(tmp_path)
    with Loopback(solve) as server:
        blade(*words_for(tmp_path, server))
        (skills / "sums" / "SKILL.md").write_text(SKILL + "More.\n", encoding="utf-8")
        found = blade(*words_for(tmp_path, server))

    assert found.exit_code == 2
    assert "skills was" in found.stderr


AGENT = """
import json, pathlib, re
skill = pathlib.Path(".claude/skills/sums/SKILL.md")
number = int(re.search(r"What is (\\d+)", pathlib.Path("TASK.md").read_text())[1])
use = {"type": "tool_use", "id": "c", "name": "Read", "input": {"path": str(skill)}}
said = {"type": "text", "text": f"Answer: {number + 1 if skill.is_file() else 0}"}
print(json.dumps({"type": "system", "subtype": "init", "session_id": "s", "tools": []}))
for place, part in enumerate([use, said] if skill.is_file() else [said]):
    message = {"role": "assistant", "model": "m-2", "id": f"a{place}", "content": [part]}
    print(json.dumps({"type": "assistant", "session_id": "s", "uuid": f"u{place}", "message": message}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="programs are shut in on Linux only")
def test_an_installed_agent_is_given_skills_where_it_looks_for_them(tmp_path: Path) -> None:
    checkout, skills = make_checkout(tmp_path, tasks=3), write_skill(tmp_path)
    (tmp_path / "agent.py").write_text(AGENT)
    named = ["--benchmark", "sums", "--model", "scripted", "--root", str(checkout), "--repeats", "1"]
    command = f"{sys.executable} {tmp_path / 'agent.py'}"
    found = blade(
        "skill", "eval", *named, "--agent-cmd", command, "--variants", f"none,{skills}", "--out", tmp_path / "trial"
    )
    said = " ".join(found.stdout.split())

    assert found.exit_code == 0, found.stderr
    assert "skills against none better on 3 tasks: s0, s1, s2" in said
    assert "opened sums/SKILL.md in 3 rollouts" in said
