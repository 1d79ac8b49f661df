"""Facts about a trajectory that a table can hold: how many items of each kind, loops, tool errors, how it ended.

They are taken from half-decoded items, and their positions are those of `steps.expanded`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from blade.rollouts.layout import RawItem
from blade.rollouts.patterns import SHORT_MESSAGE, TEXT_MARKS, Search, marked
from blade.rollouts.phrases import (
    EDGE,
    OPENING,
    PLAN_WINDOW,
    REFUSAL_WINDOW,
    TOOL_ERROR,
    announces,
    fingerprint,
    is_provider_error,
    is_refusal,
    is_sandbox_fault,
    is_timeout,
    owns_up,
)
from blade.rollouts.steps import (
    CALL,
    ENVIRONMENT,
    KINDS,
    MESSAGE,
    PLAIN_KINDS,
    REASONING,
    RESULT,
    Trajectory,
    expanded,
    kind_of,
    name_of,
    payload_of,
    text_of,
)

__all__ = ["FACTS", "KINDS", "TOOL_ERROR", "Features", "features_of", "is_refusal", "split_thinking"]

FACTS = (
    "items", "prompt_items", "messages", "reasoning", "tool_calls", "tool_results", "environment_turns",
    "text_bytes", "repeated_calls", "repeated_at", "tool_errors", "error_at", "ended_on_error", "final_kind",
    "final_at", "answer_bytes", "refused", "looped_calls", "looped_at", "owned_up", "announced", "broken_at",
    "gone_at", "stalled_at", "ending",
)  # fmt: skip
"""Columns of facts. Positions are -1 when there is none; `final_kind` is an index into `KINDS`, -1 for no output."""

PARTS = re.compile(rb"\s*[\[{]")

REFUSAL_SEARCH = Search(
    [
        (0, text.encode())
        for text in (
            "n't", "n’t", "cannot", "can not", "unable", "will not", "do not feel", "do not have", "do not think",
            "do not believe", "not able", "not something", "not anything", "not a request", "not a task",
            "not a question", "not a thing", "not allowed", "not permitted", "not going", "rather not", "prefer not",
            "declin", "refus", "turn th", "appropriate", "ethical", "irresponsible", "against", "violat", "break",
            "conflict", "comfortable", "programmed", "designed",
        )
    ]
)  # fmt: skip
"""One of these is in every refusal; looking for them first spares most answers the expression."""
TROUBLE_SEARCH = Search(
    [
        (0, text.encode())
        for text in (
            "container", "sandbox", "pod", "docker", "runtime", "vm", "machine", "environment", "workspace", "kernel",
            "worker", "instance", "oom", "memory", "no space", "quota", "137", "kill", "rpc error", "timed out",
            "timeout", "deadline",
        )
    ]
)  # fmt: skip
"""One of these is in every message that a sandbox is gone or a tool took too long."""
PLAN_SEARCH = Search([(0, text.encode()) for text in ("let me", "let's", "let’s", "i'", "i’", "i ", "time to")])
"""One of these is in every announcement of a next step."""

PROVIDER_WORDS = tuple(
    literal.decode() for code in ("rate_limit", "server_error", "connection_error") for literal in TEXT_MARKS[code]
)
"""A message that begins with one of these is an error too."""

Indices = npt.NDArray[np.int64]


class Features(NamedTuple):
    """What is known of the trajectories of some rows."""

    facts: npt.NDArray[np.int32]
    """One row per trajectory, one column per name in `FACTS`."""
    first_tools: list[str | None]
    """Name of the first tool each called."""
    marks: npt.NDArray[np.int32]
    """Rows of (row, code, item): texts that say something went wrong."""


class Batch:
    """The output items of many rows end to end, so that each question is one pass over arrays."""

    def __init__(self, prompts: Sequence[Trajectory], outputs: Sequence[Trajectory]) -> None:
        self.rows = len(outputs)
        self.items, self.sizes = end_to_end(outputs, prompt=False)
        kinds = [PLAIN_KINDS[i.type] if i.type in PLAIN_KINDS else kind_of(i, prompt=False) for i in self.items]
        self.kinds = np.array(kinds, dtype=np.int64)
        self.payloads = [payload_of(item, kind) for item, kind in zip(self.items, kinds, strict=True)]
        self.lengths = np.array([len(payload) for payload in self.payloads], dtype=np.int64)
        _, self.before = end_to_end(prompts, prompt=True)
        self.row = np.repeat(np.arange(self.rows), self.sizes)
        first = self.before - np.cumsum(self.sizes) + self.sizes
        self.position = np.arange(len(self.items)) + first[self.row]

    def of_kind(self, kind: int) -> Indices:
        """Indices of the items of one kind."""
        return np.flatnonzero(self.kinds == kind)

    def first(self, items: Indices, values: Indices) -> Indices:
        """For each row the value that belongs to the first of its `items`; -1 where it has none."""
        return self.last(items[::-1], values[::-1])

    def last(self, items: Indices, values: Indices) -> Indices:
        """For each row the value that belongs to the last of its `items`; -1 where it has none."""
        out = np.full(self.rows, -1)
        out[self.row[items]] = values
        return out


def end_to_end(trajectories: Sequence[Trajectory], *, prompt: bool) -> tuple[list[RawItem], Indices]:
    """The steps of all trajectories in one list, and how many each has."""
    lists = [t if isinstance(t, list) else expanded(t, prompt=prompt) for t in trajectories]
    items = list(chain.from_iterable(lists))
    if any(item.tool_calls for item in items):
        lists = [expanded(steps, prompt=prompt) for steps in lists]
        items = list(chain.from_iterable(lists))
    return items, np.array([len(steps) for steps in lists], dtype=np.int64)


def features_of(prompts: Sequence[Trajectory], outputs: Sequence[Trajectory]) -> Features:
    """Facts and marks of trajectories given as prompt and output."""
    batch = Batch(prompts, outputs)
    calls = batch.of_kind(CALL)
    counts = np.bincount(batch.row * len(KINDS) + batch.kinds, minlength=batch.rows * len(KINDS))
    ends = batch.before + batch.sizes
    final = batch.last(np.arange(len(batch.items)), batch.kinds)
    repeated = repeats(batch, calls)
    errors = tool_errors(batch, calls)
    finals = final_answers(batch)
    columns = (
        ends, batch.before, *counts.reshape(-1, len(KINDS)).T, text_bytes(batch), *repeated,
        *errors, final, np.where(final < 0, -1, ends - 1), *answers(finals.texts), *loops(batch, calls, repeated),
        *last_words(finals.texts, ended_on_error=errors[-1]), *endings(batch, finals),
    )  # fmt: skip
    first_calls = batch.first(calls, calls).tolist()
    first_tools = [None if index < 0 else name_of(batch.items[index], CALL) for index in first_calls]
    return Features(np.stack(columns, axis=1).astype(np.int32), first_tools, marks(batch))


def text_bytes(batch: Batch) -> Indices:
    """Bytes of what each agent wrote itself: messages and reasoning."""
    wrote = (batch.kinds == MESSAGE) | (batch.kinds == REASONING)
    return np.bincount(batch.row, weights=batch.lengths * wrote, minlength=batch.rows).astype(np.int64)


def repeats(batch: Batch, calls: Indices) -> tuple[Indices, Indices]:
    """How often each row's most repeated call was made, and where the last of them stands."""
    most = np.minimum(np.bincount(batch.row[calls], minlength=batch.rows), 1)
    where = batch.first(calls, batch.position[calls])
    seen: dict[tuple[int, str | None, bytes], int] = {}
    for row, index in zip(batch.row[calls].tolist(), calls.tolist(), strict=True):
        call = (row, batch.items[index].name, bytes(batch.payloads[index]))
        times = seen[call] = seen.get(call, 0) + 1
        if times > 1 and times > most[row]:
            most[row], where[row] = times, batch.position[index]
    return most, where


