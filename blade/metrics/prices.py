"""What rollouts cost in US dollars: as their files say, else tokens times a dated list price the user can replace.

A model is looked up by its name without the provider before it and without a date behind it. A model that the table
does not know costs nobody knows what: its rollouts are counted as unpriced, never as free.
"""

import re
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec
import numpy as np

from blade.errors import InputError
from blade.metrics.values import Bools, Floats
from blade.rollouts.table import RolloutTable

RELEASE = re.compile(r"[-@:](?:\d{4}-\d\d-\d\d|\d{4,8}|latest|preview|v\d+(?::\d+)?)$")
"""What may follow a model's name: a date, a version, or the word for the newest."""


class Price(msgspec.Struct, frozen=True):
    """US dollars per million tokens."""

    input: float
    """Tokens that were read."""
    output: float
    """Tokens that were generated, reasoning included."""
    cached: float | None = None
    """Tokens that were read from a cache; as dear as others when unknown."""


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """A dated table of list prices."""

    as_of: str
    """The day it was true."""
    source: str
    """Where it comes from."""
    unit: str = "US dollars per million tokens"
    """What the numbers mean."""
    models: dict[str, Price]
    """By the model's name, in small letters, without provider and date."""

    def find(self, model: str) -> Price | None:
        """The price of a model; `None` when nobody stated it."""
        name = model.rpartition("/")[2].lower()
        while name not in self.models:
            shorter = RELEASE.sub("", name)
            if shorter == name:
                return None
            name = shorter
        return self.models[name]


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What a run cost."""

    total: float
    """US dollars of all rollouts whose cost is known."""
    rollouts: int
    """How many those are."""
    unknown: int
    """Rollouts whose cost nobody knows; they are not in the total."""
    recorded: int
    """Rollouts whose files state the cost; that of the others is tokens times list price."""
    per_rollout: float
    """Mean over the rollouts whose cost is known."""
    per_success: float | None
    """The total divided by their successes; `None` without any."""
    prices: str
    """Which prices were used."""


DECODER = msgspec.json.Decoder(Prices)


def load_prices(path: Path | None = None) -> Prices:
    """The table that comes with BLADE, or the user's own in the same form.

    Raises:
        InputError: the user's table cannot be read.
    """
    return shipped_prices() if path is None else read_prices(path)


@cache
def shipped_prices() -> Prices:
    return DECODER.decode((files("blade.metrics") / "prices.json").read_bytes())


def read_prices(path: Path) -> Prices:
    try:
        return DECODER.decode(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}.") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        expected = '{"as_of": "2026-11-18", "source": "…", "models": {"name": {"input": 1.0, "output": 2.0}}}'
        raise InputError(f"{path}: is not a price table: {error}; expected {expected}.") from error


def dollars(table: RolloutTable, prices: Prices) -> tuple[Floats, Bools]:
    """Per row: its cost, nan when nobody knows; and whether the file states it."""
    recorded = table.rows.numbers("usage.cost", "response.usage.cost", "cost")
    models = table.model.coded()
    found = [prices.find(level) if isinstance(level, str) else None for level in models.levels]
    price = np.array([*((p.input, p.output, p.input if p.cached is None else p.cached) if p else (np.nan,) * 3
                        for p in found), (np.nan,) * 3])[models.values].T  # fmt: skip
    given = table.input_tokens
    cached = table.rows.numbers("usage.cached_tokens", "response.usage.input_tokens_details.cached_tokens")
    cached = np.minimum(np.nan_to_num(cached), np.nan_to_num(given))
    priced = ((given - cached) * price[0] + cached * price[2] + table.output_tokens * price[1]) / 1e6
    stated = ~np.isnan(recorded) & (recorded > 0)
    return np.where(stated, recorded, priced), stated


def cost_of(table: RolloutTable, success: Floats, prices: Prices) -> Cost | None:
    """What a run cost; `None` when nobody knows of any rollout."""
    each, stated = dollars(table, prices)
    known = ~np.isnan(each)
    if not known.any():
        return None
    total, passed = float(each[known].sum()), int((success[known] == 1.0).sum())
    count = int(known.sum())
    listed = f"list prices of {prices.as_of} ({prices.source})"
    return Cost(
        total=total,
        rollouts=count,
        unknown=len(each) - count,
        recorded=int((stated & known).sum()),
        per_rollout=total / count,
        per_success=total / passed if passed else None,
        prices="as the files state" if (stated | ~known).all() else listed,
    )
