"""One rollout on the terminal: a head with what is known of it, then its items.

Headings start at the margin and everything a rollout says is indented, so no text can pass for a heading.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from rich.console import Console
from rich.text import Text

from blade.cli.terminal import foreign, indented
from blade.diagnosis.differences import Conventions, Difference, differences_of, in_words
from blade.errors import UsageError
from blade.report.labelling import locate
from blade.report.numbers import plural, seconds, tokens
from blade.report.text import one_line, plain
from blade.report.workspace import Workspace, judged_rollouts, run_conventions
from blade.rollouts import Item, Rollout, Run, citation
from blade.rollouts.features import split_thinking

MOST_ITEMS = 40
"""Items shown of a longer trajectory: half from its beginning and half from its end."""
NEIGHBOURS = 1
RANGE = re.compile(r"(?P<first>[0-9]*)(?P<dash>-?)(?P<last>[0-9]*)")


class Excerpt(NamedTuple):
    """Head and tail of a text, and how many characters between them are left out."""

    head: str
    cut: int
    tail: str

    def __str__(self) -> str:
        return self.head if not self.cut else f"{self.head} […{self.cut:,} characters cut…] {self.tail}"


def excerpt(text: str, most: int | None) -> Excerpt:
    """The text when it is short enough, else two thirds of the space for its head and one for its tail."""
    if most is None or len(text) <= most:
        return Excerpt(text, 0, "")
    head = most * 2 // 3
    tail = most - head
    return Excerpt(text[:head], len(text) - most, text[len(text) - tail :])


def shown_item(item: Item, most: int | None) -> dict[str, Any]:
    """An item as `--json` prints it, its text cut to size; `cut` counts the characters left out."""
    part = excerpt(item.text, most)
    said = {name: getattr(item, name) for name in ("position", "kind", "role", "name", "prompt")}
    return {**said, "text": str(part), "cut": part.cut}


def bounded_fields(fields: dict[str, Any], most: int | None) -> dict[str, Any]:
    """What else a row says; values whose JSON is too long become the head and tail of that JSON."""
    out: dict[str, Any] = {}
    for name, value in fields.items():
        part = excerpt(field_text(value), most)
        out[name] = str(part) if part.cut else value
    return out


def field_text(value: Any) -> str:
    """A value of a row in one line."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def choose_items(items: Sequence[Item], wanted: str | None, *, near: int | None, full: bool) -> list[Item]:
    """The items to show: those asked for, those around one, or all of a trajectory that is not too long.

    Raises:
        UsageError: the range is malformed, or nothing is in it.
    """
    if wanted is not None:
        return items_in(items, wanted)
    if near is not None:
        check_position(items, near)
        return list(items[max(0, near - NEIGHBOURS) : near + NEIGHBOURS + 1])
    if full or len(items) <= MOST_ITEMS:
        return list(items)
    return [*items[: MOST_ITEMS // 2], *items[-MOST_ITEMS // 2 :]]


def items_in(items: Sequence[Item], wanted: str) -> list[Item]:
    """The items of `4`, `4-9`, `4-` or `-9`, the last one included."""
    match = RANGE.fullmatch(wanted.strip())
    if match is None or not (match["first"] or match["last"]):
        raise UsageError(f"--items {wanted!r} is not a range of items; expected for example 4, 4-9, 4- or -9.")
    first = int(match["first"] or 0)
    last = int(match["last"]) if match["last"] else first if not match["dash"] else len(items) - 1
    check_position(items, first)
    if last < first:
        raise UsageError(f"--items {wanted!r} ends before it begins.")
    return list(items[first : last + 1])


def check_position(items: Sequence[Item], position: int) -> None:
    """Raises unless there is an item at this position."""
    if not items:
        raise UsageError("the rollout has no items: its row holds no trajectory.")
    if position >= len(items):
        raise UsageError(f"there is no item #{position}; the rollout has items #0 to #{len(items) - 1}.")


MOST_FIELDS = 30
FIELD_CHARS = 200
IN_THE_HEAD = frozenset({"reward", "_ng_task_index", "_ng_rollout_index"})
"""Fields that the head has said already."""
SHOWN = ("status", "failure", "model", "agent", "usage", "seconds", "source")
KIND_STYLES = {
    "message": "bold cyan",
    "reasoning": "dim cyan",
    "tool_call": "bold yellow",
    "tool_result": "bold green",
    "environment": "bold magenta",
}


class Chosen(NamedTuple):
    """A rollout and the part of it to show."""

    rollout: Rollout
    items: list[Item]
    max_chars: int | None
    near: int | None
    differences: list[Difference]

    def shown(self) -> dict[str, Any]:
        """What `--json` prints; long values of fields are cut."""
        rollout, limit = self.rollout, None if self.max_chars is None else FIELD_CHARS
        return {
            "rollout": citation(rollout.task, rollout.repeat),
            "reward": rollout.reward,
            "passed": rollout.success,
            **{name: getattr(rollout, name) for name in SHOWN},
            "fields": bounded_fields(rollout.fields, limit),
            "differences": self.differences,
            "item_count": len(rollout.items),
            "items": [shown_item(item, self.max_chars) for item in self.items],
        }


def select_rollout(workspace: Workspace, key: str, *, items: str | None, max_chars: int | None) -> Chosen:
    """Reads a rollout and picks the items asked for; `max_chars` of `None` means everything."""
    run = workspace.run()
    row, near = locate(key, run)
    (rollout,) = judged_rollouts(workspace, run, [row])
    chosen = choose_items(rollout.items, items, near=near, full=max_chars is None)
    differences = run_differences(workspace, run, rollout)
    return Chosen(rollout=rollout, items=chosen, max_chars=max_chars, near=near, differences=differences)


def run_differences(workspace: Workspace, run: Run, rollout: Rollout) -> list[Difference]:
    """In what a rollout differs from what its task lists; other rollouts tell which tools change anything."""
    listed = rollout.expected is not None and rollout.expected.calls is not None
    return differences_of(rollout, run_conventions(workspace, run) if listed else Conventions())


def print_rollout(console: Console, chosen: Chosen) -> None:
    """Head, fields, differences and items."""
    print_head(console, chosen.rollout)
    if chosen.near is None:
        print_fields(console, chosen.rollout.fields, full=chosen.max_chars is None)
    print_differences(console, chosen.differences, full=chosen.max_chars is None)
    print_items(console, chosen.items, count=len(chosen.rollout.items), max_chars=chosen.max_chars, marked=chosen.near)


def print_head(console: Console, rollout: Rollout) -> None:
    """The rollout's name and verdict, then one line of what else is known."""
    head = foreign(citation(rollout.task, rollout.repeat), "bold")
    head.append("  ").append_text(verdict(rollout))
    console.print(head, soft_wrap=True)
    source = rollout.source
    facts = [
        f"{Path(source.file).name}:{source.line}" if source else None,
        rollout.model,
        rollout.agent,
        plural(len(rollout.items), "item"),
        None if rollout.usage.input_tokens is None else f"{tokens(rollout.usage.input_tokens)} tokens in",
        None if rollout.usage.output_tokens is None else f"{tokens(rollout.usage.output_tokens)} tokens out",
        None if rollout.seconds is None else seconds(rollout.seconds),
    ]
    console.print(Text("  ").append(one_line(" · ".join(fact for fact in facts if fact)), "dim"), soft_wrap=True)


def verdict(rollout: Rollout) -> Text:
    """Passed or failed, the reward, and how the rollout ended when not by itself."""
    words = {True: ("passed", "bold green"), False: ("failed", "bold red"), None: ("no verdict", "bold")}
    text = Text(*words[rollout.success])
    text.append("  reward unknown" if rollout.reward is None else f"  reward {rollout.reward:g}")
    if rollout.status != "completed":
        text.append(f"  {rollout.status}", "bold yellow")
    if rollout.failure:
        text.append(f" ({one_line(rollout.failure, FIELD_CHARS)})", "yellow")
    return text


def print_fields(console: Console, fields: dict[str, Any], *, full: bool) -> None:
    """What else the row says, a line each."""
    others = [(name, value) for name, value in fields.items() if name not in IN_THE_HEAD]
    for name, value in others[: None if full else MOST_FIELDS]:
        said = str(excerpt(" ".join(plain(field_text(value)).split()), None if full else FIELD_CHARS))
        line = Text("  ").append(one_line(name, FIELD_CHARS), "cyan").append("  ").append(said)
        console.print(line, soft_wrap=True)
    hidden = 0 if full else len(others) - MOST_FIELDS
    if hidden > 0:
        console.print(Text(f"  … and {plural(hidden, 'more field')}; see them with --full", "dim"))


def print_differences(console: Console, differences: list[Difference], *, full: bool) -> None:
    """What the task lists and the rollout did otherwise, a line each with both values."""
    if differences:
        console.print(Text("\nexpected against made", "bold red"))
    for difference in differences:
        line = Text("  ").append(one_line(in_words(difference), FIELD_CHARS))
        for word, value in (("expected", difference.expected), ("given", difference.given)):
            if value is not None:
                said = str(excerpt(" ".join(plain(value).split()), None if full else FIELD_CHARS))
                line.append(f"  {word} ", "dim").append(said)
        if difference.item is not None:
            line.append(f"  #{difference.item}", "bold")
        console.print(line, soft_wrap=True)


def print_items(
    console: Console, items: list[Item], *, count: int, max_chars: int | None, marked: int | None = None
) -> None:
    """Items under their headings; where some are left out, how many."""
    position = items[0].position if items else 0
    for item in items:
        print_gap(console, position, item.position)
        print_item(console, item, max_chars=max_chars, marked=item.position == marked)
        position = item.position + 1
    if not items:
        console.print(Text("  the row holds no trajectory", "dim"))
    if items and (items[0].position > 0 or position < count):
        shown = f"items #{items[0].position} to #{position - 1} of {count}"
        console.print(Text(f"\n{shown}", "dim"), soft_wrap=True)


def print_gap(console: Console, first: int, last: int) -> None:
    if last > first:
        left_out = plural(last - first, "item")
        console.print(Text(f"\n… {left_out} left out; see them with --items {first}-{last - 1}", "dim"), soft_wrap=True)


def print_item(console: Console, item: Item, *, max_chars: int | None, marked: bool = False) -> None:
    """One item: a heading at the margin, its text indented, a thought dimmed and apart from the answer."""
    console.print()
    console.print(heading(item, marked=marked), soft_wrap=True)
    thought, answer = split_thinking(item.text) if item.kind == "message" and not item.prompt else ("", item.text)
    if thought:
        print_text(console, f"<think>\n{thought}\n</think>", max_chars=max_chars, style="dim italic")
    if answer.strip():
        print_text(console, answer, max_chars=max_chars, style="dim" if item.kind == "reasoning" else "")
    elif not thought:
        console.print(indented(Text("(empty)", "dim")))


def heading(item: Item, *, marked: bool = False) -> Text:
    """`#5 tool_call search`, coloured by kind."""
    text = Text("> " if marked else "", "bold").append(f"#{item.position} {item.kind}", KIND_STYLES[item.kind])
    for word in (item.role, item.name):
        if word and word != item.kind:
            text.append(f" {one_line(word, FIELD_CHARS)}", "bold")
    return text.append(" (prompt)", "dim") if item.prompt else text


def print_text(console: Console, text: str, *, max_chars: int | None, style: str = "") -> None:
    """Somebody else's text: wrapped to a terminal, line by line as it is elsewhere, so that it can be quoted."""
    body = foreign_excerpt(text, max_chars, style)
    if console.is_terminal:
        console.print(indented(body))
    else:
        # Not through rich, which would turn tabs into blanks.
        console.file.write("".join(f"  {line}\n" for line in body.plain.split("\n")))


def foreign_excerpt(text: str, most: int | None, style: str = "") -> Text:
    """Head and tail of somebody else's text, with what is cut said in a style of its own."""
    part = excerpt(plain(text).strip("\n"), most)
    body = Text(part.head, style=style)
    if part.cut:
        body.append(f" […{part.cut:,} characters cut…] ", "bold magenta").append(part.tail)
    return body
