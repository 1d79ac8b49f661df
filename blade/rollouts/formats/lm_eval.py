"""lm-evaluation-harness: `samples_<task>_<date>.jsonl`, a line per document and filter; `results_<date>.json`.

A filter is a way of looking at the same responses, so it is a variant and never a repeat; repeats are the responses
within a line. The score of a line is the score of the response its filter takes, so the other responses have one only
if they say the same. Where a filter looks at all of them at once (a vote), the document is a single attempt.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from blade.errors import InputError
from blade.rollouts.formats.building import Trajectory, bad_line, place
from blade.rollouts.formats.coercion import content_text, json_text, scalars, short_values, text_or_none
from blade.rollouts.formats.files import BROKEN, decode_lenient, json_lines, read_bytes
from blade.rollouts.formats.lm_eval_task import Task, describe, top_group
from blade.rollouts.formats.reader import Found, Note, Probe, Reader
from blade.rollouts.values import BadLine, Ending, Expected, Rollout

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


SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d[.\d]*)\.jsonl(?:\.gz|\.zst)?")
RESULTS = re.compile(r".*_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d[.\d]*)\.json")
RESULTS_KEYS = frozenset({"results", "configs", "versions", "n-shot"})
FILE_ROOM = 1 << 40
"""Places kept for each file of a folder, so that places differ between its files."""


def recognises(probe: Probe) -> bool:
    """Whether a path holds samples: such a file, a folder with one, or the results file beside one."""
    if probe.is_folder:
        return any(map(SAMPLES.fullmatch, probe.names)) and any(has_samples(Probe(f)) for f in sample_files(probe.path))
    return has_samples(probe) or is_results(probe)


def has_samples(probe: Probe) -> bool:
    """Whether a file begins with a sample; of one with a very long document only the beginning is seen."""
    begins = {"doc_id", "doc"} <= probe.keys and SAMPLES.fullmatch(probe.path.name) is not None
    return not probe.is_array and (begins or probe.keys >= ROW_KEYS)


def is_results(probe: Probe) -> bool:
    """Whether a file is the summary that is written beside samples."""
    # Long configurations stand before some of the names, so the head of the file may not show them.
    return not probe.is_array and {"results", "configs"} <= probe.keys and probe.record.keys() >= RESULTS_KEYS


def sample_files(path: Path) -> list[Path]:
    """The files of samples a path stands for."""
    if path.is_dir():
        return sorted(file for file in path.iterdir() if SAMPLES.fullmatch(file.name) and file.is_file())
    if not is_results(Probe(path)):
        return [path]
    match = RESULTS.fullmatch(path.name)
    return [file for file in sample_files(path.parent) if match is None or date_of(file) == match["date"]]


def date_of(path: Path) -> str | None:
    match = SAMPLES.fullmatch(path.name)
    return match["date"] if match else None


def results_file(samples: Path) -> Path | None:
    """The summary of the evaluation that made a file of samples; without a date, the only one beside it."""
    date = date_of(samples)
    beside = [
        (file, match["date"]) for file in samples.parent.glob("*.json") if (match := RESULTS.fullmatch(file.name))
    ]
    found = [file for file, dated in beside if date in (None, dated) and file.is_file() and is_results(Probe(file))]
    return found[0] if len(found) == 1 else None


def files(path: Path) -> list[Path]:
    """Samples and summaries."""
    samples = sample_files(path)
    summaries = [found for file in samples if (found := results_file(file)) is not None]
    return list(dict.fromkeys([*samples, *summaries])) or [path]


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every response of every document and filter; its place is that of its line, plus its number."""
    samples = sample_files(path)
    if not samples:
        raise InputError(f"{path}: has no samples_*.jsonl beside it, so no rollouts; run lm_eval with --log_samples.")
    runs = run_names(samples)
    said: set[str] = set()
    for index, file in enumerate(samples):
        base = index * FILE_ROOM
        within = None if wanted is None else sorted(at - base for at in wanted if 0 <= at - base < FILE_ROOM)
        if within == []:
            continue
        for found in read_file(file, base, within, run=runs[index]):
            if not isinstance(found, Note):
                yield found
            elif found.text not in said:
                said.add(found.text)
                yield found


def run_names(samples: list[Path]) -> list[str | None]:
    """The run of each file: its task, or the group that the harness sums it up in, and the date if there are several.

    Tasks that the harness never sums up have metrics of their own, and one number for them all would mean nothing.
    """
    tasks = [match["task"] if (match := SAMPLES.fullmatch(file.name)) else None for file in samples]
    units = [
        None if task is None else top_group(summary_of(file), task) for task, file in zip(tasks, samples, strict=True)
    ]
    dated = len(set(tasks)) < len(tasks)
    several = len(set(units)) > 1
    return [
        " ".join(filter(None, (unit if several else None, date_of(file) if dated else None))) or None
        for unit, file in zip(units, samples, strict=True)
    ]


def read_file(path: Path, base: int, wanted: list[int] | None, *, run: str | None) -> Iterator[Found]:
    """The rollouts of one file; of given places only those."""
    match = SAMPLES.fullmatch(path.name)
    task = describe(match["task"] if match else None, summary_of(path))
    for line in json_lines(path):
        if isinstance(line, BadLine):
            yield msgspec.structs.replace(line, offset=base + line.offset)
            continue
        if wanted is not None:
            at = bisect_left(wanted, line.offset)
            if at == len(wanted) or wanted[at] >= line.offset + len(line.data):
                continue
        row = decode_lenient(line.data)
        if not isinstance(row, dict) or not row.keys() >= ROW_KEYS:
            reason = "is not JSON" if row is None else "is not a sample of lm-eval"
            yield bad_line(path, reason, line=line.line, offset=base + line.offset)
            continue
        sample = Sample(task, row)
        yield from (Note(text=f"{run}: {note.text}") if run else note for note in sample.notes())
        for repeat, rollout in enumerate(sample.rollouts()):
            where = place(path, base + line.offset + repeat, line=line.line, length=len(line.data))
            yield msgspec.structs.replace(rollout, run=run, source=where)


def summary_of(samples: Path) -> dict[str, Any]:
    """What stands in the results file; nothing when there is none."""
    found = results_file(samples)
    summary = decode_lenient(read_bytes(found)) if found is not None else None
    return summary if isinstance(summary, dict) else {}


READER = Reader(
    name="lm-eval",
    title="lm-evaluation-harness samples (samples_*.jsonl with results_*.json)",
    recognises=recognises,
    read=read,
    files=files,
    passes_over=is_results,
)
