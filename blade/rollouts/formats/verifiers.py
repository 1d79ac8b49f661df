"""verifiers: `results.jsonl` with its `metadata.json` (versions 0.1) and the `traces.jsonl` of a run (versions since).

The older rows are rollouts; a line of the newer file is an episode, in which several agents may have traces. The ones
that are trained or evaluated are rollouts; a judge's or a simulated user's trace is not.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from blade.errors import InputError
from blade.rollouts.formats.building import Attempts, Trajectory, bad_line, place
from blade.rollouts.formats.coercion import (
    content_text,
    number_or_none,
    objects,
    part,
    scalars,
    short_values,
    text_or_none,
)
from blade.rollouts.formats.files import decode_lenient, json_lines, read_bytes
from blade.rollouts.formats.reader import Found, Note, Probe, Reader
from blade.rollouts.values import BadLine, Ending, EndingKind, Expected, Origin, Rollout, Usage

ERRORS: dict[str, tuple[EndingKind, Origin | None]] = {
    "ModelError": ("error", "model"),
    "InvalidModelResponseError": ("error", "model"),
    "EmptyModelResponseError": ("error", "model"),
    "OverlongPromptError": ("limit", "model"),
    "ToolError": ("error", "environment"),
    "ToolParseError": ("error", "environment"),
    "ToolCallError": ("error", "environment"),
    "InfraError": ("error", "environment"),
    "TunnelError": ("error", "runner"),
    "SandboxError": ("error", "environment"),
    "BrowserSandboxError": ("error", "environment"),
    "ProviderError": ("error", "model"),
    "HarnessError": ("error", "agent"),
    "ToolsetError": ("error", "environment"),
    "EnvError": ("error", "runner"),
    "TaskError": ("error", "verifier"),
    "InterceptionError": ("error", "runner"),
}
"""The classes of errors of both versions, by the boundary they name."""
STOPS: dict[str, tuple[EndingKind, Origin | None]] = {
    "timeout_reached": ("timeout", None),
    "prompt_too_long": ("limit", "model"),
    "max_total_completion_tokens_reached": ("limit", "agent"),
    "max_turns": ("limit", "agent"),
    "max_input_tokens": ("limit", "agent"),
    "max_output_tokens": ("limit", "agent"),
    "max_total_tokens": ("limit", "agent"),
    "compaction_failed": ("limit", "agent"),
    "boot_timeout": ("timeout", "environment"),
    "setup_timeout": ("timeout", "environment"),
    "agent_timeout": ("timeout", "agent"),
    "finalize_timeout": ("timeout", "runner"),
    "scoring_timeout": ("timeout", "verifier"),
}
"""Conditions that stop a rollout short. `max_turns_reached` is not one: it ends every rollout of a single turn."""
OUTPUT_PARTS = frozenset({
    "example_id", "prompt", "completion", "answer", "info", "reward", "error", "timing", "is_completed", "metrics",
    "tool_defs", "token_usage", "error_chain", "long_error_chain", "trajectory", "oai_tools",
})  # fmt: skip


def output_rollout(row: dict[str, Any], metadata: dict[str, Any], task: str, repeat: int) -> Rollout:
    """A row of the older versions. What broke counts with its reward, as in their own average."""
    steps = Trajectory()
    add(steps, row.get("prompt"), role="user", prompt=True)
    add(steps, row.get("completion"), role="assistant", prompt=False)
    metrics = part(row, "metrics")
    used, timing = part(row, "token_usage"), part(row, "timing")
    whole, thousandths = number_or_none(timing.get("total")), number_or_none(timing.get("total_ms"))
    rest = {name: value for name, value in row.items() if name not in OUTPUT_PARTS and name not in metrics}
    return Rollout(
        task=task,
        repeat=repeat,
        reward=number_or_none(row.get("reward")),
        scores={"reward": number_or_none(row.get("reward")), **numbers(metrics)},
        model=text_or_none(metadata.get("model")),
        ending=output_ending(row),
        expected=expected_of(row.get("answer")),
        settings=scalars({
            "env_id": metadata.get("env_id"), **part(metadata, "sampling_args"), **part(metadata, "env_args"),
            "verifiers": part(metadata, "version_info").get("vf_version"),
        }),
        usage=Usage(input_tokens=tokens(used.get("input_tokens")), output_tokens=tokens(used.get("output_tokens"))),
        seconds=whole or (thousandths / 1000 if thousandths else None),
        fields={**short_values(rest), **({"info": info} if (info := short_values(row.get("info"))) else {})},
        tools=objects(row.get("tool_defs")),
        items=steps.items,
    )  # fmt: skip


def output_ending(row: dict[str, Any]) -> Ending:
    """The error's class; else what cut the rollout short."""
    error = row.get("error")
    if error:
        name = text_or_none(error.get("error")) if isinstance(error, dict) else content_text(error)
        message = text_or_none(error.get("error_chain_repr")) if isinstance(error, dict) else None
        name = (name or "error").partition("(")[0]
        kind, origin = ERRORS.get(name, ("error", None))
        return Ending(kind=kind, origin=origin, name=name, message=message)
    return stopped(text_or_none(row.get("stop_condition")), truncated=row.get("is_truncated") is True)


