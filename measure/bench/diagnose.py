"""How long does a user wait? The whole of `blade diagnose` beside a plain loop of `orjson.loads` over the same lines.

Rows of three shapes are made by `generate.py` and kept in `.bench/`: tiny ones, 7 KB and 35 KB. The loop has one core;
`blade diagnose` may use all it finds, starts an interpreter, writes every file of a diagnosis and uses no cache, except
for the second look. Each runs in a process of its own; the best of three rounds counts.

Usage: python measure/bench/diagnose.py [--rows N] [--rounds N] [--shape S]     exit 1 when a target is missed
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

import generate
from timing import apart

FOLDER = Path(__file__).parents[2] / ".bench"
BLADE = Path(sys.executable).with_name("blade")
GROWTH = 4
ROWS = {"tiny": 200_000, "short": 12_000, "medium": 5_000}
"""Rows of each shape at first; the growth is measured from there."""
MILLION = 1_000_000


class Took(NamedTuple):
    """One run of something."""

    seconds: float
    megabytes: float
    """Largest resident memory of any of its processes."""


class Line(NamedTuple):
    """One promise and what was measured."""

    what: str
    measured: float
    wanted: float
    unit: str

    def __str__(self) -> str:
        sign = "met   " if self.measured <= self.wanted else "MISSED"
        return f"{sign} {self.what:62} {self.measured:8.2f} {self.unit:2}  at most {self.wanted:g} {self.unit}"


def prepared(shape: str, rows: int) -> Path:
    """A file of so many rows of a shape."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"diagnose-{shape}-{rows}.jsonl"
    if not path.exists():
        draft = path.with_suffix(".tmp")
        with draft.open("wb") as out:
            for line, _ in zip(tiny_rows() if shape == "tiny" else generate.rows(shape, 0), range(rows), strict=False):
                out.write(line)
        draft.replace(path)
    return path


def tiny_rows() -> Iterator[bytes]:
    number = 0
    while True:
        task, trial = divmod(number, 4)
        row = {"task_id": f"task-{task}", "trial": trial, "score": (task * 7 + trial * 3) % 5 < 2, "kind": task % 6}
        yield json.dumps(row).encode() + b"\n"
        number += 1


def loop(path: Path) -> Took:
    """Decodes every line with orjson and does nothing else."""
    import orjson

    begin = time.perf_counter()
    with path.open("rb") as file:
        for line in file:
            orjson.loads(line)
    return Took(time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def diagnose(path: Path, *, cache: Path | None = None) -> Took:
    """Runs the command as a user does."""
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        words = [str(BLADE), "diagnose", str(path), "--out", f"{folder}/out", "--quiet"]
        # Installed packages have bytecode; where Python was told to write none, every start compiles all of BLADE.
        bytecode = {"PYTHONPYCACHEPREFIX": str(FOLDER / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}
        environment = {**os.environ, **bytecode, "BLADE_CACHE_DIR": str(cache or folder)}
        begin = time.perf_counter()
        subprocess.run([*words, *([] if cache else ["--no-cache"])], check=True, env=environment)
        seconds = time.perf_counter() - begin
    return Took(seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)


def best(rounds: int, action: Callable[..., Took], *args: object, **named: object) -> Took:
    """The fastest of some rounds, and the most memory of any."""
    found = [apart(lambda: action(*args, **named)) for _ in range(rounds)]
    return Took(min(took.seconds for took in found), max(took.megabytes for took in found))


def lines(shape: str, rows: int, rounds: int) -> Iterator[Line]:
    """Everything that is promised about one shape."""
    few, many = prepared(shape, rows), prepared(shape, rows * GROWTH)
    plain, small, large = best(rounds, loop, few), best(rounds, diagnose, few), best(rounds, diagnose, many)
    size = few.stat().st_size / 1e6
    print(
        f"\n{shape}: {rows:,} rows, {size:,.0f} MB; orjson {plain.seconds:.2f} s, blade {small.seconds:.2f} s",
        flush=True,
    )
    print(f"  {rows * GROWTH:,} rows: blade {large.seconds:.2f} s, {large.megabytes:,.0f} MB", flush=True)
    base = best(rounds, loop, many)
    yield Line(f"{shape}: diagnose / orjson loop, {rows * GROWTH:,} rows", large.seconds / base.seconds, 1.0, "x")
    yield Line(f"{shape}: growth for {GROWTH}x the rows", large.seconds / small.seconds, 4.2, "x")
    yield Line(f"{shape}: resident memory", large.megabytes, 400, "MB")
    with tempfile.TemporaryDirectory(dir=FOLDER) as cache:
        first = apart(lambda: diagnose(many, cache=Path(cache)))
        second = best(rounds, diagnose, many, cache=Path(cache))
    yield Line(f"{shape}: second look / first", 100 * second.seconds / first.seconds, 5, "%")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--shape", choices=list(ROWS), action="append")
    parser.add_argument("--rows", type=int, help="rows of each shape in place of the usual number")
    parser.add_argument("--million", action="store_true", help="also measure memory on a million tiny rows")
    args = parser.parse_args()
    found = [line for shape in args.shape or ROWS for line in lines(shape, args.rows or ROWS[shape], args.rounds)]
    if args.million:
        took = best(1, diagnose, prepared("tiny", MILLION))
        print(f"a million tiny rows: {took.seconds:.1f} s")
        found.append(Line("a million tiny rows: resident memory", took.megabytes, 400, "MB"))
    print()
    print(*found, sep="\n")
    return int(any(line.measured > line.wanted for line in found))


if __name__ == "__main__":
    sys.exit(main())
