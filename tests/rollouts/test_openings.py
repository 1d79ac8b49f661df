"""What is told of undecoded texts by a few of their bytes is never wrong: it may only be unsure."""

import json

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from blade.diagnosis.templates import opens_as_error
from blade.rollouts.features import TOOL_ERROR
from blade.rollouts.openings import Openings
from blade.rollouts.steps import texts_of

WORDS = st.sampled_from((
    "Error", "error.code", "ValueError", "my.Exception", "Traceback", "the", "Section", "exit", "exited", "code", "404",
    "HTTP/1.1", "bash:", "zsh:", "sh:", "fatal:", "<tool_use_error>", '"', "{", ":", "(", "\n", "\\", "é",
    "ſ", "🙂", ".", "_", "x" * 60,
))  # fmt: skip
TEXTS = st.builds(
    lambda words, gap, rest: gap.join(words) + rest,
    st.lists(WORDS, max_size=6),
    st.sampled_from(("", " ")),
    st.sampled_from(("", "word " * 30)),
)


def raws(texts: list[str], *, ascii_only: bool) -> list[msgspec.Raw]:
    return [msgspec.Raw(json.dumps(text, ensure_ascii=ascii_only).encode()) for text in texts]


@given(texts=st.lists(TEXTS, min_size=1, max_size=5), ascii_only=st.booleans())
@example(texts=["ValueError: no such name " * 9], ascii_only=True)
def test_no_text_that_opens_as_an_error_is_passed_over(texts: list[str], ascii_only: bool) -> None:
    stored = raws(texts, ascii_only=ascii_only)
    passed = [at for at, may_be in enumerate(Openings(stored).may_be_errors.tolist()) if not may_be]

    assert not any(opens_as_error(texts[at]) or TOOL_ERROR.match(bytes(stored[at])) for at in passed)


def test_plain_words_are_passed_over() -> None:
    said = raws(["The order was found and " * 9, "Error: no order was found " * 9, "found"], ascii_only=True)

    assert Openings(said).may_be_errors.tolist() == [False, True, True]


@given(texts=st.lists(TEXTS, max_size=5), ascii_only=st.booleans(), size=st.integers(1, 200))
def test_texts_that_are_sure_to_be_longer_are(texts: list[str], ascii_only: bool, size: int) -> None:
    stored = raws(texts, ascii_only=ascii_only)
    longer = Openings(stored).are_longer(size).tolist()

    assert texts_of(stored) == texts
    assert all(len(text) > size for text, is_longer in zip(texts, longer, strict=True) if is_longer)
    assert Openings(raws(["plain words " * 60], ascii_only=True)).are_longer(size).all()
