"""A comparison in one screen: the headlines, the verdict, what made the change, and the tasks to read first."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console, RenderableType
from rich.text import Text

from blade.cli.folders import folder_names
from blade.cli.summary import WORDS, fitting, print_section
from blade.cli.terminal import code_line, command, grid, indented, name_last, path_lines, put
from blade.comparison import Comparison
from blade.comparison.comparison import Part
from blade.comparison.verdict import say_p
from blade.report.comparison_report import COMPARISON_REPORT
from blade.report.comparison_rows import Words, adjusted_words, driver_row, part_row, rank_rows
from blade.report.numbers import count, plural
from blade.report.page.comparison_page import COMPARISON_PAGE
from blade.report.text import one_line, readable
from blade.report.workspace import APPENDIX

MOST_LINES = 40
ROOM_FOR_WARNINGS = 4
MOST_DRIVERS, MOST_PARTS, MOST_RANKS, MOST_PAIRS = 4, 5, 5, 30
BAR_WIDTH = 12
LONGEST_KEY = 24
STYLES = {"improved": "bold green", "regressed": "bold red", "tied": "bold yellow"}


def print_comparison(console: Console, comparison: Comparison, folder: Path) -> None:
    """The whole screen, at most `MOST_LINES`; sections with nothing to say are left out."""
    words = Words(comparison.metric == "pass_at_1")
    put(console, *opening(comparison, words))
    warnings = [indented(Text(one_line(line))) for line in comparison.warnings]
    print_section(console, "Warnings", fitting(console, warnings, ROOM_FOR_WARNINGS, f"in {COMPARISON_REPORT}"))
    change = words.delta(comparison.change.value)
    print_section(console, f"What the change of {change} is made of", part_lines(comparison, words))
    for direction, title, total in (
        ("regressed", "did worse", comparison.regressed_tasks),
        ("improved", "did better", comparison.improved_tasks),
    ):
        print_section(console, f"{plural(total, 'task')} {title}", driver_lines(comparison, words, direction))
    print_section(console, "Ranking", ranking_lines(comparison, words))
    put(
        console,
        Text(),
        *path_lines(console, f"{folder}/{COMPARISON_PAGE} in a browser", f"{folder}/{COMPARISON_REPORT} as text"),
    )


def print_comparisons(console: Console, found: Mapping[str, Comparison], notes: Sequence[str], folder: Path) -> None:
    """Several comparisons, paired by name, a line each; what was not compared."""
    put(console, Text(plural(len(found), "comparison"), "bold").append(", paired by name", "dim"))
    rows = []
    for name, one in list(found.items())[:MOST_PAIRS]:
        words = Words(one.metric == "pass_at_1")
        rows.append(
            [
                Text(f"{WORDS[one.metric]} {words.value(one.base.paired)}"),
                Text(words.value(one.candidate.paired)),
                Text(words.delta(one.delta.value), "bold cyan"),
                Text(words.deltas(one.delta.ci95)),
                Text(one.verdict, STYLES[one.verdict]),
                Text(count(one.paired_tasks), "dim"),
                Text(one_line(name), "bold"),
            ]
        )
    put(console, *name_last(["base", "candidate", "", "95 % interval", "verdict", "tasks", ""], rows))
    if (hidden := len(found) - MOST_PAIRS) > 0:
        put(console, Text(f"  … and {count(hidden)} more in {one_line(str(folder))}", "dim"))
    if any(one.p_holm is not None for one in found.values()):
        put(console, indented(Text("verdicts by Holm's p over all of them", "dim")))
    said = fitting(console, [indented(Text(one_line(note))) for note in notes], ROOM_FOR_WARNINGS, "not shown")
    print_section(console, "Warnings", said)
    name = folder_names(list(found))[0]
    put(console, Text(), Text("Read on", "bold"), code_line(command("cat", str(folder / name / COMPARISON_REPORT))))


def opening(comparison: Comparison, words: Words) -> Iterator[RenderableType]:
    """Who is compared, their headlines, and the verdict."""
    rows = [
        [
            Text(words.value(side.headline.value), "bold cyan"),
            Text(words.interval(side.headline.ci95)),
            Text(words.value(side.paired)),
            Text(count(side.headline.n), "dim"),
            Text(f"{role}  ", "dim").append(one_line(side.run), "bold"),
        ]
        for role, side in (("base", comparison.base), ("candidate", comparison.candidate))
    ]
    yield from name_last([WORDS[comparison.metric], "95 % interval", "paired tasks", "tasks", "run"], rows)
    yield Text()
    verdict, _, rest = comparison.sentence.partition(":")
    yield Text(verdict.upper(), STYLES[comparison.verdict]).append(rest.join([":", "."]), "bold")
    if isinstance(comparison.pairs, list):
        yield Text(readable(adjusted_words(comparison, comparison.pairs)), "dim")
    if comparison.settling is not None:
        said = comparison.settling.sentence
        yield Text(f"{said[:1].upper()}{said[1:]}.", "dim")


def part_lines(comparison: Comparison, words: Words) -> list[RenderableType]:
    """The parts that moved the headline, each with a bar to the left for a loss and to the right for a gain."""
    moving = [part for part in comparison.decomposition if abs(part.value) > 1e-12]
    if not moving:
        return []
    largest = max(abs(part.value) for part in moving)
    shown = sorted(moving, key=lambda part: -abs(part.value))[:MOST_PARTS]
    table = grid("", "95 % interval", "", "", numbers=False)
    for part in shown:
        row = part_row(part, words)
        table.add_row(Text(row.value), Text(row.interval), part_bar(part, largest), Text(row.title))
    table.columns[0].justify = table.columns[1].justify = "right"
    hidden = len(moving) - len(shown)
    rest = [indented(Text(f"… and {plural(hidden, 'smaller part')} in {APPENDIX}", "dim"))] if hidden else []
    return [table, *rest]


def part_bar(part: Part, largest: float) -> Text:
    cells = max(round(BAR_WIDTH * abs(part.value) / largest), 1)
    blank = " " * (BAR_WIDTH - cells)
    if part.value < 0:
        return Text(blank).append("█" * cells, "red").append("│").append(" " * BAR_WIDTH)
    return Text(" " * BAR_WIDTH).append("│").append("█" * cells, "green")


def driver_lines(comparison: Comparison, words: Words, direction: str) -> list[Text]:
    """The tasks that moved most in one direction, and the repeat to read in each run."""
    rows: list[list[Text | str]] = []
    for driver in [driver for driver in comparison.drivers if driver.direction == direction][:MOST_DRIVERS]:
        row = driver_row(driver, words)
        repeats = (f":{side.citation.rpartition(':')[2]}" for side in (driver.base, driver.candidate))
        largest = max(driver.failing, key=lambda charge: charge.rollouts, default=None)
        name = Text(one_line(driver.task), "cyan")
        if largest is not None and len(name) <= LONGEST_KEY:
            name.append(f"  {one_line(largest.title)} ({count(largest.rollouts)})", "dim")
        moved = Text(row.delta, "red" if driver.delta < 0 else "green")
        rows.append([row.base, row.candidate, moved, *repeats, name])
    return name_last(["base", "candidate", "", "read base", "candidate", "task"], rows) if rows else []


def ranking_lines(comparison: Comparison, words: Words) -> list[RenderableType]:
    """All runs in order, and how many pairs could be told apart; nothing with two runs."""
    ranked = rank_rows(comparison, words)
    if not ranked or not isinstance(comparison.pairs, list):
        return []
    rows: list[list[Text | str]] = [
        [
            count(row.rank.rank),
            Text(row.value, "cyan"),
            row.against_base,
            row.rank.groups,
            Text(one_line(row.rank.run), "bold"),
        ]
        for row in ranked[:MOST_RANKS]
    ]
    hidden = len(ranked) - MOST_RANKS
    apart = sum(pair.verdict != "tied" for pair in comparison.pairs)
    smallest = min(pair.p_holm for pair in comparison.pairs if pair.p_holm is not None)
    said = f"{apart} of {plural(len(comparison.pairs), 'pair')} told apart after Holm; smallest {say_p(smallest)}"
    more = f"; {plural(hidden, 'more run')} in {COMPARISON_REPORT}" if hidden > 0 else ""
    titles = ["", WORDS[comparison.metric], "against the base", "ties share a letter", "run"]
    return [*name_last(titles, rows), indented(Text(f"{said}{more}", "dim"))]
