"""Regular expressions of packs: what is allowed, that both engines agree, and that none can run away."""

import re
import time
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from blade.diagnosis.packs.check import is_expression
from blade.diagnosis.packs.document import walk
from blade.diagnosis.packs.expressions import MAX_WAYS, WINDOW, Expression, Grammar, check
from blade.diagnosis.packs.load import skills_folder
from blade.errors import UsageError


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("plain words", id="literals"),
        pytest.param(r"(?i)^no image\b", id="ignore_case_and_ends"),
        pytest.param(r"a.{0,40}b|c\s{1,3}d", id="bounded_repeats"),
        pytest.param(r"\[\[A!?=B\]\]", id="escaped_signs"),
        pytest.param(r"[^a-z_0-9\s\]-]+", id="class"),
        pytest.param(r"(?:one|two)?three", id="optional_group"),
        pytest.param(r"a*?b", id="lazy"),
        pytest.param("größer", id="other_letters"),
        pytest.param(r"\d{3}", id="exact_count"),
        pytest.param(r"a|", id="empty_alternative"),
    ],
)
def test_ordinary_expressions_are_allowed(source: str) -> None:
    assert Expression(source).source == source


@pytest.mark.parametrize(
    ("source", "why"),
    [
        pytest.param("(a+)+$", "a group may be optional ('?') but not repeated", id="nested_repeat"),
        pytest.param("(a|a)*b", "a group may be optional ('?') but not repeated", id="repeated_alternatives"),
        pytest.param("a*a*a*b", "it repeats too much to be safe", id="polynomial"),
        pytest.param(r"\s*\w+", "it repeats too much to be safe", id="two_open_repeats"),
        pytest.param("(?:a{0,100})?(?:b{0,100})?c{0,100}", "it repeats too much to be safe", id="product_of_counts"),
        pytest.param("x{200}" * 11, "it repeats too much to be safe", id="large_by_counting"),
        pytest.param("a{1,5000}", "{1,5000} is not a repeat; the most is {0,200}", id="large_count"),
        pytest.param("a{3,1}", "{3,1} is not a repeat", id="count_backwards"),
        pytest.param("a**", "a repeat of a repeat", id="repeat_of_a_repeat"),
        pytest.param("(?:a)??b", "a repeat of a repeat", id="lazy_optional_group"),
        pytest.param("a++", "a repeat of a repeat", id="possessive"),
        pytest.param(r"(a)\1", r"'\1' is not allowed; backreferences", id="backreference"),
        pytest.param("(?=a)b", "only plain groups", id="lookahead"),
        pytest.param("(?P<n>a)", "only plain groups", id="named_group"),
        pytest.param("a(?i)b", "only plain groups", id="flag_in_the_middle"),
        pytest.param("(?x)a", "only plain groups", id="other_flag"),
        pytest.param("(a", "a '(' without its ')'", id="open_group"),
        pytest.param("a)", "a ')' without its '('", id="closed_group"),
        pytest.param("[a", "a '[' without its ']'", id="open_class"),
        pytest.param("[]", "an empty class", id="empty_class"),
        pytest.param("[[:alpha:]]", r"write '\[' for the character inside of a class", id="posix_class"),
        pytest.param("[a--b]", r"write '\-' for the character inside of a class", id="set_difference"),
        pytest.param("[z-a]", "bad character range z-a", id="range_backwards"),
        pytest.param(r"[\d-z]", r"bad character range \d-z", id="range_of_a_class"),
        pytest.param(r"[\b]", r"'\b' is not a character of a class", id="backspace"),
        pytest.param("*a", r"'*' is a sign; write '\*' for the character", id="repeat_of_nothing"),
        pytest.param("^*a", "a repeat without a character before it", id="repeat_of_a_place"),
        pytest.param("{a", r"'{' is a sign", id="brace"),
        pytest.param("a\\", r"'\' is not allowed", id="backslash_at_the_end"),
        pytest.param(r"\Z", r"'\Z' is not allowed", id="other_escape"),
        pytest.param("", "an expression has 1 to 400 characters, this one 0", id="empty"),
        pytest.param("a" * 401, "an expression has 1 to 400 characters, this one 401", id="long"),
        pytest.param("(?i)größer", "ignores the case of ASCII letters only", id="case_of_other_letters"),
        pytest.param("(" * 13 + "a" + ")" * 13, "groups are at most 12 deep", id="deep_groups"),
    ],
)
def test_expressions_outside_of_the_grammar_are_refused(source: str, why: str) -> None:
    with pytest.raises(UsageError) as raised:
        check(source)

    assert why in str(raised.value)


