"""What stands out in a run: signals, fields whose levels differ, causes, and what to read first."""

from typing import NamedTuple

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from blade.cli.terminal import command, indented
from blade.diagnosis.analysis import Analysis, Signal, SliceTable
from blade.diagnosis.labels import UNDECIDED
from blade.diagnosis.reading import reading_words
from blade.metrics import Slice
from blade.report.advice import DRAFTS, rests_on
from blade.report.dives import cause_words
from blade.report.headline import gain_words, is_rate, value_words
from blade.report.numbers import count, number, plural, points
from blade.report.text import one_line
from blade.report.workspace import READING_LIST, REPORT

MOST_SIGNALS = 5
MOST_SLICES = 4
MOST_MODES = 8
MOST_FIXES = 3
MOST_CAUSES = 8
MOST_TO_READ = 3
FEWEST_TASKS = 3
"""Tasks a level needs before its difference from others is worth a line."""


def pattern_lines(analysis: Analysis) -> list[RenderableType]:
    """The pack's error patterns most rollouts belong to; nothing without a pack that saw something."""
    seen = [] if analysis.pack is None else [pattern for pattern in analysis.pack.patterns if pattern.primary]
    if not seen:
        return []
    table = grid("", "rollouts", "tasks", "for example")
    for pattern in sorted(seen, key=lambda pattern: -pattern.primary)[:MOST_SIGNALS]:
        cited = Text(one_line(pattern.citations[0], 60), "cyan")
        table.add_row(Text(one_line(pattern.title)), Text(count(pattern.primary)), Text(count(pattern.tasks)), cited)
    return [table, *rest(len(seen) - MOST_SIGNALS, "pattern")]


def signal_lines(analysis: Analysis) -> list[RenderableType]:
    """The signals on most failing rollouts, each with a place to look."""
    failing = [signal for signal in analysis.signals if signal.failed]
    if not failing:
        return []
    has_verdicts = analysis.success.kind in ("binary", "rule")
    table = grid("", *(("failed", "passed") if has_verdicts else ("rollouts",)), "tasks", "for example")
    for signal in failing[:MOST_SIGNALS]:
        table.add_row(*signal_row(signal, has_verdicts=has_verdicts))
    return [table, *rest(len(failing) - MOST_SIGNALS, "signal")]


def signal_row(signal: Signal, *, has_verdicts: bool) -> list[Text]:
    numbers = [signal.failed, signal.passed] if has_verdicts else [signal.rollouts]
    cited = [*(c for c in signal.citations if "#" in c), *signal.citations, ""][0]
    return [Text(signal.title), *(Text(count(n)) for n in [*numbers, signal.tasks]), Text(one_line(cited, 60), "cyan")]


def slice_lines(analysis: Analysis) -> list[RenderableType]:
    """Fields whose levels differ by more than chance; those the user asked for come first, whatever they show."""
    cuts = [cut for cut in map(Cut.of, analysis.slices) if cut is not None]
    cuts = [cut for cut in cuts if cut.table.asked or not cut.may_be_chance]
    cuts.sort(key=lambda cut: (not cut.table.asked, -cut.apart))
    chosen = distinct(cuts)[:MOST_SLICES]
    if not chosen:
        return []
    table = grid("field", "lowest", "highest", "apart", numbers=False)
    for cut in chosen:
        table.add_row(*cut.row(rate=is_rate(analysis)))
    return [table]


class Cut(NamedTuple):
    """A field with the levels that are furthest apart, among those with enough tasks."""

    table: SliceTable
    lowest: Slice
    highest: Slice
    apart: float

    @classmethod
    def of(cls, table: SliceTable) -> "Cut | None":
        """The cut by a field; none when fewer than two of its levels can be compared."""
        known = [
            (s.headline.value, s) for s in table.levels if s.headline.value is not None and s.tasks >= FEWEST_TASKS
        ]
        known.sort(key=lambda pair: pair[0])
        if len(known) < 2:
            return None
        return cls(table, known[0][1], known[-1][1], known[-1][0] - known[0][0])

    @property
    def may_be_chance(self) -> bool:
        """Whether the two intervals overlap."""
        low, high = self.lowest.headline.ci95, self.highest.headline.ci95
        return low is None or high is None or low[1] >= high[0]

    def row(self, *, rate: bool) -> list[Text]:
        """The field, its extremes, and how far apart they are."""
        gap = points(self.apart) if rate else number(self.apart)
        text = Text(gap, "" if self.may_be_chance else "bold")
        if self.may_be_chance:
            text.append("  intervals overlap", "dim")
        return [
            Text(one_line(self.table.field, 40), "cyan"),
            *(level(s, rate=rate) for s in (self.lowest, self.highest)),
            text,
        ]


def level(part: Slice, *, rate: bool) -> Text:
    """A level with its headline and the tasks behind it."""
    return Text(f"{one_line(part.level, 24)} {value_words(part.headline, rate=rate)}").append(
        f" of {part.tasks}", "dim"
    )


