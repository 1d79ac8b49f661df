"""OpenHands evaluations (`output.jsonl`): one row is one attempt at one instance, its `history` the trajectory.

A row is scored by the report that the evaluation wrote into it, else by the report beside it; rows of the resolver
say themselves whether they succeeded. Histories come in three dialects: events of today's SDK (`kind`), events of
versions before 1.0 (`action` and `observation`), and pairs of those.
"""

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from blade.errors import InputError
from blade.rollouts.formats.building import (
    BROKEN,
    Attempts,
    as_dict,
    bad_line,
    json_lines,
    number_or_none,
    place,
    scalars,
    text_or_none,
    whole,
)
from blade.rollouts.formats.openhands_events import Events, typed
from blade.rollouts.formats.reader import Found, Note, Probe, Reader
from blade.rollouts.formats.swe_reports import NO_VERDICT, Verdict, read_report
from blade.rollouts.values import BadLine, Ending, Rollout, Usage

OBJECT = msgspec.json.Decoder(dict[str, Any])
OUTPUT, REPORT = "output.jsonl", "report.json"
CLASS = re.compile(r"^(?:litellm\.)?(\w+(?:Error|Exception|Exceeded|Timeout|Cancelled|Reached))\b")
LIMIT = "Agent reached maximum"
"""How the controller begins what it says when iterations or budget run out; it has no class of its own for that."""


def recognises(probe: Probe) -> bool:
    """Whether a file has rows of an evaluation, or a folder the output of one."""
    if probe.is_folder:
        return OUTPUT in probe.names and recognises(Probe(probe.path / OUTPUT))
    keys = probe.keys
    return {"history", "metrics"} <= keys and (
        ("instance_id" in keys and bool({"test_result", "git_patch"} & keys)) or {"issue", "success"} <= keys
    )


def files(path: Path) -> list[Path]:
    """The rows and the report beside them."""
    rows = path / OUTPUT if path.is_dir() else path
    return [rows, *(file for file in [rows.parent / REPORT] if file.is_file())]


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every row; its place is its byte offset."""
    rows = path / OUTPUT if path.is_dir() else path
    reported = beside(rows)
    attempts, judged_itself = Attempts(), False
    for record in json_lines(rows):
        if isinstance(record, BadLine):
            yield record
            continue
        try:
            row = OBJECT.decode(record.data)
        except BROKEN as error:
            yield bad_line(rows, str(error), line=record.line, offset=record.offset)
            continue
        task = task_of(row)
        if task is None:
            yield bad_line(rows, "the row has no instance_id", line=record.line, offset=record.offset)
            continue
        number = whole(row.get("attempt"))
        repeat = attempts.next(task) if number is None else number
        judged_itself = judged_itself or ("success" in row and "test_result" not in row)
        if wanted is None or record.offset in wanted:
            made = rollout(row, task, reported.get(task, NO_VERDICT))
            source = place(path, record.offset, line=record.line)
            yield msgspec.structs.replace(made, repeat=repeat, source=source)
    if judged_itself and wanted is None:
        yield Note(text="the score is the resolver's own judgement of its work ('success'), not a test")


def beside(rows: Path) -> dict[str, Verdict]:
    """What the evaluation's report in the same folder says, by instance."""
    report = rows.parent / REPORT
    try:
        return read_report(report) if report.is_file() else {}
    except InputError:
        return {}


def task_of(row: dict[str, Any]) -> str | None:
    """The instance's id; for an issue, `owner/repo#number`."""
    issue = as_dict(row.get("issue"))
    if "instance_id" in row or not issue:
        return text_or_none(row.get("instance_id"))
    place = "/".join(filter(None, (text_or_none(issue.get("owner")), text_or_none(issue.get("repo")))))
    return f"{place}#{issue.get('number')}"


def rollout(row: dict[str, Any], task: str, reported: Verdict) -> Rollout:
    """One row."""
    result, metadata = as_dict(row.get("test_result")), as_dict(row.get("metadata"))
    llm = as_dict(metadata.get("llm_config") or metadata.get("llm"))
    story = Events(row.get("instruction"), row.get("history"))
    verdict = verdict_of(row, result) or reported
    ended = error_ending(text_or_none(row.get("error"))) or story.fault or Ending()
    patch = result.get("git_patch", row.get("git_patch"))
    return Rollout(
        task=task,
        repeat=0,
        reward=verdict.reward,
        ending=ended if ended.kind != "completed" else verdict.ending,
        model=text_or_none(llm.get("model")),
        agent=text_or_none(metadata.get("agent_class")) or "OpenHands",
        answer=text_or_none(patch),
        tests=verdict.tests,
        settings=scalars({
            "max_iterations": metadata.get("max_iterations"), "dataset": metadata.get("dataset"),
            "temperature": llm.get("temperature"), "top_p": llm.get("top_p"), "commit": metadata.get("git_commit"),
        }),
        usage=usage_of(as_dict(row.get("metrics"))),
        fields=fields_of(row),
        tools=story.tools,
        items=story.items,
    )  # fmt: skip


def fields_of(row: dict[str, Any]) -> dict[str, Any]:
    """What else may tell rows apart: where an instance comes from, and why the resolver thinks as it does."""
    instance = as_dict(row.get("instance"))
    kept = {name: instance.get(name) for name in ("repo", "version", "difficulty")}
    explained = text_or_none(row.get("result_explanation"))
    return scalars({**kept, **({"result_explanation": explained[:2000]} if explained else {})})


def verdict_of(row: dict[str, Any], result: dict[str, Any]) -> Verdict | None:
    """The evaluation's report in a row, or the resolver's own word."""
    for report in (row.get("report"), result.get("report"), result.get("result"), result):
        if isinstance(report, dict) and isinstance(report.get("resolved"), bool | int):
            return Verdict(reward=float(bool(report["resolved"])), ending=evaluation_ending(report))
    if "success" in row and "test_result" not in row:
        return Verdict(reward=number_or_none(row["success"]))
    return None


def evaluation_ending(report: dict[str, Any]) -> Ending:
    """Why the evaluation of a patch came to no verdict of its own."""
    if report.get("test_timeout"):
        return Ending(kind="timeout", origin="verifier", name="test_timeout")
    if report.get("error_eval"):
        return Ending(kind="error", origin="verifier", name="error_eval")
    if report.get("failed_apply_patch"):
        return Ending(kind="error", origin="agent", name="failed_apply_patch")
    return Ending()


def error_ending(error: str | None) -> Ending | None:
    """Why a row has an error, by the class it begins with."""
    if error is None:
        return None
    match = CLASS.match(error)
    name = match.group(1) if match else None
    kind, origin = typed(name)
    if LIMIT in error[:200]:
        kind, origin = "limit", "agent"
    elif name is None and error.startswith("Timeout after "):
        kind, origin = "timeout", "runner"
    return Ending(kind=kind, origin=origin, name=name, message=error)


def usage_of(metrics: dict[str, Any]) -> Usage:
    """What all calls used together."""
    tokens = as_dict(metrics.get("accumulated_token_usage"))
    return Usage(
        input_tokens=whole(tokens.get("prompt_tokens")) or None,
        output_tokens=whole(tokens.get("completion_tokens")) or None,
        reasoning_tokens=whole(tokens.get("reasoning_tokens")) or None,
        cached_tokens=whole(tokens.get("cache_read_tokens")) or None,
        cost=number_or_none(metrics.get("accumulated_cost")) or None,
    )


READER = Reader(
    name="openhands",
    title="OpenHands evaluations and resolver runs (output.jsonl)",
    recognises=recognises,
    read=read,
    files=files,
)
