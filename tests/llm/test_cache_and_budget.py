"""Asking twice is free, and asking stops where the budget does."""

import asyncio
from pathlib import Path

import pytest

from blade.llm.budget import Budget, BudgetSpent, MeteredModel
from blade.llm.cache import CachedModel
from blade.llm.model import Reply, Request, Sampling, Usage, assistant_message, user_message


class Echo:
    """A model that repeats what it was asked and counts."""

    name = "echo"

    def __init__(self, usage: Usage | None = None) -> None:
        self.asked = 0
        self.usage = usage

    async def ask(self, request: Request) -> Reply:
        self.asked += 1
        said = assistant_message(request.input[0]["content"], id="m")
        return Reply(id=str(self.asked), model="echo", items=[said], usage=self.usage)

    async def close(self) -> None:
        """Nothing to let go of."""


def ask(text: str, seed: int = 0) -> Request:
    return Request(input=[user_message(text)], sampling=Sampling(seed=seed, max_output_tokens=10))


def test_the_same_request_is_asked_once(tmp_path: Path) -> None:
    echo = Echo()
    first, second = CachedModel(echo, tmp_path), CachedModel(echo, tmp_path)
    replies = [asyncio.run(model.ask(ask("hello"))) for model in (first, second)]

    assert (echo.asked, first.hits, second.hits, replies[0] == replies[1]) == (1, 0, 1, True)


@pytest.mark.parametrize(
    "other", [pytest.param(ask("other"), id="words"), pytest.param(ask("hello", seed=1), id="seed")]
)
def test_another_request_is_asked_anew(tmp_path: Path, other: Request) -> None:
    echo = Echo()
    for request in (ask("hello"), other):
        asyncio.run(CachedModel(echo, tmp_path).ask(request))

    assert echo.asked == 2


def test_another_server_is_asked_anew(tmp_path: Path) -> None:
    echo = Echo()
    for place in ("one", "two"):
        asyncio.run(CachedModel(echo, tmp_path, place=place).ask(ask("hello")))

    assert echo.asked == 2


def test_a_damaged_reply_is_asked_for_again(tmp_path: Path) -> None:
    echo = Echo()
    asyncio.run(CachedModel(echo, tmp_path).ask(ask("hello")))
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(kept.read_bytes()[:20])

    assert asyncio.run(CachedModel(echo, tmp_path).ask(ask("hello"))).text == "hello"
    assert echo.asked == 2


def test_what_the_server_counts_is_what_was_spent() -> None:
    metered = MeteredModel(Echo(Usage(input_tokens=7, output_tokens=3)), Budget())
    asyncio.run(metered.ask(ask("hello")))

    assert (metered.spent.tokens_in, metered.spent.tokens_out, metered.spent.estimated) == (7, 3, 0)


def test_a_server_that_does_not_count_is_estimated_and_said_to_be() -> None:
    metered = MeteredModel(Echo(), Budget())
    asyncio.run(metered.ask(ask("four" * 4)))

    assert (metered.spent.tokens_out, metered.spent.estimated) == (4, 1)  # 16 characters / 4


@pytest.mark.parametrize(
    "budget",
    [
        pytest.param(Budget(max_tokens=60), id="tokens"),
        # about 17 tokens in and at most 10 out a request: 27 of a currency at 1 per token
        pytest.param(Budget(max_cost=60, price_in=1e6, price_out=1e6), id="cost"),
    ],
)
def test_a_request_beyond_the_budget_is_never_sent(budget: Budget) -> None:
    echo = Echo(Usage(input_tokens=20, output_tokens=10))
    metered = MeteredModel(echo, budget)
    asyncio.run(metered.ask(ask("one")))
    with pytest.raises(BudgetSpent, match="would be exceeded"):
        asyncio.run(metered.ask(ask("two " * 30)))

    assert echo.asked == 1


def test_requests_under_way_count_too() -> None:
    metered = MeteredModel(Echo(Usage(input_tokens=20, output_tokens=10)), Budget(max_tokens=50))

    async def both() -> list[object]:
        return [*await asyncio.gather(metered.ask(ask("a")), metered.ask(ask("b")), return_exceptions=True)]

    assert [type(result).__name__ for result in asyncio.run(both())] == ["Reply", "BudgetSpent"]
