"""`blade eval …`: Make rollouts, and the files that stand beside them."""

from blade.cli import eval_aggregate, eval_prepare, eval_profile, eval_reverify, eval_run
from blade.cli.groups import make_group

group = make_group("Make rollouts, and the files that stand beside them.")
group.command("prepare", epilog=eval_prepare.EPILOG)(eval_prepare.prepare)
group.command("run", epilog=eval_run.EPILOG)(eval_run.run)
group.command("profile", epilog=eval_profile.EPILOG)(eval_profile.profile)
group.command("aggregate", epilog=eval_aggregate.EPILOG)(eval_aggregate.aggregate)
group.command("reverify", epilog=eval_reverify.EPILOG)(eval_reverify.reverify)
