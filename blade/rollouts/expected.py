"""How many rollouts there should be: what is missing shows only as absence, so somebody must say what was expected.

The materialized inputs are the authority; else the user's own number; else the largest repeat count seen, times the
tasks.
"""

import msgspec
import numpy as np

from blade.rollouts.identity import Identity, Keys, assign_keys, in_natural_order
from blade.rollouts.rows import Ints, Rows, pool
from blade.rollouts.table import ExpectedFrom, InputFile


class Expected(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Tasks and rollouts a run should have."""

    tasks: list[str]
    """Task keys in natural order, those without a rollout included."""
    counts: Ints
    """Per task: rollouts expected."""
    source: ExpectedFrom
    """What this rests on."""
    inputs: Rows | None = None
    """The materialized inputs."""
    places: dict[tuple[str, int], int] = {}
    """Row of the inputs for each key."""
    notes: list[str] = []
    """What did not fit."""


def expect(keys: Keys, identity: Identity, files: list[InputFile], *, repeats: int | None) -> Expected:
    """What a run with these keys should have had."""
    scans = [file.sidecars.inputs.scan for file in files if file.sidecars.inputs is not None]
    if scans and identity.scheme in ("indices", "field"):
        inputs = pool(scans)
        asked = assign_keys(inputs, identity)
        if (asked.task >= 0).any():
            return from_inputs(keys, asked, inputs, repeats=repeats)
    seen = np.bincount(keys.task, minlength=len(keys.tasks))
    source: ExpectedFrom = "largest repeat count seen" if repeats is None else "flag"
    counts = np.maximum(seen, int(seen.max(initial=0)) if repeats is None else repeats).astype(np.int64)
    more = 0 if repeats is None else int((seen > repeats).sum())
    tasks = "1 task has" if more == 1 else f"{more} tasks have"
    notes = [f"{tasks} more rollouts than --expected-repeats {repeats} says; all of them count"] if more else []
    return Expected(tasks=keys.tasks, counts=counts, source=source, notes=notes)


def from_inputs(keys: Keys, asked: Keys, inputs: Rows, *, repeats: int | None) -> Expected:
    pairs = zip(asked.task.tolist(), asked.repeat.tolist(), strict=True)
    places = {(asked.tasks[task], repeat): row for row, (task, repeat) in enumerate(pairs) if task >= 0}
    given = [(keys.tasks[t], r) for t, r in zip(keys.task.tolist(), keys.repeat.tolist(), strict=True)]
    tasks = in_natural_order({*keys.tasks, *(task for task, _ in places)})
    position = {task: index for index, task in enumerate(tasks)}
    counts = np.bincount([position[task] for task, _ in places], minlength=len(tasks))
    strangers = sum(key not in places for key in given)
    notes = [f"{strangers} rollouts are not among the materialized inputs"] if strangers else []
    if repeats is not None and (counts != repeats).any():
        notes.append(f"{repeats} expected repeats are not used: the materialized inputs say what was asked for")
    return Expected(
        tasks=tasks,
        counts=counts.astype(np.int64),
        source="materialized inputs",
        inputs=inputs,
        places=places,
        notes=notes,
    )
