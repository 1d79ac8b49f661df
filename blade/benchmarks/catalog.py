"""What benchmarks a checkout has: every YAML file below `benchmarks/` that holds a dataset of type `benchmark`.

Files that only include others are suites, not benchmarks, but what they include must exist all the same. One broken
file never hides the rest: it becomes a problem, said once at the line that causes it.
"""

import difflib
from pathlib import Path

import msgspec

from blade.benchmarks.benchmark import BENCHMARKS, Benchmark, benchmark_name, make_benchmark, read_benchmark
from blade.benchmarks.config import load_config
from blade.benchmarks.includes import BESIDE_PACKAGE, Root, find_layers
from blade.benchmarks.nodes import ConfigError, Node
from blade.errors import InputError, Problem, UsageError

MANIFEST = "manifest.yaml"
"""What newer checkouts write beside a config about its version, licence and authors."""


class Catalog(msgspec.Struct, frozen=True, kw_only=True):
    """The benchmarks of a checkout."""

    root: Path
    """The checkout."""
    benchmarks: list[Benchmark]
    """By name."""
    problems: list[Problem]
    """What keeps others from being listed or run."""


def find_root(root: Path | None = None) -> Path:
    """The checkout that is meant: the one given, else the nearest folder upwards, else the one the package is in."""
    if root is not None:
        if not (root / BENCHMARKS).is_dir():
            raise InputError(f"{root}: has no folder named {BENCHMARKS}; --root takes the folder that holds it.")
        return root.resolve()
    here = Path.cwd()
    found = next((place for place in (here, *here.parents, BESIDE_PACKAGE) if (place / BENCHMARKS).is_dir()), None)
    if found is None:
        raise InputError(f"no folder named {BENCHMARKS} here or above; name the checkout that holds it with --root.")
    return found


def read_catalog(root: Path | None = None) -> Catalog:
    """Every benchmark of a checkout, and every problem that hides one."""
    place = Root(find_root(root))
    benchmarks: list[Benchmark] = []
    problems: list[Problem] = []
    for path in config_files(place.folder):
        try:
            if declares_benchmark(place, path):
                config = load_config(place, path)
                problems += config.problems
                benchmarks.append(make_benchmark(place, config))
            else:
                problems += broken_includes(place, path)
        except ConfigError as error:
            broken = broken_includes(place, path)
            problems += broken or [as_problem(error)]
            benchmarks += what_is_known(place, path) if broken else []
    benchmarks.sort(key=lambda one: one.name)
    return Catalog(root=place.folder, benchmarks=benchmarks, problems=list(dict.fromkeys(problems)))


def what_is_known(place: Root, path: Path) -> list[Benchmark]:
    """A benchmark as far as its own file and those it includes that are there tell it, if that is far enough."""
    try:
        return [make_benchmark(place, load_config(place, path, whole=False), whole=False)]
    except ConfigError:
        return []


def broken_includes(place: Root, path: Path) -> list[Problem]:
    """What keeps a file's includes from being followed, its own content aside."""
    try:
        return find_layers(place, path).problems
    except ConfigError:
        return []


def find_benchmark(name: str, root: Path | None = None) -> Benchmark:
    """The benchmark of that name."""
    place = Root(find_root(root))
    wanted = name.strip("/").removeprefix(f"{BENCHMARKS}/").removesuffix(".yaml").removesuffix("/config")
    paths = {benchmark_name(place.folder, path): path for path in config_files(place.folder)}
    path = paths.get(wanted) or paths.get(f"{wanted}/config")
    if path is None:
        raise UsageError(f"there is no benchmark '{name}' in {place.folder}{suggestion(name, place, paths)}")
    return read_benchmark(place, path)


def config_files(root: Path) -> list[Path]:
    """YAML files that may declare a benchmark, in name order; hidden ones are nobody's, manifests repeat a config."""
    found = (p for p in (root / BENCHMARKS).rglob("*.yaml") if p.name != MANIFEST and p.is_file())
    return sorted(p for p in found if not any(x.startswith(".") for x in p.relative_to(root).parts))


def holds_benchmark(node: Node) -> bool:
    """Whether a mapping with `type: benchmark` stands anywhere in a document."""
    if isinstance(node.value, list):
        return any(holds_benchmark(child) for child in node.value)
    if not isinstance(node.value, dict):
        return False
    of_type = node.get("type")
    return (of_type is not None and of_type.value == "benchmark") or any(map(holds_benchmark, node.value.values()))


def suggestion(name: str, place: Root, paths: dict[str, Path]) -> str:
    """A close name, or how to see them all."""
    names = [known for known, path in paths.items() if declares_benchmark(place, path)]
    folded = {known.replace("-", "_").lower(): known for known in names}
    close = difflib.get_close_matches(name.replace("-", "_").lower(), folded, n=1)
    return f"; did you mean '{folded[close[0]]}'?" if close else "; `blade list benchmarks` shows those there are."


def declares_benchmark(place: Root, path: Path) -> bool:
    """Whether a file declares a benchmark; one that cannot be read may well do so."""
    try:
        return holds_benchmark(place.document(path))
    except ConfigError:
        return True


def as_problem(error: ConfigError) -> Problem:
    """An error that names its place, as a finding."""
    where, _, message = str(error).partition(": ")
    return Problem(where=where, message=message.rstrip("."))
