"""Failure modes: observations that go with failing in this run, each named in the run's own words.

Within tasks, Mantel-Haenszel over their rollouts; where no task has both outcomes with and without the observation, the
tasks are compared instead (a permutation test on their rates). All tests are adjusted together. What stands in passing
rollouts as often is boilerplate and says nothing; observations made in the same rollouts are one mode.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, get_args

import numpy as np

from blade.diagnosis.analysis import MAX_LISTED, Basis, Mirror, Mode, ObservationKind
from blade.diagnosis.headroom import ablate
from blade.diagnosis.noting import Incidence, Noted
from blade.diagnosis.observations import Observation, title_of
from blade.diagnosis.pairs import REPORTED, Trait
from blade.metrics import Interval, Metric, Outcomes
from blade.metrics.adjusting import benjamini_hochberg
from blade.metrics.stratified import odds_ratio, p_value
from blade.metrics.values import Floats, Ints
from blade.rollouts.columns import codes_in
from blade.rollouts.formats.format import bare
from blade.rollouts.formats.records import ERROR_FIELDS
from blade.rollouts.table import RolloutTable

BASES: tuple[Basis, ...] = get_args(Basis)
RANK = {kind: place for place, kind in enumerate(get_args(ObservationKind))}
DEFINING = frozenset({"difference", "ending", "test", "check"})
NO_ERROR = frozenset({"", "false", "none", "null", "0"})
OF_TASKS = frozenset({"call", "no_call", "tool_says", "field_text", "answer_form", "answer", "last_turn", "ends_on"})
"""Kinds that differ from task to task anyway: only within a task do they say anything."""
LEVEL = 0.05
"""Adjusted p-value up to which an observation counts as going with failing."""
FEWEST = 3
"""Failing rollouts an observation must be made in to be tested."""
MOSTLY = 0.75
"""Share of failures among the rollouts with a defining observation."""
SAME = 0.8
"""Share of failing rollouts two observations must have in common to be one mode."""
VERDICT = 0.98
"""A field that tells pass from fail this well both ways is the verdict itself."""
MOST_MODES = 60
MOST_ALSO = 5
MOST_CITED = MAX_LISTED
LONGEST_CODE = 60
MOST_TRAITS = 40
ENDING_CAUSES: dict[tuple[str, str], str] = {
    ("limit", ""): "BI",
    ("timeout", "agent"): "BI",
    **{(kind, "verifier"): "TI" for kind in ("error", "timeout", "limit")},
    **{(kind, "user"): "TI" for kind in ("error", "timeout", "limit")},
    **{(kind, origin): "IR" for kind in ("error", "timeout") for origin in ("model", "environment", "runner")},
    ("not_run", ""): "IR",
    ("cancelled", ""): "IR",
}
"""The root cause that an ending is, by its kind and whose doing it was: who ran out of what it was allowed to use did
so by its own doing; an agent's own error is anybody's."""

NO_CALL = Observation("difference", "no_call", "no tool was called although calls were expected")


class Within(NamedTuple):
    """How an observation and failing go together within tasks."""

    strata: int = 0
    """Tasks that have both outcomes, with and without the observation."""
    excess: float = 0.0
    """Failures with the observation beyond what chance within these tasks would give."""
    p: float | None = None
    ratio: float | None = None
    interval: Interval | None = None


class Tested(NamedTuple):
    """An observation with its figures."""

    observation: Observation
    seen: Incidence
    failing: Ints
    """Rows that did not pass."""
    basis: Basis
    within: Within
    p: float | None
    q: float | None = None
    also: tuple[Observation, ...] = ()
    """What was seen in the same rollouts."""


class Mined(NamedTuple):
    """What the observations of a run say about its failures."""

    modes: list[Tested]
    """What goes with failing, one for all that are made in the same rollouts, most failures first."""
    tested: list[Tested]
    """Everything that varies within tasks, with its figures."""


NOTHING_MINED = Mined([], [])


class Run2x2(NamedTuple):
    """What every test needs of a run."""

    task: Ints
    fails: Floats
    """Per row: 1 when it did not pass."""
    size: Floats
    """Per task: its rollouts."""
    failed: Floats
    """Per task: those that did not pass."""


def counts_of(outcomes: Outcomes) -> Run2x2:
    fails = (outcomes.success != 1.0).astype(np.float64)
    ones, width = np.ones(len(fails)), len(outcomes.tasks)
    return Run2x2(outcomes.task, fails, sums(outcomes.task, ones, width=width), sums(outcomes.task, fails, width=width))


def sums(places: Ints, weights: Floats, *, width: int = 0) -> Floats:
    """Sum of the weights at each place."""
    return np.bincount(places, weights=weights, minlength=width).astype(np.float64)


def mine(noted: Noted, outcomes: Outcomes) -> Mined:
    """What goes with failing among all that was observed."""
    if outcomes.is_continuous or not len(outcomes.task):
        return NOTHING_MINED
    run = counts_of(outcomes)
    found = [test(*one, run) for one in with_absences(noted, run)]
    tested = [one for one in found if one is not None]
    known = [one for one in tested if one.p is not None]
    adjusted = benjamini_hochberg([one.p for one in known if one.p is not None])
    judged = [one._replace(q=q) for one, q in zip(known, adjusted, strict=True)]
    judged += [one for one in tested if one.p is None]
    base = float(run.fails.mean())
    modes = [mode for one in judged if (mode := as_mode(one, run, base)) is not None]
    return Mined(distinct(without_verdicts(modes, run)), judged)


def without_verdicts(modes: list[Tested], run: Run2x2) -> list[Tested]:
    """The modes without checks that most failures fail and that differences in what was done tell in detail."""
    done = [one.failing for one in modes if one.observation.kind == "difference"]
    told = np.unique(np.concatenate(done)) if done else np.empty(0, dtype=np.int64)
    return [
        one
        for one in modes
        if one.observation.kind not in ("test", "check")
        or len(one.failing) < MOSTLY * run.fails.sum()
        or np.isin(one.failing, told).mean() < SAME
    ]


def with_absences(noted: Noted, run: Run2x2) -> Iterable[tuple[Observation, Incidence]]:
    """The observations, and of a tool that most rollouts call also that one does not.

    A rollout without any call misses every call that is expected: that is one thing, and not one for each tool.
    """
    idle = np.asarray(sorted(noted.idle - noted.talks), dtype=np.int64)
    for observation, seen in noted.observations.incidences():
        if observation.kind == "difference" and observation.subject.startswith("call_missing:"):
            kept = ~np.isin(seen.rows, idle)
            seen = Incidence(seen.rows[kept], seen.items[kept])
        if len(seen.rows):
            yield observation, seen
        if observation.kind == "call" and len(run.task) / 2 <= len(seen.rows) < len(run.task):
            yield (
                Observation("call", observation.subject, "not called"),
                nowhere_in(np.setdiff1d(np.arange(len(run.task)), seen.rows)),
            )
    if len(idle):
        yield NO_CALL, nowhere_in(idle)


def nowhere_in(rows: Ints) -> Incidence:
    """Something that is missing from rollouts, and so at none of their items."""
    return Incidence(rows, np.full(len(rows), -1, dtype=np.int64))


def test(observation: Observation, seen: Incidence, run: Run2x2) -> Tested | None:
    """An observation's figures; `None` when it is too rare to say anything."""
    failing = seen.rows[run.fails[seen.rows] == 1.0]
    if len(seen.rows) < (2 if is_defining(observation) else FEWEST):
        return None
    within = within_tasks(seen.rows, run)
    p, basis = within.p, BASES[0]
    if within.strata < FEWEST and observation.kind not in OF_TASKS:
        other = between_tasks(seen.rows, run)
        if other is not None and (p is None or other < p):
            p, basis = other, BASES[1]
    return Tested(observation, seen, failing, basis, within, p)


