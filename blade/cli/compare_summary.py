"""A comparison in one screen: the headlines, the verdict, what made the change, and the tasks to read first."""

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console, RenderableType
from rich.text import Text

from blade.cli.highlights import grid
from blade.cli.summary import WORDS, print_section
from blade.cli.terminal import foreign, indented, put
from blade.comparison import Comparison
from blade.comparison.comparison import Driver, Part
from blade.comparison.verdict import say_p
from blade.report.comparison_report import COMPARISON, COMPARISON_REPORT
from blade.report.comparison_rows import Words, driver_row, part_row
from blade.report.numbers import plural
from blade.report.text import one_line

MOST_DRIVERS = 5
MOST_PARTS = 8
MOST_WARNINGS = 8
MOST_RUNS = 20
BAR_WIDTH = 12
STYLES = {"improved": "bold green", "regressed": "bold red", "tied": "bold yellow"}


def print_comparison(console: Console, comparison: Comparison, folder: Path) -> None:
    """The whole screen; sections with nothing to say are left out."""
    words = Words(comparison.metric == "pass_at_1")
    put(console, *opening(comparison, words))
    print_section(console, "Mind", warning_lines(comparison))
    print_section(
        console, f"What the change of {words.delta(comparison.change.value)} is made of", part_lines(comparison, words)
    )
    print_section(console, "Did worse", driver_lines(comparison, words, "regressed", comparison.regressed_tasks))
    print_section(console, "Did better", driver_lines(comparison, words, "improved", comparison.improved_tasks))
    print_section(console, "Ranking", ranking_lines(comparison, words))
    print_section(console, "Files", file_lines(folder))


def opening(comparison: Comparison, words: Words) -> Iterator[RenderableType]:
    """Who is compared, their headlines, and the verdict."""
    table = grid("", "", WORDS[comparison.metric], "95 % interval", "paired tasks only", "tasks", numbers=False)
    for role, side in (("base", comparison.base), ("candidate", comparison.candidate)):
        table.add_row(
            Text(role, "dim"),
            foreign(one_line(side.run, 40), "bold"),
            Text(words.value(side.headline.value), "bold cyan"),
            Text(words.interval(side.headline.ci95)),
            Text(words.value(side.paired)),
            Text(plural(side.headline.n, "task"), "dim"),
        )
    yield table
    yield Text()
    verdict, _, rest = comparison.sentence.partition(":")
    yield Text(verdict.upper(), STYLES[comparison.verdict]).append(rest.join([":", "."]), "bold")
    if comparison.settling is not None:
        said = comparison.settling.sentence
        yield Text(f"{said[:1].upper()}{said[1:]}.", "dim")


def warning_lines(comparison: Comparison) -> list[RenderableType]:
    """What to know before believing the verdict."""
    said = [*comparison.warnings]
    hidden = len(said) - MOST_WARNINGS
    lines: list[RenderableType] = [indented(Text(one_line(line, 400))) for line in said[:MOST_WARNINGS]]
    return [*lines, *([indented(Text(f"… and {plural(hidden, 'more')} in {COMPARISON_REPORT}"))] if hidden > 0 else [])]


def part_lines(comparison: Comparison, words: Words) -> list[RenderableType]:
    """The parts that moved the headline, each with a bar to the left for a loss and to the right for a gain."""
    moving = [part for part in comparison.decomposition if abs(part.value) > 1e-12]
    if not moving:
        return []
    largest = max(abs(part.value) for part in moving)
    shown = sorted(moving, key=lambda part: -abs(part.value))[:MOST_PARTS]
    table = grid("", "", "95 % interval", "", numbers=True)
    for part in moving:
        if part in shown:
            row = part_row(part, words)
            table.add_row(Text(row.title), Text(row.value), Text(row.interval), part_bar(part, largest))
    hidden = len(moving) - len(shown)
    rest = [indented(Text(f"… and {plural(hidden, 'smaller part')} in {COMPARISON_REPORT}"))] if hidden else []
    return [table, *rest]


def part_bar(part: Part, largest: float) -> Text:
    cells = max(round(BAR_WIDTH * abs(part.value) / largest), 1)
    blank = " " * (BAR_WIDTH - cells)
    if part.value < 0:
        return Text(blank).append("█" * cells, "red").append("│").append(" " * BAR_WIDTH)
    return Text(" " * BAR_WIDTH).append("│").append("█" * cells, "green")


def driver_lines(comparison: Comparison, words: Words, direction: str, total: int) -> list[RenderableType]:
    """The tasks that moved most in one direction."""
    drivers = [driver for driver in comparison.drivers if driver.direction == direction][:MOST_DRIVERS]
    if not drivers:
        return []
    table = grid(
        "task", "base", "candidate", "", "read in base", "read in candidate", "failing rollouts", numbers=False
    )
    for driver in drivers:
        table.add_row(*driver_cells(driver, words))
    hidden = total - len(drivers)
    rest = [indented(Text(f"… and {plural(hidden, 'more task')} in {COMPARISON_REPORT}"))] if hidden > 0 else []
    return [table, *rest]


def driver_cells(driver: Driver, words: Words) -> list[Text]:
    row = driver_row(driver, words)
    charged = ", ".join(
        f"{charge.rollouts} {charge.part.rpartition('.')[2].replace('_', ' ')}" for charge in driver.failing
    )
    return [
        foreign(one_line(driver.task, 30)),
        Text(row.base),
        Text(row.candidate),
        Text(row.delta, "red" if driver.delta < 0 else "green"),
        *(foreign(one_line(side.citation, 30), "cyan") for side in (driver.base, driver.candidate)),
        foreign(one_line(charged, 120), "dim"),
    ]


def ranking_lines(comparison: Comparison, words: Words) -> list[RenderableType]:
    """All runs in order, and every pair that could be told apart; nothing with two runs."""
    if not isinstance(comparison.ranking, list) or not isinstance(comparison.pairs, list):
        return []
    table = grid("", "run", f"{WORDS[comparison.metric]} over common tasks", "share a letter when tied", numbers=False)
    for rank in comparison.ranking[:MOST_RUNS]:
        name = foreign(one_line(rank.run, 40), "bold")
        table.add_row(Text(str(rank.rank)), name, Text(words.value(rank.value), "cyan"), Text(rank.groups))
    apart = sum(pair.verdict != "tied" for pair in comparison.pairs)
    smallest = min(pair.p_holm for pair in comparison.pairs if pair.p_holm is not None)
    said = f"{apart} of {plural(len(comparison.pairs), 'pair')} told apart after Holm; smallest {say_p(smallest)}"
    return [table, indented(Text(said, "dim"))]


def file_lines(folder: Path) -> list[RenderableType]:
    """Where everything is."""
    table = grid("", "")
    for name, meaning in ((COMPARISON_REPORT, "the report"), (COMPARISON, "everything, for programs")):
        table.add_row(Text(f"{one_line(str(folder))}/{name}", "cyan"), Text(meaning, "dim"))
    return [table]
