"""Trajectories of mini-swe-agent (`*.traj.json`) and SWE-agent (`*.traj`): one file is one attempt at one instance.

Neither is scored by its agent: `swe_bench` joins them with reports by the instance's id.
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from blade.errors import InputError
from blade.rollouts.formats.building import Trajectory, place
from blade.rollouts.formats.coercion import (
    arguments_text,
    as_dict,
    content_text,
    json_text,
    number_or_none,
    scalars,
    summed,
    text_or_none,
    whole,
)
from blade.rollouts.formats.files import ANYTHING, read_json
from blade.rollouts.formats.harbor_trial import BY_NAME
from blade.rollouts.formats.reader import Found, Probe, Reader
from blade.rollouts.values import Ending, EndingKind, Origin, Rollout, Usage

SUFFIXES = (".traj.json", ".traj")
MINI: dict[str, tuple[EndingKind, Origin | None]] = {
    "Submitted": ("completed", None),
    "LimitsExceeded": ("limit", "agent"),
    "TimeExceeded": ("timeout", "agent"),
    "RepeatedFormatError": ("error", "agent"),
    "FormatError": ("error", "agent"),
    "UserInterruption": ("cancelled", "user"),
    "KeyboardInterrupt": ("cancelled", "user"),
    "TimeoutExpired": ("timeout", "environment"),
    "CalledProcessError": ("error", "environment"),
}
SWE_AGENT: dict[str, tuple[EndingKind, Origin | None]] = {
    "submitted": ("completed", None),
    "exit_command": ("completed", None),
    "exit_forfeit": ("completed", "agent"),
    "exit_cost": ("limit", "agent"),
    "exit_context": ("limit", "agent"),
    "exit_format": ("error", "agent"),
    "exit_api": ("error", "model"),
    "exit_environment_error": ("error", "environment"),
    "exit_command_timeout": ("timeout", "environment"),
    "exit_total_execution_time": ("timeout", "agent"),
    "exit_error": ("error", None),
}


def recognises_mini(probe: Probe) -> bool:
    """Whether a file says that it is a trajectory of mini-swe-agent; early ones are a bare list of messages."""
    if probe.is_folder:
        return False
    if probe.is_array:
        return probe.path.name.endswith(".traj.json") and {"role", "content"} <= probe.keys
    if not {"messages", "info"} <= probe.keys:
        return False
    return "trajectory_format" in probe.keys or isinstance(as_dict(probe.record.get("info")).get("mini_version"), str)


def recognises_swe_agent(probe: Probe) -> bool:
    """Whether a file is a trajectory of SWE-agent."""
    if probe.is_folder or probe.is_array or "trajectory" not in probe.keys:
        return False
    return {"trajectory", "history", "info"} <= probe.keys or {"trajectory", "environment"} <= probe.keys


def instance_of(path: Path) -> str:
    """The instance a file is named after."""
    name = path.name
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return name


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """The one attempt a file tells."""
    if wanted is None or 0 in wanted:
        yield msgspec.structs.replace(attempt(path), source=place(path, 0))


def attempt(path: Path) -> Rollout:
    """The attempt in a file of either agent, without a score.

    Raises:
        InputError: it is neither's.
    """
    data = read_json(path, ANYTHING)
    if isinstance(data, list):
        data = {"messages": data}
    if isinstance(data, dict) and isinstance(data.get("messages"), list):
        return mini(data, instance_of(path))
    if isinstance(data, dict) and isinstance(data.get("trajectory"), list):
        return swe_agent(data, instance_of(path))
    raise InputError(f"{path}: holds no trajectory of mini-swe-agent or SWE-agent.")


def mini(data: dict[str, Any], name: str) -> Rollout:
    """An attempt by mini-swe-agent."""
    info = as_dict(data.get("info"))
    config, messages = as_dict(info.get("config")), [one for one in data["messages"] if isinstance(one, dict)]
    model, agent = as_dict(config.get("model")), as_dict(config.get("agent"))
    stats = as_dict(info.get("model_stats"))
    calls = number_or_none(stats.get("api_calls"))
    return Rollout(
        task=text_or_none(data.get("instance_id")) or name,
        repeat=0,
        model=text_or_none(model.get("model_name")),
        agent="mini-swe-agent",
        ending=mini_ending(info, messages),
        answer=text_or_none(info.get("submission")),
        settings=scalars({
            "agent_version": info.get("mini_version"), "step_limit": agent.get("step_limit"),
            "cost_limit": agent.get("cost_limit"), **as_dict(model.get("model_kwargs")),
        }),
        usage=mini_usage(messages, stats),
        seconds=mini_seconds(messages),
        fields={"api_calls": int(calls)} if calls else {},
        items=mini_items(messages),
    )  # fmt: skip


def mini_ending(info: dict[str, Any], messages: list[dict[str, Any]]) -> Ending:
    """By the exit status: a name of its own, or the class of what was raised."""
    status = text_or_none(info.get("exit_status"))
    if status is None:
        return Ending() if not info else Ending(kind="cancelled", origin="runner", message="no exit status")
    return exit_ending(status, text_or_none(info.get("exception_str")))


def exit_ending(status: str, message: str | None = None) -> Ending:
    """Why an attempt of mini-swe-agent ended that has this exit status."""
    name = status.removeprefix("Uncaught ")
    kind, origin = MINI.get(name) or BY_NAME.get(name, ("error", None, None))[:2]
    return Ending() if kind == "completed" else Ending(kind=kind, origin=origin, name=name, message=message)


def mini_items(messages: list[dict[str, Any]]) -> list[Any]:
    """Turns; commands that were taken from a text are calls too, and observations their results."""
    story, acting = Trajectory(), False
    for message in messages:
        role, extra = message.get("role"), as_dict(message.get("extra"))
        acting = acting or role in ("assistant", "tool") or message.get("object") == "response"
        if role == "exit":
            continue
        if "returncode" in extra:
            story.add(
                "tool_result", content_text(message.get("content") or message.get("output")), name="bash",
                call_id=text_or_none(message.get("tool_call_id") or message.get("call_id")),
                error=text_or_none(extra.get("exception_info")),
            )  # fmt: skip
            continue
        if message.get("object") == "response":
            add_response(story, message)
        else:
            story.add_message(message, prompt=not acting)
        if role == "assistant" and not message.get("tool_calls"):
            for action in extra.get("actions") or ():
                if isinstance(action, dict):
                    story.add("tool_call", json_text({"command": action.get("command")}), name="bash")
    return story.items


def add_response(story: Trajectory, response: dict[str, Any]) -> None:
    """A turn in the dialect of OpenAI's Responses."""
    for item in response.get("output") or ():
        kind = as_dict(item).get("type")
        if kind == "reasoning":
            story.add("reasoning", content_text(item.get("summary") or item.get("content")))
        elif kind == "function_call":
            story.add(
                "tool_call", arguments_text(item.get("arguments")), name=text_or_none(item.get("name")),
                call_id=text_or_none(item.get("call_id")),
            )  # fmt: skip
        elif kind == "message":
            story.add("message", content_text(item.get("content")), role="assistant")


