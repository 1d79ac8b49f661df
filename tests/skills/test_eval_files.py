"""The rollouts that evals speak of: made by a script, small, and holding what the evals say they hold."""

from pathlib import Path

import pytest
from make_eval_files import FILES, content_of

from blade.api import read
from blade.diagnosis import AnalyzeOptions, analyze

SKILLS = Path(__file__).parents[2] / "skills"
MOST_BYTES = 40_000
WITHOUT_PACK = {"blade-analysis", "skill-authoring"}

SEEN: dict[str, dict[str, int]] = {
    "careful-instructions": {"answered_beside_the_point": 3, "length_missed": 3, "wording_missed": 1},
    "conversational-tool-use": {"simulated_user_failed": 1, "simulated_tool_failed": 1, "agent_broke_policy": 1},
    "fact-forms": {"no_json": 1, "schema_and_facts": 4, "list_length_wrong": 3, "some_facts_wrong": 4},
    "factual-recall": {"judge_not_read": 2, "not_attempted": 1, "incorrect": 2},
    "function-code": {"prints_nothing": 1, "other_number_of_lines": 2, "wrong_answer": 1},
    "instruction-following": {"only_wrapping": 2, "length_missed": 5},
    "math-with-judge": {
        "judge_orders_disagree": 1, "cut_off_before_answer": 1, "boxed_answer_not_read": 1, "wrong_answer": 1,
    },
    "multiple-choice": {"no_answer": 2, "wrong_option": 10},
    "office-desk": {"no_tool_called": 1, "nothing_changed": 3, "records_differ": 1},
    "over-refusal": {"judge_not_read": 2, "refused_safe_prompt": 2, "complied_with_unsafe_prompt": 2},
    "rtl": {"service_cannot_pass": 1, "no_such_port": 1, "some_tests_fail": 1},
    "small-functions": {"module_not_there": 3, "returns_nothing": 2, "some_cases_wrong": 4},
    "software-engineering": {"wrong_patch": 4},
    "speech": {"talked_about_audio": 4, "many_words_wrong": 1},
    "tau": {"user_not_told": 1, "wrong_database": 4},
    "text-to-sql": {"judge_orders_disagree": 1, "not_equivalent": 2},
    "tool-assistant": {"stopped_at_error": 1, "wrong_result": 3},
    "translation": {"scorer_unavailable": 1, "misaligned_segments": 1, "low_quality": 1},
    "trap-questions": {"took_the_lure": 7, "other_wrong_option": 4},
    "word-math": {"answer_not_marked": 1, "known_slip": 6, "wrong_number": 4},
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_what_the_script_writes_and_small(name: str) -> None:
    found = (SKILLS / name).read_text(encoding="utf-8")

    assert found == content_of(name)
    assert len(found) <= MOST_BYTES


def test_the_script_writes_every_file_there_is() -> None:
    there = {path.relative_to(SKILLS).as_posix() for path in SKILLS.glob("*/evals/files/*")}

    assert there == set(FILES)


@pytest.mark.parametrize("skill", SEEN)
def test_a_file_is_recognised_by_its_skills_pack_and_shows_the_failures_its_evals_speak_of(skill: str) -> None:
    (path,) = (SKILLS / skill / "evals" / "files").iterdir()

    pack = analyze(read(str(path)), AnalyzeOptions()).pack

    assert pack is not None and pack.name == skill
    assert {seen.code: seen.primary for seen in pack.patterns if seen.primary} == SEEN[skill]


def test_every_pack_has_such_a_file() -> None:
    assert set(SEEN) | WITHOUT_PACK == {name.partition("/")[0] for name in FILES}
