"""Everything computed about a base and a candidate: the value behind `comparison.json`, its report and its summary.

The Structs here are the file's schema (`blade/schemas/comparison.schema.json` is generated from them). A difference is
always candidate minus base, so that above zero is better. With more than two runs the same value stands for the first
two, and once more for every pair under `pairs`.
"""

from typing import Literal

import msgspec

from blade.metrics import Interval, Metric, Success
from blade.metrics.rounding import fixed
from blade.rollouts.card import card

SCHEMA_VERSION = "1.0"
MAX_LISTED = 50

Verdict = Literal["improved", "regressed", "tied"]


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two runs, as far as the comparison is concerned."""

    run: str
    """Name of the run; made different from the other's."""
    files: list[str]
    """Names of its files."""
    headline: Metric
    """The run's own headline, over all its scored tasks, as `blade diagnose` prints it."""
    paired: float
    """The same over the paired tasks alone."""
    tasks: int
    """Tasks, those without a rollout included."""
    rollouts: int
    """Rollouts there are."""
    paired_rollouts: int
    """Scored rollouts of the paired tasks."""
    not_in_other: int
    """Tasks that the other run does not know."""
    not_in_other_tasks: list[str]
    """Which; at most `MAX_LISTED`."""
    only_scored_here: int
    """Tasks both runs know but of which only this run has a scored rollout."""
    only_scored_here_tasks: list[str]
    """Which; at most `MAX_LISTED`."""


class Delta(msgspec.Struct, frozen=True, kw_only=True):
    """A difference of means over the same tasks, candidate minus base."""

    value: float
    """Mean over tasks of (candidate's task mean − base's task mean)."""
    tasks: int
    """Tasks it is taken over."""
    se: float | None = None
    """Standard error from the tasks' differences; `None` when one task or cluster was seen."""
    ci95: Interval | None = None
    """95 % interval."""
    p_value: float
    """Sign-flip permutation test, two-sided."""
    p_method: Literal["exact", "simulated"] = "exact"
    """Whether every assignment of signs was counted, or a fixed sample of them."""


class McNemar(msgspec.Struct, frozen=True, kw_only=True):
    """Paired tasks by who passes them; a task passes when more than half of its scored rollouts do."""

    both: int
    """Pass in both runs."""
    only_base: int
    """Pass in the base alone."""
    only_candidate: int
    """Pass in the candidate alone."""
    neither: int
    """Pass in none."""
    p_value: float
    """Exact two-sided binomial test of the two middle counts."""


class Settling(msgspec.Struct, frozen=True, kw_only=True):
    """What it would take to tell the observed difference from none: 80 % power, two-sided 5 %."""

    tasks: int | None
    """Tasks in all, at today's repeats; `None` when no difference was observed."""
    repeats: int | None
    """Repeats per task and run in all, with today's tasks; `None` when no number would do or the rows cannot tell."""
    floor: float | None
    """Smallest standard error that more repeats can reach; `None` when the rows cannot tell."""
    sentence: str
    """The same in words."""


PartKind = Literal["task_set", "missing", "infrastructure", "verifier", "behaviour", "unexplained"]


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One part of the change of the headline; the parts add up to the whole."""

    part: str
    """Short name."""
    kind: PartKind
    """Whose doing it is, if it is the cause."""
    title: str
    """What it is, in words."""
    value: float
    """Its contribution, above zero when it helped the candidate."""
    ci95: Interval | None
    """95 % interval; `None` when nothing of it was seen in either run."""
    share: float | None
    """Its share of the whole change; `None` when the headline did not change."""
    base_loss: float | None = None
    """Score lost to it in the base, over the paired tasks; `None` where no loss is counted."""
    candidate_loss: float | None = None
    """Score lost to it in the candidate."""
    base_rollouts: int | None = None
    """Rollouts of the base it is charged with."""
    candidate_rollouts: int | None = None
    """Rollouts of the candidate it is charged with."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """The change of the headline that the parts add up to."""

    base: float
    """Headline of the base."""
    candidate: float
    """Headline of the candidate."""
    value: float
    """Their difference."""


class Counting(msgspec.Struct, frozen=True, kw_only=True):
    """The change of the headline under one way of counting."""

    missing: Literal["excluded", "as_failures"]
    """What happened to expected rollouts without an outcome."""
    infrastructure: Literal["included", "excluded"]
    """What happened to infrastructure failures."""
    base: float | None
    """Headline of the base, counted so."""
    candidate: float | None
    """Headline of the candidate, counted so."""
    value: float | None
    """Their difference."""


class LevelChange(msgspec.Struct, frozen=True, kw_only=True):
    """What changed at one level of a field."""

    level: str
    """The field's value."""
    base: float | None
    """Mean of the base over the paired tasks of this level."""
    candidate: float | None
    """Mean of the candidate over the same tasks."""
    delta: Delta | None
    """Their difference; `None` when no task of this level is paired."""
    p_holm: float | None
    """The difference's p, adjusted for the number of levels."""
    base_tasks: int
    """Scored tasks of the base at this level, paired or not."""
    candidate_tasks: int
    """Scored tasks of the candidate at this level, paired or not."""
    base_own: float | None
    """Mean of the base over those."""
    candidate_own: float | None
    """Mean of the candidate over those."""


class SliceChange(msgspec.Struct, frozen=True, kw_only=True):
    """The change cut by one field."""

    field: str
    """The field."""
    asked: bool
    """Whether the user asked for it; otherwise it was found."""
    levels: list[LevelChange]
    """One entry per value."""
    unassigned: int
    """Paired tasks that belong to no level."""
    standardised: float | None
    """Mean over levels of their own changes, weighted by the tasks of both runs: the change at one and the same mix."""
    simpson: bool
    """Whether the headline moved against every level, or against the change at one and the same mix."""


