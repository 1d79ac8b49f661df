"""Anchor facts: what a good report of a run says, each with the form in which a machine can check it.

    {"id": "B3", "fact": "Tasks `5` and `8` never pass because the carry is dropped.", "difficulty": "high",
     "mean_score": null, "check": {"kind": "task_set", "of": "labels.BI", "tasks": ["5", "8"]}}

`mean_score` is what people rated the importance; null says that nobody has. Values are named by their path in the
metrics sidecar (`pass_at_1`, `slices.difficulty.hard`, `buckets.never`, `labels.KG`). Standard library only.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args

Difficulty = Literal["high", "medium", "low"]
Kind = Literal["metric", "count", "task_set", "label", "ordering", "citation", "rate"]
WEIGHTS: dict[str, int] = {"high": 3, "medium": 2, "low": 1}
"""How much a fact weighs: what takes reading counts for more than what any table shows."""


class FactsError(ValueError):
    """A file of anchor facts that cannot be used; its message says where and why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """A fact as something to look up; which fields belong to it depends on its kind."""

    kind: Kind
    """metric, count: a value; task_set, label, rate: about tasks; ordering: of two parts; citation: proof."""
    of: str = ""
    """Path of the value, of the group or, for an ordering, of the parts."""
    value: float | None = None
    """metric, count: the value."""
    tolerance: float | None = None
    """metric: how far from it a statement may be; half a unit of the third digit when not given."""
    tasks: tuple[str, ...] = ()
    """task_set: all of them; label, rate: the one it is about."""
    label: str = ""
    """label: the cause."""
    passed: int | None = None
    """rate: rollouts of the task that pass."""
    total: int | None = None
    """rate: rollouts of the task."""
    greater: str = ""
    """ordering: the part that is more."""
    lesser: str = ""
    """ordering: the part that is less."""
    citations: tuple[str, ...] = ()
    """citation: rollouts or items that must be cited together."""
    quote: str = ""
    """citation: words that stand at the first of them."""


NEEDS: dict[str, tuple[str, ...]] = {
    "metric": ("of", "value"),
    "count": ("of", "value"),
    "task_set": ("of", "tasks"),
    "label": ("tasks", "label"),
    "rate": ("tasks", "passed", "total"),
    "ordering": ("of", "greater", "lesser"),
    "citation": ("citations",),
}
"""What a check of each kind must say."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """One thing a good report says."""

    id: str
    """Short name, `B1` and so on."""
    fact: str
    """The fact in one sentence."""
    difficulty: Difficulty
    """How much reading it takes to find."""
    mean_score: float | None = None
    """What people rated it; nobody has when it is `None`."""
    check: Check | None = None
    """The fact as something to look up; `None` when only a reader can tell."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FactsFile:
    """A file of anchor facts."""

    benchmark: str = ""
    """The benchmark."""
    model: str = ""
    """The model."""
    extraction_method: str = ""
    """How the facts came about."""
    generated_at: str = ""
    """When they were drafted."""
    review_required: bool = False
    """Whether they are drafts that nobody has reviewed."""
    anchor_facts: list[Fact] = field(default_factory=list)
    """The facts."""


def read_facts(path: Path) -> FactsFile:
    """The facts of a file.

    Raises:
        FactsError: the file cannot be read or holds something else.
    """
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FactsError(f"{path.name}: cannot be read: {error}") from error
    if not isinstance(stored, dict) or not isinstance(stored.get("anchor_facts"), list):
        raise FactsError(f"{path.name}: has no list under anchor_facts")
    known = {one.name for one in fields(FactsFile)} - {"anchor_facts"}
    facts: list[Fact] = []
    for number, one in enumerate(stored["anchor_facts"], 1):
        where = f"{path.name}, fact {number}"
        if not isinstance(one, dict) or not isinstance(one.get("fact"), str):
            raise FactsError(f"{where}: has no sentence under fact")
        if one.get("difficulty") not in WEIGHTS:
            raise FactsError(f"{where}: difficulty is {one.get('difficulty')!r}, expected {', '.join(WEIGHTS)}")
        check = None if one.get("check") is None else make_check(one["check"], where)
        key, score = str(one.get("id", "")), one.get("mean_score")
        facts.append(Fact(id=key, fact=one["fact"], difficulty=one["difficulty"], mean_score=score, check=check))
    return FactsFile(anchor_facts=facts, **{name: stored[name] for name in known if stored.get(name) is not None})


def make_check(stored: Any, where: str) -> Check:
    """A check from its JSON; names no check has, and names it lacks, are told."""
    if not isinstance(stored, Mapping) or stored.get("kind") not in get_args(Kind):
        raise FactsError(f"{where}: its check has no kind of {', '.join(get_args(Kind))}")
    unknown = sorted(set(stored) - {one.name for one in fields(Check)})
    lacking = [name for name in NEEDS[stored["kind"]] if stored.get(name) in (None, "", [], ())]
    if unknown or lacking:
        told = f"does not know {', '.join(unknown)}" if unknown else f"lacks {', '.join(lacking)}"
        raise FactsError(f"{where}: its check ({stored['kind']}) {told}")
    lists = {name: tuple(map(str, stored[name])) for name in ("tasks", "citations") if name in stored}
    return Check(**{**stored, **lists})


def as_json(facts: FactsFile) -> str:
    """The file as it is stored; a check's empty fields are left out."""
    stored = asdict(facts)
    for fact in stored["anchor_facts"]:
        check = fact.pop("check")
        if check is not None:
            fact["check"] = {name: value for name, value in check.items() if value not in (None, "", (), [])}
    return json.dumps(stored, indent=2, ensure_ascii=False) + "\n"
