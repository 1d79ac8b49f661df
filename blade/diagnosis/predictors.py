"""What predicts failing between tasks: the few splits of the tasks that explain most of how their rates differ.

Everything known about a task before it is tried may split the tasks in two: fields of its rows, what it expects, how
its request begins. Many splits are tried, so each is judged by the best of all splits of shuffled rates (Westfall &
Young 1993): when nothing predicts, something is said in one run of fifty. A second split is sought within
the parts of the first.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import msgspec
import numpy as np

from blade.metrics import Outcomes
from blade.metrics.intervals import mean_over_tasks
from blade.metrics.rounding import percent
from blade.metrics.values import Bools, Floats, Ints, Metric
from blade.rollouts.columns import Column, Level, codes_in, level_text
from blade.rollouts.identity import MADE
from blade.rollouts.table import RolloutTable
from blade.rollouts.values import Expected

Value = float | str | frozenset[str] | None


class Feature(NamedTuple):
    """Something known about tasks."""

    values: Sequence[Value]
    """What it may be; several may be the same."""
    place: Ints
    """Per task: which of the values it has."""


Features = Mapping[str, Feature]

SHUFFLES = 999
CHUNK = 100
MOST_CELLS = 2_000_000
"""Shuffles at a time, and the numbers they may have together."""
"""Shuffles at a time, to bound the memory they take."""
SURE = 0.02
FEWEST_TASKS = 20
SMALLEST_PART = 0.1
FEWEST_IN_PART = 5
MOST_CUTS = 8
"""Thresholds tried on a number."""
MOST_LEVELS = 40
WORTH_SAYING = 0.03
"""Share of the differences between tasks below which a split is not worth a sentence, however sure."""
WORD = re.compile(r"\w+")
FOREIGN = ("response.", "responses_create_params.", "agent_ref.", "_ng_", "skills_ref.")
"""Parts of rows that describe the request and its answer, not the task."""


class Predictor(msgspec.Struct, frozen=True, kw_only=True):
    """A split of the tasks that goes with how often they pass."""

    feature: str
    """What the tasks are split by."""
    rule: str
    """Which tasks are in the first part, as a clause about them."""
    inside: Metric
    """Rate of the tasks that the rule holds for."""
    outside: Metric
    """Rate of the others."""
    explained: float
    """Share of the differences between task rates that the split explains, in these tasks."""
    p_value: float
    """How often shuffled rates give a split as good, over all splits tried."""
    tried: int
    """Splits that were tried."""

    @property
    def sentence(self) -> str:
        """The finding with both rates and intervals."""
        total = self.inside.n + self.outside.n
        return (
            f"{self.inside.n} of {total} tasks {self.rule}: {rate(self.inside)} passed; "
            f"of the other {self.outside.n}, {rate(self.outside)}."
        )


class Turn(NamedTuple):
    """Something that an agent was given before it acted."""

    role: str | None
    text: str


class Split(NamedTuple):
    """A way to cut the tasks in two."""

    feature: str
    rule: str
    inside: Bools


def find_predictors(
    features: Features, outcomes: Outcomes, *, rng: np.random.Generator, most: int = 3
) -> list[Predictor]:
    """The best splits, one within the other; empty when nothing predicts better than chance."""
    totals = outcomes.totals(outcomes.scores)
    known = totals.known > 0
    rates = totals.sum[known] / totals.known[known]
    if len(rates) < FEWEST_TASKS or np.ptp(rates) < 1e-9:
        return []
    splits = [
        split for name, (values, place) in features.items() for split in splits_of(name, used_of(values, place[known]))
    ]
    splits = distinct(splits)
    found: list[Predictor] = []
    strata = np.zeros(len(rates), dtype=np.int64)
    while splits and len(found) < most:
        best, p_value = best_split(splits, rates, strata, rng)
        explained = share_explained(best.inside, rates)
        if p_value > SURE or explained < WORTH_SAYING:
            break
        rollouts = totals.known[known]
        found.append(
            Predictor(
                feature=best.feature,
                rule=best.rule,
                inside=part_rate(rates, rollouts, best.inside),
                outside=part_rate(rates, rollouts, ~best.inside),
                explained=explained,
                p_value=p_value,
                tried=len(splits),
            )
        )
        strata = strata * 2 + best.inside
        splits = [split for split in splits if split.feature != best.feature]
    return found


def best_split(splits: Sequence[Split], rates: Floats, strata: Ints, rng: np.random.Generator) -> tuple[Split, float]:
    """The split that explains most within strata, and how often shuffling within strata does as well."""
    cuts = np.array([split.inside for split in splits], dtype=np.float64)
    cuts -= means_within(cuts, strata)
    lengths = np.sqrt((cuts**2).sum(axis=1))
    cuts /= np.where(lengths > 1e-9, lengths, np.inf)[:, None]
    residual = rates - means_within(rates[None, :], strata)[0]
    scores = np.abs(cuts @ residual)
    best = int(np.argmax(scores))
    as_good = 0
    chunk = max(1, min(CHUNK, MOST_CELLS // len(rates)))
    for start in range(0, SHUFFLES, chunk):
        shuffled = shuffles(residual, strata, min(chunk, SHUFFLES - start), rng)
        as_good += int((np.abs(cuts @ shuffled).max(axis=0) >= scores[best] - 1e-12).sum())
        if (as_good + 1) / (SHUFFLES + 1) > SURE:
            break  # no further shuffle can make it better than chance
    return splits[best], (as_good + 1) / (SHUFFLES + 1)


def means_within(values: Floats, strata: Ints) -> Floats:
    """Per row and column: the row's mean over the stratum of the column."""
    _, member, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    sums = np.stack([np.bincount(member, weights=row) for row in values])
    return np.asarray((sums / sizes)[:, member])


