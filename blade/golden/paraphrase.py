"""The golden report in different words, by rule: it must score high, for it says the same. Standard library only.

Sections and lists come in another order, headings and phrases of the template are exchanged for others, and tables of
up to ten columns become sentences. That is no human paraphrase: one written by hand stands beside the golden report as
`<model>_paraphrase.md` and is scored too.
"""

import re
from collections.abc import Iterator

from blade.golden.blocks import Section, cells_of, is_table, join_sections, paragraphs, split_sections

HEADINGS = {
    "Executive Summary": "Overview",
    "Artifact Inventory": "What Was Looked At",
    "Aggregate Results": "Overall Metrics",
    "Workflow Funnel": "Stages Reached",
    "Task Outcome Buckets": "Outcomes by Task",
    "Dominant Failure Modes": "Root Causes of Failure",
    "Concrete Examples": "Evidence from Single Cases",
    "Sometimes-Pass Deep Dives": "Tasks Solved Sometimes",
    "Never-Pass Deep Dives": "Tasks Never Solved",
    "Findings No Table Shows": "What the Counts Hide",
    "Cross-Model Comparison": "Against Other Models",
    "Recommendations": "What to Do Next",
    "Reproducibility Notes": "How to Get This Again",
}
PHRASES = {
    r"\bbehavioural issue\b": "issue of behaviour",
    r"\bin the passing\b": "in the successful",
    r"\bfailing rollouts\b": "unsuccessful rollouts",
    r"\bmean over tasks of\b": "average across tasks of",
    r"\bhigh confidence\b": "with high confidence",
    r"\bA reader has judged every task of this bucket\.": "Somebody has read all of them.",
    r"\bWhere its closest passing and failing rollouts part\b": "Here its nearest right and wrong attempts diverge",
    r"\bTo check\b": "Look it up with",
    r"\bDraft cause\b": "Suspected cause",
    r"\bSeen in its failing rollouts\b": "Noticed when it goes wrong",
    r"\bEvery task has\b": "Each task has",
    r"\bWhat could be done\b": "Possible work",
}
LEFT_OUT = ("what it is", "how it is told", "meaning", "se", "n", "sidecars", "see")
"""Columns that explain and measure nothing."""
MOST_COLUMNS = 10


def paraphrase(golden: str) -> str:
    """The report in different words."""
    head, *rest = split_sections(golden)
    first = [section for section in rest if section.heading == "## Executive Summary"]
    others = [section for section in rest if section not in first]
    reordered = [head, *first, *others[::-1]]
    return reworded(join_sections([Section(renamed(one.heading), rewritten(one.body)) for one in reordered]))


def renamed(heading: str) -> str:
    """A heading in other words."""
    title = heading.removeprefix("## ")
    return f"## {HEADINGS.get(title, title)}" if heading else ""


def reworded(text: str) -> str:
    """Phrases of the template in other words; quotes and code stay."""
    pieces = re.split(r"(`[^`\n]*`|“[^”]*”)", text)
    for place in range(0, len(pieces), 2):
        for pattern, words in PHRASES.items():
            pieces[place] = re.sub(pattern, words, pieces[place])
    return "".join(pieces)


def rewritten(body: str) -> str:
    """A section with its sub-sections reversed and its tables in sentences."""
    parts = re.split(r"^(?=### )", body, flags=re.MULTILINE)
    ordered = [parts[0], *parts[:0:-1]] if len(parts) > 2 else parts
    return "\n\n".join("\n\n".join(told(piece) for piece in paragraphs(part)) for part in ordered)


def told(paragraph: str) -> str:
    """A table as sentences, a flat list backwards, anything else as it is."""
    if is_table(paragraph):
        return " ".join(sentences_of(paragraph)) or paragraph
    lines = paragraph.splitlines()
    if all(line.startswith("- ") for line in lines):
        return "\n".join(lines[::-1])
    return paragraph


def sentences_of(table: str) -> Iterator[str]:
    """A sentence per cell: whose it is, what it counts, how much."""
    header, _, *rows = [cells_of(line) for line in table.splitlines()]
    if len(header) > MOST_COLUMNS:
        return
    for row in rows:
        for name, cell in zip(header[1:], row[1:], strict=False):
            if name.lower() not in LEFT_OUT and cell not in ("", "–"):
                yield sentence(header[0], row[0], name, cell)


def sentence(key: str, row: str, name: str, cell: str) -> str:
    """One cell in words."""
    if key == "k":
        return f"{name.removesuffix('k')}{row} is {cell}." if name.endswith(("@k", "^k")) else ""
    if name == "which":
        return f"Tasks of {row}: {cell}."
    if name == "headline":
        return f"The pass rate of {row} is {cell}." if row.startswith("`") else f"It would be {cell} with {row}."
    if name == "value":
        return f"{row[:1].upper()}{row[1:]} is {cell}."
    if name == "passed":
        return f"Task {row} passed {cell}."
    return f"For {row} the {name} is {cell}."
