"""Reproducibility Notes: versions, definitions, and the command that makes the report again.

Neither the clock nor the machine's directories are in them: the same rollouts give the same bytes anywhere.
"""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from blade._version import __version__
from blade.diagnosis.analysis import Analysis
from blade.diagnosis.analyze import AnalyzeOptions
from blade.diagnosis.pairs import REPORTED
from blade.diagnosis.reading_order import FOLDER
from blade.metrics import definitions
from blade.report.addresses import addressed_struct, with_address
from blade.rollouts import ReadOptions
from blade.rollouts.sources import is_sidecar

MOST_NAMED: Final = 10
DEFINITIONS: Final = {
    "pass@k": definitions.PASS_AT_K,
    "pass^k": definitions.PASS_POW_K,
    "uncertainty": definitions.UNCERTAINTY,
}
"""Those that no table gives beside its numbers."""
BOUNDS: Final = {"adjusted p-value": REPORTED}


class Notes(msgspec.Struct, frozen=True, kw_only=True):
    """Everything in the section."""

    version: str
    """Version of BLADE."""
    schema_version: str
    """Version of `analysis.json`."""
    command: str
    """What to run to get this report again."""
    definitions: dict[str, str]
    """What each number means."""


def make_notes(analysis: Analysis, command: str | None) -> Notes:
    """The section of one analysis."""
    names = [file.name for file in analysis.inputs.files if not is_sidecar(Path(file.name))]
    return Notes(
        version=with_address(__version__, "blade:/version"),
        schema_version=analysis.schema_version,
        command=command or diagnose_command(names),
        definitions=addressed_struct(DEFINITIONS, "blade:/definitions"),
    )


def diagnose_command(
    inputs: Sequence[str], read: ReadOptions | None = None, analyze: AnalyzeOptions | None = None
) -> str:
    """The command that makes a diagnosis again, with file names in place of paths."""
    names = [shlex.quote(Path(path).name) for path in inputs]
    more = [f"[{len(names) - MOST_NAMED} more files]"] if len(names) > MOST_NAMED else []
    flags = [*reading_flags(read or ReadOptions()), *analysis_flags(analyze or AnalyzeOptions())]
    return " ".join(["blade diagnose", *names[:MOST_NAMED], *more, *flags, "--out", FOLDER])


def reading_flags(options: ReadOptions) -> Iterator[str]:
    """What the user said about reading, as it was said."""
    named = {
        "--format": options.format,
        "--task-field": options.task_field,
        "--repeat-field": options.repeat_field,
        "--reward-field": options.reward_field,
        "--output-field": options.output_field,
        "--group-by": ",".join(options.group_by) or None,
        "--where": options.where,
        "--records": options.records,
        "--score": options.score,
        "--variant": options.variant,
        "--true-words": ",".join(options.true_words) or None,
        "--join": options.join,
        "--expected-repeats": options.expected_repeats,
        "--duplicates": options.duplicates if options.duplicates != "first" else None,
    }
    for flag, value in named.items():
        if value is not None:
            yield f"{flag} {shlex.quote(str(value))}"
    for path in options.trajectories:
        yield f"--trajectories {shlex.quote(Path(path).name)}"


def analysis_flags(options: AnalyzeOptions) -> Iterator[str]:
    """What the user said about measuring, as it was said."""
    if options.success is not None:
        yield f"--success {shlex.quote(options.success)}"
    for field in options.slices:
        yield f"--slice {shlex.quote(field)}"
    if options.cluster_field is not None:
        yield f"--cluster-field {shlex.quote(options.cluster_field)}"
    if options.pack is not None:
        yield f"--pack {shlex.quote(Path(options.pack).name)}"
