"""What providers, sandboxes and tools say when they fail.

`seen` holds what rules were developed on; `fresh` what other people met in the wild.
"""

from accuracy import other_words
from accuracy.wordings import Wording

PROVIDER_BODIES = Wording(
    seen=(
        "Error code: 429 - {{'error': {{'message': 'Rate limit reached for model in organization org-{id} on "
        "tokens per min (TPM): Limit 30000, Used {n}, Requested 1402. Please try again in {sec}s.', 'type': "
        "'tokens'}}}}",
        '{{"error": {{"code": 429, "message": "Resource has been exhausted (e.g. check quota).", "status": '
        '"RESOURCE_EXHAUSTED"}}}}',
        "litellm.RateLimitError: RateLimitError: OpenAIException - Requests have exceeded the call rate "
        "limit of your current pricing tier. Please retry after {sec} seconds.",
        "litellm.InternalServerError: AnthropicException - "
        '{{"type":"error","error":{{"type":"overloaded_error","message":"Overloaded"}},"request_id":"req_{id}"}}',
        "API Error: 500 The server had an error while processing your request. Sorry about that! (request id {id})",
        "<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad "
        "Gateway</h1></center><hr><center>nginx</center></body></html>",
        "503 Service Unavailable: upstream connect error or disconnect/reset before headers. reset reason: "
        "connection failure",
        "openai.APIConnectionError: Connection error.",
        "Request failed after 6 attempts: HTTPSConnectionPool(host='api.example.com', port=443): Max retries exceeded",
        "httpx.ReadTimeout: The read operation timed out",
        "An error occurred (ThrottlingException) when calling the InvokeModel operation: Too many requests, "
        "please wait before trying again.",
        "Error code: 503 - {{'error': {{'message': 'The engine is currently overloaded, please try again "
        "later', 'type': 'server_error', 'code': None}}}}",
        'API Error (529 {{"type":"error","error":{{"type":"overloaded_error","message":"Overloaded"}}}}) · '
        "Retrying in {sec} seconds… (attempt 10/10)",
        '{{"type":"error","error":{{"type":"rate_limit_error","message":"This request would exceed the rate '
        'limit of your organization of {n} input tokens per minute."}}}}',
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
        'Error: 500 {{"type":"error","error":{{"type":"api_error","message":"Overloaded"}}}}',
        'API Error: 529 {{"type":"error","error":{{"type":"overloaded_error","message":"Overloaded"}}}}',
        'InternalServerError: 529 {{"type":"error","error":{{"type":"overloaded_error","message":"Overloaded"}}}}',
        'Error: 429 {{"type":"error","error":{{"type":"rate_limit_error","message":"This request would '
        "exceed your account's rate limit. Please try again later.\"}}}}",
        "litellm.exceptions.APIConnectionError: peer closed connection without sending complete message body "
        "(incomplete chunked read)",
        "anthropic.APIStatusError: {{'type': 'error', 'error': {{'details': None, 'type': 'api_error', "
        "'message': 'Internal server error'}}}}",
        "Model call failed: 503 no healthy upstream",
        '{{"message": "Endpoint request timed out"}}',
        "vertexai: 429 Resource exhausted. Please try again later.",
        "Connection error.",
        "[ERROR] Exception: HTTP 502: <!DOCTYPE html>",
        "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) "
        "for the root cause.",
        "vllm.engine.multiprocessing.MQEngineDeadError: Engine loop is not running. Inspect the stacktrace "
        "to find the original error",
        "RuntimeError: There was an unexpected error while running the agent. Error type: APIConnectionError",
        "botocore.errorfactory.ThrottlingException: An error occurred (ThrottlingException) when calling the "
        "InvokeModel operation (reached max retries: 4): Too many requests",
        '{{"name": "ThrottlingException", "$fault": "client", "$metadata": {{"httpStatusCode": 429}}}}',
        "litellm.APIConnectionError: Bad response code, expected 200: {{'status_code': 400, 'headers': "
        "{{':exception-type': 'serviceUnavailableException'}}}}",
        "Error: Can't invoke. Reason: Bedrock is unable to process your request.",
        '{{"success":false,"error":{{"message":"azure-openai error: The system is currently experiencing '
        'high demand and cannot process your request.","code":"RATE_LIMITED"}},"status":429}}',
        "ServiceUnavailableException: Bedrock is unable to process your request.",
    ),
    fresh=other_words.PROVIDER_BODIES,
)

