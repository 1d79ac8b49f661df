"""Where the parts of a benchmark package are: inside its folder, or at the top-level places. Standard library only.

<benchmark>/skill/SKILL.md, rollouts/*.jsonl, golden_reports/      the package in one folder
skills/<name>/SKILL.md, benchmarks/<name>/, golden_reports/<name>/  the same, spread over a checkout
"""

import re
from dataclasses import dataclass
from pathlib import Path

SIDECARS = ("materialized_inputs", "reward_profiling", "aggregate", "agent_metrics", "failures")
"""Words in the names of files that stand beside rollouts and hold none."""
REPORT, METRICS = "_golden_report.md", "_golden_report_metrics.json"
FACTS, SHALLOW, PARAPHRASE = "_anchor_facts.json", "_shallow.md", "_paraphrase.md"
"""What stands behind the model in the names of a golden package's files."""
VERSUS = "_vs_"
"""What stands between the models of a comparison."""
SKILL_SETTING = re.compile(r"\bskill:\s*[\"']?([A-Za-z0-9-]+)")
SUCCESS_SETTING = re.compile(r"\bsuccess:\s*(?:\"([^\"]+)\"|'([^']+)'|([^,}\n#]+))")
REPEATS_SETTING = re.compile(r"\bnum_repeats:\s*([0-9]+)")


def hyphened(ending: str) -> str:
    """The same part of a name in its other spelling."""
    return ending.replace("_", "-")


@dataclass(frozen=True, slots=True)
class GoldenFiles:
    """The files of one golden report."""

    report: Path
    """The report."""

    @property
    def model(self) -> str:
        """The model the report is about; `base_vs_candidate` for a comparison."""
        return self.report.name.removesuffix(REPORT).removesuffix(hyphened(REPORT))

    @property
    def is_comparison(self) -> bool:
        """Whether it compares models, and so needs no sidecar and no facts of its own."""
        return VERSUS in self.model or hyphened(VERSUS) in self.model

    def beside(self, ending: str) -> Path:
        """Where another file of the package stands, if there is one; packages spell their names in several ways."""
        names = [f"{self.model}{ending}", f"{self.model}{hyphened(ending)}"]
        names += [f"{self.report.stem}.metrics.json"] if ending == METRICS else []
        places = [self.report.with_name(name) for name in names]
        return next((place for place in places if place.is_file()), places[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A benchmark package, as found."""

    folder: Path
    """The benchmark's folder."""
    skill: Path | None
    """Its analysis skill's `SKILL.md`."""
    rollouts: list[Path]
    """Its rollout files, one per run, in name order."""
    golden: Path | None
    """The folder of its golden reports."""
    success: str | None
    """The success rule its configuration states."""
    repeats: int | None
    """Rollouts per task its configuration states."""

    @property
    def name(self) -> str:
        """The benchmark's name."""
        return self.folder.name


def find_package(folder: Path) -> Package:
    """The package of a benchmark's folder, or spread over the checkout it stands in; what is not there is `None`."""
    folder, roots = folder.resolve(), checkouts(folder.resolve())
    place = folder / "config.yaml"
    # A few settings are looked up in the text, which needs no YAML library.
    config = place.read_text(encoding="utf-8", errors="replace") if place.is_file() else ""
    repeats, named = first_group(REPEATS_SETTING, config), first_group(SKILL_SETTING, config)
    skills = [folder / "skill" / "SKILL.md", folder / "SKILL.md"]
    skills += [root / "skills" / (named or folder.name.replace("_", "-")) / "SKILL.md" for root in roots]
    reports = [folder / "golden_reports", *(root / "golden_reports" / folder.name for root in roots)]
    rollouts = [
        [path for path in sorted(found) if path.is_file() and not any(word in path.name for word in SIDECARS)]
        for found in ((folder / "rollouts").glob("*.jsonl"), (folder / "data").glob("*rollout*.jsonl"))
    ]
    return Package(
        folder=folder,
        skill=next((skill for skill in skills if skill.is_file()), None),
        rollouts=rollouts[0] or rollouts[1],
        golden=next((golden for golden in reports if golden.is_dir()), None),
        success=first_group(SUCCESS_SETTING, config),
        repeats=int(repeats) if repeats else None,
    )


def first_group(pattern: re.Pattern[str], text: str) -> str | None:
    """The first value a setting has."""
    match = pattern.search(text)
    return None if match is None else next(group.strip() for group in match.groups() if group is not None)


def checkouts(folder: Path) -> list[Path]:
    """Folders that may be the checkout a benchmark's folder stands in, nearest first."""
    return [parent.parent for parent in folder.parents if parent.name == "benchmarks"]


def find_reports(golden: Path) -> list[GoldenFiles]:
    """Every golden report of a folder with what stands beside it, in name order."""
    found = (path for ending in (REPORT, hyphened(REPORT)) for path in golden.glob(f"?*{ending}"))
    return [GoldenFiles(path) for path in sorted(found)]


def benchmark_of(golden: Path) -> Path | None:
    """The benchmark's folder that a folder of golden reports belongs to: around it, or of the same name."""
    golden = golden.resolve()
    places = [golden.parent, golden.parent.parent / "benchmarks" / golden.name]
    return next((place for place in places if (place / "rollouts").is_dir()), None)


def rollouts_beside(files: GoldenFiles) -> Path | None:
    """The rollouts a golden report is about."""
    folder = benchmark_of(files.report.resolve().parent)
    place = None if folder is None else folder / "rollouts" / f"{files.model}.jsonl"
    return place if place is not None and place.is_file() else None
