"""What came of a trial of skills, in one screen: scores, cost and use of each variant, then who won which tasks."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
from rich.console import RenderableType
from rich.text import Text

from blade.cli.compare_summary import print_comparison
from blade.cli.highlights import grid
from blade.cli.summary import print_section
from blade.cli.terminal import foreign, indented, make_console, print_json, put
from blade.comparison import Comparison
from blade.evals.variants import Duel, Trial, duel
from blade.metrics.values import Metric
from blade.report.numbers import interval, percent, plural, seconds, signed_amount, signed_amount_interval, tokens
from blade.report.text import one_line

LISTED = 8
"""Tasks that are named per direction."""


def show_trials(trials: list[Trial], comparison: Comparison, out: Path, *, as_json: bool) -> None:
    """The trial for a person, or for a program."""
    duels = [duel(trials[0], trial) for trial in trials[1:]]
    if as_json:
        document = {"variants": trials, "duels": duels, "comparison": comparison}
        print_json(msgspec.json.encode(document))
        return
    console = make_console()
    put(console, variant_table(trials), Text())
    for one in duels:
        print_section(console, one_line(f"{one.variant} against {one.base}", 80), list(duel_lines(one)))
    print_comparison(console, comparison, out)


def variant_table(trials: list[Trial]) -> RenderableType:
    """Every variant with its score, cost and use."""
    columns = ("pass@1", "95 % interval", "tokens in", "tokens out", "seconds", "skill opened", "file opened most")
    table = grid("variant", *columns, numbers=False)
    for trial in trials:
        most = next(iter(trial.files.items()), None)
        table.add_row(
            foreign(one_line(trial.label, 40), "bold").append(f" {trial.hash}" if trial.hash else "", "dim"),
            Text(percent(trial.pass_rate.value), "bold cyan"),
            Text(interval(trial.pass_rate.ci95)),
            Text(tokens(trial.input_tokens)),
            Text(tokens(trial.output_tokens)),
            Text(seconds(trial.seconds)),
            Text(percent(trial.opened.value) if trial.hash else "no skills"),
            foreign(one_line(f"{most[0]} ({most[1]})" if most else "", 60), "dim"),
        )
    return table


def duel_lines(one: Duel) -> Iterator[RenderableType]:
    """Tasks won and lost, and what it costs."""
    for word, names in (("better", one.wins), ("worse", one.losses)):
        listed = ", ".join(one_line(name, 30) for name in names[:LISTED])
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        yield indented(
            Text(f"{word} on {plural(len(names), 'task')}{': ' if names else ''}").append(listed + more, "dim")
        )
    yield indented(Text(f"the same on {plural(one.same, 'task')}"))
    if one.unread_wins:
        yield indented(Text(f"{plural(one.unread_wins, 'win')} without the skill ever being opened", "yellow"))
    yield indented(Text(f"{extra_words(one.extra_tokens)} tokens and {extra_words(one.extra_seconds)} s per rollout"))


def extra_words(metric: Metric) -> str:
    """What it takes more, with its interval when there is one."""
    span = f" {signed_amount_interval(metric.ci95)}" if metric.ci95 else ""
    return f"{signed_amount(metric.value)}{span}"
