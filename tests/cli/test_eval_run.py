"""`blade eval run` as a user meets it: results, refusals, Ctrl-C, kills."""

import itertools
import json
import random
import signal
import time
from pathlib import Path

import pytest
from blade_command import blade, document
from eval_runs import keys_of, make_checkout, rows_of, start, words_for
from loopback import Call, Give, Loopback, Say, Status


def solve(call: Call) -> Say:
    """Adds one, and is wrong about 2 + 1."""
    number = int(call.body["messages"][-1]["content"].removeprefix("What is ").partition(" ")[0])
    return Say(f"Answer: {7 if number == 2 else number + 1}")


def slowly(call: Call) -> Say:
    return solve(call)._replace(after=0.02)


def all_keys(tasks: int, repeats: int) -> list[tuple[int, int]]:
    return list(itertools.product(range(tasks), range(repeats)))


def test_a_run_prints_where_it_is_and_how_it_went(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    with Loopback(solve) as server:
        found = blade(*words_for(make_checkout(tmp_path), server.base_url, output))

    assert found.exit_code == 0, found.stderr
    assert found.stdout.startswith(f"{output}: 6/6 rollouts · pass@1 0.667 [")
    assert keys_of(output) == all_keys(3, 2)


def test_a_program_gets_one_document(tmp_path: Path) -> None:
    with Loopback(solve) as server:
        words = words_for(make_checkout(tmp_path), server.base_url, tmp_path / "out.jsonl", "--json")
        told = document(blade(*words))

    assert (told["status"], told["progress"]["done"], told["progress"]["total"]) == ("finished", 6, 6)
    assert told["progress"]["pass_rate"]["value"] == pytest.approx(2 / 3)


def test_settings_come_from_the_benchmark_and_are_overridden_by_options(tmp_path: Path) -> None:
    with Loopback(solve) as server:
        words = words_for(make_checkout(tmp_path), server.base_url, tmp_path / "out.jsonl")
        blade(*words, "--temperature", "1.5", "--repeats", "1", "--limit", "2", "--top-p", "0.9")
        asked = server.calls[0].body

    assert (asked["temperature"], asked["top_p"], asked["max_tokens"]) == (1.5, 0.9, 64)
    assert keys_of(tmp_path / "out.jsonl") == [(0, 0), (1, 0)]


def test_failures_without_a_verdict_are_exit_code_1(tmp_path: Path) -> None:
    with Loopback(lambda call: Status(400, "no") if "1 + 1" in call.words else solve(call)) as server:
        found = blade(*words_for(make_checkout(tmp_path), server.base_url, tmp_path / "out.jsonl"))

    assert found.exit_code == 1
    assert "2 failed (2 rejected)" in found.stdout
    assert "2 rollouts failed without a verdict; --resume tries again. Last failure: " in found.stderr


def test_a_server_that_is_gone_ends_the_run_with_one_sentence(tmp_path: Path) -> None:
    with Loopback(solve) as server:
        pass
    words = words_for(make_checkout(tmp_path, tasks=50), server.base_url, tmp_path / "out.jsonl", "--attempts", "1")
    found = blade(*words)

    assert found.exit_code == 3
    assert "stopped after repeated failures" in found.stderr and "the connection failed" in found.stderr


@pytest.mark.parametrize(
    ("more", "said"),
    [
        pytest.param(["--temperature", "0.9"], "temperature was 0.5, is 0.9", id="sampling"),
        pytest.param(["--model", "m-2"], "model was m-1, is m-2", id="model"),
        pytest.param(["--api", "responses"], "api was chat, is responses", id="api"),
    ],
)
def test_a_changed_run_is_refused_and_says_what_changed(tmp_path: Path, more: list[str], said: str) -> None:
    with Loopback(solve) as server:
        words = words_for(make_checkout(tmp_path), server.base_url, tmp_path / "out.jsonl", "--resume")
        assert blade(*words).exit_code == 0
        found = blade(*words, *more)

    assert (found.exit_code, said in found.stderr) == (2, True)


def test_tasks_other_than_the_pinned_ones_are_refused(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path)
    data = checkout / "benchmarks" / "sums" / "data" / "sums.jsonl"
    data.write_bytes(data.read_bytes() + b"\n")
    with Loopback(solve) as server:
        words = words_for(checkout, server.base_url, tmp_path / "out.jsonl")
        found = blade(*words)

        assert found.exit_code == 3
        assert "sums pins" in found.stderr and "`blade eval prepare sums` makes it again" in found.stderr
        assert blade(*words, "--force").exit_code == 0


def test_a_server_s_address_is_recorded_without_its_password(tmp_path: Path) -> None:
    with Loopback(solve) as server:
        url = server.base_url.replace("http://", "http://me:hush@")
        blade(*words_for(make_checkout(tmp_path), url, tmp_path / "out.jsonl"))
    written = "".join(path.read_text() for path in tmp_path.glob("out*"))

    assert "127.0.0.1" in written and "hush" not in written


def test_no_key_is_ever_written(tmp_path: Path) -> None:
    key = "sk-very-secret-key"
    with Loopback(lambda call: Status(400, f"bad key {key}") if "0 + 1" in call.words else solve(call)) as server:
        words = words_for(make_checkout(tmp_path), server.base_url, tmp_path / "out.jsonl")
        found = blade(*words, env={"OPENAI_API_KEY": key})

        assert server.calls[0].headers["authorization"] == f"Bearer {key}"
    assert key not in found.output + "".join(path.read_text() for path in tmp_path.glob("out*"))


def test_an_agent_of_somebody_else_s_can_play(tmp_path: Path) -> None:
    def agent(call: Call) -> Give:
        return Give({**call.body, "response": {"id": "r", "output": []}, "reward": 1.0})

    output = tmp_path / "out.jsonl"
    with Loopback(agent) as server:
        words = words_for(make_checkout(tmp_path), server.base_url, output)
        found = blade(*words, "--agent-url", server.root)

    assert found.exit_code == 0, found.stderr
    assert {row["agent_ref"]["name"] for row in rows_of(output)} == {"sums_agent"}
    assert json.loads((tmp_path / "out_manifest.json").read_text())["settings"]["api"] == "agent"


def test_skills_are_named_in_every_row_and_in_the_manifest(tmp_path: Path) -> None:
    (tmp_path / "skills" / "demo").mkdir(parents=True)
    text = "---\nname: demo\ndescription: A demo skill.\n---\n\n# Demo\n"
    (tmp_path / "skills" / "demo" / "SKILL.md").write_text(text, encoding="utf-8")
    with Loopback(solve) as server:
        words = words_for(make_checkout(tmp_path), server.base_url, tmp_path / "out.jsonl")
        blade(*words, "--skills", str(tmp_path / "skills"))

    assert {row["skills_ref"]["hash"] for row in rows_of(tmp_path / "out.jsonl")} == {"8a1c167c2f6a"}
    assert json.loads((tmp_path / "out_manifest.json").read_text())["settings"]["skills"] == "8a1c167c2f6a"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGHUP, 130)])
