"""Facts about a trajectory that a table can hold: how many items of each kind, loops, tool errors, how it ended.

They are taken from half-decoded items, and their positions are those of `steps.expanded`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from blade.rollouts.batch import Batch, batch_of
from blade.rollouts.endings import answer_sizes, split_thinking
from blade.rollouts.pieces import Indices, Pieces
from blade.rollouts.provider_errors import provider_error_in_answer
from blade.rollouts.steps import KINDS, MESSAGE, REASONING, RESULT, Trajectory, text_of

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


def features_of(prompts: Sequence[Trajectory], outputs: Sequence[Trajectory]) -> Features:
    """Facts about trajectories given as prompt and output."""
    batch = batch_of(prompts, outputs)
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
    calls = batch.first(batch.calls.items, batch.calls.items)
    tools: list[str | None] = [None] * batch.rows
    rows = np.flatnonzero(calls >= 0)
    for row, name in zip(rows.tolist(), batch.items.names(calls[rows]), strict=True):
        tools[row] = name
    return tools


def lone_errors(batch: Batch) -> list[str | None]:
    """The provider's errors among messages that are all a row has."""
    found: list[str | None] = [None] * batch.rows
    chosen = (batch.sizes[batch.row] == 1) & (batch.kinds == MESSAGE)
    chosen &= batch.items.payloads.lengths <= LONGEST_ERROR
    for at in np.flatnonzero(chosen).tolist():
        found[int(batch.row[at])] = provider_error_in_answer(text_of(batch.items.payloads[at]))
    return found


def text_bytes(batch: Batch) -> Indices:
    """Bytes of what each agent wrote itself: messages and reasoning."""
    wrote = (batch.kinds == MESSAGE) | (batch.kinds == REASONING)
    return np.bincount(batch.row[wrote], batch.items.payloads.lengths[wrote], batch.rows).astype(np.int64)


def repeats(batch: Batch) -> tuple[Indices, Indices]:
    """How often each row's most repeated call was made, and where the last of them stands."""
    calls = batch.calls.items
    most = np.minimum(np.bincount(batch.row[calls], minlength=batch.rows), 1)
    where = batch.first(calls, batch.position[calls])
    times: Counter[RowCall] = Counter()
    for row, index, call in calls_at(batch, calls_made_again(batch)):
        times[row, call] += 1
        if times[row, call] > max(most[row], 1):
            most[row], where[row] = times[row, call], batch.position[index]
    return most, where


def calls_made_again(batch: Batch) -> Indices:
    """The calls of which the same row has another that is likely to be the same."""
    calls = batch.calls.items
    order = calls[np.lexsort((batch.items.digests[calls], batch.row[calls]))]
    row, digest = batch.row[order], batch.items.digests[order]
    same = np.flatnonzero((row[1:] == row[:-1]) & (digest[1:] == digest[:-1]))
    return np.unique(order[np.concatenate([same, same + 1])])


Call = tuple[str | None, bytes]
"""A tool and the arguments it is called with."""
RowCall = tuple[int, Call]
"""The row that makes a call, and the call."""


def calls_at(batch: Batch, calls: Indices) -> Iterator[tuple[int, int, Call]]:
    """Row, index and words of some calls."""
    if not len(calls):  # most often, and asking costs
        return iter(())
    words = zip(batch.items.names(calls), batch.items.payloads.take(calls), strict=True)
    return zip(batch.row[calls].tolist(), calls.tolist(), words, strict=True)


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
    for row, index, call in calls_at(batch, again):
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
    near = np.arange(call, min(call + 20, len(batch.row)))
    near = near[(batch.row[near] == batch.row[call]) & ((batch.kinds[near] == RESULT) | (near == call))]
    wanted, *others = batch.items.call_ids(near)
    found = next((at for at, own in enumerate(others, 1) if wanted is None or own in (wanted, None)), None)
    return None if found is None else batch.items.payloads[int(near[found])]


def tool_errors(batch: Batch) -> tuple[Indices, Indices, Indices]:
    """How many tools failed, where the first did, and whether no call followed the last result, a failed one."""
    results, calls = batch.results.items, batch.calls.items
    failed = results[failures(batch.results.payloads)]
    count = np.bincount(batch.row[failed], minlength=batch.rows)
    last_error = batch.last(failed, failed)
    ended = (count > 0) & (last_error == batch.last(results, results)) & (last_error > batch.last(calls, calls))
    return count, batch.first(failed, batch.position[failed]), ended.astype(np.int64)


def failures(answers: Pieces) -> npt.NDArray[np.bool_]:
    """Which of some tools' undecoded answers open like an error; those stored in parts are decoded first."""
    match, data = PARTS_OR_ERROR.match, answers.data
    ends = answers.starts + np.minimum(answers.lengths, OPENING)
    openings = [match(data, a, b) for a, b in zip(answers.starts.tolist(), ends.tolist(), strict=True)]
    failed = np.array([opening is not None for opening in openings], dtype=np.bool_)
    for at in np.flatnonzero(failed).tolist():
        if openings[at].group(1):  # type: ignore[union-attr]
            opening = text_of(answers[at])[:OPENING].encode("utf-8", "replace")
            failed[at] = TOOL_ERROR.match(opening) is not None
    return failed
