"""Harbor jobs (Terminal-Bench 2 and others): one folder per trial, all of a job make a run.

Harbor's metrics count every trial that left a result: one without a reward counts as 0, whatever ended it. A trial
that timed out is still verified and may have any reward. Retries leave nothing behind but their number.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from blade.errors import InputError
from blade.rollouts.formats.atif import Story
from blade.rollouts.formats.building import Attempts, bad_line, place
from blade.rollouts.formats.coercion import number_or_none, seconds_between, whole
from blade.rollouts.formats.files import read_json, subfolders
from blade.rollouts.formats.harbor_trial import (
    BY_NAME,
    CONFIG,
    CTRF,
    JOB,
    RESULT,
    STDOUT,
    TRIAL,
    Job,
    Trial,
    all_rewards,
    ending_of,
    group_name,
    settings_of,
    story_of,
    tests_of,
    usage_of,
)
from blade.rollouts.formats.reader import Found, Note, Probe, Reader
from blade.rollouts.values import Ending, Rollout

TRIAL_KEYS = frozenset({"task_name", "trial_name", "agent_info"})
JOB_KEYS = frozenset({"n_total_trials", "stats"})
LOOKED_AT = 100
"""Folders looked into before a folder is taken for no job."""
MOST_NAMED = 4
"""Exceptions named in a note."""


def recognises(probe: Probe) -> bool:
    """Whether a path is a job, a trial, or the `result.json` of one."""
    if not probe.is_folder:
        return probe.keys >= TRIAL_KEYS or probe.keys >= JOB_KEYS
    return is_result(probe.path / RESULT, TRIAL_KEYS | JOB_KEYS) or any(
        is_result(folder / RESULT, TRIAL_KEYS) for folder in subfolders(probe.path)[:LOOKED_AT]
    )


def is_result(path: Path, keys: frozenset[str]) -> bool:
    """Whether a file is the result of a trial or, if `keys` allow it, of a job."""
    try:
        found = Probe(path).keys if path.is_file() else frozenset()
    except OSError:
        return False
    return any(known <= keys and known <= found for known in (TRIAL_KEYS, JOB_KEYS))


def trial_folders(path: Path) -> list[Path]:
    """The trials of a job in the order of their names; a trial is its own only one."""
    folder = path if path.is_dir() else path.parent
    if is_result(folder / RESULT, TRIAL_KEYS):
        return [folder]
    return [one for one in subfolders(folder) if (one / RESULT).is_file() or (one / "config.json").is_file()]


def files(path: Path) -> list[Path]:
    """Everything a job's numbers and trajectories come from."""
    folder = path if path.is_dir() else path.parent
    found = [folder / RESULT]
    for trial in trial_folders(path):
        found.append(trial / RESULT)
        for part in (trial, *subfolders(trial / "steps")):
            found += sorted((part / "agent").glob("trajectory*.json"))
            found += [part / "verifier" / CTRF, part / "verifier" / STDOUT]
    return [file for file in dict.fromkeys(found) if file.is_file()]


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every trial; its place is its position among the names of the trials."""
    folders = trial_folders(path)
    trials = [read_trial(folder) for folder in folders]
    known = [trial for trial in trials if isinstance(trial, Trial)]
    groups = {group: counted_key(group, known) for group in dict.fromkeys(trial.group for trial in known)}
    attempts, unread = Attempts(), []
    alone = folders == [path if path.is_dir() else path.parent]
    for index, (folder, trial) in enumerate(zip(folders, trials, strict=True)):
        if isinstance(trial, str):
            yield bad_line(folder / RESULT, trial, offset=index)
            continue
        if trial is None:
            yield from unfinished(folder, index, list(groups), attempts)
            continue
        repeat = place_among_siblings(folder) if alone else attempts.next(trial.group, trial.task_name)
        if wanted is None or index in wanted:
            story, error = story_of(folder, trial)
            unread += [error] if error else []
            run = trial.group if alone or len(groups) > 1 else folder.parent.name
            yield rollout(folder, index, trial, repeat, run=run, key=groups[trial.group], story=story)
    if wanted is None:
        yield from notes(path, known, groups, unread)


def place_among_siblings(folder: Path) -> int:
    """Which attempt a trial that is read alone is: names are `<task>__<random>`, and all trials may be given so."""
    task = folder.name.rpartition("__")[0]
    names = [one.name for one in subfolders(folder.parent) if one.name.rpartition("__")[0] == task]
    return names.index(folder.name) if folder.name in names else 0


def read_trial(folder: Path) -> Trial | str | None:
    """A trial, why its result cannot be used, or nothing when it left none."""
    if not (folder / RESULT).is_file():
        return None
    try:
        return read_json(folder / RESULT, TRIAL)
    except InputError as error:
        return str(error).removeprefix(f"{folder / RESULT}: ").removesuffix(".")


def counted_key(group: str, trials: Sequence[Trial]) -> str | None:
    """Which of a trial's rewards counts: the only one, or `reward`, or the first by name; `None` for the only one."""
    keys = {key for trial in trials if trial.group == group for key in trial.rewards or ()}
    return None if len(keys) <= 1 else "reward" if "reward" in keys else min(keys)