class Failing(msgspec.Struct, frozen=True, kw_only=True):
    """What the failing rollouts of a task are charged to."""

    part: str
    """Short name of the part."""
    title: str
    """The part in words."""
    rollouts: int
    """How many rollouts."""


class DriverSide(msgspec.Struct, frozen=True, kw_only=True):
    """A task in one of the runs."""

    c: int | None
    """Rollouts that succeeded; `None` without a success rule."""
    n: int
    """Rollouts with a known score."""
    mean: float
    """Their mean score."""
    bucket: str | None
    """Where the task falls; `None` without a success rule."""
    citation: str
    """The rollout to read."""


class Driver(msgspec.Struct, frozen=True, kw_only=True):
    """A task that moved."""

    task: str
    """Task key."""
    direction: Literal["regressed", "improved"]
    """Which way."""
    base: DriverSide
    """In the base."""
    candidate: DriverSide
    """In the candidate."""
    delta: float
    """Candidate's mean minus base's."""
    contribution: float
    """What it moves the difference over all paired tasks by."""
    failing: list[Failing] = []
    """What the worse side's failing rollouts are charged to, most first."""


class ConfigChange(msgspec.Struct, frozen=True, kw_only=True):
    """Something the rows state differently about how the runs were made."""

    aspect: str
    """What kind of thing: model, agent, sampling, prompt, tools, skills, verifier, dataset or other."""
    name: str
    """The field, or what was compared."""
    base: list[str]
    """What the base states."""
    candidate: list[str]
    """What the candidate states."""


class Rank(msgspec.Struct, frozen=True, kw_only=True):
    """One run among several."""

    run: str
    """Name of the run."""
    rank: int
    """One more than the number of runs that are better for certain."""
    value: float
    """Mean over the tasks that every run has scored; over its own tasks when there are none."""
    tasks: int
    """How many every run has scored."""
    better_than: list[str]
    """Runs it beats after Holm's adjustment."""
    worse_than: list[str]
    """Runs that beat it."""
    tied_with: list[str]
    """Runs it cannot be told from."""
    groups: str
    """Letters; runs that share one cannot be told apart."""


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """What changed from a base to a candidate, and what can be said about why."""

    schema_version: str = SCHEMA_VERSION
    """Version of this format."""
    base: Side
    """The run compared with."""
    candidate: Side
    """The run that is judged."""
    metric: Literal["pass_at_1", "mean_reward"]
    """Which headline is compared."""
    success: Success
    """When a rollout counts as a success, in every run alike."""
    paired_tasks: int
    """Tasks with a scored rollout in both runs."""
    clusters: int | None = None
    """Clusters the paired tasks fall into, when they do."""
    delta: Delta
    """The difference over the paired tasks."""
    verdict: Verdict
    """Improved or regressed when p is below 0.05 and the interval excludes 0; in `pairs`, by the adjusted p."""
    sentence: str
    """The verdict in words."""
    is_copy: bool
    """Whether both hold the same rollouts."""
    mde: float | None
    """Smallest difference this comparison would have seen with 80 % power at two-sided 5 %."""
    settling: Settling | None
    """What it would take to settle a tie; `None` when nothing is to be settled."""
    mcnemar: McNemar | None
    """Paired tasks by who passes them; `None` without a success rule."""
    change: Change
    """The change of the headline, unpaired tasks included."""
    decomposition: list[Part]
    """Parts of that change; they add up to it."""
    countings: list[Counting]
    """The same change under four ways of counting missing and infrastructure."""
    transitions: dict[str, dict[str, int]]
    """Tasks both runs know, by bucket in the base and then in the candidate; empty without a success rule."""
    slices: list[SliceChange]
    """The change cut by fields both runs have."""
    drivers: list[Driver]
    """Tasks that moved, regressions first; the largest of each direction."""
    regressed_tasks: int
    """Paired tasks that did worse."""
    improved_tasks: int
    """Paired tasks that did better."""
    config_changes: list[ConfigChange]
    """What the rows state differently."""
    config_same: list[str]
    """Aspects the rows state alike."""
    config_unknown: list[str]
    """Aspects that the rows of a run do not state."""
    warnings: list[str]
    """What a reader must know before believing the verdict."""
    p_holm: float | None = None
    """Among several pairs: p adjusted so that one false alarm among all is a 5 % chance (Holm 1979)."""
    p_bh: float | None = None
    """Among several pairs: p adjusted so that 5 % of alarms are false (Benjamini and Hochberg 1995)."""
    pairs: "list[Comparison] | msgspec.UnsetType" = msgspec.UNSET
    """Every pair of runs; only with more than two."""
    ranking: list[Rank] | msgspec.UnsetType = msgspec.UNSET
    """The runs, best first; only with more than two."""

    def __repr__(self) -> str:
        return (
            f"Comparison({self.candidate.run!r} against {self.base.run!r}, {self.verdict}, {signed(self.delta.value)})"
        )

    def _repr_html_(self) -> str:
        ends = self.delta.ci95
        return card(
            f"{self.candidate.run} against {self.base.run}: {self.verdict}",
            [
                ("difference", signed(self.delta.value) + (f" [{signed(ends[0])}, {signed(ends[1])}]" if ends else "")),
                ("p", f"{self.delta.p_value:.3g}"),
                ("paired tasks", str(self.paired_tasks)),
                ("did worse, did better", f"{self.regressed_tasks}, {self.improved_tasks}"),
            ],
        )


def signed(value: float) -> str:
    return fixed(value, 3, signed=True)


DECODER = msgspec.json.Decoder(Comparison)
