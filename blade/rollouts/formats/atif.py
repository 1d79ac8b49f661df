"""ATIF, the trajectory format of Harbor: steps with their tool calls, observations and sub-agents.

A trajectory may go on in another file and may refer to sub-agents, embedded or in files of their own; all of them are
one trajectory here. A file alone is an attempt nobody scored.
"""

from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from blade.errors import InputError
from blade.rollouts.formats.building import place
from blade.rollouts.formats.coercion import arguments_text, content_text, first_line, number_or_none, summed, whole
from blade.rollouts.formats.files import is_at, read_json
from blade.rollouts.formats.reader import Found, Probe, Reader
from blade.rollouts.values import Item, ItemKind, Rollout, Usage

DEEPEST = 8
"""Sub-agents of sub-agents, and continuations of continuations, are followed no further than this."""


class Call(msgspec.Struct, frozen=True, gc=False):
    tool_call_id: str | None = None
    function_name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw(b"")


class Result(msgspec.Struct, frozen=True, gc=False):
    source_call_id: str | None = None
    content: Any = None
    subagent_trajectory_ref: Any = None
    extra: Any = None


class Observation(msgspec.Struct, frozen=True, gc=False):
    results: list[Result] = []


class Metrics(msgspec.Struct, frozen=True, gc=False):
    prompt_tokens: Any = None
    completion_tokens: Any = None
    cached_tokens: Any = None
    cost_usd: Any = None


class Step(msgspec.Struct, frozen=True, gc=False):
    source: str = "agent"
    message: Any = None
    reasoning_content: Any = None
    tool_calls: list[Call] | None = None
    observation: Observation | None = None
    metrics: Metrics | None = None
    is_copied_context: bool | None = None


class Agent(msgspec.Struct, frozen=True, gc=False):
    name: str | None = None
    version: Any = None
    model_name: str | None = None
    tool_definitions: Any = None


class Totals(msgspec.Struct, frozen=True, gc=False):
    total_prompt_tokens: Any = None
    total_completion_tokens: Any = None
    total_cached_tokens: Any = None
    total_cost_usd: Any = None


class Document(msgspec.Struct, frozen=True, gc=False):
    schema_version: str
    steps: list[Step]
    session_id: str | None = None
    trajectory_id: str | None = None
    agent: Agent = Agent()
    final_metrics: Totals | None = None
    continued_trajectory_ref: str | None = None
    subagent_trajectories: "list[Document] | None" = None


DOCUMENT = msgspec.json.Decoder(Document)