def shuffles(values: Floats, strata: Ints, count: int, rng: np.random.Generator) -> Floats:
    """Columns of the values, each shuffled within strata."""
    order = np.argsort(rng.random((len(values), count)) + strata[:, None], axis=0)
    out = np.empty((len(values), count))
    out[np.argsort(strata, kind="stable")] = values[order]
    return out


def share_explained(inside: Bools, rates: Floats) -> float:
    """How much of the variance of rates lies between the two parts."""
    n, whole = int(inside.sum()), float(((rates - rates.mean()) ** 2).sum())
    gap = float(rates[inside].mean() - rates[~inside].mean())
    return n * (len(rates) - n) / len(rates) * gap**2 / whole


def part_rate(rates: Floats, rollouts: Ints, part: Bools) -> Metric:
    definition = "mean over these tasks of the share of rollouts that passed"
    return mean_over_tasks(rates[part], rollouts=int(rollouts[part].sum()), definition=definition)


def rate(metric: Metric) -> str:
    """`71.3 % [53.9 %, 84.6 %]`."""
    limits = "" if metric.ci95 is None else f" [{percent(metric.ci95[0])}, {percent(metric.ci95[1])}]"
    return "n/a" if metric.value is None else f"{percent(metric.value)}{limits}"


def used_of(values: Sequence[Value], place: Ints) -> Feature:
    """A feature of some tasks, without the values that none of them has."""
    used = codes_in(place)
    return Feature([values[code] for code in used.tolist()], np.searchsorted(used, place))


def splits_of(name: str, feature: Feature) -> Iterator[Split]:
    """Every way to cut tasks in two by one feature, with enough tasks on both sides."""
    tasks = len(feature.place)
    for cuts in (cuts_by_number, cuts_by_level, cuts_by_presence):
        for rule, inside in cuts(name, feature):
            if min(int(inside.sum()), tasks - int(inside.sum())) >= max(FEWEST_IN_PART, SMALLEST_PART * tasks):
                yield Split(name, rule, inside)


def cuts_by_number(name: str, feature: Feature) -> Iterator[tuple[str, Bools]]:
    """Up to a number, and above."""
    numbers = np.array([value if isinstance(value, float) else np.nan for value in feature.values])[feature.place]
    if np.isnan(numbers).any():
        return
    levels = np.unique(numbers)
    if len(levels) > MOST_CUTS:
        levels = np.unique(np.quantile(numbers, np.linspace(0, 1, MOST_CUTS + 2), method="inverted_cdf"))
    for level in levels[:-1]:
        limit = "no" if level == 0 else f"at most {level:g}"
        rule = f"have {limit} {name}" if level != numbers.min() or level == 0 else f"have {level:g} {name}"
        yield rule, numbers <= level


def cuts_by_level(name: str, feature: Feature) -> Iterator[tuple[str, Bools]]:
    """With a value, and without."""
    held = [value if isinstance(value, frozenset) else frozenset({value} - {None}) for value in feature.values]
    texts = [{level for level in levels if isinstance(level, str)} for levels in held]
    levels = sorted(set().union(*texts))
    is_set = any(isinstance(value, frozenset) for value in feature.values)
    for level in levels if len(levels) <= MOST_LEVELS else ():
        rule = f"have `{level}` among {name}" if is_set else f"have {name} `{level}`"
        yield rule, np.array([level in mine for mine in texts])[feature.place]


