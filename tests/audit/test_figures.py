import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.audit.figures import Figure, agrees, find_figures, find_pairs
from blade.audit.markdown import plain


def figure(text: str) -> Figure:
    (found,) = find_figures(plain(text))
    return found


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        pytest.param("62.2 %", 62.2, "%", id="percentage"),
        pytest.param("−4.1 pp", -4.1, "pp", id="unicode_minus"),
        pytest.param("+3 percentage points", 3.0, "pp", id="points"),
        pytest.param("1,234,567 tokens", 1_234_567.0, "", id="commas"),
        pytest.param("12\u202f345 tokens", 12_345.0, "", id="narrow_space"),
        pytest.param("1.5k tokens", 1500.0, "", id="scale"),
        pytest.param("2.3x slower", 2.3, "x", id="factor"),
        pytest.param("took 3.5 min", 3.5, "min", id="minutes"),
        pytest.param("519.8 kB", 519.8, "kB", id="size"),
        pytest.param("three tasks", 3.0, "", id="word"),
        pytest.param("one in five tasks", 20.0, "%", id="one_in"),
        pytest.param("½ of them", 50.0, "%", id="fraction_sign"),
        pytest.param("it is two thirds", 200 / 3, "%", id="share_in_words"),
        pytest.param("n=36", 36.0, "", id="named"),
    ],
)
def test_a_figure_is_read_with_its_unit(text: str, value: float, unit: str) -> None:
    assert figure(text).value == pytest.approx(value)
    assert figure(text).unit == unit


@pytest.mark.parametrize(
    "text",
    [
        *("gpt-4o", "r-204", "pass@1", "pass^3", "2026-03-05", "at 10:00", "v1.2.3", "Q2", "3-step plan", "the 5th"),
        *(
            "`42`",
            "95 % interval",
            "95% CI",
            "80 % power",
            "Qwen2.5-7B",
            "Section 3.2",
            "table 4",
            "mail@host2.org",
            "http://x/1/2",
        ),
    ],
)
def test_a_number_that_says_nothing_about_how_much_is_no_figure(text: str) -> None:
    assert not find_figures(plain(text))


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        pytest.param("12 of 36 tasks", "fraction", (12, 36), id="of"),
        pytest.param("12/36", "fraction", (12, 36), id="slash"),
        pytest.param("3 out of the 5", "fraction", (3, 5), id="out_of"),
        pytest.param("three of five", "fraction", (3, 5), id="words"),
        pytest.param("once in five attempts", "fraction", (1, 5), id="once"),
        pytest.param("49.8–73.4 %", "interval", (49.8, 73.4), id="dash"),
        pytest.param("[0.41, 0.62]", "interval", (0.41, 0.62), id="brackets"),
        pytest.param("between 3 and 5", "interval", (3, 5), id="between"),
        pytest.param("-820 to -278", "interval", (-820, -278), id="signed"),
        pytest.param("62 % → 65 %", "change", (62, 65), id="arrow"),
        pytest.param("62.2 ± 5.9", "spread", (62.2, 5.9), id="plus_minus"),
    ],
)
def test_neighbouring_figures_make_a_pair(text: str, kind: str, values: tuple[float, float]) -> None:
    (pair,) = find_pairs(plain(text), find_figures(plain(text)))

    assert (pair.kind, pair.first.value, pair.second.value) == (kind, *values)


def test_a_list_of_numbers_holds_no_pair() -> None:
    assert find_pairs("105, 1,165, 969", find_figures("105, 1,165, 969")) == []
    assert find_pairs("5 / 11 / 0", find_figures("5 / 11 / 0")) == []


@pytest.mark.parametrize(
    ("text", "truth", "expected"),
    [
        pytest.param("62.2 %", 62.179, True, id="rounded"),
        pytest.param("62 %", 62.179, True, id="rounded_to_whole"),
        pytest.param("62.3 %", 62.179, False, id="wrong_digit"),
        pytest.param("36 tasks", 35, False, id="counts_are_exact"),
        pytest.param("about 170", 172, True, id="about"),
        pytest.param("about 170", 190, False, id="about_has_limits"),
        pytest.param("more than 60 %", 62.2, True, id="more_than"),
        pytest.param("more than 60 %", 59.0, False, id="not_more_than"),
        pytest.param("fewer than 5", 4, True, id="fewer_than"),
        pytest.param("under 60 %", 59.0, True, id="under"),
        pytest.param("at least 5", 5, True, id="at_least"),
        pytest.param("≤ 0.001", 0.0004, True, id="at_most"),
        pytest.param("nearly 20 %", 18.9, True, id="nearly"),
        pytest.param("nearly 20 %", 20.8, False, id="nearly_is_below"),
        pytest.param("over 36 tasks", 36, True, id="a_base_is_no_bound"),
        pytest.param("over 100 tasks", 120, True, id="a_round_bound"),
    ],
)
def test_a_figure_agrees_with_the_truth_as_it_is_rounded_and_hedged(text: str, truth: float, expected: bool) -> None:
    assert agrees(figure(text), truth) is expected


@given(st.floats(0, 1), st.integers(0, 3))
def test_a_rounded_share_always_agrees_and_one_unit_more_never_does(share: float, digits: int) -> None:
    shown = f"{100 * share:.{digits}f}"
    more = f"{float(shown) + 2 * 10.0**-digits:.{digits}f}"

    assert agrees(figure(f"{shown} %"), 100 * share)
    assert not agrees(figure(f"{more} %"), 100 * share)
