"""Trajectories as a page carries them: cut where they are very long, packed into compressed parts.

A page is one file as long as its rows take no more than `INLINE_BYTES`. Beyond that the parts become scripts beside
the page, which a browser loads from disk when they are needed, up to `FILES_BYTES` and `MOST_ROLLOUTS`; of a larger
run the page holds the rollouts it cites and then as many others as fit, and says how many it left out.
"""

import base64
import json
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import msgspec
import numpy as np

from blade.diagnosis.differences import CallHabits, Conventions, Difference, Habit, compare_rollout, habit_of, in_words
from blade.engine import share
from blade.metrics.values import Floats, Ints
from blade.report.text import SURROGATES
from blade.rollouts import Rollout, Run
from blade.rollouts.features import split_thinking
from blade.rollouts.values import Item

INLINE_BYTES = 48_000_000
FILES_BYTES = 64_000_000
MOST_ROLLOUTS = 5_000
"""Packing that many takes a second or two; `blade view` has no such bounds."""
PART_BYTES = 400_000
"""Bytes of rows in one part, about: what opening a rollout has to unpack."""
FILE_BYTES = 4_000_000
"""The same for a part that is a file."""
MOST_CHARS = 40_000
"""Characters of one text; what is longer is cut and says so."""
MOST_FIELDS = 60
FIELD_CHARS = 2_000
HIDDEN_FIELDS = frozenset({"reward", "_ng_task_index", "_ng_rollout_index", "responses_create_params", "response"})


class PageItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One item of a trajectory."""

    kind: str
    """What it is."""
    role: str | None = None
    """Role of a message."""
    name: str | None = None
    """Tool."""
    text: str = ""
    """What it says."""
    thought: str = ""
    """What the model thought before it said so, where both are one message."""
    cut: int = 0
    """Characters left out at the end."""
    error: str | None = None
    """The error a tool's result is typed as."""
    agent: str | None = None
    """Who spoke."""
    prompt: bool = False
    """Whether it was given to the agent."""


