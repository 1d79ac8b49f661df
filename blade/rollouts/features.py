"""Facts about a trajectory that a table can hold: how many items of each kind, loops, tool errors, how it ended.

They are taken from half-decoded items, and their positions are those of `steps.expanded`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from blade.rollouts.batch import Batch, Indices
from blade.rollouts.endings import answer_sizes, split_thinking
from blade.rollouts.layout import RawItem
from blade.rollouts.provider_errors import provider_error_in_answer
from blade.rollouts.steps import CALL, KINDS, RESULT, name_of, text_of

__all__ = ["FACTS", "KINDS", "TOOL_ERROR", "Features", "features_of", "split_thinking"]

FACTS = (
    "items", "prompt_items", "messages", "reasoning", "tool_calls", "tool_results", "environment_turns",
    "text_bytes", "repeated_calls", "repeated_at", "tool_errors", "error_at", "ended_on_error", "final_kind",
    "final_at", "answer_bytes", "looped_calls", "looped_at",
)  # fmt: skip
"""Columns of facts. Positions are -1 when there is none; `final_kind` is an index into `KINDS`, -1 for no output."""

TOOL_ERROR = re.compile(
    rb"""(?:["\s]|\\[nrt"])*+(?:
        \{(?:\s|\\[nrt])*+(?:\\*"\w+\\*"\s*:\s*(?:null|true|false|-?[\d.]+|\\*"[^"\\]{0,40}\\*"|\[\s*\]|\{\s*\})\s*,\s*){0,3}
            \\*"(?:error|errors|exception|error_message|error_code|err)\\*"\s*:
            (?!\s*(?:null|false|0|\\*"\\*"|\[\s*\]|\{\s*\}))
      | \{(?:\s|\\[nrt])*+\\*"(?:status|state|type|outcome|result)\\*"\s*:\s*
            \\*"(?:error|fail|failed|failure|exception)\\*"
      | \{(?:\s|\\[nrt])*+\\*"(?:success|succeeded|ok|is_success)\\*"\s*:\s*false
      | \{(?:\s|\\[nrt])*+\\*"(?:is_?error|failed)\\*"\s*:\s*true
      | [^\w"{]{0,4}(?:error|exception|traceback|fatal)\b
      | (?:\w+\.){0,6}\w+(?:error|exception)\b\s*[:(]
      | http[/\d.]*\s*(?:error|status)?\s*:?\s*[45]\d\d\b
      | <tool_use_error> | (?:ba|z)?sh:\s | exit(?:ed)?\s+(?:with\s+)?(?:code|status):?\s*[1-9]
    )""",
    re.IGNORECASE | re.VERBOSE,
)
"""How a tool's answer begins when machines call it an error, decoded or with quotes and line breaks still escaped."""
OPENING = 120
LONGEST_ERROR = 2000

PARTS_OR_ERROR = re.compile(rb"\s*([\[{])|" + TOOL_ERROR.pattern, TOOL_ERROR.flags)
"""How an undecoded answer begins that is stored in parts, which the group says, or that opens like an error."""


class Features(NamedTuple):
    """What is known of the trajectories of some rows."""

    facts: npt.NDArray[np.int32]
    """One row per trajectory, one column per name in `FACTS`."""
    first_tools: list[str | None]
    """Name of the first tool each called."""
    errors: list[str | None]
    """Type of the provider's error that is all there is of a trajectory."""


def features_of(batch: Batch) -> Features:
    """Facts about the trajectories of some rows."""
    counts = np.bincount(batch.row * len(KINDS) + batch.kinds, minlength=batch.rows * len(KINDS))
    ends = batch.before + batch.sizes
    final = batch.last(np.arange(len(batch.kinds)), batch.kinds)
    repeated = repeats(batch)
    errors = tool_errors(batch)
    columns = (
        ends, batch.before, *counts.reshape(-1, len(KINDS)).T, text_bytes(batch), *repeated,
        *errors, final, np.where(final < 0, -1, ends - 1), answer_sizes(batch), *loops(batch, repeated),
    )  # fmt: skip
    return Features(np.stack(columns, axis=1).astype(np.int32), first_tools(batch), lone_errors(batch))


def first_tools(batch: Batch) -> list[str | None]:
    """The first tool that each row called."""
    calls = batch.first(batch.calls.at, batch.calls.at).tolist()
    return [None if call < 0 else name_of(batch.steps[call], CALL) for call in calls]


def lone_errors(batch: Batch) -> list[str | None]:
    """The provider's errors among messages that are all a row has."""
    found: list[str | None] = [None] * batch.rows
    alone = batch.sizes[batch.row[batch.messages.at]] == 1
    for at in np.flatnonzero(alone).tolist():
        if len(said := batch.messages.payloads[at]) <= LONGEST_ERROR:
            found[int(batch.row[batch.messages.at[at]])] = provider_error_in_answer(text_of(said))
    return found


def text_bytes(batch: Batch) -> Indices:
    """Bytes of what each agent wrote itself: messages and reasoning."""
    wrote = np.zeros(batch.rows)
    for group in (batch.messages, batch.reasoning):
        lengths = np.fromiter(map(len, group.payloads), dtype=np.int64, count=len(group.payloads))
        wrote += np.bincount(batch.row[group.at], lengths, batch.rows)
    return wrote.astype(np.int64)


Call = tuple[str | None, bytes]
"""A tool and the arguments it is called with."""
RowCall = tuple[int, Call]
"""The row that makes a call, and the call."""


def repeats(batch: Batch) -> tuple[Indices, Indices]:
    """How often each row's most repeated call was made, and where the last of them stands."""
    calls = batch.calls.at
    most = np.minimum(np.bincount(batch.row[calls], minlength=batch.rows), 1)
    where = batch.first(calls, batch.position[calls])
    times: Counter[RowCall] = Counter()
    for row, index, call in calls_at(batch, batch.calls_made_again):
        times[row, call] += 1
        if times[row, call] > max(most[row], 1):
            most[row], where[row] = times[row, call], batch.position[index]
    return most, where


def calls_at(batch: Batch, chosen: Indices) -> Iterator[tuple[int, int, Call]]:
    """Row, index and words of some calls."""
    for at in chosen.tolist():
        index, step = int(batch.calls.at[at]), batch.calls.steps[at]
        yield int(batch.row[index]), index, (name_of(step, CALL), bytes(step.arguments))


def loops(batch: Batch, repeated: tuple[Indices, Indices]) -> tuple[Indices, Indices]:
    """How often each row made one call to no new effect, at most, and where the last of them stands; -1 for nowhere.

    Whoever runs the same tests after every edit is not in a loop; whoever does nothing else in between, or is told the
    same every time, is.
    """
    calls = batch.calls.at
    most, where = np.minimum(repeated[0], 1), np.where(repeated[0] > 0, batch.first(calls, batch.position[calls]), -1)
    made: dict[int, dict[Call, list[int]]] = {}
    since: dict[int, dict[Call, int]] = {}
    for row, index, call in calls_at(batch, np.flatnonzero(repeated[0][batch.row[calls]] > 1)):
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
    wanted = id_of(batch.steps[call])
    for at in range(call + 1, min(call + 20, batch.span(int(batch.row[call])).stop)):
        step = batch.steps[at]
        if batch.kinds[at] == RESULT and (wanted is None or id_of(step) in (wanted, None)):
            return bytes(step.output or step.content)
    return None


def id_of(step: RawItem) -> str | None:
    """What ties a call to its result."""
    return step.call_id or step.tool_call_id or None


def tool_errors(batch: Batch) -> tuple[Indices, Indices, Indices]:
    """How many tools failed, where the first did, and whether no call followed the last result, a failed one."""
    results, calls = batch.results.at, batch.calls.at
    failed = results[failures(batch)]
    count = np.bincount(batch.row[failed], minlength=batch.rows)
    last_error = batch.last(failed, failed)
    ended = (count > 0) & (last_error == batch.last(results, results)) & (last_error > batch.last(calls, calls))
    return count, batch.first(failed, batch.position[failed]), ended.astype(np.int64)


def failures(batch: Batch) -> list[int]:
    """Which of the tools' undecoded answers open like an error; those stored in parts are decoded first."""
    openings = batch.openings
    chosen = np.flatnonzero(openings.may_be_errors)
    ends = openings.starts + np.minimum(openings.lengths, OPENING)
    failed: list[int] = []
    for at, start, end in zip(chosen.tolist(), openings.starts[chosen].tolist(), ends[chosen].tolist(), strict=True):
        opening = PARTS_OR_ERROR.match(openings.data, start, end)
        if opening is not None and (not opening[1] or is_error_in_parts(batch.results.payloads[at])):
            failed.append(at)
    return failed


def is_error_in_parts(answer: msgspec.Raw) -> bool:
    """Whether an answer that is stored in parts opens like an error once it is put together."""
    return TOOL_ERROR.match(text_of(answer)[:OPENING].encode("utf-8", "replace")) is not None