@pytest.mark.parametrize(
    ("source", "text", "span"),
    [
        pytest.param("b+", "abba", (1, 3), id="first_match"),
        pytest.param("^b$", "a\nb\nc", (2, 3), id="lines"),
        pytest.param("end$", "x" * 9000 + "end", (9000, 9003), id="end_of_a_long_text"),
        pytest.param("mid", "x" * 6000 + "mid" + "x" * 6000, None, id="middle_of_a_long_text"),
        pytest.param("é", "caf\udc00é", (4, 5), id="half_a_surrogate"),
        pytest.param("(?i)ERROR", "an error", (3, 8), id="case"),
    ],
)
def test_where_an_expression_is_found(source: str, text: str, span: tuple[int, int] | None) -> None:
    assert Expression(source).search(text) == span


def shipped_expressions() -> list[str]:
    found: set[str] = set()
    for path in skills_folder().glob("*/assets/taxonomy.yaml"):
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
        found |= {source for keys, source in walk(value) if isinstance(source, str) and is_expression(keys)}
    return sorted(found)


def plain(source: str) -> re.Pattern[str]:
    return re.compile(source, re.MULTILINE | re.ASCII)


texts = st.text(alphabet=st.sampled_from("abAB=![]01.? \n\\{}:|'"), max_size=40) | st.sampled_from(
    ["[[A=B]]", "Error: x", "```sql\nSELECT 1\n```", "PASS=3 FAIL=1", "\\boxed{1}", "count:words", "the audio"]
)


@given(st.sampled_from(shipped_expressions()), texts)
def test_both_engines_find_the_same(source: str, text: str) -> None:
    expected = plain(source).search(text)

    assert Expression(source).search(text) == (expected.span() if expected else None)


pieces = st.sampled_from(
    ["a", "b", ".", r"\w", "[ab]", "a*", "b+", ".{0,9}", "(?:ab|b)?", "(a|b)", "^", "$", r"\b", "|"]
)


@given(st.lists(pieces, min_size=1, max_size=8).map("".join), st.text(alphabet="ab \n", max_size=30))
def test_what_the_grammar_allows_both_engines_read_alike(source: str, text: str) -> None:
    try:
        expression = Expression(source)
    except UsageError:
        return
    expected = plain(source).search(text)

    assert expression.search(text) == (expected.span() if expected else None)


@given(st.text(alphabet=r"ab.*+?{}[]()|^$\dws0123,:!=<i-", max_size=30))
def test_no_expression_raises_anything_but_a_usage_error(source: str) -> None:
    try:
        Expression(source)
    except UsageError:
        return
    plain(source)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        pytest.param("a*b", "a" * WINDOW, id="open_repeat"),
        pytest.param("a?a?.*b", "a" * WINDOW, id="open_repeat_in_company"),
        pytest.param("a{0,120}a{0,120}b", "a" * WINDOW, id="two_counts"),
    ],
)
def test_the_worst_that_is_allowed_ends_soon_even_without_re2(source: str, text: str) -> None:
    check(source)
    begin = time.process_time()

    assert plain(source).search(text) is None
    assert time.process_time() - begin < 10


def test_the_ways_of_an_expression_are_counted() -> None:
    # b{1,3} can be tried in 3 ways, (?:c|d)? in 3 (c, d or neither), e? in 2: 3 * 3 * 2; the alternative adds 1.
    ways: Any = Grammar("ab{1,3}(?:c|d)?e?|f").whole()

    assert ways == 19
    assert Grammar("a*").whole() == WINDOW < MAX_WAYS
