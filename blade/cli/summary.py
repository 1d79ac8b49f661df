"""A run in one screen: its headline, its buckets, what fails and why, and what to read first.

Everything here is the one-page report in fewer words. `MOST_LINES` holds for any run: each section has room for so many
lines, and what does not fit is counted. Nothing that is to be copied is cut or broken.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from blade.cli.terminal import code_line, command, foreign, grid, height, indented, path_lines, put
from blade.diagnosis.analysis import Analysis, Count, Coverage, headline_of
from blade.diagnosis.labels import UNDECIDED
from blade.diagnosis.reading_order import reading_words
from blade.metrics import Variant
from blade.report.dives import cause_words
from blade.report.headline import interval_words, is_rate, value_words
from blade.report.numbers import DASH, count, percent, plural, signed_pp
from blade.report.onepage import ModeRow, OnePage, make_page
from blade.report.page.run_page import PAGE
from blade.report.text import one_line, readable
from blade.report.workspace import ANALYSIS, APPENDIX, LABELS, READING_LIST, REPORT, Workspace
from blade.rollouts.table import examples

MOST_LINES = 40
MOST_TO_READ = 3
ROOM = {"Warnings": 6, "Fix first": 6, "What explains the score": 5}
"""Lines each section may take, with its title and the blank line before it; failure modes get what is left."""
LONGEST_EXAMPLE = 24
"""A longer citation stands in the report only: a table would break it."""
BAR_WIDTH = 64
MOST_CAUSES = 8
WORDS = {"pass_at_1": "pass@1", "mean_reward": "mean reward"}
GRADED = "Rewards are graded, so no task is in a bucket; state a rule, as in --success '{}'."
UNSCORED = "No rollout has a score; name its field with --reward-field."
FILES = (
    (PAGE, "open it in a browser: the report with every rollout"),
    (REPORT, "the report on one page"),
    (APPENDIX, "the tables behind it"),
    (READING_LIST, "what to read, in order"),
    (LABELS, "why tasks fail: drafts to confirm with `blade label`"),
    (ANALYSIS, "everything, for programs"),
)


def print_summary(console: Console, workspace: Workspace) -> None:
    """The whole screen; sections with nothing to say are left out."""
    analysis, folder = workspace.analysis, str(workspace.folder)
    page = make_page(analysis)
    top = [*opening(analysis, width=console.width)]
    warned = fitting(console, cautions(analysis), ROOM["Warnings"] - 2, f"in {APPENDIX}")
    said = [indented(Text(readable(one))) for one in page.explained]
    explained = fitting(console, said, ROOM["What explains the score"] - 2, f"in {REPORT}")
    fixes = fitting(console, fix_lines(page), ROOM["Fix first"] - 2, f"in {REPORT}")
    reading = reading_lines(analysis, folder)
    shown = one_line(folder)
    files: list[RenderableType] = [*path_lines(console, f"{shown}/{PAGE} in a browser", f"{shown}/{REPORT} as text")]
    others: list[tuple[list[RenderableType], int]] = [
        (warned, 2),
        (explained, 2),
        (fixes, 2),
        (reading, 2),
        (files, 1),
        ([*cause_line(analysis)], 0),
    ]
    taken = sum(height(console, *lines) + more for lines, more in others if lines)
    modes = mode_lines(console, page, MOST_LINES - height(console, *top) - taken - 2)
    put(console, *top)
    print_section(console, "Warnings", warned)
    print_section(console, "Failure modes", modes)
    put(console, *cause_line(analysis))
    print_section(console, "What explains the score", explained)
    print_section(console, "Fix first", fixes)
    print_section(console, "Read first", reading)
    put(console, Text(), *files)


def fitting(console: Console, lines: Sequence[RenderableType], room: int, where: str) -> list[RenderableType]:
    """The first entries that fit into so many lines, whole, and how many there are more."""
    kept: list[RenderableType] = []
    for at, line in enumerate(lines):
        more = 1 if at + 1 < len(lines) else 0
        if height(console, *kept, line) + more > room:
            left = count(len(lines) - at)
            return [*kept, indented(Text(f"… and {left} more {where}" if kept else f"{left} {where}", "dim"))]
        kept.append(line)
    return kept


def mode_lines(console: Console, page: OnePage, room: int) -> list[RenderableType]:
    """What goes with failing, each with a place to look."""
    rows = page.modes.shown
    for shown in range(len(rows), 0, -1):
        table = mode_table(rows[:shown])
        left = len(rows) - shown + page.modes.rest
        rest = [indented(Text(f"… and {plural(left, 'more mode')} in {REPORT}, {APPENDIX}", "dim"))] if left else []
        if height(console, table, *rest) <= room:
            return [table, *rest]
    return (
        [indented(Text(f"{plural(len(rows) + page.modes.rest, 'mode')} in {REPORT}, {APPENDIX}", "dim"))]
        if rows
        else []
    )


def fix_lines(page: OnePage) -> list[RenderableType]:
    """What would gain most, whole."""
    said = ((fix.gain, readable(fix.brief)) for fix in page.fixes)
    return [
        indented(Text(f"at most {gain}  ", "bold").append(brief if brief.endswith("…") else f"{brief}."))
        for gain, brief in said
    ]


def mode_table(rows: Sequence[ModeRow]) -> Table:
    """The modes; without examples where one is too long for a column."""
    examples = [readable(row.example).strip("`") for row in rows]
    has_room = max(map(len, examples)) <= LONGEST_EXAMPLE
    gains = any(row.gain != DASH for row in rows)
    titles = ["failed", "passed", "tasks", *(["at most"] if gains else []), *(["example"] if has_room else []), ""]
    table = grid(*titles, numbers=False)
    for column in table.columns[: len(titles) - 1]:
        column.justify, column.no_wrap = "right", True
    for row, example in zip(rows, examples, strict=True):
        counts = [count(row.failed), "–" if row.passed is None else count(row.passed), count(row.tasks)]
        table.add_row(
            *map(Text, counts),
            *([Text(row.gain, "bold")] if gains else []),
            *([Text(example, "cyan")] if has_room else []),
            Text(readable(row.title)),
        )
    return table


def cause_line(analysis: Analysis) -> Iterator[RenderableType]:
    """How many causes are decided, in one line."""
    if analysis.causes:
        open_ones = sum(cause.label == UNDECIDED for cause in analysis.causes)
        said = f"Causes: {count(len(analysis.causes) - open_ones)} decided, {count(open_ones)} undecided"
        yield indented(Text(said, "dim"))


def cause_lines(analysis: Analysis) -> list[RenderableType]:
    """How many tasks each cause is held responsible for, and how many nobody has decided."""
    if not analysis.causes:
        return []
    tally: dict[str, int] = {}
    for cause in analysis.causes:
        tally[cause.label] = tally.get(cause.label, 0) + 1
    ordered = sorted(tally.items(), key=lambda pair: (-pair[1], pair[0]))
    table = grid("", "tasks", "")
    for label, tasks in ordered[:MOST_CAUSES]:
        table.add_row(Text(one_line(label, 20), "cyan"), Text(count(tasks)), Text(likely_cause(label), "dim"))
    hidden = len(ordered) - MOST_CAUSES
    rest = [indented(Text(f"… and {plural(hidden, 'more cause')} in {APPENDIX}", "dim"))] if hidden > 0 else []
    return [table, *rest, *cause_line(analysis)]


def likely_cause(label: str) -> str:
    """A label in words: `BI+UK?` is a draft of a behavioural issue and unreliable knowledge."""
    is_doubted = label.endswith("?") and label != UNDECIDED
    return f"{cause_words(label)}, perhaps" if is_doubted else cause_words(label)


def reading_lines(analysis: Analysis, folder: str) -> list[RenderableType]:
    """The commands that show the rollouts worth reading first, whole."""
    commands = [command(*reading_words(item.read[:2], folder)) for item in analysis.reading_list[:MOST_TO_READ]]
    lines: list[RenderableType] = [code_line(words) for words in commands]
    if (hidden := len(analysis.reading_list) - MOST_TO_READ) > 0:
        lines.append(indented(Text(f"… and {plural(hidden, 'more task')} in {READING_LIST}", "dim")))
    return lines


def print_section(console: Console, title: str, lines: Sequence[RenderableType]) -> None:
    """A title and its lines, unless there are none."""
    if lines:
        put(console, Text(f"\n{title}", "bold", no_wrap=True), *lines)


def opening(analysis: Analysis, *, width: int) -> Iterator[RenderableType]:
    """Who ran, how well, and how the tasks fall."""
    yield foreign(one_line(analysis.inputs.run, 80), "bold").append(whose(analysis), "dim")
    if analysis.inputs.guessed:
        yield Text("Read as: ", "yellow").append_text(foreign(one_line("; ".join(analysis.inputs.guessed)), ""))
    yield Text()
    yield headline_line(analysis)
    more = further_metrics(analysis)
    if more.plain:
        yield more
    if other := other_counts(analysis):
        yield Text(other, "dim")
    yield from bucket_lines(analysis, width=width)


def whose(analysis: Analysis) -> str:
    parts = [names(analysis.inputs.models), names(analysis.inputs.agents)]
    coverage = analysis.coverage
    parts.append(f"{plural(coverage.tasks, 'task')}, {rollouts_there(coverage)}")
    return "".join(f"  ·  {part}" for part in parts if part)


def rollouts_there(coverage: Coverage) -> str:
    """How many rollouts there are, of how many, and how many of them have no score."""
    missing, unscored = coverage.missing, coverage.unscored
    there = (
        f"{count(coverage.rollouts)} of {count(coverage.rollouts + missing)}" if missing else count(coverage.rollouts)
    )
    noun = "rollout" if coverage.rollouts + missing == 1 else "rollouts"
    return f"{there} {noun}" + (f", {count(unscored)} without a score" if unscored else "")


def names(counts: list[Count], most: int = 3) -> str:
    """The values that are known, a few of them."""
    return examples([one_line(entry.value, 60) for entry in counts if entry.value], most)


def headline_line(analysis: Analysis) -> Text:
    """The number that speaks for the run, with its interval."""
    metric, rate = headline_of(analysis), is_rate(analysis)
    text = Text(f"{WORDS[analysis.headline]}  ", "bold").append(value_words(metric, rate=rate), "bold cyan")
    if metric.ci95 is not None:
        text.append(f"   95 % interval {interval_words(metric, rate=rate)}")
    return text.append(f"   over {plural(metric.n, 'task')}", "dim")


def further_metrics(analysis: Analysis) -> Text:
    """pass@k and pass^k for the largest k that was measured, and over how many tasks where not over all."""
    metrics = analysis.metrics
    measured = [
        (f"{name}{k} {percent(metric.value)}", metric.n)
        for name, by_k in (("pass@", metrics.pass_at_k), ("pass^", metrics.pass_pow_k))
        for k, metric in list(by_k.items())[-1:]
        if metric.value is not None and k != "1"
    ]
    retry = metrics.retry_value
    if measured and retry.value is not None:
        measured.append((f"retrying adds {signed_pp(retry.value)}", retry.n))
    groups = [("   ".join(said for said, _ in alike), tasks) for tasks, alike in groupby(measured, itemgetter(1))]
    everywhere = metrics.pass_at_1.n
    parts = [said if tasks == everywhere else f"{said} over {plural(tasks, 'task')}" for said, tasks in groups]
    return Text("   ".join(parts), "dim")


def bucket_lines(analysis: Analysis, *, width: int) -> Iterator[RenderableType]:
    """The bar of buckets; or why there is none."""
    if analysis.success.kind in ("binary", "rule"):
        yield Text()
        yield bucket_bar(analysis, width=min(width - 4, BAR_WIDTH))
        return
    rule = analysis.success.suggestion or "reward >= 0.5"
    yield Text(GRADED.format(rule) if analysis.success.kind == "continuous" else UNSCORED, "yellow")


def cautions(analysis: Analysis) -> list[RenderableType]:
    """What is wrong with the data, the infrastructure or the verifier, and whatever else must be known."""
    return [indented(Text(one_line(line))) for line in [*finding_lines(analysis), *analysis.inputs.notes]]


def finding_lines(analysis: Analysis) -> Iterator[str]:
    """Each finding with a place to look; advice that several share is given once."""
    given: set[str] = set()
    for finding in analysis.health:
        cited = f" ({finding.citations[0]})" if finding.citations else ""
        hint = f"; {finding.hint}" if finding.hint and finding.hint not in given else ""
        given.add(finding.hint)
        yield f"{finding.message}{cited}{hint}"


def other_counts(analysis: Analysis) -> str:
    """The headline under the other ways of counting, where they make a difference."""
    if not analysis.sensitivity:
        return ""
    first, *others = analysis.sensitivity
    moved = [v for v in others if v.metric.value is not None and v.metric.value != first.metric.value]
    values = {way_of_counting(v): value_words(v.metric, rate=is_rate(analysis)) for v in moved}
    told = [f"{value} {way}" for way, value in values.items()]
    if len(told) == len(others):
        told[-1] = f"{list(values.values())[-1]} both"
    return " · ".join(told)


def way_of_counting(variant: Variant) -> str:
    ways = []
    if variant.added_failures:
        ways.append(f"if {count(variant.added_failures)} missing or unscored had failed")
    if variant.removed_rows:
        ways.append(f"without {plural(variant.removed_rows, 'infrastructure failure')}")
    return " and ".join(ways)


def file_lines() -> list[RenderableType]:
    """What each file of a diagnosis is for."""
    table = grid("", "")
    for name, meaning in FILES:
        table.add_row(Text(name, "cyan"), Text(meaning, "dim"))
    return [table]


class Look(NamedTuple):
    """How a bucket is drawn: by a sign of its own beside its colour, so that a bar reads without colours too."""

    name: str
    sign: str
    style: str


LOOKS = (
    Look("always", "█", "green"),
    Look("sometimes", "▒", "yellow"),
    Look("never", "░", "red"),
    Look("missing", "·", "dim"),
)


def bucket_bar(analysis: Analysis, *, width: int) -> Group:
    """The bar, and under it what its signs mean and how many tasks each stands for."""
    sizes = [len(getattr(analysis.buckets, look.name)) for look in LOOKS]
    return Group(bar(sizes, width=width), legend(sizes))


def bar(sizes: Sequence[int], *, width: int) -> Text:
    """The bar alone."""
    text = Text()
    for look, cells in zip(LOOKS, share_cells(sizes, width), strict=True):
        text.append(look.sign * cells, look.style)
    return text


def legend(sizes: Sequence[int]) -> Text:
    """What each sign means; buckets without a task are named too, except missing."""
    text = Text()
    for look, size in zip(LOOKS, sizes, strict=True):
        if size or look.name != "missing":
            text.append(f"{look.sign} ", look.style).append(f"{look.name} {count(size)}   ")
    text.rstrip()
    return text


def share_cells(sizes: Sequence[int], width: int) -> list[int]:
    """Cells for each size in proportion, by largest remainder; what exists gets at least one."""
    total = sum(sizes)
    if total == 0 or width <= 0:
        return [0] * len(sizes)
    exact = [size * width / total for size in sizes]
    cells = [max(int(share), 1 if size else 0) for share, size in zip(exact, sizes, strict=True)]
    while sum(cells) != width:
        step = 1 if sum(cells) < width else -1
        movable = [i for i, size in enumerate(sizes) if size and (step > 0 or cells[i] > 1)]
        if not movable:
            break
        cells[max(movable, key=lambda i: step * (exact[i] - cells[i]))] += step
    return cells
