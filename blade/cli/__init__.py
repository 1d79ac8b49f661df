"""The `blade` command: one file per command, each of which parses, calls the core, renders and exits.

Modules that declare commands import nothing but typer, so that `blade --help` is quick; what a command needs it
imports when it runs.
"""
