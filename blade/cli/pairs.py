"""Two rollouts of a task and where they part, as a value: what `blade diff` shows and what `--json` prints."""

from typing import NamedTuple

import msgspec

from blade.cli.excerpts import ShownItem, shown_item
from blade.cli.trajectory import run_differences
from blade.diagnosis.differences import Difference
from blade.diagnosis.divergence import Change, Divergence, Fork, diverge, word_changes
from blade.errors import UsageError
from blade.report.workspace import Workspace, judged_rollouts
from blade.rollouts import Item, Rollout, citation


class ShownFork(msgspec.Struct, frozen=True, kw_only=True):
    """A place where two rollouts differ, as `--json` prints it."""

    left: ShownItem | None
    """The item on the left; `None` when that side has ended."""
    right: ShownItem | None
    """The item on the right; `None` when that side has ended."""
    changes: list[Change]
    """The texts word by word, when both are there."""


class ShownPair(msgspec.Struct, frozen=True, kw_only=True):
    """Two rollouts compared, as `--json` prints it."""

    left: str
    """The one rollout."""
    right: str
    """The other."""
    rewards: tuple[float | None, float | None]
    """Their rewards."""
    passed: tuple[bool | None, bool | None]
    """Whether they count as successes."""
    prompt: ShownFork | None
    """First difference of what they were given."""
    common: int
    """Items both produced alike before the first difference."""
    item: ShownFork | None
    """First item that differs; `None` when they never diverge."""
    common_calls: int
    """Tool calls both made alike before the first difference."""
    call: ShownFork | None
    """First tool call that differs."""
    after: tuple[list[ShownItem], list[ShownItem]]
    """What each side did next."""
    differences: tuple[list[Difference], list[Difference]] = ([], [])
    """In what each side alone differs from what the task lists."""


class Pair(NamedTuple):
    """Two rollouts, where they part, and how much of them to show."""

    left: Rollout
    right: Rollout
    divergence: Divergence
    context: int
    max_chars: int
    differences: tuple[list[Difference], list[Difference]] = ([], [])

    def items_at(self, fork: Fork) -> tuple[Item | None, Item | None]:
        """The items at a fork."""
        left = None if fork.left is None else self.left.items[fork.left]
        return left, None if fork.right is None else self.right.items[fork.right]

    def after(self, rollout: Rollout, position: int | None) -> list[Item]:
        """The next items of a side."""
        return [] if position is None else rollout.items[position + 1 : position + 1 + self.context]

    def shown(self) -> ShownPair:
        """The value that `--json` prints."""
        found, item = self.divergence, self.divergence.item or Fork(left=None, right=None)
        after = self.after(self.left, item.left), self.after(self.right, item.right)
        return ShownPair(
            left=citation(self.left.task, self.left.repeat),
            right=citation(self.right.task, self.right.repeat),
            rewards=(self.left.reward, self.right.reward),
            passed=(self.left.success, self.right.success),
            prompt=self.shown_fork(found.prompt),
            common=found.common,
            item=self.shown_fork(found.item),
            common_calls=found.common_calls,
            call=self.shown_fork(found.call),
            after=(self.shown_items(after[0]), self.shown_items(after[1])),
            differences=self.differences,
        )

    def shown_items(self, items: list[Item]) -> list[ShownItem]:
        return [shown_item(item, self.max_chars) for item in items]

    def shown_fork(self, fork: Fork | None) -> ShownFork | None:
        if fork is None:
            return None
        left, right = self.items_at(fork)
        return ShownFork(
            left=shown_item(left, self.max_chars) if left else None,
            right=shown_item(right, self.max_chars) if right else None,
            changes=word_changes(left.text, right.text) if left and right else [],
        )


def compare(workspace: Workspace, left: str, right: str, *, context: int, max_chars: int, any_task: bool) -> Pair:
    """Reads two rollouts and finds where they part.

    Raises:
        UsageError: they are one rollout, or of different tasks and `any_task` is not set.
    """
    run = workspace.run()
    rows = run.row(left), run.row(right)
    tasks = [run.table.tasks[int(run.table.task[row])] for row in rows]
    if rows[0] == rows[1]:
        raise UsageError(f"{left} and {right} are the same rollout; name two repeats of the task.")
    if tasks[0] != tasks[1] and not any_task:
        raise UsageError(f"{left} and {right} are rollouts of different tasks; compare them with --any-task.")
    a, b = judged_rollouts(workspace, run, rows)
    made = [run_differences(workspace, run, rollout) for rollout in (a, b)]
    shared = {(one.key, one.given) for one in made[0]} & {(one.key, one.given) for one in made[1]}
    alone = [[one for one in side if (one.key, one.given) not in shared] for side in made]
    return Pair(a, b, diverge(a.items, b.items), context, max_chars, (alone[0], alone[1]))
