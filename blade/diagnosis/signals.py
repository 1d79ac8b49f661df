"""Signals: what the structure of a row says went wrong, for any benchmark and without configuration.

Typed endings, flags and error fields of verifiers, counts of items; never a word of a text. A signal is an
observation, no verdict: an error field is on passing rows too, and a rollout that timed out may have passed. So every
signal says how many of its rollouts passed.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from blade.diagnosis.analysis import Signal, SignalKind
from blade.metrics import Outcomes
from blade.metrics.values import Bools, Floats, Ints
from blade.rollouts.columns import MAX_TEXT, Column, codes_in, level_text
from blade.rollouts.features import KINDS
from blade.rollouts.outcome import equals
from blade.rollouts.table import ENDING_KINDS, FAILED, ORIGINS, TRUNCATED, RolloutTable
from blade.rollouts.values import EndingKind, Origin

MESSAGE = KINDS.index("message")
CALL = KINDS.index("tool_call")
ENVIRONMENT = KINDS.index("environment")

STOPS: tuple[EndingKind, ...] = ("error", "timeout", "cancelled", "limit")
STOPPED = [ENDING_KINDS.index(kind) for kind in STOPS]
TYPED = ("verifier_exception", "simulated_user_failure", "out_of_time", "truncated")
"""Signals besides infrastructure's that are told by typed endings."""
LOOP = 3
"""Identical calls that make a loop: a second try is common sense, a third is not."""
MOST_NAMES = 3
LONGEST_NAME = 60
NORMAL = 0.5
"""An ending most rollouts of the run share is how this benchmark ends, not an early stop."""

KNOWN_ORIGINS: tuple[Origin, ...] = ("agent", "model", "environment", "verifier", "user")
"""Whose time-outs have signals of their own."""
MODEL_FAILURES = frozenset({"legitimate"})
"""Failure classes by which a runner says that the model, not the infrastructure, failed."""
JUDGE_FAILURES = frozenset({"judge_failed"})
TIMEOUT_FIELDS = ("agent_timed_out", "container_timed_out", "eval_timed_out", "agent_timeout_error", "timed_out")
VERIFIER_ERRORS = (
    "exception_type",
    "verifier_error",
    "evaluation_error",
    "judge_error",
    "judge_generation_error",
    "segale_error",
)


EXTRACTS = ("extracted_answer", "parsed_option", "extracted_judgement", "extracted_grade")
"""Fields that hold what was taken out of an answer; a run of several benchmarks has several."""

KIND_CAUSES: dict[SignalKind, str] = {"infrastructure": "IR", "verifier": "TI", "behaviour": "BI"}
"""Root cause that a signal of each kind is grounds for."""


class Seen(NamedTuple):
    """Rows a signal is in, and the item of each (-1 when there is none)."""

    rows: Ints
    items: Ints


def rows_of(mask: Bools, items: npt.NDArray[np.int32] | None = None) -> Seen:
    rows = np.flatnonzero(mask)
    places = np.full(len(rows), -1, dtype=np.int64) if items is None else items[rows].astype(np.int64)
    return Seen(rows, places)


def is_true(table: RolloutTable, *fields: str) -> Bools:
    """Rows where any of the fields is true or a number other than 0."""
    mask = np.zeros(len(table), dtype=bool)
    for field in fields:
        if field in table.rows.columns:
            mask |= np.nan_to_num(table.rows.columns[field].numbers()) != 0
    return mask


def is_false(table: RolloutTable, *fields: str) -> Bools:
    """Rows where any of the fields is false."""
    mask = np.zeros(len(table), dtype=bool)
    for field in fields:
        if field in table.rows.columns:
            mask |= table.rows.columns[field].numbers() == 0
    return mask


NOTHING = frozenset(
    {"", "none", "null", "nil", "n/a", "nan", "false", "0", "no", "ok", "correct", "success", "no error", "{}"}
)
"""What verifiers write into an error field when there was no error."""


