"""A sample of an Inspect log, and what it means: its scores, why it ended, what it was expected to say.

Names and meanings are those of inspect_ai's own classes (`EvalSample`, `Score`, `EvalSampleLimit`, `value_to_float`).
"""

import re
from typing import Any

import msgspec

from blade.rollouts.formats.coercion import content_text, first_line, number_or_none, text_or_none
from blade.rollouts.formats.inspect_steps import Event, Message, Output, Pools, Steps, resolved
from blade.rollouts.values import Ending, EndingKind, Expected, Origin, Rollout, Source, Usage

WORDS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
LOWER_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
LIMITS: dict[str, tuple[EndingKind, Origin | None]] = {
    "time": ("timeout", "agent"),
    "working": ("timeout", "agent"),
    "context": ("limit", "model"),
    "operator": ("cancelled", None),
}
"""What each kind of limit means; every other (messages, tokens, turns, cost, custom) is the agent's budget."""
STOPS: dict[str, tuple[EndingKind, Origin]] = {
    "max_tokens": ("limit", "model"),
    "model_length": ("limit", "model"),
    "content_filter": ("error", "model"),
}
ERRORS: dict[str, EndingKind] = {
    "CancelledError": "cancelled",
    "KeyboardInterrupt": "cancelled",
    "TimeoutError": "timeout",
}
CLASS = re.compile(r"([A-Za-z_][\w.]*)\(")
RAISED = re.compile(r"^[ |]*([A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Warning|Timeout))\b", re.MULTILINE)
SHORT = 200


class Score(msgspec.Struct, frozen=True):
    value: Any = None
    answer: Any = None
    explanation: Any = None
    metadata: dict[str, Any] | None = None
    reason: Any = None


class Transcript(msgspec.Struct, frozen=True):
    events: list[Event] = []
    content: dict[str, str] = {}


