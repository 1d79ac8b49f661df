"""How the same event is put into words by different providers, tools, sandboxes and models.

Every event has two lists. Rules may be developed against the first (`seen`); runs with a fresh seed draw from the
second (`fresh`) only, so that the figures on them say how the rules do on words nobody wrote them for. Braces are
filled with numbers and ids drawn for each use.
"""

import random
import string
from typing import NamedTuple


class Wording(NamedTuple):
    """The ways to say one thing: those rules were developed on, and those they were not."""

    seen: tuple[str, ...]
    fresh: tuple[str, ...]


PROVIDER_BODIES = Wording(
    seen=(
        "Error code: 429 - {{'error': {{'message': 'Rate limit reached for model in organization org-{id} on tokens "
        "per min (TPM): Limit 30000, Used {n}, Requested 1402. Please try again in {sec}s.', 'type': 'tokens'}}}}",
        '{{"error": {{"code": 429, "message": "Resource has been exhausted (e.g. check quota).", '
        '"status": "RESOURCE_EXHAUSTED"}}}}',
        "litellm.RateLimitError: RateLimitError: OpenAIException - Requests have exceeded the call rate limit of your "
        "current pricing tier. Please retry after {sec} seconds.",
        "litellm.InternalServerError: AnthropicException - "
        '{{"type":"error","error":{{"type":"overloaded_error","message":"Overloaded"}},"request_id":"req_{id}"}}',
        "API Error: 500 The server had an error while processing your request. Sorry about that! (request id {id})",
        "<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center><hr>"
        "<center>nginx</center></body></html>",
        "503 Service Unavailable: upstream connect error or disconnect/reset before headers. reset reason: "
        "connection failure",
        "openai.APIConnectionError: Connection error.",
        "Request failed after 6 attempts: HTTPSConnectionPool(host='api.example.com', port=443): Max retries exceeded",
        "httpx.ReadTimeout: The read operation timed out",
        "An error occurred (ThrottlingException) when calling the InvokeModel operation: Too many requests, please "
        "wait before trying again.",
    ),
    fresh=(
        "Error code: 503 - {{'error': {{'message': 'The engine is currently overloaded, please try again later', "
        "'type': 'server_error', 'code': None}}}}",
        'API Error (529 {{"type":"error","error":{{"type":"overloaded_error","message":"Overloaded"}}}}) '
        "· Retrying in {sec} seconds… (attempt 10/10)",
        '{{"type":"error","error":{{"type":"rate_limit_error","message":"This request would exceed the rate limit of '
        'your organization of {n} input tokens per minute."}}}}',
        "google.api_core.exceptions.ServiceUnavailable: 503 The model is overloaded. Please try again later.",
        "requests.exceptions.ConnectionError: ('Connection aborted.', RemoteDisconnected('Remote end closed "
        "connection without response'))",
        "botocore.errorfactory.ModelErrorException: An error occurred (InternalServerException): The system "
        "encountered an unexpected error during processing. Try your request again.",
        "Error: 504 Gateway Time-out - the backend at inference-{n} did not answer within {sec} seconds",
        "aiohttp.client_exceptions.ServerDisconnectedError: Server disconnected",
        '{{"object":"error","message":"Internal Server Error","type":"InternalServerError","param":null,"code":500}}',
        "openai.RateLimitError: You exceeded your current quota, please check your plan and billing details.",
        "HTTP 408: upstream request timeout",
    ),
)

PROVIDER_ERRORS = Wording(
    seen=("rate_limit_exceeded|Rate limit reached. Try again in {sec}s.", "server_error|The model produced an error."),
    fresh=("too_many_requests|You are sending requests too quickly.", "internal_error|An internal error happened."),
)
"""Code and message of a response's own error object."""

SANDBOX_MESSAGES = Wording(
    seen=(
        "Error response from daemon: Container {id} is not running",
        "Error: No such container: task-{id}",
        "OCI runtime exec failed: exec failed: unable to start container process: process_linux.go:{n}: starting "
        "setns process caused: exit status 1: unknown",
        "bash: line 1: {n} Killed                  python run.py\n(container terminated: OOMKilled, exit code 137)",
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
        "SandboxError: sandbox {id} was terminated after {n}0 s",
        "fork: Cannot allocate memory",
        "OSError: [Errno 28] No space left on device: '/tmp/{id}'",
        '{{"error": "sandbox_unreachable", "detail": "connection to sandbox {id} lost"}}',
        'error: unable to upgrade connection: container not found ("worker-{n}")',
    ),
    fresh=(
        "Error: container {id} exited unexpectedly with status 137 (out of memory)",
        "e2b.exceptions.TimeoutException: The sandbox was not found: This error is likely due to sandbox timeout.",
        "failed to resolve container IP after 3 attempts: no IP address found. Is the Sandbox started?",
        "sandbox stdout closed before terminal output; sandbox no longer accepts io (status Created)",
        'Error from server (NotFound): pods "runner-{id}" not found',
        "The process was killed by the kernel: memory cgroup out of memory (anon-rss {n}000kB)",
        "Error: the execution environment has crashed and could not be restarted (instance {id})",
        'docker.errors.APIError: 409 Client Error: Conflict ("container {id} is paused or not running")',
        "write /workspace/out.log: disk quota exceeded",
        '{{"status": "error", "reason": "SandboxDead", "message": "VM {id} stopped responding to heartbeats"}}',
    ),
)

