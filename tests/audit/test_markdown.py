from hypothesis import given
from hypothesis import strategies as st

from blade.audit.markdown import plain, read_document, shown, split_cells

MESSY = """\
---
title: not prose
---
# Report of `run-1`

First line of a **paragraph**
that goes on. A second sentence, e.g. this one.

- an item with `code | bar`
> quoted words

| model | pass@1 | n |
|:--|--:|---|
| **big** | 62.2\u00a0%[^1] | 1\u202f234 |
| small \\| cheap | − |

```
12 of 10 tasks in a fence
```
## Next
<!-- 3 of 2 -->
Last.
"""


def test_a_report_is_read_as_passages_and_tables_with_their_lines() -> None:
    document = read_document(MESSY)

    assert [(shown(passage.text), passage.marks[0][1]) for passage in document.passages] == [
        ("Report of `run-1`", 4),
        ("First line of a paragraph that goes on. A second sentence, e.g. this one.", 6),
        ("an item with `code | bar`", 9),
        ("quoted words", 10),
        ("Next", 20),
        ("Last.", 22),
    ]
    (table,) = document.tables
    assert table.header == ("model", "pass@1", "n")
    assert [row.cells for row in table.rows] == [("big", "62.2 %", "1,234"), ("small | cheap", "−")]
    assert [row.line for row in table.rows] == [14, 15]
    assert table.rows[1].cell(2) == ""


def test_a_sentence_knows_the_line_it_begins_on() -> None:
    document = read_document("One ends.\nTwo has\nthree lines. `A. B` is code.\n")

    assert [(shown(s.text), s.line) for s in document.sentences()] == [
        ("One ends.", 1),
        ("Two has three lines.", 2),
        ("`A. B` is code.", 3),
    ]


def test_quoted_text_is_one_sentence() -> None:
    document = read_document("It said “Done. It is set. Bye.” and left.\n")

    assert [s.text for s in document.sentences()] == ["It said “Done. It is set. Bye.” and left."]


def test_markup_is_taken_off_and_escapes_are_undone() -> None:
    assert shown(plain(r"**a** _b_ snake_case \_x\_ &lt;tag&gt; [link](http://x) `` `y` `` \*z")) == (
        "a b snake_case _x_ <tag> link ``y`` *z"
    )


def test_a_greater_sign_marks_a_quote_only_where_a_line_begins() -> None:
    document = read_document("- `while n > 9:` and a -> b\n> said > so\n")

    assert [shown(s.text) for s in document.sentences()] == ["`while n > 9:` and a -> b", "said > so"]
    assert split_cells("> | x > 9 | 2 |") == ("x > 9", "2")


def test_what_is_struck_out_or_cannot_be_seen_is_not_there() -> None:
    assert plain("~~gone~~ 3 * 4 <del>gone</del>![alt](x.png) n\u200bot h\u0430lf") == "3 * 4 not half"


def test_a_bar_behind_a_backslash_belongs_to_its_cell() -> None:
    assert split_cells(r"| a \| b | `c` |") == ("a | b", plain("`c`"))


def test_a_sign_inside_a_line_makes_no_block_quote() -> None:
    document = read_document(
        "- it says “`<b>16</b>`” and 3 > 2\n> truly quoted\n\n| a > b | c |\n|---|---|\n| `x>y` | 1 |\n"
    )

    assert [shown(passage.text) for passage in document.passages] == ["it says “`<b>16</b>`” and 3 > 2", "truly quoted"]
    assert [tuple(map(shown, row.cells)) for row in document.tables[0].rows] == [("`x>y`", "1")]


def test_comments_are_left_out_but_not_what_looks_like_one_in_code() -> None:
    text = "Said `<!--` here. <!-- 1 -->\n\n```\n<!--\n```\nStill 5 < 6 <!-- read.\n\n<!-- open\nto the end\n"

    assert [shown(passage.text) for passage in read_document(text).passages] == [
        "Said `<!--` here.",
        "Still 5 < 6 <!-- read.",
    ]


def test_an_indented_comment_hides_nothing_behind_it() -> None:
    document = read_document("One.\n  <!-- 1\n2 -->\n\nTwo.\n")

    assert [(passage.text, passage.line_at(0)) for passage in document.passages] == [("One.", 1), ("Two.", 5)]


@given(st.text(alphabet='ab1 |`*_-#>\n.\\"“”%', max_size=200))
def test_any_text_is_read_and_every_place_is_one_of_its_lines(text: str) -> None:
    document = read_document(text)
    lines = len(text.splitlines())

    assert all(1 <= line <= lines for passage in document.passages for _, line in passage.marks)
    assert all(1 <= row.line <= lines for table in document.tables for row in table.rows)
