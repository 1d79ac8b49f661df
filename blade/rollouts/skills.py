"""How rows show that a model had Agent Skills: the stamp, the files it opened, the catalog and the tool it was given.

Our runner writes them and a comparison takes them out again, so that giving a model skills is one change and not also
one of the prompt and of the tools.
"""

from typing import Any, Final

SKILLS_READ: Final = "skills_read"
"""Field with the files of skills that were opened."""
SKILL_TOOL: Final = "read_skill_file"
"""The tool that opens them."""
CATALOG_START: Final = "You have skills:"
"""How the part of the system text that lists them begins."""


def without_catalog(system: str) -> str:
    """A system text without the list of skills at its end."""
    before, found, _ = system.rpartition(CATALOG_START)
    return before.rstrip() if found else system


def without_skill_tool(tools: list[Any]) -> list[Any]:
    """Tools without the one that opens skills."""
    return [tool for tool in tools if not (isinstance(tool, dict) and tool.get("name") == SKILL_TOOL)]
