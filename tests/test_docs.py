import re
import shlex
from pathlib import Path

import pytest
from command_reference import reference

from blade.cli.skill_validate import command_complaint

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(DOCS.glob("*.md"))
REFERENCE = DOCS / "reference.md"


def commands(text: str) -> list[str]:
    """The `blade` commands a page shows in its console blocks, without what is behind a `#`."""
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ blade ")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_a_page_shows_can_be_given(page: Path) -> None:
    found = commands(page.read_text(encoding="utf-8"))
    complaints = {line: command_complaint(shlex.split(re.sub(r"\s#.*", "", line))[1:], True) for line in found}
    assert {line: said for line, said in complaints.items() if said} == {}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_reference_is_what_the_commands_say(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        REFERENCE.write_text(reference(), encoding="utf-8")
    assert REFERENCE.read_text(encoding="utf-8") == reference()