def stopped(condition: str | None, *, truncated: bool) -> Ending:
    """How a rollout without an error ended."""
    if condition in STOPS:
        kind, origin = STOPS[condition]
        return Ending(kind=kind, origin=origin, name=condition)
    return Ending(kind="limit", origin="model", name="truncated") if truncated else Ending()


def task_of(episode: dict[str, Any]) -> str | None:
    """The task's own id, else its index, else the key made of its content."""
    task = part(episode, "task")
    data = part(task, "data")
    known = (data.get("id"), data.get("idx"), data.get("name"), task.get("key"), task.get("hash"))
    return next((text for value in known if (text := text_or_none(value)) is not None), None)


class TraceRollout:
    """One agent's trace of an episode."""

    def __init__(self, episode: dict[str, Any], trace: dict[str, Any]) -> None:
        self.episode = episode
        self.trace = trace
        self.data = part(part(episode, "task"), "data")
        self.agent = part(trace, "agent")
        self.config = part(self.agent, "config")
        self.calls = objects(trace.get("calls"))

    def rollout(self, task: str, repeat: int) -> Rollout:
        """The attempt. One that broke has no score: verifiers leaves it out of its average."""
        rewards = {name: one for name, one in part(self.trace, "rewards").items() if isinstance(one, dict)}
        parts = {str(name): number_or_none(one.get("score")) for name, one in rewards.items()}
        weights = [number_or_none(one.get("weight", 1.0)) or 0.0 for one in rewards.values()]
        total = sum((score or 0.0) * weight for score, weight in zip(parts.values(), weights, strict=True))
        reward = total if self.trace.get("ok") is True else None
        harness = self.config.get("harness")
        span = part(part(self.trace, "timing"), "agent")
        begun, ended = number_or_none(span.get("start")), number_or_none(span.get("end"))
        return Rollout(
            task=task,
            repeat=repeat,
            reward=reward,
            scores={"reward": reward, **parts, **numbers(part(self.trace, "metrics"))},
            model=next((name for call in self.calls if (name := text_or_none(call.get("model")))), None)
            or text_or_none(self.config.get("model")),
            agent=text_or_none(harness.get("id")) if isinstance(harness, dict) else text_or_none(harness),
            ending=self.ending(),
            expected=expected_of(self.data.get("answer")),
            settings=scalars({
                "env_id": part(self.episode, "env").get("id"), **part(self.config, "sampling"),
                **{name: self.config.get(name) for name in LIMITS},
                "verifiers": part(self.trace, "verifiers").get("version"),
            }),
            usage=usage_of(self.calls),
            seconds=ended - begun if begun and ended and ended >= begun else None,
            fields=fields_of(self.data, text_or_none(self.agent.get("name")), self.trace.get("stop_condition")),
            tools=objects(self.trace.get("tools")),
            items=self.steps().items,
        )  # fmt: skip

    def ending(self) -> Ending:
        """The last error's class; else what cut the trace short."""
        errors = objects(self.trace.get("errors"))
        condition = text_or_none(self.trace.get("stop_condition"))
        if errors and self.trace.get("ok") is not True:
            return error_ending(errors)
        reasons = [call.get("finish_reason") for call in self.calls if not call.get("error")]
        ending = stopped(condition, truncated=reasons[-1:] == ["length"])
        if ending.kind == "completed" and self.trace.get("ok") is not True:
            return Ending(kind="timeout" if self.trace.get("is_timeout") is True else "error", name=condition)
        return ending

    def steps(self) -> Trajectory:
        """The messages in the order they came; those that are not on the way to the last one are another branch's."""
        steps = Trajectory()
        nodes = objects(self.trace.get("nodes"))
        final = path_to(nodes, len(nodes) - 1)
        acting = False
        for number, node in enumerate(nodes):
            acting = acting or node.get("sampled") is True
            begun = len(steps.items)
            add(steps, [part(node, "message")], role="user", prompt=not acting)
            if number not in final:
                aside = steps.items[begun:]
                steps.items[begun:] = [msgspec.structs.replace(item, agent="branch") for item in aside]
        return steps


