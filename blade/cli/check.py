"""`blade check`: is what a report says true?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.options import AsJson, epilog
from blade.errors import InputError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from blade.audit.check import Audit
    from blade.audit.evidence import Evidence
    from blade.audit.outcome import Check

EPILOG = epilog(
    "blade check out/report.md",
    "blade check story.md --analysis out",
    "blade check story.md --rollouts rollouts.jsonl --json",
)
MOST_WRONG = 50
MOST_UNKNOWN = 10
CHARS = 160


def check(
    report: Annotated[
        Path, typer.Argument(metavar="REPORT", help="A report in Markdown, anybody's.", show_default=False)
    ],
    analysis: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder that `blade diagnose` or `blade compare` wrote, or one of golden reports; by default the "
            "report's own, when it is one.",
        ),
    ] = None,
    rollouts: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Rollouts to diagnose and check against; may be repeated to compare runs."),
    ] = None,
    success: Annotated[
        str | None, typer.Option(metavar="RULE", help="With --rollouts: when a rollout is a success.")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --rollouts: a labels.jsonl with the labels in force.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Hold every claim of a report against the rows.

    Numbers, ids, labels and quotes are looked up; its arithmetic is held against itself.

    Without rows the report is checked against itself alone. Exits with 1 when anything is contradicted, or when the
    rollouts have changed since they were diagnosed.
    """
    from blade.audit.check import check_report

    text = read_text(report)
    if (success is not None or labels is not None) and not rollouts:
        raise UsageError("--success and --labels are about --rollouts; a folder was diagnosed with its own.")
    if analysis is not None and rollouts:
        raise UsageError("--analysis and --rollouts exclude each other; name one place to check against.")
    evidence, against = read_rollouts(rollouts, success, labels) if rollouts else read_folder(report, analysis, text)
    audit = check_report(text, evidence=evidence)
    if as_json:
        print_audit_json(audit)
    else:
        print_audit(audit, report, against)
    is_changed = evidence is not None and tell_drift(evidence)
    raise typer.Exit(1 if audit.contradicted or is_changed else 0)


def tell_drift(evidence: "Evidence") -> bool:
    """Says whose rollouts are gone or changed since they were diagnosed; whether any are changed."""
    from blade.audit.drift import drifts
    from blade.cli.terminal import foreign, make_console, put

    found = drifts(evidence)
    for one in found:
        put(make_console(stderr=True), foreign(f"blade: {one.sentence}"))
    return any(one.is_changed for one in found)


def read_text(report: Path) -> str:
    """The report's text."""
    try:
        return report.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{report}: is not UTF-8 text; expected a report in Markdown.") from error
    except OSError as error:
        raise InputError(f"{report}: cannot be read: {error.strerror or error}.") from error


def read_folder(report: Path, analysis: Path | None, text: str) -> "tuple[Evidence | None, str]":
    """What a folder holds to check against, and its name; nothing when the report lies in no such folder."""
    from blade.audit.evidence import evidence_in, holds_evidence

    folder = analysis or report.absolute().parent
    if not holds_evidence(folder) and (evidence := read_golden(report, folder, text)) is not None:
        return evidence, f"the rollouts behind {folder.name}"
    if analysis is None and not holds_evidence(folder):
        return None, ""
    return evidence_in(folder), str(analysis or report.parent)


def read_golden(report: Path, folder: Path, text: str) -> "Evidence | None":
    """What golden reports in a folder were made from: of the model in the report's name, or of the one it is about."""
    from blade.audit.package.layout import find_reports

    known = [files.model for files in find_reports(folder)]
    if not known:
        return None
    from blade.audit.golden.claims import evidence_beside

    named = [model for model in known if report.name.startswith(model)]
    return evidence_beside(folder, text, max(named, key=len, default=None))


def read_rollouts(rollouts: list[str], success: str | None, labels: Path | None) -> "tuple[Evidence | None, str]":
    """The rollouts diagnosed in memory, and compared when they are several runs; and their files' names."""
    from blade.audit.evidence import evidence_of
    from blade.diagnosis import AnalyzeOptions, diagnose
    from blade.diagnosis.analyze import with_named_fields
    from blade.diagnosis.labels import read_labels
    from blade.rollouts import ReadOptions, read_runs

    options = AnalyzeOptions(success=success)
    read = with_named_fields(ReadOptions(), options)
    runs = [run for name in rollouts for run in read_runs([name], read)]
    in_force = read_labels(labels) if labels is not None else None
    evidence = evidence_of([diagnose(run, options, others=runs) for run in runs], in_force)
    return evidence, ", ".join(Path(name).name for name in rollouts)


def print_audit_json(audit: "Audit") -> None:
    import msgspec

    from blade.audit.check import as_document
    from blade.cli.terminal import print_json

    print_json(msgspec.json.format(msgspec.json.encode(as_document(audit)), indent=2))


def print_audit(audit: "Audit", report: Path, against: str) -> None:
    """How many claims hold, then what is wrong, then what nobody can tell."""
    from blade.cli.terminal import foreign, make_console, put
    from blade.report.numbers import count, plural

    console = make_console()
    wrong, unknown = audit.contradicted, audit.unverifiable
    place = f"against {against} and itself" if against else "against itself alone: there are no rows beside it"
    put(console, foreign(f"{report.name}: {plural(len(audit.checks), 'claim')}, checked {place}", "bold"))
    counts = f"{count(len(audit.supported))} supported, {count(len(wrong))} contradicted"
    put(console, foreign(f"  {counts}, {count(len(unknown))} unverifiable"))
    print_wrong(console, wrong)
    if against:
        print_unknown(console, unknown)


def print_wrong(console: "Console", wrong: "list[Check]") -> None:
    from blade.audit.mending import hint_for
    from blade.cli.terminal import foreign, indented, put
    from blade.report.text import one_line

    if wrong:
        put(console, foreign("\nContradicted", "bold red"))
    for one in wrong[:MOST_WRONG]:
        claim = one.claim
        put(console, foreign(f"  line {claim.line}: {one_line(claim.said, CHARS)}", "red"))
        said = one_line(claim.sentence, CHARS)
        parts = {
            "said in": said,
            "true": one_line(one.true, CHARS),
            "why": one_line(one.why, CHARS),
            "do": hint_for(one),
        }
        for name, words in parts.items():
            if words and words != claim.said:
                put(console, indented(foreign(f"{name:<8}{words}"), 4))
    print_rest(console, len(wrong) - MOST_WRONG, "contradicted")


def print_unknown(console: "Console", unknown: "list[Check]") -> None:
    from blade.cli.terminal import foreign, put
    from blade.report.text import one_line

    if unknown:
        put(console, foreign("\nUnverifiable", "bold"))
    for one in unknown[:MOST_UNKNOWN]:
        put(console, foreign(f"  line {one.claim.line}: {one_line(one.claim.said, 60)} ({one_line(one.why, CHARS)})"))
    print_rest(console, len(unknown) - MOST_UNKNOWN, "unverifiable")


def print_rest(console: "Console", rest: int, what: str) -> None:
    from blade.cli.terminal import foreign, put

    if rest > 0:
        put(console, foreign(f"  … and {rest:,} more {what}; see them with --json", "dim"))
