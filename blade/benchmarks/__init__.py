"""What is a benchmark: its config with everything laid over each other, and the catalog of a checkout."""

from blade.benchmarks.benchmark import Benchmark
from blade.benchmarks.catalog import Catalog, find_benchmark, find_root, read_catalog
from blade.benchmarks.nodes import ConfigError

__all__ = ["Benchmark", "Catalog", "ConfigError", "find_benchmark", "find_root", "read_catalog"]
