"""`blade eval …`: Make rollouts, and the files that stand beside them."""

from blade.cli import eval_run
from blade.cli.groups import make_group

group = make_group("Make rollouts, and the files that stand beside them.")
group.command("run", epilog=eval_run.EPILOG)(eval_run.run)
