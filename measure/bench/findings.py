"""Findings about a run as agents write them, made from its analysis, and lies made of them one value at a time.

A sentence has slots, each with the kind of value in it and the true text. A lie puts another text of that kind into one
slot; what happens to stay true is not used.
"""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from blade.audit.check import check_report
from blade.audit.evidence import Evidence, evidence_of
from blade.audit.references import has_words
from blade.audit.verdicts import Audit
from blade.diagnosis import Analysis, Diagnosed, diagnose
from blade.errors import BladeError
from blade.rollouts import ReadOptions, read_runs

HEADINGS = ("Answer", "Summary", "What we saw", "Notes", "Details", "Method", "Recommendations", "1. Overview")
COUNTING = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
CAUSES = ("DA", "IR", "TI", "BI", "UK", "KG")
BUCKETS = ("always", "sometimes", "never")
FALSE_SHARES = (("Half", 1 / 2), ("A third", 1 / 3), ("A quarter", 1 / 4), ("Two thirds", 2 / 3))
WORDS_QUOTED = 7
FEWEST_WORDS = 9
ROLLOUTS_QUOTED = 60
MARKUP = re.compile(r'["“”`{|<*_\[]')
Slots = dict[str, tuple[str, str]]
"""The kind of value and the true text, by the name of the slot."""


class Finding(NamedTuple):
    """A sentence about a run."""

    form: str
    """With its slots in braces."""
    slots: Slots
    """What belongs there; `lie` for a sentence that is false as it stands."""

    def text(self, **changed: str) -> str:
        """The sentence, true but for what is changed."""
        return self.form.format(**{name: true for name, (_, true) in self.slots.items()} | changed)


class Passage(NamedTuple):
    """Words of a rollout."""

    citation: str
    """Their item."""
    words: list[str]
    """Its words."""