LIMITS = ("max_turns", "max_input_tokens", "max_output_tokens", "max_total_tokens")


def path_to(nodes: list[dict[str, Any]], last: int) -> set[int]:
    """The nodes from the first message to one, by their parents."""
    found: set[int] = set()
    at: Any = last
    while isinstance(at, int) and 0 <= at < len(nodes) and at not in found:
        found.add(at)
        at = nodes[at].get("parent")
    return found


def error_ending(errors: list[dict[str, Any]]) -> Ending:
    """The last of several errors."""
    name = text_or_none(errors[-1].get("type")) or "error"
    kind, origin = ERRORS.get(name, ("error", None))
    return Ending(kind=kind, origin=origin, name=name, message=text_or_none(errors[-1].get("message")))


def episode_without_traces(episode: dict[str, Any], task: str, repeat: int) -> Rollout:
    """An episode that broke before any agent began."""
    errors = objects(episode.get("errors"))
    data = part(part(episode, "task"), "data")
    steps = Trajectory()
    add(steps, data.get("prompt"), role="user", prompt=True)
    return Rollout(
        task=task,
        repeat=repeat,
        ending=error_ending(errors) if errors else Ending(kind="not_run"),
        expected=expected_of(data.get("answer")),
        settings=scalars({"env_id": part(episode, "env").get("id")}),
        fields=fields_of(data, None, None),
        items=steps.items,
    )


TASK_PARTS = frozenset({
    "prompt", "system_prompt", "idx", "image", "workdir", "agent_user", "artifact_max_bytes", "description",
})  # fmt: skip


def fields_of(data: dict[str, Any], agent: str | None, condition: Any) -> dict[str, Any]:
    """What the task says in few words, which agent of the episode it was, and what stopped it."""
    told = {name: value for name, value in short_values(data).items() if name not in TASK_PARTS}
    known = {"agent_name": agent, "stop_condition": text_or_none(condition)}
    return {**{name: value for name, value in known.items() if value}, **({"data": told} if told else {})}


def add(steps: Trajectory, messages: Any, *, role: str, prompt: bool) -> None:
    """Messages, or a text that stands for one."""
    if isinstance(messages, str):
        steps.add("message", messages, role=role, prompt=prompt)
    for message in objects(messages):
        stored = message.get("tool_calls")
        if isinstance(stored, list):  # older versions write every call as a text of JSON
            calls = [decode_lenient(call.encode()) if isinstance(call, str) else call for call in stored]
            message = {**message, "tool_calls": calls}
        steps.add_message(message, prompt=prompt)


def expected_of(answer: Any) -> Expected | None:
    text = text_or_none(answer) if isinstance(answer, str | int | float) else None
    return Expected(answers=[text]) if text else None


def numbers(values: dict[str, Any]) -> dict[str, float | None]:
    return {str(name): number_or_none(value) for name, value in values.items()}


def tokens(value: Any) -> int | None:
    known = number_or_none(value)
    return int(known) if known else None


