"""`blade list …`: Show what there is."""

from blade.cli.groups import make_group

group = make_group("Show what there is.")
