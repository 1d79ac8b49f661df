"""What went wrong with a request, said in one sentence that holds no key.

Both SDKs name their errors alike, so one reading serves both. A server's own words are quoted, because they say what
to change, but cut short and with every key of the environment taken out: some servers echo what they were sent.
"""

import datetime
import email.utils
import os
import re
from types import ModuleType
from typing import Any

from blade.llm.bodies import BadBody
from blade.llm.model import ErrorKind, ModelError

QUOTED = 300
"""Characters of a server's own message that are worth repeating."""
KEYS = ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
SHORTEST_KEY = 12
LOOKS_LIKE_A_KEY = re.compile(r"\b(?:sk|key|gsk|xai|nvapi|hf)[-_][\w*.-]{6,}|(?i:bearer)\s+\S+")


def from_sdk(sdk: ModuleType, error: Exception, *, model: str) -> ModelError:
    """The error of either SDK as ours."""
    if isinstance(error, sdk.APITimeoutError):
        return timed_out(model)
    if isinstance(error, sdk.APIStatusError):
        return from_status(error, model=model)
    if isinstance(error, sdk.APIConnectionError):
        cause = error.__cause__
        if isinstance(cause, BadBody):
            return malformed(model, str(cause))
        why = f" ({redacted(str(cause))})" if cause is not None and str(cause) else ""
        return ModelError(f"{model}: the connection failed{why}.", kind="connection")
    return ModelError(f"{model}: the request failed: {redacted(str(error))}", kind="malformed")


def from_status(error: Any, *, model: str) -> ModelError:
    """The error that a status code stands for, with what the server said about it."""
    status = int(error.status_code)
    hint = "; does the base URL end in /v1, and is the model's name right?" if status == 404 else ""
    return ModelError(
        f"{model}: the server answered {status}: {redacted(said_by(error))}{hint}",
        kind=kind_of(status),
        retry_after=retry_after(error.response.headers),
    )


def kind_of(status: int) -> ErrorKind:
    """Whether an answer like this may pass by itself."""
    if status == 429:
        return "rate_limit"
    if status in (401, 403):
        return "auth"
    if status == 408:
        return "timeout"
    return "server" if status >= 500 or status in (409, 425) else "rejected"


def timed_out(model: str) -> ModelError:
    """The error of a server that keeps us waiting."""
    return ModelError(f"{model}: no answer in time; see --timeout.", kind="timeout")


def malformed(model: str, why: str) -> ModelError:
    """The error of an answer that is not what the API promises."""
    return ModelError(f"{model}: the server's answer cannot be read: {redacted(why)}", kind="malformed")


def said_by(error: Any) -> str:
    """The server's own message, wherever in the body it stands."""
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error", body)
        body = inner.get("message", inner) if isinstance(inner, dict) else inner
    return str(body) if body else "no reason given"


def known_keys() -> list[str]:
    """Keys of the environment; a word such as `none`, which servers without keys are given, is not a secret."""
    return [key for key in (os.environ.get(name, "") for name in KEYS) if len(key) >= SHORTEST_KEY]


def redacted(text: str) -> str:
    """A message on one line, bounded, without keys."""
    for key in known_keys():
        text = text.replace(key, "[key]")
    line = " ".join(LOOKS_LIKE_A_KEY.sub("[key]", text).split())
    return line if len(line) <= QUOTED else line[: QUOTED - 1] + "…"


def retry_after(headers: Any) -> float | None:
    """Seconds a server asks to wait, from a number or a date; `None` when it does not say, or nonsense."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        return seconds if 0 <= seconds < float("inf") else None
    return seconds_until(headers.get("retry-after", ""))


def seconds_until(date: str) -> float | None:
    """Seconds from now to an HTTP date."""
    try:
        then = email.utils.parsedate_to_datetime(date)
    except ValueError:
        return None
    aware = then if then.tzinfo else then.replace(tzinfo=datetime.UTC)
    return max(0.0, (aware - datetime.datetime.now(datetime.UTC)).total_seconds())
