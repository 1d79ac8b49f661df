"""The agent loop: ask, call the tools that are asked for, ask again, until the model is done or a limit is met."""

import asyncio
import re
import time
from collections.abc import Mapping
from typing import Any

import msgspec

from blade.environments import Session
from blade.evals.materialize import REQUEST, sampling_of
from blade.llm import Model, ModelError, Reply, Request, Usage
from blade.llm.model import Item, call_result

TOO_LONG = re.compile(r"context|too long|too many tokens|exceed", re.IGNORECASE)
"""How servers say that a conversation does not fit."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Where a rollout ends if the model does not end it."""

    turns: int = 1
    """Replies."""
    tokens: int | None = None
    """Tokens of all replies together."""


class Played(msgspec.Struct, frozen=True, kw_only=True):
    """One rollout, not yet judged."""

    id: str
    """The last reply's."""
    model: str
    """The model that answered, as the server says."""
    items: list[Item]
    """What the model did and what its tools answered, in order."""
    usage: Usage | None
    """What all replies cost together."""
    incomplete: str | None
    """Why it ended early: `max_output_tokens`, `max_turns`, `context_length`, or what the server says."""
    turns: int
    """Replies it took."""
    refused: list[str]
    """Settings that the server does not take, and that it was played without."""
    started: float
    """When it began, in seconds of the epoch."""
    seconds: float
    """How long it took, waiting for retries included."""


async def play(model: Model, row: Mapping[str, Any], session: Session | None, limits: Limits) -> Played:
    """Plays one rollout; raises `ModelError` when a reply could not be had."""
    started, clock = time.time(), time.perf_counter()
    items: list[Item] = []
    replies: list[Reply] = []
    incomplete: str | None = "max_turns"
    for _ in range(limits.turns):
        reply = await next_reply(model, row[REQUEST], items)
        if reply is None:
            incomplete = "context_length"
            break
        replies.append(reply)
        items += reply.items
        incomplete = reply.incomplete or over_budget(replies, limits)
        if incomplete or not reply.calls:
            break
        items += [await answer(session, call) for call in reply.calls]
        incomplete = "max_turns"
    return Played(
        id=replies[-1].id,
        model=replies[-1].model,
        items=items,
        usage=total(replies),
        incomplete=incomplete,
        turns=len(replies),
        refused=replies[-1].refused,
        started=started,
        seconds=time.perf_counter() - clock,
    )


async def next_reply(model: Model, request: Mapping[str, Any], items: list[Item]) -> Reply | None:
    """The next reply; `None` when the rollout itself has made the conversation too long for the model."""
    asked = request["input"]
    first = [{"type": "message", "role": "user", "content": asked}] if isinstance(asked, str) else asked
    try:
        return await model.ask(
            Request(
                input=[*first, *items],
                instructions=request.get("instructions"),
                tools=request.get("tools") or [],
                sampling=sampling_of(request),
            )
        )
    except ModelError as error:
        if items and error.kind == "rejected" and TOO_LONG.search(str(error)):
            return None
        raise


async def answer(session: Session | None, call: Item) -> Item:
    """What a tool says to a call; in a thread, because tools may take their time."""
    name, arguments = call["name"], call["arguments"]
    if session is None:
        text = f"Error: there is no tool named {name}."
    else:
        text = await asyncio.to_thread(session.call, name, arguments)
    return call_result(text, call_id=call["call_id"])


def over_budget(replies: list[Reply], limits: Limits) -> str | None:
    """Why the replies so far are enough, if they are."""
    spent = sum(reply.usage.output_tokens or 0 for reply in replies if reply.usage)
    return "max_output_tokens" if limits.tokens is not None and spent >= limits.tokens else None


def total(replies: list[Reply]) -> Usage | None:
    """What replies cost together; a count that one of them lacks is unknown."""
    costs = [reply.usage for reply in replies if reply.usage is not None]
    if len(costs) < len(replies) or not costs:
        return None

    def added(name: str) -> int | None:
        counts = [getattr(cost, name) for cost in costs]
        return None if None in counts else sum(counts)

    return Usage(**{name: added(name) for name in Usage.__struct_fields__})
