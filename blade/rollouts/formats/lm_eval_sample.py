"""A line of lm-evaluation-harness samples: one document, the responses to it, and what one filter made of them.

A filter is a way of looking at the same responses, so it is a variant and never a repeat; repeats are the responses
within a line. The score of a line is the score of the response its filter takes, so the other responses have one only
if they say the same. Where a filter looks at all of them at once (a vote), the document is a single attempt.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import msgspec

from blade.rollouts.formats.building import (
    BROKEN,
    Trajectory,
    content_text,
    json_text,
    scalars,
    short_values,
    text_or_none,
)
from blade.rollouts.formats.lm_eval_task import Task
from blade.rollouts.formats.reader import Note
from blade.rollouts.values import Ending, Expected, Rollout

ROW_KEYS = frozenset({"doc_id", "doc", "target", "arguments", "resps", "filtered_resps"})
OTHER_TEXT = "…"
"""What greedy decoding would have written, of which only is known that it is not the text that was asked about."""


class Request(msgspec.Struct, frozen=True):
    """What was asked of the model once."""

    context: str | list[Any]
    """The prompt, as a text or as messages."""
    continuation: str | None
    """The text whose likelihood was asked for."""
    settings: dict[str, Any]
    """How a response was to be generated."""


class Sample:
    """One line."""

    def __init__(self, task: Task, row: dict[str, Any]) -> None:
        self.task = task
        self.row = row
        self.filter = text_or_none(row["filter"]) if "filter" in row else None
        self.requests = requests_of(row["arguments"])
        self.responses = responses_of(row["resps"])
        self.main, self.scores = task.scores(row)

    @cached_property
    def answers(self) -> list[str]:
        """The right answers."""
        return self.task.answers(self.row)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What the evaluation was made with, and what the first request says."""
        asked = self.requests[0].settings if self.requests else {}
        return scalars({**self.task.settings, **asked, "filter": self.filter})

    @cached_property
    def doc(self) -> dict[str, Any]:
        """What the document says about itself in a few words."""
        return short_values(self.row["doc"])

    def notes(self) -> Iterator[Note]:
        """What whoever looks at the numbers must know about how this line was scored."""
        others = [name for name in self.scores if name != self.main]
        if self.main is not None and others:
            yield Note(text=f"{self.main} counts as the score; --score also takes {', '.join(others)}")
        if self.main is not None and self.main in self.task.lower:
            yield Note(text=f"{self.main} counts as the score, and lower is better")
        if len(set(self.responses)) > 1 and self.task.takes_first(self.filter):
            yield Note(
                text="only the first response to each document was scored; others with the same text have its score"
            )

    def rollouts(self) -> list[Rollout]:
        """One per response; one for the document when its responses were judged together."""
        texts = self.responses
        if self.is_likelihood():
            return [self.likeliest()]
        alike = len(set(texts)) == 1 and self.task.steps(self.filter) is None
        if len(texts) > 1 and (alike or self.task.takes_first(self.filter)):
            return [self.response(n, text, scored=text == texts[0]) for n, text in enumerate(texts)]
        return [self.together()]

    def is_likelihood(self) -> bool:
        """Whether likelihoods were asked for, and nothing was generated."""
        if self.task.output_type is not None:
            return self.task.output_type != "generate_until"
        return any(request.continuation is not None for request in self.requests)

    def response(self, repeat: int, text: str, *, scored: bool) -> Rollout:
        """One of several responses, of which the filter takes the first."""
        steps = self.prompt()
        steps.add("message", text, role="assistant")
        if not scored:
            return self.rollout(steps, repeat=repeat, reward=None, scores={})
        answer = self.filtered()
        return self.rollout(steps, repeat=repeat, answer=answer, extracted=extracted(text, answer))

    def together(self) -> Rollout:
        """All responses as one attempt."""
        steps = self.prompt()
        for text in self.responses:
            steps.add("message", text, role="assistant")
        answer = self.filtered()
        found = extracted("\n".join(self.responses), answer)
        return self.rollout(
            steps, answer=answer, extracted=found, responses=len(self.responses) if len(self.responses) > 1 else None
        )

    def filtered(self) -> str | None:
        """The answer the filter found; `None` when it found none."""
        given = self.row["filtered_resps"]
        first = given[0] if isinstance(given, list) and given else None
        if isinstance(first, list) and len(first) == 1:
            first = first[0]
        text = json_text(first) if isinstance(first, list) and any(first) else content_text(first)
        return None if self.task.is_invalid(self.filter, text) else text

    def likeliest(self) -> Rollout:
        """The likeliest of several texts; of a single one, whether greedy decoding would have written it."""
        steps = self.prompt()
        names = self.options()
        likelihoods = likelihoods_of(self.row["filtered_resps"])
        if len(names) < 2 or len(likelihoods) < len(names):
            value, greedy = likelihoods[0] if likelihoods else (None, False)
            answer = names[0] if greedy and names else None
            if names and names[0]:
                steps.add("message", answer or OTHER_TEXT, role="assistant")
            right = names if len(names) == 1 and names[0] else []
            return self.rollout(steps, answer=answer, right=right, loglikelihood=value)
        weights = [
            value / self.task.length(self.main, name) for (value, _), name in zip(likelihoods, names, strict=False)
        ]
        order = sorted(range(len(names)), key=lambda option: -weights[option])
        steps.add("message", names[order[0]], role="assistant")
        return self.rollout(
            steps,
            answer=names[order[0]],
            right=[names[option] for option in self.right_options(names)],
            chosen=order[0],
            margin=weights[order[0]] - weights[order[1]],
        )

    def options(self) -> list[str]:
        """The choices without what joins them to the question; their numbers where the questions differ instead."""
        requests = self.requests
        half = len(requests) // 2
        if half and requests[0].context and not any(request.context for request in requests[half:]):
            requests = requests[:half]  # the others ask for the same texts without a context
        texts = [request.continuation or "" for request in requests]
        if len(set(texts)) < len(texts):
            return [str(option) for option in range(len(texts))]
        return [text.removeprefix(self.task.delimiter) for text in texts]

    def right_options(self, names: list[str]) -> list[int]:
        """Positions of the choices that are right, where the target tells."""
        wanted = self.task.targets(self.row)
        numbers = [int(text) for text in wanted if text.isdecimal() and len(text) < 9]
        if len(numbers) == len(wanted) and all(number < len(names) for number in numbers):
            return numbers
        return [names.index(text) for text in wanted if text in names]

    def prompt(self) -> Trajectory:
        """What the model was given."""
        steps = Trajectory()
        context = self.requests[0].context if self.requests else ""
        if isinstance(context, str):
            steps.add("message", context, role="user", prompt=True)
        for message in context if isinstance(context, list) else ():
            if isinstance(message, dict):
                steps.add_message(message, prompt=True)
        return steps

    def rollout(
        self,
        steps: Trajectory,
        *,
        repeat: int = 0,
        answer: str | None = None,
        extracted: bool | None = None,
        right: list[str] | None = None,
        **known: Any,
    ) -> Rollout:
        """The attempt; where nothing could be extracted from a response, its ending says so."""
        right = self.answers if right is None else right
        scores = known.pop("scores", self.scores)
        fields = {"extraction_successful": extracted, **known}
        return Rollout(
            task=self.task.key(self.row["doc_id"]),
            repeat=repeat,
            variant=self.filter if self.task.has_variants else None,
            reward=scores.get(self.main),
            scores=scores,
            model=self.task.model,
            ending=Ending(origin="verifier", name="no_answer_extracted") if extracted is False else Ending(),
            answer=answer,
            expected=Expected(answers=right) if right else None,
            settings=self.settings,
            fields={
                **self.task.fields,
                **{name: value for name, value in fields.items() if value is not None},
                "doc": self.doc,
            },
            items=steps.items,
        )


