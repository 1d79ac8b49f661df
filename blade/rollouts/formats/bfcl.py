"""BFCL, the Berkeley function calling leaderboard: a project folder with `result/MODEL/…` and `score/MODEL/…`.

Results hold what every model answered; score files hold an accuracy and only what failed. So an entry passed when its
category has a score file about as many entries that does not name it, and has no score otherwise. A model is a run.
"""

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from blade.errors import InputError
from blade.rollouts.formats.building import Trajectory, bad_line, place
from blade.rollouts.formats.coercion import (
    arguments_text,
    content_text,
    first_line,
    json_text,
    number_or_none,
    objects,
    part,
    text_or_none,
    whole,
)
from blade.rollouts.formats.files import decode_lenient, json_lines
from blade.rollouts.formats.reader import Found, Note, Probe, Reader
from blade.rollouts.values import BadLine, Ending, Expected, ExpectedCall, Rollout, Usage

RESULT = re.compile(r"BFCL_v\d+_(?P<category>.+)_result\.json")
SCORE = re.compile(r"BFCL_v\d+_(?P<category>.+)_score\.json")
RESULTS, SCORES = "result", "score"
HEADER_KEYS = frozenset({"accuracy", "correct_count", "total_count"})
FILE_ROOM = 1 << 40
"""Places kept for each file, so that places differ between files."""


class Category(NamedTuple):
    """What one model answered to one category of tests."""

    model: str
    name: str
    results: Path
    scores: Path | None


def recognises(probe: Probe) -> bool:
    """Whether a path is a project folder, a file of results, or a file of scores."""
    if probe.is_folder:
        return {RESULTS, SCORES} <= probe.names and any(
            True for _ in (probe.path / RESULTS).rglob("BFCL_v*_result.json")
        )
    if RESULT.fullmatch(probe.path.name):
        return {"id", "result"} <= probe.keys
    return SCORE.fullmatch(probe.path.name) is not None and probe.keys >= HEADER_KEYS


def categories(path: Path) -> list[Category]:
    """The categories a path stands for, with their scores if they have been scored."""
    if path.is_dir():
        found = sorted(file for file in (path / RESULTS).rglob("BFCL_v*_result.json") if RESULT.fullmatch(file.name))
        return [category_of(file, path / RESULTS) for file in found]
    if SCORE.fullmatch(path.name):
        results = across(path, SCORES, RESULTS)
        if results is None:
            raise InputError(
                f"{path}: lists failures only; its results are needed too, at {RESULTS}/ beside {SCORES}/."
            )
        path = results
    root = next((folder for folder in path.parents if folder.name == RESULTS), path.parent.parent)
    return [category_of(path, root)]


def category_of(results: Path, root: Path) -> Category:
    match = RESULT.fullmatch(results.name)
    inside = results.relative_to(root).parts
    return Category(
        model=inside[0] if len(inside) > 1 else root.name,
        name=match["category"] if match else results.stem,
        results=results,
        scores=across(results, RESULTS, SCORES),
    )


def across(file: Path, here: str, there: str) -> Path | None:
    """The file that belongs to this one in the other of the two folders."""
    for folder in file.parents:
        if folder.name == here:
            other = folder.parent / there / file.relative_to(folder)
            found = other.with_name(re.sub(f"_{here}\\.json$", f"_{there}.json", file.name))
            return found if found.is_file() else None
    return None


