"""Data artifacts: what makes a run's numbers mean something other than they seem to.

Mixed configurations inside one run, tasks that are the same task under two ids, prompts that give the answer away,
and verifier fields that contradict the reward.
"""

import hashlib
import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from blade.diagnosis.answers import expected_of
from blade.diagnosis.found import Found, about_rows, say
from blade.metrics import Outcomes
from blade.metrics.values import Ints
from blade.rollouts import Column, Rollout, Run, citation
from blade.rollouts.columns import level_text

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
SHORTEST_ANSWER = 2
CUE = r"(?:answer|solution|expected(?: output| result)?|ground truth|correct(?: option| choice)?)\b"
"""Words that may come a little before an answer they tell."""
FIELD = r"(?:\b(?:gold|target|label|reference|truth|(?:answer[ _])?key)\b[\"']?\s*[:=]\s*[\"']?|####\s*)"
"""Names under which data sets keep an answer: they must stand right before it."""


def data_findings(run: Run, outcomes: Outcomes) -> list[Found]:
    """Everything of this kind that is wrong with a run."""
    samples = list(first_rollouts(run))
    return [*mixed_configs(run), *twin_tasks(run, samples), *leaks(run, samples), *contradictions(run, outcomes)]


def mixed_configs(run: Run) -> list[Found]:
    """Fields that should be the same for a whole run and are not."""
    out: list[Found] = []
    for field in CONFIG_FIELDS:
        column = run.table.rows.columns.get(field)
        if column is None or column.kind == "list":
            continue
        levels = level_counts(column)
        if len(levels) > 1 and not follows_task(column, run):
            shown = ", ".join(f"{name} ({count})" for name, count in levels[:5])
            message = f"{field} has {len(levels)} values inside one run: {shown}"
            finding = say("mixed_config", "DA", message, f"split the run with --group-by {field}")
            out.append(about_rows(run.table, finding, rows_other_than(column, levels[0][0])))
    return out


def level_counts(column: Column) -> list[tuple[str, int]]:
    """Values with their numbers of rows, most frequent first."""
    coded = column.coded()
    counts = np.bincount(coded.values[coded.values >= 0], minlength=len(coded.levels))
    pairs = [(level_text(coded.levels[i]), int(counts[i])) for i in np.flatnonzero(counts).tolist()]
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


def follows_task(column: Column, run: Run) -> bool:
    """Whether the value belongs to the task: tasks are attempted repeatedly, and every attempt has the same."""
    coded = column.coded()
    pairs = np.unique(np.stack([run.table.task, coded.values]), axis=1)
    repeated = len(run.table) > len(np.unique(run.table.task))
    return repeated and len(pairs[0]) == len(np.unique(pairs[0]))


def rows_other_than(column: Column, level: str) -> Ints:
    coded = column.coded()
    other = np.asarray([*(level_text(value) != level for value in coded.levels), False])
    return np.flatnonzero(other[coded.values])


def first_rollouts(run: Run) -> Iterator[Rollout]:
    """One rollout of each task, to look at its prompt."""
    _, first = np.unique(run.table.task, return_index=True)
    return run.rollouts(first[:MOST_TASKS].tolist())


def prompt_of(rollout: Rollout) -> str:
    return "\n".join(item.text for item in rollout.items if item.prompt and item.role != "system")


def twin_tasks(run: Run, samples: list[Rollout]) -> list[Found]:
    """Tasks whose prompts are word for word the same."""
    groups: dict[str, list[Rollout]] = {}
    for rollout in samples:
        words = " ".join(prompt_of(rollout).split())
        if words:
            groups.setdefault(hashlib.sha256(words.encode("utf-8", "replace")).hexdigest(), []).append(rollout)
    twins = [group for group in groups.values() if len(group) > 1 and same_expectation(group)]
    # Where most prompts are alike, the task is told elsewhere (a simulated user, a state).
    if not twins or sum(map(len, twins)) > NATURAL * len(samples):
        return []
    message = f"{sum(map(len, twins))} tasks share their prompt with another task, in {len(twins)} groups"
    finding = say("twin_tasks", "DA", message, "a copied task counts twice; keep one id per task")
    return [about_rows(run.table, finding, rows_of(run, [rollout for group in twins for rollout in group]))]


def same_expectation(group: list[Rollout]) -> bool:
    return len({expected_of(rollout) for rollout in group}) == 1


class Leak(NamedTuple):
    """A prompt that tells the expected answer."""

    rollout: Rollout
    quote: str


def leaks(run: Run, samples: list[Rollout]) -> list[Found]:
    """Prompts that say what the answer is; a prompt that merely contains it may do so on purpose."""
    found = [leak for rollout in samples if (leak := find_leak(rollout)) is not None]
    if not found or len(found) > NATURAL * len(samples):
        return []
    message = f"the prompt of {len(found)} tasks tells the expected answer, for example: {found[0].quote!r}"
    finding = say("leaked_answer", "DA", message, "remove the answer from the prompt and rerun these tasks")
    items = np.asarray([prompt_position(leak) for leak in found])
    return [about_rows(run.table, finding, rows_of(run, [leak.rollout for leak in found]), items=items)]


def rows_of(run: Run, rollouts: list[Rollout]) -> Ints:
    return np.asarray([run.row(citation(rollout.task, rollout.repeat)) for rollout in rollouts], dtype=np.int64)


def find_leak(rollout: Rollout) -> Leak | None:
    expected = expected_of(rollout)
    if expected is None or len(re.findall(r"\w", expected)) < SHORTEST_ANSWER or len(expected) > 500:
        return None
    match = told(expected.strip()).search(prompt_of(rollout))
    return Leak(rollout, " ".join(match[0].split())[:120]) if match else None


def told(expected: str) -> re.Pattern[str]:
    """An answer after a word for it in the same line, alone in the line after one, or as a field."""
    value = rf"(?<!\w){re.escape(expected)}(?!\w)"
    alone = rf"[^\w\n]*\n\s*{value}[^\w\n]*(?:\n|\Z)"
    return re.compile(rf"{CUE}(?:[^\n]{{0,25}}?{value}|{alone})|{FIELD}{value}", re.IGNORECASE)


def prompt_position(leak: Leak) -> int:
    words = leak.quote[:30]
    return next((i.position for i in leak.rollout.items if i.prompt and words in " ".join(i.text.split())), -1)


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