def says(table: RolloutTable, *fields: str) -> Bools:
    """Rows where any of the fields holds something that means something."""
    mask = np.zeros(len(table), dtype=bool)
    for field in fields:
        coded = table.rows.column(field).coded()
        meant = [level_text(level).strip().lower() not in NOTHING for level in coded.levels]
        mask |= np.asarray([*meant, False], dtype=np.bool_)[coded.values]
    return mask


def lists(table: RolloutTable, field: str, word: str) -> Bools:
    """Rows whose list in a field holds a word."""
    column = table.rows.columns.get(field)
    if column is None or column.kind != "list":
        return np.zeros(len(table), dtype=bool)
    holds = np.asarray(
        [*(isinstance(level, tuple) and word in level for level in column.levels), False], dtype=np.bool_
    )
    return np.asarray(holds[column.values])


class Rule(NamedTuple):
    """One signal and how it is found."""

    code: str
    kind: SignalKind
    title: str
    source: str
    find: Callable[[RolloutTable], Seen]
    fields: tuple[str, ...] = ()
    """Fields that name what happened."""

    @property
    def cause(self) -> str:
        """Root cause it is grounds for."""
        return KIND_CAUSES[self.kind]


def ended(table: RolloutTable, *kinds: EndingKind, origins: tuple[Origin, ...] = ()) -> Bools:
    """Rows that ended in one of some ways, by the doing of some when they are named."""
    mask = np.isin(table.ending, [ENDING_KINDS.index(kind) for kind in kinds])
    return np.asarray(mask & np.isin(table.origin, [ORIGINS.index(o) for o in origins]) if origins else mask)


def failed(table: RolloutTable) -> Seen:
    other = equals(table.failure, *MODEL_FAILURES, *JUDGE_FAILURES) | ended(table, *STOPS, origins=("verifier", "user"))
    return rows_of((table.status == FAILED) & ~other)


def provider_error(table: RolloutTable) -> Seen:
    return rows_of(ended(table, "error", "timeout", origins=("model",)) & ~equals(table.failure, *MODEL_FAILURES))


def timeout(table: RolloutTable) -> Seen:
    """Out of time, unless the format says that it was the agent's own doing, or the verifier's."""
    typed = ended(table, "timeout") & ~ended(table, "timeout", origins=KNOWN_ORIGINS)
    return rows_of(is_true(table, *TIMEOUT_FIELDS) | typed)


def sandbox_fault(table: RolloutTable) -> Seen:
    return rows_of(is_true(table, "memory_limit_exceeded_error") | ended(table, *STOPS, origins=("environment",)))


def out_of_time(table: RolloutTable) -> Seen:
    return rows_of(ended(table, "timeout", origins=("agent",)))


def truncated(table: RolloutTable) -> Seen:
    """Cut off, as the response says, or as its length shows: exactly as many tokens as were allowed."""
    full = np.asarray(table.output_tokens == table.rows.numbers("responses_create_params.max_output_tokens"))
    cut = ((table.status == TRUNCATED) & ~ended(table, "timeout")) | is_true(table, "truncated") | full
    return rows_of(cut, table.rows.fact("final_at"))


def context_overflow(table: RolloutTable) -> Seen:
    return rows_of(is_true(table, "context_length_exceeded_error"))


def verifier_exception(table: RolloutTable) -> Seen:
    broken = says(table, *VERIFIER_ERRORS) | is_true(table, "invalid_judge_response")
    return rows_of(broken | equals(table.failure, *JUDGE_FAILURES) | ended(table, *STOPS, origins=("verifier",)))


def verifier_unfinished(table: RolloutTable) -> Seen:
    return rows_of(is_false(table, "evaluation_completed"))


def simulated_user_failure(table: RolloutTable) -> Seen:
    typed = ended(table, *STOPS, origins=("user",))
    return rows_of(is_true(table, "num_user_failures") | lists(table, "failure_labels", "user_failure") | typed)


