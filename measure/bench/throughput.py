"""Does the runner keep up with the bare SDK, and does its memory stay flat?

A loopback server in a process of its own answers every chat completion after 50 ms. Rounds alternate between two
clients at the same concurrency: the bare async SDK, workers that do nothing but `chat.completions.create`, and the
runner, which materializes inputs, asks over the same SDK, judges, syncs every row to disk and keeps count. Each round
is a fresh process, timed without the start of Python and what it imports. Both are bound by the processor and share it
with whatever else runs, so the two of a round follow each other closely and the median of the rounds' ratios counts;
processor time per rollout is printed beside it. Memory is the runner's peak with many tasks against that with few.

Usage: python measure/bench/throughput.py [--rollouts N] [--rounds N] [--concurrency N]     exit 1 on a miss
"""

import argparse
import asyncio
import contextlib
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[2]), str(HERE.parents[2] / "tests")]

LATENCY = 0.05
WANTED = 0.85
"""Share of the bare client's rate that the runner must reach."""
GROWTH = 1.10
"""Peak memory with ten times the tasks, as a multiple of that with few."""
QUESTION = "A train leaves at nine and arrives at noon. How many hours does it take? " * 8
"""A prompt of a usual length: about 600 characters."""


class Spent(NamedTuple):
    """What a round took."""

    seconds: float
    cpu: float


class Clock:
    """Starts when it is made."""

    def __init__(self) -> None:
        self.start = Spent(time.perf_counter(), time.process_time())

    def spent(self) -> Spent:
        return Spent(time.perf_counter() - self.start.seconds, time.process_time() - self.start.cpu)


def serve() -> None:
    """Answers until stdin closes."""
    from loopback import Loopback, Say

    with Loopback(lambda call: Say("Answer: 3", after=LATENCY), keeps=False) as server:
        print(server.base_url, flush=True)
        sys.stdin.read()


async def ask_bare(url: str, *, rollouts: int, concurrency: int) -> Spent:
    """Seconds the SDK alone needs for as many requests."""
    import openai

    client = openai.AsyncOpenAI(api_key="none", base_url=url, max_retries=0, timeout=600)
    left = iter(range(rollouts))

    async def worker() -> None:
        for number in left:
            await client.chat.completions.create(
                model="m",
                messages=[{"role": "user", "content": f"{QUESTION} ({number})"}],
                temperature=0.7,
                max_tokens=64,
                seed=number,
            )

    start = Clock()
    await asyncio.gather(*(worker() for _ in range(concurrency)))
    spent = start.spent()
    await client.close()
    return spent


def run_ours(url: str, *, rollouts: int, concurrency: int, folder: Path) -> Spent:
    """Seconds the runner needs, from tasks to rows and metrics on disk."""
    from blade.environments import load_environment
    from blade.evals.files import RunFiles
    from blade.evals.jobs import model_job
    from blade.evals.manifest import settings_of
    from blade.evals.plan import Plan
    from blade.evals.run import RunOptions, run_job
    from blade.llm import Sampling, connect

    data = folder / "tasks.jsonl"
    tasks = ({"question": f"{QUESTION} ({n})", "expected_answer": "3"} for n in range(rollouts))
    data.write_text("".join(json.dumps(task) + "\n" for task in tasks), encoding="utf-8")
    prompt = folder / "prompt.yaml"
    prompt.write_text('user: "{question}"', encoding="utf-8")
    plan = Plan(
        benchmark="bench",
        environment="numeric",
        agent="bench_agent",
        data=data,
        prompt=prompt,
        sampling=Sampling(temperature=0.7, max_output_tokens=64, seed=0),
    )
    model = connect("m", base_url=url, api="chat")
    settings = settings_of(plan, model="m", api="chat", skills=None)
    job = model_job(plan, model, load_environment("numeric"), settings=settings)
    start = Clock()
    result = run_job(job, RunFiles(folder / "out.jsonl"), options=RunOptions(concurrency=concurrency))
    spent = start.spent()
    if (result.progress.done, result.progress.pass_rate.value) != (rollouts, 1.0):
        raise SystemExit(f"the runner lost rollouts: {result.progress}")
    return spent


def measure(url: str, who: str, *, rollouts: int, concurrency: int) -> None:
    """One round in this process; prints rollouts per second, milliseconds of CPU for each, and peak memory in MB."""
    if who == "bare":
        spent = asyncio.run(ask_bare(url, rollouts=rollouts, concurrency=concurrency))
    else:
        with tempfile.TemporaryDirectory() as folder:
            spent = run_ours(url, rollouts=rollouts, concurrency=concurrency, folder=Path(folder))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"rate": rollouts / spent.seconds, "cpu": 1000 * spent.cpu / rollouts, "peak": peak}))


@contextlib.contextmanager
def server() -> Iterator[str]:
    """The address of a server that lives as long as the `with`."""
    command = [sys.executable, str(HERE), "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


def round_of(url: str, who: str, *, rollouts: int, concurrency: int) -> dict[str, Any]:
    """One round in a process of its own."""
    sizes = ["--rollouts", str(rollouts), "--concurrency", str(concurrency)]
    command = [sys.executable, str(HERE), "--measure", who, "--url", url, *sizes]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def compare(args: argparse.Namespace) -> int:
    """Plays the rounds and prints them side by side."""
    rounds: dict[str, list[dict[str, Any]]] = {"bare": [], "ours": []}
    with server() as url:
        for number in range(args.rounds):
            for who in ("bare", "ours") if number % 2 == 0 else ("ours", "bare"):
                rounds[who].append(round_of(url, who, rollouts=args.rollouts, concurrency=args.concurrency))
            print(
                f"round {number + 1}: {told('bare SDK', rounds['bare'][-1])}   {told('runner', rounds['ours'][-1])}",
                flush=True,
            )
        sizes = (args.rollouts // 2, args.rollouts * 5)
        few, many = (round_of(url, "ours", rollouts=n, concurrency=args.concurrency)["peak"] for n in sizes)
    ratio = statistics.median(
        ours["rate"] / bare["rate"] for ours, bare in zip(rounds["ours"], rounds["bare"], strict=True)
    )
    show("throughput, runner / bare SDK", ratio, f">= {WANTED:.2f}", ratio >= WANTED)
    growth = many / few
    what = f"memory, {sizes[1]} tasks ({many:.0f} MB) / {sizes[0]} ({few:.0f} MB)"
    show(what, growth, f"<= {GROWTH:.2f}", growth <= GROWTH)
    return 0 if ratio >= WANTED and growth <= GROWTH else 1


def told(who: str, found: dict[str, Any]) -> str:
    return f"{who} {found['rate']:5.0f}/s {found['cpu']:5.2f} ms of CPU each"


def show(what: str, ratio: float, wanted: str, is_met: bool) -> None:
    print(f"{what:<60} ratio {ratio:.2f}   wanted {wanted}   {'ok' if is_met else 'MISS'}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rollouts", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--concurrency", type=int, default=256)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--measure", choices=("bare", "ours"), help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve()
    elif args.measure:
        measure(args.url, args.measure, rollouts=args.rollouts, concurrency=args.concurrency)
    else:
        return compare(args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
