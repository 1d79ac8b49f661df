"""Data artifacts: what makes a run's numbers mean something other than they seem to.

Mixed configurations inside one run, tasks that are the same task under two ids, and verifier fields that contradict
the reward.
"""

import hashlib
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from blade.diagnosis.answers import EXPECTED_FIELDS, expected_of, first_stated
from blade.diagnosis.found import Found, about_rows, say
from blade.diagnosis.inventory import counts
from blade.diagnosis.slicing import goes_with
from blade.engine import share
from blade.metrics import Outcomes
from blade.metrics.values import Ints
from blade.rollouts import Column, Rollout, Run
from blade.rollouts.columns import codes_in, level_text

MOST_TASKS = 3000
CONFIG_FIELDS = (
    "response.model", "model", "agent_ref.name", "responses_create_params.temperature", "responses_create_params.top_p",
    "responses_create_params.max_output_tokens", "skills_ref.hash", "dataset", "dataset_version", "dataset_sha256",
    "config_digest", "prompt_config", "verifier_version",
)  # fmt: skip
VERDICT_FIELDS = ("is_correct", "correct", "passed", "resolved", "success", "is_resolved", "judge_passed")
"""Fields that name the verdict itself; fields that are one condition of several may well differ from it."""
AGREEMENT = 0.9
"""A field that agrees with the reward at least this often is a verdict; where it then disagrees, something is wrong."""
NATURAL = 0.5
"""When more than this share of prompts hold their answer, the task is meant to (options, extraction)."""
REFERENCES = ("reference", "ref_c", "reference_answer")
"""Further fields that hold what an answer is held against."""
HELD = ("tool_call", "environment")
"""Items by which a task may say more than its request."""


class Sample(NamedTuple):
    """What one rollout of a task says about the task."""

    row: int
    """Which it is."""
    prompt: bytes
    """Hash of the words it was given, the system's left out; empty for none."""
    expected: str | None
    """The answer the task expects."""
    reference: str | None
    """What the row holds an answer against."""
    request: bytes = b""
    """Hash of the request as it is stored; empty where there is none, or where tools or a user answer."""


def data_findings(run: Run, outcomes: Outcomes) -> list[Found]:
    """Everything of this kind that is wrong with a run."""
    samples = first_rollouts(run)
    return [
        *mixed_configs(run),
        *twin_tasks(run, samples),
        *conflicting_twins(run, samples),
        *contradictions(run, outcomes),
    ]


def mixed_configs(run: Run) -> list[Found]:
    """Fields that should be the same for a whole run and are not."""
    out: list[Found] = []
    for field in CONFIG_FIELDS:
        column = run.table.rows.columns.get(field)
        if column is None or column.kind == "list":
            continue
        levels = [found for found in counts(column) if found.value is not None]
        if len(levels) > 1 and not follows_task(column, run):
            shown = ", ".join(f"{found.value} ({found.rollouts})" for found in levels[:5])
            message = f"{field} has {len(levels)} values inside one run: {shown}"
            finding = say("mixed_config", "DA", message, f"split the run with --group-by {field}")
            out.append(about_rows(run.table, finding, rows_other_than(column, levels[0].value)))
    return out


def follows_task(column: Column, run: Run) -> bool:
    """Whether the value belongs to the task: tasks are attempted repeatedly, and every attempt has the same."""
    repeated = len(run.table) > len(codes_in(run.table.task))
    return repeated and goes_with(run.table.task, column.coded().values)


def rows_other_than(column: Column, level: str | None) -> Ints:
    coded = column.coded()
    other = np.asarray([*(level_text(value) != level for value in coded.levels), False])
    return np.flatnonzero(other[coded.values])


def first_rollouts(run: Run) -> list[Sample]:
    """One rollout of each task, to look at its prompt."""
    _, first = np.unique(run.table.task, return_index=True)
    return list(chain.from_iterable(share(partial(samples_of, run), run.shared_out(first[:MOST_TASKS]))))


