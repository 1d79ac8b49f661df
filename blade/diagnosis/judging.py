"""Which rollouts of a run count as successes, and which tasks belong together.

The user's rule decides; without one the rewards do, where they are all 0 or 1.
"""

import msgspec
import numpy as np

from blade.diagnosis.signals import Sightings
from blade.errors import UsageError
from blade.metrics import Outcomes, Success, SuccessRule, infer_success, parse_success_rule
from blade.metrics.success import BINARY_RULE
from blade.metrics.values import Floats, Ints
from blade.rollouts.columns import Column
from blade.rollouts.identity import require_field
from blade.rollouts.table import FAILED, RolloutTable


def decide_success(
    table: RolloutTable, wanted: str | None, *, source: str = "given with --success"
) -> tuple[Success, Floats]:
    """How success is decided, and per row whether it was one (nan when unknown); `source` says who wanted it."""
    if wanted is not None:
        rule = parse_success_rule(wanted)
        stated = Success(kind="rule", rule=str(rule), source=source)
        return stated, apply_rule(rule, table)
    success = infer_success(table.reward)
    if success.rule is None:
        return success, np.full(len(table), np.nan)
    return success, BINARY_RULE.apply(table.reward)


def apply_rule(rule: SuccessRule, table: RolloutTable) -> Floats:
    if rule.reads_reward:
        return rule.apply(table.reward)
    require_field(table.rows, rule.field)
    column = table.rows.columns[rule.field]
    passed = rule.apply(
        [column.at(row) for row in range(len(table))] if isinstance(rule.value, str) else column.numbers()
    )
    if np.isnan(passed).all():
        kind = "a text" if isinstance(rule.value, str) else "a number or true/false"
        raise UsageError(f"success rule {str(rule)!r}: {rule.field} is never {kind}; it is {column_example(column)}.")
    # What failed before a verdict has none, whatever the runner wrote into the verdict's field.
    return np.where((table.status == FAILED) & np.isnan(table.reward), np.nan, passed)


def column_example(column: Column) -> str:
    """A value of a column as JSON would have it."""
    row = int(np.flatnonzero(column.known())[0])
    return msgspec.json.encode(column.at(row)).decode()


def make_outcomes(table: RolloutTable, passed: Floats, sightings: Sightings, cluster_field: str | None) -> Outcomes:
    """What the numbers are computed from."""
    return Outcomes(
        tasks=table.tasks,
        task=table.task,
        repeat=table.repeat,
        reward=table.reward,
        success=passed,
        infrastructure=sightings.infrastructure(table, passed),
        expected=table.expected,
        cluster=clusters(table, cluster_field),
    )


def clusters(table: RolloutTable, field: str | None) -> Ints | None:
    """Per task: its cluster, by the first row that says; a task that does not say is a cluster of its own."""
    if field is None:
        return None
    require_field(table.rows, field)
    codes = table.rows.columns[field].coded().values
    out = np.arange(len(table.tasks), dtype=np.int64) + int(codes.max(initial=0)) + 1
    known = np.flatnonzero(codes >= 0)[::-1]  # the last assignment wins, so the first row comes last
    out[table.task[known]] = codes[known]
    return out