def files(path: Path) -> list[Path]:
    """Results and scores."""
    return [file for one in categories(path) for file in (one.results, one.scores) if file is not None] or [path]


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every entry of every category of every model; its place is that of its line among the results."""
    found = categories(path)
    several = len({one.model for one in found}) > 1
    for number, category in enumerate(found):
        base = number * FILE_ROOM
        within = None if wanted is None else {at - base for at in wanted if 0 <= at - base < FILE_ROOM}
        if within is None or within:
            yield from read_category(category, base, within, several=several)


def read_category(category: Category, base: int, wanted: set[int] | None, *, several: bool) -> Iterator[Found]:
    """The entries of one file of results, held against its scores."""
    failed = failures(category.scores) if category.scores is not None else None
    complete = True
    if failed is None:
        yield Note(text=f"{category.name} has not been scored: run `bfcl evaluate`")
    elif (counted := failed.total) is not None:
        there = sum(not isinstance(line, BadLine) for line in json_lines(category.results))
        complete = counted == there
        if not complete:
            yield Note(
                text=f"{category.name} was scored on {counted} of {there} results, and nobody knows which passed: "
                "run `bfcl evaluate` again"
            )
    for line in json_lines(category.results):
        if isinstance(line, BadLine):
            yield msgspec.structs.replace(line, offset=base + line.offset)
            continue
        if wanted is not None and line.offset not in wanted:
            continue
        row = decode_lenient(line.data)
        task = text_or_none(row.get("id")) if isinstance(row, dict) else None
        if not isinstance(row, dict) or task is None or "result" not in row:
            yield bad_line(category.results, "is not a result of BFCL", line=line.line, offset=base + line.offset)
            continue
        failure = None if failed is None else failed.entries.get(task)
        scored = failure is not None or (failed is not None and complete)
        entry = Entry(row, category.name, failure, scored=scored)
        where = place(category.results, base + line.offset, line=line.line, length=len(line.data))
        rollout = entry.rollout(task, category.model)
        yield msgspec.structs.replace(rollout, source=where, run=category.model if several else None)


class Failures(NamedTuple):
    """What a score file says: the entries that failed by their id, and how many were scored."""

    entries: dict[str, dict[str, Any]]
    total: int | None


def failures(scores: Path) -> Failures | None:
    """What failed; nothing when the file is broken or lacks failures that its head counts: nobody knows who passed."""
    found: dict[str, dict[str, Any]] = {}
    total, correct = None, None
    for number, line in enumerate(json_lines(scores)):
        row = None if isinstance(line, BadLine) else decode_lenient(line.data)
        if not isinstance(row, dict):
            return None
        task = text_or_none(row.get("id"))
        if task is not None and row.get("valid") is not True:
            found[task] = row
        elif number == 0:
            if not row.keys() >= HEADER_KEYS:
                return None
            total, correct = whole(row["total_count"]), whole(row["correct_count"])
    is_cut = total is not None and correct is not None and len(found) < total - correct
    return None if is_cut else Failures(found, total)


class Entry:
    """A result, and the row of the score file that says why it failed, if it did."""

    def __init__(self, row: dict[str, Any], category: str, failure: dict[str, Any] | None, *, scored: bool) -> None:
        self.row = row
        self.category = category
        self.failure = failure or {}
        self.reward = (0.0 if failure is not None else 1.0) if scored else None
        error = self.failure.get("error")
        self.error = error if isinstance(error, dict) else {}
        self.error_type = text_or_none(self.failure.get("error_type")) or text_or_none(self.error.get("error_type"))

    def rollout(self, task: str, model: str) -> Rollout:
        """The attempt."""
        said = self.failure.get("error") if not self.error else self.error.get("error_message", self.error.get("error"))
        why = text_or_none(said[0] if isinstance(said, list) and said else said)
        known = {"category": self.category, "error_type": self.error_type, "error": first_line(why) if why else None}
        latencies = list(flat(self.row.get("latency")))
        return Rollout(
            task=task,
            repeat=0,
            reward=self.reward,
            model=model,
            ending=self.ending(),
            expected=self.expected(),
            usage=Usage(
                input_tokens=int(sum(flat(self.row.get("input_token_count")))) or None,
                output_tokens=int(sum(flat(self.row.get("output_token_count")))) or None,
            ),
            seconds=sum(latencies) if latencies else None,
            fields={name: value for name, value in known.items() if value is not None},
            tools=objects(part(self.failure, "prompt").get("function")),
            items=self.steps().items,
        )

    def ending(self) -> Ending:
        """Only an exception during inference leaves a traceback; a model that took too many steps is stopped."""
        if "traceback" in self.row:
            message = text_or_none(self.row.get("result"))
            return Ending(kind="error", origin="model", name="inference_error", message=message)
        if self.error_type == "multi_turn:force_terminated":
            return Ending(kind="limit", origin="agent", name="force_terminated")
        return Ending()

    def expected(self) -> Expected | None:
        """The right calls. An argument that may have several values, or be left out, is not compared."""
        answer = self.failure.get("possible_answer")
        calls = [one for one in objects(answer) if len(one) == 1 and all(isinstance(v, dict) for v in one.values())]
        if calls and isinstance(answer, list) and len(calls) == len(answer):
            return Expected(calls=[expected_call(name, given) for one in calls for name, given in one.items()])
        texts = [content_text(one) for one in answer] if isinstance(answer, list) else []
        return Expected(checks=texts) if any(texts) else None

    def steps(self) -> Trajectory:
        """The conversation as it was logged; else the question, where a failure shows it, and the answer."""
        steps = Trajectory()
        turns = [turn for turn in objects(self.row.get("inference_log")) if "begin_of_turn_query" in turn]
        for number, turn in enumerate(turns):
            self.add_turn(steps, turn, first=number == 0)
        if turns:
            return steps
        asked = self.failure.get("prompt")
        questions = asked.get("question") if isinstance(asked, dict) else asked
        for messages in questions if isinstance(questions, list) else ():
            for message in objects(messages):
                steps.add_message(message, prompt=True)
        thought = content_text(self.row.get("reasoning_content"))
        if thought:
            steps.add("reasoning", thought)
        for answer in answers(self.row.get("result")):
            add_answer(steps, answer)
        return steps

    def add_turn(self, steps: Trajectory, turn: dict[str, Any], *, first: bool) -> None:
        """The user's query, then each step: the model's answer and what its calls returned."""
        for message in objects(turn.get("begin_of_turn_query")):
            steps.add_message(message, prompt=first)
        for name, entries in turn.items():
            if not name.startswith("step_"):
                continue
            called: list[str] = []
            for entry in objects(entries):
                if entry.get("role") == "assistant":
                    if thought := content_text(entry.get("reasoning_content")):
                        steps.add("reasoning", thought)
                    called = add_answer(steps, entry.get("content"))
                elif entry.get("role") == "tool":
                    text = content_text(entry.get("content"))
                    steps.add("tool_result", text, name=called.pop(0) if called else None, error=tool_error(text))


def tool_error(text: str) -> str | None:
    """The error a simulated tool reports: an object whose only member is `error`, or an exception's first words."""
    if text.startswith('{"error":') or text.startswith("Error during execution:"):
        return first_line(text)
    return None