def mini_usage(messages: list[dict[str, Any]], stats: dict[str, Any]) -> Usage:
    """Tokens of every response that was kept, and the cost the agent counted."""
    responses = [as_dict(as_dict(message.get("extra")).get("response")) for message in messages]
    each = [as_dict(response.get("usage") or message.get("usage")) for response, message in zip(responses, messages)]  # noqa: B905 - same length
    cached = [as_dict(one.get("prompt_tokens_details") or one.get("input_tokens_details")) for one in each]
    return Usage(
        input_tokens=summed(whole(one.get("prompt_tokens", one.get("input_tokens"))) for one in each),
        output_tokens=summed(whole(one.get("completion_tokens", one.get("output_tokens"))) for one in each),
        cached_tokens=summed(whole(one.get("cached_tokens")) for one in cached),
        cost=number_or_none(stats.get("instance_cost")) or None,
    )


def mini_seconds(messages: list[dict[str, Any]]) -> float | None:
    stamps = [as_dict(message.get("extra")).get("timestamp", message.get("timestamp")) for message in messages]
    times = [number_or_none(stamp) for stamp in stamps]
    known = [time for time in times if time is not None]
    return known[-1] - known[0] if len(known) > 1 else None


def swe_agent(data: dict[str, Any], name: str) -> Rollout:
    """An attempt by SWE-agent; the last, where it made several."""
    if not data["trajectory"] and isinstance(data.get("attempts"), list) and data["attempts"]:
        data = {**as_dict(data["attempts"][-1]), "info": data.get("info"), "replay_config": data.get("replay_config")}
    info = as_dict(data.get("info"))
    stats, model = as_dict(info.get("model_stats")), model_config(data.get("replay_config"))
    steps = [step for step in data.get("trajectory") or () if isinstance(step, dict)]
    calls = number_or_none(stats.get("api_calls"))
    return Rollout(
        task=name,
        repeat=0,
        model=text_or_none(model.get("name")),
        agent="SWE-agent",
        ending=swe_agent_ending(text_or_none(info.get("exit_status"))),
        answer=text_or_none(info.get("submission")),
        settings=scalars({
            "agent_version": info.get("swe_agent_version"), "temperature": model.get("temperature"),
            "top_p": model.get("top_p"), "cost_limit": model.get("per_instance_cost_limit"),
        }),
        usage=Usage(
            input_tokens=whole(stats.get("tokens_sent")) or None,
            output_tokens=whole(stats.get("tokens_received")) or None,
            cost=number_or_none(stats.get("instance_cost")) or None,
        ),
        fields={"api_calls": int(calls)} if calls else {},
        items=history_items(data.get("history"), steps),
    )  # fmt: skip