def rollout(
    folder: Path, index: int, trial: Trial, repeat: int, *, run: str | None, key: str | None, story: Story
) -> Rollout:
    """One trial."""
    rewards = trial.rewards or {}
    counted = rewards.get(key, 0) if key else next(iter(rewards.values()), 0)
    tests, output = tests_of(folder, trial)
    failure, info, acting = trial.failure, trial.agent_info, trial.agent_execution
    cause = BY_NAME.get(failure.exception_type, (None, None, None))[2] if failure else None
    fields = {
        "trial_name": trial.trial_name, "dataset": trial.source,
        "provider": info.model_info and info.model_info.provider,
        "failure_cause": cause or ("unclassified" if failure else None),
        "agent_seconds": acting and seconds_between(acting.started_at, acting.finished_at),
        "verifier_output": output,
    }  # fmt: skip
    return Rollout(
        task=trial.task_name,
        repeat=repeat,
        run=run,
        reward=number_or_none(counted),
        scores={name: number_or_none(value) for name, value in all_rewards(trial)},
        model=trial.model or trial.config.agent.model_name or story.model,
        agent=info.name,
        ending=ending_of(trial),
        tests=tests,
        settings=settings_of(trial),
        usage=usage_of(trial, story),
        seconds=seconds_between(trial.started_at, trial.finished_at),
        fields={name: value for name, value in fields.items() if value is not None},
        tools=story.tools,
        items=story.items,
        source=place(folder, index),
    )


def unfinished(folder: Path, index: int, groups: list[str], attempts: Attempts) -> Iterator[Rollout]:
    """A trial that left a configuration and no result: harbor counts it nowhere."""
    try:
        config = read_json(folder / "config.json", CONFIG)
    except InputError:
        return
    task = config.task.name or (Path(config.task.path).name if config.task.path else None)
    if not task:
        return
    agent, model = config.agent.name, config.agent.model_name
    group = groups[0] if len(groups) == 1 else group_name(agent, model and model.split("/")[-1], config.task.source)
    yield Rollout(
        task=task,
        repeat=attempts.next(group, task),
        run=group if len(groups) > 1 else folder.parent.name,
        ending=Ending(kind="cancelled", origin="runner", message="the trial left no result.json"),
        model=model,
        agent=agent,
        source=place(folder, index),
    )


def notes(path: Path, trials: Sequence[Trial], groups: dict[str, str | None], unread: list[str]) -> Iterator[Note]:
    """What a reader of the numbers must know: which reward counts, retries, trials that are missing."""
    for group, key in groups.items():
        if key is not None:
            others = sorted({name for t in trials if t.group == group for name in t.rewards or ()} - {key})
            yield Note(text=f"several rewards in {group}: {key!r} counts; others: {', '.join(others)}")
    unjudged = Counter(t.failure.exception_type if t.failure else "no exception" for t in trials if t.rewards is None)
    if unjudged:
        counts = ", ".join(f"{name} {count}" for name, count in unjudged.most_common(MOST_NAMED))
        more = f" and {len(unjudged) - MOST_NAMED} more" if len(unjudged) > MOST_NAMED else ""
        yield Note(
            text=f"trials without a reward, counted as 0 as harbor counts them: {unjudged.total()} ({counts}{more})"
        )
    if unread:
        yield Note(text=f"{len(unread)} trajectories cannot be read, for example {unread[0]}")
    folder = path if path.is_dir() else path.parent
    try:
        job = read_json(folder / RESULT, JOB) if is_result(folder / RESULT, JOB_KEYS) else Job()
    except InputError:
        return
    if (total := whole(job.n_total_trials)) is not None and total != len(trials):
        yield Note(text=f"the job has {total} trials, of which {len(trials)} left a result")
    if whole(job.stats.n_retries):
        yield Note(text=f"harbor retried {job.stats.n_retries} trials and kept only the last try of each")


READER = Reader(
    name="harbor",
    title="Harbor jobs and trials, Terminal-Bench 2 (a folder with result.json and agent/trajectory.json per trial)",
    recognises=recognises,
    read=read,
    files=files,
)
