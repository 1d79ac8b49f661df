"""HELM run folders: `run_spec.json`, every request in `scenario_state.json`, scores in `per_instance_stats.json`.

An instance is a task, a training trial a repeat, and a perturbation of the input a variant. A run folder does not say
which of its metrics HELM's leaderboard shows, so the first that the run's specification names counts.
"""

import contextlib
import mmap
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from blade.errors import InputError
from blade.rollouts.formats.building import Trajectory, bad_line, place
from blade.rollouts.formats.coercion import content_text, first_line, number_or_none, part, short_values, text_or_none
from blade.rollouts.formats.files import BROKEN, OBJECT, read_json
from blade.rollouts.formats.reader import Found, Note, Probe, Reader
from blade.rollouts.values import Ending, Expected, Rollout, Usage

SPEC, STATE, STATS = "run_spec.json", "scenario_state.json", "per_instance_stats.json"
ORIGINAL = "original"
"""What an input without a perturbation is called where others have one; HELM's own numbers are about these."""
STOPS = ("length", "max_tokens")
SETTINGS = (
    "method", "model_deployment", "temperature", "max_tokens", "num_outputs", "num_train_trials", "max_train_instances",
)  # fmt: skip

Key = tuple[str, int, str | None]


class State(msgspec.Struct, frozen=True):
    request_states: list[msgspec.Raw] = []


class Text(msgspec.Struct, frozen=True):
    text: str = ""


class Reference(msgspec.Struct, frozen=True):
    output: Text = Text()
    tags: list[str] = []


class Perturbation(msgspec.Struct, frozen=True):
    name: str | None = None


class Instance(msgspec.Struct, frozen=True):
    id: str
    input: Text = Text()
    references: list[Reference] = []
    split: str | None = None
    sub_split: str | None = None
    perturbation: Perturbation | None = None


class RequestState(msgspec.Struct, frozen=True):
    instance: Instance
    train_trial_index: int = 0
    reference_index: int | None = None
    output_mapping: dict[str, str] | None = None
    request: dict[str, Any] = {}
    result: dict[str, Any] | None = None
    prompt_truncated: bool = False


class Name(msgspec.Struct, frozen=True):
    name: str


class Stat(msgspec.Struct, frozen=True):
    name: Name
    mean: float | None = None


class InstanceStats(msgspec.Struct, frozen=True):
    instance_id: str
    train_trial_index: int = 0
    perturbation: Perturbation | None = None
    stats: list[Stat] = []


STATES = msgspec.json.Decoder(State)
REQUEST = msgspec.json.Decoder(RequestState)
ALL_STATS = msgspec.json.Decoder(list[InstanceStats])


def recognises(probe: Probe) -> bool:
    """Whether a folder holds the files of a run, or a file is the state in such a folder."""
    if probe.is_folder:
        return probe.names >= {SPEC, STATE}
    return {"adapter_spec", "request_states"} <= probe.keys and (probe.path.parent / SPEC).is_file()


