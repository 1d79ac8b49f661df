"""A model behind an SDK: one attempt bounded in time, its errors named, its answer read, the whole retried.

The SDKs carry the request and bring back bytes; we read the bytes ourselves, because the SDKs take whatever a server
sends for an answer, and a garbled one must be asked for again.
"""

import asyncio
import random
import re
from collections.abc import Awaitable, Callable
from types import ModuleType
from typing import Any, Generic, Protocol, TypeVar

import msgspec
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from blade.llm.bodies import BadBody, read_body
from blade.llm.faults import from_sdk, malformed, timed_out
from blade.llm.model import RETRYABLE, ModelError, Reply, Request, Sampling

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


OPTIONAL = ("temperature", "top_p", "seed")
"""Settings an answer can be drawn without; a limit of tokens is none of them."""
REFUSED = re.compile(r"unsupported|not support|deprecated|removed|unrecognized|unknown|not permitted|cannot both", re.I)
"""How servers say that they do not take a parameter, and not that its value is wrong."""

ROOM = 32
"""Requests at a time through one client of the SDK. Its pool looks at every connection for every request, which costs a
third of the time with 256 of them; another client costs 16 ms once."""
NO_KEY = "no-key"
"""What servers that want no key are sent, because the SDKs send nothing without one."""


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Where a model is, and how long it may take."""

    model: str
    """The name the server knows it by."""
    base_url: str | None
    """The server; `None` for the vendor's own."""
    timeout: float
    """Seconds for one attempt, from the first byte sent to the last received."""

    @property
    def is_vendors(self) -> bool:
        """Whether this is the vendor's own server, which refuses parameters it does not know."""
        return self.base_url is None


Sdk = TypeVar("Sdk")


class Wire(Protocol[Sdk]):
    """How one API is spoken."""

    sdk: ModuleType

    def open(self, endpoint: Endpoint) -> Sdk:
        """A client of the SDK that does not retry by itself."""
        ...

    def payload(self, request: Request, endpoint: Endpoint) -> dict[str, Any]:
        """What is sent."""
        ...

    async def send(self, client: Sdk, payload: dict[str, Any]) -> bytes:
        """The body of the server's answer."""
        ...

    def reply(self, body: bytes, payload: dict[str, Any]) -> Reply:
        """The answer in a body to what was asked; raises `msgspec.MsgspecError` when it is none."""
        ...

    async def close(self, client: Sdk) -> None:
        """Closes the SDK's client."""
        ...


class Client(Generic[Sdk]):
    """A `Model` over one wire."""

    def __init__(self, wire: Wire[Sdk], endpoint: Endpoint, backoff: Backoff) -> None:
        self.name = endpoint.model
        self._wire = wire
        self._endpoint = endpoint
        self._backoff = backoff
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pools: list[Pool[Sdk]] = []
        self._refused: frozenset[str] = frozenset()

    async def ask(self, request: Request) -> Reply:
        """The model's answer, after as many attempts as it takes or is worth.

        Newer models of the vendors take no temperature, whatever it is; such a setting is left out from then on, and
        replies say so.
        """
        while True:
            taken = without_settings(request, self._refused)
            payload = self._wire.payload(taken, self._endpoint)
            try:
                reply = await self._backoff.run(lambda payload=payload: self._attempt(payload))  # type: ignore[misc]
            except ModelError as error:
                refused = refused_settings(error, taken.sampling)
                if not refused:
                    raise
                self._refused |= refused
            else:
                return msgspec.structs.replace(reply, refused=sorted(self._refused)) if self._refused else reply

    async def _attempt(self, payload: dict[str, Any]) -> Reply:
        try:
            with self._pool() as client:
                async with asyncio.timeout(self._endpoint.timeout):
                    body = await self._wire.send(client, payload)
        except TimeoutError:
            raise timed_out(self.name) from None
        except BadBody as error:
            raise malformed(self.name, str(error)) from None
        except self._wire.sdk.APIError as error:
            raise from_sdk(self._wire.sdk, error, model=self.name) from error
        try:
            return read_body(lambda data: self._wire.reply(data, payload), body)
        except ValueError as error:
            raise malformed(self.name, str(error)) from None

    def _pool(self) -> "Pool[Sdk]":
        """The pool with the most room; connections belong to a loop, so another loop gets pools of its own."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._pools = loop, []
        freest = min(self._pools, key=lambda pool: pool.busy, default=None)
        if freest is None or freest.busy >= ROOM:
            freest = Pool(self._wire.open(self._endpoint))
            self._pools.append(freest)
        return freest

    async def close(self) -> None:
        """Closes the connections of this loop."""
        if self._loop is asyncio.get_running_loop():
            pools, self._pools = self._pools, []
            for pool in pools:
                await self._wire.close(pool.client)


class Pool(Generic[Sdk]):
    """A client of the SDK and how many of its connections are in use."""

    def __init__(self, client: Sdk) -> None:
        self.client = client
        self.busy = 0

    def __enter__(self) -> Sdk:
        self.busy += 1
        return self.client

    def __exit__(self, *_: object) -> None:
        self.busy -= 1


def refused_settings(error: ModelError, sampling: Sampling) -> frozenset[str]:
    """Settings of a request that a server refused by name; none when it refused something else."""
    said = str(error)
    if error.kind != "rejected" or not REFUSED.search(said):
        return frozenset()
    given = (name for name in OPTIONAL if getattr(sampling, name) is not None)
    return frozenset(name for name in given if re.search(rf"\b{name}\b", said))


def without_settings(request: Request, names: frozenset[str]) -> Request:
    """A request that leaves some settings to the server."""
    if not names:
        return request
    sampling = msgspec.structs.replace(request.sampling, **dict.fromkeys(names))
    return msgspec.structs.replace(request, sampling=sampling)
