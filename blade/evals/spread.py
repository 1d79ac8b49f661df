"""A player whose rollouts are played and judged on a Ray cluster.

The journal stays with whoever runs the benchmark, so a rollout is written once however often it had to be begun again:
Ray starts a killed player anew, elsewhere if its node has gone, and asks it again for what it owed. At no time are more
rollouts under way than the run's concurrency allows, and that is what the model's server has to bear.
"""

import asyncio
import itertools
import os
import time
from collections.abc import Callable
from typing import Any

from blade.engine.cluster import RETRIES, Cluster
from blade.evals.jobs import Job
from blade.evals.materialize import Row
from blade.evals.rows import failed_row
from blade.llm.connect import HOMES, KEYS

SPARE = 4
"""Rollouts a player may hold beyond its share, for when another one is being started again."""

PAUSES = (0.5, 2.0, 8.0)
"""Seconds before a rollout goes to another player, when the one that had it cannot be reached."""


class SpreadPlayer:
    """Hands rows to players on the workers of a cluster, in turn."""

    def __init__(self, cluster: Cluster, make: Callable[[], Job], *, name: str, concurrency: int) -> None:
        self.name = name
        self.notes: list[str] = []
        self._ray = cluster.ray
        count = max(1, min(cluster.workers, concurrency))
        told = {key: os.environ[key] for key in {*KEYS.values(), *HOMES.values()} if key in os.environ}
        # A seat takes no CPU of its own: it waits for a model, and it must find room when a node has gone.
        seat = self._ray.remote(
            num_cpus=0,
            max_restarts=-1,
            max_task_retries=RETRIES,
            max_concurrency=-(-concurrency // count) + SPARE,
            scheduling_strategy="SPREAD",
        )(seat_class())
        self._seats = [seat.remote(make, told) for _ in range(count)]
        self._turn = itertools.cycle(self._seats)

    async def judged(self, row: Row) -> Row:
        """The judged row, or one that says what went wrong where it was played."""
        for pause in PAUSES:
            try:
                found: Row = await next(self._turn).judged.remote(row)
                return found
            except self._ray.exceptions.RayActorError:
                # Ray gave up beginning it again, or lost sight of the player: another one takes over.
                await asyncio.sleep(pause)
        last: Row = await next(self._turn).judged.remote(row)
        return last

    async def close(self) -> None:
        """Asks what there is to say and lets all players go."""
        said: list[list[str]] = []
        for seat in self._seats:
            try:
                said.append(await seat.close.remote())
            except self._ray.exceptions.RayError:
                continue  # one that is gone has nothing to say
            finally:
                self._ray.kill(seat)
        self.notes = list(dict.fromkeys(note for notes in said for note in notes))


def seat_class() -> type[Any]:
    """The actor that plays, made here so that Ray carries it by value."""

    class Seat:
        def __init__(self, make: Callable[[], Job], told: dict[str, str]) -> None:
            os.environ.update(told)
            self._player = make().player

        async def judged(self, row: Row) -> Row:
            start = time.perf_counter()
            try:
                return await self._player.judged(row)
            except Exception as error:  # an exception of a library may not survive the way back
                return failed_row(row, error, model=self._player.name, seconds=time.perf_counter() - start)

        async def close(self) -> list[str]:
            await self._player.close()
            return self._player.notes

    return Seat
