"""The facts of one run: its metrics, coverage, buckets, tasks, slices and effort."""

from collections.abc import Iterator

from blade.audit.facts import Fact, Thing, Unit, count_fact, interval_fact, metric_facts, number_fact
from blade.diagnosis.analysis import Analysis
from blade.metrics import TaskResult
from blade.metrics.effort import Effort, EffortSummary
from blade.metrics.slices import Slice
from blade.report.headline import failing_rollouts, is_rate
from blade.report.results import INFRASTRUCTURE, MISSING

HEADLINE = ("", "headline", "success rate", "pass@1")
MEAN_HEADLINE = ("", "headline", "mean reward")
SECONDS = "seconds"
VARIANTS = {
    ("excluded", "excluded"): (
        "without infrastructure",
        "without infrastructure failures",
        "infrastructure failures left out",
    ),
    ("as_failures", "included"): ("missing counted as failures", "missing rollouts counted as failures"),
}
"""How prose calls two of the ways of counting."""


def run_facts(analysis: Analysis) -> Iterator[Fact]:
    """Facts of the run as a whole, then of its tasks and levels."""
    yield from headline_facts(analysis)
    yield from pass_facts(analysis)
    yield from coverage_facts(analysis)
    yield from bucket_facts(analysis)
    yield from variant_facts(analysis)
    yield from variance_facts(analysis)
    for result in analysis.tasks:
        yield from task_facts(result, rate=is_rate(analysis))
    for table in analysis.slices:
        yield from count_fact(f"slices.{table.field}", len(table.levels), "levels", thing=field_thing(table.field))
        for part in table.levels:
            yield from level_facts(table.field, part, rate=is_rate(analysis), tasks=analysis.coverage.tasks)
    for effort in analysis.effort:
        yield from effort_facts(effort)


def headline_facts(analysis: Analysis) -> Iterator[Fact]:
    metrics = analysis.metrics
    names = ("pass@1", "success rate") if is_rate(analysis) else ("pass@1",)
    yield from metric_facts(
        "metrics.pass_at_1",
        metrics.pass_at_1,
        "share",
        (*names, "pass@1 value", *(("tasks passed",) if is_rate(analysis) else ())),
    )
    micro = ("pass@1 micro", "success rate micro", "pass@1 rollouts")
    yield from metric_facts("metrics.pass_at_1_micro", metrics.pass_at_1_micro, "share", micro, over="rollouts")
    yield from metric_facts("metrics.consistency", metrics.consistency, "share", ("consistency",))
    yield from metric_facts("metrics.retry_value", metrics.retry_value, "points", ("retry value",))
    mean = ("mean reward",) if is_rate(analysis) else ("mean reward", "headline")
    yield from metric_facts("metrics.mean_reward", metrics.mean_reward, "number", mean)
    yield from metric_facts("metrics.coverage", metrics.coverage, "share", ("coverage",), over="rollouts")


def pass_facts(analysis: Analysis) -> Iterator[Fact]:
    metrics = analysis.metrics
    for kind, found in (("@", metrics.pass_at_k), ("^", metrics.pass_pow_k)):
        for k, metric in found.items():
            path = f"metrics.pass_{'at' if kind == '@' else 'pow'}_k.{k}"
            yield from metric_facts(path, metric, "share", (f"pass{kind}{k}",))
            row = Thing("k", k, (f"k={k}",), frozenset({"k", "pass@k", "pass^k"}))
            yield from metric_facts(path, metric, "share", (f"pass{kind}k", ""), thing=row)
            yield from count_fact(f"{path}.n", metric.n, "tasks", thing=row)
            yield from count_fact(f"{path}.short", metric.short, "tasks with fewer rollouts", thing=row)


