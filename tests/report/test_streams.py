"""JSON in pieces is the JSON that `msgspec` writes at once."""

import msgspec
import pytest

from blade.report.streams import PIECE, Made, json_pieces


class Part(msgspec.Struct, frozen=True):
    name: str
    numbers: list[int] = []
    more: int | msgspec.UnsetType = msgspec.UNSET


class Whole(msgspec.Struct, frozen=True):
    parts: list[Part]
    by_name: dict[str, list[int]] = {}
    said: str = "two\nlines, {braces} and [brackets]"


@pytest.mark.parametrize("indent", [0, 2])
@pytest.mark.parametrize(
    "value",
    [
        pytest.param(Whole(parts=[]), id="nothing"),
        pytest.param(Whole(parts=[Part("a", [1]), Part("b", more=2)], by_name={"x": [], "y": [1, 2]}), id="few"),
        pytest.param(Whole(parts=[Part(str(n), [n] * (n % 3)) for n in range(2 * PIECE + 1)]), id="many_entries"),
        pytest.param(Whole(parts=[Part("long", list(range(PIECE + 1)))]), id="a_long_list_in_an_entry"),
    ],
)
def test_pieces_are_the_whole(value: Whole, indent: int) -> None:
    encoded = msgspec.json.encode(value)

    assert b"".join(json_pieces(value, indent=indent)) == (
        msgspec.json.format(encoded, indent=indent) if indent else encoded
    )


def test_entries_are_made_when_they_are_written() -> None:
    asked: list[int] = []

    def make(first: int, end: int) -> list[int]:
        asked.append(end - first)
        return list(range(first, end))

    made = Made(PIECE + 2, make)

    assert b"".join(json_pieces(made)) == msgspec.json.encode(list(range(PIECE + 2)))
    assert asked == [PIECE, 2]
    assert (len(made), made[3], made[PIECE:]) == (PIECE + 2, 3, [PIECE, PIECE + 1])