Call = tuple[str | None, bytes]


def loops(batch: Batch, calls: Indices, repeated: tuple[Indices, Indices]) -> tuple[Indices, Indices]:
    """How often each row made one call to no new effect, at most, and where the last of them stands; -1 for nowhere.

    Whoever runs the same tests after every edit is not in a loop; whoever does nothing else in between, or is told the
    same every time, is.
    """
    most, where = np.minimum(repeated[0], 1), np.where(repeated[0] > 0, batch.first(calls, batch.position[calls]), -1)
    made: dict[int, dict[Call, list[int]]] = {}
    since: dict[int, dict[Call, int]] = {}
    again = calls[repeated[0][batch.row[calls]] > 1]
    for row, index in zip(batch.row[again].tolist(), again.tolist(), strict=True):
        call = (batch.items[index].name, bytes(batch.payloads[index]))
        before = made.setdefault(row, {}).setdefault(call, [])
        if not before:
            since[row] = {}
        before.append(index)
        times = since[row][call] = since[row].get(call, 0) + 1
        if len(before) > max(times, 2):
            times = max(times, same_results(batch, before))
        if times > 1 and times > most[row]:
            most[row], where[row] = times, batch.position[index]
    return most, where


def same_results(batch: Batch, calls: Sequence[int]) -> int:
    """How many of some calls were told the same as the last of them."""
    told = [result_of(batch, index) for index in calls]
    return told.count(told[-1]) if told[-1] is not None else 0


