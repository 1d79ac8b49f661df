import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.benchmarks.search import distance, search

ENTRIES: list[tuple[str, dict[str, str | None]]] = [
    ("swebench/verified", {"name": "swebench/verified", "domain": "coding", "description": "Fix real issues."}),
    ("answer-judge", {"name": "answer-judge", "domain": "math", "description": "Judge answers of proofs."}),
    ("aime25", {"name": "aime25", "domain": "math", "description": "Contest problems."}),
    ("litmus", {"name": "litmus", "domain": "knowledge", "description": "adme questions; some math.", "agent": None}),
    ("math-500", {"name": "math-500", "domain": "math", "description": None}),
    ("livecodebench", {"name": "livecodebench", "domain": "coding", "description": "Live contests."}),
]


def found(query: str) -> list[str]:
    return [hit.value for hit in search(query, ENTRIES)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("swe", ["swebench/verified"], id="the_beginning_of_a_word_but_not_its_middle"),
        pytest.param("aime", ["aime25"], id="a_near_word_does_not_count_where_the_word_itself_is"),
        pytest.param("aime25", ["aime25"], id="letters_and_digits"),
        pytest.param("25", ["aime25"], id="digits"),
        pytest.param("MATH", ["math-500", "answer-judge", "aime25", "litmus"], id="name_before_domain_before_text"),
        pytest.param("bench", ["swebench/verified", "livecodebench"], id="a_part_of_a_name"),
        pytest.param("math judge", ["answer-judge"], id="every_word_must_occur"),
        pytest.param("quantum", [], id="nothing"),
        pytest.param("", [], id="no_word"),
        pytest.param("***", [], id="no_letters"),
    ],
)
def test_what_fits_comes_best_first(query: str, expected: list[str]) -> None:
    assert found(query) == expected


@pytest.mark.parametrize("query", ["knowlege", "litmsu", "litmuss", "swebnech", "mth"])
def test_a_slip_of_the_pen_is_forgiven_and_told(query: str) -> None:
    hits = search(query, ENTRIES)
    assert hits and all(hit.is_guess for hit in hits)
    assert not any(hit.is_guess for hit in search("math", ENTRIES))


def test_the_exact_name_comes_first() -> None:
    assert found("answer judge")[0] == "answer-judge"


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_the_distance_is_the_same_from_both_sides_and_zero_only_for_the_same(one: str, two: str) -> None:
    assert distance(one, two, most=9) == distance(two, one, most=9)
    assert (distance(one, two, most=9) == 0) == (one == two)