def model_config(replayed: Any) -> dict[str, Any]:
    """How the model was configured, if the run can be replayed; stored as JSON in a text."""
    if isinstance(replayed, str):
        try:
            replayed = ANYTHING.decode(replayed)
        except (msgspec.MsgspecError, RecursionError):
            return {}
    return as_dict(as_dict(as_dict(replayed).get("agent")).get("model"))


def swe_agent_ending(status: str | None) -> Ending:
    """By the exit status; `submitted (exit_cost)` is a patch that was taken when money ran out."""
    if status is None:
        return Ending(kind="cancelled", origin="runner", message="no exit status")
    inner = status.partition("(")[2].rstrip(")") or status
    kind, origin = SWE_AGENT.get(inner, ("error", None))
    return Ending(kind=kind, origin=origin, name=None if kind == "completed" and origin is None else status)


def history_items(history: Any, steps: list[dict[str, Any]]) -> list[Any]:
    """What the model saw and said; demonstrations belong to the prompt."""
    story, acting = Trajectory(), False
    for message in history if isinstance(history, list) else ():
        message = as_dict(message)
        role, action = message.get("role"), message.get("action")
        is_demo = bool(message.get("is_demo")) or message.get("message_type") == "demonstration"
        if role == "assistant" and not is_demo:
            acting = True
            for block in message.get("thinking_blocks") or ():
                story.add("reasoning", content_text(as_dict(block).get("thinking")))
            if message.get("tool_calls"):
                story.add_message(
                    {**message, "content": message.get("thought") or message.get("content")}, prompt=False
                )
            elif isinstance(action, str) and action.strip():
                if thought := content_text(message.get("thought")):
                    story.add("message", thought, role="assistant")
                story.add("tool_call", action, name=action.split()[0])
            else:
                story.add_message(message, prompt=False)
        elif acting and (role == "tool" or message.get("message_type") == "observation"):
            ids = message.get("tool_call_ids")
            call_id = text_or_none(ids[0]) if isinstance(ids, list) and ids else None
            story.add("tool_result", content_text(message.get("content")), call_id=call_id)
        else:
            story.add_message({**message, "tool_calls": None}, prompt=not acting)
    if not story.items:
        for step in steps:
            if said := content_text(step.get("response") or step.get("thought")):
                story.add("message", said, role="assistant")
            if step.get("action"):
                story.add("tool_call", content_text(step["action"]), name=content_text(step["action"]).split(" ")[0])
                story.add("tool_result", content_text(step.get("observation")))
    return story.items


MINI_READER = Reader(
    name="mini-swe-agent", title="mini-swe-agent trajectories (*.traj.json)", recognises=recognises_mini, read=read
)
SWE_AGENT_READER = Reader(
    name="swe-agent", title="SWE-agent trajectories (*.traj)", recognises=recognises_swe_agent, read=read
)
