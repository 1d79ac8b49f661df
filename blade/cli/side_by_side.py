"""Two rollouts beside each other: what they share is counted, what differs is shown word by word."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any, NamedTuple

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from blade.cli.terminal import foreign, indented, put
from blade.cli.trajectory import excerpt, foreign_excerpt, heading, run_differences, shown_item, verdict
from blade.diagnosis.differences import Difference, in_words
from blade.diagnosis.divergence import Change, Divergence, Fork, calls, diverge, item_key, produced, word_changes
from blade.errors import UsageError
from blade.report.numbers import plural
from blade.report.text import one_line, plain
from blade.report.workspace import Workspace, judged_rollouts
from blade.rollouts import Item, Rollout, citation


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

    def shown(self) -> dict[str, Any]:
        """What `--json` prints: the first differences of what they were given, did and called, and what came then."""
        found, item = self.divergence, self.divergence.item or Fork(left=None, right=None)
        after = self.after(self.left, item.left), self.after(self.right, item.right)
        return {
            "left": citation(self.left.task, self.left.repeat),
            "right": citation(self.right.task, self.right.repeat),
            "rewards": (self.left.reward, self.right.reward),
            "passed": (self.left.success, self.right.success),
            "prompt": self.shown_fork(found.prompt),
            "common": found.common,
            "item": self.shown_fork(found.item),
            "common_calls": found.common_calls,
            "call": self.shown_fork(found.call),
            "after": [[shown_item(one, self.max_chars) for one in side] for side in after],
            "differences": self.differences,
        }

    def shown_fork(self, fork: Fork | None) -> dict[str, Any] | None:
        if fork is None:
            return None
        left, right = self.items_at(fork)
        return {
            "left": shown_item(left, self.max_chars) if left else None,
            "right": shown_item(right, self.max_chars) if right else None,
            "changes": word_changes(left.text, right.text) if left and right else [],
        }


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


TWO_COLUMNS = 110
"""Width from which two columns are easier to read than one under the other."""
MOST_DIFFERENCES, MOST_ACTIONS, MOST_VALUE = 8, 30, 160
SIGNS = {"left": "- ", "right": "+ "}
SIDES = {"both": "", "left": "red", "right": "green", "cut": "bold magenta"}


def print_comparison(console: Console, pair: Pair) -> None:
    """Who they are, whether they were asked the same, where they part, and what came then."""
    found = pair.divergence
    print_two(console, head(pair.left), head(pair.right))
    acts = f"Actions: {after_common(found.common_calls, 'tool call')}"
    print_against_expected(console, pair)
    if found.prompt is not None and all(map(is_spoken_with, (pair.left, pair.right))):
        print_actions(console, pair)
        return
    elif found.prompt is not None:
        print_fork(console, pair, found.prompt, title="The prompts differ: the two were not asked the same.")
    if found.item is None:
        said = f"They never diverge: all {plural(found.common, 'item')} are the same."
        put(console, Text(f"\n{said}" if found.common else "\nNeither row holds a trajectory.", "bold"))
        return
    print_fork(console, pair, found.item, title=f"They part: {after_common(found.common, 'item')}")
    if found.call is not None and found.call != found.item:
        print_fork(console, pair, found.call, title=acts, ended="(no further tool call)")
    elif found.call is None and calls(pair.left.items):
        said = f"All {plural(found.common_calls, 'tool call')} are the same; only wording differs."
        put(console, Text(f"\n{said}", "bold"))
    print_after(console, pair, found.item)


def print_against_expected(console: Console, pair: Pair) -> None:
    """In what only one of the two differs from what the task lists: that is what the verdict turns on."""
    if not any(pair.differences):
        return
    put(console, Text("\nAgainst what the task expects:", "bold"))
    for rollout, side, differences in zip((pair.left, pair.right), SIGNS, pair.differences, strict=True):
        for difference in differences[:MOST_DIFFERENCES]:
            line = Text(SIGNS[side], SIDES[side]).append(one_line(in_words(difference)))
            for word, value in (("expected", difference.expected), ("given", difference.given)):
                if value is not None:
                    line.append(f"  {word} ", "dim").append(bounded(value))
            put(console, line if difference.item is None else line.append(f"  #{difference.item}", "bold"))
        if not differences:
            name, said = citation(rollout.task, rollout.repeat), "as expected in all that the other did otherwise"
            put(console, Text(SIGNS[side], SIDES[side]).append_text(foreign(f"{one_line(name)}: {said}")))
        elif len(differences) > MOST_DIFFERENCES:
            put(console, indented(Text(f"… and {len(differences) - MOST_DIFFERENCES} more", "dim")))


def print_actions(console: Console, pair: Pair) -> None:
    """The tool calls of both, aligned; a simulated user words every conversation anew, so words are not compared."""
    left, right = calls(pair.left.items), calls(pair.right.items)
    if not left and not right:
        put(console, Text("\nNeither calls a tool, and the user is simulated: read both with `blade show`.", "bold"))
        return
    rows = [*aligned(left, right)]
    if all(a is not None and b is not None and item_key(a) == item_key(b) for a, b in rows):
        put(console, Text(f"\nAll {plural(len(rows), 'tool call')} are the same; the user is simulated.", "bold"))
        return
    put(console, Text("\nActions, in order (= both, ~ both with other arguments, - and + one alone):", "bold"))
    for a, b in rows[:MOST_ACTIONS]:
        print_action(console, a, b)
    if (hidden := len(rows) - MOST_ACTIONS) > 0:
        put(console, indented(Text(f"… and {plural(hidden, 'more tool call')}; `blade show` has them all", "dim")))


def print_action(console: Console, a: Item | None, b: Item | None) -> None:
    """A tool call of one side or of both; the arguments are shown where they differ."""
    if a is not None and b is not None:
        is_same = item_key(a) == item_key(b)
        named = foreign(f"{a.name}  #{a.position} #{b.position}")
        put(console, Text("= " if is_same else "~ ", "dim").append_text(named))
        if not is_same:
            for body, side in zip(argument_texts(console, a, b), SIGNS, strict=True):
                put(console, indented(Text(SIGNS[side], SIDES[side]).append_text(body)))
        return
    for item, side in ((a, "left"), (b, "right")):
        if item is not None:
            said = foreign(f"{item.name}  #{item.position}  ").append(bounded(item.text))
            put(console, Text(SIGNS[side], SIDES[side]).append_text(said))


def argument_texts(console: Console, a: Item, b: Item) -> list[Text]:
    """The arguments of two calls, with what differs marked where enough is common."""
    changes = word_changes(plain(a.text), plain(b.text))
    if not are_alike(changes):
        return [foreign(bounded(item.text)) for item in (a, b)]
    return [marked_words(changes, side, 2 * MOST_VALUE, brackets=console.color_system is None) for side in SIGNS]


def bounded(text: str) -> str:
    return str(excerpt(" ".join(plain(text).split()), MOST_VALUE))


def aligned(left: Sequence[Item], right: Sequence[Item]) -> Iterator[tuple[Item | None, Item | None]]:
    """The calls of both in order: equal ones together, then those of one name."""
    found = SequenceMatcher(None, [*map(item_key, left)], [*map(item_key, right)], autojunk=False)
    for tag, a, b, c, d in found.get_opcodes():
        if tag == "equal":
            yield from zip(left[a:b], right[c:d], strict=True)
            continue
        names = SequenceMatcher(None, [one.name for one in left[a:b]], [one.name for one in right[c:d]], autojunk=False)
        for same, e, f, g, h in names.get_opcodes():
            if same == "equal":
                yield from zip(left[a + e : a + f], right[c + g : c + h], strict=True)
            else:
                yield from ((one, None) for one in left[a + e : a + f])
                yield from ((None, one) for one in right[c + g : c + h])


def is_spoken_with(rollout: Rollout) -> bool:
    """Whether somebody answers the agent in words while it works: a simulated user."""
    return any(item.role == "user" and not item.prompt for item in rollout.items)


def head(rollout: Rollout) -> Text:
    """Citation, verdict and length of a rollout."""
    text = foreign(one_line(citation(rollout.task, rollout.repeat)), "bold").append("  ").append_text(verdict(rollout))
    size = f"{plural(len(produced(rollout.items)), 'item')}, {plural(len(calls(rollout.items)), 'tool call')}"
    return text.append(f"  {size}", "dim")


def after_common(common: int, noun: str) -> str:
    return f"the same for {plural(common, noun)}, then they differ." if common else f"the first {noun} differs already."


def print_fork(console: Console, pair: Pair, fork: Fork, *, title: str, ended: str = "(ended before this)") -> None:
    """The items at a fork, each with its own words marked when they share any."""
    left, right = pair.items_at(fork)
    put(console, Text(f"\n{title}", "bold"))
    bodies: list[Text | None] = [None, None]
    changes = word_changes(plain(left.text), plain(right.text)) if left and right else []
    if are_alike(changes):
        brackets = console.color_system is None
        bodies = [marked_words(changes, side, pair.max_chars, brackets=brackets) for side in SIGNS]
    sides = zip((left, right), SIGNS, bodies, strict=True)
    texts = [side_text(item, side, pair.max_chars, body=body, ended=ended) for item, side, body in sides]
    print_two(console, *texts)


def are_alike(changes: list[Change]) -> bool:
    """Whether enough is common that marking what is not helps; otherwise both texts are better read whole."""
    sizes = {side: sum(len(change.text) for change in changes if change.side == side) for side in SIDES}
    begin_alike = bool(changes) and changes[0].side in ("both", "cut")
    return begin_alike or sizes["both"] * 2 >= max(sizes["left"], sizes["right"], 1)


def side_text(
    item: Item | None, side: str, most: int, *, body: Text | None = None, ended: str = "(ended before this)"
) -> Text:
    """One side's item: its sign, its heading, and its text or the body given."""
    text = Text(SIGNS[side], SIDES[side])
    if item is None:
        return text.append(ended)
    said = foreign_excerpt(item.text.strip() or "(empty)", most) if body is None else body
    return text.append_text(heading(item)).append("\n").append_text(said)