def result_of(batch: Batch, call: int) -> bytes | None:
    """What a call was answered: the result with its id, else the one right after it."""
    call_id, row = batch.items[call].call_id, batch.row[call]
    for index in range(call + 1, min(call + 20, len(batch.items))):
        item = batch.items[index]
        if batch.row[index] != row:
            break
        if batch.kinds[index] == RESULT and (call_id is None or (item.call_id or item.tool_call_id) in (call_id, None)):
            return bytes(batch.payloads[index])
    return None


def tool_errors(batch: Batch, calls: Indices) -> tuple[Indices, Indices, Indices]:
    """How many tools failed, where the first did, and whether no call followed the last result, a failed one."""
    results = batch.of_kind(RESULT)
    failed = results[np.array([is_failure(batch.payloads[index]) for index in results.tolist()], dtype=np.bool_)]
    count = np.bincount(batch.row[failed], minlength=batch.rows)
    last_error = batch.last(failed, failed)
    ended = (count > 0) & (last_error == batch.last(results, results)) & (last_error > batch.last(calls, calls))
    return count, batch.first(failed, batch.position[failed]), ended.astype(np.int64)


def is_failure(answer: msgspec.Raw) -> bool:
    """Whether a tool's undecoded answer opens like an error; one stored in parts is decoded first."""
    opening = text_of(answer)[:OPENING].encode("utf-8", "replace") if PARTS.match(answer) else answer
    return TOOL_ERROR.match(opening, 0, OPENING) is not None


class Finals(NamedTuple):
    """The last message of each row."""

    items: list[int]
    """Its index; -1 where a row has none."""
    texts: list[str]
    """Its words without the thinking."""


def final_answers(batch: Batch) -> Finals:
    messages = batch.of_kind(MESSAGE)
    items = batch.last(messages, messages).tolist()
    return Finals(items, ["" if index < 0 else said(batch.payloads[index]) for index in items])


def answers(texts: Sequence[str]) -> tuple[Indices, Indices]:
    """Bytes of each final answer without its thinking, and whether it declines the task."""
    sizes = [len(text) if text.isascii() else len(text.encode("utf-8", "replace")) for text in texts]
    refused = flagged([text[:REFUSAL_WINDOW] for text in texts], REFUSAL_SEARCH, is_refusal)
    return np.array(sizes, dtype=np.int64), refused


def last_words(texts: Sequence[str], *, ended_on_error: Indices) -> tuple[Indices, Indices]:
    """Whether each final answer owns up to the error before it, and whether it only says what comes next."""
    owned = [int(ended and owns_up(text)) for text, ended in zip(texts, ended_on_error.tolist(), strict=True)]
    announced = flagged([text[-PLAN_WINDOW:] for text in texts], PLAN_SEARCH, announces)
    return np.array(owned, dtype=np.int64), announced


