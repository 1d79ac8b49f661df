"""A run in one screen: its headline, its buckets, what to mind, what was seen, and what to read first.

Everything here is laid out from the Analysis; nothing is computed but which of its lines matter most.
"""

from collections.abc import Iterator

from rich.console import Console, RenderableType
from rich.text import Text

from blade.cli.bars import bucket_bar
from blade.cli.highlights import (
    cause_lines,
    fix_lines,
    grid,
    mode_lines,
    pattern_lines,
    predictor_lines,
    reading_lines,
    signal_lines,
    slice_lines,
)
from blade.cli.terminal import foreign, indented, put
from blade.diagnosis.analysis import Analysis, Count, Coverage, headline_of
from blade.metrics import Variant
from blade.report.headline import interval_words, is_rate, value_words
from blade.report.numbers import count, percent, plural, signed_pp
from blade.report.page.run_page import PAGE
from blade.report.text import one_line
from blade.report.workspace import ANALYSIS, LABELS, READING_LIST, REPORT, Workspace
from blade.rollouts.table import examples

MOST_FINDINGS = 6
BAR_WIDTH = 64
WORDS = {"pass_at_1": "pass@1", "mean_reward": "mean reward"}
NO_BUCKETS = {
    "continuous": "Rewards are graded, so no task is in a bucket; state a rule, as in --success 'reward >= 0.5'.",
    "unscored": "No rollout has a score; name its field with --reward-field.",
}
FILES = (
    (PAGE, "the report to look at, with every rollout: open it in a browser"),
    (REPORT, "the report as text"),
    (READING_LIST, "what to read, in order"),
    (LABELS, "why tasks fail: drafts to confirm with `blade label`"),
    (ANALYSIS, "everything, for programs"),
)


def print_summary(console: Console, workspace: Workspace) -> None:
    """The whole screen; sections with nothing to say are left out."""
    analysis, folder = workspace.analysis, str(workspace.folder)
    put(console, *opening(analysis, width=console.width))
    print_section(console, "Mind", cautions(analysis))
    print_section(console, "What goes with failing", mode_lines(analysis))
    if analysis.pack is not None:
        print_section(console, f"How rollouts fail (pack {one_line(analysis.pack.name)})", pattern_lines(analysis))
    print_section(console, "Seen in rollouts", signal_lines(analysis))
    print_section(console, "What tells tasks apart", predictor_lines(analysis))
    print_section(console, "Where it differs", slice_lines(analysis))
    print_section(console, "Causes so far", cause_lines(analysis))
    print_section(console, "Worth fixing", fix_lines(analysis))
    print_section(console, "Read first", reading_lines(analysis, folder))
    print_section(console, f"Files in {one_line(folder)}", file_lines())


def print_section(console: Console, title: str, lines: list[RenderableType]) -> None:
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
    """pass@k and pass^k for the largest k that was measured."""
    metrics = analysis.metrics
    parts = [
        f"{name}{k} {percent(metric.value)}"
        for name, by_k in (("pass@", metrics.pass_at_k), ("pass^", metrics.pass_pow_k))
        for k, metric in list(by_k.items())[-1:]
        if metric.value is not None and k != "1"
    ]
    if parts and metrics.retry_value.value is not None:
        parts.append(f"retrying adds {signed_pp(metrics.retry_value.value)}")
    return Text("   ".join(parts), "dim")


def bucket_lines(analysis: Analysis, *, width: int) -> Iterator[RenderableType]:
    """The bar of buckets; or why there is none."""
    if analysis.success.kind in ("binary", "rule"):
        yield Text()
        yield bucket_bar(analysis, width=min(width - 4, BAR_WIDTH))
        return
    yield Text(NO_BUCKETS[analysis.success.kind], "yellow")


def cautions(analysis: Analysis) -> list[RenderableType]:
    """What is wrong with the data, the infrastructure or the verifier."""
    said = [*finding_lines(analysis), *analysis.inputs.notes[:MOST_FINDINGS]]
    return [indented(Text(one_line(line, 400))) for line in said]


def finding_lines(analysis: Analysis) -> Iterator[str]:
    """Each finding with a place to look; advice that several share is given once."""
    given: set[str] = set()
    for finding in analysis.health[:MOST_FINDINGS]:
        cited = f" ({finding.citations[0]})" if finding.citations else ""
        hint = f"; {finding.hint}" if finding.hint and finding.hint not in given else ""
        given.add(finding.hint)
        yield f"{finding.message}{cited}{hint}"
    if (hidden := len(analysis.health) - MOST_FINDINGS) > 0:
        yield f"… and {plural(hidden, 'more finding')} in {REPORT}"


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
