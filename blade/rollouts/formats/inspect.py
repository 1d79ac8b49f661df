"""Inspect (inspect_ai) logs: `.eval`, a zip archive with one member per sample, and `.json`, one object.

Of an archive one sample at a time is in memory. A run that was stopped leaves an archive without `header.json`, or
without an end: what is known then stands in `_journal/start.json`. Samples that newer logs keep in pieces
(`samples/ID_epoch_N/…`) are put together first.
"""

import contextlib
import glob
import mmap
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from blade.errors import InputError
from blade.rollouts.formats.building import bad_line, place
from blade.rollouts.formats.coercion import first_line, text_or_none
from blade.rollouts.formats.files import BROKEN, Decoded, read_bytes
from blade.rollouts.formats.inspect_sample import Run, Sample, rollout_of, scalars
from blade.rollouts.formats.inspect_steps import EVENTS, Event, Message, Pools
from blade.rollouts.formats.reader import Found, Note, Probe, Reader
from blade.rollouts.formats.zips import MAGIC, Archive, Damaged, open_archive, unpack
from blade.rollouts.sources import compression

START, HEADER = "_journal/start.json", "header.json"
WHOLE = re.compile(r"samples/.+_epoch_\d+\.json")
SHELL = re.compile(r"(samples/.+_epoch_\d+)/sample\.json")
NAME = re.compile(r"(?P<time>\d{4}-\d\d-\d\dT[\d+-]+)_(?P<task>.+_[A-Za-z0-9]{22})\.(eval|json)")
"""How Inspect names logs; the logs of a task that was tried again differ in their time alone."""
NUMBERS = re.compile(rb'"(?:[^"\\]|\\.)*"|-?(?:NaN|Infinity)')
LIMITS = ("message_limit", "token_limit", "time_limit", "working_limit", "cost_limit", "turn_limit", "epochs")


class Spec(msgspec.Struct, frozen=True):
    task: Any = None
    task_version: Any = None
    task_args: dict[str, Any] | None = None
    solver: Any = None
    model: Any = None
    model_generate_config: dict[str, Any] | None = None
    model_args: dict[str, Any] | None = None
    config: dict[str, Any] = {}
    dataset: dict[str, Any] = {}
    packages: dict[str, Any] = {}
    revision: dict[str, Any] | None = None
    scorers: list[dict[str, Any]] | None = None
    headline_metric: dict[str, Any] | None = None


class Plan(msgspec.Struct, frozen=True):
    steps: list[dict[str, Any]] = []
    config: dict[str, Any] = {}


class Results(msgspec.Struct, frozen=True):
    scores: list[dict[str, Any]] = []
    scorer: dict[str, Any] | None = None
    headline: dict[str, Any] | None = None


class Log(msgspec.Struct, frozen=True):
    eval: Spec
    status: str = "started"
    plan: Plan = Plan()
    results: Results | None = None
    error: dict[str, Any] | None = None
    samples: list[msgspec.Raw] | None = None


LOG = msgspec.json.Decoder(Log)
SAMPLE = msgspec.json.Decoder(Sample)
MESSAGES = msgspec.json.Decoder(list[Message])
TEXTS = msgspec.json.Decoder(list[str])
VALUES = msgspec.json.Decoder(dict[str, Any])


def recognises(probe: Probe) -> bool:
    """Whether an archive has a log's journal or header, or an object begins as a log does."""
    if probe.is_folder:
        return False
    if probe.magic.startswith(MAGIC):
        try:
            members = open_archive(probe.path).members
        except InputError:
            return False
        return START in members or (HEADER in members and any(map(is_sample, members)))
    return {"version", "status", "eval"} <= probe.keys and not probe.is_array


def passes_over(probe: Probe) -> bool:
    """Whether a file lists the logs beside it, tells what an eval set was made of, or is a try that was repeated."""
    if probe.is_folder or tries(probe.path)[-1:] not in ([], [probe.path.name]):
        return not probe.is_folder
    listed = bool(probe.keys) and all(name.endswith((".eval", ".json")) for name in probe.keys)
    return listed or {"eval_set_id", "tasks"} <= probe.keys


def tries(path: Path) -> list[str]:
    """The logs of the same task beside this one, the last try at the end; it repeats what failed and keeps the rest."""
    name = NAME.fullmatch(path.name)
    if name is None:
        return []
    found = path.parent.glob(f"*_{glob.escape(name['task'])}.*")
    return sorted(one.name for one in found if (other := NAME.fullmatch(one.name)) and other["task"] == name["task"])