def extracted(said: str, answer: str | None) -> bool | None:
    """Whether a filter found an answer in what was said; `None` when it took all of it, or nothing was said."""
    return None if not said.strip() or answer == said else answer is not None


def requests_of(arguments: Any) -> list[Request]:
    """Every request of a line. Old versions of the harness wrote lists where new ones write objects."""
    each = list(arguments.values()) if isinstance(arguments, dict) else arguments if isinstance(arguments, list) else []
    found: list[Request] = []
    for request in each:
        parts = list(request.values()) if isinstance(request, dict) else request
        parts = [*parts, None] if isinstance(parts, list) and parts else [parts, None]
        second = parts[1]
        found.append(
            Request(
                context_of(parts[0]),
                second if isinstance(second, str) else None,
                second if isinstance(second, dict) else {},
            )
        )
    return found


def context_of(given: Any) -> str | list[Any]:
    """A prompt; a list that holds one text is a chat, written as JSON."""
    if isinstance(given, list) and len(given) == 1 and isinstance(given[0], str):
        try:
            chat = msgspec.json.decode(given[0])
        except BROKEN:
            return given[0]
        return chat if isinstance(chat, list) else given[0]
    return content_text(given)


def responses_of(resps: Any) -> list[str]:
    """The texts that were generated for a document; none where likelihoods were asked for."""
    first = resps[0] if isinstance(resps, list) and resps else None
    return [text for text in (first if isinstance(first, list) else [first]) if isinstance(text, str)]


def likelihoods_of(filtered: Any) -> list[tuple[float, bool]]:
    """Log-likelihood of each request, and whether greedy decoding would have written its continuation."""
    found: list[tuple[float, bool]] = []
    for pair in filtered if isinstance(filtered, list) else ():
        value, greedy = (pair[0], pair[1]) if isinstance(pair, list) and len(pair) > 1 else (pair, False)
        try:
            found.append((float(value), str(greedy) == "True"))
        except (TypeError, ValueError, OverflowError):
            return []
    return found
