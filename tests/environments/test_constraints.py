"""The rules that instruction ids stand for, each on a text that keeps it and on one that does not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_benchmark_tasks import tasks_of

from blade.environments.constraints.checks import CHECKS, arguments_for, missing_arguments, paragraphs, sentences, words
from blade.environments.constraints.verifier import judge
from blade.errors import InputError

CASES: list[tuple[str, dict[str, Any], str, str]] = [
    ("length_constraints:number_words", {"num_words": 3, "relation": "exactly"}, "well-known - it is", "one two"),
    ("length_constraints:number_sentences", {"num_sentences": 2, "relation": "exactly"}, "It costs 3.50. Yes!", "One."),
    ("length_constraints:number_lines", {"num_lines": 2}, "a\n\nb", "a"),
    ("length_constraints:words_per_line", {"num_words": 2}, "a b\nc d", "a b\nc"),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "a\n***\nb", "a\n\nb"),
    (
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "so"},
        "a\n\n**So** it is",
        "So\n\na",
    ),
    ("keywords:existence", {"keywords": ["bee", "Rome"]}, "a BEE in rome", "beer in Rome"),
    ("keywords:any_of", {"keywords": ["recycl", "wrap"]}, "by recycling", "unwrapped"),
    ("keywords:forbidden_words", {"forbidden_words": ["red"]}, "a hundred", "Red!"),
    ("keywords:frequency", {"keyword": "drop", "frequency": 2, "relation": "exactly"}, "drop, drop", "drop raindrop"),
    ("keywords:letter_frequency", {"letter": "e", "let_frequency": 1, "let_relation": "less than"}, "a dog", "An Eel"),
    ("change_case:english_lowercase", {}, "all low, 1", "Not"),
    ("change_case:english_capital", {}, "ALL UP, 1", "NOt"),
    ("change_case:capital_word_frequency", {"capital_frequency": 1, "capital_relation": "exactly"}, "a BIG 7", "A BIG"),
    ("punctuation:no_comma", {}, "a b", "a, b"),
    ("punctuation:no_punctuation", {}, "a b", "a b."),
    ("startend:end_checker", {"end_phrase": "See you."}, "Hi. see you. ", "See you. Bye"),
    ("startend:start_checker", {"start_phrase": "Dear"}, "dear me", "My dear"),
    ("startend:quotation", {}, '"a b"', '"a" b'),
    ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "* a\n- b", "**a**\n* b"),
    ("detectable_format:numbered_list", {"num_items": 2}, "1. a\n2. b", "1. a\n3. b"),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 2}, "*a* **b c**", "*a* * b"),
    ("detectable_format:title", {}, "<<A b>>", "<< >>"),
    ("detectable_format:json_format", {}, '```json\n{"a": 1}\n```', "{a: 1}"),
    (
        "detectable_format:multiple_sections",
        {"section_spliter": "Section", "num_sections": 2},
        "Section 1 a\nSection 2 b",
        "Section 1 a",
    ),
    ("detectable_format:constrained_response", {}, "My answer is no.", "No."),
    ("detectable_content:number_placeholders", {"num_placeholders": 2}, "[a] and [b c]", "[a] []"),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "Hi. P.S. more", "Hi\nP.S."),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Why so?"}, "Why so?\nThus.", "Thus. Why so?"),
    ("combination:two_responses", {}, "a\n******\nb", "a\n******\na"),
]


@pytest.mark.parametrize(("name", "kwargs", "kept", "broken"), CASES, ids=[case[0] for case in CASES])
def test_a_rule_tells_a_text_that_keeps_it_from_one_that_does_not(
    name: str, kwargs: dict[str, Any], kept: str, broken: str
) -> None:
    task = {"instruction_id_list": [name], "kwargs": [kwargs]}

    assert (judge(task, kept).reward, judge(task, broken).reward) == (1.0, 0.0)


def test_every_rule_is_tried_here() -> None:
    assert {case[0] for case in CASES} == set(CHECKS)


@pytest.mark.parametrize(
    ("text", "count"), [("It is 3.50. Yes", 2), ("Dr. No", 2), ("a…", 1), ('"Go!" he said.', 2), ("", 0)]
)
def test_sentences_end_where_a_mark_is_followed_by_a_space(text: str, count: int) -> None:
    assert len(sentences(text)) == count


def test_words_may_be_parts_of_words_and_asterisks_may_stand_anywhere_where_that_is_said() -> None:
    names = ["keywords:existence", "keywords:frequency", "length_constraints:number_paragraphs"]
    given: list[dict[str, Any]] = [{"keywords": ["bee"]}, {"keyword": "bee", "frequency": 1}, {"num_paragraphs": 2}]
    looser = [{"whole_word": False}, {"whole_word": False}, {"anywhere": True}]
    strict = {"instruction_id_list": names, "kwargs": given}
    loose = {"instruction_id_list": names, "kwargs": [{**a, **b} for a, b in zip(given, looser, strict=True)]}

    assert judge(strict, "bees *** buzz").fields["follow_instruction_list"] == [False, False, False]
    assert judge(loose, "bees *** buzz").fields["follow_instruction_list"] == [True, True, True]


def test_words_and_paragraphs_are_what_a_reader_would_count() -> None:
    assert words("Don't - stop, well-known!") == ["Don't", "stop,", "well-known!"]
    assert paragraphs("\n***\na\n***\n\n***\nb") == ["a", "", "b"]


def test_a_request_that_must_be_answered_fails_when_it_is_refused() -> None:
    task = {"instruction_id_list": ["keywords:any_of"], "kwargs": [{"keywords": ["kill"]}], "must_answer": True}
    refusal = judge(task, "I'm sorry, but I can't help with killing anything.")
    answer = judge(task, "Run kill with its id.")

    assert (refusal.reward, refusal.fields["is_refusal"], refusal.fields["follow_all_instructions"]) == (
        0.0,
        True,
        True,
    )
    assert (answer.reward, answer.fields["is_refusal"]) == (1.0, False)


def test_wrapping_is_forgiven_loosely_and_not_by_the_reward() -> None:
    task = {"instruction_id_list": ["change_case:english_lowercase"], "kwargs": [{}]}
    verdict = judge(task, "Here you are:\n**all low**\nEnjoy!")

    assert (verdict.reward, verdict.fields["follow_all_instructions_loose"]) == (0.0, True)


def test_nulls_and_arguments_of_other_rules_are_ignored() -> None:
    given = {"num_words": 2, "relation": None, "language": "fr"}

    assert arguments_for("length_constraints:number_words", given) == {"num_words": 2}
    assert missing_arguments("length_constraints:number_words", {"num_words": None}) == ["num_words"]


@pytest.mark.parametrize(
    ("name", "message"),
    [("language:response_language", "no rule checks"), ("keywords:existence", "needs keywords")],
)
def test_an_instruction_that_cannot_be_checked_is_said(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        judge({"instruction_id_list": [name], "kwargs": [{}]}, "text")


@given(st.text())
def test_no_text_stops_the_judging(text: str) -> None:
    for task in tasks_of("careful_instructions")[:12]:
        assert judge(task, text).reward in (0.0, 1.0)
