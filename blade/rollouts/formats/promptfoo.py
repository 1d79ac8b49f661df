"""promptfoo: the results of an evaluation as JSON (`-o results.json`) or as JSON Lines (`-o results.jsonl`).

An evaluation is providers × prompts × test cases. A provider is a run, a prompt is a variant, a test case is a task.
Repeats of a test case have numbers of their own in the file and are known by being the same test case.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from blade.rollouts.formats.building import Trajectory, bad_line, place
from blade.rollouts.formats.coercion import (
    content_text,
    first_line,
    json_text,
    number_or_none,
    objects,
    part,
    short_values,
    text_or_none,
)
from blade.rollouts.formats.files import BROKEN, decode_lenient, json_lines, read_json
from blade.rollouts.formats.reader import Found, Note, Probe, Reader
from blade.rollouts.values import BadLine, Ending, Expected, Rollout, TestStatus, Usage

ROW_KEYS = frozenset({"provider", "prompt", "testCase", "success", "score", "failureReason"})
ERROR = 2
"""`failureReason` of a result that was never judged; 1 is a failed assertion."""
LONGEST_NAME = 80
"""Characters of an assertion's value that are part of its name."""


class Inner(msgspec.Struct):
    """What stands under `results`."""

    results: list[msgspec.Raw] = []
    version: Any = None


class Document(msgspec.Struct):
    """An evaluation, its results undecoded."""

    results: Inner
    config: Any = None
    metadata: Any = None


DOCUMENT = msgspec.json.Decoder(Document)


def recognises(probe: Probe) -> bool:
    """Whether a file is an exported evaluation."""
    exported = {"evalId", "results", "config"} <= probe.keys and b'"promptIdx"' in probe.head
    return not probe.is_folder and not probe.is_array and (exported or probe.keys >= ROW_KEYS)


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every result; its place is its position in the list or the place of its line."""
    numbers = Numbers(rows(path))
    if numbers.metrics:
        also = ", ".join(["score", *sorted(numbers.metrics)])
        yield Note(text=f"passing counts as the score; --score also takes {also}")
    for at, line, row in rows(path):
        if isinstance(row, BadLine):
            yield row
            continue
        if row is None:
            yield bad_line(path, "is not a result of promptfoo", line=line, offset=at)
            continue
        if wanted is not None and at not in wanted:
            continue
        rollout = rollout_of(row, numbers, at)
        yield msgspec.structs.replace(rollout, source=place(path, at, line=line))


def rows(path: Path) -> Iterator[tuple[int, int, dict[str, Any] | BadLine | None]]:
    """Place, line and content of each result; nothing where it is none."""
    if "evalId" in Probe(path).keys:
        for index, raw in enumerate(read_json(path, DOCUMENT).results.results):
            yield index, 1, as_result(bytes(raw))
        return
    for line in json_lines(path):
        if isinstance(line, BadLine):
            yield line.offset, line.line, line
        else:
            yield line.offset, line.line, as_result(line.data)


def as_result(data: bytes) -> dict[str, Any] | None:
    row = decode_lenient(data)
    return row if isinstance(row, dict) and isinstance(row.get("testCase"), dict) else None


class Numbers:
    """Which task, repeat and prompt a result is of, told by all results together."""

    def __init__(self, found: Iterator[tuple[int, int, Any]]) -> None:
        cases: dict[bytes, int] = {}
        groups: dict[tuple[Any, ...], list[tuple[int, int]]] = defaultdict(list)
        prompts, runs, metrics = set[str](), set[str | None](), set[str]()
        for at, _, row in found:
            if isinstance(row, dict):
                index = row.get("testIdx")
                order = index if isinstance(index, int) and not isinstance(index, bool) else at
                case = digest(row["testCase"])
                cases[case] = min(order, cases.get(case, order))
                prompts.add(label_of(row))
                runs.add(run_of(row))
                metrics.update(part(row, "namedScores"))
                groups[case, run_of(row), label_of(row)].append((order, at))
        self.prompts = prompts
        self.runs = runs
        self.metrics = metrics
        ordered = sorted(cases, key=lambda case: cases[case])
        self.tasks = {case: str(number) for number, case in enumerate(ordered)}
        self.repeats = {at: number for group in groups.values() for number, (_, at) in enumerate(sorted(group))}


def digest(case: dict[str, Any]) -> bytes:
    """The same for the same test case."""
    return hashlib.blake2b(msgspec.json.encode(case, order="sorted"), digest_size=16).digest()


def run_of(row: dict[str, Any]) -> str | None:
    """The provider, by the label its user gave it."""
    provider = row.get("provider")
    if isinstance(provider, dict):
        return text_or_none(provider.get("label")) or text_or_none(provider.get("id"))
    return text_or_none(provider)


def label_of(row: dict[str, Any]) -> str:
    return content_text(part(row, "prompt").get("label") or part(row, "prompt").get("raw"))


def rollout_of(row: dict[str, Any], numbers: Numbers, at: int) -> Rollout:
    """One result. One that was never judged counts as failed, as in promptfoo's own pass rate."""
    case, response = part(row, "testCase"), part(row, "response")
    passed = row.get("success")
    named = {str(name): number_or_none(value) for name, value in part(row, "namedScores").items()}
    provider = row.get("provider")
    latency = number_or_none(row.get("latencyMs"))
    return Rollout(
        task=numbers.tasks[digest(case)],
        repeat=numbers.repeats[at],
        run=run_of(row) if len(numbers.runs) > 1 else None,
        variant=label_of(row) if len(numbers.prompts) > 1 else None,
        reward=number_or_none(passed) if isinstance(passed, bool) else None,
        scores={"pass": number_or_none(passed), "score": number_or_none(row.get("score")), **named},
        model=text_or_none(provider.get("id")) if isinstance(provider, dict) else text_or_none(provider),
        ending=ending_of(row, response),
        answer=content_text(response.get("output")) if response.get("output") is not None else None,
        expected=expected_of(case),
        tests=tests_of(part(row, "gradingResult")),
        settings=settings_of(row, case),
        usage=usage_of(row, response),
        seconds=latency / 1000 if latency is not None else None,
        fields=fields_of(row, case),
        items=steps_of(row, response).items,
    )


