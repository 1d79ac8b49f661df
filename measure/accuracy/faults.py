"""Every fault: where it can strike, and what finding it means.

A fault of rollouts strikes a share of all rollouts, a fault of tasks a share of the tasks. What cannot be seen in the
rows even in principle is not injected; `UNSEEN` says what that is.
"""

from typing import NamedTuple

from accuracy.data_faults import copied_run, dropped_rows, duplicate_rows, leaked_answer
from accuracy.injections import Inject, Injected
from accuracy.made_runs import MadeRun
from accuracy.model_faults import early_stop, ignored_error, refusal, tool_loop, truncation
from accuracy.outside_faults import provider_errors, sandbox_crash, strict_format, verifier_flip, wrong_gold
from accuracy.wordings import Words

UNSEEN = (
    "a wrong expected answer of a task that the models do not solve anyway, or without a second run",
    "one wrong answer that all models share: it looks exactly like a wrong expected answer",
    "a flipped verdict where rows do not store an answer that can be compared (tool use, code)",
    "tasks lost as a whole when no materialized inputs say that they were asked for",
    "a leaked answer where rows do not say what was expected",
)


def no_fault(run: MadeRun, share: float, words: Words) -> Injected:
    """Nothing."""
    return Injected(run.rows, set())


class Fault(NamedTuple):
    """A fault, where it can strike, and what finding it means."""

    name: str
    cause: str
    """The root cause a diagnosis should name; empty for no fault."""
    families: tuple[str, ...]
    inject: Inject
    codes: frozenset[str]
    """Signals and findings that name it."""
    level: str = "rollout"
    """Whether rollouts, tasks or the run as a whole is struck."""
    explains: bool = True
    """Whether struck rollouts fail because of it, so that the task's cause is known."""


QA, TOOLS_USED, ALL = ("qa",), ("assistant", "coding"), ("qa", "assistant", "coding")
WRONG_VERDICTS = frozenset({"verdict_flips", "right_answer_failed", "wrong_answer_passed"})
DUPLICATES = frozenset({"identical_duplicates", "conflicting_duplicates"})
NO_ANSWER = frozenset({"stopped_early", "empty_output", "unparsable_answer"})

FAULTS: tuple[Fault, ...] = (
    Fault("duplicate rows", "DA", ALL, duplicate_rows, DUPLICATES, explains=False),
    Fault("copied run", "DA", ALL, copied_run, frozenset({"copied_run"}), level="run", explains=False),
    Fault("leaked answer", "DA", QA, leaked_answer, frozenset({"leaked_answer"}), level="task", explains=False),
    Fault("dropped rows", "IR", ALL, dropped_rows, frozenset({"missing_rollouts"}), level="task", explains=False),
    Fault("provider errors", "IR", ALL, provider_errors, frozenset({"provider_error", "failed_rollout"})),
    Fault("sandbox crash", "IR", TOOLS_USED, sandbox_crash, frozenset({"sandbox_fault"})),
    Fault("verifier flip", "TI", QA, verifier_flip, WRONG_VERDICTS),
    Fault("strict format", "TI", QA, strict_format, WRONG_VERDICTS),
    Fault("wrong gold", "TI", QA, wrong_gold, frozenset({"suspect_gold"}), level="task"),
    Fault("truncation", "BI", ALL, truncation, frozenset({"truncated"})),
    Fault("tool loop", "BI", TOOLS_USED, tool_loop, frozenset({"repeated_tool_call"})),
    Fault("ignored tool error", "BI", TOOLS_USED, ignored_error, frozenset({"ignored_tool_error"})),
    Fault("early stop", "BI", ALL, early_stop, NO_ANSWER),
    Fault("refusal", "BI", ALL, refusal, frozenset({"refusal", "stock_answer"})),
)
NO_FAULT = Fault("no fault", "", ALL, no_fault, frozenset(), explains=False)
