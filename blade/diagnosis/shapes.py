"""The shape of what a tool said, and which shapes its answers usually have.

A tool's answers are alike: the same keys, the same kind of last line. One that is like none of them says that
something else happened, in whatever words. How much that proves depends on the tool: a shell's answers are all
different, so a new one is nothing special there. Turing's estimate tells: the chance that the next answer has a shape
never seen before is the share of shapes seen once (Good 1953).
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

LONGEST_JSON = 200_000
LONGEST_LINE = 400
LONGEST_SHAPE = 60
STATUS_KEYS = frozenset({"status", "state", "success", "ok", "outcome", "type", "code", "is_error", "isError", "found"})
"""Keys whose value belongs to the shape: `{"status": "ok"}` is not `{"status": "failed"}`."""
STATUS = re.compile(r"\w+=[\w.-]+")
KEY = re.compile(r"""['"](\w{1,40})['"]\s*:""")
WITH_DIGITS = re.compile(r"\w*\d\w*")
WORD = re.compile(r"[^\W\d]+(?:['’-][^\W\d]+)*")
SENTENCE = re.compile(r"w(?: w)+")
NUMBERS = re.compile(r"#(?:[\s.,:/-]*#)+")

MANY, FEW = 20, 5
"""Answers of a tool that must be known before one can be called unusual, for sure or perhaps."""
SURPRISING, MAYBE_SURPRISING = 0.05, 0.2
"""How often a tool may at most say something new for a new thing to mean much, or anything."""
RARE = 0.1
"""A shape with a larger share of a tool's answers is usual."""


def shape_of(text: str) -> str:
    """The kind of thing a text is: the keys of an object, what a list holds, the last line with its words masked."""
    said = text.strip()
    if not said:
        return "nothing"
    if said[0] in "{[" and len(said) <= LONGEST_JSON:
        try:
            return shape_of_json(msgspec.json.decode(said))
        except (msgspec.MsgspecError, RecursionError):
            return "~" + ",".join(sorted(set(KEY.findall(said[:LONGEST_LINE]))))
    lines = said.splitlines()
    return ("" if len(lines) == 1 else "…") + mask(lines[-1].strip()[:LONGEST_LINE])


def shape_of_json(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}{status(key, value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return f"[{shape_of_json(value[0]) if value else ''}]"
    return type(value).__name__


def status(key: str, value: object) -> str:
    """`=ok` for keys that say how it went."""
    short = isinstance(value, str | bool | int) and len(str(value)) <= 20
    return f"={str(value).lower()}" if key in STATUS_KEYS and short else ""


def mask(line: str) -> str:
    """`12 passed in 0.31s` as `# w+ #`; a single word stands for itself."""
    if line.isalpha():
        return line.lower()
    masked = WORD.sub("w", WITH_DIGITS.sub("#", line))
    return NUMBERS.sub("#", SENTENCE.sub("w+", " ".join(masked.split())))[:LONGEST_SHAPE]


class Usual:
    """The shapes of one tool's answers, with how many rollouts met each."""

    def __init__(self, shapes: Counter[str]) -> None:
        self.shapes = shapes
        self.total = shapes.total()
        self.statuses: Counter[str] = Counter()
        for shape, count in shapes.items():
            self.statuses.update(dict.fromkeys(STATUS.findall(shape), count))

    def is_common(self, shape: str) -> bool:
        """Whether a tool often says such things, or often says that it went like this."""
        most = RARE * self.total
        return self.shapes[shape] > most or any(self.statuses[how] > most for how in STATUS.findall(shape))

    def surprise(self, shape: str) -> int:
        """How much a shape is out of the usual: 2 never heard, 1 rare or perhaps never heard, 0 not at all."""
        if self.total < FEW or self.is_common(shape):
            return 0
        new = sum(count == 1 for count in self.shapes.values()) / self.total
        never = self.total >= MANY and not self.shapes[shape]
        return 2 if never and new <= SURPRISING else int(new <= MAYBE_SURPRISING)


class Met(NamedTuple):
    """A tool and the shape of something it said."""

    tool: str
    shape: str


def usual_shapes(rollouts: Iterable[set[Met]]) -> dict[str, Usual]:
    """Tool -> its usual shapes, from what each rollout met."""
    counts: dict[str, Counter[str]] = {}
    for rollout in rollouts:
        for tool, shape in rollout:
            counts.setdefault(tool, Counter())[shape] += 1
    return {tool: Usual(shapes) for tool, shapes in counts.items()}
