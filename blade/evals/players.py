"""Who plays a rollout: a model in our own loop, judged by an environment of ours."""

import asyncio
import time
from typing import Protocol

from blade.environments import Environment
from blade.evals.agent import Limits, Played, play
from blade.evals.judging import let_go
from blade.evals.materialize import Row
from blade.evals.rows import judged_row
from blade.evals.skills import Library, SkillSession, without_skill_calls
from blade.llm import Model
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
