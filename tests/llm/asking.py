"""Asking a loopback server once, for tests of the clients."""

import asyncio
from typing import Any

import pytest
from loopback import Loopback

from blade.llm import ModelError, Reply, Request, connect
from blade.llm.connect import Api
from blade.llm.model import user_message

APIS: list[Api] = ["responses", "chat", "messages"]


def question(text: str = "How many?", **settings: Any) -> Request:
    return Request(input=[user_message(text)], **settings)


def ask(server: Loopback, api: Api, request: Request | None = None, **settings: Any) -> Reply:
    """One question, with back-off too short to notice."""

    async def once() -> Reply:
        model = connect("m-1", base_url=server.base_url, api=api, **{"backoff": 0.001, "timeout": 5.0, **settings})
        try:
            return await model.ask(request or question())
        finally:
            await model.close()

    return asyncio.run(once())


def failure(server: Loopback, api: Api, **settings: Any) -> ModelError:
    """The error one question ends with."""
    with pytest.raises(ModelError) as raised:
        ask(server, api, **settings)
    return raised.value
