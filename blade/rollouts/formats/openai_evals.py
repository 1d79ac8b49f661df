"""OpenAI evals logs: JSON Lines with the run's `spec`, its events, and the `final_report`.

The events of one sample are one rollout; they may stand anywhere in the file, since samples run side by side. What
counts is `match.correct`, as in an eval's accuracy, else the first number among its `metrics`.
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from blade.rollouts.formats.chats import chat
from blade.rollouts.formats.coercion import content_text, number_or_none, part, short_values, text_or_none, whole
from blade.rollouts.formats.reader import Found, Note, Probe, Reader
from blade.rollouts.formats.traces import Span, TraceInfo, keyed_rows, placed_rows, read_groups
from blade.rollouts.values import Ending, Expected, Rollout, Usage

MATCH = "match"
GRADED = "modelgraded"


def recognises(probe: Probe) -> bool:
    """Whether a file begins with the specification of a run."""
    return "spec" in probe.keys and {"base_eval", "run_id", "completion_fns"} <= part(probe.record, "spec").keys()


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every sample that has events."""
    spec: dict[str, Any] = {}
    finished = False
    for _, _, row in placed_rows(path, ()):
        if isinstance(row, dict):
            spec = spec or part(row, "spec")
            finished = finished or "final_report" in row
    graded = GRADED in str(part(part(spec, "run_config"), "eval_spec").get("cls"))

    def describe(sample: str, rows: list[Any]) -> tuple[list[Span], TraceInfo]:
        return sample_trace(sample, sorted(rows, key=number_of), graded=graded)

    settings = settings_of(spec)
    model = next(iter(spec.get("completion_fns") or ()), None) if isinstance(spec.get("completion_fns"), list) else None
    for found in read_groups(
        path, wanted, lambda: keyed_rows(path, (), sample_of, what="an event of a sample"), describe
    ):
        if isinstance(found, Rollout):
            found = msgspec.structs.replace(
                found, model=found.model or text_or_none(model), settings={**settings, **found.settings}
            )
        yield found
    if wanted is None and not finished:
        yield Note(text="the log has no final report, so the run did not finish")


def settings_of(spec: dict[str, Any]) -> dict[str, Any]:
    """What the run was made with."""
    config = part(spec, "run_config")
    named = {name: spec.get(name) for name in ("eval_name", "split")}
    return short_values({**named, **{name: config.get(name) for name in ("seed", "max_samples")}})


def sample_of(row: dict[str, Any]) -> str | None:
    """The sample of an event; empty for the lines about the run."""
    if "spec" in row or "final_report" in row:
        return ""
    return text_or_none(row.get("sample_id")) if isinstance(row.get("type"), str) else None


def number_of(event: dict[str, Any]) -> float:
    return number_or_none(event.get("event_id")) or 0.0


def sample_trace(sample: str, events: list[dict[str, Any]], *, graded: bool) -> tuple[list[Span], TraceInfo]:
    """What the events of a sample say. Of a model-graded eval the last sampling is the grader's."""
    spans = [span for place, event in enumerate(events) if (span := span_of(event, place)) is not None]
    asked = [span for span in spans if span.kind == "llm"]
    if graded and len(asked) > 1:
        spans = [msgspec.structs.replace(span, kind="score") if span is asked[-1] else span for span in spans]
    matches = [part(event, "data") for event in events if event.get("type") == MATCH]
    scores: dict[str, list[float]] = {}
    for match in matches:
        add(scores, MATCH, match.get("correct"))
    for event in events:
        if event.get("type") == "metrics":
            for name, value in part(event, "data").items():
                add(scores, name, value)
    raw = next((part(event, "data") for event in events if event.get("type") == "raw_sample"), {})
    match = matches[-1] if matches else {}
    wished = match.get("expected") if match.get("expected") is not None else raw.get("ideal")
    answers = [text for each in (wished if isinstance(wished, list) else [wished]) if (text := text_or_none(each))]
    extras = {key: value for key, value in match.items() if key not in ("correct", "expected", "picked", "sampled")}
    choice = next((part(event, "data").get("choice") for event in events if event.get("type") == "metrics"), None)
    return spans, TraceInfo(
        task=sample,
        expected=Expected(answers=answers) if answers else None,
        answer=text_or_none(match.get("picked")) or text_or_none(match.get("sampled")),
        fields={**short_values(extras), **short_values({"choice": choice})},
        scores=scores,
        ending=ending_of(events),
    )


def add(scores: dict[str, list[float]], name: str, value: Any) -> None:
    number = number_or_none(value)
    if number is not None:
        scores.setdefault(name, []).append(number)


def ending_of(events: list[dict[str, Any]]) -> Ending | None:
    """An error the sample recorded."""
    error = next((part(event, "data") for event in events if event.get("type") == "error"), None)
    if error is None:
        return None
    return Ending(kind="error", name=text_or_none(error.get("type")), message=text_or_none(error.get("message")))


def span_of(event: dict[str, Any], place: int) -> Span | None:
    data = part(event, "data")
    common: dict[str, Any] = {"id": str(place), "start": float(place), "end": float(place)}
    if event.get("type") == "sampling":
        sampled = data.get("sampled")
        usage = part(data, "usage")
        return Span(
            **common,
            kind="llm",
            model=text_or_none(data.get("model")),
            given=prompt_of(data.get("prompt")),
            said=chat(sampled[0] if isinstance(sampled, list) and sampled else sampled, "assistant"),
            usage=Usage(
                input_tokens=whole(usage.get("prompt_tokens")), output_tokens=whole(usage.get("completion_tokens"))
            ),
        )
    if event.get("type") == "function_call":
        return Span(
            **common,
            kind="tool",
            name=text_or_none(data.get("name")),
            input=data.get("arguments"),
            output=data.get("return_value"),
        )
    return None


def prompt_of(prompt: Any) -> list[dict[str, Any]]:
    return chat(prompt, "user") if isinstance(prompt, list | str | dict) else chat(content_text(prompt), "user")


READER = Reader(name="openai-evals", title="OpenAI evals logs (*.jsonl)", recognises=recognises, read=read)