def ending_of(row: dict[str, Any], response: dict[str, Any]) -> Ending:
    """An error before anything was judged. It is the provider's if its response says so."""
    if row.get("failureReason") != ERROR:
        return (
            Ending(kind="limit", origin="model", name="length")
            if response.get("finishReason") == "length"
            else Ending()
        )
    message = text_or_none(response.get("error")) or text_or_none(row.get("error"))
    return Ending(kind="error", origin="model" if response.get("error") else None, name="ERROR", message=message)


def expected_of(case: dict[str, Any]) -> Expected | None:
    """What the assertions ask for; a text to be equalled is an answer."""
    listed = [one for one in objects(case.get("assert")) if one.get("type") != "assert-set"]
    answers = [content_text(one.get("value")) for one in listed if one.get("type") == "equals"]
    checks = [assertion_name(one) for one in listed if one.get("type") != "equals"]
    return Expected(answers=answers or None, checks=checks or None) if listed else None


def assertion_name(assertion: dict[str, Any]) -> str:
    """An assertion by its kind and the beginning of its value."""
    value = assertion.get("value")
    said = first_line(content_text(value), LONGEST_NAME) if value not in (None, "") else ""
    return f"{content_text(assertion.get('type'))}: {said}" if said else content_text(assertion.get("type"))