def environment_failure(table: RolloutTable) -> Seen:
    return rows_of(is_true(table, "num_tool_failures") | lists(table, "failure_labels", "tool_failure"))


def empty_output(table: RolloutTable) -> Seen:
    """Nothing at all, or a last message without a word; a tool call is an output too."""
    ended = table.status != FAILED
    nothing = (table.rows.fact("answer_bytes") == 0) & (table.rows.fact("tool_calls") == 0)
    silent = nothing & (table.rows.fact("items") > 0) & ended
    if ended.any() and silent[ended].mean() > NORMAL:
        silent[:] = False  # this run does not store what its rollouts said
    return rows_of(silent | is_true(table, "empty_response"), table.rows.fact("final_at"))


def unparsable_answer(table: RolloutTable) -> Seen:
    flags = is_true(table, "parse_failed", "parse_fail", "no_answer") | is_false(table, "extraction_successful")
    return rows_of(flags | no_extract(table), table.rows.fact("final_at"))


def no_extract(table: RolloutTable) -> Bools:
    """Rows that end with an answer from which, unlike in other rows of the run, nothing could be extracted."""
    fields = [table.rows.columns[field] for field in EXTRACTS if field in table.rows.columns]
    if not fields:
        return np.zeros(len(table), dtype=bool)
    mask = ~np.any([column.known() for column in fields], axis=0) & ~np.isnan(table.reward) & (table.status != FAILED)
    said = (table.rows.fact("answer_bytes") > 0) & (table.status != TRUNCATED)
    # A long answer is left in the file, so its absence from the table proves nothing.
    return np.asarray(mask & said & (table.rows.fact("answer_bytes") <= MAX_TEXT))


def repeated_call(table: RolloutTable) -> Seen:
    return rows_of(table.rows.fact("looped_calls") >= LOOP, table.rows.fact("looped_at"))


def no_tool_call(table: RolloutTable) -> Seen:
    offered = is_true(table, "responses_create_params.tools")
    silent = (table.rows.fact("tool_calls") == 0) & (table.rows.fact("output_items") > 0)
    return rows_of(offered & silent, table.rows.fact("final_at"))


def stopped_early(table: RolloutTable) -> Seen:
    mask = is_false(table, "finished_naturally")
    mask[truncated(table).rows] = False  # what was cut off did not stop by itself
    return rows_of(mask, table.rows.fact("final_at"))


def no_patch(table: RolloutTable) -> Seen:
    return rows_of(is_false(table, "patch_exists") | is_true(table, "apply_failed"))


RULES: tuple[Rule, ...] = (
    Rule("failed_rollout", "infrastructure", "failed before a verdict", "typed ending, failure class", failed),
    Rule("provider_error", "infrastructure", "provider answered with an error", "typed ending", provider_error),
    Rule("timeout", "infrastructure", "timed out", "timed-out fields", timeout, TIMEOUT_FIELDS),
    Rule("sandbox_fault", "infrastructure", "environment failed", "typed ending, memory fields", sandbox_fault,
         ("memory_limit_exceeded_error",)),
    Rule("verifier_exception", "verifier", "verifier or judge raised an error", "error fields", verifier_exception,
         VERIFIER_ERRORS),
    Rule("verifier_unfinished", "verifier", "verifier did not finish", "evaluation_completed", verifier_unfinished),
    Rule("simulated_user_failure", "verifier", "simulated user failed", "failure labels", simulated_user_failure),
    Rule("environment_failure", "verifier", "environment's tools failed", "failure labels", environment_failure),
    Rule("truncated", "behaviour", "ran out of tokens or turns", "typed ending, token limit", truncated),
    Rule("out_of_time", "behaviour", "agent ran out of time", "typed ending", out_of_time),
    Rule("context_overflow", "behaviour", "outgrew the context window", "context fields", context_overflow),
    Rule("empty_output", "behaviour", "produced no answer and no tool call", "output items", empty_output),
    Rule("repeated_tool_call", "behaviour", f"made one tool call {LOOP} or more times", "tool calls", repeated_call),
    Rule("stopped_early", "behaviour", "stopped before it was done", "finished_naturally", stopped_early),
    Rule("no_tool_call", "behaviour", "called no tool although tools were offered", "tool calls", no_tool_call),
    Rule("no_patch", "behaviour", "left no patch that applies", "patch fields", no_patch),
    Rule("unparsable_answer", "behaviour", "no answer could be parsed", "parse fields", unparsable_answer),
)  # fmt: skip
"""Every signal, in the order in which the causes are tried."""

