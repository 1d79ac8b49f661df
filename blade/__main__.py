"""`python -m blade` is the `blade` command."""

from blade.cli.main import main

main()
