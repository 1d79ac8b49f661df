"""Checking a skill: what breaks the specification, and what breaks our own rules."""

from pathlib import Path

import pytest
from small_skills import BODY, DESCRIPTION, skill_text, write_skill

from blade.cli.skill_validate import command_complaint
from blade.errors import InputError
from blade.skillkit.check import Rules, check_skill
from blade.skillkit.skill import find_skills, read_skill

EVERYTHING = Rules(run_scripts=True, commands=command_complaint)


def said(folder: Path, rules: Rules = EVERYTHING) -> list[str]:
    """Every problem as `place: message`, places relative to the skill."""
    return [f"{Path(problem.where).relative_to(folder)}: {problem.message}" for problem in check_skill(folder, rules)]


def test_a_good_skill_has_no_problems_and_is_read(tmp_path: Path) -> None:
    more = 'license: Apache-2.0\nmetadata: {version: "1.2"}\nallowed-tools: Read Bash(blade:*)\n'
    folder = write_skill(tmp_path, skill_text(more=more))

    skill = read_skill(folder)

    assert said(folder) == []
    assert (skill.name, skill.description, skill.body) == ("little", DESCRIPTION, BODY.rstrip("\n"))
    assert (skill.license, skill.version, skill.allowed_tools) == ("Apache-2.0", "1.2", "Read Bash(blade:*)")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("# Little\n", "SKILL.md:1: has no frontmatter; the first line must be ---", id="no_frontmatter"),
        pytest.param(
            "---\nname: little\n", "SKILL.md:1: has frontmatter without an end; close it with a line of ---", id="open"
        ),
        pytest.param(
            "---\n- a\n---\n",
            "SKILL.md:2: has frontmatter that is not a mapping; write `name: ...` and `description: ...`",
            id="list",
        ),
        pytest.param(
            "---\nname: little\ndescription: Explains: much\n---\n",
            "SKILL.md:3: is not YAML: mapping values are not allowed in this context; put the text in quotes, or "
            "write it below `description: >-`",
            id="bare_colon",
        ),
        pytest.param(
            "---\nname: little\nname: little\n---\n",
            "SKILL.md:3: the key 'name' stands twice, first on line 2",
            id="twice",
        ),
        pytest.param(
            "---\nname: &a little\n---\n", "SKILL.md:2: anchors (&name) are not allowed in frontmatter", id="anchor"
        ),
    ],
)
def test_a_skill_that_cannot_be_read_has_one_problem(tmp_path: Path, text: str, expected: str) -> None:
    folder = write_skill(tmp_path, text)

    assert said(folder) == [expected]
    with pytest.raises(InputError, match=r"SKILL\.md"):
        read_skill(folder)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(skill_text(more="version: 2\n"), ["SKILL.md:4: unknown field 'version'"], id="unknown_field"),
        pytest.param(skill_text(name="big"), ["SKILL.md:2: name is 'big', its folder is 'little'"], id="other_folder"),
        pytest.param(
            skill_text(name="Little--one"),
            [
                "SKILL.md:2: name is 'Little--one', expected 1 to 64 lowercase letters, digits and single hyphens, "
                "none at the ends"
            ],
            id="name_form",
        ),
        pytest.param(
            skill_text(description=f"{DESCRIPTION} {'x' * 1000}"),
            ["SKILL.md:3: description has 1092 characters, expected at most 1024"],
            id="description_too_long",
        ),
        pytest.param(skill_text(description=" "), ["SKILL.md:3: description is ' ', expected a text"], id="blank"),
        pytest.param(
            "---\nname: little\n---\nDo.\n", ["SKILL.md:1: description is missing, expected a text"], id="none"
        ),
        pytest.param(
            skill_text(more=f"compatibility: {'x' * 501}\n"),
            ["SKILL.md:4: compatibility has 501 characters, expected at most 500"],
            id="compatibility",
        ),
        pytest.param(
            skill_text(more="metadata: {version: 1.0}\n"),
            ["SKILL.md:4: metadata.version is 1.0, expected a text"],
            id="version",
        ),
        pytest.param(
            skill_text(more="metadata: 1\n"), ["SKILL.md:4: metadata is 1, expected keys with texts"], id="metadata"
        ),
        pytest.param(
            skill_text(more="allowed-tools: [Read]\n"),
            ["SKILL.md:4: allowed-tools is ['Read'], expected a text"],
            id="tools",
        ),
    ],
)
def test_what_breaks_the_specification_is_named_with_its_line(tmp_path: Path, text: str, expected: list[str]) -> None:
    folder = write_skill(tmp_path, text)

    assert said(folder, Rules(ours=False)) == expected
    assert said(folder) == expected


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        pytest.param(f"{DESCRIPTION} {'x' * 820}", "description has 912 characters, expected at most 900", id="long"),
        pytest.param(DESCRIPTION.replace("little", "<b>"), "description holds '<'", id="angle_brackets"),
        pytest.param(DESCRIPTION.replace("little", "a --- b"), "description holds '---'", id="fence"),
        pytest.param(
            f"I explain. {DESCRIPTION}", "description begins with 'I', expected a verb in the third person", id="first"
        ),
        pytest.param("Explains things.", "description has no 'Use when ...'", id="when"),
    ],
)
def test_what_breaks_our_rules_for_a_description_is_allowed_by_the_specification(
    tmp_path: Path, description: str, expected: str
) -> None:
    folder = write_skill(tmp_path, skill_text(description=description))

    assert said(folder)[0] == f"SKILL.md:3: {expected}"
    assert said(folder, Rules(ours=False)) == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("", ["SKILL.md:6: has no instructions"], id="empty"),
        pytest.param("a\n" * 501, ["SKILL.md:6: the body has 501 lines, expected at most 500"], id="lines"),
        pytest.param(
            "word " * 4003 + "w", ["SKILL.md:6: the body has about 5004 tokens, expected at most 5000"], id="tokens"
        ),
        pytest.param(
            "See [x](references/x.md) when lost.", ["SKILL.md:6: 'references/x.md' is not there"], id="dead_link"
        ),
        pytest.param(
            "Look.\n\nRun `scripts/x.py`.",
            ["SKILL.md:8: 'scripts/x.py' is not there", "SKILL.md:8: `scripts/x.py`: there is no scripts/x.py"],
            id="dead_file",
        ),
        pytest.param("See [x](../other/x.md).", ["SKILL.md:6: '../other/x.md' leads out of the skill"], id="outside"),
        pytest.param("See [x](https://a.example/x), [y](#y) and `[z](z.md)`.", [], id="links_elsewhere"),
        pytest.param("```\n[x](x.md)\n```", [], id="link_in_code"),
    ],
)
def test_a_body_is_short_and_its_links_lead_somewhere(tmp_path: Path, body: str, expected: list[str]) -> None:
    assert said(write_skill(tmp_path, skill_text(body))) == expected


