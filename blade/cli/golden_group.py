"""`blade golden …`: Make and guard golden reports."""

from blade.cli import golden_build, golden_calibrate, golden_check
from blade.cli.groups import make_group

group = make_group("Make and guard golden reports.")
group.command("build", epilog=golden_build.EPILOG)(golden_build.build)
group.command("check", epilog=golden_check.EPILOG)(golden_check.check)
group.command("calibrate", epilog=golden_calibrate.EPILOG)(golden_calibrate.calibrate)