def tests_of(grading: dict[str, Any]) -> dict[str, TestStatus]:
    """Each assertion's outcome. Of a red team's graders the kind is the name: their value is a page of instructions."""
    found: dict[str, TestStatus] = {}
    for component in objects(grading.get("componentResults")):
        assertion = part(component, "assertion")
        kind = content_text(assertion.get("type")) or "assertion"
        name = kind if kind.startswith("promptfoo:") else assertion_name(assertion) or kind
        number = 2
        unique = name
        while unique in found:
            unique, number = f"{name} ({number})", number + 1
        met = component.get("pass")
        found[unique] = "passed" if met is True else "failed" if met is False else "error"
    return found


def settings_of(row: dict[str, Any], case: dict[str, Any]) -> dict[str, Any]:
    """The prompt and what was set for it."""
    configured = part(part(row, "prompt"), "config")
    threshold = number_or_none(case.get("threshold"))
    return {
        "prompt": first_line(label_of(row)),
        **({"threshold": threshold} if threshold is not None else {}),
        **{str(name): value for name, value in configured.items() if isinstance(value, str | int | float)},
    }


def usage_of(row: dict[str, Any], response: dict[str, Any]) -> Usage:
    used = part(response, "tokenUsage") or part(row, "tokenUsage")
    details = part(used, "completionDetails")
    return Usage(
        input_tokens=count(used.get("prompt")),
        output_tokens=count(used.get("completion")),
        cached_tokens=count(used.get("cached")),
        reasoning_tokens=count(details.get("reasoning")),
        cost=number_or_none(row.get("cost")) or None,
    )


def count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def fields_of(row: dict[str, Any], case: dict[str, Any]) -> dict[str, Any]:
    """Variables, what a red team's plugin and strategy were, and why the result failed."""
    about = {**part(case, "metadata"), **part(row, "metadata")}
    known = {
        "description": text_or_none(case.get("description")),
        **{name: text_or_none(about.get(key)) for name, key in REDTEAM.items()},
        "reason": first_line(said) if (said := text_or_none(part(row, "gradingResult").get("reason"))) else None,
    }
    return {
        **{name: value for name, value in known.items() if value is not None},
        "vars": short_values(row.get("vars")),
    }


REDTEAM = {
    "plugin": "pluginId", "strategy": "strategyId", "severity": "severity", "harm": "harmCategory",
    "stop_reason": "stopReason",
}  # fmt: skip


def steps_of(row: dict[str, Any], response: dict[str, Any]) -> Trajectory:
    """The prompt, the turns of an attack, and the output."""
    steps = Trajectory()
    raw = content_text(part(row, "prompt").get("raw"))
    chat = as_chat(raw)
    for message in chat:
        steps.add_message(message, prompt=True)
    if not chat:
        steps.add("message", raw, role="user", prompt=True)
    about = part(row, "metadata")
    for turn in objects(about.get("redteamHistory")):
        steps.add("environment", content_text(turn.get("prompt")), role="user")
        steps.add("message", content_text(turn.get("output")), role="assistant")
    if thought := content_text(response.get("reasoning")):
        steps.add("reasoning", thought)
    add_output(steps, response.get("output"))
    return steps


def as_chat(raw: str) -> list[dict[str, Any]]:
    """The messages of a prompt that is written as a chat."""
    if not raw.lstrip().startswith("["):
        return []
    try:
        chat = msgspec.json.decode(raw)
    except BROKEN:
        return []
    messages = objects(chat)
    return messages if messages and all("role" in message for message in messages) else []


def add_output(steps: Trajectory, output: Any) -> None:
    """A text, tool calls in the way of OpenAI, or anything else as JSON."""
    calls = [one for one in objects(output) if isinstance(one.get("function"), dict)]
    if calls:
        steps.add_message({"role": "assistant", "tool_calls": calls}, prompt=False)
    elif output is not None:
        last = steps.items[-1] if steps.items else None
        text = output if isinstance(output, str) else json_text(output)
        if last is None or last.prompt or last.text != text:
            steps.add("message", text, role="assistant")


READER = Reader(
    name="promptfoo", title="promptfoo evaluations (results.json or results.jsonl)", recognises=recognises, read=read
)
