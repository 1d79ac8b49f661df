import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.diagnosis.templates import masked, opens_as_error, template_of


@pytest.mark.parametrize(
    ("first", "second", "template"),
    [
        pytest.param(
            "Error: payment amount does not add up, total price is 255, but paid 250",
            "Error: payment amount does not add up, total price is 1,024.50, but paid 7",
            "Error: payment amount does not add up, total price is …, but paid …",
            id="numbers",
        ),
        pytest.param(
            "Reservation HAT136 not found",
            "Reservation mia_li_3668 not found",
            "Reservation … not found",
            id="ids",
        ),
        pytest.param(
            "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/a.txt'",
            "FileNotFoundError: [Errno 2] No such file or directory: '/home/x/b c.md'",
            "FileNotFoundError: [Errno 2] No such file or directory: …",
            id="paths_and_quotes_but_not_error_numbers",
        ),
        pytest.param("exit code 137", "  exit   code 137\nmore", "exit code 137", id="exit_codes_are_kept"),
        pytest.param(
            "Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'x'",
            "Traceback (most recent call last):\n  File \"b.py\", line 9\nKeyError: 'y'\n",
            "KeyError: …",
            id="the_last_line_of_a_traceback",
        ),
        pytest.param(
            '{"error": {"message": "no seat 12A"}}', '{"error": {"message": "no seat 3F"}}', "no seat …", id="objects"
        ),
    ],
)
def test_texts_that_differ_in_particulars_have_one_template(first: str, second: str, template: str) -> None:
    assert template_of(first) == template_of(second) == template


def test_texts_that_say_different_things_keep_different_templates() -> None:
    assert template_of("Error: user not found") != template_of("Error: reservation not found")


@pytest.mark.parametrize(
    "text",
    [
        "Error: flight not available",
        "ValueError: x",
        "openai.BadRequestError: filtered",
        '{"status": "error", "message": "no"}',
        '{"ok": false}',
        "exit code: 2",
        "HTTP 503",
    ],
)
def test_errors_are_known_by_their_form(text: str) -> None:
    assert opens_as_error(text)


@pytest.mark.parametrize(
    "text", ["I could not find an error.", '{"error": null, "rows": 3}', "[]", "", "exit code 0", "The error was fixed"]
)
def test_talk_about_errors_is_not_an_error(text: str) -> None:
    assert not opens_as_error(text)


@given(st.text(max_size=300))
def test_masking_twice_changes_nothing_and_never_fails(text: str) -> None:
    once = masked(text)
    assert masked(once) == once
