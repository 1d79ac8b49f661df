"""Other people's words for the events of `failures` and `speech`: what fresh seeds draw from.

They are here to measure by: whoever works on rules should stop reading here. A few words of theirs stand in rules that
were written later (`high demand`, `OCI runtime`, `taken care`), so what they measure may be a little too good.
"""

PROVIDER_BODIES = (
    '[API Error: [{{"error": {{"code": 503, "message": "The service is currently unavailable.", '
    '"status": "UNAVAILABLE"}}}}]]',
    '{{"error":{{"message":"This model is currently experiencing high demand. Spikes in demand are '
    'usually temporary.","code":503,"status":"Service Unavailable"}}}}',
    "503 UNAVAILABLE. {{'error': {{'code': 503, 'message': 'Deadline expired before operation could "
    "complete.', 'status': 'UNAVAILABLE'}}}}",
    '{{"id":"err_retry_exhausted","type":"api_error","message":"All 2 attempts failed. Last status: 503 '
    'Service Unavailable."}}',
    'HTTP Request: POST https://api.example.com "HTTP/1.1 503 Service Unavailable"',
    "Trying to reach gemini-3-flash-preview (Attempt 8/10)",
    "anthropic.BadRequestError: Error code: 400 - {{'type': 'error', 'error': {{'type': "
    "'invalid_request_error', 'message': 'messages.17: all messages must have non-empty content'}}}}",
    "Sorry, no response was returned.",
)

PROVIDER_ERRORS = (
    "too_many_requests|You are sending requests too quickly.",
    "internal_error|An internal error happened.",
)

SANDBOX_MESSAGES = (
    "Error response from daemon: No such container: abc",
    "Pane is dead",
    "SandboxUnavailableError: container is not running",
    "(no output captured — check container startup.log)",
    'OCI runtime exec failed: exec: "timeout": executable file not found',
    "ProcessLookupError: [Errno 3] No such process",
    "tmux session lost: server exited unexpectedly",
)

TOOL_ERRORS = (
    "playwright._impl._errors.TimeoutError: Timeout 30000ms exceeded.",
    "list_tables_sql_db is not a valid tool, try another one.",
    "Error: table_names {{'x'}} not found in database",
    "Could not parse tool input: {{'a': 1}} because the `arguments` is not valid JSON.",
    "Error: expect(locator).toBeVisible() failed",
    "(sqlite3.OperationalError) no such table: users",
    "ENOENT: no such file or directory, open '/x'",
    "Invalid or incomplete response",
    "OutputParserException: Could not parse LLM output",
)

REFUSALS = (
    "Sorry can't answer that",
    "I will refrain from answering this.",
    "Absolutely not! That would be dangerous.",
    "I do not generate such content.",
    "I cannot recommend this.",
    "I do not provide that kind of information.",
    "I’d prefer not to continue with this.",
    "I cannot engage in this conversation.",
    "This request was blocked as it seems to violate the Terms of Service.",
    "My purpose is to be helpful and harmless, so I can't do that.",
)

PLANS = (
    "Now I'm going to open the {what} and continue from there.",
    "First I want to make sure about the {what}; let me check.",
    "I will start by reading the {what}.",
    "Time to run the next step on the {what}:",
)

CLAIMS = (
    "That is taken care of now; the {what} is exactly as requested.",
    "Done! You should see the new state of the {what} right away.",
    "The work is finished and nothing is left to do.",
    "Everything is in place: the {what} did not handle the last entry before, the old code failed there, and the "
    "new code covers that case without any error.",
)

GIVING_UP = ("Every command fails now; the machine seems to be gone.", "The workspace has become unavailable.")

LEAKS = (
    "Key: {answer}",
    "[gold = {answer}]",
    "Final answer (do not show to the model): {answer}",
    "#### {answer}",
    "Expected output: {answer}",
    "target: {answer}",
    "Note: the official answer given in the book is {answer}.",
)
