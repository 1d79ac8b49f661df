"""From a model's name to a `Model`: which API is spoken, where, and with which key.

Keys come from the environment and nowhere else. The vendors' own servers need theirs; any other server is asked
without one when none is set, because local servers want none.
"""

import os
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from blade.errors import UsageError
from blade.llm.client import Backoff, Client, Endpoint, Wire
from blade.llm.model import Model

Api = Literal["auto", "responses", "chat", "messages"]

TIMEOUT = 600.0
"""Seconds an attempt may take: a slow model on a busy machine needs minutes for a long answer."""
KEYS = {"responses": "OPENAI_API_KEY", "chat": "OPENAI_API_KEY", "messages": "ANTHROPIC_API_KEY"}
HOMES = {"responses": "OPENAI_BASE_URL", "chat": "OPENAI_BASE_URL", "messages": "ANTHROPIC_BASE_URL"}


def connect(
    model: str,
    *,
    base_url: str | None = None,
    api: Api = "auto",
    timeout: float = TIMEOUT,
    attempts: int = 6,
    backoff: float = 0.5,
) -> Model:
    """A model by name.

    Args:
        base_url: A server other than the vendor's; also read from OPENAI_BASE_URL or ANTHROPIC_BASE_URL.
        api: `auto` speaks Messages to models called claude…, Chat Completions to a server that is named (it is what
            most servers have), and Responses to OpenAI.
        attempts: Requests in all before a failure that could pass is given up.
        backoff: Seconds before the second attempt; doubles from there.
    """
    if api not in get_args(Api):
        raise UsageError(f"api is {api!r}; it is one of {', '.join(get_args(Api))}.")
    spoken = choose_api(model, base_url=base_url) if api == "auto" else api
    place = checked_url(base_url or os.environ.get(HOMES[spoken]) or None)
    if place is None and not os.environ.get(KEYS[spoken]):
        raise UsageError(f"{model} needs a key: set {KEYS[spoken]}, or name a server of your own with --base-url.")
    endpoint = Endpoint(model=model, base_url=place, timeout=timeout)
    return Client(wire_of(spoken), endpoint, Backoff(attempts=attempts, first=backoff))


def choose_api(model: str, *, base_url: str | None) -> str:
    """The API that fits a model's name and place."""
    if model.lower().startswith("claude"):
        return "messages"
    return "chat" if base_url or os.environ.get("OPENAI_BASE_URL") else "responses"


def checked_url(url: str | None) -> str | None:
    """A server's address, if it can be one."""
    if url is not None and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc):
        raise UsageError(f"base URL {url!r} is not an address; expected something like http://localhost:8080/v1.")
    return url


def wire_of(api: str) -> Wire[Any]:
    """The wire of an API; each brings its SDK, which takes a moment to load and not everybody has.

    Raises:
        UsageError: the SDK is not installed.
    """
    try:
        return load_wire(api)
    except ModuleNotFoundError as error:
        raise without_sdk(error) from error


def without_sdk(error: ModuleNotFoundError) -> UsageError:
    """What to do about an SDK that is missing."""
    return UsageError(f"asking a model needs the package {error.name}: pip install 'blade-diagnostics[llm]'.")


def load_wire(api: str) -> Wire[Any]:
    if api == "messages":
        from blade.llm.messages import MessagesWire

        return MessagesWire()
    if api == "chat":
        from blade.llm.chat import ChatWire

        return ChatWire()
    from blade.llm.responses import ResponsesWire

    return ResponsesWire()