class Findings:
    """Everything that is said of one run."""

    def __init__(self, path: Path, seed: int) -> None:
        (run,) = read_runs([str(path)], ReadOptions(use_cache=False))
        self.rng = random.Random(seed)
        self.found: Diagnosed = diagnose(run)
        self.analysis: Analysis = self.found.analysis
        self.evidence: Evidence = evidence_of([self.found])
        self.buckets = {task: name for name in BUCKETS for task in getattr(self.analysis.buckets, name)}
        self.passages = list(self.quotable())
        self.sentences = [*self.of_metrics(), *self.of_buckets(), *self.of_tasks(), *self.of_modes(), *self.of_quotes()]

    def check(self, sentence: str) -> Audit:
        """What `blade check` makes of a sentence under some heading."""
        heading = self.rng.choice(HEADINGS)
        return check_report(f"# Findings\n\n## {heading}\n\n{sentence}\n", evidence=self.evidence)

    def quotable(self) -> Iterator[Passage]:
        table = self.found.run.table
        rows = self.rng.sample(range(len(table)), min(ROLLOUTS_QUOTED, len(table)))
        for row, rollout in self.found.run.numbered_rollouts(rows):
            for place, item in enumerate(rollout.items):
                if len(item.text.split()) >= FEWEST_WORDS and not MARKUP.search(item.text):
                    yield Passage(f"{table.citation(row)}#{place}", item.text.split())

    def of_metrics(self) -> Iterator[Finding]:
        found, metrics = self.analysis, self.analysis.metrics
        if metrics.pass_at_1 is not None and metrics.pass_at_1.value is not None:
            one = metrics.pass_at_1
            value = one.value or 0.0
            low, high = one.ci95 or (value, value)
            share = ("percent", f"{100 * value:.1f}")
            ends: Slots = {"l": ("percent", f"{100 * low:.1f}"), "h": ("percent", f"{100 * high:.1f}")}
            yield Finding("pass@1 is {x} %.", {"x": share})
            yield Finding("That makes {x} % ({l} % to {h} %).", {"x": share, **ends})
            yield Finding("The model solves {x} % of its attempts.", {"x": ("percent", f"{100 * value:.0f}")})
            yield Finding("The pass rate is {x} % (95 % interval {l} % to {h} %).", {"x": share, **ends})
        for sign, several in (("@", metrics.pass_at_k), ("^", metrics.pass_pow_k)):
            for k, metric in (several or {}).items():
                if str(k) != "1" and metric.value is not None:
                    yield Finding(f"pass{sign}{k} is {{x}} %.", {"x": ("percent", f"{100 * metric.value:.1f}")})
        size = {"t": ("count", str(len(found.tasks))), "r": ("count", str(found.coverage.rollouts))}
        yield Finding("There are {t} tasks and {r} rollouts.", size)

    def of_buckets(self) -> Iterator[Finding]:
        counts = {name: len(getattr(self.analysis.buckets, name)) for name in BUCKETS}
        slots: Slots = {name[0]: ("count", str(count)) for name, count in counts.items()}
        yield Finding(
            "Of {t} tasks, {a} always pass, {s} sometimes and {n} never.",
            {"t": ("count", str(len(self.analysis.tasks))), **slots},
        )
        for name, count in counts.items():
            yield Finding(f"{{n}} tasks {name} pass.", {"n": ("count", str(count))})
            if 1 < count < len(COUNTING):
                yield Finding(f"{{n}} of them {name} pass.", {"n": ("word", COUNTING[count])})
                yield Finding(f"{{n}} tasks {name} pass, the rest do not.", {"n": ("word", COUNTING[count])})
        share = counts["never"] / max(len(self.analysis.tasks), 1)
        for words, size in FALSE_SHARES:
            if abs(share - size) > 0.06:
                yield Finding("{w} of the tasks never pass.", {"w": ("lie", words)})
        if counts["never"] != 12:
            yield Finding("{w} tasks never pass.", {"w": ("lie", "A dozen")})
        if counts["never"] and abs(counts["sometimes"] / counts["never"] - 2) > 0.3:
            yield Finding("{w} as many tasks pass sometimes as never.", {"w": ("lie", "Twice")})

    def of_tasks(self) -> Iterator[Finding]:
        scored = [task for task in self.analysis.tasks if task.n]
        for task in self.rng.sample(scored, min(12, len(scored))):
            named, counts = ("task", task.task), {"c": ("count", str(task.c)), "n": ("count", str(task.n))}
            yield Finding("Task `{i}` passed {c} of {n}.", {"i": named, **counts})
            yield Finding("- Task `{i}`: {c}/{n}, worth a look.", {"i": named, **counts})
            if task.task.isdigit():
                yield Finding("Task {i} succeeded in {c} of its {n} rollouts.", {"i": named, **counts})
            if task.task in self.buckets:
                yield Finding("Task `{i}` {b} passes.", {"i": named, "b": ("bucket", self.buckets[task.task])})
        never = list(self.analysis.buckets.never)
        if len(never) >= 3:
            some: Slots = {name: ("task", task) for name, task in zip("ijk", self.rng.sample(never, 3), strict=True)}
            yield Finding("Tasks `{i}`, `{j}` and `{k}` never pass.", some)
        for cause in self.analysis.causes:
            if cause.label.rstrip("?"):
                label = ("label", cause.label.rstrip("?"))
                yield Finding("Task `{i}` is labelled {l}.", {"i": ("task", cause.task), "l": label})

    def of_modes(self) -> Iterator[Finding]:
        for mode in self.analysis.modes[:8]:
            counts: Slots = {"f": ("count", str(mode.failed)), "p": ("count", str(mode.passed))}
            title = mode.title.replace("{", "{{").replace("}", "}}")
            yield Finding(f"{title}: {{f}} failing and {{p}} passing rollouts.", counts)
            more: Slots = {**counts, "t": ("count", str(len(mode.tasks)))}
            yield Finding(f"{title} in {{f}} failing rollouts and {{p}} passing ones, over {{t}} tasks.", more)

    def of_quotes(self) -> Iterator[Finding]:
        for one in self.rng.sample(self.passages, min(10, len(self.passages))):
            at = self.rng.randint(0, len(one.words) - WORDS_QUOTED)
            quote = ("quote", " ".join(one.words[at : at + WORDS_QUOTED]))
            slots: Slots = {"c": ("item", one.citation), "q": quote}
            yield Finding("`{c}` says “{q}”.", slots)
            yield Finding("The agent writes “{q}” (`{c}`).", slots)

    def lies(self) -> Iterator[tuple[str, str, str]]:
        """False sentences, the kind of what is false in them and its text, without end."""
        while self.sentences:
            finding = self.rng.choice(self.sentences)
            name = self.rng.choice(list(finding.slots))
            kind, true = finding.slots[name]
            new = self.other(kind, true)
            if self.is_false(finding, kind, true, new):
                yield finding.text(**{name: new}), kind, new

    def other(self, kind: str, true: str) -> str:
        """Another text of a kind: a number near by, another id, the next item, one word of a quotation changed."""
        if kind in ("count", "percent"):
            return other_number(true, self.rng)
        if kind == "word":
            return self.rng.choice([word for word in COUNTING[2:] if word != true])
        if kind == "task":
            return self.rng.choice([task.task for task in self.analysis.tasks if task.task != true] or ["none-such"])
        if kind in ("bucket", "label"):
            known = BUCKETS if kind == "bucket" else CAUSES
            return self.rng.choice([one for one in known if one not in true])
        if kind == "item":
            citation, _, item = true.partition("#")
            task, _, repeat = citation.rpartition(":")
            beside = int(item) + (self.rng.choice((-1, 1)) if int(item) else 1)
            return f"{citation}#{beside}" if self.rng.random() < 0.5 else f"{task}:{int(repeat) + 1}#{item}"
        words = true.split()
        place = self.rng.randrange(len(words))
        words[place] = "never" if self.rng.random() < 0.5 else f"{words[place]}s"
        return true if kind == "lie" else " ".join(words)

    def is_false(self, finding: Finding, kind: str, true: str, new: str) -> bool:
        """Whether a sentence is false with another text in a slot."""
        if kind == "task" and "labelled" in finding.form:
            labels = {cause.task: cause.label for cause in self.analysis.causes}
            return finding.slots["l"][1] not in labels.get(new, "")
        if kind == "task" and "pass" in finding.form and "{c}" not in finding.form:
            return self.buckets.get(new) != finding.slots.get("b", ("", "never"))[1]
        if kind == "task":
            rates = {task.task: (str(task.c), str(task.n)) for task in self.analysis.tasks}
            return rates.get(new) != (finding.slots["c"][1], finding.slots["n"][1])
        if kind in ("item", "quote"):
            citation, quote = (new, finding.slots["q"][1]) if kind == "item" else (finding.slots["c"][1], new)
            return not self.says(citation, quote)
        return kind == "lie" or new != true

    def says(self, citation: str, quote: str) -> bool:
        """Whether an item has the words."""
        rollout, _, item = citation.partition("#")
        try:
            items = self.found.run.rollout_at(self.found.run.row(rollout)).items
        except (BladeError, LookupError):
            return False
        return int(item) < len(items) and has_words(items[int(item)].text, quote)


def other_number(number: str, rng: random.Random) -> str:
    """Another number of the same form, near by."""
    digits = len(number.partition(".")[2])
    while True:
        scale = 1.0 if rng.random() < 0.7 else 0.3 if digits else 3.0
        moved = float(number.replace(",", "")) + rng.choice((-11, -7, -3, -2, -1, 1, 2, 3, 7, 11)) * scale
        if moved >= 0 and f"{moved:.{digits}f}" != number:
            return f"{moved:.{digits}f}"
