"""What asking may cost, and what it has cost.

A request is let through only while its estimate still fits; replies are then counted by what the server says they
used. Prices are the user's to give: they change, and a wrong table would be worse than none.
"""

import msgspec

from blade.llm.model import Model, ModelError, Reply, Request

CHARS_PER_TOKEN = 4
"""A rule of thumb for English, used before a request is sent and where a server does not count."""


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """How much may be spent; `None` is not a limit."""

    max_tokens: int | None = None
    """Tokens in and out, over all requests."""
    max_cost: float | None = None
    """In the currency of the prices."""
    price_in: float | None = None
    """Price of a million input tokens."""
    price_out: float | None = None
    """Price of a million output tokens."""

    def cost(self, tokens_in: int, tokens_out: int) -> float | None:
        """What so many tokens cost; `None` when a price is not known."""
        if self.price_in is None or self.price_out is None:
            return None
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6


class Spent(msgspec.Struct, kw_only=True):
    """What was spent so far."""

    requests: int = 0
    """Replies that came."""
    tokens_in: int = 0
    """Tokens read by the model."""
    tokens_out: int = 0
    """Tokens it wrote."""
    estimated: int = 0
    """Replies whose tokens the server did not count, so that they are estimates."""


class BudgetSpent(ModelError):
    """The next request would cost more than is left."""

    def __init__(self, message: str) -> None:
        super().__init__(message, kind="rejected")


class MeteredModel:
    """A model that is asked only while the budget lasts."""

    def __init__(self, model: Model, budget: Budget) -> None:
        self._model = model
        self._budget = budget
        self._promised = [0, 0]
        self.spent = Spent()
        """What was spent so far."""

    @property
    def name(self) -> str:
        """What the model is called."""
        return self._model.name

    async def ask(self, request: Request) -> Reply:
        """The reply, or `BudgetSpent` before anything is sent."""
        expected = estimate(request)
        self._refuse_beyond(expected)
        self._promised = [a + b for a, b in zip(self._promised, expected, strict=True)]
        try:
            reply = await self._model.ask(request)
        finally:
            self._promised = [a - b for a, b in zip(self._promised, expected, strict=True)]
        self._count(reply, expected)
        return reply

    async def close(self) -> None:
        """Lets go of connections."""
        await self._model.close()

    def _refuse_beyond(self, expected: tuple[int, int]) -> None:
        """Raises when what is spent, under way and asked for now would be too much."""
        budget, spent = self._budget, self.spent
        tokens_in = spent.tokens_in + self._promised[0] + expected[0]
        tokens_out = spent.tokens_out + self._promised[1] + expected[1]
        if budget.max_tokens is not None and tokens_in + tokens_out > budget.max_tokens:
            raise BudgetSpent(f"the budget of {budget.max_tokens:,} tokens would be exceeded.")
        cost = budget.cost(tokens_in, tokens_out)
        if budget.max_cost is not None and cost is not None and cost > budget.max_cost:
            raise BudgetSpent(f"the budget of {budget.max_cost:g} would be exceeded.")

    def _count(self, reply: Reply, expected: tuple[int, int]) -> None:
        usage = reply.usage
        known = usage is not None and usage.input_tokens is not None and usage.output_tokens is not None
        self.spent.requests += 1
        self.spent.estimated += not known
        self.spent.tokens_in += (usage.input_tokens or 0) if usage and known else expected[0]
        self.spent.tokens_out += (usage.output_tokens or 0) if usage and known else tokens(reply.text)


def estimate(request: Request) -> tuple[int, int]:
    """About how many tokens a request will read and, at most, write."""
    read = tokens(request.instructions or "") + tokens(msgspec.json.encode(request.input).decode())
    return read, request.sampling.max_output_tokens or 0


def tokens(text: str) -> int:
    """About how many tokens a text is."""
    return -(-len(text) // CHARS_PER_TOKEN)
