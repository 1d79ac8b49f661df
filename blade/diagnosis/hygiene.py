"""Data artifacts: what makes a run's numbers mean something other than they seem to.

Mixed configurations inside one run, tasks that are the same task under two ids, prompts that give the answer away,
and verifier fields that contradict the reward.
"""

import hashlib
import re
from typing import NamedTuple

import msgspec
import numpy as np

from blade.diagnosis.answers import EXPECTED_FIELDS, expected_of, first_stated
from blade.diagnosis.found import Found, about_rows, say
from blade.diagnosis.inventory import counts
from blade.diagnosis.slicing import goes_with
from blade.metrics import Outcomes
from blade.metrics.values import Ints
from blade.rollouts import Column, Rollout, Run
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
REFERENCES = ("reference", "ref_c", "reference_answer")
"""Further fields that hold what an answer is held against."""
HELD = ("tool_call", "environment")
"""Items by which a task may say more than its request."""
CUE = (
    r"(?:answer|solution|expected(?: output| result)?|ground truth|correct(?: option| choice)?"
    r"|spoiler|rubric|grad(?:er|ing))\b"
)
"""Words that may come a little before an answer they tell."""
FIELD = (
    r"(?:\b(?:gold|target|label|reference|truth|result|output|(?:answer[ _])?key)\b"
    r"[\"']?\s*(?:[:=]|is|->)\s*[\"']?|####\s*)"
)
"""Names under which data sets keep an answer: they must stand right before it."""

Sample = tuple[int, Rollout]
"""A row and its rollout."""


def data_findings(run: Run, outcomes: Outcomes) -> list[Found]:
    """Everything of this kind that is wrong with a run."""
    samples = first_rollouts(run)
    return [
        *mixed_configs(run),
        *twin_tasks(run, samples),
        *conflicting_twins(run, samples),
        *leaks(run, samples),
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
    repeated = len(run.table) > len(np.unique(run.table.task))
    return repeated and goes_with(run.table.task, column.coded().values)


def rows_other_than(column: Column, level: str | None) -> Ints:
    coded = column.coded()
    other = np.asarray([*(level_text(value) != level for value in coded.levels), False])
    return np.flatnonzero(other[coded.values])


def first_rollouts(run: Run) -> list[Sample]:
    """One rollout of each task, to look at its prompt."""
    _, first = np.unique(run.table.task, return_index=True)
    return list(run.numbered_rollouts(first[:MOST_TASKS].tolist()))


def prompt_of(rollout: Rollout) -> str:
    return "\n".join(item.text for item in rollout.items if item.prompt and item.role != "system")


def twin_tasks(run: Run, samples: list[Sample]) -> list[Found]:
    """Tasks whose prompts are word for word the same."""
    groups: dict[str, list[Sample]] = {}
    for row, rollout in samples:
        words = " ".join(prompt_of(rollout).split())
        if words:
            groups.setdefault(hashlib.sha256(words.encode("utf-8", "replace")).hexdigest(), []).append((row, rollout))
    twins = [group for group in groups.values() if len(group) > 1 and same_expectation(group)]
    # Where most prompts are alike, the task is told elsewhere (a simulated user, a state).
    if not twins or sum(map(len, twins)) > NATURAL * len(samples):
        return []
    message = f"{sum(map(len, twins))} tasks share their prompt with another task, in {len(twins)} groups"
    finding = say("twin_tasks", "DA", message, "a copied task counts twice; keep one id per task")
    return [about_rows(run.table, finding, np.asarray([row for group in twins for row, _ in group]))]


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
    alone = {row: rollout for row, rollout in samples if not any(item.kind in HELD for item in rollout.items)}
    groups: dict[bytes, list[Sample]] = {}
    for row, request in run.read(alone, request_of):
        if request:
            groups.setdefault(hashlib.sha256(request).digest(), []).append((row, alone[row]))
    twins = [group for group in groups.values() if len({reference_of(rollout) for _, rollout in group} - {None}) > 1]
    if not twins:
        return []
    tasks = [int(run.table.task[row]) for group in twins for row, _ in group]
    message = f"{len(tasks)} tasks are asked in the same request as another that expects another answer"
    finding = say("conflicting_twins", "DA", message, "at most one of them can be right; repair their inputs")
    return [about_rows(run.table, finding, np.flatnonzero(np.isin(run.table.task, tasks)))]


def reference_of(rollout: Rollout) -> str | None:
    """What a row holds an answer against."""
    return first_stated(rollout, (*EXPECTED_FIELDS, *REFERENCES))


def same_expectation(group: list[Sample]) -> bool:
    return len({expected_of(rollout) for _, rollout in group}) == 1


class Leak(NamedTuple):
    """A prompt that tells the expected answer."""

    row: int
    item: int
    """Item of the prompt that tells it, -1 when no single one does."""
    quote: str


def leaks(run: Run, samples: list[Sample]) -> list[Found]:
    """Prompts that say what the answer is; a prompt that merely contains it may do so on purpose."""
    found = [leak for row, rollout in samples if (leak := find_leak(row, rollout)) is not None]
    if not found or len(found) > NATURAL * len(samples):
        return []
    message = f"the prompt of {len(found)} tasks tells the expected answer, for example: {found[0].quote!r}"
    finding = say("leaked_answer", "DA", message, "remove the answer from the prompt and rerun these tasks")
    rows, items = np.asarray([leak.row for leak in found]), np.asarray([leak.item for leak in found])
    return [about_rows(run.table, finding, rows, items=items)]


def find_leak(row: int, rollout: Rollout) -> Leak | None:
    expected = expected_of(rollout)
    if expected is None or len(re.findall(r"\w", expected)) < SHORTEST_ANSWER or len(expected) > 500:
        return None
    match = told(expected.strip()).search(prompt_of(rollout))
    if match is None:
        return None
    quote = " ".join(match[0].split())[:120]
    prompts = (item for item in rollout.items if item.prompt and quote[:30] in " ".join(item.text.split()))
    return Leak(row, next((item.position for item in prompts), -1), quote)


def told(expected: str) -> re.Pattern[str]:
    """An answer after a word for it in the same line, alone in the line after one, or as a field."""
    value = rf"(?<!\w){re.escape(expected)}(?!\w)"
    alone = rf"[^\w\n]*\n\s*{value}[^\w\n]*(?:\n|\Z)"
    return re.compile(rf"{CUE}(?:[^\n]{{0,40}}?{value}|{alone})|{FIELD}{value}", re.IGNORECASE)


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
