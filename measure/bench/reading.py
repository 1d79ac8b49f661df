"""Is reading as fast and as small as promised? Ours and every alternative on the same files, side by side in one run.

Two generated files of 300 MB are kept in `.bench/` at the top of the repository: `short` has rows of about 7 KB, `long`
of about 340 KB. What M, F and a profile are is said in `alternatives.py`, what ours does more in `ours.py`. Readers
take turns and the best of three rounds counts; each reads in a process of its own, after a small file to warm up, so
that none suffers from what another left in memory. All must find the same numbers. A profile by pandas takes long, so
all get the first 60 MB of short rows.

One process is judged by the processor time that it uses, of all its threads, user and system: other work on the machine
then changes little. Two processes are judged by the clock, and only where a second core was free.

Usage: python measure/bench/reading.py [--megabytes N] [--rounds N]     exit 1 when a target is missed
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

import alternatives
import generate
import ours
from timing import Spent, apart, has_free_core, timed

from blade.rollouts.reader import Reading, scan_file

FOLDER = Path(__file__).parents[2] / ".bench"
SHAPES = ("short", "long")
SLICE = 60_000_000
WARM_UP = 2_000_000
Reader = Callable[[Path], alternatives.Answer]


class Contest(NamedTuple):
    """Our reader against others on the same question."""

    name: str
    ours: Reader
    others: Mapping[str, tuple[Reader, float | None]]
    """Name of each alternative, and how many times faster ours has to be."""


CONTESTS = (
    Contest("M", ours.blade_m, {
        "duckdb": (alternatives.duckdb_m, 1.1), "polars": (alternatives.polars_m, 2.2),
        "orjson": (alternatives.orjson_m, 2.3), "stdlib json": (alternatives.stdlib_m, 5.0),
        "pandas": (alternatives.pandas_m, 40.0),
    }),
    Contest("F", ours.blade_f, {
        "duckdb": (alternatives.duckdb_f, 1.6), "polars": (alternatives.polars_f, 3.0),
        "orjson": (alternatives.orjson_f, 2.2),
    }),
)  # fmt: skip
PROFILE = Contest("profile", ours.blade_profile, {
    "pandas, task by task": (alternatives.pandas_profile, None),
    "pandas, the way Gym goes": (alternatives.gym_profile, 100.0),
})  # fmt: skip


class Line(NamedTuple):
    """One line of the table."""

    question: str
    approach: str
    figures: list[str]
    target: str
    ok: bool | None


def contest_lines(contest: Contest, files: dict[str, Path], rounds: int) -> Iterator[Line]:
    """Ours and every alternative, in GB/s and as how many times slower than ours they are."""
    readers = {"blade": contest.ours, **{name: reader for name, (reader, _) in contest.others.items()}}
    seconds = {shape: take_turns(readers, path, rounds) for shape, path in files.items()}
    for name in readers:
        figures, ratios = [], []
        for shape, path in files.items():
            ratios.append(seconds[shape][name] / seconds[shape]["blade"])
            rate = path.stat().st_size / 1e9 / seconds[shape][name]
            figures.append(f"{rate:7.3f} GB/s" + ("" if name == "blade" else f"  {ratios[-1]:6.1f}x"))
        target = contest.others[name][1] if name in contest.others else None
        yield Line(
            contest.name,
            name,
            figures,
            f">= {target}x" if target else "",
            None if target is None else min(ratios) >= target,
        )


def take_turns(readers: dict[str, Reader], path: Path, rounds: int) -> dict[str, float]:
    """The least processor time of each reader; all must agree on the answer."""
    best: dict[str, float] = {}
    answers: dict[str, alternatives.Answer] = {}
    for _ in range(rounds):
        for name, reader in readers.items():
            spent, answers[name] = apart(lambda reader=reader: warmed_up(reader, path))  # type: ignore[misc]
            best[name] = min(spent.processor, best.get(name, spent.processor))
    check_agreement(answers, path)
    return best


def check_agreement(answers: dict[str, alternatives.Answer], path: Path) -> None:
    for name, answer in answers.items():
        assert answer == answers["blade"], f"{name} found {answer}, blade {answers['blade']} in {path.name}"


def warmed_up(reader: Reader, path: Path) -> tuple[Spent, alternatives.Answer]:
    """Time and answer of a reader that has read before."""
    reader(sliced(path, WARM_UP))
    return timed(lambda: reader(path))


def jobs_line(files: dict[str, Path], rounds: int) -> Line:
    """Two processes against one, by the clock, in the rounds in which a second core was free all along."""
    gains = [jobs_gain(path, rounds) for path in files.values()]
    figures = ["no second core was free" if gain is None else f"{gain:7.2f}x of 1 job" for gain in gains]
    judged = [gain >= 1.6 for gain in gains if gain is not None]
    return Line("F", "blade, 2 jobs", figures, ">= 1.6x", all(judged) if judged else None)


def jobs_gain(path: Path, rounds: int) -> float | None:
    best: dict[int, float] = {}
    for _ in range(2 * rounds):
        free = has_free_core()
        clock = {jobs: clock_apart(path, jobs) for jobs in (1, 2)}
        if free and has_free_core():
            best = {jobs: min(clock[jobs], best.get(jobs, clock[jobs])) for jobs in clock}
    return best[1] / best[2] if best else None


def clock_apart(path: Path, jobs: int) -> float:
    return apart(lambda: warmed_up(lambda file: ours.blade_f(file, jobs=jobs), path))[0].clock


def memory_line(files: dict[str, Path], copies: int) -> Line:
    """Peak memory of a process that reads files, `copies` times as long, less the table it holds in the end."""
    figures, rest = [], []
    for path in files.values():
        with repeated(path, copies) as longer:
            out = subprocess.run(
                [sys.executable, ours.__file__, longer], capture_output=True, text=True, check=True
            ).stdout
        peak, table = map(float, out.split())
        rest.append(peak - table)
        figures.append(f"{peak:5.0f} MB, table {table:3.0f}")
    size = sum(path.stat().st_size for path in files.values()) * copies / len(files) / 1e6
    return Line("F", f"blade, {size:.0f} MB, peak memory", figures, "<= 200 MB + table", max(rest) <= 200)


class repeated:
    """A file with its content several times over, removed at the end."""

    def __init__(self, path: Path, copies: int) -> None:
        self.path, self.copies = path, copies
        self.longer = path.with_suffix(f".{copies}.jsonl")

    def __enter__(self) -> Path:
        with self.longer.open("wb") as out:
            for _ in range(self.copies):
                with self.path.open("rb") as file:
                    shutil.copyfileobj(file, out, 1 << 20)
        return self.longer

    def __exit__(self, *_: object) -> None:
        self.longer.unlink()


def cache_line(files: dict[str, Path]) -> Line:
    """A second look at an unchanged file, as a share of the first."""
    shares = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BLADE_CACHE_DIR"] = folder
        for path in files.values():
            first, *others = (timed(lambda path=path: scan_file(path, Reading()))[0].processor for _ in range(4))  # type: ignore[misc]
            shares.append(min(others) / first)
    return Line("F", "blade, second look", [f"{share:10.2%}" for share in shares], "<= 3%", max(shares) <= 0.03)


def help_line() -> Line:
    """Processor time until `blade --help` is there."""
    command = [sys.executable, "-m", "blade", "--help"]
    runs = [timed(lambda: subprocess.run(command, capture_output=True, check=True))[0] for _ in range(7)]
    seconds = min(run.processor for run in runs)
    return Line("", "blade --help", [f"{seconds:9.2f} s", ""], "<= 0.25 s", seconds <= 0.25)


def lines(files: dict[str, Path], rounds: int) -> Iterator[Line]:
    for contest in CONTESTS:
        yield from contest_lines(contest, files, rounds)
    yield from contest_lines(PROFILE, {"short": sliced(files["short"], SLICE)}, rounds)
    yield jobs_line(files, rounds)
    yield memory_line(files, 1)
    yield memory_line(files, 3)
    yield cache_line(files)
    yield help_line()


def prepared(shape: str, megabytes: int) -> Path:
    """The generated file of one shape, made once by each version of the generator."""
    FOLDER.mkdir(exist_ok=True)
    generator = zlib.crc32(Path(generate.__file__).read_bytes())
    path = FOLDER / f"{shape}-{megabytes}-{generator:08x}.jsonl"
    if not path.exists():
        generate.write(path.with_suffix(".part"), shape=shape, megabytes=megabytes).replace(path)
    return path


def sliced(path: Path, size: int) -> Path:
    """The first whole rows of a file, about `size` bytes of them."""
    head = FOLDER / f"{path.stem}-{size}.jsonl"
    if not head.exists():
        with path.open("rb") as file:
            data = file.read(size)
        head.write_bytes(data[: data.rfind(b"\n") + 1])
    return head


def show(line: Line) -> None:
    verdict = {None: "", True: "ok", False: "MISS"}[line.ok]
    cells = "".join(f"{figure:<26}" for figure in line.figures)
    print(f"{line.question:<15} {line.approach:<30} {cells} {line.target:<18} {verdict}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    files = {shape: prepared(shape, args.megabytes) for shape in SHAPES}
    print(", ".join(f"{name} {version(name)}" for name in ("msgspec", "duckdb", "polars", "orjson", "pandas")))
    show(Line("question", "approach", ["short rows", "long rows"], "target", None))
    missed = 0
    for line in lines(files, args.rounds):
        show(line)
        missed += line.ok is False
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main())
