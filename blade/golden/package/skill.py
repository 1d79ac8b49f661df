"""D1: is there an analysis skill an agent can use? Standard library only.

The Agent Skills specification is checked in full by `blade.skillkit`; here is what can be told without a YAML library.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from blade.golden.package.checks import Check, judged, some
from blade.golden.package.layout import Package

LEAST_LINES = 50
LEAST_SECTIONS = 3
MOST_DESCRIPTION = 1024
NAME = re.compile(r"(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
LINK = re.compile(r"\]\(([^)\s]+)\)")
FILE = re.compile(r"`((?:references|scripts|assets|evals)/[\w./-]+\.\w+)`")
FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
LEFT_OPEN = re.compile(r"\bTODO\b|\bTBD\b|\bFIXME\b|<placeholder", re.IGNORECASE)


def check_skill(package: Package) -> list[Check]:
    """Everything that can be said about the skill without the engine."""
    if package.skill is None:
        return [
            judged(
                "skill",
                "",
                bad=f"no SKILL.md in {package.name}/skill, {package.name} or skills/{package.name.replace('_', '-')}",
                hint="Write the analysis skill; its frontmatter needs name and description.",
            )
        ]
    return list(check_skill_file(package.skill, inside=package.folder in package.skill.parents))


def check_skill_file(path: Path, *, inside: bool) -> Iterator[Check]:
    """One `SKILL.md`; inside a benchmark's folder its own folder need not have its name."""
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    head, body = split_frontmatter(text)
    yield judged(
        "skill",
        "SKILL.md begins with frontmatter",
        bad="" if head is not None else "SKILL.md has no frontmatter between two lines of ---",
        hint="Begin the file with ---, name, description, ---.",
    )
    fields = frontmatter_fields(head or "")
    yield name_holds(fields.get("name", ""), None if inside else path.parent.name)
    yield description_holds(fields.get("description", ""))
    yield fields_are_known(list(fields))
    yield is_long_enough(text, body)
    yield links_lead_somewhere(path.parent, body)
    yield nothing_left_open(text)


def split_frontmatter(text: str) -> tuple[str | None, str]:
    """What stands between the two rules at the top, and the rest; `None` without them."""
    match = re.match(r"---[ \t]*\n(.*?\n)?---[ \t]*(?:\n|$)", text, re.DOTALL)
    return (None, text) if match is None else (match[1] or "", text[match.end() :])


def frontmatter_fields(head: str) -> dict[str, str]:
    """The top-level fields; a folded or quoted text as one line, a mapping as its lines."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in head.splitlines():
        match = re.match(r"([A-Za-z][\w-]*):(?:\s+(.*))?$", line)
        if match:
            name = match[1]
            found[name] = [match[2] or ""]
        elif name and line.strip() and not line.lstrip().startswith("#"):
            found[name].append(line.strip())
    return {key: plain_scalar(" ".join(lines)) for key, lines in found.items()}


def plain_scalar(text: str) -> str:
    """A scalar without the marks of its style."""
    folded = re.sub(r"^[>|][+-]?\s+", "", text.strip())
    return folded[1:-1] if len(folded) > 1 and folded[0] == folded[-1] and folded[0] in "\"'" else folded


def name_holds(name: str, folder: str | None) -> Check:
    """The name has the specification's form and is the folder's."""
    bad = ""
    if not NAME.fullmatch(name):
        bad = f"skill name {name!r} is not lower-case words joined by hyphens, 64 characters at most"
    elif folder not in (None, name):
        bad = f"skill name {name!r} differs from its folder {folder!r}"
    return judged("skill", f"skill name {name!r}", bad=bad, hint="Agents find a skill by its folder's name.")


def description_holds(description: str) -> Check:
    """There is a description an agent can choose by."""
    bad = ""
    if not description.strip():
        bad = "the skill has no description"
    elif len(description) > MOST_DESCRIPTION:
        bad = f"the description has {len(description)} characters, {MOST_DESCRIPTION} at most"
    hint = "Say what the skill does and when to use it, in the user's words."
    return judged("skill", f"description of {len(description)} characters", bad=bad, hint=hint)


def fields_are_known(names: list[str]) -> Check:
    """The frontmatter holds the specification's fields only."""
    unknown = [name for name in names if name not in FIELDS]
    return judged(
        "skill",
        "frontmatter holds known fields only",
        bad=f"unknown frontmatter fields: {some(unknown)}" if unknown else "",
        hint=f"Known are {', '.join(FIELDS)}; anything else goes under metadata.",
    )


def is_long_enough(text: str, body: str) -> Check:
    """There is enough to follow."""
    lines, sections = len(text.splitlines()), len(re.findall(r"^## ", FENCE.sub("", body), re.MULTILINE))
    seen = f"SKILL.md has {lines} lines and {sections} sections"
    is_short = lines < LEAST_LINES or sections < LEAST_SECTIONS
    return judged(
        "skill",
        seen,
        bad=f"{seen}, expected {LEAST_LINES} and {LEAST_SECTIONS} at least" if is_short else "",
        hint="Inputs, workflow, output, pitfalls: an agent needs them all.",
    )


def links_lead_somewhere(folder: Path, body: str) -> Check:
    """Every file the skill names is there."""
    linked = [target.split("#")[0] for target in LINK.findall(body) if "://" not in target]
    named = FILE.findall(FENCE.sub("", body))
    dead = sorted({name for name in (*linked, *named) if name and not is_there(folder, name)})
    return judged(
        "skill",
        "every file the skill links to is there",
        bad=f"dead links in SKILL.md: {some(dead)}" if dead else "",
        hint="Paths are relative to the skill's folder.",
    )


def is_there(folder: Path, name: str) -> bool:
    """Whether a relative path leads to something; mail addresses and absolute paths are not ours to follow."""
    return name.startswith(("mailto:", "/")) or (folder / name).exists()


def nothing_left_open(text: str) -> Check:
    """Nobody left a note to finish it later."""
    lines = [number for number, line in enumerate(text.splitlines(), start=1) if LEFT_OPEN.search(line)]
    return judged(
        "skill",
        "SKILL.md holds no placeholder",
        bad=f"SKILL.md holds placeholders: line {some(lines)}" if lines else "",
        hint="Finish or remove these lines.",
    )
