"""`blade golden …`: Make and guard golden reports."""

from blade.cli.groups import make_group

group = make_group("Make and guard golden reports.")