def test_references_are_linked_with_when_to_open_them_and_lie_one_level_deep(tmp_path: Path) -> None:
    body = "- Facts: [a](references/a.md)\n- [b](references/b.md), when the judge failed\n"
    folder = write_skill(
        tmp_path,
        skill_text(body),
        references__a_DOT_md="A",
        references__b_DOT_md="See [none](none.md).",
        references__c_DOT_md="C",
        references__deep__d_DOT_md="D",
    )

    assert said(folder) == [
        "SKILL.md:6: links a reference without saying when to open it",
        "references/c.md: is not linked from SKILL.md",
        "references/deep/d.md: lies deeper than references/",
        "references/b.md:1: 'none.md' is not there",
    ]


SCRIPT = 'import argparse\np = argparse.ArgumentParser()\np.add_argument("--top")\np.parse_args()\n'


@pytest.mark.parametrize(
    ("script", "body", "expected"),
    [
        pytest.param(SCRIPT, "Run `python scripts/count.py --top 3`.", [], id="good"),
        pytest.param(SCRIPT, "Do it.", ["scripts/count.py: is not named in SKILL.md"], id="not_named"),
        pytest.param(
            SCRIPT,
            "```bash\npython3 scripts/count.py x.jsonl --most 3\n```",
            ["SKILL.md:7: `python3 scripts/count.py x.jsonl --most 3`: scripts/count.py knows no --most"],
            id="unknown_flag",
        ),
        pytest.param(
            "def f(:\n",
            "Run `scripts/count.py`.",
            ["scripts/count.py: is not Python: invalid syntax (count.py, line 1)"],
            id="syntax",
        ),
        pytest.param(
            "raise SystemExit(3)",
            "Run `scripts/count.py`.",
            ["scripts/count.py: exits with 3 on --help: "],
            id="exit_code",
        ),
        pytest.param("", "Run `scripts/count.py`.", ["scripts/count.py: prints nothing on --help"], id="silent"),
    ],
)
def test_scripts_are_named_and_explain_themselves(tmp_path: Path, script: str, body: str, expected: list[str]) -> None:
    assert said(write_skill(tmp_path, skill_text(body), scripts__count_DOT_py=script)) == expected


