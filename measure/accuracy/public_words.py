"""How real providers, sandboxes and tools word their failures: short strings from public reports, with their source."""

from typing import NamedTuple


class Wording(NamedTuple):
    """What was reported, and where."""

    text: str
    source: str


WORDINGS = (
    Wording(
        "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 30000, "
        "Requested 890. Please try again in 1.78s.",
        "OpenAI's 429, as in github.com/openai/openai-python issues",
    ),
    Wording(
        '529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
        "github.com/anthropics/anthropic-sdk-typescript/issues/616",
    ),
    Wording(
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please "
        "modify your prompt and retry.",
        "github.com/openai/openai-python/issues/331",
    ),
    Wording(
        "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the "
        "root cause.",
        "github.com/vllm-project/vllm/issues/27194",
    ),
    Wording(
        "upstream connect error or disconnect/reset before headers. reset reason: connection termination",
        "github.com/envoyproxy/envoy/issues/9747",
    ),
    Wording(
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
        "github.com/OpenBMB/XAgent/issues/7",
    ),
    Wording("OSError: [Errno 28] No space left on device", "github.com/paperless-ngx/paperless-ngx/issues/5036"),
    Wording(
        "psycopg2.OperationalError: server closed the connection unexpectedly",
        "github.com/psycopg/psycopg2/issues/1079",
    ),
    Wording(
        "page.goto: net::ERR_CONNECTION_REFUSED at http://localhost:38573/blog", "github.com/vercel/next.js/pull/80917"
    ),
    Wording("httpx.ReadTimeout: The read operation timed out", "github.com/VRSEN/agency-swarm/issues/99"),
)