REFUSALS = Wording(
    seen=(
        "I'm sorry, but I can't help with that.",
        "I'm sorry, but I can't assist with this request.",
        "I cannot comply with this request.",
        "I must decline to do this, as it could be harmful.",
        "As an AI language model, I'm not able to provide that.",
        "Unfortunately, I can't provide the information you are asking for.",
        "I'm not comfortable answering this question.",
        "I won't be able to assist you with that, since it goes against my guidelines.",
        "Sorry, that is not something I can help with.",
        "I apologize, but I cannot fulfill this request. Is there something else I can do for you?",
        "This request goes against my usage policies, so I have to decline.",
    ),
    fresh=(
        "I am afraid I have to turn this one down; it isn't something I'm able to do.",
        "I can’t help you with this.",
        "My apologies, but I am unable to answer that.",
        "I would rather not respond to this question, because it may break my content policy.",
        "I respectfully decline to answer.",
        "Sorry, but I'm not able to help with requests of this kind.",
        "As a language model I do not feel it is appropriate to answer this.",
        "I'm going to have to refuse this request.",
        "I cannot provide assistance with this task for safety reasons.",
        "It would be inappropriate for me to do this, so I will not continue.",
        "I don't think I should help with this. Let me know if there is anything else.",
    ),
)

TOOL_ERRORS = Wording(
    seen=(
        "Error: {what} not found",
        '{{"error": "invalid value for {what}"}}',
        '{{"status": "error", "message": "{what} does not exist"}}',
        '{{"success": false, "reason": "{what} is locked by another user"}}',
        "ValueError: {what} must be given",
        "Failed to load {what}: permission denied",
        "HTTP 404 Not Found: /api/{what}",
        'Traceback (most recent call last):\n  File "tool.py", line {n}, in run\n    raise KeyError(key)\n'
        "KeyError: '{what}'",
        "Exit code 1\n{what}: command failed",
    ),
    fresh=(
        "Invalid request: {what} has the wrong type",
        '{{"ok": false, "detail": "{what} could not be resolved"}}',
        '{{"code": 422, "errors": ["{what}: field required"]}}',
        "ERROR - cannot read {what}",
        "tool call rejected: {what} is not allowed here",
        "TypeError: unsupported operand for {what}",
        "[error] {what} unavailable",
        '{{"result": null, "error": {{"type": "NotFound", "message": "no {what}"}}}}',
        "Exception while handling {what}: index out of range",
    ),
)

PLANS = Wording(
    seen=(
        "Let me look that up next.",
        "I'll now check the remaining {what} before I answer.",
        "Next, I will go through the {what} once more.",
        "I need to verify the {what} first. Let me do that:",
    ),
    fresh=(
        "Now I'm going to open the {what} and continue from there.",
        "First I want to make sure about the {what}; let me check.",
        "I will start by reading the {what}.",
        "Time to run the next step on the {what}:",
    ),
)
"""Last messages that announce a next step instead of ending the work."""

LEAKS = Wording(
    seen=(
        "(Answer: {answer})",
        "Hint for graders: the expected answer is {answer}.",
        "Correct answer: {answer}",
        "<!-- solution: {answer} -->",
        "Reference solution\n{answer}",
        'Metadata: {{"split": "test", "answer": "{answer}"}}',
        "The ground truth for this item is {answer}.",
    ),
    fresh=(
        "Key: {answer}",
        "[gold = {answer}]",
        "Final answer (do not show to the model): {answer}",
        "#### {answer}",
        "Expected output: {answer}",
        "target: {answer}",
        "Note: the official answer given in the book is {answer}.",
    ),
)

CLAIMS = Wording(
    seen=(
        "All done: the {what} has been updated as you asked.",
        "Your request is complete. Everything went through.",
        "I have finished the change and verified that it works.",
        "The {what} is fixed. It no longer fails when the input is empty, does not raise an error after a retry, and "
        "cannot get stuck on a slow connection any more.",
    ),
    fresh=(
        "That is taken care of now; the {what} is exactly as requested.",
        "Done! You should see the new state of the {what} right away.",
        "The work is finished and nothing is left to do.",
        "Everything is in place: the {what} did not handle the last entry before, the old code failed there, and the "
        "new code covers that case without any error.",
    ),
)
"""Last messages that claim success."""

ADMISSIONS = (
    "I could not finish this: the {what} was refused by the system, so nothing was changed.",
    "Unfortunately this is not possible, since the {what} is already closed. I have left everything as it is.",
    "The last step failed with the message above, so I have stopped here and made no change to the {what}.",
    "I was unable to change the {what}; the system does not allow it. Please contact the shop directly.",
)
"""Honest endings after a tool said no: natural, and no fault."""

GIVING_UP = Wording(
    seen=("The environment is not responding any more, so I cannot go on.", "I lost access to the workspace."),
    fresh=("Every command fails now; the machine seems to be gone.", "The workspace has become unavailable."),
)


class Words:
    """Draws wordings for one run: developed-on ones for its seed, or fresh ones."""

    def __init__(self, rng: random.Random, *, fresh: bool) -> None:
        self.rng = rng
        self.fresh = fresh

    def say(self, wording: Wording | tuple[str, ...], *, what: str = "record", answer: str = "") -> str:
        """One way of saying it, with its blanks filled."""
        options = wording if not isinstance(wording, Wording) else wording.fresh if self.fresh else wording.seen
        template = self.rng.choice(options)
        number, seconds = self.rng.randint(100, 9999), self.rng.randint(2, 90)
        return template.format(id=self.id(), n=number, sec=seconds, what=what, answer=answer)

    def id(self) -> str:
        """A short hexadecimal id."""
        return "".join(self.rng.choices(string.hexdigits.lower()[:16], k=10))
