"""Everything computed about one run: the value behind `analysis.json`, the report and the terminal summary.

The Structs here are the file's schema (`blade/schemas/analysis.schema.json` is generated from them). New fields carry
defaults; the meaning of old ones does not change without a new `SCHEMA_VERSION`.
"""

from typing import Literal

import msgspec

from blade.diagnosis.headroom import Headroom
from blade.diagnosis.labels import Candidate, Confidence, Evidence
from blade.diagnosis.pairs import Contrast
from blade.diagnosis.predictors import Predictor
from blade.metrics import Buckets, Interval, Metric, Metrics, Misplacement, Success, TaskResult, VarianceSplit, Variant
from blade.metrics.effort import Effort
from blade.metrics.prices import Cost
from blade.metrics.rounding import fixed
from blade.metrics.slices import Slice
from blade.rollouts import BadLine, Duplicate, Identity
from blade.rollouts.card import card

SCHEMA_VERSION = "2.0"


class SourceFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file that was read."""

    name: str
    """File name, without the machine's directories."""
    format: str
    """Format it was read as."""
    bytes: int
    """Size as stored."""
    rows: int
    """Rows that could be read."""
    sidecars: dict[str, str] = {}
    """Files found beside it, by kind."""


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """How many rollouts carry a value."""

    value: str | None
    """The value; `None` for rollouts that do not say."""
    rollouts: int
    """Rollouts that carry it."""


class PublishedCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One published metrics file, compared with what the rows give."""

    file: str
    """File name."""
    compared: int
    """Values that could be recomputed."""
    different: list[str] = []
    """Those that are not equal: name, published value, recomputed value."""
    not_recomputed: list[str] = []
    """Names of published values that need what the rows do not have."""


class Inputs(msgspec.Struct, frozen=True, kw_only=True):
    """What came in and how it was understood."""

    run: str
    """Name of the run."""
    files: list[SourceFile]
    """Files that were read."""
    identity: Identity
    """How rows were given their keys."""
    identity_sentence: str
    """The same in words."""
    reward_field: str | None
    """Field the score was taken from."""
    expected_from: str
    """What the number of expected rollouts rests on."""
    models: list[Count]
    """Models that answered."""
    agents: list[Count]
    """Harnesses that drove them."""
    bad_lines: list[BadLine]
    """Lines that could not be used; at most `MAX_LISTED` are listed, coverage counts them all."""
    duplicates: list[Duplicate]
    """Keys that several rows claim; at most `MAX_LISTED` are listed."""
    recovered_failures: int
    """Failed attempts that a later attempt replaced."""
    bad_scores: list[BadLine] = []
    """Rows whose score is not a number, which count as unscored; at most `MAX_LISTED` are listed."""
    published: list[PublishedCheck] = []
    """Published metrics, checked."""
    copies: list[str] = []
    """Runs read in the same call whose rollouts are a copy of this one's."""
    notes: list[str] = []
    """Anything else a reader must know."""
    guessed: list[str] = []
    """What was guessed about records in no known format, and what else was possible; empty when nothing was."""


MAX_LISTED = 200


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """What is there and what is not."""

    tasks: int
    """Tasks, those without a rollout included."""
    expected_rollouts: int
    """Rollouts there should be."""
    rollouts: int
    """Rollouts there are, each key once."""
    missing: int
    """Expected rollouts without a row."""
    duplicates: int
    """Rows not counted because another row has their key."""
    malformed: int
    """Lines that could not be used."""
    unscored: int
    """Rollouts without a score."""
    failed: int = 0
    """Rollouts that ended before a verdict of their own."""
    truncated: int = 0
    """Rollouts that ran out of tokens, turns or context."""
    infrastructure: int = 0
    """Rollouts not passed whose failure is infrastructure's."""


class SliceTable(msgspec.Struct, frozen=True, kw_only=True):
    """The run cut by one field."""

    field: str
    """The field."""
    asked: bool
    """Whether the user asked for it; otherwise it was found."""
    levels: list[Slice]
    """One entry per value."""


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """One stage of the funnel."""

    name: str
    """What a rollout has done when it is here."""
    rollouts: int | None
    """Rollouts that came this far; `None` when the rows cannot tell."""
    tasks: int | None
    """Tasks with at least one such rollout."""
    definition: str
    """How it is told from the rows."""
    lost: list[str] = []
    """Citations of rollouts that came to the stage before and no further; at most `MAX_LISTED`."""


SignalKind = Literal["infrastructure", "verifier", "behaviour"]


class Signal(msgspec.Struct, frozen=True, kw_only=True):
    """Something seen in rollouts that may explain failures."""

    code: str
    """Short name."""
    kind: SignalKind
    """Whose doing it is, if it is the cause."""
    title: str
    """What was seen, in words."""
    source: str
    """Fields or texts it was read from."""
    rollouts: int
    """Rollouts it was seen in."""
    passed: int
    """Those of them that passed: a signal is not a failure."""
    failed: int
    """Those of them that did not pass."""
    tasks: int
    """Tasks it was seen in."""
    citations: list[str]
    """Every rollout it was seen in, at the item where there is one."""


