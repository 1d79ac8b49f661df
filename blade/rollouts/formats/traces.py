"""Traces, whoever recorded them: spans that belong together, and the rollout they tell.

One trace is one rollout. Calls to models and tools come in the order they ended; what a call was given is compared with
what its agent was given before, and only what is new is taken. A trace is scored only where it was evaluated.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from blade.rollouts.formats.building import Attempts, Trajectory, bad_line, place
from blade.rollouts.formats.chats import calls_of, key_of
from blade.rollouts.formats.coercion import (
    arguments_text,
    content_text,
    first_line,
    number_or_none,
    objects,
    text_or_none,
)
from blade.rollouts.formats.files import ANYTHING, BROKEN, decode_lenient, json_lines, read_json
from blade.rollouts.formats.reader import Found, Note, Probe
from blade.rollouts.values import BadLine, Ending, EndingKind, Expected, Origin, Rollout, Source, Usage

Kind = Literal["llm", "tool", "agent", "score", "other"]
STOPS: dict[str, tuple[EndingKind, Origin]] = {
    "length": ("limit", "model"),
    "max_tokens": ("limit", "model"),
    "content_filter": ("error", "model"),
}
ORIGINS: dict[Kind, Origin] = {"llm": "model", "tool": "environment", "score": "verifier"}
CLASS = re.compile(r"\s*([A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Timeout|Exit))\b")


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a trace, whatever format it was recorded in."""

    id: str
    parent: str | None = None
    kind: Kind = "other"
    name: str | None = None
    start: float | None = None
    """Seconds since some fixed time."""
    end: float | None = None
    model: str | None = None
    given: list[dict[str, Any]] = []
    """What a model was given: messages in the chat dialect."""
    said: list[dict[str, Any]] = []
    """What it answered."""
    stop: str | None = None
    """Why it stopped."""
    input: Any = None
    """What the step was called with, as recorded: of a tool, its arguments."""
    output: Any = None
    call_id: str | None = None
    """The call a tool answers."""
    error: str | None = None
    """Class of the error the step ended with; its first words where no class is recorded."""
    message: str | None = None
    tools: list[dict[str, Any]] = []
    usage: Usage = Usage()
    settings: dict[str, Any] = {}
    fields: dict[str, Any] = {}
    scores: dict[str, list[float]] = {}


class TraceInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a format knows about a trace beyond its spans."""

    task: str
    run: str | None = None
    expected: Expected | None = None
    answer: str | None = None
    fields: dict[str, Any] = {}
    scores: dict[str, list[float]] = {}
    ending: Ending | None = None
    """Why it ended, where that is recorded apart."""


Keyed = tuple[str, Any]


def holds(probe: Probe, lists: Collection[str], is_row: Callable[[Collection[str]], bool]) -> bool:
    """Whether a file's first row, or one of the first in a list of its document, has the names of a tracer's rows."""
    if is_row(probe.keys):
        return True
    named = [name for name in lists if name in probe.keys]
    return any(is_row(row) for name in named for row in objects(probe.record.get(name))[:3])


def keyed_rows(
    path: Path, lists: Collection[str], key_of_row: Callable[[dict[str, Any]], str | None], *, what: str
) -> Iterator[Keyed | BadLine]:
    """The rows of a file: one per line, in an array, or in a list of one document under one of these names.

    A row without a key is of another kind than the file and a bad line; one whose key is empty belongs to no group.
    """
    for line, offset, row in placed_rows(path, lists):
        if isinstance(row, BadLine):
            yield row
            continue
        key = key_of_row(row) if isinstance(row, dict) else None
        if key is None:
            yield bad_line(path, f"is not {what}", line=line, offset=offset)
        elif key:
            yield key, row


def placed_rows(path: Path, lists: Collection[str]) -> Iterator[tuple[int, int, Any]]:
    """Whatever stands where a row should, with its line and place."""
    first = Probe(path).head.lstrip().partition(b"\n")[0]
    if not isinstance(decode_lenient(first), dict):
        for number, row in enumerate(unwrapped(read_json(path, ANYTHING), lists)):
            yield 1, number, row
        return
    for record in json_lines(path):
        if isinstance(record, BadLine):
            yield record.line, record.offset, record
            continue
        value: Any
        try:
            value = ANYTHING.decode(record.data)
        except BROKEN as error:
            value = bad_line(path, str(error), line=record.line, offset=record.offset)
        for row in unwrapped(value, lists):
            yield record.line, record.offset, row


def unwrapped(value: Any, lists: Collection[str]) -> list[Any]:
    if isinstance(value, dict):
        return next((value[name] for name in lists if isinstance(value.get(name), list)), [value])
    return value if isinstance(value, list) else [value]


def groups(keyed: Callable[[], Iterator[Keyed | BadLine]]) -> Iterator[tuple[int, str, list[Any]] | BadLine]:
    """Rows that belong together, each group with its number, as soon as its last row was read.

    The rows are read twice, so that no more groups are held than are open at one time.
    """
    counts: Counter[str] = Counter()
    for found in keyed():
        if not isinstance(found, BadLine):
            counts[found[0]] += 1
    numbered = {key: number for number, key in enumerate(counts)}
    gathered: dict[str, list[Any]] = {}
    for found in keyed():
        if isinstance(found, BadLine):
            yield found
            continue
        key, row = found
        rows = gathered.setdefault(key, [])
        rows.append(row)
        if len(rows) == counts[key]:
            yield numbered[key], key, gathered.pop(key)


def read_groups(
    path: Path,
    wanted: Collection[int] | None,
    keyed: Callable[[], Iterator[Keyed | BadLine]],
    describe: Callable[[str, list[Any]], tuple[list[Span], TraceInfo]],
) -> Iterator[Found]:
    """A rollout for each group of rows. Of several scores the first that a trace has counts for all."""
    attempts = Attempts()
    labels: dict[str, None] = {}
    for found in groups(keyed):
        if isinstance(found, BadLine):
            yield found
            continue
        number, key, rows = found
        try:
            spans, info = describe(key, rows)
            scores = merged(info.scores, *(span.scores for span in spans))
            labels |= dict.fromkeys(scores)
            repeat = attempts.next(info.run, info.task)
            if wanted is not None and number not in wanted:
                continue
            reward = scores.get(next(iter(labels), ""))
            yield rollout_of(spans, info, scores, reward=reward, repeat=repeat, source=place(path, number))
        except (*BROKEN, TypeError, ValueError, OverflowError) as error:
            yield bad_line(path, f"trace {key} cannot be understood: {error}", offset=number)
    if wanted is None and len(labels) > 1:
        yield Note(
            text=f"there are {len(labels)} scores ({', '.join(labels)}): {next(iter(labels))} counts; "
            "--score NAME takes another"
        )


def rollout_of(
    spans: list[Span],
    info: TraceInfo,
    scores: dict[str, float | None],
    *,
    reward: float | None,
    repeat: int,
    source: Source,
) -> Rollout:
    """What the spans of a trace tell."""
    by_id = {span.id: span for span in spans}
    judged = {span.id for span in spans if within(span, by_id, "score")}
    acting = sorted((span for span in spans if span.id not in judged), key=order)
    root = next((span for span in acting if span.parent not in by_id), None)
    calls = [span for span in acting if span.kind == "llm"]
    trajectory = Steps(acting, by_id, root).trajectory
    times = [time for span in spans for time in (span.start, span.end) if time is not None]
    settings: dict[str, Any] = {}
    for span in reversed(calls):
        settings |= span.settings
    return Rollout(
        task=info.task,
        repeat=repeat,
        run=info.run,
        reward=reward,
        scores=scores,
        model=next((span.model for span in calls if span.model), None),
        agent=next((span.name for span in acting if span.kind == "agent" and span.name), None),
        ending=info.ending or ending_of(root, acting, calls),
        answer=info.answer,
        expected=info.expected,
        settings=settings,
        usage=total([span.usage for span in calls]),
        seconds=max(times) - min(times) if times else None,
        fields={**(root.fields if root is not None else {}), **info.fields},
        tools=next((span.tools for span in calls if span.tools), []),
        items=trajectory.items,
        source=source,
    )


def merged(*scores: dict[str, list[float]]) -> dict[str, float | None]:
    """Each score once; one that was given several times, as the mean."""
    values: dict[str, list[float]] = {}
    for given in scores:
        for name, numbers in given.items():
            values.setdefault(name, []).extend(numbers)
    return {name: sum(numbers) / len(numbers) if numbers else None for name, numbers in values.items()}


def order(span: Span) -> tuple[float, float]:
    """When a step was over: a tool that asked another agent ends after it."""
    end = span.end if span.end is not None else span.start
    return (end if end is not None else 0.0, -(span.start or 0.0))


def within(span: Span, by_id: dict[str, Span], kind: Kind) -> bool:
    return span.kind == kind or any(above.kind == kind for above in ancestors(span, by_id))


def ancestors(span: Span, by_id: dict[str, Span]) -> Iterator[Span]:
    passed = {span.id}
    while span.parent is not None and span.parent in by_id and span.parent not in passed:
        span = by_id[span.parent]
        passed.add(span.id)
        yield span


def ending_of(root: Span | None, acting: list[Span], calls: list[Span]) -> Ending:
    """An error that reached the first step; else why the model stopped in the end."""
    if root is not None and root.error is not None:
        causes = [span for span in acting if span.error == root.error and span.kind in ORIGINS]
        return Ending(
            kind="error", origin=ORIGINS[causes[-1].kind] if causes else None, name=root.error, message=root.message
        )
    stop = calls[-1].stop if calls else None
    if stop in STOPS:
        kind, origin = STOPS[stop]
        return Ending(kind=kind, origin=origin, name=stop)
    return Ending()


def total(parts: Iterable[Usage]) -> Usage:
    """Tokens and cost of all calls; unknown where no call says."""
    sums: dict[str, Any] = {}
    for usage in parts:
        for name in usage.__struct_fields__:
            value = getattr(usage, name)
            if value is not None:
                sums[name] = sums.get(name, 0) + value
    return Usage(**sums)


class Steps:
    """Builds the trajectory of a trace."""

    def __init__(self, acting: list[Span], by_id: dict[str, Span], root: Span | None) -> None:
        self.trajectory = Trajectory()
        self._by_id = by_id
        self._given: dict[str | None, list[str]] = {}
        self._seen: set[str] = set()
        self._called: list[tuple[str | None, str | None]] = []
        self._answered: set[str] = set()
        self._acted = False
        names = {agent.name for span in acting if (agent := self._agent(span)) is not None}
        self._several = len(names) > 1
        for span in acting:
            if span.kind == "llm":
                self._add_call(span)
            elif span.kind == "tool":
                self._add_tool(span)
        if not self._acted and not self.trajectory.items and root is not None:
            self._add([{"role": "user", "content": root.input}], None)
            self._acted = True
            self._add([{"role": "assistant", "content": root.output}], None)

    def _agent(self, span: Span) -> Span | None:
        return next((above for above in ancestors(span, self._by_id) if above.kind == "agent"), None)

    def _add_call(self, span: Span) -> None:
        agent = self._agent(span)
        key = agent.id if agent is not None else None
        before, now = self._given.get(key, []), [key_of(message) for message in span.given]
        same = next((at for at, pair in enumerate(zip(before, now, strict=False)) if pair[0] != pair[1]), None)
        start = same if same is not None else min(len(before), len(now))
        follows = start == len(before) > 0
        new: list[dict[str, Any]] = []
        for message, known in zip(span.given[start:], now[start:], strict=True):
            if message.get("role") == "tool" and message.get("tool_call_id") in self._answered:
                continue
            if known not in self._seen or (follows and message.get("role") not in ("assistant", "tool")):
                new.append(message)
        self._add(new, agent)
        self._given[key] = now
        if span.said:
            self._acted = True
            self._add(span.said, agent)

    def _add(self, messages: list[dict[str, Any]], agent: Span | None) -> None:
        first = len(self.trajectory.items)
        for message in messages:
            self._seen.add(key_of(message))
            self.trajectory.add_message(message, prompt=not self._acted)
            self._called += [(call, name) for call, name, _ in calls_of(message)]
            if message.get("role") == "tool" and isinstance(message.get("tool_call_id"), str):
                self._answered.add(message["tool_call_id"])
        if self._several and agent is not None:
            items = self.trajectory.items
            items[first:] = [msgspec.structs.replace(item, agent=agent.name) for item in items[first:]]

    def _add_tool(self, span: Span) -> None:
        """A tool's answer, after the call it answers: one a model made, else one that is only recorded here."""
        agent = self._agent(span)
        made = next((call for call in self._called if span.call_id is not None and call[0] == span.call_id), None)
        made = made or next((call for call in self._called if span.call_id is None and call[1] == span.name), None)
        call_id = made[0] if made is not None else span.call_id
        if made is not None:
            self._called.remove(made)
        if call_id is not None and call_id in self._answered:
            return
        self._acted = True
        known = agent.name if self._several and agent is not None else None
        if made is None:
            self.trajectory.add("tool_call", arguments_text(span.input), name=span.name, call_id=call_id, agent=known)
        text = content_text(span.output) or span.message or ""
        self.trajectory.add("tool_result", text, name=span.name, call_id=call_id, error=span.error, agent=known)
        if call_id is not None:
            self._answered.add(call_id)


def seconds_of(value: Any) -> float | None:
    """A time as seconds: a date as ISO 8601 writes it, or a number of seconds."""
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value).timestamp()
        except (ValueError, OverflowError, OSError):
            return None
    return number_or_none(value)


def numbers(values: Any) -> dict[str, list[float]]:
    """Scores by name; a score that is not a number was not given."""
    found = values.items() if isinstance(values, dict) else ()
    return {key: [number] if (number := number_or_none(value)) is not None else [] for key, value in found}


def error_name(value: Any) -> str | None:
    """A name for an error that is recorded as a text: the class it begins with, else its first words."""
    text = text_or_none(value)
    if text is None or not text.strip():
        return None
    named = CLASS.match(text)
    return named.group(1) if named else first_line(text)


def task_of(given: Any) -> str:
    """A task by what it was given, where rows do not name it: the words themselves while they are few."""
    text = " ".join(content_text(given).split())
    if 0 < len(text) <= 60:
        return text
    return f"{text[:40]}… {hashlib.blake2b(content_text(given).encode('utf-8', 'replace'), digest_size=4).hexdigest()}"
