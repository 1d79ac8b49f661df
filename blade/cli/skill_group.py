"""`blade skill …`: Check, install and try Agent Skills."""

from blade.cli import skill_eval, skill_install, skill_new, skill_validate
from blade.cli.groups import make_group

group = make_group("Check, install and try Agent Skills.")
group.command("validate", epilog=skill_validate.EPILOG)(skill_validate.validate)
group.command("install", epilog=skill_install.EPILOG)(skill_install.install)
group.command("eval", epilog=skill_eval.EPILOG)(skill_eval.evaluate)
group.command("new", epilog=skill_new.EPILOG)(skill_new.new)
