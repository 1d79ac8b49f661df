"""Who plays a rollout: a model in our own loop, judged by an environment of ours, or somebody else's agent.

A NeMo Gym agent server takes a materialized row at `/run` and gives it back answered and judged. The transport is the
SDK's own HTTP client, so that no second one is needed.
"""

import asyncio
import time
from typing import Any, Protocol
from urllib.parse import urlsplit

import msgspec

from blade.environments import Environment
from blade.errors import UsageError
from blade.evals.agent import Limits, Played, play
from blade.evals.counted import is_number
from blade.evals.files import ENCODER
from blade.evals.judging import let_go
from blade.evals.materialize import Row
from blade.evals.rows import FAILURE, NOT_KEPT, identity, judged_row
from blade.evals.skills import Library, SkillSession, without_skill_calls
from blade.llm import Model
from blade.llm.bodies import BOUNDED, BadBody, read_body
from blade.llm.client import Backoff
from blade.llm.connect import without_sdk
from blade.llm.faults import kind_of, malformed, redacted, retry_after, timed_out
from blade.llm.model import ModelError
from blade.rollouts.skills import SKILLS_READ


class Player(Protocol):
    """Turns a materialized row into a judged one."""

    @property
    def name(self) -> str:
        """The model it plays with."""
        ...

    @property
    def notes(self) -> list[str]:
        """What a user should know about how it played."""
        ...

    async def judged(self, row: Row) -> Row:
        """The judged row; raises what went wrong."""
        ...

    async def close(self) -> None:
        """Lets go of connections."""
        ...


class ModelPlayer:
    """Plays with a model and an environment."""

    def __init__(self, model: Model, environment: Environment, limits: Limits, library: Library | None = None) -> None:
        self.name = model.name
        self._model = model
        self._environment = environment
        self._limits = limits
        self._library = library
        self._refused: list[str] = []

    @property
    def notes(self) -> list[str]:
        """Settings that were not used."""
        return [f"{self.name} takes no {name}; the rollouts were drawn without it" for name in self._refused]

    async def judged(self, row: Row) -> Row:
        """Plays and judges; tools and verifiers may take their time, so they work in threads."""
        session = self._environment.open(row)
        if self._library is None:
            return await self._judge(row, await play(self._model, row, session, self._limits))
        reading = SkillSession(self._library, session)
        played = await play(self._model, row, reading, self._limits)
        return {**await self._judge(row, played), SKILLS_READ: reading.read}

    async def _judge(self, row: Row, played: Played) -> Row:
        self._refused = played.refused
        start = time.perf_counter()
        verdict = await asyncio.to_thread(self._environment.verify, row, without_skill_calls(played.items))
        return judged_row(row, played, verdict, judging=time.perf_counter() - start)

    async def close(self) -> None:
        """Closes the model's connections."""
        await self._model.close()
        await asyncio.to_thread(let_go, self._environment)


PATH = "/run"
JSON = {"content-type": "application/json"}

DECODER = msgspec.json.Decoder(dict[str, Any])


class AgentPlayer:
    """Has rollouts played and judged by an agent server."""

    def __init__(self, url: str, *, timeout: float, backoff: Backoff) -> None:
        self.url = run_url(url)
        self.name = f"agent at {urlsplit(self.url).hostname}"
        self._timeout = timeout
        self._backoff = backoff
        self._client: Any = None
        self.notes: list[str] = []

    async def judged(self, row: Row) -> Row:
        """The agent's row; what identifies the rollout stays ours."""
        data = ENCODER.encode(row)
        answer = await self._backoff.run(lambda: self._post(data))
        return {**row, **answer, **identity(row)}

    async def _post(self, data: bytes) -> Row:
        if self._client is None:
            try:
                import openai
            except ModuleNotFoundError as error:
                raise without_sdk(error) from error
            self._client = openai.DefaultAsyncHttpxClient(timeout=self._timeout, event_hooks=BOUNDED)
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._client.post(self.url, content=data, headers=JSON)
        except TimeoutError:
            raise timed_out(self.name) from None
        except Exception as error:  # the client's errors have no public name that all versions of the SDK share
            if isinstance(error, BadBody):
                raise malformed(self.name, str(error)) from None
            if "Timeout" in type(error).__name__:
                raise timed_out(self.name) from None
            raise ModelError(
                f"{self.name}: the connection failed ({redacted(str(error))}).", kind="connection"
            ) from error
        if response.status_code >= 400:
            said = f"{self.name}: the server answered {response.status_code}: {redacted(response.text)}"
            raise ModelError(said, kind=kind_of(response.status_code), retry_after=retry_after(response.headers))
        return self._read(response.content)

    def _read(self, body: bytes) -> Row:
        try:
            row = read_body(DECODER.decode, body)
        except ValueError as error:
            raise malformed(self.name, str(error)) from None
        if not is_number(row.get("reward")) and not row.get(FAILURE) and not row.get(NOT_KEPT):
            raise malformed(self.name, "it holds no reward")
        return row

    async def close(self) -> None:
        """Closes the connections."""
        if self._client is not None:
            await self._client.aclose()


def run_url(url: str) -> str:
    """The address rollouts are posted to."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise UsageError(f"agent URL {url!r} is not an address; expected something like http://localhost:8000/run.")
    return url if parts.path.rstrip("/").endswith(PATH) else url.rstrip("/") + PATH