INFRASTRUCTURE = ("failed_rollout", "provider_error", "timeout", "sandbox_fault")
"""Signals that take a failing rollout out of the model's account in the sensitivity table."""


class Sightings(NamedTuple):
    """All signals of a run."""

    seen: dict[str, Seen]

    def infrastructure(self, table: RolloutTable, success: Floats) -> Bools:
        """Rows that did not pass and whose failure is infrastructure's."""
        mask = np.zeros(len(table), dtype=bool)
        for code in INFRASTRUCTURE:
            mask[self.seen[code].rows] = True
        return np.asarray(mask & (success != 1.0))


def find_signals(table: RolloutTable) -> Sightings:
    """Looks for every signal."""
    return Sightings({rule.code: rule.find(table) for rule in RULES})


def describe_signals(sightings: Sightings, table: RolloutTable, outcomes: Outcomes) -> list[Signal]:
    """The signals that were seen, those with most failing rollouts first."""
    signals = [describe(rule, sightings.seen[rule.code], table, outcomes) for rule in RULES]
    present = [signal for signal in signals if signal.rollouts]
    return sorted(present, key=lambda signal: (-signal.failed, -signal.rollouts, signal.code))


def titled(rule: Rule, rows: Ints, table: RolloutTable) -> str:
    """What was seen in some rows, with the run's own names for it: `timed out (AgentTimeoutError)`."""
    names = list(islice(own_names(rule, rows, table), MOST_NAMES))
    return f"{rule.title} ({', '.join(f'`{name}`' for name in names)})" if names else rule.title


def own_names(rule: Rule, rows: Ints, table: RolloutTable) -> Iterator[str]:
    """How the rows call what happened: flags that are true, short texts of error fields, names of typed endings."""
    for field in rule.fields:
        column = table.rows.columns.get(field)
        if column is not None and column.kind in ("flag", "number"):
            if (np.nan_to_num(column.numbers()[rows]) != 0).any():
                yield field
        elif column is not None:
            yield from (name for name in levels_in(column, rows) if name.strip().lower() not in NOTHING)
    if rule.kind == "infrastructure" or rule.code in TYPED:
        yield from levels_in(table.ending_name, rows[np.isin(table.ending[rows], STOPPED)])


def levels_in(column: Column, rows: Ints) -> list[str]:
    """The short values of a column in some rows, most frequent first."""
    coded = column.coded()
    codes, times = np.unique(coded.values[rows], return_counts=True)
    named = [level_text(coded.levels[code]) for code in codes[np.argsort(-times, kind="stable")].tolist() if code >= 0]
    return [name for name in named if 0 < len(name) <= LONGEST_NAME]


def describe(rule: Rule, seen: Seen, table: RolloutTable, outcomes: Outcomes) -> Signal:
    passed = int((outcomes.success[seen.rows] == 1.0).sum())
    return Signal(
        code=rule.code,
        kind=rule.kind,
        title=titled(rule, seen.rows, table),
        source=rule.source,
        rollouts=len(seen.rows),
        passed=passed,
        failed=len(seen.rows) - passed,
        tasks=len(codes_in(table.task[seen.rows])),
        citations=table.citations(seen.rows, seen.items),
    )