ObservationKind = Literal[
    "difference", "ending", "test", "check", "tool_error", "invalid_call", "no_call", "field_text", "field",
    "repeated_call", "tool_says", "call", "last_turn", "answer", "answer_form", "ends_on",
]  # fmt: skip
"""What was looked at, the most telling first: of two observations made in the same rollouts the first names them."""

Basis = Literal["within tasks", "between tasks", "by definition"]
"""`by definition`: a typed ending, a failed check or a difference from what is expected is part of the failure, however
few rollouts there are to test it on."""


class Mode(msgspec.Struct, frozen=True, kw_only=True):
    """Something that goes with failing in this run."""

    code: str
    """Short name, from its own words."""
    kind: ObservationKind
    """What it was seen in."""
    subject: str
    """The tool, field or test it is about; empty when it is about none."""
    title: str
    """What was seen, in the run's own words."""
    basis: Basis
    """How it is known to go with failing."""
    failed: int
    """Rollouts that did not pass and show it."""
    passed: int
    """Rollouts that passed and show it all the same."""
    tasks: list[str]
    """Tasks of the rollouts that did not pass and show it."""
    odds_ratio: float | None = None
    """Odds of failing with it against without, within tasks; `None` when it cannot be estimated."""
    ci95: Interval | None = None
    """95 % interval of the odds ratio."""
    p_value: float | None = None
    """Two-sided; `None` where it could not be tested."""
    q_value: float | None = None
    """The same, adjusted for everything that was tested."""
    position: float | None = None
    """Where in the rollout it stands, from 0 (beginning) to 1 (end); the median."""
    also: list[str] = []
    """What was seen in the same rollouts."""
    cause: str | None = None
    """Root cause that follows from it; `None` when only a reader can tell."""
    headroom: Metric | None = None
    """What the headline would gain at most if it went away."""
    citations: list[str] = []
    """Failing rollouts that show it, at the item; at most `MAX_LISTED`."""
    examples: list[Evidence] = []
    """A few of them with what stands there."""


FindingCause = Literal["DA", "IR", "TI"]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Something wrong with the data, the infrastructure or the verifier."""

    code: str
    """Short name."""
    cause: FindingCause
    """Which of the three."""
    message: str
    """What was seen."""
    rows: int
    """Rows concerned."""
    tasks: int = 0
    """Tasks concerned."""
    citations: list[str] = []
    """Where; at most `MAX_LISTED`."""
    hint: str = ""
    """What to do."""
    headline_without: float | None = None
    """The headline without these rows; `None` when it is not a matter of rows."""
    headline_repaired: float | None = None
    """The headline if these rows had passed; `None` when nothing says they would have."""


class DecisiveStep(msgspec.Struct, frozen=True, kw_only=True):
    """Where a rollout went wrong, claimed with its evidence."""

    citation: str
    """The item."""
    why: str
    """What shows it."""
    probability: float
    """How often such a claim was right on labelled failures."""


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """Why a task is not always passed, by the label in force."""

    task: str
    """Task key."""
    label: str
    """The cause; `?` when nothing is proven and a reader must decide, a trailing `?` when its author has doubts."""
    confidence: Confidence
    """How sure the author is."""
    author: str
    """Who says so."""
    reason: str
    """Why."""
    evidence: list[Evidence] = []
    """The proof."""
    candidates: list[Candidate] = []
    """Where nothing is proven: the causes it may be, most likely first; empty where nobody can say."""
    steps: list[DecisiveStep] = []
    """Where the cited rollouts went wrong; only those in which something shows it."""


class ReadingItem(msgspec.Struct, frozen=True, kw_only=True):
    """A task somebody should look at, and what to look at first."""

    task: str
    """Task key."""
    bucket: str
    """Its bucket."""
    why: str
    """What reading would decide."""
    read: list[str]
    """Citations, in reading order."""
    command: str
    """The command that shows them."""
    group: str = ""
    """What its failures have in common with those of other tasks; one reading says what to look for in the others."""


class Mirror(msgspec.Struct, frozen=True, kw_only=True):
    """A field whose value tells failing rollouts from passing ones: the verdict in other words, or the reason."""

    field: str
    """Its name."""
    value: str
    """What failing rollouts have there."""
    failed: int
    """Rollouts that did not pass and have it."""
    passed: int
    """Rollouts that passed and have it all the same."""
    citations: list[str]
    """Failing rollouts that have it; at most `MAX_LISTED`."""


class PatternSeen(msgspec.Struct, frozen=True, kw_only=True):
    """An error pattern of the pack, as seen in rollouts that did not pass."""

    code: str
    """Short name."""
    title: str
    """What was seen, in words."""
    cause: str | None
    """Root cause; `None` where only the task's other rollouts can tell."""
    intervention: str
    """What kind of work it calls for."""
    rollouts: int
    """Rollouts that show it."""
    primary: int
    """Those of them that no earlier pattern claims."""
    tasks: int
    """Tasks with a rollout that belongs to it."""
    passed: int | None
    """Rollouts that passed and show it all the same; `None` when that was not looked at."""
    citations: list[str]
    """Where it was seen, rollouts that belong to it first; at most `MAX_LISTED`."""
    by: list[Count] = []
    """Rollouts per value of the field the pattern is broken down by."""


