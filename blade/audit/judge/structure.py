"""Does a report have the parts a reader needs, and does each part hold what its heading says? Standard library only."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from blade.audit.judge.said import Said
from blade.audit.mentions import tasks_in

Test = Callable[[Said, range], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a report."""

    name: str
    """What it is for."""
    heading: re.Pattern[str]
    """How its heading reads."""
    holds: Test
    """Whether some lines hold what belongs there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """What became of the parts."""

    there: tuple[str, ...]
    """Parts that are there and hold what they should."""
    misplaced: tuple[str, ...]
    """Headings over something else than they say."""
    parts: int
    """Parts a report has."""

    @property
    def score(self) -> float:
        """The share of the parts that are there."""
        return len(self.there) / self.parts

    @property
    def is_jumbled(self) -> bool:
        """Whether most headings stand over something else."""
        return len(self.misplaced) >= 3 and len(self.misplaced) > len(self.there)


def has_headline(said: Said, lines: range) -> bool:
    """The headline is stated in prose."""
    cells = {row.line for table in said.document.tables for row in table.rows}
    headline = said.keywords.headline
    return any(one.path == headline and one.line in lines and one.line not in cells for one in said.numbers)


def has_totals(said: Said, lines: range) -> bool:
    """Several metrics are stated."""
    kinds = ("pass_at", "metrics.", "slices.", "mean_reward")
    return len({one.path for one in said.numbers if one.line in lines and one.path.startswith(kinds)}) >= 2


def has_stages(said: Said, lines: range) -> bool:
    """Stages of the funnel are named."""
    stages = [str(stage).lower() for stage in said.truth.group("funnel")]
    text = text_in(said, lines).lower()
    return sum(stage in text for stage in stages) >= min(2, len(stages)) and bool(text)


def has_buckets(said: Said, lines: range) -> bool:
    """Buckets are counted."""
    return len({one.path for one in said.numbers if one.line in lines and one.path.startswith("buckets.")}) >= 2


def has_modes(said: Said, lines: range) -> bool:
    """Failures are named by label, pattern or signal, or shown in the model's words."""
    kinds = ("labels.", "signals.", "patterns.")
    counted = any(one.line in lines and one.path.startswith(kinds) for one in said.numbers)
    return counted or any(one.line in lines and one.quote for one in said.cited)


def has_examples(said: Said, lines: range) -> bool:
    """Several rollouts are cited or quoted."""
    return len({one.citation for one in said.cited if one.line in lines}) >= 3


def only_of(bucket: str) -> Test:
    """The tasks whose own sub-sections stand there are of one bucket."""

    def test(said: Said, lines: range) -> bool:
        passages = [p for p in said.document.passages if p.level >= 3 and p.marks[0][1] in lines]
        named = {task for passage in passages for task, _, _ in tasks_in(passage.text)}
        members = set(said.truth.buckets.get(bucket, ()))
        return not members or (bool(named) and named <= members)

    return test


def has_advice(said: Said, lines: range) -> bool:
    """Something is said about what to do: a list of steps, or a table of gains."""
    passages = [passage for passage in said.document.passages if passage.level == 0 and passage.marks[0][1] in lines]
    doing = re.compile(
        r"\b(?:train|teach|prompt|fix|repair|add|change|raise|rerun|remove|tell|say|check|read|use)\b", re.I
    )
    return sum(bool(doing.search(passage.text)) for passage in passages) >= 1


PARTS = (
    Part(name="summary", heading=re.compile(r"summary|overview|in brief|conclusion", re.I), holds=has_headline),
    Part(name="totals", heading=re.compile(r"aggregate|totals|metrics|overall results", re.I), holds=has_totals),
    Part(name="funnel", heading=re.compile(r"funnel|phases?\b|stages", re.I), holds=has_stages),
    Part(name="buckets", heading=re.compile(r"bucket|outcomes?\b", re.I), holds=has_buckets),
    Part(name="failure modes", heading=re.compile(r"failure mode|root cause|how it fails", re.I), holds=has_modes),
    Part(name="examples", heading=re.compile(r"example|evidence|cases", re.I), holds=has_examples),
    Part(name="sometimes", heading=re.compile(r"sometimes|within[- ]task", re.I), holds=only_of("sometimes")),
    Part(name="never", heading=re.compile(r"never", re.I), holds=only_of("never")),
    Part(name="advice", heading=re.compile(r"recommend|intervention|what to do|next steps", re.I), holds=has_advice),
)


def look_at_structure(said: Said) -> Structure:
    """Every part by its heading; an empty one is missing, one that holds something else is misplaced."""
    sections = sections_of(said)
    there: list[str] = []
    misplaced: list[str] = []
    for part in PARTS:
        mine = [lines for title, lines in sections if part.heading.search(title) and text_in(said, lines).strip()]
        if any(part.holds(said, lines) for lines in mine):
            there.append(part.name)
        elif mine:
            misplaced.append(part.name)
    return Structure(there=tuple(there), misplaced=tuple(misplaced), parts=len(PARTS))


def sections_of(said: Said) -> list[tuple[str, range]]:
    """Headings of the second level, and the lines below each."""
    headings = [passage for passage in said.document.passages if passage.level == 2]
    starts = [passage.marks[0][1] for passage in headings]
    end = 1 + max([*(p.marks[-1][1] for p in said.document.passages), *last_rows(said)], default=0)
    spans = [range(first + 1, last) for first, last in pairwise([*starts, end])]
    return list(zip([passage.text for passage in headings], spans, strict=True))


def last_rows(said: Said) -> list[int]:
    return [table.rows[-1].line for table in said.document.tables if table.rows]


def text_in(said: Said, lines: range) -> str:
    """All that stands in some lines."""
    prose = [passage.text for passage in said.document.passages if passage.marks[0][1] in lines]
    cells = [" ".join(row.cells) for table in said.document.tables for row in table.rows if row.line in lines]
    return "\n".join([*prose, *cells])
