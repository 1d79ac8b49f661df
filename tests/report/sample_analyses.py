"""Small analyses built by hand, for the tests of reports: what stands in them is chosen, not computed from rows."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np

from blade.diagnosis.analysis import (
    Analysis,
    Cause,
    Count,
    Coverage,
    Finding,
    Inputs,
    Intervention,
    PublishedCheck,
    ReadingItem,
    Signal,
    SliceTable,
    SourceFile,
    Stage,
)
from blade.diagnosis.headroom import Headroom
from blade.diagnosis.labels import Evidence
from blade.diagnosis.pairs import Contrast, TaskContrast, Trait
from blade.metrics import Metric, Outcomes, Success, compare_effort, measure, slice_outcomes
from blade.rollouts import BadLine, Duplicate, Identity, Source

BINARY = Success(kind="binary", rule="reward >= 1.0", source="every reward is 0 or 1")
CONTINUOUS = Success(kind="continuous", rule=None, source="rewards other than 0 and 1, and no success rule given")
UNSCORED = Success(kind="unscored", rule=None, source="no rollout has a reward")

Golden = Callable[[str, str], None]
"""Compares a text with the golden file of that name (see tests/conftest.py)."""
Rewards = Sequence[Sequence[float | None]]


def outcomes_of(rewards: Rewards, names: Sequence[str], *, continuous: bool = False) -> Outcomes:
    """Outcomes of tasks with these rewards; None is an unscored row."""
    flat = np.array([np.nan if reward is None else reward for task in rewards for reward in task], dtype=np.float64)
    return Outcomes(
        tasks=list(names),
        task=np.repeat(np.arange(len(rewards)), [len(task) for task in rewards]),
        repeat=np.array([i for task in rewards for i in range(len(task))], dtype=np.int64),
        reward=flat,
        success=np.full(len(flat), np.nan) if continuous else flat,
        infrastructure=np.isnan(flat),
        expected=np.array([max(map(len, rewards), default=0)] * len(rewards)),
    )


def analysis_of(outcomes: Outcomes, success: Success, **given: Any) -> Analysis:
    """An analysis with the metrics of these outcomes; everything else is plain unless it is given."""
    measures = measure(outcomes)
    rows, expected = len(outcomes.task), int(outcomes.expected.sum())
    unscored = int(np.isnan(outcomes.reward).sum())
    fields: dict[str, Any] = {
        "inputs": plain_inputs(rows),
        "coverage": Coverage(
            tasks=len(outcomes.tasks),
            expected_rollouts=expected,
            rollouts=rows,
            missing=expected - rows,
            duplicates=0,
            malformed=0,
            unscored=unscored,
        ),
        "slices": [],
        "effort": [],
        "funnel": [],
        "signals": [],
        "health": [],
        "causes": [],
        "reading_list": [],
        **{name: getattr(measures, name) for name in MEASURED},
    }
    return Analysis(success=success, **(fields | given))


MEASURED = (
    *("headline", "metrics", "sensitivity", "variance", "buckets"),
    *("misplacement", "lowest_rate_behind_always", "tasks"),
)


def plain_inputs(rows: int, **given: Any) -> Inputs:
    """One file, one model, nothing wrong."""
    identity = Identity(scheme="field", task_field="task_id", repeat_field="repeat")
    inputs = Inputs(
        run="demo",
        files=[SourceFile(name="demo.jsonl", format="records", bytes=5542, rows=rows)],
        identity=identity,
        identity_sentence=identity.sentence,
        reward_field="reward",
        expected_from="largest repeat count seen",
        models=[Count(value="model-a", rollouts=rows)],
        agents=[Count(value=None, rollouts=rows)],
        bad_lines=[],
        duplicates=[],
        recovered_failures=0,
    )
    return msgspec.structs.replace(inputs, **given)


def binary_analysis() -> Analysis:
    """Five tasks of four repeats with one of every kind of trouble, one task judged by a person."""
    rewards: Rewards = [[1, 1, 1, 1], [1, 0, 1, 1], [0, 0, 1, None], [0, 0, 0, 0], [0, 0, 0]]
    outcomes = outcomes_of(rewards, ["add", "sort", "parse", "prove", "route"])
    levels = ["easy"] * 8 + ["hard"] * 11
    tokens = np.array([100, 110, 90, 100, 150, 400, 160, 140, 300, 350, 200, np.nan, *[900.0] * 7])
    analysis = analysis_of(
        outcomes,
        BINARY,
        slices=[SliceTable(field="difficulty", asked=True, levels=slice_outcomes(outcomes, levels))],
        effort=compare_effort(outcomes, {"output tokens": tokens}),
        funnel=FUNNEL,
        signals=SIGNALS,
        health=HEALTH,
        causes=CAUSES,
        reading_list=READING,
        inputs=troubled_inputs(),
        contrast=CONTRAST,
        headroom=HEADROOM,
        interventions=INTERVENTIONS,
    )
    coverage = msgspec.structs.replace(
        analysis.coverage, malformed=12, duplicates=1, failed=1, truncated=2, infrastructure=1
    )
    return msgspec.structs.replace(analysis, coverage=coverage)


def troubled_inputs() -> Inputs:
    """Bad lines, a duplicate, a published file that disagrees, two models, a copy and a note."""
    places = [Source(file="demo.jsonl", line=line, offset=100 * line, length=99) for line in (4, 9)]
    return plain_inputs(
        19,
        models=[Count(value="model-a", rollouts=15), Count(value="model-b", rollouts=4)],
        bad_lines=[
            BadLine(file="demo.jsonl", line=line, offset=300 * line, reason="is not JSON: expected a value (byte 1)")
            for line in range(20, 31)
        ],
        duplicates=[Duplicate(rollout="add:3", kind="conflicting", rows=places)],
        recovered_failures=1,
        published=[
            PublishedCheck(file="demo_agent_metrics.json", compared=3),
            PublishedCheck(
                file="demo_aggregate_metrics.json",
                compared=2,
                different=["mean/reward: published 0.9, rows give 0.421053"],
                not_recomputed=["mean/judge_score"],
            ),
        ],
        copies=["demo-again"],
        notes=["1 task of the materialized inputs has no rollout"],
    )


def gain(value: float, ci95: tuple[float, float] | None = None) -> Metric:
    return Metric(value=value, n=5, ci95=ci95, definition="mean over tasks of the gain")


CONTRAST = Contrast(
    tasks=2,
    rollouts=7,
    tested=14,
    traits=[
        Trait(
            trait="says “let me check”",
            favours="pass",
            tasks=2,
            passing=(4, 4),
            failing=(0, 3),
            odds_ratio=None,
            ci95=None,
            p_value=0.0004,
            q_value=0.0056,
            examples=["sort:1", "sort:0"],
        ),
        Trait(
            trait="more output tokens than the task's median",
            favours="fail",
            tasks=2,
            passing=(1, 4),
            failing=(3, 3),
            odds_ratio=6.25,
            ci95=(1.5, 26.0),
            p_value=0.0001,
            q_value=0.0007,
        ),
    ],
    pairs=[
        TaskContrast(
            task="sort",
            passing="sort:0#4",
            failing="sort:1#4",
            common=3,
            passing_does='calls run {"code": "sorted(x)"}',
            failing_does="message: I will sort by hand.",
        )
    ],
)
HEADROOM = [
    Headroom(mode="baseline", score=0.4167, gain=gain(0.0), tasks=0, rollouts=0),
    Headroom(mode="truncated", score=0.4667, gain=gain(0.05, (-0.09, 0.19)), tasks=1, rollouts=4, unseen_tasks=1),
    Headroom(mode="suspect_gold", score=0.4167, gain=gain(0.0), tasks=0, rollouts=1),
    Headroom(mode="all modes", score=0.4667, gain=gain(0.05, (-0.09, 0.19)), tasks=1, rollouts=5),
    Headroom(mode="oracle", score=0.6, gain=gain(0.1833, (-0.1, 0.47)), tasks=2, rollouts=0),
]
INTERVENTIONS = [
    Intervention(
        action="sft",
        target="KG",
        what="teach or provide what the model does not know",
        cause="KG",
        headroom=gain(0.4, (-0.28, 1.08)),
        tasks=2,
        rollouts=7,
        citations=[f"prove:{i}" for i in range(4)],
    ),
    Intervention(
        action="agent loop",
        target="truncated",
        what="raise the token or turn limit, or make the agent shorter",
        cause="BI",
        headroom=gain(0.05, (-0.09, 0.19)),
        tasks=1,
        rollouts=4,
        unseen_tasks=1,
        citations=["sort:1"],
    ),
]
FUNNEL = [
    Stage(name="started", rollouts=19, tasks=5, definition="a row exists for the rollout"),
    Stage(name="produced output", rollouts=None, tasks=None, definition="an item follows the prompt"),
    Stage(name="was scored", rollouts=18, tasks=5, definition="has a score", lost=["parse:3"]),
    Stage(
        name="passed",
        rollouts=8,
        tasks=3,
        definition="counts as a success",
        lost=["sort:1", "parse:0", "parse:1", *(f"prove:{i}" for i in range(4)), *(f"route:{i}" for i in range(3))],
    ),
]
SIGNALS = [
    Signal(
        code="truncated",
        kind="behaviour",
        title="ran out of tokens or turns",
        source="incomplete_details, truncated",
        rollouts=5,
        passed=1,
        failed=4,
        tasks=3,
        citations=["sort:1#7", "sort:2#7", "prove:0#3", "prove:1#3", "route:0"],
    ),
    Signal(
        code="timeout",
        kind="infrastructure",
        title="agent, container or evaluation timed out",
        source="timed-out fields, failure class",
        rollouts=1,
        passed=0,
        failed=1,
        tasks=1,
        citations=["parse:3"],
    ),
]
HEALTH = [
    Finding(code="bad_lines", cause="DA", message="12 lines could not be used", rows=12, hint="repair these rows"),
    Finding(
        code="timeout",
        cause="IR",
        message="timed out in 1 rollout that did not pass",
        rows=1,
        tasks=1,
        citations=["parse:3"],
        hint="rerun these rollouts",
        headline_without=0.4167,
    ),
]
CAUSES = [
    Cause(
        task="sort",
        label="BI",
        confidence="medium",
        author="rule:truncated",
        reason="every failing rollout: ran out of tokens or turns",
        evidence=[Evidence(citation="sort:1#7")],
    ),
    Cause(
        task="parse",
        label="UK?",
        confidence="low",
        author="rule:unexplained",
        reason="passes sometimes; no signal explains its failures; read it",
    ),
    Cause(
        task="prove",
        label="KG",
        confidence="high",
        author="human:ada",
        reason="cites a lemma that does not exist, see `prove:2#5`",
        evidence=[Evidence(citation="prove:2#5", quote="by the lemma of `Zorn` | 1935")],
    ),
    Cause(
        task="route",
        label="KG?",
        confidence="low",
        author="rule:unexplained",
        reason="never passes; no signal explains its failures; read it",
    ),
]
READING = [
    ReadingItem(
        task="route",
        bucket="never",
        why="KG? by rule:unexplained: never passes",
        read=["route:0"],
        command="blade show DIR route:0",
    ),
    ReadingItem(
        task="parse",
        bucket="sometimes",
        why="UK? by rule:unexplained: passes sometimes",
        read=["parse:2", "parse:0"],
        command="blade diff DIR parse:2 parse:0",
    ),
]


def continuous_analysis() -> Analysis:
    """Three tasks of two repeats with graded rewards."""
    outcomes = outcomes_of([[0.2, 0.4], [0.9, 0.8], [0.5, 0.5]], ["a", "b", "c"], continuous=True)
    levels = ["x", "x", "x", "x", "y", "y"]
    slices = [SliceTable(field="kind", asked=False, levels=slice_outcomes(outcomes, levels))]
    return analysis_of(outcomes, CONTINUOUS, slices=slices, funnel=FUNNEL[:2])


def unscored_analysis() -> Analysis:
    """One task of two rollouts nobody scored."""
    inputs = plain_inputs(2, reward_field=None, models=[Count(value=None, rollouts=2)])
    return analysis_of(outcomes_of([[None, None]], ["a"], continuous=True), UNSCORED, inputs=inputs)


def with_text(text: str) -> Analysis:
    """The first analysis with one text in every place where foreign text can stand."""
    analysis = binary_analysis()
    renamed = {result.task: f"{result.task}{text}" for result in analysis.tasks}
    plain = msgspec.to_builtins(analysis)
    return msgspec.convert(_tainted(plain, text, renamed), Analysis)


FOREIGN = frozenset(
    {
        *("run", "name", "format", "identity_sentence", "reward_field", "expected_from", "value", "file", "reason"),
        *("different", "not_recomputed", "copies", "notes", "rule", "source", "field", "level", "definition"),
        *("title", "message", "hint", "author", "quote", "why", "code", "label", "trait", "favours"),
        *("passing_does", "failing_does", "what", "target"),
    }
)


def _tainted(value: Any, text: str, renamed: dict[str, str], place: str = "") -> Any:
    """The value with the text behind every foreign text, and every task key renamed."""
    if isinstance(value, dict):
        return {key: _tainted(part, text, renamed, key) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_tainted(part, text, renamed, place) for part in value]
    if not isinstance(value, str):
        return value
    if place in FOREIGN:
        return value + text
    head, colon, rest = value.rpartition(":")
    if head in renamed:
        return f"{renamed[head]}{colon}{rest}"
    return renamed.get(value, value)
