"""One entry of BFCL as a rollout: what a model called, and what was wrong with it."""

from collections.abc import Iterator
from typing import Any

from blade.rollouts.formats.building import (
    Trajectory,
    arguments_text,
    content_text,
    first_line,
    json_text,
    number_or_none,
    objects,
    part,
    text_or_none,
)
from blade.rollouts.values import Ending, Expected, ExpectedCall, Rollout, Usage


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
