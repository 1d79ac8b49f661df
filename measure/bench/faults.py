"""Does a run survive whatever a server and its surroundings do, with every rollout there once?

A loopback server answers wrongly in every way it knows, at random: errors, garbage, half a body, bytes that drip,
bodies too large or packed too well, answers without a reason. The run is ended again and again at random moments, by
SIGINT, SIGTERM, SIGHUP or SIGKILL, and resumed. At last the server behaves, and the run must finish with every rollout
once, no traceback, and no attempt of the model charged for what the server did.

Usage: python measure/bench/faults.py [--minutes M] [--seed N]     exit 1 when anything was found
"""

import argparse
import gzip
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve()
ROOT = HERE.parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "cli")]

from eval_runs import keys_of, make_checkout, rows_of, start, words_for  # noqa: E402
from loopback import Answer, Call, Cut, Drip, Drop, Garbage, Hang, Loopback, Packed, Say, Status, Wrong  # noqa: E402

BOMB = gzip.compress(b" " * (80 * 2**20), 1)
FAULTS: list[Answer] = [
    Status(429, retry_after="0.05"), Status(500), Status(503), Status(408), Cut(), Drop(), Garbage(), Garbage(b""),
    Garbage(b"[" * 100_000), Wrong([1]), Wrong({"choices": [{"message": {}}]}), Hang(5.0), Drip(0.02), Packed(BOMB),
    Packed(b"no gzip"), Packed(b"(\xb5/\xfd", "zstd"),
]  # fmt: skip
ENDINGS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]
TASKS, REPEATS = 12, 2


def solve(call: Call) -> Say:
    """The right answer to `What is n + 1?`."""
    asked = re.search(r"What is (\d+) \+ 1", call.words)
    return Say(f"The answer is {int(asked[1]) + 1}." if asked else "?")


class Server:
    """Answers right in a share of calls, wrongly in the others."""

    def __init__(self, rng: random.Random, faulty: float) -> None:
        self.rng, self.faulty = rng, faulty

    def __call__(self, call: Call) -> Answer:
        return self.rng.choice(FAULTS) if self.rng.random() < self.faulty else solve(call)


def one_run(rng: random.Random, folder: Path) -> list[str]:
    """What was wrong with one run, however often it was ended."""
    script = Server(rng, rng.choice([0.2, 0.5, 0.9]))
    output, wrong = folder / "out.jsonl", []
    with Loopback(script, keeps=False) as server:
        more = ["--resume", "--concurrency", "4", "--timeout", "1"]
        words = words_for(make_checkout(folder, tasks=TASKS), server.base_url, output, *more)
        for _ in range(rng.randrange(1, 4)):
            wrong += ended(words, rng)
        script.faulty = 0.0
        last = finished(words)
    if b"Traceback" in last.stderr or last.returncode not in (0, 1):
        wrong.append(f"the last sitting: exit {last.returncode}: {last.stderr.decode()[-800:]}")
    if keys_of(output) != [(task, repeat) for task in range(TASKS) for repeat in range(REPEATS)]:
        wrong.append(f"{len(rows_of(output))} rollouts for {TASKS * REPEATS}")
    failed = [row for row in rows_of(output) if row.get("reward") == 0.0 and not row.get("failure")]
    return [*wrong, *(f"the model is charged with a failure of the server: {str(row)[:300]}" for row in failed)]


def ended(words: list[str], rng: random.Random) -> list[str]:
    """Starts a sitting and ends it at some moment."""
    process = start(words)
    try:
        process.wait(rng.uniform(0.5, 5.0))
    except subprocess.TimeoutExpired:
        process.send_signal(rng.choice(ENDINGS))
    try:
        _, said = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return ["a signal did not end the run within a minute"]
    return [said.decode()[-800:]] if b"Traceback" in said else []


def finished(words: list[str]) -> subprocess.CompletedProcess[bytes]:
    """Sittings until nothing is left that may be tried again."""
    process = start(words)
    out, said = process.communicate(timeout=300)
    return subprocess.CompletedProcess(words, process.returncode, out, said)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    given = parser.parse_args()
    print(f"seed {given.seed}, {given.minutes:g} minutes", flush=True)
    rng, runs, wrong = random.Random(given.seed), 0, 0
    end = time.monotonic() + 60 * given.minutes
    while time.monotonic() < end:
        with tempfile.TemporaryDirectory() as folder:
            found = one_run(rng, Path(folder))
        runs += 1
        wrong += bool(found)
        for why in found:
            print(f"FOUND in run {runs}: {why}", flush=True)
    print(f"seed {given.seed}: {runs} runs, {wrong} with findings")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
