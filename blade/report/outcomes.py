"""Workflow Funnel and Task Outcome Buckets: how far rollouts came, and which tasks always, sometimes or never pass."""

import msgspec

from blade.diagnosis.analysis import MAX_LISTED, Analysis, Stage
from blade.metrics import Misplacement, TaskResult
from blade.metrics.buckets import ORDER
from blade.report.addresses import size
from blade.report.citations import cited, codes
from blade.report.headline import is_rate
from blade.report.listing import Listing, first
from blade.report.numbers import DASH, share
from blade.report.text import Markdown

MOST_TASKS = 50
MOST_LOST = 5


class StageRow(msgspec.Struct, frozen=True, kw_only=True):
    """One stage of the funnel as it is shown."""

    stage: Stage
    """What is known about it."""
    share: Markdown
    """Its rollouts among all there are."""
    lost: Markdown
    """Rollouts that came to the stage before and no further; empty when there are none."""


class BucketRow(msgspec.Struct, frozen=True, kw_only=True):
    """One bucket."""

    name: str
    """What it is called."""
    count: int
    """Tasks in it."""
    share: Markdown
    """Their share of all tasks."""
    tasks: Markdown
    """Their keys."""


class BucketSection(msgspec.Struct, frozen=True, kw_only=True):
    """Everything in the section on buckets."""

    rows: list[BucketRow]
    """The buckets; empty when success is not defined."""
    sometimes: Listing[TaskResult]
    """Tasks that pass sometimes, with their rates."""
    misplacement: list[Misplacement]
    """How often this many repeats misjudge a task."""
    lowest_rate: float | None
    """True rate an always-pass task may still have."""
    lowest: Listing[TaskResult]
    """Tasks with the lowest mean reward, when there are no buckets."""


def stage_rows(analysis: Analysis) -> list[StageRow]:
    """The funnel, stage by stage."""
    return [
        StageRow(
            stage=stage,
            share=share(stage.rollouts, analysis.coverage.rollouts),
            lost=cited(stage.lost, MOST_LOST, limit=MAX_LISTED),
        )
        for stage in analysis.funnel
    ]


def bucket_section(analysis: Analysis) -> BucketSection:
    """Buckets, the rates behind them, and how far they can be trusted."""
    sometimes = [result for result in analysis.tasks if result.bucket == "sometimes"]
    return BucketSection(
        rows=bucket_rows(analysis) if is_rate(analysis) else [],
        sometimes=first(sometimes, MOST_TASKS),
        misplacement=analysis.misplacement,
        lowest_rate=analysis.lowest_rate_behind_always,
        lowest=Listing(shown=[]) if is_rate(analysis) else lowest_rewards(analysis),
    )


def bucket_rows(analysis: Analysis) -> list[BucketRow]:
    keys: dict[str, list[str]] = {name: getattr(analysis.buckets, name) for name in ORDER}
    return [
        BucketRow(
            name=name,
            count=size(tasks),
            share=share(size(tasks), analysis.coverage.tasks),
            tasks=codes(first(tasks, MOST_TASKS), in_table=True) if tasks else DASH,
        )
        for name, tasks in keys.items()
    ]


def lowest_rewards(analysis: Analysis) -> Listing[TaskResult]:
    """Tasks with a reward, lowest first."""
    scored = [result for result in analysis.tasks if result.mean_reward is not None]
    return first(sorted(scored, key=lambda result: result.mean_reward or 0.0), MOST_TASKS)
