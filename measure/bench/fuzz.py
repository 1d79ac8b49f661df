"""Does a damaged file ever crash a command, or change what it says without a word?

Rollouts of the shipped benchmarks and made-up rows in several layouts are mutated: bits flipped, pieces cut, doubled,
moved or replaced by hostile tokens, archives cut short anywhere. Each is diagnosed. A traceback is a finding; so is an
archive that lost rows without saying so, and a cache entry with a flipped bit that is believed. Findings are kept.

Usage: python measure/bench/fuzz.py [--minutes M] [--seed N] [--keep DIR]     exit 1 when anything was found
"""

import argparse
import gzip
import json
import os
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[2]), str(HERE.parents[2] / "tests")]

TOKENS = [
    b"{", b"}", b"[", b"]", b'"', b"\\", b"null", b"NaN", b"1e999", b"-0", b"\xff", b"\xed\xa0\x80", b"\0", b"\n",
    b"\xef\xbb\xbf", b"9" * 400, b"[" * 2000, b'"required": [[]]', b"\xe2\x80\xae", b"\xc2\x9b", b"true", b"{}",
]  # fmt: skip
LARGEST = 200_000

Mutation = Callable[[bytes, random.Random], bytes]


def flip(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 3, 30])):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def cut(data: bytes, rng: random.Random) -> bytes:
    first, last = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return data[:first] if rng.random() < 0.5 else data[:first] + data[last:]


def double(data: bytes, rng: random.Random) -> bytes:
    first, last = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    place = rng.randrange(len(data) + 1)
    return data[:place] + data[first:last] + data[place:]


def insert(data: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.choice(TOKENS) + data[place + rng.choice([0, 0, 1, 20]) :]


def swap_values(data: bytes, rng: random.Random) -> bytes:
    """Values of rows replaced by others' or by odd ones, so that the JSON stays JSON."""
    try:
        rows = [json.loads(line) for line in data.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return flip(data, rng)
    odd: list[Any] = [None, [], {}, "", 0, -1, 1e308, True, "\u202e", [[]], {"a": {"b": [1]}}, "x" * 5000]
    for row in rows:
        at = row
        while isinstance(at, dict | list) and at:
            key = rng.choice(list(at) if isinstance(at, dict) else range(len(at)))
            if rng.random() < 0.4 or not isinstance(at[key], dict | list):
                at[key] = rng.choice(odd)
                break
            at = at[key]
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


MUTATIONS: list[Mutation] = [flip, cut, double, insert, swap_values]


def seeds() -> list[bytes]:
    """Files to begin with: shipped rollouts of every environment, and small rows of common forms."""
    shipped = sorted((HERE.parents[2] / "benchmarks").glob("*/rollouts/*.jsonl*"))
    found = [head_of(path) for path in shipped]
    flat = [{"task_id": str(n // 2), "reward": n % 2, "model": "m", "output": f"answer {n}"} for n in range(20)]
    said = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    chat = [{"id": n, "score": n / 9, "messages": said} for n in range(10)]
    found += [b"".join(json.dumps(row).encode() + b"\n" for row in rows) for rows in (flat, chat)]
    return [*found, json.dumps(flat).encode(), json.dumps({"results": chat}, indent=1).encode()]


def head_of(path: Path) -> bytes:
    """Whole lines from the beginning of a file of rollouts."""
    from blade.rollouts.sources import open_stream

    with open_stream(path) as stream:
        return stream.read(LARGEST).rpartition(b"\n")[0] + b"\n"


class Trial:
    """Mutates and diagnoses, and keeps what was found."""

    def __init__(self, folder: Path, keep: Path, seed: int) -> None:
        self.folder, self.keep, self.rng = folder, keep, random.Random(seed)
        self.seeds = seeds()
        self.counts: Counter[str] = Counter()
        self.findings: list[str] = []

    def run(self) -> None:
        data = self.rng.choice(self.seeds)
        kind = self.rng.choices(["plain", "archive", "cache"], [8, 2, 1])[0]
        self.counts[kind] += 1
        {"plain": self.plain, "archive": self.archive, "cache": self.cache}[kind](data)

    def plain(self, data: bytes) -> None:
        for _ in range(self.rng.choice([1, 1, 2, 5])):
            data = self.rng.choice(MUTATIONS)(data or b" ", self.rng)[: 2 * LARGEST]
        self.diagnose("run.jsonl", data)

    def archive(self, data: bytes) -> None:
        """An archive cut short must say that there was more."""
        import zstandard

        name, packed = self.rng.choice(
            [("run.jsonl.gz", gzip.compress(data, 1)), ("run.jsonl.zst", zstandard.compress(data))]
        )
        packed = packed[: self.rng.randrange(4, len(packed))]
        code, said = self.diagnose(name, packed)
        if code == 0 and "ended before" not in said:
            self.found("an archive cut short lost rows in silence", name, packed)

    def cache(self, data: bytes) -> None:
        """A cache entry with a flipped bit must be no entry."""
        from blade.rollouts import cache

        path = self.folder / "cached.jsonl"
        path.write_bytes(data)
        for old in (cache.cache_dir() / "scans").glob("*.blade"):
            old.unlink()
        self.command(["diagnose", str(path), "--out", str(self.folder / "out"), "-q"])
        entries = list((cache.cache_dir() / "scans").glob("*.blade"))
        self.counts["cache entries"] += len(entries)
        for entry in entries:
            entry.write_bytes(flip(entry.read_bytes(), self.rng))
            if cache.load(entry) is not None:
                self.found("a damaged cache entry was believed", "entry.blade", entry.read_bytes())

    def diagnose(self, name: str, data: bytes) -> tuple[int, str]:
        path = self.folder / name
        path.write_bytes(data)
        code, said, error = self.command(
            ["diagnose", str(path), "--out", str(self.folder / "out"), "--no-cache", "--json"]
        )
        if error or code not in (0, 1, 2, 3):
            self.found(error or f"exit code {code}", name, data)
        return code, said

    def command(self, words: list[str]) -> tuple[int, str, str]:
        from typer.testing import CliRunner

        from blade.cli.main import app

        result = CliRunner().invoke(app, words)
        wrong = result.exception is not None and not isinstance(result.exception, SystemExit)
        told = "".join(traceback.format_exception(result.exception)[-3:]) if wrong and result.exception else ""
        return result.exit_code, result.output, told

    def found(self, why: str, name: str, data: bytes) -> None:
        place = self.keep / f"{len(self.findings):03d}_{name}"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        self.findings.append(why)
        print(f"FOUND {place}: {why.strip()}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--keep", type=Path, default=Path(".bench/fuzz"))
    given = parser.parse_args()
    print(f"seed {given.seed}, {given.minutes:g} minutes", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BLADE_CACHE_DIR"] = str(Path(folder) / "cache")
        trial = Trial(Path(folder), given.keep, given.seed)
        end = time.monotonic() + 60 * given.minutes
        while time.monotonic() < end:
            trial.run()
    files = trial.counts.total() - trial.counts["cache entries"]
    print(f"seed {given.seed}: {files} files {dict(trial.counts)}: {len(trial.findings)} findings")
    return 1 if trial.findings else 0


if __name__ == "__main__":
    raise SystemExit(main())