def test_ctrl_c_keeps_what_is_done_and_the_run_goes_on_later(tmp_path: Path, number: int, code: int) -> None:
    output = tmp_path / "out.jsonl"
    with Loopback(slowly) as server:
        words = words_for(make_checkout(tmp_path, tasks=100), server.base_url, output, "--concurrency", "4")
        process = start(words)
        wait_for_rows(output, 5)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
        done = len(rows_of(output))
        found = blade(*words, "--resume")

    assert process.returncode == code, err.decode()
    assert b"interrupted; what was done is on disk, --resume goes on." in err
    assert f"{done}/200 rollouts".encode() in out
    assert 5 <= done < 200
    assert found.exit_code == 0
    assert keys_of(output) == all_keys(100, 2)
    manifest = json.loads((tmp_path / "out_manifest.json").read_text())
    assert [sitting["status"] for sitting in manifest["sittings"]] == ["interrupted", "finished"]


def test_a_run_killed_again_and_again_ends_with_every_rollout_once(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    moments = random.Random(4)
    with Loopback(lambda call: solve(call)._replace(after=0.05)) as server:
        words = words_for(make_checkout(tmp_path, tasks=150), server.base_url, output, "--resume", "--concurrency", "8")
        for _ in range(4):
            seen = output.read_bytes().count(b"\n") if output.exists() else 0
            process = start(words)
            wait_for_rows(output, seen + 1)
            time.sleep(moments.uniform(0.0, 0.1))
            process.kill()
            process.communicate()
        before = output.read_bytes()
        found = blade(*words)

    assert 4 <= before.count(b"\n") < 300
    assert found.exit_code == 0
    assert keys_of(output) == all_keys(150, 2)
    whole = before[: before.rfind(b"\n") + 1]
    assert output.read_bytes().startswith(whole)


def test_a_second_run_on_the_same_output_is_refused(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    with Loopback(slowly) as server:
        words = words_for(make_checkout(tmp_path, tasks=200), server.base_url, output, "--concurrency", "2")
        process = start(words)
        try:
            wait_for_rows(output, 1)
            for more in ([], ["--resume"], ["--force"]):
                found = blade(*words, *more)
                assert (found.exit_code, "another run is writing to it" in found.stderr) == (2, True)
        finally:
            process.kill()
            process.communicate()


def wait_for_rows(output: Path, rows: int) -> None:
    """Waits until a run that was started has brought something home."""
    for _ in range(3000):
        if output.exists() and output.read_bytes().count(b"\n") >= rows:
            return
        time.sleep(0.01)
    raise AssertionError("the run wrote nothing")


def make_asked(folder: Path) -> Path:
    """A benchmark whose answers a model judges, made of a set."""
    rows = [{"problem": "Who?", "answer": "Ada Berg"}, {"problem": "Where?", "answer": "Here"}]
    (folder / "set.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    blade("eval", "prepare", "--from", "simpleqa", folder / "set.jsonl", "--out", folder / "mine")
    return folder / "mine"


def answer_or_judge(call: Call) -> Say:
    """Answers with a name, and judges that it is right."""
    if "You judge one answer" in call.words:
        return Say("The same person. VERDICT: correct" if "Ada" in call.words else "VERDICT: incorrect", tokens=(50, 5))
    return Say("It was Ada.", tokens=(7, 3))


def test_a_judge_is_asked_in_both_orders_and_paid_for_apart(tmp_path: Path) -> None:
    checkout, output = make_asked(tmp_path), tmp_path / "out.jsonl"
    with Loopback(answer_or_judge) as server:
        named = ["--benchmark", "simpleqa", "--root", str(checkout), "--model", "m-1", "--base-url", server.base_url]
        judge = ["--judge-model", "j-1", "--judge-base-url", server.base_url]
        found = blade("eval", "run", *named, *judge, "--output", output)
        models = [call.body["model"] for call in server.calls]
    row = next(row for row in rows_of(output) if row["question"] == "Who?")

    assert found.exit_code == 0, found.stderr
    assert (models.count("m-1"), models.count("j-1")) == (2, 4)
    assert (row["reward"], row["judge_votes"]) == (1.0, ["correct", "correct"])
    assert row["judge_usage"] == {"calls": 2, "input_tokens": 100, "output_tokens": 10}
    assert row["response"]["usage"]["total_tokens"] == 10
    assert json.loads((tmp_path / "out_manifest.json").read_text())["settings"]["judge"] == "j-1, 3 votes"


def test_judging_again_needs_the_judge_again(tmp_path: Path) -> None:
    checkout, output = make_asked(tmp_path), tmp_path / "out.jsonl"
    with Loopback(answer_or_judge) as server:
        judge = ["--judge-model", "j-1", "--judge-base-url", server.base_url]
        named = ["--benchmark", "simpleqa", "--root", str(checkout)]
        blade("eval", "run", *named, *judge, "--model", "m", "--base-url", server.base_url, "--output", output)
        without = blade("eval", "reverify", output, *named)
        found = document(blade("eval", "reverify", output, *named, *judge, "--json"))

    assert (without.exit_code, "--judge-model" in without.stderr) == (2, True)
    assert (found["judged"], found["changed"]) == (2, [])


def test_a_judge_is_held_against_people(tmp_path: Path) -> None:
    rows = [
        {"question": "Who?", "expected_answer": "x", "answer": name, "label": name == "Ada"} for name in ("Ada", "Bo")
    ]
    (tmp_path / "labelled.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with Loopback(answer_or_judge) as server:
        words = [
            "eval",
            "calibrate",
            str(tmp_path / "labelled.jsonl"),
            "--judge-model",
            "j",
            "--judge-base-url",
            server.base_url,
        ]
        found, told = blade(*words), document(blade(*words, "--json"))
        strict = blade(*words, "--judge-votes", "1", "--min-kappa", "1")

    assert found.stdout.splitlines()[0] == "j: 2 of 2 answers labelled as people did"
    assert (told["agreement"]["kappa"], told["input_tokens"]) == (1.0, 200)
    assert strict.exit_code == 0


def test_a_model_that_judges_is_only_taken_where_one_is_needed(tmp_path: Path) -> None:
    words = words_for(make_checkout(tmp_path), "http://127.0.0.1:9", tmp_path / "out.jsonl", "--judge-model", "j")
    found = blade(*words)

    assert (found.exit_code, "judges without a model" in found.stderr) == (2, True)
