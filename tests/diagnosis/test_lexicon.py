"""Words are hints: more of them in refusals and errors than in answers that happen to use the same words."""

import pytest

from blade.diagnosis.lexicon import (
    is_bad_news,
    is_plan,
    is_trouble,
    machine_loss_weight,
    refusal_weight,
    service_weight,
    words,
)


def test_an_entry_is_the_beginning_of_a_word_and_with_a_full_stop_all_of_it() -> None:
    pattern = words("fail, try again, no., can't.")
    found = [text for text in ("failing", "TRY  again", "no", "not", "can’t", "unfailing") if pattern.search(text)]
    assert found == ["failing", "TRY  again", "no", "can’t"]


@pytest.mark.parametrize(
    "text",
    [
        "That's outside of what I'm willing to do here.",
        "I have to pass on this one.",
        "My guidelines don't permit me to do this.",
        "This request may be unsafe and has therefore not been carried out.",
        "Lo siento, pero no puedo ayudar con eso.",
        "Es tut mir leid, aber dabei kann ich nicht helfen.",
        "抱歉，我无法协助完成这个请求。",
    ],
)
def test_who_declines_weighs_more_as_a_refusal_than_as_a_service(text: str) -> None:
    assert refusal_weight(text) >= 3 > service_weight(text)


@pytest.mark.parametrize(
    "text",
    [
        "We're currently experiencing heavier traffic than usual. Please retry your request in a moment.",
        '{"detail": "Too many concurrent requests for this deployment"}',
        "java.net.SocketTimeoutException: Read timed out",
        "The server responded with status 500 and no body",
        "Server is busy, please try later.",
    ],
)
def test_a_service_in_trouble_weighs_more_as_a_service(text: str) -> None:
    assert service_weight(text) >= 3 > refusal_weight(text)


@pytest.mark.parametrize(
    "text", ["The answer is B.", "The total comes to 412 euros.", "Fixed `parse` in src/parser.py; all tests pass."]
)
def test_an_answer_weighs_as_neither(text: str) -> None:
    assert max(refusal_weight(text), service_weight(text)) <= 1


def test_one_who_says_i_is_hardly_a_service() -> None:
    assert service_weight("I raised the rate limit of the server.") < service_weight("The rate limit of the server.")


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        pytest.param("spot instance reclaimed", 2, id="both"),
        pytest.param("the session of Monday", 1, id="a_machine"),
        pytest.param("Ada Novak, item-17", 0, id="neither"),
    ],
)
def test_a_lost_machine_is_a_machine_and_its_end(text: str, weight: int) -> None:
    assert machine_loss_weight(text) == weight


def test_trouble_is_looked_for_at_both_ends() -> None:
    assert is_trouble("usage: " + "x" * 900)
    assert is_trouble("x" * 900 + " denied")
    assert not is_trouble("x" * 300 + " denied " + "x" * 300)


@pytest.mark.parametrize(
    ("text", "bad"),
    [
        pytest.param("None of the tools answer any more.", True, id="bad"),
        pytest.param("All done without problems.", False, id="without_problems"),
        pytest.param("The order is fixed. It no longer fails.", False, id="good_comes_first"),
        pytest.param("Unfortunately only half of it is done.", True, id="bad_comes_first"),
        pytest.param("The total is 12.", False, id="neither"),
    ],
)
def test_the_first_news_decides(text: str, bad: bool) -> None:
    assert is_bad_news(text) is bad


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        pytest.param("One moment while I pull up the details.", True, id="moment"),
        pytest.param("Before answering I should have a look at the file.", True, id="should"),
        pytest.param("Let me see: the units agree on both sides.", False, id="thinking_aloud"),
        pytest.param("I will check this. It is 12.", False, id="not_the_last_sentence"),
    ],
)
def test_a_plan_is_the_last_thing_said(text: str, plan: bool) -> None:
    assert is_plan(text) is plan