def coverage_facts(analysis: Analysis) -> Iterator[Fact]:
    coverage, path = analysis.coverage, "coverage"
    passed = sum(result.c for result in analysis.tasks)
    scored = sum(result.n for result in analysis.tasks) if is_rate(analysis) else coverage.rollouts - coverage.unscored
    wholes = (coverage.rollouts, scored, coverage.expected_rollouts)
    yield from count_fact(f"{path}.tasks", coverage.tasks, "tasks", "tasks in all", "expected tasks")
    expected = ("expected rollouts", "expected")
    yield from count_fact(f"{path}.expected_rollouts", coverage.expected_rollouts, *expected)
    present = ("rollouts", "rollouts present", "rollouts there", "rows", "scored or unscored rollouts")
    yield from count_fact(f"{path}.rollouts", coverage.rollouts, *present, wholes=(coverage.expected_rollouts,))
    missing = ("missing", "missing rollouts", "expected rollouts missing", "rollouts of tasks missing")
    yield from count_fact(f"{path}.missing", coverage.missing, *missing, wholes=(coverage.expected_rollouts,))
    duplicates = ("duplicate", "duplicate rows", "duplicate rollouts", "rows another same key", "rows not counted")
    yield from count_fact(f"{path}.duplicates", coverage.duplicates, *duplicates)
    yield from count_fact(f"{path}.malformed", coverage.malformed, "malformed", "lines malformed", "rows malformed")
    yield from count_fact(f"{path}.unscored", coverage.unscored, "unscored", "unscored rollouts", wholes=wholes)
    ended = ("before a verdict", "rollouts before a verdict", "failed rollouts before a verdict")
    yield from count_fact(f"{path}.failed", coverage.failed, *ended, wholes=wholes)
    yield from count_fact(f"{path}.truncated", coverage.truncated, "truncated", "truncated rollouts", wholes=wholes)
    blamed = ("infrastructure to blame", "rollouts not passed infrastructure blame", "infrastructure failures")
    yield from count_fact(f"{path}.infrastructure", coverage.infrastructure, *blamed, wholes=wholes)
    yield from count_fact("tasks.n", scored, "scored rollouts", "scored")
    if is_rate(analysis):
        successes = ("passed", "passing rollouts", "successes", "scored rollouts passed")
        yield from count_fact("tasks.c", passed, *successes, wholes=wholes)
        failures = ("failed", "failing rollouts", "failures", "scored rollouts failed", "rollouts not passed")
        yield from count_fact("tasks.n-c", failing_rollouts(analysis), *failures, wholes=wholes)
        yield from count_fact("tasks.n-c", scored - passed, *failures, wholes=wholes)
    recovered = ("failed attempts later replaced", "recovered failures")
    yield from count_fact("inputs.recovered_failures", analysis.inputs.recovered_failures, *recovered)
    repeats = max((result.expected for result in analysis.tasks), default=0)
    yield from count_fact(
        "tasks.expected", repeats, "repeats", "rollouts per task", "rollouts each", "repeats per task"
    )


def bucket_facts(analysis: Analysis) -> Iterator[Fact]:
    if not is_rate(analysis):
        return
    buckets, tasks = analysis.buckets, analysis.coverage.tasks
    scored, unsure = tasks - len(buckets.missing), len(buckets.sometimes) + len(buckets.never)
    for name, words, keys in (
        ("always", "always", buckets.always),
        ("sometimes", "sometimes", buckets.sometimes),
        ("never", "never", buckets.never),
        ("missing", "no outcome", buckets.missing),
    ):
        phrases = (words, f"{words} tasks", f"{words} bucket", f"{words} tasks bucket", f"{words} tasks rollouts")
        yield from count_fact(f"buckets.{name}", len(keys), *phrases, wholes=(tasks, scored, unsure))
    yield from count_fact("causes", unsure, "not always passed", "tasks not always passed", wholes=(tasks, scored))


def variant_facts(analysis: Analysis) -> Iterator[Fact]:
    """The headline under four ways of counting."""
    unit: Unit = "share" if is_rate(analysis) else "number"
    for place, variant in enumerate(analysis.sensitivity):
        row = f"{MISSING[variant.missing]}|{INFRASTRUCTURE[variant.infrastructure]}"
        thing = Thing(
            "variant", str(place), (row,), frozenset({"missing", "infrastructure", "fail", "include", "without"})
        )
        path = f"sensitivity.{place}"
        yield from metric_facts(f"{path}.metric", variant.metric, unit, ("headline", ""), thing=thing)
        yield from count_fact(f"{path}.rollouts", variant.rollouts, "rollouts counted", thing=thing)
        yield from count_fact(f"{path}.added_failures", variant.added_failures, "failures added", thing=thing)
        yield from count_fact(f"{path}.removed_rows", variant.removed_rows, "rollouts left out", thing=thing)
        for phrase in VARIANTS.get((variant.missing, variant.infrastructure), ()):
            names = (f"headline {phrase}", f"pass@1 {phrase}") if is_rate(analysis) else (f"headline {phrase}",)
            yield from number_fact(f"{path}.metric.value", variant.metric.value, unit, *names)
    values = [variant.metric.value for variant in analysis.sensitivity if variant.metric.value is not None]
    if values:
        ends = min(values), max(values)
        yield from interval_fact("sensitivity", ends, unit, "headline", "headline between", "pass@1 between")