def usage_of(calls: Iterable[dict[str, Any]]) -> Usage:
    """What all model calls used; tokens read from a cache are part of the input."""
    sums: dict[str, float] = {}
    for call in calls:
        for name, value in numbers(part(call, "usage")).items():
            sums[name] = sums.get(name, 0.0) + (value or 0.0)
    cached = sums.get("cached_input_tokens", 0.0)
    return Usage(
        input_tokens=tokens(sums.get("prompt_tokens", 0.0) + cached),
        output_tokens=tokens(sums.get("completion_tokens")),
        cached_tokens=tokens(cached),
        reasoning_tokens=tokens(sums.get("reasoning_tokens")),
        cost=sums.get("cost"),
    )


OUTPUT_KEYS = frozenset({"example_id", "prompt", "completion", "reward", "timing", "is_completed", "is_truncated"})
EPISODE_KEYS = frozenset({"env", "task", "ok"})
METADATA_KEYS = frozenset({"env_id", "model", "num_examples", "rollouts_per_example"})
TRACES = "traces.jsonl"


def recognises(probe: Probe) -> bool:
    """Whether a path holds outputs or episodes; a run folder of the newer versions is one source."""
    if probe.is_folder:
        return TRACES in probe.names and has_episodes(Probe(probe.path / TRACES))
    return not probe.is_array and (probe.keys >= OUTPUT_KEYS or has_episodes(probe))


def has_episodes(probe: Probe) -> bool:
    return probe.keys >= EPISODE_KEYS and b'"traces":' in probe.head.replace(b" ", b"")


def is_metadata(probe: Probe) -> bool:
    """Whether a file says what outputs beside it were made with."""
    return not probe.is_folder and probe.keys >= METADATA_KEYS


def rows_file(path: Path) -> Path:
    return path / TRACES if path.is_dir() else path


def metadata_file(path: Path) -> Path | None:
    beside = path.parent / "metadata.json"
    return beside if not path.is_dir() and beside.is_file() and is_metadata(Probe(beside)) else None


def files(path: Path) -> list[Path]:
    """The rows and what says how they were made."""
    metadata = metadata_file(path)
    return [rows_file(path), *([metadata] if metadata else [])]


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every rollout; its place is that of its line, plus its number within an episode."""
    file = rows_file(path)
    metadata = metadata_of(path)
    environment = text_or_none(metadata.get("env_id"))
    attempts = Attempts()
    said: set[str] = set()
    for line in json_lines(file):
        if isinstance(line, BadLine):
            yield line
            continue
        row = decode_lenient(line.data)
        made = makers(row, metadata) if isinstance(row, dict) else []
        if not made:
            yield bad_line(file, "is not a rollout of verifiers", line=line.line, offset=line.offset)
        for number, (task, make) in enumerate(made):
            repeat = attempts.next(task)
            at = line.offset + number
            if wanted is not None and at not in wanted:
                continue
            rollout = make(task, repeat)
            others = ", ".join(name for name in rollout.scores if name != "reward")
            if others and others not in said:
                said.add(others)
                yield Note(text=f"reward counts as the score; --score also takes {others}")
            where = place(file, at, line=line.line, length=len(line.data))
            yield msgspec.structs.replace(rollout, run=environment, source=where)


Maker = Callable[[str, int], Rollout]


def makers(row: dict[str, Any], metadata: dict[str, Any]) -> list[tuple[str, Maker]]:
    """The task of each rollout in a row, and what makes the rollout of it."""
    if "traces" in row:
        task = task_of(row)
        traces = objects(row["traces"])
        evaluated = [trace for trace in traces if part(trace, "agent").get("trainable") is not False] or traces
        if task is None:
            return []
        made: list[tuple[str, Maker]] = [(task, TraceRollout(row, trace).rollout) for trace in evaluated]
        return made or [(task, partial(episode_without_traces, row))]
    example = text_or_none(row.get("example_id"))
    return [] if example is None or "completion" not in row else [(example, partial(output_rollout, row, metadata))]


def metadata_of(path: Path) -> dict[str, Any]:
    """What outputs were made with; nothing when nobody says."""
    file = metadata_file(path)
    try:
        found = decode_lenient(read_bytes(file)) if file is not None else None
    except InputError:
        return {}
    return found if isinstance(found, dict) else {}


READER = Reader(
    name="verifiers",
    title="verifiers evaluations (results.jsonl with metadata.json, or traces.jsonl)",
    recognises=recognises,
    read=read,
    files=files,
    passes_over=is_metadata,
)