def is_defining(observation: Observation) -> bool:
    """Whether an observation that nearly only failing rollouts show is a failure mode without any test."""
    if observation.kind in DEFINING:
        return True
    names = set(map(bare, observation.subject.split(".")))
    is_error = observation.kind in ("field", "field_text") and not ERROR_FIELDS.isdisjoint(names)
    return is_error and observation.said.casefold() not in NO_ERROR


def as_mode(found: Tested, run: Run2x2, base: float) -> Tested | None:
    """The observation as a failure mode; `None` when it is boilerplate, chance or the verdict itself."""
    failing, rate = len(found.failing), len(found.failing) / len(found.seen.rows)
    defining = is_defining(found.observation)
    if failing < (2 if defining else FEWEST) or (rate <= base and base < 1.0):
        return None
    if is_mirror(found, float(run.fails.sum())):
        return None
    goes_along = found.basis != BASES[0] or found.within.excess > 0
    if goes_along and found.q is not None and found.q <= LEVEL:
        return found
    return found._replace(basis="by definition") if defining and rate >= MOSTLY else None


def is_mirror(found: Tested, fails: float) -> bool:
    """Whether an observation tells pass from fail so well that it is the verdict in other words."""
    failing, rate = len(found.failing), len(found.failing) / len(found.seen.rows)
    return rate >= VERDICT and failing >= covers(found.observation) * fails