class Gap(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something the task lists and the rollout did otherwise."""

    what: str
    """What differs, in words."""
    expected: str | None = None
    """What the task lists."""
    made: str | None = None
    """What was done."""
    item: int | None = None
    """Where."""


class PageRollout(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One rollout in full."""

    row: int
    """Its position in the page's columns."""
    model: str | None = None
    """Model that answered."""
    agent: str | None = None
    """Harness that drove it."""
    ending: list[str] = []
    """Why it ended, when not by itself: whose doing, name and message."""
    source: str = ""
    """File and line of the row."""
    usage: dict[str, float] = {}
    """Tokens and cost."""
    answer: str | None = None
    """The answer that was judged."""
    expected: list[tuple[str, str]] = []
    """What the task lists: what kind of thing, and the thing."""
    tests: Mapping[str, str] = {}
    """Outcome of each of the verifier's checks."""
    scores: dict[str, float | None] = {}
    """Every score."""
    fields: dict[str, str] = {}
    """What else the row says."""
    items: list[PageItem] = []
    """The trajectory."""


class Packed(msgspec.Struct, frozen=True, kw_only=True):
    """The trajectories of a run, packed."""

    parts: list[bytes]
    """Compressed JSON, each an array of rollouts."""
    chunk: Ints
    """Per row of the run: its part; -1 where none holds it."""
    tools: dict[str, list[int]]
    """By tool: the rows that call it."""
    inline: bool
    """Whether the parts belong into the page itself."""

    @property
    def left_out(self) -> int:
        """Rollouts that did not fit."""
        return int((self.chunk < 0).sum())


class Page(NamedTuple):
    """A rollout as it goes into a part, but for what depends on all of them."""

    row: int
    """Which it is."""
    data: bytes
    """Its JSON."""
    differences: list[Difference]
    """In what it differs from what its task lists."""
    habit: Habit
    """How it treats tools."""
    tools: set[str]
    """Tools it calls."""


def pack(run: Run, passed: Floats, rows: Sequence[int], *, inline: bool) -> Packed:
    """Reads some rollouts once and packs them; parts that are files are larger."""
    pieces = run.shared_out(np.asarray(rows, dtype=np.int64))
    pages = {page.row: page for page in chain.from_iterable(share(partial(pages_of, run, passed), pieces))}
    habits = CallHabits()
    tools: dict[str, list[int]] = {}
    for row, page in pages.items():
        habits.count(page.habit, passed=int(passed[row] == 1.0), rollouts=1)
        for name in page.tools:
            tools.setdefault(name, []).append(row)
    conventions = habits.conventions()

    def packed(group: list[int]) -> bytes:
        whole = [with_gaps(pages[row].data, gaps(pages[row].differences, conventions)) for row in group]
        return squeeze(b"[" + b",".join(whole) + b"]", level=5 if inline else 2)

    parts = [*groups({row: len(page.data) for row, page in pages.items()}, PART_BYTES if inline else FILE_BYTES)]
    chunk = np.full(len(run.table), -1, dtype=np.int64)
    for number, group in enumerate(parts):
        chunk[group] = number
    return Packed(parts=[*share(packed, parts)], chunk=chunk, tools=tools, inline=inline)


def pages_of(run: Run, passed: Floats, rows: Ints) -> list[Page]:
    """Some rollouts as a page carries them."""
    found: list[Page] = []
    for row, rollout in run.numbered_rollouts(rows.tolist()):
        rollout = judged(rollout, passed[row])
        data, differences = encoded(page_rollout(row, rollout)), compare_rollout(rollout)
        tools = {clean(item.name) for item in rollout.items if item.kind == "tool_call" and item.name}
        found.append(Page(row, data, differences, habit_of(rollout, differences), tools))
    return found


def judged(rollout: Rollout, passed: float) -> Rollout:
    """The rollout with its verdict; nan is none."""
    return rollout if math.isnan(passed) else msgspec.structs.replace(rollout, success=bool(passed))


def gaps(differences: Iterable[Difference], conventions: Conventions) -> list[Gap]:
    """The differences that matter by the run's conventions."""
    return [
        Gap(what=in_words(found), expected=found.expected, made=found.given, item=found.item)
        for found in differences
        if conventions.counts(found)
    ]


def with_gaps(rollout: bytes, found: list[Gap]) -> bytes:
    """An encoded rollout with what it did otherwise, which is known only once all were read."""
    return rollout if not found else rollout[:-1] + b',"gaps":' + encoded(found) + b"}"


def expected_of(rollout: Rollout) -> Iterator[tuple[str, str]]:
    """What the task lists, thing by thing."""
    wanted = rollout.expected
    if wanted is None:
        return
    for call in wanted.calls or []:
        yield "call", short(f"{call.name}({json.dumps(call.arguments, ensure_ascii=False, default=str)})")
    if wanted.calls == []:
        yield "call", "none: nothing should change"
    yield from (("output", short(output)) for output in wanted.outputs or [])
    yield from (("answer", short(answer)) for answer in (wanted.answers or [])[:MOST_FIELDS])
    yield from (("condition", short(check)) for check in wanted.checks or [])
    if wanted.answer_schema is not None:
        yield "schema", short(json.dumps(wanted.answer_schema, ensure_ascii=False, default=str))


def short(said: str) -> str:
    return said if len(said) <= FIELD_CHARS else said[:FIELD_CHARS] + "…"


def within(lengths: Ints, wanted: Iterable[int], most: int) -> list[int]:
    """Rows that fit into so many bytes, taken in the order in which they are wanted."""
    chosen: set[int] = set()
    for row in wanted:
        if row not in chosen:
            most -= int(lengths[row])
            if most < 0 or len(chosen) == MOST_ROLLOUTS:
                break
            chosen.add(row)
    return sorted(chosen)


def groups(sizes: dict[int, int], most: int) -> Iterator[list[int]]:
    """Rows that share a part, in order."""
    group: list[int] = []
    size = 0
    for row in sorted(sizes):
        if group and size + sizes[row] > most:
            yield group
            group, size = [], 0
        group.append(row)
        size += sizes[row]
    if group:
        yield group


def squeeze(data: bytes, *, level: int) -> bytes:
    """A part as it stands in a page: compressed, in letters. The same data gives the same letters."""
    packer = zlib.compressobj(level, zlib.DEFLATED, 31)
    return base64.b64encode(packer.compress(data) + packer.flush())


def page_rollout(row: int, rollout: Rollout, *, most: int | None = MOST_CHARS) -> PageRollout:
    """A rollout as a page shows it; of a text at most so many characters."""
    source, ending, usage = rollout.source, rollout.ending, rollout.usage
    spent = {name: getattr(usage, name) for name in usage.__struct_fields__}
    return PageRollout(
        row=row,
        model=rollout.model,
        agent=rollout.agent,
        ending=[part for part in (ending.kind, ending.origin, ending.name, ending.message) if part]
        if ending.kind != "completed"
        else [],
        source=f"{source.file.replace(chr(92), '/').rsplit('/', 1)[-1]}:{source.line}" if source else "",
        usage={name: value for name, value in spent.items() if value is not None},
        answer=rollout.answer,
        expected=list(expected_of(rollout)),
        tests=rollout.tests,
        scores=rollout.scores if len(rollout.scores) > 1 else {},
        fields=dict(shown_fields(rollout)),
        items=[page_item(item, most) for item in rollout.items],
    )


def page_item(item: Item, most: int | None) -> PageItem:
    thought, said = split_thinking(item.text) if item.kind == "message" and not item.prompt else ("", item.text)
    return PageItem(
        kind=item.kind,
        role=item.role,
        name=item.name,
        text=said[:most],
        thought=thought[:most],
        cut=len(said) - len(said[:most]) + len(thought) - len(thought[:most]),
        error=item.error,
        agent=item.agent,
        prompt=item.prompt,
    )


def shown_fields(rollout: Rollout) -> Iterator[tuple[str, str]]:
    """What else the row says, in short."""
    shown = [(name, value) for name, value in rollout.fields.items() if name not in HIDDEN_FIELDS]
    for name, value in shown[:MOST_FIELDS]:
        if value is not None and value != "" and value != [] and value != {}:
            said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
            yield name[:200], short(said)


def clean(said: str) -> str:
    """Text that UTF-8 can hold."""
    return said if said.isascii() else SURROGATES.sub("\ufffd", said)


def encoded(value: Any) -> bytes:
    """The JSON of a value, in which halves of characters are replaced."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(cleaned(msgspec.to_builtins(value)))


def cleaned(value: Any) -> Any:
    """Plain data whose texts UTF-8 can hold."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(key): cleaned(part) for key, part in value.items()}
    return [cleaned(part) for part in value] if isinstance(value, list | tuple) else value
