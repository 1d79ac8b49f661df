"""`blade eval …`: Make rollouts, and the files that stand beside them."""

from blade.cli.groups import make_group

group = make_group("Make rollouts, and the files that stand beside them.")