def mirrors_of(mined: Mined, table: RolloutTable, outcomes: Outcomes) -> list[Mirror]:
    """Words in fields that stand for the verdict or the reason for it; numbers and flags only say it again."""
    fails = float((outcomes.success == 0.0).sum())
    found = [one for one in mined.tested if covers(one.observation) == VERDICT and is_mirror(one, fails)]
    return [
        Mirror(
            field=one.observation.subject,
            value=one.observation.said,
            failed=len(one.failing),
            passed=len(one.seen.rows) - len(one.failing),
            citations=table.citations(one.failing[:MAX_LISTED]),
        )
        for one in sorted(found, key=lambda one: (-len(one.failing), one.observation))
    ]


def covers(observation: Observation) -> float:
    """Share of all failures from which on a field's value is the verdict itself; numbers and flags often are."""
    if observation.kind != "field":
        return math.inf
    return VERDICT if any(map(str.isalpha, observation.said)) and observation.said not in ("true", "false") else MOSTLY


def within_tasks(rows: Ints, run: Run2x2) -> Within:
    """Mantel-Haenszel over tasks (see `metrics.stratified`), looking only at those where the observation was made."""
    tasks, place = np.unique(run.task[rows], return_inverse=True)
    a = sums(place, run.fails[rows])
    shown = sums(place, np.ones(len(rows)))
    b, c = shown - a, run.failed[tasks] - a
    n = run.size[tasks]
    d = n - a - b - c
    keep = ((a + b) * (c + d) * (a + c) * (b + d)) > 0
    a, b, c, d, n = (cell[keep] for cell in (a, b, c, d, n))
    if not len(n):
        return Within()
    excess = float((a - (a + b) * (a + c) / n).sum())
    variance = float(((a + b) * (c + d) * (a + c) * (b + d) / (n**2 * (n - 1))).sum())
    ratio, interval = odds_ratio(a, b, c, d, n)
    return Within(len(n), excess, p_value(excess, variance), ratio, interval)


def between_tasks(rows: Ints, run: Run2x2) -> float | None:
    """p of the correlation over tasks between how often a thing is seen and how often they fail, when positive.

    The variance is that of a random assignment of the rates to the tasks (Pitman 1937).
    """
    there = run.size > 0
    shown = np.bincount(run.task[rows], minlength=len(run.size))[there] / run.size[there]
    rate = run.failed[there] / run.size[there]
    spread = float(((shown - shown.mean()) ** 2).sum() * ((rate - rate.mean()) ** 2).sum())
    if len(shown) < FEWEST or spread <= 0:
        return None
    together = float(((shown - shown.mean()) * (rate - rate.mean())).sum())
    return math.erfc(together / math.sqrt(2 * spread / (len(shown) - 1))) if together > 0 else 1.0


def distinct(found: Sequence[Tested]) -> list[Tested]:
    """One for all that are made in the same failing rollouts, the most telling kind first."""
    ordered = sorted(
        found,
        key=lambda one: (RANK[one.observation.kind], -len(one.failing), not one.observation.subject, one.observation),
    )
    heads: list[tuple[Tested, set[int], list[Observation]]] = []
    for one in ordered:
        rows = set(one.failing.tolist())
        for _, known, also in heads:
            if len(rows & known) >= SAME * len(rows | known):
                also.append(one.observation)
                break
        else:
            heads.append((one, rows, []))
    heads.sort(key=lambda head: (-len(head[1]), RANK[head[0].observation.kind], head[0].observation))
    return [head._replace(also=tuple(also[:MOST_ALSO])) for head, _, also in heads[:MOST_MODES]]


def describe_modes(found: Sequence[Tested], table: RolloutTable, outcomes: Outcomes) -> list[Mode]:
    """The modes as they stand in the analysis, with what each costs."""
    codes = codes_of([one.observation for one in found])
    rows = {code: one.seen.rows for code, one in zip(codes, found, strict=True)}
    gains = {row.mode: row.gain for row in ablate(outcomes, rows)}
    return [describe(code, one, table, gains[code]) for code, one in zip(codes, found, strict=True)]


