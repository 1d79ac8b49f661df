"""BLADE, the Benchmark Level Analysis and Diagnostics Engine."""

from blade._version import __version__

__all__ = ["__version__"]
