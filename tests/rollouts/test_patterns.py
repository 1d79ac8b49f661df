import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.rollouts import patterns
from blade.rollouts.patterns import LITERALS, MARK_SEARCH, TEXT_MARKS, Hits, Search, compiled, find_fast, find_plain
from blade.rollouts.pieces import Pieces

pieces_of_text = st.sampled_from(
    [text for _, text in LITERALS] + [b"timed", b" out", b"RATE LIMIT", b"x", b"\\n", b"\xff"]
)
HYPERSCAN = compiled(LITERALS)
texts = st.lists(pieces_of_text | st.binary(max_size=5)).map(b"".join)


def pairs(hits: Hits) -> list[tuple[int, int]]:
    return sorted({*zip(hits.codes.tolist(), hits.ends.tolist(), strict=True)})


@given(data=texts)
def test_all_engines_find_the_same(data: bytes) -> None:
    pytest.importorskip("hyperscan")
    expected = pairs(find_plain(LITERALS, data))
    assert pairs(MARK_SEARCH.hits(data)) == expected
    assert pairs(find_fast(HYPERSCAN, data)) == expected


@given(pieces=st.lists(texts))
def test_a_piece_has_what_its_own_bytes_contain(pieces: list[bytes]) -> None:
    found = {(index, code) for index, piece in enumerate(pieces) for code, text in LITERALS if text in piece.lower()}
    assert MARK_SEARCH.pieces_with(Pieces.of(pieces)) == sorted(found)


@given(pieces=st.lists(texts))
def test_without_an_engine_the_answer_is_the_same(pieces: list[bytes]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patterns, "library", lambda: None)
        patch.setattr(patterns, "compiled", lambda _: None)
        together = Pieces.of(pieces)
        assert Search(LITERALS).pieces_with(together) == MARK_SEARCH.pieces_with(together)


def test_a_missing_engine_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "hyperscan", None)
    assert patterns.compiled(LITERALS) is None


def test_literals_are_lower_case_ascii_without_line_breaks() -> None:
    for texts_of_mark in TEXT_MARKS.values():
        for text in texts_of_mark:
            assert (text.isascii(), text.lower(), b"\n" in text, b"\\" in text) == (True, text, False, False)
