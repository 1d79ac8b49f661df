"""`blade analyze` as it is called: with a model on the loopback, with an agent, and only for show."""

import json
import shlex
import sys
from pathlib import Path

import pytest
from blade_command import blade, diagnosed, document
from loopback import Call, Loopback, Say

AGENT = """
import subprocess, sys
for task, quote in (("1", "booked SK2"), ("2", "not in there")):
    words = ["label", "diagnosis", task, "--cause", "BI", "--cite", f"{task}:1", "--quote", quote]
    subprocess.run([sys.executable, "-m", "blade", *words, "--reason", "it shows", "--author", "llm:stub"])
with open("diagnosis/narrative.md", "w") as narrative:
    narrative.write("---\\nauthor: human:somebody-else\\nmodel: airline\\n---\\n"
                    "## Executive Summary\\n\\npass@1 is {{ headline | pct }}.\\n"
                    "## Dominant Failure Modes\\n\\nIt says {{ cite('1:1', 'never said') }}.\\n"
                    "## Findings No Table Shows\\n\\n7 of {{ tasks | count }} tasks always pass.\\n"
                    "## Recommendations\\n\\n![x](http://evil.example/{{ headline | pct }})\\n")
with open("diagnosis/labels.jsonl", "a") as labels:
    labels.write('{"task":"2","cause":"DA","confidence":"high","author":"llm:x","reason":"forged",'
                 '"evidence":[{"citation":"2:0","quote":"never said"}]}\\n')
"""

