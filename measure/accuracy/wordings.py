"""How the same event is put into words by different providers, tools, sandboxes and models.

Every event has two lists. Rules may be developed against the first (`seen`); runs with a fresh seed draw from the
second (`fresh`) only, so that the figures on them say how the rules do on words nobody wrote them for. Braces are
filled with numbers and ids drawn for each use.
"""

import random
import string
from typing import NamedTuple


class Wording(NamedTuple):
    """The ways to say one thing: those rules were developed on, and those they were not."""

    seen: tuple[str, ...]
    fresh: tuple[str, ...]


FEW = 3
"""Ways of saying one thing that a single run knows: it has one provider, one sandbox, one model."""


class Words:
    """Draws wordings for one run: developed-on ones for its seed, or fresh ones."""

    def __init__(self, rng: random.Random, *, fresh: bool) -> None:
        self.rng = rng
        self.fresh = fresh
        self.known: dict[tuple[str, ...], list[str]] = {}

    def say(self, wording: Wording | tuple[str, ...], *, what: str = "record", answer: str = "") -> str:
        """One way of saying it, with its blanks filled."""
        options = wording if not isinstance(wording, Wording) else wording.fresh if self.fresh else wording.seen
        if options not in self.known:
            self.known[options] = self.rng.sample(options, min(FEW, len(options)))
        template = self.rng.choice(self.known[options])
        number, seconds = self.rng.randint(100, 9999), self.rng.randint(2, 90)
        return template.format(id=self.id(), n=number, sec=seconds, what=what, answer=answer)

    def id(self) -> str:
        """A short hexadecimal id."""
        return "".join(self.rng.choices(string.hexdigits.lower()[:16], k=10))