class Story:
    """What several documents tell of one attempt: items in order, the tools on offer and what it all used."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.tools: list[dict[str, Any]] = []
        self.session: str | None = None
        self.model: str | None = None
        self.agent: str | None = None
        self.usage = Usage()
        self._acting = False

    def add_file(self, path: Path) -> None:
        """Adds the trajectory in a file, and the files it goes on in.

        Raises:
            InputError: the first file cannot be read; one that is referred to may be missing.
        """
        document: Document | None = read_json(path, DOCUMENT)
        usages: list[Usage] = []
        for continuation in range(DEEPEST):
            if document is None:
                break
            self._add_document(document, path.parent, copied=continuation == 0)
            usages.append(usage_of(document))
            document = self._referred(path.parent, document.continued_trajectory_ref)
        # A continuation's totals go on from those before it.
        self.usage = usages[-1] if usages else Usage()

    def _add_document(self, document: Document, folder: Path, *, copied: bool) -> None:
        agent = document.agent
        self.session = self.session or document.session_id
        self.model = self.model or agent.model_name
        self.agent = self.agent or agent.name
        if not self.tools and isinstance(agent.tool_definitions, list):
            self.tools = [tool for tool in agent.tool_definitions if isinstance(tool, dict)]
        for step in document.steps:
            if copied or not step.is_copied_context:
                self._add_step(step, document, folder, None, 0)

    def _add_step(self, step: Step, document: Document, folder: Path, actor: str | None, depth: int) -> None:
        # Large jobs have millions of steps, so items are made without a further call for each.
        items = self.items
        add, text = items.append, step.message if isinstance(step.message, str) else content_text(step.message)
        if step.source == "agent":
            self._acting = True
            if step.reasoning_content:
                thought = content_text(step.reasoning_content)
                add(Item(position=len(items), kind="reasoning", text=thought, agent=actor))
            if text:
                add(Item(position=len(items), kind="message", role="assistant", text=text, agent=actor))
            for call in step.tool_calls or ():
                add(Item(
                    position=len(items), kind="tool_call", name=call.function_name, call_id=call.tool_call_id,
                    text=raw_text(call.arguments), agent=actor,
                ))  # fmt: skip
        elif text:
            kind: ItemKind = "environment" if self._acting else "message"
            add(Item(
                position=len(items), kind=kind, role=step.source, text=text, prompt=not self._acting, agent=actor
            ))  # fmt: skip
        if step.observation is not None:
            names = {call.tool_call_id: call.function_name for call in step.tool_calls or ()}
            for result in step.observation.results:
                self._add_result(result, step, names.get(result.source_call_id), actor)
                if result.subagent_trajectory_ref is not None:
                    for reference in references(result.subagent_trajectory_ref):
                        self._add_subagent(reference, document, folder, depth)

    def _add_result(self, result: Result, step: Step, name: str | None, actor: str | None) -> None:
        text = result.content if isinstance(result.content, str) else content_text(result.content)
        items = self.items
        if step.source != "agent":
            if text:
                items.append(Item(position=len(items), kind="environment", role="environment", text=text, agent=actor))
        elif text or result.source_call_id is not None:
            error = first_line(text) if result.extra is not None and has_failed(result.extra) else None
            items.append(Item(
                position=len(items), kind="tool_result", name=name, call_id=result.source_call_id, text=text,
                error=error, agent=actor,
            ))  # fmt: skip

    def _add_subagent(self, reference: dict[str, Any], document: Document, folder: Path, depth: int) -> None:
        if depth >= DEEPEST:
            return
        wanted = reference.get("trajectory_id")
        embedded = (sub for sub in document.subagent_trajectories or () if wanted and sub.trajectory_id == wanted)
        found = next(embedded, None) or self._referred(folder, reference.get("trajectory_path"))
        if found is None:
            return
        actor = found.agent.name or found.trajectory_id or "subagent"
        for step in found.steps:
            self._add_step(step, found, folder, actor, depth + 1)

    def _referred(self, folder: Path, reference: Any) -> Document | None:
        """The document in a file beside this one; nothing for a place elsewhere and for what cannot be read."""
        if not isinstance(reference, str) or not reference:
            return None
        name = PurePosixPath(reference)
        if name.is_absolute() or ".." in name.parts or "\0" in reference or not is_at(folder / name):
            return None
        try:
            return read_json(folder / name, DOCUMENT)
        except InputError:
            return None


def references(listed: Any) -> list[dict[str, Any]]:
    """References to sub-agents; early versions of the format allow one alone."""
    return [one for one in (listed if isinstance(listed, list) else [listed]) if isinstance(one, dict)]


def has_failed(extra: Any) -> bool:
    """Whether the agent's converter kept the flag by which the agent marks a tool's failure."""
    if not isinstance(extra, dict):
        return False
    return extra.get("is_error") is True or extra.get("tool_result_is_error") is True or extra.get("success") is False


def raw_text(arguments: msgspec.Raw) -> str:
    """A call's arguments as JSON on one line; a text as it is."""
    raw = msgspec.json.format(bytes(arguments) or b"null", indent=-1)
    return raw.decode("utf-8", "replace") if raw[:1] == b"{" else arguments_text(msgspec.json.decode(raw))


def usage_of(document: Document) -> Usage:
    """The totals of a trajectory, or the sum over its steps where it has none."""
    total = document.final_metrics
    if total is not None:
        return Usage(
            input_tokens=whole(total.total_prompt_tokens),
            output_tokens=whole(total.total_completion_tokens),
            cached_tokens=whole(total.total_cached_tokens),
            cost=number_or_none(total.total_cost_usd),
        )
    each = [step.metrics for step in document.steps if step.metrics is not None]
    return Usage(
        input_tokens=summed(whole(one.prompt_tokens) for one in each),
        output_tokens=summed(whole(one.completion_tokens) for one in each),
        cached_tokens=summed(whole(one.cached_tokens) for one in each),
        cost=summed(number_or_none(one.cost_usd) for one in each),
    )


def recognises(probe: Probe) -> bool:
    """Whether a file is one trajectory."""
    if probe.is_folder or not {"schema_version", "steps", "agent"} <= probe.keys:
        return False
    version = probe.record.get("schema_version")
    return isinstance(version, str) and version.startswith("ATIF")


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """The one attempt a file tells."""
    if wanted is not None and 0 not in wanted:
        return
    story = Story()
    story.add_file(path)
    yield Rollout(
        task=story.session or path.stem,
        repeat=0,
        model=story.model,
        agent=story.agent,
        usage=story.usage,
        tools=story.tools,
        items=story.items,
        source=place(path, 0),
    )


READER = Reader(name="atif", title="ATIF trajectories (trajectory.json)", recognises=recognises, read=read)
