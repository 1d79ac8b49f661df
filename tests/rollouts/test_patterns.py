import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.rollouts import patterns
from blade.rollouts.patterns import LITERALS, MARK_SEARCH, TEXT_MARKS, Search, find_plain

pieces_of_text = st.sampled_from(
    [text for _, text in LITERALS] + [b"timed", b" out", b"RATE LIMIT", b"x", b"\\n", b"\xff"]
)
texts = st.lists(pieces_of_text | st.binary(max_size=5)).map(b"".join)


@given(data=texts)
def test_both_engines_find_the_same(data: bytes) -> None:
    pytest.importorskip("hyperscan")
    assert sorted(set(MARK_SEARCH.hits(data))) == sorted(set(find_plain(LITERALS, data)))


@given(pieces=st.lists(texts))
def test_a_piece_has_what_its_own_bytes_contain(pieces: list[bytes]) -> None:
    found = {(index, code) for index, piece in enumerate(pieces) for code, text in LITERALS if text in piece.lower()}
    assert MARK_SEARCH.pieces_with(pieces) == sorted(found)


@given(pieces=st.lists(texts))
def test_without_hyperscan_the_answer_is_the_same(pieces: list[bytes]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patterns, "compiled", lambda _: None)
        assert Search(LITERALS).pieces_with(pieces) == MARK_SEARCH.pieces_with(pieces)


def test_a_missing_engine_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "hyperscan", None)
    assert patterns.compiled(LITERALS) is None


def test_literals_are_lower_case_ascii_without_line_breaks() -> None:
    for texts_of_mark in TEXT_MARKS.values():
        for text in texts_of_mark:
            assert (text.isascii(), text.lower(), b"\n" in text, b"\\" in text) == (True, text, False, False)