def describe(code: str, found: Tested, table: RolloutTable, gain: Metric) -> Mode:
    observation, seen = found.observation, found.seen
    return Mode(
        code=code,
        kind=observation.kind,
        subject=observation.subject,
        title=title_of(observation),
        basis=found.basis,
        failed=len(found.failing),
        passed=len(seen.rows) - len(found.failing),
        tasks=[table.tasks[task] for task in codes_in(table.task[found.failing]).tolist()],
        odds_ratio=found.within.ratio,
        ci95=found.within.interval,
        p_value=found.p,
        q_value=found.q,
        position=position_of(seen, table),
        also=[title_of(other) for other in found.also],
        cause=cause_of(observation),
        headroom=gain,
        citations=[table.citation(*place) for place in failing_places(found)[:MOST_CITED]],
    )


def failing_places(found: Tested) -> list[tuple[int, int]]:
    """Row and item (-1 for none) of each failing rollout that shows it."""
    chosen = np.isin(found.seen.rows, found.failing)
    return list(zip(found.seen.rows[chosen].tolist(), found.seen.items[chosen].tolist(), strict=True))


def position_of(seen: Incidence, table: RolloutTable) -> float | None:
    """Where in its rollouts an observation stands, as a share of their items; the median."""
    placed = seen.items >= 0
    items = table.rows.fact("items")[seen.rows[placed]]
    return float(np.median(seen.items[placed] / np.maximum(items - 1, 1))) if placed.any() else None


def proofs_in(mined: Mined) -> list[tuple[str, Tested]]:
    """Modes that are a cause in themselves and that no passing rollout of the run shows, with the cause."""
    found = [(cause_of(one.observation), one) for one in mined.modes if one.basis != "by definition"]
    return [(cause, one) for cause, one in found if cause is not None and len(one.failing) == len(one.seen.rows)]


def codes_of(observations: Sequence[Observation]) -> list[str]:
    """A short name for each, made of its own words; a second one of the same name gets a number."""
    codes: list[str] = []
    for one in observations:
        words = re.sub(r"[^a-z0-9]+", "-", title_of(one).casefold()).strip("-")[:LONGEST_CODE].strip("-")
        number = sum(code == words or code.rpartition("~")[0] == words for code in codes)
        codes.append(words if not number else f"{words}~{number + 1}")
    return codes


def cause_of(observation: Observation) -> str | None:
    """The root cause that a typed ending or a call against its schema is in itself; `None` for everything else."""
    if observation.kind == "ending":
        kind, _, origin = observation.subject.partition(", ")
        return ending_cause(kind, origin)
    return "BI" if observation.kind in ("invalid_call", "repeated_call", "no_call") else None


def ending_cause(kind: str, origin: str) -> str | None:
    """The root cause that an ending is, if it is one."""
    return ENDING_CAUSES.get((kind, origin), ENDING_CAUSES.get((kind, "")))


def verdict_fields(tested: Iterable[Tested], outcomes: Outcomes) -> Iterator[str]:
    """Fields that the outcome decides, wherever a row has them: the score under another name, or a part of it."""
    passed, failed = int((outcomes.success == 1.0).sum()), int((outcomes.success != 1.0).sum())
    levels: dict[str, list[tuple[int, int]]] = {}
    for one in tested:
        if one.observation.kind == "field":
            failing = len(one.failing)
            levels.setdefault(one.observation.subject, []).append((len(one.seen.rows) - failing, failing))
    for field, counts in levels.items():
        one_each = len(counts) == 2 and all(0 in pair for pair in counts) and counts[0].index(0) != counts[1].index(0)
        if one_each or (passed, 0) in counts or (0, failed) in counts:
            yield field


def traits_of(mined: Mined, table: RolloutTable, outcomes: Outcomes) -> list[Trait]:
    """What goes with failing or with passing within tasks, most certain first."""
    passed, failed = int((outcomes.success == 1.0).sum()), int((outcomes.success != 1.0).sum())
    scores = {*verdict_fields(mined.tested, outcomes)}
    chosen = [
        one
        for one in mined.tested
        if one.q is not None and one.q <= REPORTED and one.basis == BASES[0] and one.observation.subject not in scores
    ]
    chosen.sort(key=lambda one: (one.q, one.p, one.observation))
    return [
        Trait(
            trait=title_of(one.observation),
            favours="fail" if one.within.excess > 0 else "pass",
            tasks=one.within.strata,
            passing=(len(one.seen.rows) - len(one.failing), passed),
            failing=(len(one.failing), failed),
            odds_ratio=one.within.ratio,
            ci95=one.within.interval,
            p_value=one.p or 0.0,
            q_value=one.q or 0.0,
            examples=table.citations(one.failing[:1]),
        )
        for one in chosen[:MOST_TRAITS]
    ]
