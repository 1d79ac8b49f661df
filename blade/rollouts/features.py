"""Facts about a trajectory that a table can hold: how many items of each kind, loops, tool errors, how it ended.

They are taken from half-decoded items, and their positions are those of `steps.expanded`.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from blade.rollouts.batch import Batch, Indices
from blade.rollouts.endings import FinalAnswers, split_thinking
from blade.rollouts.patterns import SHORT_MESSAGE, marked
from blade.rollouts.phrases import OPENING, TOOL_ERROR, is_refusal
from blade.rollouts.steps import CALL, KINDS, RESULT, Trajectory, name_of, payload_of, text_of

__all__ = ["FACTS", "KINDS", "TOOL_ERROR", "Features", "features_of", "is_refusal", "split_thinking"]

FACTS = (
    "items", "prompt_items", "messages", "reasoning", "tool_calls", "tool_results", "environment_turns",
    "text_bytes", "repeated_calls", "repeated_at", "tool_errors", "error_at", "ended_on_error", "final_kind",
    "final_at", "answer_bytes", "refused", "looped_calls", "looped_at", "owned_up", "announced", "broken_at",
    "gone_at", "stalled_at", "ending",
)  # fmt: skip
"""Columns of facts. Positions are -1 when there is none; `final_kind` is an index into `KINDS`, -1 for no output."""

PARTS_OR_ERROR = re.compile(rb"\s*([\[{])|" + TOOL_ERROR.pattern, TOOL_ERROR.flags)
"""How an undecoded answer begins that is stored in parts, which the group says, or that opens like an error."""


class Features(NamedTuple):
    """What is known of the trajectories of some rows."""

    facts: npt.NDArray[np.int32]
    """One row per trajectory, one column per name in `FACTS`."""
    first_tools: list[str | None]
    """Name of the first tool each called."""
    marks: npt.NDArray[np.int32]
    """Rows of (row, code, item): texts that say something went wrong."""


def features_of(prompts: Sequence[Trajectory], outputs: Sequence[Trajectory]) -> Features:
    """Facts and marks of trajectories given as prompt and output."""
    batch = Batch(prompts, outputs)
    counts = np.bincount(batch.row * len(KINDS) + batch.kinds, minlength=batch.rows * len(KINDS))
    ends = batch.before + batch.sizes
    final = batch.last(np.arange(len(batch.items)), batch.kinds)
    repeated = repeats(batch)
    errors = tool_errors(batch)
    finals = FinalAnswers(batch)
    columns = (
        ends, batch.before, *counts.reshape(-1, len(KINDS)).T, text_bytes(batch), *repeated,
        *errors, final, np.where(final < 0, -1, ends - 1), finals.sizes(), finals.refused(), *loops(batch, repeated),
        finals.owned_up(after_error=errors[-1]), finals.announced(), finals.broken_at(), *finals.lost_at(),
        finals.fingerprints(),
    )  # fmt: skip
    first_calls = batch.first(batch.calls.items, batch.calls.items).tolist()
    first_tools = [None if index < 0 else name_of(batch.items[index], CALL) for index in first_calls]
    return Features(np.stack(columns, axis=1).astype(np.int32), first_tools, marks(batch))


def text_bytes(batch: Batch) -> Indices:
    """Bytes of what each agent wrote itself: messages and reasoning."""
    wrote = [np.bincount(batch.row[g.items], g.lengths, batch.rows) for g in (batch.messages, batch.reasoning)]
    return np.asarray(wrote[0] + wrote[1]).astype(np.int64)


def repeats(batch: Batch) -> tuple[Indices, Indices]:
    """How often each row's most repeated call was made, and where the last of them stands."""
    items = batch.calls.items
    row = batch.row[items]
    most = np.minimum(np.bincount(row, minlength=batch.rows), 1)
    where = batch.first(items, batch.position[items])
    names = [batch.items[index].name for index in items.tolist()]
    calls = list(zip(row.tolist(), names, map(bytes, batch.calls.payloads), strict=True))
    # Most batches have none: all calls are counted at once, and only those made again are gone through.
    made = Counter(calls)
    times: Counter[RowCall] = Counter()
    for call, index in zip(calls, items.tolist(), strict=True) if len(made) < len(calls) else ():
        if made[call] > 1:
            times[call] += 1
            if times[call] > max(most[call[0]], 1):
                most[call[0]], where[call[0]] = times[call], batch.position[index]
    return most, where


RowCall = tuple[int, str | None, bytes]
"""A row, the tool it calls and the arguments."""
Call = tuple[str | None, bytes]


def loops(batch: Batch, repeated: tuple[Indices, Indices]) -> tuple[Indices, Indices]:
    """How often each row made one call to no new effect, at most, and where the last of them stands; -1 for nowhere.

    Whoever runs the same tests after every edit is not in a loop; whoever does nothing else in between, or is told the
    same every time, is.
    """
    calls = batch.calls.items
    most, where = np.minimum(repeated[0], 1), np.where(repeated[0] > 0, batch.first(calls, batch.position[calls]), -1)
    made: dict[int, dict[Call, list[int]]] = {}
    since: dict[int, dict[Call, int]] = {}
    again = calls[repeated[0][batch.row[calls]] > 1]
    for row, index in zip(batch.row[again].tolist(), again.tolist(), strict=True):
        call = (batch.items[index].name, bytes(payload_of(batch.items[index], CALL)))
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
            return bytes(payload_of(item, RESULT))
    return None


def tool_errors(batch: Batch) -> tuple[Indices, Indices, Indices]:
    """How many tools failed, where the first did, and whether no call followed the last result, a failed one."""
    results, calls = batch.results.items, batch.calls.items
    failed = results[failures(batch.results.payloads)]
    count = np.bincount(batch.row[failed], minlength=batch.rows)
    last_error = batch.last(failed, failed)
    ended = (count > 0) & (last_error == batch.last(results, results)) & (last_error > batch.last(calls, calls))
    return count, batch.first(failed, batch.position[failed]), ended.astype(np.int64)


def failures(answers: Sequence[msgspec.Raw]) -> npt.NDArray[np.bool_]:
    """Which of some tools' undecoded answers open like an error; those stored in parts are decoded first."""
    match = PARTS_OR_ERROR.match
    openings = [match(answer, 0, OPENING) for answer in answers]
    failed = np.array([opening is not None for opening in openings], dtype=np.bool_)
    for at in np.flatnonzero(failed).tolist():
        if openings[at].group(1):  # type: ignore[union-attr]
            opening = text_of(answers[at])[:OPENING].encode("utf-8", "replace")
            failed[at] = TOOL_ERROR.match(opening) is not None
    return failed


def marks(batch: Batch) -> npt.NDArray[np.int32]:
    """The items that say something went wrong: what tools and the environment said, and short messages."""
    said = batch.messages
    short = np.flatnonzero(said.lengths <= SHORT_MESSAGE)
    heard = np.concatenate([batch.results.items, batch.turns.items, said.items[short]])
    texts = [*batch.results.payloads, *batch.turns.payloads, *(said.payloads[at] for at in short.tolist())]
    found = np.array(marked(texts), dtype=np.int64).reshape(-1, 2)
    items = heard[found[:, 0]]
    order = np.lexsort((found[:, 1], items))
    rows = np.stack([batch.row[items], found[:, 1], batch.position[items]], axis=1)
    return rows[order].astype(np.int32)
