"""Is it true? Claims of a report, its own arithmetic and what the rows say.

`markdown`, `figures`, `mentions`, `verdicts` and `arithmetic` use the standard library alone, so that
`scripts/blade_toolkit.py` shares them where nothing is installed.
"""
