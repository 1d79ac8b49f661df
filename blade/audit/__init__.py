"""Is it true? Claims of a report, its own arithmetic, what the rows say, and what benchmark packages promise.

`markdown`, `figures`, `claims`, the modules of a report's own arithmetic and those that say so use the standard library
alone, so that `scripts/blade_toolkit.py` shares them where nothing is installed.
"""
