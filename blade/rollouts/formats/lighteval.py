"""lighteval details: `details_<task>_<date>.parquet`, a row per document, with `results_<date>.json` elsewhere.

A row has one score for its document, whatever number of samples it was made of, so a document is one attempt.
"""

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from blade.rollouts.formats import parquet
from blade.rollouts.formats.building import Trajectory, bad_line, place
from blade.rollouts.formats.coercion import (
    content_text,
    number_or_none,
    objects,
    part,
    scalars,
    short_values,
    text_or_none,
)
from blade.rollouts.formats.reader import Found, Note, Probe, Reader
from blade.rollouts.values import BadLine, Ending, Expected, Rollout

DETAILS = re.compile(r"details_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT.+)\.parquet")
COLUMNS = (b"doc", b"metric", b"model_response")
FOOTER = 1 << 18
"""Bytes at the end of a file in which its columns are named."""
FILE_ROOM = 1 << 40
"""Places kept for each file of a folder, so that places differ between its files."""
SET = ("generation_size", "num_samples", "stop_sequences")


def recognises(probe: Probe) -> bool:
    """Whether a path is a file of details or a folder of them."""
    if probe.is_folder:
        return any(map(DETAILS.fullmatch, probe.names)) and any(map(has_details, details_files(probe.path)))
    return has_details(probe.path)


def has_details(path: Path) -> bool:
    """Whether a file has the name and the columns of details; looking does not need pyarrow."""
    if DETAILS.fullmatch(path.name) is None or Probe(path).magic[:4] != parquet.MAGIC:
        return False
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - FOOTER))
        footer = file.read()
    return all(name in footer for name in COLUMNS)


def details_files(path: Path) -> list[Path]:
    """The files of details a path stands for."""
    return sorted(file for file in path.iterdir() if DETAILS.fullmatch(file.name)) if path.is_dir() else [path]


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every document; its place is the number of its row."""
    said: set[str] = set()
    for index, file in enumerate(details_files(path)):
        base = index * FILE_ROOM
        within = None if wanted is None else {at - base for at in wanted if 0 <= at - base < FILE_ROOM}
        if within is not None and not within:
            continue
        match = DETAILS.fullmatch(file.name)
        for number, row in parquet.table_rows(file, within):
            if isinstance(row, BadLine) or not isinstance(row.get("doc"), dict):
                bad = row if isinstance(row, BadLine) else bad_line(file, "has no document", line=number + 1)
                yield msgspec.structs.replace(bad, offset=base + number)
                continue
            rollout = rollout_of(row, match["task"] if match else file.stem, number, model_of(file))
            others = [name for name in rollout.scores if name != next(iter(rollout.scores))]
            text = f"{next(iter(rollout.scores), '')} counts as the score; --score also takes {', '.join(others)}"
            if others and text not in said:
                said.add(text)
                yield Note(text=text)
            yield msgspec.structs.replace(rollout, source=place(file, base + number, line=number + 1))


def model_of(file: Path) -> str | None:
    """The model, which only the folders name: `details/<model>/<date>/`, a model of an organisation in two."""
    parts = file.parent.parent.parts
    inside = parts[len(parts) - parts[::-1].index("details") :] if "details" in parts else ()
    return "/".join(inside) or None


def rollout_of(row: dict[str, Any], name: str, number: int, model: str | None) -> Rollout:
    """One document with everything that was generated for it, or the likeliest of its choices."""
    doc, response = part(row, "doc"), part(row, "model_response")
    scores = {str(key): number_or_none(value) for key, value in part(row, "metric").items()}
    scores = {key: value for key, value in scores.items() if value is not None}
    choices = [content_text(choice) for choice in listed(doc.get("choices"))]
    steps = prompt_of(doc, response)
    said = [content_text(text) for text in listed(response.get("text"))]
    for thought in listed(response.get("reasonings")):
        if thought:
            steps.add("reasoning", content_text(thought))
    answer = answer_of(response, choices, said)
    for text in said or ([answer] if answer else []):
        steps.add("message", text, role="assistant")
    task = text_or_none(doc.get("task_name")) or name
    cut = number_or_none(response.get("truncated_tokens_count"))
    return Rollout(
        task=f"{task}/{text_or_none(doc.get('id')) or number}",
        repeat=0,
        reward=next(iter(scores.values()), None),
        scores=dict(scores),
        model=model,
        ending=Ending(),
        answer=answer,
        expected=Expected(answers=right) if (right := right_answers(doc.get("gold_index"), choices)) else None,
        settings=scalars({key: doc.get(key) for key in SET}),
        fields={
            "task_name": task,
            **({"samples": len(said)} if len(said) > 1 else {}),
            **({"truncated_tokens": cut} if cut else {}),
            "doc": short_values(doc.get("specific")),
        },
        items=steps.items,
    )


def prompt_of(doc: dict[str, Any], response: dict[str, Any]) -> Trajectory:
    """What the model was given: as it was sent, where that is stored, else the document's query."""
    steps = Trajectory()
    sent = response.get("input")
    for message in objects(sent):
        steps.add_message(message, prompt=True)
    if not steps.items:
        steps.add("message", content_text(sent or doc.get("query")), role="user", prompt=True)
    return steps


def answer_of(response: dict[str, Any], choices: list[str], said: list[str]) -> str | None:
    """The text after postprocessing, else the text; of choices the likeliest; nothing of several texts."""
    final = [content_text(text) for text in listed(response.get("text_post_processed"))] or said
    if len(final) == 1:
        return final[0] if final[0].strip() else None
    likelihoods = [number_or_none(value) for value in listed(response.get("logprobs"))]
    if final or len(choices) < 2 or len(likelihoods) != len(choices):
        return None
    known = [(value, -place) for place, value in enumerate(likelihoods) if value is not None]
    return choices[-max(known)[1]] if known else None


def right_answers(gold: Any, choices: list[str]) -> list[str]:
    """The choices that are right."""
    places = [place for place in (gold if isinstance(gold, list) else [gold]) if isinstance(place, int)]
    return [choices[place] for place in places if 0 <= place < len(choices) and choices[place].strip()]


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


READER = Reader(
    name="lighteval",
    title="lighteval details (details_*.parquet)",
    recognises=recognises,
    read=read,
    files=details_files,
)
