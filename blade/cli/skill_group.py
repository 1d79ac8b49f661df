"""`blade skill …`: Check, install and try Agent Skills."""

from blade.cli.groups import make_group

group = make_group("Check, install and try Agent Skills.")
