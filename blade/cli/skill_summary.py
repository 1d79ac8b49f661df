"""What came of a trial of skills, in one screen: scores, cost and use of each variant, then who won which tasks."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
from rich.console import RenderableType
from rich.text import Text

from blade.cli.compare_summary import print_comparison
from blade.cli.summary import print_section
from blade.cli.terminal import foreign, grid, indented, make_console, print_json, put
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
    for one, trial in zip(duels, trials[1:], strict=True):
        print_section(console, one_line(f"{one.variant} against {one.base}", 80), list(duel_lines(one, trial)))
    print_comparison(console, comparison, out)


def variant_table(trials: list[Trial]) -> RenderableType:
    """Every variant with its score, cost and use; costs are per rollout."""
    table = grid("variant", "pass@1", "95 % interval", "tokens in + out", "seconds", "skill opened", numbers=False)
    for trial in trials:
        table.add_row(
            foreign(one_line(trial.label, 30), "bold").append(f" {trial.hash}" if trial.hash else "", "dim"),
            Text(percent(trial.pass_rate.value), "bold cyan"),
            Text(interval(trial.pass_rate.ci95)),
            Text(f"{tokens(trial.input_tokens)} + {tokens(trial.output_tokens)}"),
            Text(seconds(trial.seconds)),
            Text(f"in {percent(trial.opened.value)}" if trial.hash else "no skills"),
        )
    return table


def duel_lines(one: Duel, trial: Trial) -> Iterator[RenderableType]:
    """Tasks won and lost, what it costs, and what was opened."""
    for word, names in (("better", one.wins), ("worse", one.losses)):
        listed = ", ".join(one_line(name, 30) for name in names[:LISTED])
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        yield indented(
            Text(f"{word} on {plural(len(names), 'task')}{': ' if names else ''}").append(listed + more, "dim")
        )
    yield indented(Text(f"the same on {plural(one.same, 'task')}"))
    yield indented(
        Text(f"per rollout {extra_words(one.extra_tokens, 'tokens')}, {extra_words(one.extra_seconds, 's')}")
    )
    for path, rollouts in list(trial.files.items())[:LISTED]:
        yield indented(
            Text("opened ")
            .append_text(foreign(one_line(path, 60), "cyan"))
            .append(f" in {plural(rollouts, 'rollout')}")
        )
    if trial.hash and not trial.files:
        yield indented(
            Text("no file of its skills was ever opened: what changed is chance or the catalog's doing", "yellow")
        )
    elif one.unread_wins:
        yield indented(Text(f"{plural(one.unread_wins, 'win')} without a skill being opened", "yellow"))


def extra_words(metric: Metric, unit: str) -> str:
    """What it takes more, with its interval when there is one."""
    span = f" ({signed_amount_interval(metric.ci95)})" if metric.ci95 else ""
    return f"{signed_amount(metric.value)} {unit}{span}"
