"""`blade diagnose --follow` on files that really grow while it looks."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from blade_command import blade
from rollout_rows import message, rollout


def line(task: int) -> str:
    return json.dumps(rollout(task, 0, reward=float(task % 2), output=[message(f"{task}")])) + "\n"


def start(source: Path, out: Path, *more: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "blade", "diagnose", str(source), "--out", str(out), "--follow", *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def rollouts_in(out: Path) -> int:
    try:
        return int(json.loads((out / "analysis.json").read_bytes())["coverage"]["rollouts"])
    except FileNotFoundError:
        return 0


def wait_for(out: Path, rollouts: int) -> None:
    end = time.monotonic() + 60
    while rollouts_in(out) != rollouts:
        assert time.monotonic() < end, f"still {rollouts_in(out)} rollouts"
        time.sleep(0.1)


def test_a_growing_file_is_diagnosed_in_place_until_nothing_comes_any_more(tmp_path: Path) -> None:
    source, out = tmp_path / "run.jsonl", tmp_path / "out"
    process = start(source, out, "--until-idle", "3", "--json")  # which is not even there yet
    with source.open("w", encoding="utf-8") as file:
        for count in (4, 7):
            for task in range(rollouts_in(out), count):
                file.write(line(task))
            file.flush()
            wait_for(out, count)
        file.write(line(7)[:40])  # torn, and then whole
        file.flush()
        time.sleep(0.5)
        file.write(line(7)[40:])
    stdout, stderr = process.communicate(timeout=60)

    assert process.returncode == 0, stderr
    coverage = json.loads(stdout)["coverage"]
    assert (coverage["rollouts"], coverage["malformed"]) == (8, 0)
    assert "run: 7 rollouts of 7 tasks, pass_at_1" in stderr
    again = tmp_path / "again"
    assert blade("diagnose", source, "--out", again, "--no-cache", "-q").exit_code == 0
    assert (again / "report.md").read_bytes() == (out / "report.md").read_bytes()


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_ctrl_c_ends_it_and_waiting_costs_next_to_nothing(tmp_path: Path) -> None:
    source, out = tmp_path / "run.jsonl", tmp_path / "out"
    source.write_text("".join(map(line, range(4))), encoding="utf-8")
    process = start(source, out, "-q")
    wait_for(out, 4)
    time.sleep(1.0)
    before = cpu_seconds(process.pid)
    time.sleep(2.0)
    spent = cpu_seconds(process.pid) - before
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)

    assert (process.returncode, stderr) == (0, "blade: no longer followed\n")
    assert spent < 0.5
    assert rollouts_in(out) == 4


def cpu_seconds(process: int) -> float:
    """User and system time so far (proc(5))."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_what_cannot_be_followed_is_said(tmp_path: Path) -> None:
    for words, said in [
        (["diagnose", "-", "--follow"], "standard input and pipes cannot be read again"),
        (["diagnose", "x.jsonl", "--until-idle", "3"], "--until-idle is only used with --follow"),
    ]:
        found = blade(*words, "--out", tmp_path / "out")
        assert (found.exit_code, said in found.stderr) == (2, True)
    found = blade("diagnose", tmp_path / "never.jsonl", "--follow", "--until-idle", "0.1", "--out", tmp_path / "out")
    assert found.exit_code == 3 and found.stderr.count("no such file") == 1
