"""Two rollouts beside each other: what they share is counted, what differs is shown word by word."""

from itertools import zip_longest

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from blade.cli.pairs import Pair
from blade.cli.terminal import foreign, indented, put
from blade.cli.trajectory import foreign_excerpt, heading, verdict
from blade.diagnosis.divergence import Change, Fork, calls, produced, word_changes
from blade.report.numbers import plural
from blade.report.text import one_line, plain
from blade.rollouts import Item, Rollout, citation

TWO_COLUMNS = 110
"""Width from which two columns are easier to read than one under the other."""
SIGNS = {"left": "- ", "right": "+ "}
SIDES = {"both": "", "left": "red", "right": "green", "cut": "bold magenta"}


def print_comparison(console: Console, pair: Pair) -> None:
    """Who they are, whether they were asked the same, where they part, and what came then."""
    found = pair.divergence
    print_two(console, head(pair.left), head(pair.right))
    if found.prompt is not None:
        print_fork(console, pair, found.prompt, title="The prompts differ: the two were not asked the same.")
    if found.item is None:
        said = f"They never diverge: all {plural(found.common, 'item')} are the same."
        put(console, Text(f"\n{said}" if found.common else "\nNeither row holds a trajectory.", "bold"))
        return
    print_fork(console, pair, found.item, title=f"They part: {after_common(found.common, 'item')}")
    if found.call is not None and found.call != found.item:
        title = f"Actions: {after_common(found.common_calls, 'tool call')}"
        print_fork(console, pair, found.call, title=title, ended="(no further tool call)")
    elif found.call is None and calls(pair.left.items):
        said = f"All {plural(found.common_calls, 'tool call')} are the same; only wording differs."
        put(console, Text(f"\n{said}", "bold"))
    print_after(console, pair, found.item)


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
