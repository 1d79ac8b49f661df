"""Events of OpenHands as items: those of today's SDK have a `kind`, older ones are an `action` or an `observation`."""

from typing import Any

from blade.rollouts.formats.building import (
    Trajectory,
    arguments_text,
    as_dict,
    content_text,
    first_line,
    json_text,
    seconds_between,
    text_or_none,
)
from blade.rollouts.formats.harbor_trial import BY_NAME
from blade.rollouts.values import Ending, EndingKind, Item, Origin

ENDINGS: dict[str, tuple[EndingKind, Origin | None]] = {
    "AgentStuckInLoopError": ("error", "agent"),
    "LLMMalformedActionError": ("error", "agent"),
    "LLMNoActionError": ("error", "agent"),
    "LLMResponseError": ("error", "agent"),
    "FunctionCallValidationError": ("error", "agent"),
    "FunctionCallNotExistsError": ("error", "agent"),
    "LLMNoResponseError": ("error", "model"),
    "LLMAuthenticationError": ("error", "model"),
    "LLMRateLimitError": ("error", "model"),
    "LLMBadRequestError": ("error", "model"),
    "LLMContextWindowExceedError": ("limit", "agent"),
    "MaxIterationsReached": ("limit", "agent"),
    "MaxBudgetReached": ("limit", "agent"),
    "UserCancelledError": ("cancelled", "user"),
    "OperationCancelled": ("cancelled", "runner"),
    "BrowserInitException": ("error", "environment"),
    "BrowserUnavailableException": ("error", "environment"),
    "EvalTimeoutException": ("timeout", "runner"),
}
QUIET = frozenset({
    "recall", "condensation", "condensation_request", "change_agent_state", "null", "agent_state_changed", "condense",
    "pause", "resume", "stop", "start",
})  # fmt: skip
"""Events about the machinery."""
BOOKKEEPING = frozenset({
    "thought", "blocking", "is_static", "is_input", "hidden", "confirmation_state", "is_confirmed", "keep_prompt",
    "action_risk", "security_risk", "static", "kernel_init_code", "include_extra", "impl_source", "action", "id",
    "timestamp", "source", "message", "tool_call_metadata", "llm_metrics", "timeout", "translated_ipython_code",
})  # fmt: skip
"""Parts of an action that are not what it asks for."""


def typed(name: str | None) -> tuple[EndingKind, Origin | None]:
    if name is None:
        return "error", None
    if name.startswith("AgentRuntime"):
        return ("timeout" if "Timeout" in name else "error"), "environment"
    return ENDINGS.get(name) or BY_NAME.get(name, ("error", None, None))[:2]