def marked_words(changes: list[Change], side: str, most: int, *, brackets: bool) -> Text:
    """One side's text from the changes, with the words only it has coloured or, without colours, in brackets."""
    text, room = Text(), most
    for change in changes:
        if change.side == "cut":
            text.append(f"[…{change.text}…] ", SIDES["cut"])
        elif change.side in ("both", side) and room > 0:
            words = change.text[:room]
            room -= len(words)
            text.append(in_brackets(words) if brackets and change.side == side else words, SIDES[change.side])
    if room <= 0:
        text.append(" […]", SIDES["cut"])
    text.rstrip()
    return text


def in_brackets(words: str) -> str:
    """The words in brackets, the blanks after them outside."""
    bare = words.rstrip()
    return f"[{bare}]{words[len(bare) :]}"


def print_after(console: Console, pair: Pair, fork: Fork) -> None:
    """The next items of both sides, in step; the call that was shown as the first to differ is not shown again."""
    call = pair.divergence.call or Fork(left=None, right=None)
    left = [item for item in pair.after(pair.left, fork.left) if item.position != call.left]
    right = [item for item in pair.after(pair.right, fork.right) if item.position != call.right]
    if left or right:
        put(console, Text("\nThen:", "bold"))
    for a, b in zip_longest(left, right):
        sides = ((a, "left"), (b, "right"))
        print_two(console, *(side_text(item, side, pair.max_chars // 2) if item else Text() for item, side in sides))


def print_two(console: Console, left: Text, right: Text) -> None:
    """Two texts in two columns where there is room, else one under the other."""
    if console.width >= TWO_COLUMNS:
        table = Table.grid(padding=(0, 2), expand=True)
        table.add_column(ratio=1, overflow="fold")
        table.add_column(ratio=1, overflow="fold")
        table.add_row(with_hanging_body(left), with_hanging_body(right))
        put(console, table)
    else:
        put(console, *(with_hanging_body(text) for text in (left, right) if text.plain))


def with_hanging_body(text: Text) -> Group:
    """The first line at the margin and all others indented, so that no text can pass for a heading."""
    first, *rest = text.split("\n", allow_blank=True)
    return Group(first, *map(indented, rest))