class PackUse(msgspec.Struct, frozen=True, kw_only=True):
    """The taxonomy pack a diagnosis used."""

    name: str
    """Name of the pack."""
    title: str
    """The benchmark family it is for."""
    version: str
    """Its version."""
    why: str
    """What it was chosen by."""
    patterns: list[PatternSeen]
    """Its patterns that were seen, in the order in which they are tried."""
    failing: int
    """Rollouts patterns were looked for in."""
    unexplained: int
    """Those of them no pattern explains."""


Action = Literal[
    "data repair",
    "rerun",
    "verifier repair",
    "environment",
    "agent loop",
    "prompt",
    "sft",
    "rl",
    "documentation",
    "reading",
]


class Intervention(msgspec.Struct, frozen=True, kw_only=True):
    """Something that could be done, and what it would be worth at most."""

    action: Action
    """What kind of work it is."""
    target: str
    """The failure mode or cause it removes."""
    what: str
    """What to do, in words."""
    cause: str
    """The root cause it belongs to."""
    headroom: Metric
    """How much the headline would rise."""
    tasks: int
    """Tasks it would move."""
    rollouts: int
    """Failing rollouts it is about."""
    unseen_tasks: int = 0
    """Tasks it would also move, by an amount that cannot be seen: none of their rollouts is free of the mode."""
    citations: list[str] = []
    """A few of them."""
    in_tasks: list[str] = []
    """Tasks of these rollouts."""


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """Everything computed about one run."""

    schema_version: str = SCHEMA_VERSION
    """Version of this format."""
    inputs: Inputs
    """What came in."""
    coverage: Coverage
    """What is there and what is not."""
    success: Success
    """When a rollout counts as a success."""
    headline: Literal["pass_at_1", "mean_reward"]
    """Which metric speaks for the run."""
    metrics: Metrics
    """The named numbers."""
    sensitivity: list[Variant]
    """The headline under four ways of counting missing and infrastructure."""
    variance: VarianceSplit | None
    """Where the uncertainty comes from."""
    buckets: Buckets
    """Task keys by bucket."""
    misplacement: list[Misplacement]
    """How often this many repeats misjudge a task."""
    lowest_rate_behind_always: float | None
    """True rate that an always-pass task may still have."""
    tasks: list[TaskResult]
    """One result per task."""
    slices: list[SliceTable]
    """The run cut by fields."""
    cost: Cost | None = None
    """What the run cost in US dollars; `None` when nobody knows."""
    effort: list[Effort]
    """Tokens, steps and time of passing and failing rollouts."""
    pack: PackUse | None = None
    """The taxonomy pack of the benchmark's family; `None` when none fits."""
    funnel: list[Stage]
    """How far rollouts came, by the pack's stages where there is one."""
    signals: list[Signal]
    """What was seen in them, most failures first."""
    modes: list[Mode] = []
    """What goes with failing in this run, most failures first."""
    mirrors: list[Mirror] = []
    """What tells failing rollouts from passing ones so well that it is the verdict in other words, or the reason."""
    predictors: list[Predictor] = []
    """What tells tasks that fail from tasks that pass, best first."""
    health: list[Finding]
    """What is wrong with data, infrastructure and verifier."""
    contrast: Contrast = Contrast()
    """What separates pass from fail within a task."""
    causes: list[Cause]
    """One entry per task that is not always passed."""
    headroom: list[Headroom] = []
    """What the score would be without each failure mode."""
    interventions: list[Intervention] = []
    """What to fix first, by headroom."""
    reading_list: list[ReadingItem]
    """What to read first."""

    def __repr__(self) -> str:
        return f"Analysis({self.inputs.run!r}, {self.headline} {said(headline_of(self))}, {self.coverage.tasks} tasks)"

    def _repr_html_(self) -> str:
        parts = (self.buckets.always, self.buckets.sometimes, self.buckets.never)
        return card(
            self.inputs.run,
            [
                (self.headline.replace("_at_", "@"), said(headline_of(self))),
                ("tasks", f"{self.coverage.tasks}, {self.coverage.rollouts} rollouts"),
                ("always, sometimes, never", ", ".join(str(len(part)) for part in parts)),
                ("failure modes", "; ".join(mode.title for mode in self.modes[:3]) or "none found"),
            ],
        )


def headline_of(analysis: Analysis) -> Metric:
    """The metric that speaks for the run."""
    metric: Metric = getattr(analysis.metrics, analysis.headline)
    return metric


def said(metric: Metric) -> str:
    """A metric in a few characters."""
    if metric.value is None:
        return "n/a"
    ends = "" if metric.ci95 is None else f" [{fixed(metric.ci95[0], 3)}, {fixed(metric.ci95[1], 3)}]"
    return f"{fixed(metric.value, 3)}{ends}"


DECODER = msgspec.json.Decoder(Analysis)
