"""Errors of the services that answer for a model, as runners write them down: `openai.RateLimitError: Error code: 429`.

They are told by type: the class that the client's library raises, or the status code that it repeats. What a text says
beyond that is not read, so a tool's error, an agent's or a verifier's is never taken for one of these.
"""

import re

from blade.rollouts.columns import Column, from_values
from blade.rollouts.formats.format import bare
from blade.rollouts.formats.records import ERROR_FIELDS
from blade.rollouts.rows import Rows

PARTS = ("", ".type", ".name", ".class", ".code", ".message")
"""Where an error that is an object keeps its type."""
CLASSES = frozenset({
    # openai, anthropic and litellm
    "APIError", "APIStatusError", "APIConnectionError", "APITimeoutError", "RateLimitError", "InternalServerError",
    "ServiceUnavailableError", "OverloadedError", "DeadlineExceededError", "BadGatewayError", "AuthenticationError",
    "PermissionDeniedError", "APIResponseValidationError", "InsufficientQuotaError", "MidStreamFallbackError",
    # google and botocore
    "ResourceExhausted", "ServiceUnavailable", "DeadlineExceeded", "TooManyRequests", "GatewayTimeout",
    "ThrottlingException", "ServiceUnavailableException", "ModelTimeoutException", "ModelNotReadyException",
    "ModelErrorException",
    # httpx and aiohttp
    "ConnectError", "ConnectTimeout", "ReadTimeout", "WriteTimeout", "PoolTimeout", "RemoteProtocolError",
    "ClientConnectorError", "ClientOSError", "ServerDisconnectedError", "ServerTimeoutError",
})  # fmt: skip
"""Exceptions by which clients say that a service could not be reached, refused to answer or broke. Those of the
language itself are left out: code that a model wrote raises them too."""
CLASS = re.compile(r"(?:<class ')?(?:\w{1,40}\.){0,6}(\w{1,60})\b")
STATUS = re.compile(
    r"(?:Error code|HTTP|status[_ ]code)[ :=]{1,3}(\d{3})\b|(\d{3}) (?:Client|Server) Error\b", re.IGNORECASE
)
"""A status code as the clients of openai and anthropic, and requests, write it."""
REFUSED = frozenset({401, 402, 403, 408, 409, 425, 429})
"""Status codes below 500 that say nothing of what was asked."""
WHOLE = {"Connection error.": "APIConnectionError", "Request timed out.": "APITimeoutError"}
"""What the openai and anthropic clients say of an exception of theirs, in full."""


def provider_error(text: str) -> str | None:
    """The type of a provider's error that a text begins with; `None` for any other text."""
    said = text.strip()
    if said in WHOLE:
        return WHOLE[said]
    named = CLASS.match(said)
    if named is not None and named[1] in CLASSES:
        return named[1]
    status = STATUS.match(said)
    code = 0 if status is None else int(status[1] or status[2])
    return f"HTTP {code}" if code in REFUSED or 500 <= code < 600 else None


def provider_errors(rows: Rows) -> Column:
    """Per row: the type of the provider's error that one of its error fields holds."""
    found: list[str | None] = [None] * len(rows)
    for field in [path for path in rows.columns if bare(path.partition(".")[0]) in ERROR_FIELDS]:
        if f".{field.partition('.')[2]}".rstrip(".") not in PARTS:
            continue
        coded = rows.columns[field].coded()
        types = [provider_error(level) if isinstance(level, str) else None for level in coded.levels]
        if any(types):
            for row, code in enumerate(coded.values.tolist()):
                found[row] = found[row] or (types[code] if code >= 0 else None)
    return from_values(found)
