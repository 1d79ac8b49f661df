"""Foreign text made safe: what each function keeps, removes and escapes."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from blade.report.text import Markdown, cell, clip, code, code_cell, md, one_line, plain

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
TEXTS = st.text(max_size=60) | st.text(alphabet="`|\\<>[]()!*_~#-=+:&$@\n\r\t 1.w/", max_size=30)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a\nb\tc", "a\nb\tc", id="lines_and_tabs_stay"),
        pytest.param("a\r\nb\rc\u2028d\x0ce", "a\nb\nc\nd\ne", id="every_line_end_is_one"),
        pytest.param("\x1b[1;31mred\x1b[0m \x9b2Jx", "red x", id="colours_and_cursor"),
        pytest.param("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", "ab", id="titles_and_links"),
        pytest.param("a\x00\x07\x7f\x85b", "a\nb", id="controls"),
        pytest.param("user\u202egnp.exe\u202c", "usergnp.exe", id="right_to_left_override"),
        pytest.param("a\u200bb\ufeff\U000e0041", "ab", id="invisible"),
        pytest.param("👩\u200d💻 می\u200cخواهم", "👩\u200d💻 می\u200cخواهم", id="joiners_stay"),
        pytest.param("half \ud83d", "half \ufffd", id="lone_surrogate"),
        pytest.param("\x1b]52;c;no end", "52;c;no end", id="unfinished_sequence"),
    ],
)
def test_plain_text_is_safe_in_a_terminal(text: str, expected: str) -> None:
    assert plain(text) == expected


@given(st.text())
@example("\x1b\x1b[31m[31m")
def test_plain_text_holds_no_control_characters_and_stays_as_it_is_when_cleaned_again(text: str) -> None:
    cleaned = plain(text)

    assert {sign for sign in cleaned if unicodedata.category(sign) in ("Cc", "Cs")} <= {"\n", "\t"}
    assert plain(cleaned) == cleaned


@pytest.mark.parametrize(("most", "expected"), [(11, "hello world"), (10, "hello wor…"), (7, "hello…"), (1, "…")])
def test_clipped_text_has_at_most_so_many_characters(most: int, expected: str) -> None:
    assert clip("hello world", most) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a plain sentence, really.", "a plain sentence, really.", id="plain"),
        pytest.param("see `12:3#5` there", "see `12:3#5` there", id="code_stays_code"),
        pytest.param("one ` alone", "one &#96; alone", id="stray_backtick"),
        pytest.param("<b>&amp;", "&lt;b&gt;&amp;amp;", id="html"),
        pytest.param("*a* _b_ ~~c~~ [d](e) $f$", r"\*a\* \_b\_ \~\~c\~\~ \[d\](e) \$f\$", id="markup"),
        pytest.param("a | b", r"a \| b", id="vertical_bar"),
        pytest.param("go to https://x.example now", "go to `https://x.example` now", id="link"),
        pytest.param("mail a@b.example or @team", "mail `a@b.example` or `@team`", id="mention"),
        pytest.param("pass@1 is fine", "pass@1 is fine", id="metric_is_no_mention"),
        pytest.param("# heading", r"\# heading", id="heading"),
        pytest.param("1. item", r"1\. item", id="numbered_list"),
        pytest.param("1.5 times", "1.5 times", id="number"),
        pytest.param("--- ", r"\---", id="rule"),
        pytest.param("a\n\nb", "a b", id="lines"),
        pytest.param("x@y.z`code`", "`x@y.z` `code`", id="neighbouring_code"),
    ],
)
def test_markdown_shows_foreign_text_as_it_is(text: str, expected: str) -> None:
    assert md(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("12:3", "`12:3`", id="plain"),
        pytest.param("a`b", "``a`b``", id="one_backtick"),
        pytest.param("``", "``` `` ```", id="only_backticks"),
        pytest.param("a|b<i>", "`a|b<i>`", id="markup_is_literal"),
        pytest.param(" \n", "(empty)", id="nothing"),
    ],
)
def test_code_is_fenced_whatever_it_holds(text: str, expected: str) -> None:
    assert code(text) == expected


def test_vertical_bars_are_escaped_in_tables_even_inside_code() -> None:
    assert (code_cell("a|b"), cell("`a|b`")) == (r"`a\|b`", r"`a\|b`")


def test_long_text_is_cut_where_it_is_shown() -> None:
    assert [len(one_line("x" * 5000)), len(md("x" * 5000, 20)), len(code("x" * 5000, 20))] == [1000, 20, 22]


@given(TEXTS)
@example("a ` ` b")
def test_markdown_renders_back_to_the_text_itself(text: str) -> None:
    (inline,) = PARSER.parseInline(md(text))
    shown = "".join(child.content for child in inline.children or [])

    # Code spans lose their own backticks, and neighbours of them gain a space.
    assert "".join(shown.replace("`", "").split()) == "".join(one_line(text).replace("`", "").split())


@given(TEXTS)
def test_a_line_that_begins_with_foreign_text_is_a_paragraph(text: str) -> None:
    tokens = PARSER.parse(f"before\n\n{md(text)}\n\nafter\n")

    assert {token.type for token in tokens} == {"paragraph_open", "inline", "paragraph_close"}


@given(TEXTS, TEXTS)
@example("\\", "\\")
@example("`|", "|`")
def test_a_table_keeps_its_columns_whatever_its_cells_hold(first: str, second: str) -> None:
    row = f"| {cell(first)} | {code_cell(second)} |"
    tokens = PARSER.parse(f"| a | b |\n|---|---|\n{row}\n{row}\n")

    assert [token.type for token in tokens].count("td_open") == 4
    assert [token.type for token in tokens].count("tr_open") == 3


@given(TEXTS)
def test_code_renders_back_to_one_span_with_the_text_itself(text: str) -> None:
    (inline,) = PARSER.parseInline(code(text))
    (span,) = inline.children or []

    assert span.content == (one_line(text, 240) or "(empty)")


def test_escaped_text_is_marked_so_that_it_is_not_escaped_twice() -> None:
    assert [type(make("x")) for make in (md, cell, code, code_cell)] == [Markdown] * 4