def test_scripts_are_run_only_on_request(tmp_path: Path) -> None:
    script = "import pathlib; pathlib.Path('ran').touch(); print('help')"
    folder = write_skill(tmp_path, skill_text("Run `scripts/x.py`."), scripts__x_DOT_py=script)

    assert (said(folder, Rules()), (folder / "scripts" / "ran").exists()) == ([], False)
    assert (said(folder), (folder / "scripts" / "ran").exists()) == ([], True)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("```console\n$ blade diagnose a.jsonl --out out\nmade-up output\n```", [], id="prompted"),
        pytest.param("```bash\ncat a | blade diagnose - --json > a.json  # all of it\n```", [], id="pipe"),
        pytest.param("```bash\nblade show out 12:3#5 \\\n  --max-chars 99\n```", [], id="continued"),
        pytest.param(
            "Ask `blade --help`, `blade COMMAND --help` or `blade diagnose … --pack NAME`.", [], id="mentions"
        ),
        pytest.param("```\nblade diagnose\n```", ["7: `blade diagnose`: Missing argument 'INPUT'."], id="no_argument"),
        pytest.param(
            "```\nblade dignose x\n```", ["7: `blade dignose x`: there is no command 'dignose' in blade"], id="command"
        ),
        pytest.param("Run `blade show --al`.", ["6: `blade show --al`: blade show knows no --al"], id="mentioned_flag"),
        pytest.param(
            "```\nblade show out 1:0 --max-chars x\n```",
            ["7: `blade show out 1:0 --max-chars x`: Invalid value for '--max-chars': "],
            id="value",
        ),
        pytest.param("```\nblade skill\n```", ["7: `blade skill`: blade skill needs a command"], id="group"),
        pytest.param("```json\nblade nothing\n```", [], id="other_language"),
        pytest.param("```\nblade show 'x\n```", [], id="not_shell"),
    ],
)
def test_commands_exist_and_take_what_they_are_given(tmp_path: Path, body: str, expected: list[str]) -> None:
    found = said(write_skill(tmp_path, skill_text(body)))

    assert len(found) == len(expected)
    assert all(one.startswith(f"SKILL.md:{begin}") for one, begin in zip(found, expected, strict=True))


def test_a_taxonomy_is_checked_and_goes_by_the_name_of_its_skill(tmp_path: Path) -> None:
    pack = (
        "name: NAME\ntitle: t\ndescription: d\nversion: '1'\nmatches: [{all_fields: [a]}]\n"
        "stages: [{name: s, definition: d, when: {success: true}}]\n"
        "patterns: [{code: c, title: t, confidence: low, intervention: rl, when: {success: false}}]\n"
    )
    other = write_skill(tmp_path / "1", assets__taxonomy_DOT_yaml=pack.replace("NAME", "other"))
    broken = write_skill(tmp_path / "2", assets__taxonomy_DOT_yaml=pack.replace("confidence: low", "confidence: x"))

    assert said(other) == ["assets/taxonomy.yaml: the pack is called 'other', its skill 'little'"]
    assert said(broken)[0].startswith("assets/taxonomy.yaml:")


def test_evals_are_of_the_known_form_and_their_files_exist(tmp_path: Path) -> None:
    case = '{"id": 1, "prompt": "Why?", "expected_output": "A reason.", "files": ["x.jsonl"], "assertions": []}'
    text = f'{{"skill_name": "big", "evals": [{case}, {case}]}}'

    assert said(write_skill(tmp_path / "1", evals__evals_DOT_json=text)) == [
        "evals/evals.json: is for 'big', expected 'little'",
        "evals/evals.json: the id 1 stands 2 times",
        *["evals/evals.json 1: asserts nothing", "evals/evals.json 1: 'x.jsonl' is not a file of the skill"] * 2,
    ]
    assert said(write_skill(tmp_path / "2", evals__evals_DOT_json="{}")) == [
        "evals/evals.json: Object missing required field `skill_name`"
    ]


def test_skills_are_found_by_their_folder_their_file_or_the_folder_above(tmp_path: Path) -> None:
    folder = write_skill(tmp_path)

    assert find_skills(folder) == find_skills(folder / "SKILL.md") == find_skills(tmp_path) == [folder]
    with pytest.raises(InputError, match=r"holds no SKILL\.md"):
        find_skills(make_empty(tmp_path))
    with pytest.raises(InputError, match="is not a folder of a skill"):
        find_skills(tmp_path / "none")


def make_empty(folder: Path) -> Path:
    (folder / "empty").mkdir()
    return folder / "empty"
