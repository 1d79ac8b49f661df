"""A skill drafted from rollouts: SKILL.md and a taxonomy that are valid at once and say what the file really holds.

What a draft cannot know, it asks: the author answers the questions and deletes them.
"""

from importlib import resources
from pathlib import Path

from blade.diagnosis.packs.load import TAXONOMY
from blade.errors import InputError, UsageError
from blade.rollouts import Run
from blade.skillkit.draft_taxonomy import Pattern, draft_patterns, draft_taxonomy, matched_fields
from blade.skillkit.fields import NAME
from blade.skillkit.frontmatter import SKILL_FILE
from blade.skillkit.survey import FieldSeen, Survey, survey

MOST_NAME = 48
"""A pack's name is shorter than a skill's may be."""


def new_skill(name: str, run: Run, out: Path, *, success: str | None = None) -> list[Path]:
    """Writes a new skill; returns its files.

    Raises:
        UsageError: the name is none, or there is such a skill already.
        InputError: the folder cannot be written to.
    """
    if not NAME.fullmatch(name) or not name[0].isalpha() or len(name) > MOST_NAME:
        raise UsageError(
            f"{name!r} is not a valid skill name: lowercase letters, digits and single hyphens, as in my-benchmark."
        )
    folder = out / name
    if folder.exists():
        raise UsageError(f"{folder}: is there already; choose another name, or remove it first.")
    found = survey(run, success=success)
    files = {folder / SKILL_FILE: draft_text(name, found, success), folder / TAXONOMY: draft_taxonomy(name, found)}
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror or error}.") from error
    return list(files)


def draft_text(name: str, found: Survey, success: str | None) -> str:
    """The text of SKILL.md."""
    coverage = found.analysis.coverage
    repeats = "one rollout each" if coverage.rollouts <= coverage.tasks else f"{coverage.rollouts} rollouts"
    template = resources.files("blade.skillkit").joinpath("templates", "new_skill.md").read_text(encoding="utf-8")
    return template.format(
        name=name,
        fields=" and ".join(matched_fields(found)[:2]),
        counted=f"{coverage.tasks} tasks, {repeats}",
        scored=scored(found, success),
        table="\n".join(field_line(field) for field in found.fields) or "| (none beside the reward) | | | |",
        options="".join(f" --slice {table.field}" for table in found.analysis.slices[:2] if " " not in table.field)
        + (f" --success '{success}'" if success else ""),
        patterns="\n".join(pattern_line(pattern) for pattern in draft_patterns(found)),
        cautions="\n".join(f"- {line}" for line in cautions(found)),
    )


def scored(found: Survey, success: str | None) -> str:
    """How success was told in the file."""
    if success:
        return f"A rollout counts as a success when `{success}`."
    if found.graded:
        return "Rewards are graded and no rule was given, so nothing is a success yet: state a rule with `--success`."
    return f"A rollout counts as a success when `{found.analysis.success.rule}`: every reward is 0 or 1."


def field_line(field: FieldSeen) -> str:
    whose = "task" if field.of_task else "attempt, or not known"
    return f"| `{field.name}` | {', '.join(field.kinds)} | {whose} | {field.example} |"


def pattern_line(pattern: Pattern) -> str:
    return f"| `{pattern.code}` | {pattern.title} | {pattern.cause or 'open'} | {pattern.seen} |"


def cautions(found: Survey) -> list[str]:
    """What this file alone cannot show."""
    coverage = found.analysis.coverage
    lines = []
    if coverage.rollouts <= coverage.tasks:
        lines.append(
            "One rollout per task: unreliable and missing knowledge look alike. Draft again from a run with repeats."
        )
    if coverage.tasks < 20:
        lines.append(
            f"Only {coverage.tasks} tasks: values that were not seen here will come. Draft again from a larger run."
        )
    if not found.clues:
        lines.append(
            "No field of the verifier tells failing from passing; patterns must come from reading trajectories."
        )
    for field, value, passing in found.misleading:
        lines.append(f"`{field}` is {value} on {passing} rollouts that passed: it is not a sign of failure.")
    if coverage.missing:
        lines.append(f"{coverage.missing} rollouts are missing from this file.")
    return lines or ["The draft knows this one file: hold it against a second run before you trust its patterns."]
