"""Is the judge itself any good? It must like the golden report and what says the same, and nothing else.

Each variant is made from the golden report by rule. The paraphrase has sections and lists in another order under other
headings, and tables as sentences; one written by hand may stand beside the golden report as `<model>_paraphrase.md`.
Each adversary takes away one thing that makes a report good: its sentences, its truth, its proof, its order. The same
report always gives the same variants. Standard library only.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal

from blade.golden.drafting import LABELS
from blade.golden.facts import Fact, read_facts
from blade.golden.judge import Judgement, judge
from blade.golden.package.layout import FACTS, PARAPHRASE, SHALLOW, GoldenFiles, find_reports

Role = Literal["golden", "paraphrase", "shallow", "adversary"]
LEAST: dict[Role, float] = {"golden": 0.90, "paraphrase": 0.70}
MOST: dict[Role, float] = {"shallow": 0.40, "adversary": 0.40}
SEED = 20_24
MOST_COLUMNS = 10
LABEL = re.compile(rf"(?<![\w-])(?:{'|'.join([*LABELS, *LABELS.values()])})(?![\w-])")
CITED = re.compile(r"(?<=`)([^`\s:]+):([0-9]{1,4})(#[0-9]+)?(?=`)")
FIGURE = re.compile(r"(?<![\w`@^:#.-])\d[\d,]*(?:\.\d+)?(?![\w`:#@^-]|\.\d)")
QUOTED = re.compile(r"“(`?)([^”`]{3,})(`?)”")
VERBS = re.compile(r"\b(is|are|was|were|has|have|does|do|did|can|could|would|will)\b")
PASSES = re.compile(r"\b(passes|passed|pass|fails|failed|fail)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One report of the calibration."""

    name: str
    """What it is."""
    role: Role
    """What is expected of it."""
    judgement: Judgement
    """What the judge makes of it."""

    @property
    def score(self) -> float:
        """Its score."""
        return self.judgement.score

    @property
    def target(self) -> str:
        """What its score must be."""
        return f">= {LEAST[self.role]:.2f}" if self.role in LEAST else f"<= {MOST[self.role]:.2f}"

    @property
    def is_right(self) -> bool:
        """Whether it is that."""
        return LEAST.get(self.role, 0.0) <= self.score <= MOST.get(self.role, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What the judge makes of a package's reports, good and bad."""

    model: str
    """The model the golden report is about."""
    scored: list[Scored]
    """The reports."""

    @property
    def auc(self) -> float:
        """How often a good report scores above a bad one."""
        good = [one.score for one in self.scored if one.role in LEAST]
        bad = [one.score for one in self.scored if one.role in MOST]
        wins = sum((a > b) + 0.5 * (a == b) for a in good for b in bad)
        return wins / (len(good) * len(bad)) if good and bad else 0.0

    @property
    def holds(self) -> bool:
        """Whether every target is met."""
        return all(one.is_right for one in self.scored) and self.auc == 1.0


def calibrate(
    golden: str, facts: Sequence[Fact], shallow: str, *, other: str | None = None, rewritten: str | None = None
) -> list[Scored]:
    """Scores of the golden report, its control, its paraphrases, one `rewritten` by hand too, and its adversaries."""

    def scored(name: str, role: Role, text: str) -> Scored:
        return Scored(name=name, role=role, judgement=judge(text, golden, facts))

    return [
        scored("golden report", "golden", golden),
        scored("paraphrase by rule", "paraphrase", paraphrase(golden)),
        *([scored("paraphrase by hand", "paraphrase", rewritten)] if rewritten else []),
        scored("shallow control", "shallow", shallow),
        *(scored(name, "adversary", text) for name, text in adversaries(golden, facts, shallow, other=other).items()),
    ]


def calibrate_package(files: GoldenFiles, others: Sequence[GoldenFiles]) -> Calibration:
    """The calibration of one golden package; another model's report is taken from the same folder.

    Raises:
        FactsError: its facts cannot be read.
    """

    def text_of(path: Path | None) -> str | None:
        return path.read_text(encoding="utf-8") if path is not None and path.is_file() else None

    scored = calibrate(
        files.report.read_text(encoding="utf-8"),
        read_facts(files.beside(FACTS)).anchor_facts,
        text_of(files.beside(SHALLOW)) or "",
        other=text_of(next((one.report for one in others if one != files and not one.is_comparison), None)),
        rewritten=text_of(files.beside(PARAPHRASE)),
    )
    return Calibration(model=files.model, scored=scored)


def calibrate_folder(golden: Path) -> list[Calibration]:
    """The calibration of every golden package of a folder that has facts to be judged by; comparisons have none."""
    reports = find_reports(golden)
    return [calibrate_package(files, reports) for files in reports if files.beside(FACTS).is_file()]


def split_sections(report: str) -> list[tuple[str, str]]:
    """Headings of the second level with what stands below them; the first has none and holds the title."""
    head, *parts = re.split(r"^(?=## )", report, flags=re.MULTILINE)
    return [("", head), *((heading, body) for heading, _, body in (part.partition("\n") for part in parts))]


def join_sections(sections: Sequence[tuple[str, str]]) -> str:
    """A report from its sections."""
    return "\n\n".join(text for part in sections for text in map(str.strip, part) if text) + "\n"


def paraphrase(golden: str) -> str:
    """The report in another order, with its tables in sentences."""
    (_, head), *rest = split_sections(golden)
    turned = [(f"## On {heading.removeprefix('## ').lower()}", rewritten(body)) for heading, body in rest[::-1]]
    return join_sections([("", rewritten(head)), *turned])


def rewritten(body: str) -> str:
    """A section with its sub-sections reversed, flat lists backwards and tables in sentences."""
    first, *parts = re.split(r"^(?=### )", body, flags=re.MULTILINE)
    pieces = [piece for part in (first, *parts[::-1]) for piece in re.split(r"\n\s*\n", part.strip())]
    return "\n\n".join(filter(None, map(reworded, pieces)))


def reworded(piece: str) -> str:
    """A list backwards, a table as sentences, anything else as it is."""
    lines = piece.splitlines()
    if piece.startswith("|"):
        return " ".join(sentences_of(lines)) or piece
    return "\n".join(lines[::-1]) if all(line.startswith("- ") for line in lines) else piece


def sentences_of(table: list[str]) -> Iterator[str]:
    """A sentence per cell: whose it is, what it counts, how much."""
    header, _, *rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))] for line in table]
    for row in rows if len(header) <= MOST_COLUMNS else ():
        for name, cell in zip(header[1:], row[1:], strict=False):
            if cell not in ("", "–"):
                yield f"For {row[0]} the {name} is {cell}."


