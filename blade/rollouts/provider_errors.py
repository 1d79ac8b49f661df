"""Errors of the services that answer for a model, as runners write them down: `openai.RateLimitError: Error code: 429`.

They are told by type: the class that the client's library raises, or the status code that it repeats. What a text says
beyond that is not read, so a tool's error, an agent's or a verifier's is never taken for one of these.
"""

import re

LEAST_WORDS = 3
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
OPENING = re.compile(r"\A(?i:error|exception): +")
"""What runners put before an error."""
WHOLE = {"Connection error.": "APIConnectionError", "Request timed out.": "APITimeoutError"}
"""What the openai and anthropic clients say of an exception of theirs, in full."""


def provider_error(text: str) -> str | None:
    """The type of a provider's error that a text begins with; `None` for any other text."""
    said = OPENING.sub("", text.strip(), count=1)
    if said in WHOLE:
        return WHOLE[said]
    named = CLASS.match(said)
    if named is not None and named[1] in CLASSES:
        return named[1]
    status = STATUS.match(said)
    code = 0 if status is None else int(status[1] or status[2])
    return f"HTTP {code}" if code in REFUSED or 500 <= code < 600 else None


def provider_error_in_answer(text: str) -> str | None:
    """The same for what stands where an answer should: an answer may be the name of an error, and nothing else."""
    return provider_error(text) if len(text.split(maxsplit=LEAST_WORDS)) >= LEAST_WORDS else None