def answers(result: Any) -> Iterator[Any]:
    """The answers in a result: one, or one per step of every turn."""
    if isinstance(result, list) and result and all(isinstance(turn, list) for turn in result):
        for turn in result:
            yield from turn
    else:
        yield result


def add_answer(steps: Trajectory, answer: Any) -> list[str]:
    """Calls in the way of function calling models, else a text; the names of the tools called."""
    calls = objects(answer)
    if calls and isinstance(answer, list) and len(calls) == len(answer) and all(len(call) == 1 for call in calls):
        pairs = [(str(name), arguments) for call in calls for name, arguments in call.items()]
        for name, arguments in pairs:
            steps.add("tool_call", arguments_text(arguments), name=name)
        return [name for name, _ in pairs]
    if answer not in (None, "", []):
        steps.add("message", answer if isinstance(answer, str) else json_text(answer), role="assistant")
    return []


def expected_call(name: Any, given: dict[str, Any]) -> ExpectedCall:
    """A right call; `given` lists the values that each argument may have, an empty text for leaving it out."""
    single = {str(key): values[0] for key, values in given.items() if isinstance(values, list) and len(values) == 1}
    firsts = {str(key): values[0] for key, values in given.items() if isinstance(values, list) and values}
    return ExpectedCall(name=content_text(name), arguments=firsts, compared=list(single))


def flat(value: Any, depth: int = 3) -> Iterator[float]:
    """The numbers in lists of lists, one list per turn and one per step."""
    if isinstance(value, list) and depth:
        for one in value:
            yield from flat(one, depth - 1)
    elif (number := number_or_none(value)) is not None:
        yield number


READER = Reader(
    name="bfcl",
    title="Berkeley function calling leaderboard (a folder with result/ and score/)",
    recognises=recognises,
    read=read,
    files=files,
)
