"""Which pack fits a run, and why: told from the fields its rows have, never from a name the user gave the file.

The winner does not depend on the order in which packs are tried: the highest priority, then the most requirements
met, then the name.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from blade.diagnosis.packs.columns import knows_field
from blade.diagnosis.packs.expressions import Expression
from blade.diagnosis.packs.load import shipped_names, shipped_pack
from blade.diagnosis.packs.pack import Match, Pack
from blade.diagnosis.packs.rows import read_sample
from blade.diagnosis.packs.values import Path
from blade.rollouts.columns import Column
from blade.rollouts.scan import FIRST_TOOL
from blade.rollouts.table import Run
from blade.rollouts.trajectory import read_items

MOST_PROMPTS = 4


class Choice(NamedTuple):
    """The pack for a run, if there is one, and what it was chosen by."""

    pack: Pack | None
    """The pack."""
    why: str
    """What in the rows decided."""
    others: tuple[str, ...] = ()
    """Packs that recognise the run too, best first."""


class Fit(NamedTuple):
    """One way in which a pack recognises a run."""

    pack: Pack
    met: list[str]
    """The requirements that are met, in words."""


def choose_pack(run: Run, packs: Iterable[Pack] | None = None) -> Choice:
    """The pack that fits a run best, of the shipped ones unless others are given."""
    features = RunFeatures(run)
    known = [shipped_pack(name) for name in shipped_names()] if packs is None else list(packs)
    fits = [fit for pack in known if (fit := best_fit(pack, features)) is not None]
    fits.sort(key=lambda fit: (-fit.pack.priority, -len(fit.met), fit.pack.name))
    if not fits:
        return Choice(None, f"none of the {len(known)} packs recognises these rows")
    first = fits[0]
    why = f"{first.pack.name}: {', '.join(first.met)}"
    return Choice(first.pack, why, tuple(fit.pack.name for fit in fits[1:]))


def best_fit(pack: Pack, features: "RunFeatures") -> Fit | None:
    """The way with most requirements in which a pack recognises a run."""
    ways = [met for match in pack.matches if (met := requirements_met(match, features)) is not None]
    return Fit(pack, max(ways, key=len)) if ways else None


def requirements_met(match: Match, features: "RunFeatures") -> list[str] | None:
    """What a match asks for, in words; `None` when something is not so."""
    met: list[str] = []
    for asked in (formats_met, fields_met, names_met, texts_met):
        words = asked(match, features)
        if words is None:
            return None
        met += words
    return met


def formats_met(match: Match, features: "RunFeatures") -> list[str] | None:
    there = [f"format {name}" for name in match.formats if name in features.formats]
    return there if there or not match.formats else None


def fields_met(match: Match, features: "RunFeatures") -> list[str] | None:
    there = [path for path in match.any_fields if features.has(path)]
    if not all(map(features.has, match.all_fields)) or any(map(features.has, match.no_fields)):
        return None
    if match.any_fields and not there:
        return None
    return [f"field {path.text}" for path in (*match.all_fields, *there)]


def names_met(match: Match, features: "RunFeatures") -> list[str] | None:
    """The first of the first tools that match."""
    if match.first_tool is None:
        return []
    return [f"first tool {name}" for name in features.first_tools if match.first_tool.search(name)][:1] or None


def texts_met(match: Match, features: "RunFeatures") -> list[str] | None:
    if not all(features.all_match(path, expression) for path, expression in match.texts):
        return None
    met = [f"{path.text} like {expression.source}" for path, expression in match.texts]
    if match.prompt is None:
        return met
    return [*met, f"prompt like {match.prompt.source}"] if features.prompts_match(match.prompt) else None


class RunFeatures:
    """What a run can be recognised by."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.columns = run.table.rows.columns
        self.sample = read_sample(run, np.ones(len(run.table), dtype=bool))
        self.formats = {file.format.name for file in run.files}

    def has(self, path: Path) -> bool:
        """Whether the rows have a field, be it null."""
        return knows_field(path, self.run.table, self.sample)

    @cached_property
    def first_tools(self) -> list[str]:
        return texts_of(self.columns.get(FIRST_TOOL))

    def all_match(self, path: Path, expression: Expression) -> bool:
        """Whether a field has texts, and all that the table knows and that are not empty match."""
        values = [text for text in texts_of(self.columns.get(path.text)) if text]
        return bool(values) and all(expression.search(value) for value in values)

    def prompts_match(self, expression: Expression) -> bool:
        """Whether every row looked at was given an item that matches."""
        records = self.sample.records[:MOST_PROMPTS]
        return bool(records) and all(
            any(expression.search(text) for text in self.prompt_texts(record)) for record in records
        )

    def prompt_texts(self, record: dict[str, object]) -> list[str]:
        form = self.run.files[0].format
        return [item.text for item in read_items(record, form) if item.prompt]


def texts_of(column: Column | None) -> list[str]:
    """The distinct texts of a column, those of no row left out."""
    if column is None or column.kind in ("number", "flag"):
        return []
    used = np.unique(column.values[column.values >= 0]).tolist()
    return [level for code in used if isinstance(level := column.levels[code], str)]
