"""Skills written in a few lines."""

from pathlib import Path

DESCRIPTION = "Explains why a run of a little benchmark scored as it did. Use when asked why tasks failed."
BODY = """\
# Little

1. Measure: `blade diagnose rollouts.jsonl`.
2. Read what failed.
"""


def skill_text(body: str = BODY, *, name: str = "little", description: str = DESCRIPTION, more: str = "") -> str:
    """A SKILL.md; `more` is further frontmatter, each line ended."""
    return f'---\nname: {name}\ndescription: "{description}"\n{more}---\n\n{body}'


def write_skill(folder: Path, text: str | None = None, **files: str) -> Path:
    """A skill called little; files by their paths, in which `__` stands for a slash and `_DOT_` for a dot."""
    skill = folder / "little"
    skill.mkdir(parents=True, exist_ok=True)
    (skill / "SKILL.md").write_text(skill_text() if text is None else text, encoding="utf-8")
    for name, content in files.items():
        path = skill / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return skill