class Events:
    """What a history tells: items in order, the tools on offer, and a fault that ended the conversation."""

    def __init__(self, instruction: Any, history: Any) -> None:
        self.tools: list[dict[str, Any]] = []
        self.fault: Ending | None = None
        self._story = Trajectory()
        self._acting = False
        events = [event for entry in as_list(history) for event in (entry if isinstance(entry, list) else [entry])]
        if isinstance(instruction, str) and not any(map(is_prompt, events[:20])):
            self._story.add("message", instruction, role="user", prompt=True)
        times = [time for event in events if isinstance(time := as_dict(event).get("timestamp"), str)]
        self.seconds = seconds_between(times[0], times[-1]) if times else None
        for event in events:
            if isinstance(event, dict):
                self._add(event)

    @property
    def items(self) -> list[Item]:
        return self._story.items

    def _add(self, event: dict[str, Any]) -> None:
        if isinstance(event.get("kind"), str):
            self._add_event(event, event["kind"])
        elif isinstance(event.get("action"), str):
            self._add_action(event, event["action"])
        elif isinstance(event.get("observation"), str):
            self._add_observation(event, event["observation"])

    def _say(self, text: str, source: Any) -> None:
        """A message of the agent, or of whoever speaks to it."""
        if not text:
            return
        if source == "agent" or (source is None and self._acting):
            self._acting = True
            self._story.add("message", text, role="assistant")
        else:
            role = "system" if source == "system" else "user"
            self._story.add("environment" if self._acting else "message", text, role=role, prompt=not self._acting)

    def _add_action(self, event: dict[str, Any], action: str) -> None:
        """An action of versions before 1.0; the earliest keep its arguments beside its name."""
        args = as_dict(event.get("args")) or event
        thought = content_text(args.get("thought"))
        if action in QUIET:
            return
        if action in ("message", "system"):
            self._say(content_text(args.get("content")), "system" if action == "system" else event.get("source"))
            self.tools = self.tools or [tool for tool in as_list(args.get("tools")) if isinstance(tool, dict)]
            return
        self._acting = True
        if action == "think":
            self._story.add("reasoning", thought)
        elif action in ("finish", "reject"):
            self._say(content_text(args.get("final_thought")) or thought or content_text(args.get("outputs")), "agent")
        else:
            self._say(thought, "agent")
            call = as_dict(event.get("tool_call_metadata"))
            asked = {name: value for name, value in args.items() if name not in BOOKKEEPING and value is not None}
            self._story.add(
                "tool_call", json_text(asked), name=text_or_none(call.get("function_name")) or action,
                call_id=text_or_none(call.get("tool_call_id")),
            )  # fmt: skip

    def _add_observation(self, event: dict[str, Any], observation: str) -> None:
        text = content_text(event.get("content"))
        if observation in QUIET or (observation == "think" and self._acting):
            return
        call = as_dict(event.get("tool_call_metadata"))
        self._story.add(
            "tool_result", text, name=text_or_none(call.get("function_name")) or observation,
            call_id=text_or_none(call.get("tool_call_id")), error=first_line(text) if observation == "error" else None,
        )  # fmt: skip

    def _add_event(self, event: dict[str, Any], kind: str) -> None:
        """An event of the SDK."""
        tool, call_id = text_or_none(event.get("tool_name")), text_or_none(event.get("tool_call_id"))
        if kind == "SystemPromptEvent":
            self._say(content_text(event.get("system_prompt")), "system")
            self.tools = [tool for tool in as_list(event.get("tools")) if isinstance(tool, dict)]
        elif kind == "MessageEvent":
            message = as_dict(event.get("llm_message"))
            self._think(message)
            self._say(content_text(message.get("content")), event.get("source"))
        elif kind == "ActionEvent":
            self._acting = True
            self._think(event)
            self._say(content_text(event.get("thought")), "agent")
            asked = as_dict(event.get("tool_call")).get("arguments") or event.get("action")
            self._story.add("tool_call", arguments_text(asked), name=tool, call_id=call_id)
        elif kind == "ObservationEvent":
            seen = as_dict(event.get("observation"))
            text = content_text(seen.get("content"))
            error = first_line(text) if seen.get("is_error") is True else None
            self._story.add("tool_result", text, name=tool, call_id=call_id, error=error)
        elif kind in ("AgentErrorEvent", "UserRejectObservation"):
            text = content_text(event.get("error") or event.get("rejection_reason"))
            self._story.add("tool_result", text, name=tool, call_id=call_id, error=first_line(text))
        elif kind == "ConversationErrorEvent":
            name = text_or_none(event.get("code"))
            ended, origin = typed(name)
            self.fault = Ending(kind=ended, origin=origin, name=name, message=text_or_none(event.get("detail")))

    def _think(self, event: dict[str, Any]) -> None:
        blocks = [content_text(as_dict(block).get("thinking")) for block in as_list(event.get("thinking_blocks"))]
        if thought := content_text(event.get("reasoning_content")) or "\n".join(filter(None, blocks)):
            self._story.add("reasoning", thought)


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def is_prompt(event: Any) -> bool:
    """Whether an event is a user's message."""
    event = as_dict(event)
    said = event.get("action") == "message" or event.get("kind") == "MessageEvent"
    return said and event.get("source") in ("user", None)
