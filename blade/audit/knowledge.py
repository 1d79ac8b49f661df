"""Facts, and the things they are about, ready to be looked up by what a sentence or a table mentions."""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from blade.audit.claims import LABEL
from blade.audit.facts import Fact, Thing
from blade.audit.markdown import CODE_CLOSE, CODE_OPEN
from blade.audit.mentions import citations_in, split_citation, tasks_in

NOUNS = r"(?:tasks?|rollouts?|problems?|questions?|items?|cases?|slices?|levels?|category|categories|ones|examples?)"
BARE_KINDS = frozenset({"signal", "pattern", "stage", "mode", "work", "quantity", "trait", "finding", "part"})
"""Things that are called by a phrase; the others by code, or by a cell of their own."""
LEAST = 8
"""Letters of a phrase that is looked for inside of sentences, unless it has several words."""


class Mentioned(NamedTuple):
    """What a text mentions, and the text without it."""

    things: frozenset[Thing]
    """The things."""
    rest: str
    """What is left."""


class Knowledge:
    """Facts by thing, and things by name."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.facts: dict[Thing | None, list[Fact]] = defaultdict(list)
        self.by_path: dict[str, Fact] = {}
        self.names: dict[str, set[Thing]] = defaultdict(set)
        self.phrases: dict[str, set[Thing]] = defaultdict(set)
        self.tasks: dict[str, set[Thing]] = defaultdict(set)
        self.seen: dict[str, set[Thing]] = defaultdict(set)
        self.found: dict[str, Mentioned] = {}
        for fact in facts:
            self.facts[fact.thing].append(fact)
            self.by_path.setdefault(fact.path, fact)
            if fact.thing is not None and len(self.facts[fact.thing]) == 1:
                self.learn(fact.thing)
        words = "|".join(re.escape(phrase) for phrase in sorted(self.phrases, key=len, reverse=True))
        self.pattern = re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE) if words else None

    def learn(self, thing: Thing) -> None:
        for name in thing.names:
            self.names[name.strip().lower()].add(thing)
            is_phrase = thing.kind in BARE_KINDS and (" " in name.strip() or "_" in name or len(name) >= LEAST)
            if is_phrase:
                self.phrases[" ".join(name.lower().split())].add(thing)
        if thing.kind in ("task", "seen"):
            (self.tasks if thing.kind == "task" else self.seen)[thing.key].add(thing)

    def cell(self, text: str) -> frozenset[Thing]:
        """Things that a whole cell of a table names."""
        return frozenset(self.names.get(text.replace("`", "").strip().lower(), ()))

    def mentions(self, text: str) -> Mentioned:
        """Things that a text mentions: in code, as a task or citation, as a label, or by their phrase."""
        if text not in self.found:
            self.found[text] = self.look(text)
        return self.found[text]

    def look(self, text: str) -> Mentioned:
        marked = as_code(text)
        named = {key for key, _, _ in tasks_in(marked) if key in self.tasks}
        found = {thing for key in named for thing in self.tasks[key]}
        for citation, _, _ in citations_in(marked):
            parts = split_citation(citation)
            found |= self.tasks.get(parts[0], set()) if parts else set()
        for code in re.findall(r"`([^`]*)`", text):
            if code not in named:  # the word task tells it from a level of the same name
                found |= self.names.get(code.strip().lower(), set())
        for label in LABEL.findall(text):
            found |= {thing for thing in self.names.get(label.lower(), ()) if thing.kind == "cause"}
        rest = re.sub(r"`[^`]*`", " ", LABEL.sub(" ", text))
        if self.pattern is not None:
            for phrase in self.pattern.findall(rest):
                found |= self.phrases[" ".join(phrase.lower().split())]
            rest = self.pattern.sub(" ", rest)
        levels, rest = self.levels(rest)
        return Mentioned(frozenset(found | levels), rest)

    def levels(self, text: str) -> tuple[set[Thing], str]:
        """Levels that stand before a noun: `hard tasks`."""
        found: set[Thing] = set()
        for word in re.finditer(rf"\b([A-Za-z][\w-]{{2,}})(?=[\s-]+{NOUNS}\b)", text):
            levels = {thing for thing in self.names.get(word[1].lower(), ()) if thing.kind == "level"}
            if levels:
                found |= levels
                text = text[: word.start()] + " " * len(word[0]) + text[word.end() :]
        return found, text


def as_code(text: str) -> str:
    """Text with backticks as the readers of mentions expect it."""
    return re.sub(r"`([^`]*)`", rf"{CODE_OPEN}\1{CODE_CLOSE}", text)
