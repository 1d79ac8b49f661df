"""A model as the judge of answers, and how far it agrees with people on rows that they have labelled."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from blade.environments import Environment, load_environment
from blade.environments.answering import message
from blade.environments.judged.verifier import LABELS, RIGHT, Judged, Opinion
from blade.errors import InputError
from blade.evals.files import read_lines
from blade.llm import Model, Request, Sampling
from blade.llm.model import user_message
from blade.metrics.agreement import Agreement, agree
from blade.metrics.intervals import estimate_rate
from blade.metrics.values import Metric

MOST_WORDS = 400
"""Tokens of a judge's answer: a sentence and a verdict."""


class ModelJudge:
    """Asks a model from any thread; its connections live in a loop of its own."""

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self._model = model
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="judge", daemon=True)
        self._thread.start()

    def ask(self, prompt: str, *, seed: int) -> Opinion:
        """The model's answer; the first is drawn without chance, so that a single vote is the same every time."""
        sampling = Sampling(temperature=0.0 if seed == 0 else 0.7, max_output_tokens=MOST_WORDS, seed=seed)
        request = Request(input=[user_message(prompt)], sampling=sampling)
        reply = asyncio.run_coroutine_threadsafe(self._model.ask(request), self._loop).result()
        usage = reply.usage
        return Opinion(reply.text, usage.input_tokens if usage else None, usage.output_tokens if usage else None)

    def close(self) -> None:
        """Closes the connections."""
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._model.close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def let_go(environment: Environment) -> None:
    """Closes what an environment may hold open: the connections of a judge."""
    if isinstance(environment, Judged):
        environment.close()


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that somebody has labelled."""

    question: str
    """What was asked."""
    answer: str
    """What was answered."""
    label: str
    """One of the labels of `judge_by`; `true` and `false` stand for `correct` and `incorrect`."""
    expected_answer: str | list[str] = ""
    """What is right."""
    judge_by: str = "reference"
    """Which labels there are."""


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """How far a judge agrees with people."""

    judge: str
    """The model."""
    votes: int
    """Votes per answer at most."""
    agreement: Agreement
    """Over answers that it decided."""
    undecided: int
    """Answers that it gave no majority for."""
    true_positive_rate: Metric
    """Of answers people called right, the share it called right."""
    true_negative_rate: Metric
    """Of the others, the share it did not call right."""
    swap_differs: int
    """Answers on which the first two votes, in two orders, differ."""
    calls: int
    """Times it was asked."""
    input_tokens: int | None
    """Tokens it read."""
    output_tokens: int | None
    """Tokens it wrote."""
    disagreements: list[str]
    """Where it differs, each as `line N: people label, judge label`."""


def read_known(path: Path) -> list[tuple[int, Known]]:
    """The labelled answers of a file."""
    found = []
    for number, line in read_lines(path):
        try:
            row: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
            label = row.get("label", row.get("correct"))
            known = msgspec.convert({**row, "label": named(label)}, Known)
            if known.label not in LABELS[known.judge_by]:
                raise ValueError(f"its label is {known.label!r}, expected {', '.join(LABELS[known.judge_by])}")
        except (msgspec.MsgspecError, ValueError, KeyError) as error:
            raise InputError(f"{path}:{number}: not a labelled answer: {error}.") from error
        found.append((number, known))
    if not found:
        raise InputError(f"{path}: holds no labelled answers.")
    return found


def named(label: Any) -> Any:
    return {True: "correct", False: "incorrect"}.get(label, label) if isinstance(label, bool) else label


def calibrate(judge: Any, known: list[tuple[int, Known]], *, votes: int) -> Calibration:
    """Has a judge label answers that people have labelled."""
    environment = load_environment("judged")
    assert isinstance(environment, Judged)
    judging = environment.with_judge(judge, votes=votes)
    fields = [judging.verify(msgspec.structs.asdict(row), [message(row.answer)]).fields for _, row in known]
    said = [field["judge_label"] for field in fields]
    both = [(row.label, label) for (_, row), label in zip(known, said, strict=True) if label is not None]
    usages = [field["judge_usage"] for field in fields if field["judge_usage"]]
    rng = np.random.default_rng(0)
    return Calibration(
        judge=judge.name,
        votes=votes,
        agreement=agree([people for people, _ in both], [label for _, label in both], rng),
        undecided=said.count(None),
        true_positive_rate=rate([is_right(label) for people, label in both if is_right(people)]),
        true_negative_rate=rate([not is_right(label) for people, label in both if not is_right(people)]),
        swap_differs=sum(field.get("judge_swap_differs") is True for field in fields),
        calls=sum(usage["calls"] for usage in usages),
        input_tokens=summed([usage["input_tokens"] for usage in usages]),
        output_tokens=summed([usage["output_tokens"] for usage in usages]),
        disagreements=[
            f"line {number}: people {row.label}, judge {label or 'undecided'}"
            for (number, row), label in zip(known, said, strict=True)
            if label != row.label
        ],
    )


def is_right(label: str) -> bool:
    return label in (RIGHT, "complied")


def rate(passed: list[bool]) -> Metric:
    return estimate_rate(np.array(passed, dtype=float), rollouts=len(passed), definition="share of labelled answers")


def summed(counts: list[int | None]) -> int | None:
    return None if None in counts else sum(count for count in counts if count is not None)
