"""Errors of the services that answer for a model, as runners write them down: `openai.RateLimitError: Error code: 429`.

They are told by type: the class that the client's library raises, or the status code that it repeats. What a text says
beyond that is not read, so a tool's error, an agent's or a verifier's is never taken for one of these.
"""

import re

import msgspec

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
    r"(?:API Error|Error code|HTTP|status[_ ]code)[ :=]{1,3}\(?(\d{3})\b|(\d{3}) (?:(?:Client|Server) Error\b|\{)",
    re.IGNORECASE,
)
"""A status code as the clients of openai and anthropic, and requests, write it."""
TYPES = frozenset({
    "api_error", "authentication_error", "insufficient_quota", "internal_server_error", "overloaded_error",
    "permission_error", "rate_limit_error", "rate_limit_exceeded", "server_error", "service_unavailable_error",
    "timeout_error",
})  # fmt: skip
"""Types by which the openai and anthropic APIs name such an error in its body."""
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
    if said[:1] == "{":
        return error_in_body(said)
    status = STATUS.match(said)
    return None if status is None else status_name(int(status[1] or status[2]))


def status_name(code: int) -> str | None:
    """A status code by which a service says nothing of what it was asked."""
    return f"HTTP {code}" if code in REFUSED or 500 <= code < 600 else None


def error_in_body(body: str) -> str | None:
    """The type or the status code that the body of a provider's answer states."""
    try:
        said = msgspec.json.decode(body)
    except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):
        return None
    error = said.get("error") if isinstance(said, dict) else None
    if not isinstance(error, dict):
        return None
    kind, code = error.get("type"), error.get("code")
    named = next((name for name in (kind, code) if isinstance(name, str) and name in TYPES), None)
    return named or (status_name(code) if isinstance(code, int) else None)


def provider_error_in_answer(text: str) -> str | None:
    """The same for what stands where an answer should: an answer may be the name of an error, and nothing else."""
    return provider_error(text) if len(text.split(maxsplit=LEAST_WORDS)) >= LEAST_WORDS else None
