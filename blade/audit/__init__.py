"""Is it true? Claims of a report, its own arithmetic, and what the rows say about them.

`markdown`, `figures`, `claims` and the modules of a report's own arithmetic use the standard library alone and import
nothing else of blade, so that a script can share them where nothing is installed.
"""
