"""What does a Ray cluster cost and gain? Reading one file with a cluster of one and of two workers, and without any.

Reading is what is divided: every row is decoded and noted wherever a worker is, and the pieces are merged in a tree.
The time to join a cluster is told on its own, since a cluster is joined once. The best of some rounds counts.

Usage: python measure/bench/on_ray.py [--rows N] [--rounds N]     exit 1 when scaling or overhead misses its target
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from diagnose import Line, prepared

from blade.diagnosis import AnalyzeOptions, with_named_fields
from blade.engine import Local, use
from blade.engine.cluster import joined
from blade.rollouts import ReadOptions, read_runs


def best(rounds: int, action: Callable[[], None]) -> float:
    """Seconds of the fastest round."""
    found = []
    for _ in range(rounds):
        begin = time.perf_counter()
        action()
        found.append(time.perf_counter() - begin)
    return min(found)


def main() -> int:
    from ray.cluster_utils import Cluster as Nodes

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    path = prepared("short", args.rows)
    read = with_named_fields(ReadOptions(use_cache=False), AnalyzeOptions())

    def reading() -> None:
        read_runs([str(path)], read)

    taken: dict[str, float] = {}
    for workers in (1, 2):
        with use(Local(workers)):
            taken[f"plain {workers}"] = best(args.rounds, reading)
    nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": 1})
    for workers in (1, 2):
        if workers == 2:
            nodes.add_node(num_cpus=1)
        begin = time.perf_counter()
        with joined(nodes.address) as cluster, use(cluster):
            taken[f"joining {workers}"] = time.perf_counter() - begin
            reading()  # the first look starts the workers
            taken[f"ray {workers}"] = best(args.rounds, reading)
    nodes.shutdown()
    size = path.stat().st_size / 1e6
    print(f"{args.rows:,} rows, {size:,.0f} MB; seconds:", {name: round(value, 2) for name, value in taken.items()})
    found = [
        Line("Ray, one worker / plain, one process", taken["ray 1"] / taken["plain 1"], 1.3, "x"),
        Line("Ray, two workers / one", taken["ray 2"] / taken["ray 1"], 0.65, "x"),
        Line("Ray, two workers / plain, two processes", taken["ray 2"] / taken["plain 2"], 1.3, "x"),
    ]
    print(*found, sep="\n")
    return int(any(line.measured > line.wanted for line in found))


if __name__ == "__main__":
    sys.exit(main())
