"""Signals: things seen in rollouts that may explain failures, for any benchmark and without configuration.

Structured fields are read first, texts second. A signal is an observation, never a verdict: a non-empty error field
is on passing rows too, a null status is normal, and a rollout that timed out may have passed. So every signal says how
many of its rollouts passed.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from blade.diagnosis.analysis import Signal, SignalKind
from blade.diagnosis.endings import is_machine, shared_endings
from blade.diagnosis.questions import (
    Seen,
    any_of,
    is_false,
    is_true,
    lists,
    marked,
    rows_of,
    says,
)
from blade.metrics import Outcomes
from blade.metrics.values import Bools, Floats
from blade.rollouts.columns import MAX_TEXT
from blade.rollouts.features import KINDS
from blade.rollouts.outcome import equals
from blade.rollouts.table import FAILED, TRUNCATED, RolloutTable

MESSAGE = KINDS.index("message")
CALL = KINDS.index("tool_call")
RESULT = KINDS.index("tool_result")

LOOP = 3
"""Identical calls that make a loop: a second try is common sense, a third is not."""
NORMAL = 0.5
"""An ending most rollouts of the run share is how this benchmark ends, not an early stop."""

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


class Rule(NamedTuple):
    """One signal and how it is found."""

    code: str
    kind: SignalKind
    title: str
    source: str
    find: Callable[[RolloutTable], Seen]

    @property
    def cause(self) -> str:
        """Root cause it is grounds for."""
        return KIND_CAUSES[self.kind]


def failed(table: RolloutTable) -> Seen:
    other = equals(table.failure, *MODEL_FAILURES, *JUDGE_FAILURES)
    return rows_of((table.status == FAILED) & ~other)


def provider_error(table: RolloutTable) -> Seen:
    dumped = shared_endings(table) & is_machine(table) & (table.rows.fact("final_kind") == MESSAGE)
    said = dumped | (table.rows.fact("broken_at") >= 0)
    return any_of(rows_of(says(table, "response.error")), rows_of(said, table.rows.fact("final_at")))


def timeout(table: RolloutTable) -> Seen:
    return rows_of(is_true(table, *TIMEOUT_FIELDS) | equals(table.failure, "timeout_exceeded", "timeout"))


def sandbox_fault(table: RolloutTable) -> Seen:
    dropped = shared_endings(table) & (table.rows.fact("final_kind") == RESULT)
    gone = table.rows.fact("gone_at")
    flags = is_true(table, "memory_limit_exceeded_error")
    return any_of(rows_of(flags), rows_of(gone >= 0, gone), rows_of(dropped, table.rows.fact("final_at")))


def verifier_exception(table: RolloutTable) -> Seen:
    broken = says(table, *VERIFIER_ERRORS) | is_true(table, "invalid_judge_response")
    return rows_of(broken | equals(table.failure, *JUDGE_FAILURES))


def verifier_unfinished(table: RolloutTable) -> Seen:
    return rows_of(is_false(table, "evaluation_completed"))


def simulated_user_failure(table: RolloutTable) -> Seen:
    return rows_of(is_true(table, "num_user_failures") | lists(table, "failure_labels", "user_failure"))


def environment_failure(table: RolloutTable) -> Seen:
    return rows_of(is_true(table, "num_tool_failures") | lists(table, "failure_labels", "tool_failure"))


def truncated(table: RolloutTable) -> Seen:
    last = table.rows.fact("final_at")
    return rows_of((table.status == TRUNCATED) | is_true(table, "truncated") | is_at_limit(table), last)


def is_at_limit(table: RolloutTable) -> Bools:
    """Rows that generated exactly as many tokens as they were allowed: cut off, whether or not the response says so."""
    return np.asarray(table.output_tokens == table.rows.numbers("responses_create_params.max_output_tokens"))


def context_overflow(table: RolloutTable) -> Seen:
    return any_of(rows_of(is_true(table, "context_length_exceeded_error")), marked(table, "context_overflow"))


def empty_output(table: RolloutTable) -> Seen:
    """Nothing at all, or a last message without a word; a tool call is an output too."""
    ended = table.status != FAILED
    nothing = (table.rows.fact("answer_bytes") == 0) & (table.rows.fact("tool_calls") == 0)
    silent = nothing & (table.rows.fact("items") > 0) & ended
    if ended.any() and silent[ended].mean() > NORMAL:
        silent[:] = False  # this run does not store what its rollouts said
    return rows_of(silent | is_true(table, "empty_response"), table.rows.fact("final_at"))


def refusal(table: RolloutTable) -> Seen:
    return rows_of((table.rows.fact("refused") > 0) | is_true(table, "is_refusal"), table.rows.fact("final_at"))


def stock_answer(table: RolloutTable) -> Seen:
    """The same last words to several tasks, which fail where other rollouts of those tasks pass."""
    plain = (table.rows.fact("final_kind") == MESSAGE) & ~is_machine(table) & (table.rows.fact("refused") == 0)
    return rows_of(shared_endings(table) & plain, table.rows.fact("final_at"))


def unparsable_answer(table: RolloutTable) -> Seen:
    flags = is_true(table, "parse_failed", "parse_fail", "no_answer") | is_false(table, "extraction_successful")
    return rows_of(flags | no_extract(table), table.rows.fact("final_at"))


def no_extract(table: RolloutTable) -> Bools:
    """Rows that end with an answer from which, unlike in other rows of the run, nothing could be extracted."""
    fields = [table.rows.columns[field] for field in EXTRACTS if field in table.rows.columns]
    if not fields:
        return np.zeros(len(table), dtype=bool)
    mask = ~np.any([column.known() for column in fields], axis=0) & ~np.isnan(table.reward) & (table.status != FAILED)
    said = (table.rows.fact("answer_bytes") > 0) & (table.rows.fact("refused") == 0) & (table.status != TRUNCATED)
    # A long answer is left in the file, so its absence from the table proves nothing.
    return np.asarray(mask & said & (table.rows.fact("answer_bytes") <= MAX_TEXT))


def repeated_call(table: RolloutTable) -> Seen:
    return rows_of(table.rows.fact("looped_calls") >= LOOP, table.rows.fact("looped_at"))


def tool_error(table: RolloutTable) -> Seen:
    return rows_of(table.rows.fact("tool_errors") > 0, table.rows.fact("error_at"))


def ignored_tool_error(table: RolloutTable) -> Seen:
    """The last thing a tool said was an error, and the rollout answered without a word about it."""
    answered = (table.rows.fact("final_kind") == MESSAGE) & (table.rows.fact("owned_up") == 0)
    return rows_of((table.rows.fact("ended_on_error") > 0) & answered, table.rows.fact("final_at"))


def tool_timeout(table: RolloutTable) -> Seen:
    return rows_of(table.rows.fact("stalled_at") >= 0, table.rows.fact("stalled_at"))


def no_tool_call(table: RolloutTable) -> Seen:
    offered = is_true(table, "responses_create_params.tools")
    silent = (table.rows.fact("tool_calls") == 0) & (table.rows.fact("output_items") > 0)
    return rows_of(offered & silent, table.rows.fact("final_at"))


def stopped_early(table: RolloutTable) -> Seen:
    """The last item is no answer although most rollouts of the run end with one, or only says what comes next.

    One that was cut off did not stop by itself.
    """
    final = table.rows.fact("final_kind")
    produced = (table.rows.fact("output_items") > 0) & (table.status != FAILED)
    acting = bool((table.rows.fact("tool_results") > 0).any())
    # Where tools never answer, the call is what the verifier looks at, and nobody could do what is announced.
    answers = [MESSAGE] if acting else [MESSAGE, CALL]
    unanswered = produced & (~np.isin(final, answers) | (acting & (table.rows.fact("announced") > 0)))
    usual = bool(produced.any()) and float(unanswered[produced].mean()) > NORMAL
    mask = is_false(table, "finished_naturally") | (unanswered & (not usual))
    mask[truncated(table).rows] = False
    return rows_of(mask, table.rows.fact("final_at"))


def no_patch(table: RolloutTable) -> Seen:
    return rows_of(is_false(table, "patch_exists") | is_true(table, "apply_failed"))


def on_closer_look(table: RolloutTable) -> Seen:
    """Nothing: only whole rollouts show it."""
    return rows_of(np.zeros(len(table), dtype=bool))


RULES: tuple[Rule, ...] = (
    Rule("failed_rollout", "infrastructure", "failed before a verdict", "failures file, failure class", failed),
    Rule(
        "provider_error",
        "infrastructure",
        "provider answered with an error",
        "response.error, last message",
        provider_error,
    ),
    Rule("timeout", "infrastructure", "agent, container or evaluation timed out", "timed-out fields", timeout),
    Rule("sandbox_fault", "infrastructure", "sandbox or memory fault", "memory fields, tool results", sandbox_fault),
    Rule("tool_timeout", "infrastructure", "a tool reported a time-out", "tool results", tool_timeout),
    Rule("verifier_exception", "verifier", "verifier or judge raised an error", "error fields", verifier_exception),
    Rule("verifier_unfinished", "verifier", "verifier did not finish", "evaluation_completed", verifier_unfinished),
    Rule("simulated_user_failure", "verifier", "simulated user failed", "failure labels", simulated_user_failure),
    Rule("environment_failure", "verifier", "environment's tools failed", "failure labels", environment_failure),
    Rule("user_off_script", "verifier", "simulated user left its script", "user turns, expected calls", on_closer_look),
    Rule("truncated", "behaviour", "ran out of tokens or turns", "incomplete_details, token limit", truncated),
    Rule("context_overflow", "behaviour", "outgrew the context window", "context fields, texts", context_overflow),
    Rule("empty_output", "behaviour", "produced no answer and no tool call", "output items", empty_output),
    Rule("refusal", "behaviour", "declined the task", "is_refusal, opening of the answer", refusal),
    Rule("stock_answer", "behaviour", "said the same to several tasks", "last words", stock_answer),
    Rule("repeated_tool_call", "behaviour", f"made one tool call {LOOP} or more times", "tool calls", repeated_call),
    Rule("ignored_tool_error", "behaviour", "answered right after a tool error", "tool results", ignored_tool_error),
    Rule("stopped_early", "behaviour", "stopped before answering", "last item, finished_naturally", stopped_early),
    Rule("no_tool_call", "behaviour", "called no tool although tools were offered", "tool calls", no_tool_call),
    Rule("fenced_answer", "behaviour", "put bare data into a code fence", "last message", on_closer_look),
    Rule("invalid_arguments", "behaviour", "made a call its tool does not allow", "tool schemas", on_closer_look),
    Rule("wrong_action", "behaviour", "made a change the task does not expect", "expected calls", on_closer_look),
    Rule("missing_action", "behaviour", "left out a change the task expects", "expected calls", on_closer_look),
    Rule("no_patch", "behaviour", "left no patch that applies", "patch fields", no_patch),
    Rule("unparsable_answer", "behaviour", "no answer could be parsed", "parse fields", unparsable_answer),
    Rule("tool_error", "behaviour", "met a tool error", "tool results", tool_error),
)
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


def describe(rule: Rule, seen: Seen, table: RolloutTable, outcomes: Outcomes) -> Signal:
    passed = int((outcomes.success[seen.rows] == 1.0).sum())
    return Signal(
        code=rule.code,
        kind=rule.kind,
        title=rule.title,
        source=rule.source,
        rollouts=len(seen.rows),
        passed=passed,
        failed=len(seen.rows) - passed,
        tasks=len(np.unique(table.task[seen.rows])),
        citations=table.citations(seen.rows, seen.items),
    )
