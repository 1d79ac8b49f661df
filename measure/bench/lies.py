"""Lies about a run, made of a true line by changing one value of it.

What happens to stay true is not used: a task takes the place of another only where their buckets, rates, labels and
modes differ, a level only where its rate and its buckets do.
"""

import random
import re
from collections.abc import Iterator, Sequence

from findings import BUCKETS, CAUSES, other_number

from blade.diagnosis import Analysis

SMALL = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
SMALL += ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
WORDS = [*SMALL, *(f"{ten}-{unit}" if unit != "zero" else ten for ten in TENS for unit in SMALL[:10])]
PARTS = {
    "one half": "one quarter",
    "two thirds": "a third",
    "half": "a quarter",
    "third": "half",
    "quarter": "half",
    "twice": "four times",
}
ABOVE = {"half": "three quarters", "two thirds": "nine tenths"}
"""What makes a sentence false after `more than`."""
TRIES = 40
"""To find a number that is not a task of which the same is true."""
PATTERNS = {
    "quote": r"(?<=“)[^”]{4,}(?=”)",
    "citation": r"(?<=`)\d+:\d+(?:#\d+)?(?=`)",
    "id": r"(?<=`)\d+(?=`)",
    "level": r"(?<=`)[a-z_]+(?=`)|(?<=^\| )[a-z_]+(?= \|)|\b[a-z_]+(?= tasks)",
    "number": r"(?<![\w.,#-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w.:-]*\w)",
    "word": rf"\b(?<!-)(?i:{'|'.join(sorted(WORDS[2:], key=len, reverse=True))})\b(?!-| thirds)",
    "part": rf"\b(?i:{'|'.join(PARTS)})\b",
    "bucket": rf"\b(?:{'|'.join(BUCKETS)})\b",
    "label": rf"\b(?:{'|'.join(CAUSES)})\b",
}
"""What a lie changes, by kind."""


class Liar:
    """Changes what a line says about a run, one value at a time."""

    def __init__(self, analysis: Analysis, outcomes: dict[str, bool | None], keep: Sequence[str]) -> None:
        self.rng = random.Random(7)
        self.tasks = {one.task: (one.bucket, (one.c, one.n)) for one in analysis.tasks}
        self.labels = {one.task: one.label for one in analysis.causes}
        self.modes = [{*mode.tasks} for mode in analysis.modes]
        self.levels = [{one.level: one for one in part.levels} for part in analysis.slices]
        self.outcomes, self.keep = outcomes, keep

    def lies(self, line: str) -> Iterator[tuple[str, str, str]]:
        """Kind, new value and false line, for each value in a line that another can be told from."""
        if line.startswith("#") or (line.startswith("|") and not re.search(r"\d", line)):
            return
        for kind, pattern in PATTERNS.items():
            for found in re.finditer(pattern, line):
                kept = any(
                    found.start() < line.find(one) + len(one) and line.find(one) < found.end() for one in self.keep
                )
                inside = kind not in ("quote", "id", "citation", "level") and self.in_marks(line, found.start())
                other = None if kept or inside else self.other(kind, found[0], line[: found.start()])
                if other is not None:
                    yield kind, other, line[: found.start()] + other + line[found.end() :]

    def in_marks(self, line: str, place: int) -> bool:
        return any(one.start() < place < one.end() for one in re.finditer(r"`[^`]*`|“[^”]*”|\"[^\"]*\"", line))

    def other(self, kind: str, true: str, before: str) -> str | None:
        """Another value of a kind that makes the sentence false; none where no such value is known."""
        if kind == "quote":
            words = true.split()
            words[len(words) // 2] = "not" if len(words) > 2 else f"x{words[len(words) // 2]}"
            return " ".join(words)
        if kind in ("id", "citation"):
            task, colon, rest = true.partition(":")
            return None if (other := self.unlike(task, rest)) is None else other + colon + rest
        if kind == "level":
            return self.other_level(true)
        if kind == "word":
            at = WORDS.index(true.lower())
            return self.cased(true, WORDS[at + self.rng.choice((-1, 1, 2))] if at > 3 else WORDS[at + 2])
        if kind == "part":
            above = before.lower().endswith("more than ")
            return self.cased(true, (ABOVE if above else PARTS).get(true.lower(), PARTS[true.lower()]))
        if kind in ("bucket", "label"):
            return self.rng.choice([one for one in (BUCKETS if kind == "bucket" else CAUSES) if one != true])
        others = (other_number(true, self.rng) for _ in range(TRIES))
        return next((one for one in others if not {true, one} <= self.tasks.keys() or not self.alike(true, one)), None)

    @staticmethod
    def cased(like: str, word: str) -> str:
        return word.capitalize() if like[0].isupper() else word

    def alike(self, one: str, other: str) -> bool:
        """Whether something said of one task may hold for another."""
        (bucket, rate), (other_bucket, other_rate) = self.tasks[one], self.tasks[other]
        both = self.labels.get(one, "?"), self.labels.get(other, "?")
        same = bucket == other_bucket or rate == other_rate or both[0] == both[1] != "?"
        return same or any({one, other} <= mode for mode in self.modes)

    def unlike(self, task: str, rest: str) -> str | None:
        """A task of which nothing is true that is said of this one, with another outcome where a rollout is named."""
        rollout = rest.partition("#")[0]
        outcome = self.outcomes.get(f"{task}:{rollout}")
        others = [one for one in self.tasks if one != task and not self.alike(task, one)]
        others = [one for one in others if not rollout or self.outcomes.get(f"{one}:{rollout}") is not outcome]
        return self.rng.choice(others) if others else None

    def other_level(self, true: str) -> str | None:
        for levels in self.levels:
            if true in levels:
                mine = (levels[true].headline, levels[true].buckets)
                others = [
                    one for one, level in levels.items() if level.headline != mine[0] and level.buckets != mine[1]
                ]
                return self.rng.choice(others) if others else None
        return None