def files(path: Path) -> list[Path]:
    folder = path if path.is_dir() else path.parent
    return [folder / name for name in (SPEC, STATE, STATS) if (folder / name).is_file()]


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every instance and trial; its place is the first of its requests."""
    folder = path if path.is_dir() else path.parent
    spec = read_json(folder / SPEC, OBJECT)
    scores = scores_of(folder)
    names = metric_names(spec)
    counted = next((name for name in names if any(name in found for found in scores.values())), None)
    labels: dict[str, None] = {}
    perturbed = any(key[2] is not None for key in scores)
    with contextlib.ExitStack() as stack:
        states = mapped_states(folder / STATE, stack)
        # The first variant counts unless another is asked for, so inputs without a perturbation come first.
        for wants_original in (True, False) if perturbed else (None,):
            for number, requests in grouped(states):
                if isinstance(requests, str):
                    if wants_original is not False:
                        yield bad_line(folder / STATE, f"request_states[{number}]: {requests}", offset=number)
                    continue
                if wants_original not in (None, key_of(requests[0])[2] is None):
                    continue
                found = rollout_of(requests, scores, counted, spec, source=place(path, number))
                labels |= dict.fromkeys(found.scores)
                if wanted is None or number in wanted:
                    yield msgspec.structs.replace(found, variant=found.variant or ORIGINAL) if perturbed else found
    if wanted is None and not scores:
        yield Note(text=f"there is no {STATS}, so nothing is scored")
    elif wanted is None and len(labels) > 1:
        says = f"{counted} counts" if counted else "the run names none of them as its own, so none counts"
        yield Note(text=f"there are {len(labels)} scores: {says}; --score NAME takes another")


def mapped_states(path: Path, stack: contextlib.ExitStack) -> list[msgspec.Raw]:
    """The requests of a run, undecoded; their file may be large and is mapped into memory, not copied there.

    Raises:
        InputError: it cannot be read.
    """
    try:
        if not path.stat().st_size:
            return STATES.decode(b"").request_states
        file = stack.enter_context(path.open("rb"))
        return STATES.decode(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)).request_states
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}.") from error
    except BROKEN as error:
        raise InputError(f"{path}: {error}; is the file complete?") from error


def scores_of(path: Path) -> dict[Key, dict[str, float | None]]:
    """What each metric gave each instance."""
    if not (path / STATS).is_file():
        return {}
    rows = read_json(path / STATS, ALL_STATS)
    return {
        (row.instance_id, row.train_trial_index, named(row.perturbation)): {
            stat.name.name: number_or_none(stat.mean) for stat in row.stats
        }
        for row in rows
    }


def named(perturbation: Perturbation | None) -> str | None:
    return perturbation.name if perturbation is not None else None


def metric_names(spec: dict[str, Any]) -> list[str]:
    """Names of metrics in the order the run's specification gives them."""
    listed = spec.get("metric_specs")
    found: list[str] = []
    for metric in listed if isinstance(listed, list) else ():
        names = part(metric, "args").get("names") if isinstance(metric, dict) else None
        found += [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    return found


def grouped(raws: list[msgspec.Raw]) -> Iterator[tuple[int, list[RequestState] | str]]:
    """Requests of one instance and trial, which stand one after the other, or why one cannot be read."""
    group: list[RequestState] = []
    first = 0
    for number, raw in enumerate(raws):
        try:
            state = REQUEST.decode(raw)
        except BROKEN as error:
            yield number, str(error)
            continue
        if group and key_of(group[0]) != key_of(state):
            yield first, group
            group = []
        if not group:
            first = number
        group.append(state)
    if group:
        yield first, group


def key_of(state: RequestState) -> Key:
    return state.instance.id, state.train_trial_index, named(state.instance.perturbation)


def rollout_of(
    requests: list[RequestState],
    scores: dict[Key, dict[str, float | None]],
    counted: str | None,
    spec: dict[str, Any],
    *,
    source: Any,
) -> Rollout:
    """One instance in one trial; where each reference was asked about by itself, every request of them."""
    first, key = requests[0], key_of(requests[0])
    trajectory = Trajectory()
    for place_in, state in enumerate(requests):
        add_request(trajectory, state, prompt=place_in == 0)
    adapter = part(spec, "adapter_spec")
    right = [reference.output.text for reference in first.instance.references if "correct" in reference.tags]
    found = scores.get(key, {})
    said = completion(first)
    return Rollout(
        task=first.instance.id,
        repeat=first.train_trial_index,
        run=run_name(spec),
        variant=key[2],
        reward=found.get(counted) if counted is not None else None,
        scores=found,
        model=text_or_none(adapter.get("model")) or text_or_none(first.request.get("model")),
        ending=ending_of(requests),
        answer=mapped(said, first) if len(requests) == 1 else None,
        expected=Expected(answers=right) if right else None,
        settings=short_values({name: adapter.get(name) for name in SETTINGS}) | short_values({"run": spec.get("name")}),
        usage=usage_of(found),
        seconds=seconds_of(requests),
        fields=short_values({
            "split": first.instance.split, "sub_split": first.instance.sub_split,
            **({"prompt_truncated": True} if first.prompt_truncated else {}),
        }),
        items=trajectory.items,
        source=source,
    )  # fmt: skip


def run_name(spec: dict[str, Any]) -> str | None:
    """What was evaluated: the name of the run without its model, so that runs of several models can be paired."""
    name = text_or_none(spec.get("name"))
    scenario, _, given = (name or "").partition(":")
    kept = [one for one in given.split(",") if one and not one.startswith(("model=", "model_deployment="))]
    return (f"{scenario}:{','.join(kept)}" if kept else scenario) or None


def seconds_of(requests: list[RequestState]) -> float | None:
    times = [number_or_none((state.result or {}).get("request_time")) for state in requests]
    known = [time for time in times if time is not None]
    return sum(known) if known else None


def usage_of(found: dict[str, float | None]) -> Usage:
    """Tokens, which HELM counts as metrics of the instance."""
    given, said = found.get("num_prompt_tokens"), found.get("num_output_tokens")
    return Usage(input_tokens=None if given is None else int(given), output_tokens=None if said is None else int(said))


def completion(state: RequestState) -> str | None:
    listed = (state.result or {}).get("completions")
    first = listed[0] if isinstance(listed, list) and listed else None
    return text_or_none(first.get("text")) if isinstance(first, dict) else None


def mapped(said: str | None, state: RequestState) -> str | None:
    """The answer that a letter stands for, where the adapter maps letters to answers."""
    if said is None or state.output_mapping is None:
        return said.strip() if said is not None else None
    return state.output_mapping.get(said.strip(), said.strip())


def add_request(trajectory: Trajectory, state: RequestState, *, prompt: bool) -> None:
    messages = state.request.get("messages")
    if isinstance(messages, list) and messages:
        trajectory.add_chat(messages, acting=not prompt)
    else:
        text = content_text(state.request.get("prompt")) or state.instance.input.text
        trajectory.add("message" if prompt else "environment", text, role="user", prompt=prompt)
    listed = (state.result or {}).get("completions")
    for each in listed[:1] if isinstance(listed, list) else ():
        if isinstance(each, dict):
            thought = content_text(part(each, "thinking").get("text"))
            if thought:
                trajectory.add("reasoning", thought)
            trajectory.add("message", content_text(each.get("text")), role="assistant")


def ending_of(requests: list[RequestState]) -> Ending:
    """A request that failed, else one that ran out of tokens."""
    for state in requests:
        if state.result is None:
            return Ending(kind="not_run")
        if state.result.get("success") is False:
            message = text_or_none(state.result.get("error"))
            return Ending(kind="error", origin="model", name=first_line(message or ""), message=message)
    listed = (requests[-1].result or {}).get("completions")
    last = listed[0] if isinstance(listed, list) and listed and isinstance(listed[0], dict) else {}
    reason = text_or_none(part(last, "finish_reason").get("reason"))
    return Ending(kind="limit", origin="model", name=reason) if reason in STOPS else Ending()


READER = Reader(
    name="helm", title="HELM runs (a folder with scenario_state.json)", recognises=recognises, read=read, files=files
)  # fmt: skip