BY_HAND = """---
author: human:kim
model: airline
---
## Executive Summary

Kim has read this: pass@1 is {{ headline | pct }}.
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def answer(call: Call) -> Say:
    if "Write the section" in call.words:
        point = {"title": "Chose badly", "text": "It books another flight than the one that was wanted."}
        return Say(json.dumps({"points": [{**point, "facts": ["F1"], "quotes": ["Q1"]}]}))
    if "What did R2 do" in call.words:
        failing, passing = {"rollout": "R1#6", "quote": "SK2"}, {"rollout": "R2#6", "quote": "LH1."}
        words = "It books the flight that was wanted."
        return Say(
            json.dumps({"failing": {**failing, "quote": "Booked SK2."}, "passing": passing, "difference": words})
        )
    quote = "Booked SK2." if "Booked SK2." in call.words else "Done."
    item = 6 if quote == "Booked SK2." else 3
    proof = [{"rollout": f"R1#{item}", "quote": quote}]
    return Say(json.dumps({"evidence": proof, "reason": "chose badly", "cause": "BI", "confidence": "medium"}))


def test_a_model_reads_and_the_report_says_so(tmp_path: Path) -> None:
    out = diagnosed(tmp_path)
    with Loopback(answer) as server:
        found = blade("analyze", out, "--model", "scripted", "--base-url", server.base_url)

    assert found.exit_code == 0, found.stderr
    assert "BI 2" in found.stdout and "rule and llm: same cause in" in found.stdout
    assert "spent: 7 requests, 70 tokens in, 35 out, 0 from the cache" in found.stderr
    report = (out / "appendix.md").read_text()
    assert report.count("by `llm:scripted`") >= 3  # two labels and the prose
    assert (
        "- **Chose badly.** It books another flight than the one that was wanted. In figures: pass@1 is 50.0 %"
        in report
    )
    assert (
        "Task `1` passed 1 of 2 rollouts. It books the flight that was wanted. Failing: “`Booked SK2.`” (`1:1#6`)."
        in report
    )
    assert blade("check", out / "report.md").exit_code == 0
    assert blade("check", out / "appendix.md").exit_code == 0


def test_labels_alone_can_be_asked_for(tmp_path: Path) -> None:
    out = diagnosed(tmp_path)
    with Loopback(answer) as server:
        found = blade("analyze", out, "--model", "m", "--base-url", server.base_url, "--no-narrative", "--json")

    assert (len(server.calls), document(found)["narrative"], (out / "narrative.md").exists()) == (2, None, False)


def test_a_narrative_written_by_hand_is_kept_and_costs_nothing(tmp_path: Path) -> None:
    out = diagnosed(tmp_path)
    (out / "narrative.md").write_text(BY_HAND)
    with Loopback(answer) as server:
        found = blade("analyze", out, "--model", "m", "--base-url", server.base_url)

    assert len(server.calls) == 2
    assert "narrative.md was written or edited by hand and is kept" in " ".join(found.stdout.split())
    assert (out / "narrative.md").read_text() == BY_HAND
    assert "Kim has read this: pass@1 is 50.0 %." in (out / "report.md").read_text()


def test_a_second_reading_is_free(tmp_path: Path) -> None:
    out = diagnosed(tmp_path)
    with Loopback(answer) as server:
        words = ["--model", "scripted", "--base-url", server.base_url, "--again"]
        blade("analyze", out, *words)
        found = blade("analyze", out, *words)

    assert len(server.calls) == 7
    assert "spent: 0 requests, 0 tokens in, 0 out, 7 from the cache" in found.stderr


def test_a_dry_run_sends_nothing_and_shows_what_it_would(tmp_path: Path) -> None:
    out = diagnosed(tmp_path)
    with Loopback(answer) as server:
        words = [
            "--model",
            "scripted",
            "--base-url",
            server.base_url,
            "--dry-run",
            "--price-in",
            "1",
            "--price-out",
            "2",
        ]
        shown = document(blade("analyze", out, *words, "--json"))
        text = blade("analyze", out, *words).stdout

    assert server.calls == []
    assert [question["task"] for question in shown["questions"]] == ["2", "1"]
    assert shown["cost"] == pytest.approx((shown["tokens_in"] + 2 * shown["tokens_out"]) / 1e6)
    assert "Nothing is sent. 2 tasks, 1 vote each, and 3 questions for the narrative" in text
    assert "Why is this task not always passed?" in text
    asked = [part["about"] for part in shown["narrative"]]
    assert asked == [
        "1:1 1:0",
        "Executive Summary",
        "Recommendations",
    ]
    assert shown["tokens_in"] == sum(one["tokens"] for one in [*shown["questions"], *shown["narrative"]])
    assert not (out / "narrative.md").exists()


def test_a_dry_run_needs_no_model_and_starts_no_agent(tmp_path: Path) -> None:
    out = diagnosed(tmp_path)
    for_model = document(blade("analyze", out, "--dry-run", "--json"))
    for_agent = blade("analyze", out, "--agent-cmd", "no-such-agent -p {prompt}", "--dry-run")

    assert [text.partition("\n")[0][:9] for text in for_model["instructions"]] == [
        "You read ",
        "You write",
        "You write",
    ]
    assert for_agent.exit_code == 0 and "Nothing is started." in for_agent.stdout
    assert "no-such-agent\n-p\nIn the folder `diagnosis`" in for_agent.stdout
    shown = document(blade("analyze", out, "--agent-cmd", "no-such-agent -p {prompt}", "--dry-run", "--json"))
    assert shown["command"][:2] == ["no-such-agent", "-p"]


def test_the_budget_leaves_tasks_undecided(tmp_path: Path) -> None:
    out = diagnosed(tmp_path)
    with Loopback(answer) as server:
        found = blade("analyze", out, "--model", "m", "--base-url", server.base_url, "--max-tokens", "10")

    assert (found.exit_code, server.calls) == (0, [])
    assert "the budget of 10 tokens would be exceeded" in found.stdout
    assert "not written: Recommendations (rejected: the budget of 10 tokens would be exceeded.)" in found.stdout
    assert "Prose by `llm:m` did not hold and is left out" in (out / "report.md").read_text()


def test_what_an_agent_says_is_checked_on_the_way_back(tmp_path: Path) -> None:
    out = diagnosed(tmp_path)
    agent = tmp_path / "stub.py"
    agent.write_text(AGENT)
    found = document(blade("analyze", out, "--agent-cmd", shlex.join([sys.executable, str(agent)]), "--json"))
    by_task = {opinion["task"]: opinion for opinion in found["opinions"]}

    assert by_task["1"]["label"]["cause"] == "BI"
    assert by_task["2"]["label"] is None and "does not occur there verbatim" in by_task["2"]["undecided"]
    assert "forged" not in (out / "labels.jsonl").read_text()
    assert found["narrative"]["written"] == ["Executive Summary"]
    problems = found["narrative"]["not_written"]
    assert "does not occur there verbatim" in problems["Dominant Failure Modes"]
    assert "states '7' itself" in problems["Findings No Table Shows"]
    assert "no links and no HTML" in problems["Recommendations"]
    assert f"author: llm:{Path(sys.executable).name}" in (out / "narrative.md").read_text()
    assert blade("check", out / "report.md").exit_code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param([], "name who reads", id="nobody"),
        pytest.param(["--model", "m", "--agent-cmd", "x"], "name who reads", id="both"),
        pytest.param(["--model", "m", "--max-cost", "1"], "needs --price-in and --price-out", id="no_prices"),
        pytest.param(["--agent-cmd", "no-such-agent-anywhere"], "cannot be started", id="no_agent"),
        pytest.param(["--agent-cmd", "'"], "is not a command line", id="no_command_line"),
    ],
)
def test_wrong_usage_is_one_sentence(tmp_path: Path, words: list[str], said: str) -> None:
    found = blade("analyze", diagnosed(tmp_path), *words)

    assert (found.exit_code, found.stderr.count("\n")) == (2, 1)
    assert said in found.stderr
