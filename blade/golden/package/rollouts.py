"""D2: are the rollouts whole, scored, comparable and really several runs? Standard library only."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from blade.golden.package.checks import Check, judged, some
from blade.golden.package.layout import Package
from blade.golden.package.rows import REPEAT_FIELDS, REWARD_FIELDS, TASK_FIELDS, Rows, read_rows

LEAST_RUNS = 2


def check_rollouts(package: Package) -> list[Check]:
    """Everything that can be said about the rollouts without the engine."""
    if not package.rollouts:
        where = f"no rollout file in {package.name}/rollouts (*.jsonl) or {package.name}/data (*rollout*.jsonl)"
        hint = "Put one file of scored rollouts per model there, such as rollouts/<model>.jsonl."
        return [judged("rollouts", "", bad=where, hint=hint)]
    runs = [read_rows(path) for path in package.rollouts]
    checks = [check for run in runs for check in check_run(run, package.repeats)]
    return [*checks, *check_runs(runs)]


def check_run(run: Rows, repeats: int | None) -> Iterator[Check]:
    """One file on its own."""
    yield rows_are_objects(run)
    if not run.rows:
        return
    yield have_ids(run)
    yield have_rewards(run)
    yield keys_are_unique(run)
    yield repeats_are_complete(run, repeats)


def rows_are_objects(run: Rows) -> Check:
    """Every line is a rollout."""
    name = run.path.name
    bad = ""
    if run.bad:
        told = some((f"line {line.line} {line.reason}" for line in run.bad), 3)
        bad = f"{name}: {len(run.bad)} of {len(run.bad) + len(run.rows)} lines hold no rollout: {told}"
    elif not run.rows:
        bad = f"{name}: is empty"
    return judged(
        "rollouts",
        f"{name}: every line is a rollout ({len(run.rows)} rows)",
        bad=bad,
        hint="Every line must be one JSON object; run the benchmark again, or remove the lines.",
    )


def have_ids(run: Rows) -> Check:
    """Every row says which task and which attempt it is."""
    name = run.path.name
    lacking = [row.line for row in run.rows if row.task is None or row.repeat is None]
    expected = f"one of {', '.join(TASK_FIELDS)} and one of {', '.join(REPEAT_FIELDS)}"
    return judged(
        "rollouts",
        f"{name}: every row has a task id ({run.task_field}) and a rollout id ({run.repeat_field})",
        bad=f"{name}: {len(lacking)} rows without a task id or a rollout id: line {some(lacking)}" if lacking else "",
        hint=f"Every row needs {expected}, the same field in all rows of a file.",
    )


def have_rewards(run: Rows) -> Check:
    """Every row has a score that is a number."""
    name = run.path.name
    odd = [row for row in run.rows if row.reward is None]
    told = some((f"line {row.line} has {row.reward_seen}" for row in odd), 3)
    return judged(
        "rollouts",
        f"{name}: every reward is a number",
        bad=f"{name}: {len(odd)} rows whose reward is not a finite number: {told}" if odd else "",
        hint=f"Put the verifier's number into {' or '.join(REWARD_FIELDS)}; a rollout without a verdict is run again.",
    )


def keys_are_unique(run: Rows) -> Check:
    """No rollout is counted twice."""
    name = run.path.name
    counts = Counter(row.key for row in run.rows if row.task is not None and row.repeat is not None)
    twice = [key for key, count in counts.items() if count > 1]
    return judged(
        "rollouts",
        f"{name}: no rollout occurs twice",
        bad=f"{name}: {len(twice)} keys occur more than once: {some(twice)}" if twice else "",
        hint="Keep one row per task and repeat; give rollouts from several workers different repeat numbers.",
    )


def repeats_are_complete(run: Rows, repeats: int | None) -> Check:
    """Every task has been tried equally often, and as often as the benchmark says."""
    name = run.path.name
    counts = {task: len({row.repeat for row in rows}) for task, rows in run.by_task().items()}
    expected = repeats or max(counts.values(), default=0)
    short = [f"{task} has {count}" for task, count in counts.items() if count != expected]
    source = "config.yaml says" if repeats else "the largest number seen"
    return judged(
        "rollouts",
        f"{name}: every task has {expected} rollouts ({len(counts)} tasks)",
        bad=f"{name}: {len(short)} tasks without their {expected} rollouts ({source}): {some(short)}" if short else "",
        hint="Resume the run until no rollout is missing, or correct num_repeats in config.yaml.",
    )


def check_runs(runs: Sequence[Rows]) -> Iterator[Check]:
    """The files together."""
    scored = [run for run in runs if any(row.reward is not None for row in run.rows)]
    distinct = [run for i, run in enumerate(scored) if not any(is_copy(run, other) for other in scored[:i])]
    yield judged(
        "rollouts",
        f"{len(distinct)} different scored runs",
        bad=f"{len(distinct)} different scored runs, expected {LEAST_RUNS}" if len(distinct) < LEAST_RUNS else "",
        hint="A benchmark is comparable when at least two models have been run on it.",
    )
    copied = [(a.path.name, b.path.name) for a, b in combinations(scored, 2) if is_copy(a, b)]
    yield judged(
        "rollouts",
        "no run is a copy of another",
        bad=f"the same rollouts under two names: {some(f'{a} and {b}' for a, b in copied)}" if copied else "",
        hint="Remove the copy, or run the second model.",
    )
    yield tasks_agree(scored)


def is_copy(run: Rows, other: Rows) -> bool:
    """Whether two files hold the same keys, scores and outputs."""
    mine, theirs = (sorted((row.key, str(row.reward), row.fingerprint) for row in rows.rows) for rows in (run, other))
    return bool(mine) and mine == theirs and any(fingerprint for _, _, fingerprint in mine)


def tasks_agree(runs: Sequence[Rows]) -> Check:
    """Every run is about the same tasks."""
    sets = {run.path.name: set(run.by_task()) for run in runs}
    all_tasks = set().union(*sets.values()) if sets else set()
    lacking = [f"{name} lacks {some(sorted(all_tasks - own), 3)}" for name, own in sets.items() if own != all_tasks]
    return judged(
        "rollouts",
        f"every run has the same {len(all_tasks)} tasks",
        bad=f"runs are about different tasks: {some(lacking, 3)}" if lacking else "",
        hint="Run every model on the same frozen data, so that scores can be compared task by task.",
    )