def samples_of(run: Run, rows: Ints) -> list[Sample]:
    """What some rows say about their tasks."""
    found: dict[int, Sample] = {}
    alone: list[int] = []
    for row, rollout in run.numbered_rollouts(rows.tolist()):
        words = " ".join(prompt_of(rollout).split())
        found[row] = Sample(row, digest(words) if words else b"", expected_of(rollout), reference_of(rollout))
        if not any(item.kind in HELD for item in rollout.items):
            alone.append(row)
    for row, request in run.read(alone, request_of):
        if request:
            found[row] = found[row]._replace(request=hashlib.sha256(request).digest())
    return list(found.values())


def prompt_of(rollout: Rollout) -> str:
    return "\n".join(item.text for item in rollout.items if item.prompt and item.role != "system")


def digest(words: str) -> bytes:
    return hashlib.sha256(words.encode("utf-8", "replace")).digest()


def twin_tasks(run: Run, samples: list[Sample]) -> list[Found]:
    """Tasks whose prompts are word for word the same."""
    twins = [group for group in alike(samples, "prompt") if len({sample.expected for sample in group}) == 1]
    # Where most prompts are alike, the task is told elsewhere (a simulated user, a state).
    if not twins or sum(map(len, twins)) > NATURAL * len(samples):
        return []
    message = f"{sum(map(len, twins))} tasks share their prompt with another task, in {len(twins)} groups"
    finding = say("twin_tasks", "DA", message, "a copied task counts twice; keep one id per task")
    return [about_rows(run.table, finding, np.asarray([sample.row for group in twins for sample in group]))]


def alike(samples: Sequence[Sample], field: Literal["prompt", "request"]) -> list[list[Sample]]:
    """Samples that have the same there, as far as they have anything."""
    groups: dict[bytes, list[Sample]] = {}
    for sample in samples:
        if key := getattr(sample, field):
            groups.setdefault(key, []).append(sample)
    return [group for group in groups.values() if len(group) > 1]


class Asked(msgspec.Struct):
    """What a row says it asked for."""

    responses_create_params: msgspec.Raw = msgspec.Raw()


ASKED = msgspec.json.Decoder(Asked)


def request_of(data: bytes) -> bytes:
    """A row's request as it is stored; nothing of a row without one."""
    try:
        return bytes(ASKED.decode(data).responses_create_params)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return b""


def conflicting_twins(run: Run, samples: list[Sample]) -> list[Found]:
    """Tasks asked in exactly the same request, down to the last setting, that expect different answers.

    Where tools or a simulated user answer, the difference may lie in what they say; there nothing can be told.
    """
    twins = [group for group in alike(samples, "request") if len({sample.reference for sample in group} - {None}) > 1]
    if not twins:
        return []
    tasks = [int(run.table.task[sample.row]) for group in twins for sample in group]
    message = f"{len(tasks)} tasks are asked in the same request as another that expects another answer"
    finding = say("conflicting_twins", "DA", message, "at most one of them can be right; repair their inputs")
    return [about_rows(run.table, finding, np.flatnonzero(np.isin(run.table.task, tasks)))]


def reference_of(rollout: Rollout) -> str | None:
    """What a row holds an answer against."""
    return first_stated(rollout.fields, (*EXPECTED_FIELDS, *REFERENCES))


def contradictions(run: Run, outcomes: Outcomes) -> list[Found]:
    """Rows whose own verdict says the opposite of their reward."""
    out: list[Found] = []
    scored = ~np.isnan(outcomes.success)
    for field in VERDICT_FIELDS:
        column = run.table.rows.columns.get(field)
        partial = f"{field}_plus" in run.table.rows.columns  # a stricter verdict beside it decides
        if column is None or column.kind not in ("flag", "number") or partial:
            continue
        numbers = column.numbers()
        both = scored & np.isin(numbers, (0.0, 1.0))
        wrong = both & (numbers != outcomes.success)
        if not wrong.any() or 1.0 - wrong.sum() / both.sum() < AGREEMENT:
            continue
        message = f"{field} contradicts the reward in {int(wrong.sum())} of {int(both.sum())} rollouts"
        hint = "find out which of the two is right before trusting either"
        finding = say("verdict_contradicts_reward", "DA", message, hint)
        out.append(about_rows(run.table, finding, np.flatnonzero(wrong)))
    return out