def cuts_by_presence(name: str, feature: Feature) -> Iterator[tuple[str, Bools]]:
    """With any value, and with none."""
    yield f"have {name}", np.array([value not in (None, frozenset()) for value in feature.values])[feature.place]


def distinct(splits: Sequence[Split]) -> list[Split]:
    """The splits without those that cut as an earlier one does, so that the plainest name stays."""
    seen: dict[bytes, Split] = {}
    for split in splits:
        side = split.inside if not split.inside[0] else ~split.inside
        seen.setdefault(side.tobytes(), split)
    return list(seen.values())


def task_features(expected: Expected | None, prompt: Sequence[Turn], tools: int) -> dict[str, Value]:
    """What one of its rollouts tells about a task before it is tried, plainest first."""
    asked = [turn.text for turn in prompt if turn.role == "user"]
    # What a simulated user says first is worded anew in each attempt; what it was told to ask for is the task.
    script = expected.script if expected is not None else None
    found: dict[str, Value] = {}
    if expected is not None and expected.calls is not None:
        names = [call.name for call in expected.calls]
        found |= {"expected changes": float(len(names)), "the tools expected": frozenset(names)}
    if expected is not None and expected.outputs is not None:
        found["texts to be said"] = float(len(expected.outputs))
    if expected is not None and expected.answers:
        found["characters in the expected answer"] = float(len(expected.answers[0]))
    if script:
        found["characters in the user's script"] = float(len(script))
    elif prompt:
        found["characters in the prompt"] = float(sum([len(turn.text) for turn in prompt]))
        found["messages in the prompt"] = float(len(prompt))
    if prompt:
        words = WORD.finditer((script or (asked[-1] if asked else ""))[:200].casefold())
        found["first words"] = " ".join([word[0] for word in islice(words, 2)]) or None
    if tools:
        found["tools offered"] = float(tools)
    return found


def features_by_task(known: Sequence[Mapping[str, Value]], place: Ints) -> dict[str, Feature]:
    """Features of tasks, by which of some descriptions is a task's; nothing is known of one whose place is -1."""
    names = dict.fromkeys(name for features in known for name in features)
    at = place % (len(known) + 1)  # what is not known stands last
    return {name: Feature([*(features.get(name) for features in known), None], at) for name in names}


def field_features(table: RolloutTable, outcomes: Outcomes) -> dict[str, Feature]:
    """Row fields that belong to tasks: the same in every attempt, also where attempts fared differently.

    Without such tasks nothing tells a task's field from a verdict, so there are none.
    """
    totals = outcomes.totals(outcomes.scores)
    scores = np.where(np.isnan(outcomes.scores), 0.0, outcomes.scores)
    squares = np.bincount(outcomes.task, weights=scores**2, minlength=len(outcomes.tasks))
    mixed = totals.known * squares - totals.sum**2 > 1e-9
    if mixed.sum() < FEWEST_IN_PART:
        return {}
    columns = {name: column.coded() for name, column in table.rows.columns.items()}
    constant = {name for name, column in columns.items() if is_constant_within(column, table.task)}
    results = {name.rpartition(".")[0] for name in columns if name not in constant}
    return {
        f"`{name}`": field_feature(column, table)
        for name, column in columns.items()
        if not name.startswith(FOREIGN)
        and name not in MADE
        and not ("." in name and name.rpartition(".")[0] in results)  # some of which never vary
        and np.ptp(column.values) > 0
        and name in constant
    }


def field_feature(coded: Column, table: RolloutTable) -> Feature:
    """What the first row of each task has in a field."""
    starts = np.searchsorted(table.task, np.arange(len(table.tasks) + 1))
    codes = np.full(len(table.tasks), -1)
    there = starts[1:] > starts[:-1]
    codes[there] = coded.values[starts[:-1][there]]
    return Feature([*map(value_of, coded.levels), None], codes % (len(coded.levels) + 1))


def is_constant_within(coded: Column, task: Ints) -> bool:
    """Whether all attempts at a task, whose rows stand together, have the same value as the one before."""
    return bool(((coded.values[1:] == coded.values[:-1]) | (task[1:] != task[:-1])).all())


def value_of(level: Level) -> Value:
    if isinstance(level, bool):
        return level_text(level)
    return float(level) if isinstance(level, int | float) else frozenset(level) if isinstance(level, tuple) else level