class Sample(msgspec.Struct, frozen=True):
    id: str | int
    epoch: int = 1
    input: Any = None
    choices: Any = None
    target: Any = None
    messages: list[Message] = []
    message_refs: list[tuple[int, int]] = []
    output: Output = Output()
    scores: dict[str, Score] | None = None
    score: Score | None = None
    metadata: dict[str, Any] | None = None
    events: list[Event] = []
    transcript: Transcript | None = None
    events_data: Pools | None = None
    message_pool: list[Message] = []
    attachments: dict[str, str] = {}
    model_usage: dict[str, dict[str, Any]] | None = None
    total_time: Any = None
    error: Any = None
    error_retries: Any = None
    limit: Any = None
    invalidation: Any = None


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What every sample of a log shares."""

    name: str | None = None
    """The task that was evaluated: what Inspect calls a task is a run of many samples."""
    scorer: str | None = None
    """The score that counts: the name of a scorer; `None` for the first a sample has."""
    key: str | None = None
    """Which of its values counts, where it gives several."""
    model: str | None = None
    """The model that is evaluated."""
    agent: str | None = None
    """The solver that drives it."""
    settings: dict[str, Any] = {}
    """Sampling, limits and versions."""


def rollout_of(sample: Sample, run: Run, source: Source, odd: set[str]) -> Rollout:
    """What a sample says; words that Inspect counts as 0 for want of a meaning are added to `odd`."""
    if sample.transcript is not None:  # as before October 2024
        sample = msgspec.structs.replace(
            sample, events=sample.transcript.events, attachments=sample.transcript.content, transcript=None
        )
    steps = Steps(sample)
    scores = sample.scores or ({run.scorer or "score": sample.score} if sample.score is not None else {})
    name, score = counted(scores, run)
    numbers = {label: number_of(value, odd) for label, value in values_of(scores)}
    ended = ending_of(sample, steps)
    return Rollout(
        task=str(sample.id),
        repeat=sample.epoch,
        run=run.name,
        reward=numbers.get(name) if name is not None else None,
        scores=numbers,
        model=run.model,
        agent=run.agent,
        ending=ended,
        answer=text_or_none(resolved(score.answer, sample.attachments)) if score is not None else None,
        expected=expected_of(sample, run),
        settings=run.settings,
        usage=usage_of(*((sample.model_usage, steps.models) if sample.model_usage else (steps.usage, set()))),
        seconds=number_or_none(sample.total_time),
        fields=fields_of(sample, score),
        tools=steps.tools,
        items=steps.trajectory.items,
        source=source,
    )


def counted(scores: dict[str, Score], run: Run) -> tuple[str | None, Score | None]:
    """The label of the number that counts, and the score it belongs to."""
    scorer = next(iter(scores), None) if run.scorer is None else run.scorer
    if run.key in scores:
        scorer = run.key
    score = scores.get(scorer) if scorer is not None else None
    if score is None:
        return None, None
    if not isinstance(score.value, dict | list):
        return scorer, score
    keys = list(score.value) if isinstance(score.value, dict) else list(range(len(score.value)))
    key = keys[0] if len(keys) == 1 else run.key
    return (f"{scorer}.{key}" if key in keys else None), score


def values_of(scores: dict[str, Score]) -> list[tuple[str, Any]]:
    """Every single value by its label: a scorer, or a scorer and one of its keys."""
    found: list[tuple[str, Any]] = []
    for name, score in scores.items():
        if isinstance(score.value, dict):
            found += [(f"{name}.{key}", value) for key, value in score.value.items()]
        elif isinstance(score.value, list):
            found += [(f"{name}.{index}", value) for index, value in enumerate(score.value)]
        else:
            found.append((name, score.value))
    return found


def number_of(value: Any, odd: set[str]) -> float | None:
    """A value as the number Inspect counts; a value that is not a number at all was not scored."""
    if not isinstance(value, str):
        return number_or_none(value)
    if value in WORDS:
        return WORDS[value]
    if value.lower() in LOWER_WORDS:
        return LOWER_WORDS[value.lower()]
    try:
        number = number_or_none(float(value))
    except ValueError:
        number = None
    if number is None:
        odd.add(value)
        return 0.0
    return number


def ending_of(sample: Sample, steps: Steps) -> Ending:
    """Why a sample ended: an error that halted it, a limit, the reason the model stopped."""
    if isinstance(sample.error, dict):
        message = text_or_none(sample.error.get("message"))
        name = error_class(message or "", sample.error.get("traceback"))
        kind = ERRORS.get((name or "").rpartition(".")[2], "error")
        return Ending(
            kind=kind, origin=None if kind == "cancelled" else steps.error_origin, name=name, message=message
        )  # fmt: skip
    if isinstance(sample.limit, dict):
        limit = text_or_none(sample.limit.get("type")) or "limit"
        kind, origin = LIMITS.get(limit, ("limit", "agent"))
        message = text_or_none(sample.limit.get("reason")) or steps.limit_message
        return Ending(kind=kind, origin=origin, name=f"{limit}_limit", message=message)
    stop = sample.output.stop_reason
    if stop in STOPS:
        kind, origin = STOPS[stop]
        return Ending(kind=kind, origin=origin, name=stop)
    return Ending()


def error_class(message: str, traceback: Any) -> str | None:
    """The class of the exception that halted a sample: its message is the exception's `repr`, or stands in a
    traceback that names it last."""
    written = CLASS.match(message)
    if written is not None:
        return written.group(1)
    raised = RAISED.findall(traceback) if isinstance(traceback, str) else []
    return raised[-1] if raised else (first_line(message) if message else None)


def expected_of(sample: Sample, run: Run) -> Expected | None:
    """What the target asks for: answers, or the criterion of a grading model."""
    listed = sample.target if isinstance(sample.target, list) else [sample.target]
    targets = [text for text in map(text_or_none, listed) if text]
    if not targets:
        return None
    if (run.scorer or "").startswith("model_graded"):
        return Expected(checks=targets)
    if sample.choices and len(targets) > 1:
        return Expected(answers=[", ".join(targets)])
    return Expected(answers=targets)


def usage_of(by_model: dict[str, dict[str, Any]], models: set[str]) -> Usage:
    """Tokens of the models that acted; those that only graded are left out. Inspect counts cached tokens beside the
    others since they are charged apart, and counted them among the others before: the total tells which."""
    acted = [usage for model, usage in by_model.items() if not models or model in models]

    def total(*keys: str) -> float | None:
        known = [number for usage in acted for key in keys if (number := number_or_none(usage.get(key))) is not None]
        return sum(known) if known else None

    cached = ("input_tokens_cache_read", "input_tokens_cache_write")
    apart = total("total_tokens") == total("input_tokens", "output_tokens", *cached)
    return Usage(
        input_tokens=whole(total("input_tokens", *cached) if apart else total("input_tokens")),
        output_tokens=whole(total("output_tokens")),
        reasoning_tokens=whole(total("reasoning_tokens")),
        cached_tokens=whole(total("input_tokens_cache_read")),
        cost=total("total_cost"),
    )


def whole(number: float | None) -> int | None:
    return None if number is None else int(number)


def fields_of(sample: Sample, score: Score | None) -> dict[str, Any]:
    """The sample's own metadata, and what the scorer said beside its score."""
    found = scalars(sample.metadata or {})
    if score is not None:
        found |= {f"score.{key}": value for key, value in scalars(score.metadata or {}).items()}
        explanation = content_text(resolved(score.explanation, sample.attachments))
        if explanation and explanation not in (score.answer, sample.output.completion):
            found["explanation"] = explanation
        reason = score.reason or (score.metadata or {}).get("unscored_reason")
        if isinstance(reason, str):
            found["score_reason"] = reason
    if isinstance(sample.error_retries, list) and sample.error_retries:
        found["error_retries"] = len(sample.error_retries)
    if sample.invalidation is not None:
        found["invalidated"] = True
    if sample.output.stop_reason is not None:
        found["stop_reason"] = sample.output.stop_reason
    return found


def scalars(values: dict[str, Any]) -> dict[str, Any]:
    """The single values of an object that are short enough to be columns."""
    return {
        key: value
        for key, value in values.items()
        if isinstance(value, bool | int | float) or (isinstance(value, str) and 0 < len(value) <= SHORT)
    }