def variance_facts(analysis: Analysis) -> Iterator[Fact]:
    split = analysis.variance
    if split is None:
        return
    unit: Unit = "points" if is_rate(analysis) else "number"
    yield from number_fact(
        "variance.between_share", split.between_share, "share", "variance between tasks", "between tasks"
    )
    yield from number_fact(
        "variance.within_share", split.within_share, "share", "variance between repeats", "between repeats"
    )
    yield from number_fact("variance.repeats", split.repeats, "number", "repeats", "repeats each", "repeats per task")
    yield from number_fact("variance.se_now", split.se_now, unit, "standard error implies", "standard error")
    yield from number_fact("variance.se_repeats_doubled", split.se_repeats_doubled, unit, "twice the repeats")
    yield from number_fact("variance.se_tasks_doubled", split.se_tasks_doubled, unit, "twice the tasks")
    yield from number_fact(
        "variance.se_repeats_unlimited", split.se_repeats_unlimited, unit, "no number of repeats under"
    )


def task_facts(result: TaskResult, *, rate: bool) -> Iterator[Fact]:
    """One task: how often it passed."""
    thing = Thing("task", result.task, (result.task,), frozenset({"task", "rollout", "repeat", "scored", "score"}))
    path = f"tasks.{result.task}"
    if rate:
        failed = result.n - result.c
        lost = result.rollouts - result.c
        passed = ("", "passed", "passed rollouts", "passes")
        yield from count_fact(f"{path}.c", result.c, *passed, thing=thing, wholes=(result.n, result.rollouts))
        failing = ("failed", "failing rollouts", "failures")
        for value in dict.fromkeys((failed, lost)):
            yield from count_fact(f"{path}.n-c", value, *failing, thing=thing, wholes=(result.n, result.rollouts))
        yield from number_fact(f"{path}.rate", result.rate, "share", "", "rate", "success rate", "passed", thing=thing)
        yield from interval_fact(f"{path}.ci95", result.ci95, "share", "", "interval", thing=thing)
    counts = dict.fromkeys((result.rollouts, result.n, result.expected))
    for value in counts:
        yield from count_fact(f"{path}.rollouts", value, "rollouts", "scored rollouts", "repeats", thing=thing)
    yield from number_fact(f"{path}.mean_reward", result.mean_reward, "number", "", "mean reward", thing=thing)


def field_thing(field: str) -> Thing:
    return Thing("field", field, (field,), frozenset({"level", "value"}))


def level_facts(field: str, part: Slice, *, rate: bool, tasks: int) -> Iterator[Fact]:
    """One level of a field."""
    words = frozenset({"level", f"`{field}`", "task", "slice", "category"})
    thing = Thing("level", f"{field}={part.level}", (part.level,), words)
    path, unit = f"slices.{field}.{part.level}", "share" if rate else "number"
    names = HEADLINE if rate else MEAN_HEADLINE
    yield from metric_facts(f"{path}.headline", part.headline, unit, names, thing=thing)  # type: ignore[arg-type]
    yield from count_fact(f"{path}.tasks", part.tasks, "tasks", thing=thing, wholes=(tasks,))
    yield from count_fact(f"{path}.rollouts", part.rollouts, "rollouts", thing=thing)
    for bucket, phrase in (
        ("always", "always"),
        ("sometimes", "sometimes"),
        ("never", "never"),
        ("missing", "no outcome"),
    ):
        count = None if part.buckets is None else getattr(part.buckets, bucket)
        yield from count_fact(f"{path}.{bucket}", count, phrase, f"{phrase} tasks", thing=thing, wholes=(part.tasks,))


def effort_facts(effort: Effort) -> Iterator[Fact]:
    """What rollouts cost."""
    thing = Thing("quantity", effort.name, (effort.name,), frozenset({"token", "rollout", "mean", "second", "took"}))
    path = f"effort.{effort.name}"
    unit: Unit = "seconds" if effort.name == SECONDS else "number"
    for side, summary in (("passing", effort.passing), ("failing", effort.failing)):
        yield from spread_facts(f"{path}.{side}", side, summary, unit, thing)
    within = ("failing passing within task", "failing minus passing", "within task")
    yield from metric_facts(f"{path}.within_task", effort.within_task, unit, within, thing=thing)
    more = {"more": effort.tasks_where_failing_took_more, "less": effort.tasks_where_failing_took_less}
    for name, value in more.items():
        yield from count_fact(f"{path}.{name}", value, f"tasks failing took {name}", thing=thing)


def spread_facts(path: str, side: str, summary: EffortSummary, unit: Unit, thing: Thing) -> Iterator[Fact]:
    yield from count_fact(f"{path}.n", summary.n, f"{side} n", f"{side} rollouts", thing=thing)
    for name, value in (("mean", summary.mean), ("median", summary.median), ("p90", summary.p90)):
        phrases = (f"{side} {name}", f"{side} rollouts {name}", *((side,) if name == "mean" else ()))
        yield from number_fact(f"{path}.{name}", value, unit, *phrases, thing=thing)
