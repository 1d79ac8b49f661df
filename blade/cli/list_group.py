"""`blade list …`: Show what there is."""

from blade.cli import list_benchmarks, list_formats, list_skills
from blade.cli.groups import make_group

group = make_group("Show what there is.")
group.command("benchmarks", epilog=list_benchmarks.EPILOG)(list_benchmarks.benchmarks)
group.command("formats", epilog=list_formats.EPILOG)(list_formats.formats)
group.command("skills", epilog=list_skills.EPILOG)(list_skills.skills)