PROVIDER_ERRORS = Wording(
    seen=("rate_limit_exceeded|Rate limit reached. Try again in {sec}s.", "server_error|The model produced an error."),
    fresh=other_words.PROVIDER_ERRORS,
)
"""Code and message of a response's own error object."""

SANDBOX_MESSAGES = Wording(
    seen=(
        "Error response from daemon: Container {id} is not running",
        "Error: No such container: task-{id}",
        "OCI runtime exec failed: exec failed: unable to start container process: process_linux.go:{n}: "
        "starting setns process caused: exit status 1: unknown",
        "bash: line 1: {n} Killed                  python run.py\n(container terminated: OOMKilled, exit code 137)",
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
        "SandboxError: sandbox {id} was terminated after {n}0 s",
        "fork: Cannot allocate memory",
        "OSError: [Errno 28] No space left on device: '/tmp/{id}'",
        '{{"error": "sandbox_unreachable", "detail": "connection to sandbox {id} lost"}}',
        'error: unable to upgrade connection: container not found ("worker-{n}")',
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
        "[SANDBOX_UNREACHABLE] the sandbox stream broke mid-run: The socket connection was closed unexpectedly.",
        "Agent exited with code 137",
        "Failed to initialize sandbox: 404: No sandbox found for this project",
        "e2b.exceptions.SandboxException: 302: b''",
        "the sandbox is not running anymore",
        "modal.exception.SandboxTerminatedError",
        "Error: Pod has been OOMKilled",
        "container is stopping",
        "exec failed: container_linux.go:380: starting container process caused: process_linux.go: exec failed",
        "Task was killed: memory limit exceeded",
        "rpc error: code = Unavailable desc = connection error",
        "Kernel died before replying to kernel_info",
        "Runtime initialization failed: Container kevin-runtime-persisted-root has exited.",
        "AgentRuntimeDisconnectedError: runtime disconnected",
        "Out of memory: Kill process 12345 (node) score 850",
        "Engine core proc EngineCore_DP0 died unexpectedly, shutting down client.",
        "Container exits with code 137 (SIGKILL from OOM killer)",
        "my-pod-1 0/1 OOMKilled 0 3m12s",
        "Runtime initialization failed: ('Connection aborted.', RemoteDisconnected('Remote end closed "
        "connection without response'))",
        "pod not ready",
        "command terminated with exit code 137",
    ),
    fresh=other_words.SANDBOX_MESSAGES,
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
        'Traceback (most recent call last):\n  File "tool.py", line {n}, in run\n    raise '
        "KeyError(key)\nKeyError: '{what}'",
        "Exit code 1\n{what}: command failed",
        "Invalid request: {what} has the wrong type",
        '{{"ok": false, "detail": "{what} could not be resolved"}}',
        '{{"code": 422, "errors": ["{what}: field required"]}}',
        "ERROR - cannot read {what}",
        "tool call rejected: {what} is not allowed here",
        "TypeError: unsupported operand for {what}",
        "[error] {what} unavailable",
        '{{"result": null, "error": {{"type": "NotFound", "message": "no {what}"}}}}',
        "Exception while handling {what}: index out of range",
        '{{"jsonrpc":"2.0","id":2,"error":{{"code":0,"message":"unknown field"}}}}',
        "MCP error -32602: Invalid arguments for tool xyz",
        "Tool execution failed",
        '{{"error":true,"detail":"Error while validating the command"}}',
        "Command execution error: exit 2",
        "Unexpected error: list index out of range",
        "Error executing tool search: boom",
        "Input validation error: 'path' is a required property",
        "error unmarshaling: json: unknown field",
    ),
    fresh=other_words.TOOL_ERRORS,
)
