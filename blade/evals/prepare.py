"""Making a benchmark's tasks again, and holding them to the frozen file and to the hash its config pins.

The script runs in a process of its own and writes into a folder that is thrown away: nothing in the checkout changes
unless the caller asks for it, and what the script prints never mixes with a result.
"""

import hashlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from blade.benchmarks import Benchmark
from blade.errors import InputError
from blade.evals.files import read_lines, write_whole

STDERR = 2
CHILD = """
import importlib.util, inspect, json, sys
from pathlib import Path
script, folder, answer = sys.argv[1:]
say = lambda **said: Path(answer).write_text(json.dumps(said), encoding="utf-8")
sys.path.insert(0, str(Path(script).parent))
try:
    spec = importlib.util.spec_from_file_location("prepare", script)
    module = importlib.util.module_from_spec(spec)
    sys.modules["prepare"] = module
    spec.loader.exec_module(module)
    prepare = getattr(module, "prepare", None)
    takes = inspect.signature(prepare).parameters.values() if callable(prepare) else ()
    if not any(one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD, one.VAR_POSITIONAL) for one in takes):
        say(error="has no prepare(output_dir), which a script that writes where it is told must have")
    else:
        say(path=str(prepare(Path(folder))))
except BaseException as error:
    lines = [f for f in __import__("traceback").extract_tb(error.__traceback__) if f.filename == script]
    place = f" in line {lines[-1].lineno}" if lines else ""
    say(error=f"failed{place}: {type(error).__name__}: {error}")
"""
"""Runs a script's `prepare` and says where the tasks are, or why there are none."""


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """What making a benchmark's tasks again showed."""

    benchmark: str
    """Its name."""
    data: Path
    """Where the frozen tasks are."""
    tasks: int
    """Tasks the script makes."""
    sha256: str
    """What they hash to."""
    frozen_sha256: str | None
    """What the frozen tasks hash to; None when there is no such file."""
    pinned_sha256: str | None
    """What the config says they hash to; None when it says nothing."""
    first_difference: str | None
    """Where made and frozen tasks part; None when they do not."""
    written: bool
    """Whether the frozen file was replaced."""

    @property
    def problems(self) -> list[str]:
        """What is not as it should be, in words; what was written is."""
        held = self.sha256 if self.written else self.frozen_sha256
        found: list[str] = []
        if held is None:
            found.append(f"there are no frozen tasks at {self.data}; --write puts these there")
        elif held != self.sha256:
            found.append(f"the frozen tasks are not those the script makes, from {self.first_difference}")
        if self.pinned_sha256 not in (None, self.sha256):
            whose = "the script has changed" if held == self.pinned_sha256 else "pin that if it is meant"
            found.append(f"the config pins sha256 {self.pinned_sha256}, the script makes {self.sha256}; {whose}")
        return found


def prepare(benchmark: Benchmark, *, write: bool = False) -> Prepared:
    """Makes a benchmark's tasks again and compares them.

    Args:
        write: Put what was made in the place of the frozen tasks.
    """
    data = benchmark.tasks
    with tempfile.TemporaryDirectory(prefix="blade-prepare-") as folder:
        made = run_script(benchmark, Path(folder))
        tasks = count_tasks(made, benchmark)
        fresh, frozen = digest(made), digest(data)
        written = write and fresh != frozen
        difference = None if fresh == frozen else where_they_part(made, data)
        if written:
            data.parent.mkdir(parents=True, exist_ok=True)
            write_whole(data, [made.read_bytes()])
    return Prepared(
        benchmark=benchmark.name,
        data=data,
        tasks=tasks,
        sha256=str(fresh),
        frozen_sha256=frozen,
        pinned_sha256=benchmark.sha256,
        first_difference=difference,
        written=written,
    )


def run_script(benchmark: Benchmark, folder: Path) -> Path:
    """The file of tasks that a benchmark's script makes in a folder."""
    script, answer, output = benchmark.prepare_script, folder / "answer.json", folder / "output"
    if not script.is_file():
        raise InputError(f"{script}: no such file; {benchmark.config.name} names it as prepare_script.")
    output.mkdir()
    # What the script imports is this package, and whatever its own checkout has beside it.
    paths = [str(Path(__file__).resolve().parents[2]), str(benchmark.root), *sys.path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(filter(None, paths)))}
    command = [sys.executable, "-B", "-c", CHILD, str(script), str(output), str(answer)]
    done = subprocess.run(command, cwd=benchmark.root, env=environment, stdin=subprocess.DEVNULL, stdout=STDERR)
    return made_by(script, answer, output, status=done.returncode)


def made_by(script: Path, answer: Path, output: Path, *, status: int) -> Path:
    """The file a script says it made, if it did."""
    if not answer.is_file():
        raise InputError(f"{script}: ended with status {status} before it made any tasks.")
    said = json.loads(answer.read_text(encoding="utf-8"))
    if "error" in said:
        raise InputError(f"{script}: {said['error']}.")
    made = Path(said["path"])
    if not made.resolve().is_relative_to(output.resolve()) or not made.is_file():
        raise InputError(
            f"{script}: prepare returned {said['path']}, which is not a file in the output_dir it was given."
        )
    return made


def count_tasks(made: Path, benchmark: Benchmark) -> int:
    """How many tasks a file holds; each is a JSON object on a line of its own."""
    count = 0
    for number, line in read_lines(made):
        try:
            msgspec.json.decode(line, type=dict[str, msgspec.Raw])
        except msgspec.MsgspecError as error:
            raise InputError(f"{benchmark.prepare_script}: line {number} it makes is not a task: {error}.") from error
        count += 1
    if not count:
        raise InputError(f"{benchmark.prepare_script}: made a file without tasks.")
    return count


def digest(path: Path) -> str | None:
    """What a file hashes to; None when there is none."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def where_they_part(made: Path, frozen: Path) -> str | None:
    """The first line in which two files differ, and which task it is."""
    if not frozen.is_file():
        return None
    with made.open("rb") as one, frozen.open("rb") as two:
        for number, (fresh, old) in enumerate(itertools.zip_longest(one, two), 1):
            if fresh != old:
                return f"line {number}{task_in(fresh or old)}"
    return None


def task_in(line: bytes) -> str:
    try:
        task = msgspec.json.decode(line, type=dict[str, msgspec.Raw]).get("task_id")
    except msgspec.MsgspecError:
        return ""
    return "" if task is None else f" (task {msgspec.json.decode(task)})"
