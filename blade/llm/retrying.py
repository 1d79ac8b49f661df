"""When and how often a request is tried again: back-off that doubles, with jitter, and the server's own wish first."""

import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from blade.llm.model import RETRYABLE, ModelError

T = TypeVar("T")

LONGEST = 60.0
"""Seconds of back-off that is never exceeded by our own wish."""
PATIENCE = 300.0
"""Seconds a server may ask for; beyond that the request is given up and may be resumed another day."""


class Backoff(msgspec.Struct, frozen=True, kw_only=True):
    """How patient a client is."""

    attempts: int = 6
    """Requests in all, the first included."""
    first: float = 0.5
    """Seconds before the second attempt, on average; it doubles from there."""

    async def run(self, ask: Callable[[], Awaitable[T]]) -> T:
        """The first good answer, or the last error."""
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self.attempts), wait=self.wait, retry=retry_if_exception(may_pass), reraise=True
        )
        async for attempt in retrying:
            with attempt:
                return await ask()
        raise AssertionError("a retry that neither returns nor raises")

    def wait(self, state: RetryCallState) -> float:
        """Seconds before the next attempt.

        Jitter of a half to one and a half keeps many workers that were refused together from coming back together.
        """
        error = state.outcome.exception() if state.outcome else None
        wished = error.retry_after if isinstance(error, ModelError) and error.retry_after is not None else 0.0
        own = min(LONGEST, self.first * 2.0 ** (state.attempt_number - 1))
        return wished + own * random.uniform(0.5, 1.5)  # no result depends on it


def may_pass(error: BaseException) -> bool:
    """Whether the same request could succeed later."""
    if not isinstance(error, ModelError) or error.kind not in RETRYABLE:
        return False
    return error.retry_after is None or error.retry_after <= PATIENCE