def adversaries(golden: str, facts: Sequence[Fact], shallow: str, *, other: str | None = None) -> dict[str, str]:
    """Every worthless report by name; `other` is the golden report of another model, where there is one."""
    told = [fact.fact.rstrip(". ") for fact in facts]
    stated, negated = "\n\n".join(f"{one}." for one in told), "\n".join(f"- {deny(one)}." for one in told)
    made = {
        "shuffled words": within_parts(golden, mixed),
        "keyword-stuffed template": within_parts(golden, lambda body: ", ".join(sorted(set(body.split())))),
        "anchor facts negated": f"{golden}\n## Findings\n\n{negated}\n",
        "every sentence negated": PASSES.sub(r"not \1", VERBS.sub(r"\1 not", golden)),
        "numbers scrambled": scrambled(golden),
        "numbers scrambled, facts negated": f"{scrambled(golden)}\n## Findings\n\n{negated}\n",
        "ids replaced": CITED.sub(lambda cited: f"{cited[1]}:{int(cited[2]) + 7}{cited[3] or ''}", golden),
        "quotes altered": QUOTED.sub(r"“\1\2 indeed\3”", golden),
        "labels permuted": permuted(golden),
        "sections swapped": swapped(golden),
        "negations nobody sees": VERBS.sub("\\1 n\u200bot", golden),
        "report taken back": f"{golden}\nEverything in this report is false.\n",
        "anchor facts alone": f"{shallow}\n## Findings\n\n{stated}\n",
        "anchor words alone": f"{shallow}\n## Findings\n\n{mixed(stated)}\n",
    }
    made |= {"another model's report": other} if other is not None else {}
    return {name: text for name, text in made.items() if text != golden}  # a report without ids has none to replace


def mixed(text: str) -> str:
    """The words of a text in random order."""
    words = text.split()
    return " ".join(Random(SEED).sample(words, len(words)))


def within_parts(golden: str, turn: Callable[[str], str]) -> str:
    """The report with something else under each of its headings."""
    return join_sections([(heading, turn(body)) for heading, body in split_sections(golden)])


def deny(sentence: str) -> str:
    """A sentence that says the opposite."""
    found = VERBS.search(re.sub(r"`[^`]*`", lambda code: "x" * len(code[0]), sentence))
    if found is None:
        return f"It is not the case that {sentence[:1].lower()}{sentence[1:]}"
    return f"{sentence[: found.end()]} not{sentence[found.end() :]}"


def scrambled(golden: str) -> str:
    """The report with every number another of the same length."""
    rng = Random(SEED)

    def other(figure: re.Match[str]) -> str:
        return re.sub(r"\d", lambda digit: str((int(digit[0]) + rng.randint(1, 8)) % 10), figure[0])

    return FIGURE.sub(other, golden)


def permuted(golden: str) -> str:
    """The report with every cause label exchanged for another, in code and in words."""
    codes = list(LABELS)
    turned = dict(zip(codes, [*codes[1:], codes[0]], strict=True))
    turned |= {LABELS[code]: LABELS[other] for code, other in turned.items()}
    return LABEL.sub(lambda label: turned[label[0]], golden)


def swapped(golden: str) -> str:
    """The report with every section under another one's heading."""
    head, *rest = split_sections(golden)
    half = max(1, len(rest) // 2)
    bodies = [body for _, body in (*rest[half:], *rest[:half])]
    return join_sections([head, *((heading, body) for (heading, _), body in zip(rest, bodies, strict=True))])
