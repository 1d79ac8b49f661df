"""A skill drafted from rollouts: SKILL.md and a taxonomy that are valid at once and say what the file really holds.

What a draft cannot know, it asks: the author answers the questions and deletes them.

A draft blames nobody it has not caught: only what any benchmark's rollouts can show (cut off, refused, no tool called)
carries a cause. What the verifier's own fields say is left open, for the author to decide.
"""

import json
import re
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from blade.diagnosis.analysis import Signal
from blade.diagnosis.packs.load import TAXONOMY
from blade.errors import InputError, UsageError
from blade.rollouts import Run
from blade.skillkit.fields import NAME
from blade.skillkit.skill import SKILL_FILE
from blade.skillkit.survey import Clue, FieldSeen, Survey, sounds_like_verdict, survey

MOST_MATCHED = 4


class Pattern(NamedTuple):
    """A pattern before it is written down."""

    code: str
    title: str
    when: dict[str, Any]
    intervention: str
    seen: str
    """How often it was seen, for a comment."""
    cause: str | None = None


GENERAL = {
    "empty_output": Pattern("no_output", "", {"fact": "output_items", "equals": 0}, "environment", "", "IR"),
    "truncated": Pattern("cut_off", "", {"status": "truncated"}, "agent_loop", "", "BI"),
    "refusal": Pattern("refused", "", {"fact": "refused", "is_true": True}, "prompt", "", "BI"),
    "no_tool_call": Pattern("no_tool_called", "", {"fact": "tool_calls", "equals": 0}, "prompt", "", "BI"),
    "repeated_tool_call": Pattern("repeated_call", "", {"fact": "looped_calls", "at_least": 3}, "agent_loop", "", "BI"),
    "ignored_tool_error": Pattern(
        "stopped_at_error", "", {"fact": "ended_on_error", "is_true": True}, "agent_loop", "", "BI"
    ),
}


def draft_taxonomy(name: str, found: Survey) -> str:
    """The text of `assets/taxonomy.yaml`."""
    sections = [
        *[f"name: {name}", f"title: {flow(f'{name}, drafted from rollouts')}"],
        f"description: {flow(described(found))}",
        'version: "0.1"',
        "matches:",
        f"  - all_fields: {flow(matched_fields(found))}",
        *([f"slices: {flow(slices(found))}"] if slices(found) else []),
        "stages:",
        *stage_lines(found),
        "patterns:",
        *(line for pattern in draft_patterns(found) for line in pattern_lines(pattern)),
    ]
    return "\n".join(sections) + "\n"


def described(found: Survey) -> str:
    failing = (
        "the lower half of the graded scores counted as failing" if found.graded else "every pattern was seen there"
    )
    coverage = found.analysis.coverage
    return f"Drafted from {coverage.rollouts} rollouts of {coverage.tasks} tasks; {failing}. Confirm each by reading."


def matched_fields(found: Survey) -> list[str]:
    """Fields to recognise such rows by: what verifiers write first, then what tasks hold."""
    top = [field for field in found.fields if "." not in field.name and field.kinds != ["null"]]
    ordered = sorted(top, key=lambda field: (field.of_task, not sounds_like_verdict(field.name)))
    return [field.name for field in ordered[:MOST_MATCHED]] or ["reward"]


def slices(found: Survey) -> list[str]:
    return [table.field for table in found.analysis.slices][:12]


def stage_lines(found: Survey) -> list[str]:
    """Said something, called a tool where tools are called, and was read where something is read from the answer."""
    lines = stage(
        "produced output", "the trajectory holds an item after the prompt", {"fact": "output_items", "greater": 0}
    )
    if found.tools:
        lines += stage("called a tool", "at least one tool call", {"fact": "tool_calls", "greater": 0})
    for clue in found.clues:
        if clue.question == "is_null":
            said = f"{clue.field} is not empty"
            lines += stage(said[:60], f"{said}, as in rollouts that passed", {"field": clue.field, "is_known": True})
    return lines


def stage(name: str, definition: str, when: dict[str, Any]) -> list[str]:
    return [f"  - name: {flow(name)}", f"    definition: {flow(definition)}", f"    when: {flow(when)}"]


def draft_patterns(found: Survey) -> list[Pattern]:
    """Patterns in order: nothing came, what the verifier says, how it behaved, what was not read, and the rest."""
    general = [seen_generally(signal) for signal in found.analysis.signals if signal.code in GENERAL and signal.failed]
    first = [pattern for pattern in general if pattern.cause == "IR"]
    said = [from_clue(clue) for clue in found.clues if clue.question != "is_null"]
    unread = [from_clue(clue) for clue in found.clues if clue.question == "is_null"]
    rest = Pattern(
        "other_failure", "did not pass, and nothing above says why", {"success": False}, "rl", "everything else",
    )  # fmt: skip
    behaved = [pattern for pattern in general if pattern not in first]
    patterns = [*first, *said, *behaved, *unread, rest]
    return list({pattern.code: pattern for pattern in reversed(patterns)}.values())[::-1]


def seen_generally(signal: Signal) -> Pattern:
    return GENERAL[signal.code]._replace(title=signal.title, seen=sightings(signal.failed, signal.passed))


def sightings(failing: int, passing: int) -> str:
    return f"seen in {failing} rollout{'s' * (failing != 1)} that failed and {passing} that passed"


def from_clue(clue: Clue) -> Pattern:
    asked: dict[str, Any] = {"field": clue.field, clue.question: True}
    title = f"{clue.field} {clue.question.replace('_', ' ')}"
    if clue.question in ("equals", "contains"):
        value = (
            {"true": True, "false": False}.get(str(clue.value), clue.value)
            if clue.question == "contains"
            else clue.value
        )
        asked[clue.question] = value
        title = f"{clue.field} is {value}" if clue.question == "equals" else f"{clue.field} holds {value}"
    if clue.question == "is_null":
        title = f"{clue.field} is empty"
    seen = sightings(clue.failing, clue.passing)
    return Pattern(code_of(title), title[:160], asked, "rl", seen)


def code_of(title: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")
    return (words if words[:1].isalpha() else f"x_{words}")[:48].rstrip("_")


def pattern_lines(pattern: Pattern) -> list[str]:
    return [
        f"  # {pattern.seen}",
        f"  - code: {pattern.code}",
        f"    title: {flow(pattern.title)}",
        *([f"    cause: {pattern.cause}"] if pattern.cause else []),
        "    confidence: low",
        f"    intervention: {pattern.intervention}",
        f"    when: {flow(pattern.when)}",
    ]


def flow(value: Any) -> str:
    """A value as YAML on one line, texts in quotes."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return json.dumps(value)


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
        patterns="\n".join(
            f"| `{one.code}` | {one.title} | {one.cause or 'open'} | {one.seen} |" for one in draft_patterns(found)
        ),
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
