"""Our own answers to the questions of `alternatives`, and what they cost in memory.

They are the scans every command makes, with and without trajectories: the schema is found out, every scalar field is
kept and not only those that are asked for, bad lines and their offsets are noted, and F looks for everything the
diagnosis uses (loops, tool errors, refusals, lost sandboxes, ...). Left out is what follows a scan: finding out what
identifies a task, doubled rows, sidecars.

Run as a script it reads one file and prints its peak memory and the size of the table, both in MB:
python measure/bench/ours.py FILE
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[2]))

from blade.rollouts.features import FACTS
from blade.rollouts.reader import Reading, scan_file
from blade.rollouts.scan import Scan

if TYPE_CHECKING:
    from alternatives import Answer

NUMBERS = (
    "reward", "is_correct", "num_turns", "similarity", "agent_run_time", "verifier_metadata.level",
    "response.usage.input_tokens", "response.usage.output_tokens", "response.usage.total_tokens",
)  # fmt: skip


def blade_m(path: Path) -> "Answer":
    from alternatives import pass_rates

    scan = scan_file(path, Reading(features=False), use_cache=False).scan
    return pass_rates(scan.columns["_ng_task_index"].values, scan.columns["reward"].values)


def blade_f(path: Path, jobs: int = 1) -> "Answer":
    from alternatives import pass_rates

    scan = scan_file(path, Reading(), jobs=jobs, use_cache=False).scan
    facts = dict(zip(FACTS, scan.facts.sum(axis=0).tolist(), strict=True))
    names = {"messages": "messages", "calls": "tool_calls", "reasoning": "reasoning", "results": "tool_results"}
    counts = {name: facts[fact] for name, fact in names.items()}
    return pass_rates(scan.columns["_ng_task_index"].values, scan.columns["reward"].values) | counts


def blade_profile(path: Path) -> "Answer":
    """Mean, largest, smallest, median and deviation of every number of every task."""
    from alternatives import profile_answer

    columns = scan_file(path, Reading(features=False), use_cache=False).scan.columns
    profile = statistics(columns["_ng_task_index"].values, np.stack([columns[name].numbers() for name in NUMBERS]))
    medians = profile[3, NUMBERS.index("similarity")]
    return profile_answer(medians, len(medians))


def statistics(task: npt.NDArray[np.float64], values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Five statistics of every field of every task; fields are the rows of `values`."""
    _, group, count = np.unique(task, return_inverse=True, return_counts=True)
    order = np.argsort(group, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
    table = np.full((len(values), len(count), count.max()), np.inf)  # behind what a task has
    table[:, group, place] = values
    table.sort(axis=2)
    tasks = np.arange(len(count))
    middle = (table[:, tasks, (count - 1) // 2] + table[:, tasks, count // 2]) / 2
    known = np.arange(count.max()) < count[:, None]
    mean = np.where(known, table, 0).sum(axis=2) / count
    squares = np.where(known, table - mean[:, :, None], 0) ** 2
    deviation = np.sqrt(squares.sum(axis=2) / np.maximum(count - 1, 1))
    return np.stack([mean, table[:, tasks, count - 1], table[:, :, 0], middle, deviation])


def table_bytes(scan: Scan) -> int:
    """Memory of the narrow table."""
    arrays: list[npt.NDArray[Any]] = [scan.line, scan.offset, scan.length, scan.facts]
    columns = sum(column.values.nbytes + sum(map(sys.getsizeof, column.levels)) for column in scan.columns.values())
    return sum(array.nbytes for array in arrays) + columns


def peak_memory() -> int:
    """Bytes of the largest memory of this process. `getrusage` would include what its parent had when it forked."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


if __name__ == "__main__":
    size = table_bytes(scan_file(Path(sys.argv[1]), Reading(), use_cache=False).scan)
    print(peak_memory() / 1e6, size / 1e6)
