"""What a golden package is made from: a benchmark's rollouts, a reader's labels and a narrative, and how to analyse."""

from pathlib import Path

import msgspec
import yaml

from blade.benchmarks import find_benchmark
from blade.benchmarks.benchmark import OWN_BLOCK, OwnBlock
from blade.diagnosis import AnalyzeOptions, Diagnosed, diagnose, read_labels, relabel, with_named_fields
from blade.errors import InputError, UsageError
from blade.golden.package.layout import GoldenFiles, Package, checkouts, find_package, find_reports
from blade.report.labelling import check_label
from blade.rollouts import ReadOptions, read_runs

NARRATIVE = ".narrative.md"
LABELS = ".labels.jsonl"


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A benchmark as golden packages are made of it."""

    benchmark: str
    """Its name."""
    rollouts: dict[str, Path]
    """Rollout files by model."""
    folder: Path
    """Where narratives, labels and reports are."""
    options: AnalyzeOptions
    """How its runs are analysed."""

    def models(self) -> list[str]:
        """Models, and pairs of them, that a narrative was written for."""
        return sorted(path.name.removesuffix(NARRATIVE) for path in self.folder.glob(f"*{NARRATIVE}"))

    def place(self, model: str, ending: str) -> Path:
        """A file of a model's package."""
        return self.folder / f"{model}{ending}"


def find_source(benchmark: str, root: Path | None = None) -> Source:
    """The source of a benchmark, by its name or its folder.

    Raises:
        UsageError: there is no such benchmark.
        InputError: its configuration cannot be read.
    """
    given = Path(benchmark)
    folder = given if given.is_dir() and root is None else find_benchmark(benchmark, root).folder
    return source_of(find_package(folder))


def source_of(package: Package) -> Source:
    """The source of a package."""
    config = package.folder / "config.yaml"
    try:
        settings = yaml.safe_load(config.read_text(encoding="utf-8")) if config.is_file() else {}
        own = msgspec.convert((settings or {}).get(OWN_BLOCK) or {}, OwnBlock)
    except (OSError, yaml.YAMLError, msgspec.ValidationError, UnicodeDecodeError, AttributeError) as error:
        raise InputError(f"{config}: cannot be read: {error}.") from error
    pack = None if package.skill is None else package.skill.parent / "assets" / "taxonomy.yaml"
    places = [root / "golden_reports" / package.name for root in checkouts(package.folder)]
    places.append(package.folder / "golden_reports")  # where the reports of a benchmark belong that has none yet
    return Source(
        benchmark=package.name,
        rollouts={path.stem: path for path in package.rollouts},
        folder=package.golden or places[0],
        options=AnalyzeOptions(
            success=own.success,
            slices=tuple(own.slices),
            pack=str(pack) if pack is not None and pack.is_file() else None,
        ),
    )


def choose_golden(place: Path, report: str, model: str | None = None) -> GoldenFiles:
    """The golden package a report is about: the one named, the only one, or the one whose model the report names.

    Raises:
        InputError: the folder holds no golden report.
        UsageError: nobody can tell which.
    """
    found = [files for files in find_reports(place if place.is_dir() else place.parent) if not files.is_comparison]
    if place.is_file():
        found = [files for files in found if files.report.name == place.name]
    if not found:
        raise InputError(f"{place}: holds no <model>_golden_report.md.")
    names = ", ".join(files.model for files in found)
    if model is not None:
        found = [files for files in found if files.model == model]
    named = [files for files in found if files.model in report.partition("\n## ")[0]]
    chosen = found if len(found) == 1 else named
    if len(chosen) != 1:
        raise UsageError(f"{place}: holds golden reports of {names}; say which in the report's title or with --model.")
    return chosen[0]


def diagnose_model(source: Source, model: str) -> Diagnosed:
    """A model's run with the labels of its readers in force.

    Raises:
        UsageError: there are no rollouts of the model, or a label's proof does not hold.
    """
    if model not in source.rollouts:
        known = ", ".join(source.rollouts) or "none"
        raise UsageError(f"{source.benchmark}: there are no rollouts/{model}.jsonl; models with rollouts: {known}.")
    read = with_named_fields(ReadOptions(), source.options)
    (run,) = read_runs([str(source.rollouts[model])], read)
    found = diagnose(run, source.options)
    place = source.place(model, LABELS)
    if not place.is_file():
        return found
    labels = read_labels(place)
    for label in labels.values():
        try:
            check_label(label, found.analysis, found.run)
        except UsageError as error:
            raise UsageError(f"{place.name}: label of task {label.task}: {error}") from error
    return found._replace(analysis=relabel(found.analysis, labels))
