"""Is the judge itself any good? It must like the golden report and what says the same, and nothing else.

Standard library only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from blade.golden.facts import Fact, read_facts
from blade.golden.judge import Judgement, judge
from blade.golden.package.layout import GoldenFiles, find_reports
from blade.golden.variants import adversaries, paraphrase

Role = Literal["golden", "paraphrase", "shallow", "adversary"]
LEAST: dict[Role, float] = {"golden": 0.90, "paraphrase": 0.70}
MOST: dict[Role, float] = {"shallow": 0.40, "adversary": 0.40}
LEAST_AUC = 1.0


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
        return all(one.is_right for one in self.scored) and self.auc >= LEAST_AUC


def calibrate(golden: str, facts: Sequence[Fact], shallow: str, **more: str | None) -> list[Scored]:
    """Scores of the golden report, its control, its paraphrases and its adversaries.

    Args:
        more: `other`, the golden report of another model; `rewritten`, a paraphrase written by hand.
    """

    def scored(name: str, role: Role, text: str) -> Scored:
        return Scored(name=name, role=role, judgement=judge(text, golden, facts))

    rewritten = more.get("rewritten")
    bad = adversaries(golden, facts, shallow, other=more.get("other"))
    return [
        scored("golden report", "golden", golden),
        scored("paraphrase by rule", "paraphrase", paraphrase(golden)),
        *([scored("paraphrase by hand", "paraphrase", rewritten)] if rewritten else []),
        scored("shallow control", "shallow", shallow),
        *(scored(name, "adversary", text) for name, text in bad.items()),
    ]


def calibrate_package(files: GoldenFiles, others: Sequence[GoldenFiles]) -> Calibration:
    """The calibration of one golden package; another model's report is taken from the same folder.

    Raises:
        FactsError: its facts cannot be read.
    """
    golden = files.report.read_text(encoding="utf-8")
    other = next((one for one in others if one.model != files.model and not one.is_comparison), None)
    by_hand = files.report.with_name(f"{files.model}_paraphrase.md")
    scored = calibrate(
        golden,
        read_facts(files.facts).anchor_facts if files.facts else [],
        files.shallow.read_text(encoding="utf-8") if files.shallow else "",
        other=other.report.read_text(encoding="utf-8") if other else None,
        rewritten=by_hand.read_text(encoding="utf-8") if by_hand.is_file() else None,
    )
    return Calibration(model=files.model, scored=scored)


def calibrate_folder(golden: Path) -> list[Calibration]:
    """The calibration of every golden package of a folder that has facts to be judged by; comparisons have none."""
    reports = find_reports(golden)
    return [calibrate_package(files, reports) for files in reports if files.facts is not None]