def distinct(cuts: list[Cut]) -> list[Cut]:
    """The cuts without those that divide the tasks as an earlier one does, under another name."""
    seen: set[tuple[tuple[int, float | None], ...]] = set()
    out: list[Cut] = []
    for cut in cuts:
        parts = tuple(sorted(((s.tasks, s.headline.value) for s in cut.table.levels), key=repr))
        if parts not in seen or cut.table.asked:
            out.append(cut)
        seen.add(parts)
    return out


def mode_lines(analysis: Analysis) -> list[RenderableType]:
    """What goes with failing in this run, in its own words, each with a place to look."""
    if not analysis.modes:
        return []
    table = grid("", "failed", "passed", "tasks", "for example")
    for mode in analysis.modes[:MOST_MODES]:
        numbers = [Text(count(number)) for number in (mode.failed, mode.passed, len(mode.tasks))]
        table.add_row(Text(one_line(mode.title, 90)), *numbers, Text(one_line([*mode.citations, ""][0], 60), "cyan"))
    return [table, *rest(len(analysis.modes) - MOST_MODES, "mode")]


def predictor_lines(analysis: Analysis) -> list[RenderableType]:
    """What tells tasks that fail from tasks that pass."""
    return [indented(Text(one_line(predictor.sentence, 200))) for predictor in analysis.predictors]


def fix_lines(analysis: Analysis) -> list[RenderableType]:
    """What could be done, by what it would be worth if it worked perfectly; nothing that rests on unread drafts."""
    fixes = [fix for fix in analysis.interventions if rests_on(fix, analysis) != DRAFTS and fix.headroom.value]
    if not fixes:
        return []
    table = grid("", "at most", "tasks", "for example")
    for fix in fixes[:MOST_FIXES]:
        gain = gain_words(fix.headroom, rate=is_rate(analysis))
        cited = one_line([*fix.citations, ""][0], 60)
        table.add_row(Text(one_line(fix.what, 80)), Text(gain, "bold"), Text(count(fix.tasks)), Text(cited, "cyan"))
    return [table, *rest(len(fixes) - MOST_FIXES, "remedy", "remedies")]


def rest(hidden: int, noun: str, many: str = "") -> list[RenderableType]:
    """Where the others are, if there are any."""
    said = f"… and {plural(hidden, f'more {noun}', f'more {many}' if many else '')} in {REPORT}"
    return [indented(Text(said, "dim"))] if hidden > 0 else []


def cause_lines(analysis: Analysis) -> list[RenderableType]:
    """How many tasks each cause is held responsible for, and how many of these labels nobody has confirmed."""
    if not analysis.causes:
        return []
    tally: dict[str, int] = {}
    for cause in analysis.causes:
        tally[cause.label] = tally.get(cause.label, 0) + 1
    ordered = sorted(tally.items(), key=lambda pair: (-pair[1], pair[0]))
    table = grid("", "tasks", "")
    for label, tasks in ordered[:MOST_CAUSES]:
        table.add_row(Text(one_line(label, 20), "cyan"), Text(count(tasks)), Text(likely_cause(label), "dim"))
    read = f"{len(analysis.causes) - tally.get(UNDECIDED, 0)} decided, {tally.get(UNDECIDED, 0)} await a reader"
    return [table, *rest(len(ordered) - MOST_CAUSES, "cause"), indented(Text(read, "dim"))]


def likely_cause(label: str) -> str:
    """A label in words: `BI+UK?` is a draft of a behavioural issue and unreliable knowledge."""
    is_doubted = label.endswith("?") and label != UNDECIDED
    return f"{cause_words(label)}, perhaps" if is_doubted else cause_words(label)


def reading_lines(analysis: Analysis, folder: str) -> list[RenderableType]:
    """The commands that show the rollouts worth reading first."""
    lines: list[RenderableType] = []
    for item in analysis.reading_list[:MOST_TO_READ]:
        cited = item.read if len(item.read) == 2 else item.read[:1]
        lines.append(code_line(command(*reading_words(cited, folder))))
        lines.append(indented(Text(one_line(item.why, 200), "dim"), 4))
    if (hidden := len(analysis.reading_list) - MOST_TO_READ) > 0:
        lines.append(indented(Text(f"… and {plural(hidden, 'more task')} in {READING_LIST}", "dim")))
    return lines


def code_line(text: str) -> Text:
    """A command, never broken over lines."""
    return Text(f"  {text}", "bold cyan", no_wrap=True, overflow="ignore")


def grid(*titles: str, numbers: bool = True) -> Table:
    """A table without lines; columns between the first and the last hold numbers."""
    table = Table(box=None, show_header=any(titles), header_style="dim", padding=(0, 0, 0, 2))
    for index, title in enumerate(titles):
        is_number = numbers and 0 < index < len(titles) - 1
        table.add_column(title, justify="right" if is_number else "left", overflow="fold")
    return table
