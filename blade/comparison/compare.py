"""Two or more diagnosed runs in, everything that can be said about their difference out."""

from collections.abc import Sequence
from itertools import combinations

import msgspec
import numpy as np

from blade.comparison.comparison import Comparison
from blade.comparison.configuration import compare_configurations, describe_configuration
from blade.comparison.decomposition import count_in_four_ways, decompose
from blade.comparison.difference import estimate_delta, spread_of
from blade.comparison.losses import find_losses
from blade.comparison.movement import DriverFinder, count_majorities, transitions
from blade.comparison.pairing import alike, as_graded, describe_sides, pair
from blade.comparison.ranking import distinct_names, rank_runs
from blade.comparison.slicing import slice_changes
from blade.comparison.verdict import decide, pairing_warnings, say_verdict, score_warnings, settle_tie, slice_warnings
from blade.diagnosis import Diagnosed
from blade.errors import UsageError
from blade.metrics import Success
from blade.metrics.adjusting import benjamini_hochberg, holm
from blade.rollouts.copies import is_copy

COPIED = "tied: the candidate holds the base's own rollouts"
COPY_WARNING = "both runs hold the same rollouts: a copy is not a second measurement"
GRADED = "at least one run has rewards other than 0 and 1, so the mean reward of all is compared"


class CompareOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a user can say about how runs are compared."""

    slices: tuple[str, ...] = ()
    """Fields to cut the change by, besides those that both diagnoses found or were asked for."""
    drivers: int = 20
    """Most tasks listed in each direction."""


def compare(
    base: Diagnosed,
    candidate: Diagnosed,
    options: CompareOptions | None = None,
    *,
    rng: np.random.Generator | None = None,
) -> Comparison:
    """What changed from the base to the candidate.

    Args:
        rng: draws signs where they are too many to count; by default always the same.

    Raises:
        UsageError: no task is scored in both, or the runs were judged by different rules.
    """
    options = options or CompareOptions()
    base, candidate = alike(base, candidate)
    graded, pairing = base.outcomes.is_continuous, pair(base.outcomes, candidate.outcomes)
    differences, cluster = pairing.differences, pairing.paired_cluster
    delta = estimate_delta(differences, cluster=cluster, scale=pairing.scale, rng=rng)
    spread = spread_of(differences, cluster=cluster, scale=pairing.scale)
    mde = None if spread is None or spread.mde > spread.limit else spread.mde  # none that there can be would be seen
    verdict = decide(delta)
    sides = describe_sides(base, candidate, pairing)
    ledger = find_losses(base, candidate, pairing)
    change, parts = decompose(pairing, ledger)
    slices = slice_changes(base, candidate, pairing, change, asked=options.slices)
    found, copied = compare_configurations(base, candidate, pairing), is_copy(base.run, candidate.run)
    return Comparison(
        base=sides[0],
        candidate=sides[1],
        metric="mean_reward" if graded else "pass_at_1",
        success=common_success(base, candidate),
        paired_tasks=len(differences),
        clusters=None if cluster is None else pairing.units,
        delta=delta,
        verdict=verdict,
        sentence=COPIED if copied else say_verdict(verdict, delta, mde=mde, is_rate=not graded),
        is_copy=copied,
        mde=mde,
        settling=settle_tie(pairing, delta.value, spread) if verdict == "tied" and not copied else None,
        mcnemar=None if graded else count_majorities(pairing),
        change=change,
        decomposition=parts,
        countings=count_in_four_ways(base.outcomes, candidate.outcomes),
        transitions={} if graded else transitions(pairing),
        slices=slices,
        drivers=DriverFinder(base, candidate, pairing, ledger).find(options.drivers),
        regressed_tasks=int((differences < 0).sum()),
        improved_tasks=int((differences > 0).sum()),
        config_changes=found.changes,
        config_same=found.same,
        config_unknown=found.unknown,
        warnings=[
            *([COPY_WARNING] if copied else []),
            *score_warnings(base, candidate),
            *pairing_warnings(*sides, units=pairing.units, is_rate=not graded),
            *slice_warnings(slices),
            *describe_configuration(found),
        ],
    )


def common_success(base: Diagnosed, candidate: Diagnosed) -> Success:
    """How success is decided in both."""
    stated = base.analysis.success
    if base.outcomes.is_continuous and (stated.kind != "continuous" or candidate.analysis.success.kind != "continuous"):
        return Success(kind="continuous", rule=None, source=GRADED)
    return stated


def compare_many(
    runs: Sequence[Diagnosed], options: CompareOptions | None = None, *, rng: np.random.Generator | None = None
) -> Comparison:
    """The first run against the second, as a pair chosen in advance; with more than two, every pair besides, adjusted
    for their number, and a ranking.

    Raises:
        UsageError: fewer than two runs, or what `compare` raises for any pair of them.
    """
    if len(runs) < 2:
        raise UsageError(f"a comparison takes at least two runs, and there {'is one' if runs else 'are none'}.")
    runs, options = with_distinct_names(judged_alike(runs)), options or CompareOptions()
    if len(runs) == 2:
        return compare(runs[0], runs[1], options, rng=rng)
    places = list(combinations(range(len(runs)), 2))
    plain = [compare(runs[i], runs[j], options, rng=rng) for i, j in places]
    pairs = adjusted(plain)
    ranking = rank_runs(
        [run.outcomes for run in runs], [run.run.name for run in runs], dict(zip(places, pairs, strict=True))
    )
    return msgspec.structs.replace(plain[0], pairs=pairs, ranking=ranking)


def adjusted(pairs: list[Comparison]) -> list[Comparison]:
    """The pairs with p adjusted for their number, and verdicts by Holm's."""
    plain = [pair.delta.p_value for pair in pairs]
    return [
        with_adjusted_p(pair, p_holm=p_holm, p_bh=p_bh)
        for pair, p_holm, p_bh in zip(pairs, holm(plain), benjamini_hochberg(plain), strict=True)
    ]


def with_adjusted_p(pair: Comparison, *, p_holm: float, p_bh: float) -> Comparison:
    verdict, is_rate = decide(pair.delta, p_holm), pair.metric == "pass_at_1"
    said = say_verdict(verdict, pair.delta, mde=pair.mde, is_rate=is_rate, p_holm=p_holm)
    sentence = pair.sentence if pair.is_copy else said
    return msgspec.structs.replace(pair, verdict=verdict, sentence=sentence, p_holm=p_holm, p_bh=p_bh)


def judged_alike(runs: Sequence[Diagnosed]) -> list[Diagnosed]:
    """All runs as graded when the rewards of any are and no rule was given."""
    kinds = {run.analysis.success.kind for run in runs}
    return [as_graded(run) for run in runs] if "continuous" in kinds and "rule" not in kinds else list(runs)


def with_distinct_names(runs: Sequence[Diagnosed]) -> list[Diagnosed]:
    names = distinct_names([run.run.name for run in runs])
    return [
        run._replace(run=msgspec.structs.replace(run.run, name=name)) for run, name in zip(runs, names, strict=True)
    ]
