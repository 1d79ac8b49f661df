"""What a user sees when something goes wrong: one sentence saying what to do, the right exit code, no traceback."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from blade_command import airline, blade, blade_process, diagnosed
from rollout_rows import message, rollout, write_rows

import blade.cli.pipeline as blade_pipeline
from blade.cli import inputs
from blade.cli.folders import RUNS


def empty(folder: Path) -> list[str | Path]:
    (folder / "empty.jsonl").touch()
    return ["diagnose", folder / "empty.jsonl"]


def folder_without_rollouts(folder: Path) -> list[str | Path]:
    (folder / "inner").mkdir()
    (folder / "inner" / "notes.txt").write_text("nothing")
    return ["diagnose", folder / "inner"]


def garbage(folder: Path) -> list[str | Path]:
    (folder / "garbage.jsonl").write_bytes(bytes(range(256)) * 20)
    return ["diagnose", folder / "garbage.jsonl"]


def nothing_but_braces(folder: Path) -> list[str | Path]:
    (folder / "braces.jsonl").write_text("{}\n{}\n")
    return ["diagnose", folder / "braces.jsonl"]


def near_miss(folder: Path) -> list[str | Path]:
    airline(folder)
    return ["diagnose", folder / "airlines.jsonl"]


def broken_list(folder: Path) -> list[str | Path]:
    (folder / RUNS).write_text("{")
    return ["show", folder, "0:0"]


def airline_with(*words: str) -> Callable[[Path], list[str | Path]]:
    return lambda folder: ["diagnose", airline(folder), *words]


def missing_rollouts(folder: Path) -> list[str | Path]:
    out = diagnosed(folder)
    (folder / "airline.jsonl").unlink()
    return ["show", out, "0:0"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param(near_miss, 3, "did you mean", id="misspelt_file"),
        pytest.param(lambda folder: ["diagnose", folder / "*.jsonl"], 3, "no file matches", id="empty_glob"),
        pytest.param(empty, 3, "empty", id="empty_file"),
        pytest.param(folder_without_rollouts, 3, "no rollouts in this folder", id="folder_without_rollouts"),
        pytest.param(garbage, 3, "garbage.jsonl", id="garbage"),
        pytest.param(lambda _: ["diagnose", "-"], 3, "pipe rollouts into it", id="empty_standard_input"),
        pytest.param(airline_with("--task-field", "levl"), 2, "level", id="unknown_task_field"),
        pytest.param(airline_with("--slice", "levl"), 2, "level", id="unknown_slice"),
        pytest.param(airline_with("--group-by", "levl"), 2, "level", id="unknown_group"),
        pytest.param(airline_with("--cluster-field", "levl"), 2, "level", id="unknown_cluster"),
        pytest.param(airline_with("--success", "reward is 1"), 2, "for example 'reward >= 1.0'", id="bad_rule"),
        pytest.param(airline_with("--success", "levl == 1"), 2, "level", id="rule_about_an_unknown_field"),
        pytest.param(
            airline_with("--success", "reward == good"), 2, "reward is never a text; it is", id="rule_in_words"
        ),
        pytest.param(airline_with("--group-by", ","), 2, "names nothing", id="empty_group"),
        pytest.param(airline_with("--output-field", "levl"), 2, "in the field 'levl'", id="unknown_output"),
        pytest.param(lambda _: ["diagnose", "/dev/zero"], 3, "/dev/zero: is neither a file nor a pipe", id="device"),
        pytest.param(nothing_but_braces, 3, "none of their fields holds a single value", id="records_without_fields"),
        pytest.param(airline_with("--format", "gymn"), 2, "did you mean gym", id="unknown_format"),
        pytest.param(airline_with("--duplicates", "some"), 2, "'first', 'last', 'all', 'error'", id="bad_choice"),
        pytest.param(airline_with("--jobs", "0"), 2, "'--jobs'", id="no_jobs"),
        pytest.param(lambda _: ["diagnose"], 2, "INPUT", id="no_input"),
        pytest.param(lambda _: ["diagnos"], 2, "Did you mean 'diagnose'?", id="unknown_command"),
        pytest.param(lambda folder: ["show", folder, "0:0"], 3, "blade diagnose ROLLOUTS --out", id="not_a_diagnosis"),
        pytest.param(lambda folder: ["report", folder / "none"], 3, "blade diagnose ROLLOUTS --out", id="no_folder"),
        pytest.param(broken_list, 3, "run `blade diagnose` again", id="broken_list_of_runs"),
        pytest.param(missing_rollouts, 3, "airline.jsonl: no such file", id="rollouts_gone"),
    ],
)
def test_a_mistake_is_answered_with_one_sentence_and_its_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: Callable[[Path], list[str | Path]], code: int, said: str
) -> None:
    monkeypatch.chdir(tmp_path)

    found = blade(*words(tmp_path))

    assert (found.exit_code, found.stdout) == (code, "")
    assert said in found.stderr
    assert "Traceback" not in found.stderr


def test_errors_of_the_engine_are_one_line(tmp_path: Path) -> None:
    found = blade("diagnose", tmp_path / "none.jsonl", "--json")

    assert found.stderr == f"blade: {tmp_path / 'none.jsonl'}: no such file or directory.\n"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read and write everything")
def test_what_may_not_be_read_or_written_is_said(tmp_path: Path) -> None:
    source = airline(tmp_path)
    (tmp_path / "locked").mkdir(mode=0o500)
    unwritable = blade("diagnose", source, "--out", tmp_path / "locked" / "out")
    source.chmod(0o000)
    unreadable = blade("diagnose", source, "--out", tmp_path / "out")
    (tmp_path / "locked").chmod(0o000)
    closed = blade("diagnose", tmp_path / "locked", "--out", tmp_path / "out")

    assert [found.exit_code for found in (unwritable, unreadable, closed)] == [3, 3, 3]
    assert all("Permission denied" in found.stderr for found in (unwritable, unreadable, closed))


def test_a_file_where_the_folder_should_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")

    found = blade("diagnose", airline(tmp_path), "--out", tmp_path / "out")

    assert found.exit_code == 3
    assert found.stderr.startswith(f"blade: {tmp_path / 'out'}")


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        pytest.param(MemoryError(), 3, "blade: not enough memory; try --jobs 1, or one file at a time.\n", id="memory"),
        pytest.param(OSError(28, "No space left on device"), 3, "No space left on device.\n", id="disk_full"),
        pytest.param(OSError(30, "Read-only file system", "/out/x"), 3, "blade: /out/x: Read-only", id="read_only"),
        pytest.param(KeyboardInterrupt(), 130, "blade: interrupted.\n", id="interrupt"),
    ],
)
def test_what_the_machine_refuses_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, said: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(blade_pipeline, "diagnose", refuse)

    found = blade("diagnose", airline(tmp_path), "--out", tmp_path / "out")

    assert found.exit_code == code
    assert said in found.stderr and found.stderr.count("\n") == 1


def test_a_programming_error_is_not_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError  # as libraries do that derive their own errors from it

    monkeypatch.setattr(blade_pipeline, "diagnose", fail)

    with pytest.raises(OSError):
        blade("diagnose", airline(tmp_path), "--out", tmp_path / "out")


def test_a_reader_that_has_had_enough_is_no_error(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "r.jsonl", [rollout(0, 0, 0.0, output=[message("x" * 400_000)])])
    blade("diagnose", source, "--out", tmp_path / "out", "-q")
    command = [sys.executable, "-m", "blade", "show", str(tmp_path / "out"), "0:0", "--full"]

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        said = process.stderr.read()

    assert (process.returncode, said) == (0, b"")


@pytest.mark.parametrize("words", [["show", "1:1"], ["diff", "1:0", "1:1"], ["report"]], ids=lambda words: words[0])
def test_a_reader_that_never_read_is_no_error_either(tmp_path: Path, words: list[str]) -> None:
    out = diagnosed(tmp_path)
    reading, writing = os.pipe()
    os.close(reading)
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-m", "blade", words[0], str(out), *words[1:]]

    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, env=env)
    os.close(writing)

    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
def test_a_full_disk_under_the_output_is_one_sentence(tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-m", "blade", "show", str(diagnosed(tmp_path)), "1:1"]

    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=env)

    assert (done.returncode, done.stderr) == (3, b"blade: writing failed: No space left on device.\n")


def test_an_interrupt_ends_with_one_line_and_130(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "blade", "diagnose", "-", "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not (tmp_path / "out").exists():  # standard input is being read from here on
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)

    assert (process.returncode, said) == (130, b"blade: interrupted.\n")


def test_the_exit_code_of_a_process_is_the_same(tmp_path: Path) -> None:
    done = blade_process("diagnose", tmp_path / "none.jsonl")

    assert (done.returncode, done.stdout) == (3, b"")


def test_an_error_is_json_for_whom_asks_for_json(tmp_path: Path) -> None:
    found = blade_process("show", tmp_path / "none", "1:0", "--json")

    error = json.loads(found.stderr)["error"]
    assert (found.returncode, found.stdout, error["exit_code"]) == (3, b"", 3)
    assert "is not a folder; make a diagnosis" in error["message"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["show", "--nosuch"], "No such option: --nosuch", id="option_of_a_command"),
        pytest.param(["eval", "run"], "Missing option", id="option_that_is_missing"),
        pytest.param(["nosuch"], "No such command", id="command"),
        pytest.param(["--nosuch"], "No such option: --nosuch", id="option_of_the_front"),
    ],
)
def test_wrong_usage_is_json_as_well(words: list[str], message: str) -> None:
    found = blade_process(*words, "--json")

    error = json.loads(found.stderr)["error"]
    assert (found.returncode, found.stdout, error["exit_code"]) == (2, b"", 2)
    assert error["message"].startswith(message)


@pytest.mark.parametrize("api", ["chat", "messages"])
def test_without_an_sdk_the_extra_that_brings_it_is_named(api: str) -> None:
    code = (
        "import sys; sys.modules['openai'] = sys.modules['anthropic'] = None\n"
        "from blade.llm import connect\n"
        f"connect('m', base_url='http://127.0.0.1:1/v1', api='{api}')"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert "UsageError: asking a model needs the package" in found.stderr
    assert "pip install 'blade-diagnostics[llm]'" in found.stderr


def silent_pipe(folder: Path) -> str:
    os.mkfifo(folder / "pipe")
    return str(folder / "pipe")


@pytest.mark.parametrize("command", ["diagnose", "check", "redact"])
def test_a_device_is_refused_and_a_pipe_that_nobody_writes_to_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(inputs, "WAIT", 0.1)

    device, pipe = blade(command, "/dev/zero"), blade(command, silent_pipe(tmp_path))

    assert (device.exit_code, pipe.exit_code) == (3, 3)
    assert "/dev/zero: is neither a file nor a pipe" in device.stderr
    assert "nothing is written to this pipe" in pipe.stderr


def test_inputs_that_are_read_twice_are_no_pipes(tmp_path: Path) -> None:
    pipe = silent_pipe(tmp_path)

    found = blade("compare", pipe, pipe, "--out", tmp_path / "out")

    assert (found.exit_code, "cannot be read twice" in found.stderr) == (3, True)


def test_a_pipe_is_read_from_its_first_byte_however_late_that_comes(tmp_path: Path) -> None:
    pipe = silent_pipe(tmp_path)
    late = f"import time; time.sleep(0.3); f = open({pipe!r}, 'w'); time.sleep(0.3); f.write('All is well.')"

    with subprocess.Popen([sys.executable, "-c", late]):
        found = blade("redact", pipe)

    assert (found.exit_code, found.stdout) == (0, "All is well.")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        pytest.param(
            ["--reward-field=rating", "--where", "q != 9"],
            [
                "--reward-field=rating --where 'q != 9' --group-by judge",
                "--reward-field=rating --where '(q != 9) and judge == \"one\"'",
            ],
            id="options_are_kept",
        ),
        pytest.param(["--reward-field", "judge"], ["--reward-field judge --true-words one"], id="words"),
    ],
)
def test_what_to_type_instead_keeps_what_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: list[str], offered: list[str]
) -> None:
    rows = [{"task_id": q, "q": q, "judge": judge, "rating": q % 2} for q in range(6) for judge in ("one", "two")]
    path = tmp_path / "two judges.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    typed = ["diagnose", str(path), "--out", str(tmp_path / "out"), *typed]
    monkeypatch.setattr("sys.argv", ["blade", *typed])
    said = blade(*typed)
    assert said.exit_code == 2
    lines = [line.strip().partition("    #")[0] for line in said.stderr.splitlines()[1:]]
    start = f"blade diagnose '{path}' --out {tmp_path / 'out'} "
    assert lines[: len(offered)] == [start + line for line in offered]


def test_a_threshold_is_suggested_on_the_scale_of_the_scores(tmp_path: Path) -> None:
    path = tmp_path / "stars.jsonl"
    path.write_text("".join(json.dumps({"task_id": n, "score": 1 + n % 5}) + "\n" for n in range(10)))
    said = blade("diagnose", path, "--out", tmp_path / "out")
    assert "as in --success 'reward > 3'" in " ".join(said.stdout.split())