def flagged(texts: Sequence[str], search: Search, holds: Callable[[str], bool]) -> Indices:
    """Which texts hold; only those are asked that the search finds something in."""
    out = np.zeros(len(texts), dtype=np.int64)
    for row, _ in search.pieces_with([text.encode("utf-8", "replace") for text in texts]):
        out[row] = holds(texts[row])
    return out


def said(answer: msgspec.Raw) -> str:
    """The text of a message without its thinking."""
    text = text_of(answer)
    # One character is looked for much faster than seven.
    if "<" in text and "think>" in text:
        text = split_thinking(text)[1]
    return text.strip()


def marks(batch: Batch) -> npt.NDArray[np.int32]:
    """The items that say something went wrong: what tools and the environment said, and short messages."""
    told = (batch.kinds == RESULT) | (batch.kinds == ENVIRONMENT)
    heard = np.flatnonzero(told | ((batch.kinds == MESSAGE) & (batch.lengths <= SHORT_MESSAGE)))
    found = np.array(marked([batch.payloads[index] for index in heard.tolist()]), dtype=np.int64).reshape(-1, 2)
    items = heard[found[:, 0]]
    return np.stack([batch.row[items], found[:, 1], batch.position[items]], axis=1).astype(np.int32)


def endings(batch: Batch, finals: Finals) -> tuple[Indices, Indices, Indices, Indices]:
    """Where each row ends in a provider's error, in a lost sandbox, in a time-out; and a number for its last words."""
    everything, results = np.arange(len(batch.items)), batch.of_kind(RESULT)
    last, told = batch.last(everything, everything), batch.last(results, results)
    short = {i: text for i, text in zip(*finals, strict=True) if 0 < len(text) <= SHORT_MESSAGE}
    broken = [i for i in last.tolist() if i in short and is_error(short[i])]
    likely = TROUBLE_SEARCH.pieces_with([b"" if i < 0 else ends_of(batch.payloads[i]) for i in told.tolist()])
    heard = {int(told[row]): text_of(batch.payloads[told[row]]) for row, _ in likely}
    gone = [index for index, text in heard.items() if is_sandbox_fault(text)]
    stalled = [index for index, text in heard.items() if is_timeout(text)]
    return places(batch, broken), places(batch, gone), places(batch, stalled), fingerprints(batch, short, last)


def places(batch: Batch, items: Sequence[int]) -> Indices:
    """The position of each row's item; -1 where it has none."""
    chosen = np.array(items, dtype=np.int64)
    return batch.first(chosen, batch.position[chosen])


def is_error(message: str) -> bool:
    return message.lower().startswith(PROVIDER_WORDS) or is_provider_error(message)


def fingerprints(batch: Batch, short: Mapping[int, str], last: Indices) -> Indices:
    """A number for the last words of each row, the same for the same words, whoever said them; 0 for long ones."""
    out = np.zeros(batch.rows, dtype=np.int64)
    for row, index in enumerate(last.tolist()):
        if index in short:
            out[row] = fingerprint(short[index])
        elif index >= 0 and batch.kinds[index] == RESULT and len(batch.payloads[index]) <= SHORT_MESSAGE:
            out[row] = fingerprint(text_of(batch.payloads[index]))
    return out


def ends_of(payload: msgspec.Raw) -> bytes:
    """Both ends of an undecoded text; escapes make it longer than the text it stands for."""
    view = memoryview(payload)
    return bytes(view) if len(view) <= 4 * EDGE else bytes(view[: 2 * EDGE]) + bytes(view[-2 * EDGE :])


def split_thinking(text: str) -> tuple[str, str]:
    """The thought inside `<think>` tags and the answer after it.

    A missing opening tag was eaten by a chat template; a missing closing tag means the thought never ended.
    """
    before, closed, after = text.rpartition("</think>")
    if closed:
        return before.replace("<think>", "", 1).strip(), after
    answer, opened, thought = text.partition("<think>")
    return (thought.strip(), answer) if opened else ("", text)
