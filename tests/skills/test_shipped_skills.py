"""The skills of this repository: valid, found by every agent, published, and worth opening."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
import skills_ref
import yaml

from blade._version import __version__
from blade.cli.skill_validate import command_complaint
from blade.diagnosis.packs import shipped_names
from blade.skillkit.check import Rules, check_skill
from blade.skillkit.evals import read_evals
from blade.skillkit.skill import read_skill

ROOT = Path(__file__).parents[2]
SKILLS = ROOT / "skills"
NAMES = sorted(path.name for path in SKILLS.iterdir() if not path.name.startswith("."))
GENERAL = {"blade-analysis", "skill-authoring"}
LISTED = 10_000
"""Characters of all descriptions together: agents give their whole catalog of skills not much more."""
CLOSING = re.compile(r"^Close with `blade check`|^metadata:|^compatibility:|^license:|^\|[-:| ]+\|$|^```")


@pytest.mark.parametrize("name", NAMES)
def test_every_skill_keeps_all_rules_and_its_scripts_explain_themselves(name: str) -> None:
    assert check_skill(SKILLS / name, Rules(run_scripts=True, commands=command_complaint)) == []


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_implementation_finds_nothing_wrong_either(name: str) -> None:
    assert skills_ref.validate(SKILLS / name) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_skill_is_long_enough_to_help_and_has_three_evals(name: str) -> None:
    body = read_skill(SKILLS / name).body

    assert 50 <= len(body.splitlines()) <= 250
    assert len(re.findall(r"^## ", body, re.MULTILINE)) >= 3
    assert len(read_evals(SKILLS / name).evals) == 3


@pytest.mark.parametrize("folder", [".claude", ".agents", ".codex"])
def test_every_agent_finds_every_skill_by_a_link_to_the_one_real_copy(folder: str) -> None:
    links = {path.name: path.readlink().as_posix() for path in (ROOT / folder / "skills").iterdir()}

    assert links == {name: f"../../skills/{name}" for name in NAMES}
    assert all((ROOT / folder / "skills" / name).resolve() == SKILLS / name for name in NAMES)


def test_the_marketplace_offers_this_repository_as_a_plugin_of_the_packages_version() -> None:
    market, plugin = (
        json.loads((ROOT / ".claude-plugin" / name).read_text(encoding="utf-8"))
        for name in ("marketplace.json", "plugin.json")
    )

    # An agent finds every folder of `skills/` by itself; a version in both files would let one of them grow old.
    assert [(entry["name"], entry["source"]) for entry in market["plugins"]] == [(plugin["name"], "./")]
    assert plugin["version"] == __version__
    assert not any("version" in entry or "skills" in entry for entry in [*market["plugins"], market])


def test_every_skill_but_the_general_ones_brings_a_taxonomy() -> None:
    assert shipped_names() == sorted(set(NAMES) - GENERAL)


def test_every_benchmark_names_a_skill_that_is_there() -> None:
    configs = {
        path.parent.name: yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in ROOT.glob("benchmarks/*/config.yaml")
    }

    assert {name: config["blade"]["skill"] for name, config in configs.items()} == {
        name: name.replace("_", "-") for name in configs
    }
    assert {name.replace("_", "-") for name in configs} <= set(NAMES)


def test_the_skill_of_a_benchmark_states_its_limits_as_they_are() -> None:
    limits = {
        path.parent.name.replace("_", "-"): re.findall(r"max_output_tokens: (\d+)", path.read_text(encoding="utf-8"))
        for path in ROOT.glob("benchmarks/*/config.yaml")
    }

    assert {
        name: re.findall(
            r"(\d+)\s+tokens(?: per turn)?[.;:]", (SKILLS / name / "SKILL.md").read_text(encoding="utf-8")
        )[:1]
        for name in limits
    } == limits


def test_all_descriptions_fit_into_the_catalog_of_an_agent() -> None:
    assert sum(len(read_skill(SKILLS / name).description) for name in NAMES) <= LISTED


def test_a_skill_about_one_family_names_the_skill_for_a_near_miss() -> None:
    silent = [
        name
        for name in set(NAMES) - GENERAL
        if not any(other in read_skill(SKILLS / name).description for other in set(NAMES) - {name})
    ]

    assert silent == []


def test_skills_do_not_repeat_each_other() -> None:
    lines = Counter(
        line
        for name in NAMES
        for line in set((SKILLS / name / "SKILL.md").read_text(encoding="utf-8").splitlines())
        if len(line) > 60 and not CLOSING.match(line)
    )

    assert [line for line, times in lines.items() if times > 2] == []


def test_no_sample_of_a_skill_lies_where_an_agent_would_take_it_for_one() -> None:
    found = {path.relative_to(SKILLS).as_posix() for path in SKILLS.rglob("SKILL.md")}

    assert found == {f"{name}/SKILL.md" for name in NAMES}
