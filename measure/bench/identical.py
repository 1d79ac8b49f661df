"""Does a diagnosis depend on how its work was divided? One process, two and a Ray cluster, compared byte for byte.

Ranges are made small, so that ordinary files have many. Every source below the folders given is diagnosed on its own,
and all sources of a folder together; what is refused must be refused in the same words.

Usage: python measure/bench/identical.py DIR... [--without-ray]     exit 1 when anything differs
"""

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from blade.cli.pipeline import diagnose_into
from blade.diagnosis import AnalyzeOptions
from blade.engine import Local, use
from blade.errors import BladeError
from blade.rollouts import ReadOptions, ranges, runs, table
from blade.rollouts.finding import find_inputs

SMALL = 1 << 14
"""Bytes of a range."""


def diagnosed(inputs: Sequence[str], engine: Any) -> dict[str, bytes]:
    """Everything a diagnosis writes but what is about this machine; or why there is none."""
    with tempfile.TemporaryDirectory() as folder, use(engine):
        out = Path(folder) / "out"
        try:
            read = ReadOptions(jobs=engine.workers, use_cache=False)
            diagnose_into(out, inputs, read=read, options=AnalyzeOptions())
        except BladeError as error:
            return {"refused": str(error).encode()}
        files = (path for path in out.rglob("*") if path.is_file() and ".blade" not in path.parts)
        return {str(path.relative_to(out)): path.read_bytes() for path in files}


def cases(folders: Sequence[str]) -> Iterator[list[str]]:
    """Each source, and each folder's sources together."""
    for folder in folders:
        for place in sorted({Path(folder), *(path for path in Path(folder).rglob("*") if path.is_dir())}):
            with contextlib.suppress(BladeError):
                sources = [str(path) for path in find_inputs([str(place)])]
                direct = [source for source in sources if Path(source).parent == place]
                yield from ([source] for source in direct)
                if len(sources) > 1:
                    yield [str(place)]


@contextlib.contextmanager
def engines(*, with_ray: bool) -> Iterator[dict[str, Any]]:
    """Who does the work."""
    found: dict[str, Any] = {"one": Local(1), "two": Local(2)}
    if not with_ray:
        yield found
        return
    from ray.cluster_utils import Cluster as Nodes

    from blade.engine.cluster import joined

    nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": 1})
    nodes.add_node(num_cpus=1)
    with joined(nodes.address) as cluster:
        yield {**found, "ray": cluster}
    nodes.shutdown()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="DIR")
    parser.add_argument("--without-ray", action="store_true", help="compare one process with two only")
    args = parser.parse_args()
    ranges.MIN_RANGE = SMALL
    ranges.LARGE_RANGE = 4 * SMALL
    runs.MANY_FILES = 2
    table.PIECE = SMALL
    tried = different = refused = 0
    with engines(with_ray=not args.without_ray) as workers:
        for inputs in cases(args.folders):
            first, *others = [(name, diagnosed(inputs, engine)) for name, engine in workers.items()]
            tried += 1
            refused += "refused" in first[1]
            for name, found in others:
                wrong = [file for file in {**first[1], **found} if first[1].get(file) != found.get(file)]
                different += bool(wrong)
                if wrong:
                    print(f"{inputs[0]}: {first[0]} and {name} differ in {', '.join(sorted(wrong))}", flush=True)
    print(f"{tried} inputs, {refused} of them refused; {different} differences among {', '.join(workers)}")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