def is_sample(name: str) -> bool:
    return WHOLE.fullmatch(name) is not None or SHELL.fullmatch(name) is not None


class Place(msgspec.Struct, frozen=True):
    """A sample that is yet to be decoded."""

    label: str
    offset: int
    length: int
    sample: Callable[[], Sample]


class Opened(msgspec.Struct, frozen=True):
    """A log whose samples can be read one at a time."""

    log: Log
    places: Iterable[Place]
    complete: bool = True


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every sample: of an archive by where its member begins, of an object by its position in the list."""
    with contextlib.ExitStack() as stack:
        opened = open_log(path, stack)
        run = run_of(opened.log)
        odd: set[str] = set()
        ids: set[tuple[str, int]] = set()
        labels: dict[str, None] = {}
        for each in opened.places:
            if wanted is not None and each.offset not in wanted:
                continue
            try:
                found = rollout_of(each.sample(), run, place(path, each.offset, length=each.length), odd)
            except Damaged as error:
                yield bad_line(path, f"{each.label} cannot be read: {error}", offset=each.offset)
            except BROKEN as error:
                yield bad_line(path, f"{each.label} is not a sample of an Inspect log: {error}", offset=each.offset)
            else:
                ids.add((found.task, found.repeat))
                labels |= dict.fromkeys(found.scores)
                yield found
    if wanted is None:
        if not opened.complete:
            yield Note(
                text=f"the archive has no end, as after a crash or a cut copy; read are the {len(ids)} samples before"
            )
        yield from notes(path, opened.log, run, ids, labels, odd)


def open_log(path: Path, stack: contextlib.ExitStack) -> Opened:
    """A log, its header read.

    Raises:
        InputError: the header cannot be read.
    """
    try:
        file = stack.enter_context(path.open("rb"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}.") from error
    if file.read(4) == MAGIC:
        archive = open_archive(path)
        places = (
            Place(name, member.offset, member.size, partial(whole_sample, archive, file, name))
            for name, member in archive.members.items()
            if is_sample(name)
        )
        return Opened(header_of(archive, file), places, archive.complete)
    # A plain file is mapped into memory and not copied there.
    plain = compression(path) is None and path.stat().st_size > 0
    data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if plain else read_bytes(path)
    try:
        log = decoded(LOG, data)
    except BROKEN as error:
        raise InputError(f"{path}: not a readable Inspect log: {error}; is the file complete?") from error
    return Opened(
        log,
        (
            Place(f"samples[{index}]", index, len(memoryview(raw)), partial(decoded, SAMPLE, raw))
            for index, raw in enumerate(log.samples or ())
        ),
    )


def header_of(archive: Archive, file: BinaryIO) -> Log:
    """The header; where the run never wrote one, what it wrote when it began."""
    reason = f"has neither {HEADER} nor {START}"
    for name in (HEADER, START):
        if name in archive.members:
            try:
                return decoded(LOG, unpack(file, archive.members[name]))
            except (Damaged, *BROKEN) as error:
                reason = f"{name} cannot be read: {error}"
    raise InputError(f"{archive.path}: not a readable Inspect log: {reason}.")


def whole_sample(archive: Archive, file: BinaryIO, name: str) -> Sample:
    """A sample of one member, or put together from its pieces."""
    sample = decoded(SAMPLE, unpack(file, archive.members[name]))
    shell = SHELL.fullmatch(name)
    if shell is None:
        return sample
    folder = shell.group(1)

    def pieces(kind: str) -> Iterator[bytes]:
        numbered = re.compile(re.escape(f"{folder}/{kind}/") + r"(\d+)\.json")
        found = {int(match.group(1)): match.group() for match in map(numbered.fullmatch, archive.members) if match}
        return (unpack(file, archive.members[found[start]]) for start in sorted(found))

    messages = [message for piece in pieces("messages") for message in decoded(MESSAGES, piece)]
    texts = [text for piece in pieces("attachments") for text in decoded(TEXTS, piece)]
    events: list[Event] = [event for piece in pieces("events") for event in decoded(EVENTS, piece)]
    described = archive.members.get(f"{folder}/metadata.json")
    return msgspec.structs.replace(
        sample,
        messages=[message for start, end in sample.message_refs for message in messages[start:end]],
        events=events,
        events_data=Pools(messages=messages),
        attachments={str(index): text for index, text in enumerate(texts)},
        metadata=decoded(VALUES, unpack(file, described)) if described is not None else sample.metadata,
    )


def decoded(decoder: "msgspec.json.Decoder[Decoded]", data: Any) -> Decoded:
    """A value; numbers that JSON does not have, and Inspect writes for scores not given, are unknown."""
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        text = bytes(data)
        if b"NaN" not in text and b"Infinity" not in text:
            raise
        return decoder.decode(NUMBERS.sub(lambda match: match[0] if match[0][:1] == b'"' else b"null", text))


def run_of(log: Log) -> Run:
    """What the header says about every sample."""
    scorer, key = headline(log)
    spec, steps = log.eval, [text_or_none(step.get("solver")) or "?" for step in log.plan.steps]
    settings: dict[str, Any] = {}
    for values in (spec.model_generate_config or {}, log.plan.config):
        settings |= scalars(values)
    settings |= {name: spec.config[name] for name in LIMITS if spec.config.get(name) is not None}
    settings |= {f"task_args.{name}": value for name, value in scalars(spec.task_args or {}).items()}
    settings |= {f"model_args.{name}": value for name, value in scalars(spec.model_args or {}).items()}
    settings |= scalars({
        "task": spec.task, "task_version": spec.task_version, "plan": ", ".join(steps),
        "dataset": spec.dataset.get("name"), "commit": (spec.revision or {}).get("commit"),
    })  # fmt: skip
    settings |= scalars(spec.packages)
    return Run(
        name=text_or_none(spec.task),
        scorer=scorer,
        key=key,
        model=text_or_none(spec.model),
        agent=text_or_none(spec.solver) or (steps[-1] if steps else None),
        settings=settings,
    )


def headline(log: Log) -> tuple[str | None, str | None]:
    """The scorer and the value of it that Inspect shows first: the one a task declares, else the first result."""
    results = log.results
    if results is None or not (results.scores or results.scorer):
        named: Mapping[str, Any] = log.eval.headline_metric or {}
        scorers = log.eval.scorers or []
        scorer = text_or_none(named.get("scorer")) or (text_or_none(scorers[0].get("name")) if scorers else None)
        return scorer, text_or_none(named.get("score"))
    first = results.headline or (results.scores[0] if results.scores else results.scorer) or {}
    name = text_or_none(first.get("score")) or text_or_none(first.get("name"))
    return text_or_none(first.get("scorer")) or name, name


def notes(
    path: Path, log: Log, run: Run, ids: set[tuple[str, int]], labels: Mapping[str, None], odd: set[str]
) -> Iterator[Found]:
    """What must be known beside the samples."""
    message = text_or_none((log.error or {}).get("message"))
    planned = planned_samples(log)
    if not ids:
        why = f"; its status is {log.status!r}" + (f": {message}" if message else "")
        raise InputError(f"{path}: this Inspect log holds no samples{why}.")
    if log.status != "success" or (planned is not None and len(ids) < planned):
        of = f" of {planned} planned" if planned is not None else ""
        yield Note(
            text=f"the status of the run is {log.status!r}"
            + (f" ({first_line(message)})" if message else "")
            + f" and {len(ids)}{of} samples are in the log"
        )
    earlier = tries(path)[:-1]
    if earlier and path.name not in earlier:
        yield Note(text=f"the log of the last try counts; earlier tries at this task are not read: {len(earlier)}")
    if len(labels) > 1:
        counts = next((name for name in labels if name in (run.scorer, run.key, f"{run.scorer}.{run.key}")), None)
        says = f"{counts} counts" if counts else "none of them counts by itself"
        yield Note(text=f"there are {len(labels)} scores ({', '.join(labels)}): {says}; --score NAME takes another")
    reducers = log.eval.config.get("epochs_reducer")
    if isinstance(reducers, list) and reducers and reducers[0] != "mean":
        yield Note(text=f"Inspect reduces epochs with {reducers[0]!r}; here each epoch is an attempt of its own")
    if odd:
        words = ", ".join(repr(word) for word in sorted(odd)[:5])
        yield Note(text=f"scores that Inspect has no number for count as 0, as they do there: {words}")


def planned_samples(log: Log) -> int | None:
    """How many samples the run was to have: its samples times its epochs."""
    ids, epochs = log.eval.dataset.get("sample_ids"), log.eval.config.get("epochs") or 1
    return len(ids) * epochs if isinstance(ids, list) and ids and isinstance(epochs, int) else None


READER = Reader(
    name="inspect", title="Inspect logs (*.eval, *.json)", recognises=recognises, read=read, passes_over=passes_over
)
