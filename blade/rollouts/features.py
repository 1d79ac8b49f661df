"""Facts about a trajectory that a table can hold: how many items of each kind, loops, tool errors, how it ended.

They are taken from half-decoded items, and their positions are those of `steps.expanded`.
"""

import re
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from blade.rollouts.fields import RawItem
from blade.rollouts.patterns import SHORT_MESSAGE, Search, marked
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
    "final_at", "answer_bytes", "refused",
)  # fmt: skip
"""Columns of facts. Positions are -1 when there is none; `final_kind` is an index into `KINDS`, -1 for no output."""

TOOL_ERROR = re.compile(
    rb"""(?:["\s]|\\[nrt"])*+(?:
        \{(?:\s|\\[nrt])*+\\*"(?:error|errors|exception|error_message)\\*"\s*:\s*+(?!null|false|0|\\*"\\*"|\[\s*\]|\{\s*\})
      | [^\w"{]{0,4}(?:error|exception|traceback|fatal)\b
      | <tool_use_error>
      | exit\s+code:?\s*[1-9]
    )""",
    re.IGNORECASE | re.VERBOSE,
)
"""How a tool's answer begins when the tool failed, be it decoded or with its quotes and line breaks still escaped."""
OPENING = 120
PARTS = re.compile(rb"\s*[\[{]")

REFUSAL = re.compile(
    r"""\b(?:
        i(?:['’]m|\sam)\s+sorry,?\s+(?:but\s+)?i\s+(?:can(?:no|['’])t|am\s+(?:unable|not\s+able))\s+
            (?:help|assist|comply|provide|fulfil|do\s+that|to\s+(?:help|assist|provide))
      | i\s+(?:can(?:no|['’])t|won['’]t|will\s+not)\s+(?:help\s+(?:you\s+)?with|assist|comply|fulfil)
      | i(?:['’]m|\sam)\s+(?:unable|not\s+able)\s+to\s+(?:help|assist|comply)
      | as\s+an\s+ai\b[^.]{0,40}\bi\s+can(?:no|['’])t
    )""",
    re.IGNORECASE | re.VERBOSE,
)
"""A final answer that declines the task; only its opening is looked at."""
REFUSAL_WINDOW = 300
NEGATION_SEARCH = Search([(0, text.encode()) for text in ("n't", "n’t", "cannot", "unable", "not able", "will not")])
"""One of these is in every refusal; looking for them first spares most answers the expression."""

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
    columns = (
        ends, batch.before, *counts.reshape(-1, len(KINDS)).T, text_bytes(batch), *repeats(batch, calls),
        *tool_errors(batch, calls), final, np.where(final < 0, -1, ends - 1), *answers(batch),
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


def answers(batch: Batch) -> tuple[Indices, Indices]:
    """Bytes of each final answer without its thinking, and whether it declines the task."""
    messages = batch.of_kind(MESSAGE)
    final = batch.last(messages, messages).tolist()
    texts = ["" if index < 0 else said(batch.payloads[index]) for index in final]
    sizes = [len(text) if text.isascii() else len(text.encode("utf-8", "replace")) for text in texts]
    refused = np.zeros(batch.rows, dtype=np.int64)
    openings = [text[:REFUSAL_WINDOW] for text in texts]
    for row, _ in NEGATION_SEARCH.pieces_with([text.encode("utf-8", "replace") for text in openings]):
        refused[row] = is_refusal(openings[row])
    return np.array(sizes, dtype=np.int64), refused


def said(answer: msgspec.Raw) -> str:
    """The text of a message without its thinking."""
    text = text_of(answer)
    # One character is looked for much faster than seven.
    if "<" in text and "think>" in text:
        text = split_thinking(text)[1]
    return text.strip()


def is_refusal(answer: str) -> bool:
    """Whether an answer opens by declining the task."""
    return REFUSAL.search(answer[:REFUSAL_WINDOW]) is not None


def marks(batch: Batch) -> npt.NDArray[np.int32]:
    """The items that say something went wrong: what tools and the environment said, and short messages."""
    told = (batch.kinds == RESULT) | (batch.kinds == ENVIRONMENT)
    heard = np.flatnonzero(told | ((batch.kinds == MESSAGE) & (batch.lengths <= SHORT_MESSAGE)))
    found = np.array(marked([batch.payloads[index] for index in heard.tolist()]), dtype=np.int64).reshape(-1, 2)
    items = heard[found[:, 0]]
    return np.stack([batch.row[items], found[:, 1], batch.position[items]], axis=1).astype(np.int32)


def split_thinking(text: str) -> tuple[str, str]:
    """The thought inside `<think>` tags and the answer after it.

    A missing opening tag was eaten by a chat template; a missing closing tag means the thought never ended.
    """
    before, closed, after = text.rpartition("</think>")
    if closed:
        return before.replace("<think>", "", 1).strip(), after
    answer, opened, thought = text.partition("<think>")
    return (thought.strip(), answer) if opened else ("", text)
