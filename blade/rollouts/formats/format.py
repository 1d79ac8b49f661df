"""What a format is: a handful of dotted paths."""

import copy
from typing import Any

import msgspec

from blade.rollouts.fields import Leaf, Tree, graft, retype


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """Where one kind of file keeps the things BLADE needs."""

    name: str
    """What `--format` calls it."""
    prompt: str | None = None
    """Items given to the agent; `None` when the output holds the whole conversation."""
    output: str | None = None
    """Items the rollout produced."""
    tools: str | None = None
    """The tools that were offered; only whether there were any is kept."""
    texts: tuple[str, ...] = ()
    """Paths whose value may be of any shape or length and is kept by its first words."""
    scalars: tuple[str, ...] = ()
    """Paths whose value must be a single number or text; a row where it is not is a bad row."""
    skip: tuple[str, ...] = ()
    """Paths that hold nothing a table can use."""
    indices: tuple[str, str] | None = None
    """Paths of the task index and the repeat index, when the format has them."""
    task_fields: tuple[str, ...] = ()
    """Paths that name a task, best first."""
    repeat_fields: tuple[str, ...] = ()
    """Paths that number the attempts at a task, best first."""
    reward_fields: tuple[str, ...] = ("reward", "score")
    """Paths of the score, best first."""
    error_opening: str | None = None
    """What a tool's result begins with when the call failed, where the format fixes it."""
    input_field: str | None = None
    """What is hashed to recognise a task that has no id."""

    def tree(self, learned: Tree, *, features: bool, hash_inputs: bool) -> Tree:
        """The learned tree with everything this format always reads; the decoder skips the rest."""
        tree = copy.deepcopy(learned)
        for leaf, paths in (
            (Leaf.SKIP, self.skip),
            (Leaf.SCALAR, self.scalars),
            (Leaf.TEXT, self.texts),
            (Leaf.PRESENT, () if self.tools is None else (self.tools,)),
        ):
            for path in paths:
                retype(tree, path, leaf)
        if hash_inputs and self.input_field not in (None, self.prompt):
            graft(tree, str(self.input_field), Leaf.TEXT)
        # A conversation without a prompt of its own begins with it.
        hash_output = hash_inputs and self.prompt is None and self.input_field is None
        for items, wanted in ((self.prompt, features or hash_inputs), (self.output, features or hash_output)):
            if items is not None:
                graft(tree, items, Leaf.ITEMS if wanted else Leaf.SKIP)
        return tree


def bare(name: str) -> str:
    """A field's name by its letters and digits alone: `Task ID`, `task-id` and `taskId` are one name."""
    return "".join(filter(str.isalnum, name)).casefold()


def value_at(record: Any, path: str) -> Any:
    """The value at a dotted path of a decoded record; a key that contains dots is found too."""
    if not isinstance(record, dict):
        return None
    if path in record:
        return record[path]
    head, _, rest = path.partition(".")
    return value_at(record.get(head), rest) if rest else None
