"""`blade check`: is what a report says true?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.options import AsJson, epilog
from blade.errors import InputError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from blade.audit.evidence import Evidence
    from blade.audit.verdicts import Audit, Check

EPILOG = epilog(
    "blade check out/report.md",
    "blade check findings.md --analysis out",
    "blade check story.md --rollouts rollouts.jsonl --allow-unbound --json",
)
MOST_SHOWN = 50
MOST_UNBOUND = 20
CHARS = 160


def check(
    report: Annotated[
        Path, typer.Argument(metavar="REPORT", help="A report in Markdown, written by anyone.", show_default=False)
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
    allow_unbound: Annotated[
        bool,
        typer.Option(
            "--allow-unbound", help="Do not fail on numbers that match no value, for reports BLADE did not write."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check every number, id, label and quote of a report.

    What BLADE rendered is looked up at its addresses (claims.json). A text with {{ values }} is rendered first. Any
    other prose is bound to the rows by value, unit and words; without rows its numbers are held against each other.

    Fails closed: exits with 1 when anything is contradicted or unbound, or when the rollouts have changed since they
    were diagnosed.
    """
    from blade.cli.inputs import read_text

    text = read_text(report)
    if not text.strip():
        raise InputError(f"{report}: is empty; expected a report in Markdown.")
    if (success is not None or labels is not None) and not rollouts:
        raise UsageError("--success and --labels are about --rollouts; a folder was diagnosed with its own.")
    if analysis is not None and rollouts:
        raise UsageError("--analysis and --rollouts exclude each other; name one place to check against.")
    audit, against, evidence = audit_of(report, text, analysis, read_rollouts(rollouts, success, labels))
    if as_json:
        print_audit_json(audit)
    else:
        print_audit(audit, report, against)
    is_changed = evidence is not None and tell_drift(evidence)
    is_wrong = bool(audit.contradicted) or (bool(audit.unbound) and not allow_unbound)
    raise typer.Exit(1 if is_wrong or is_changed else 0)


def audit_of(
    report: Path, text: str, analysis: Path | None, given: "tuple[Evidence, str] | None"
) -> "tuple[Audit, str, Evidence | None]":
    """The audit, what the report was held against, and that as evidence where its rollouts may have changed."""
    from blade.audit.check import check_report, check_source
    from blade.audit.evidence import evidence_in, holds_evidence
    from blade.report.workspace import read_claims

    folder = analysis or report.absolute().parent
    known = read_claims(report.absolute().parent)
    claimed = None if known is None else known.texts.get(report.name)
    if given is not None:
        evidence, against = given
    elif holds_evidence(folder):
        evidence, against = evidence_in(folder), str(analysis or report.parent)
    elif (audit := golden_audit(report, folder, text)) is not None:
        return audit, f"the rollouts behind {folder.name}", None
    elif analysis is not None:
        return check_report(text, evidence=evidence_in(folder)), str(analysis), None
    elif claimed is not None:
        raise UsageError(
            f"{report}: its numbers have addresses in a diagnosis that stands elsewhere; name it with --analysis DIR."
        )
    else:
        return check_report(text), "", None
    # Braces in what BLADE rendered are quoted from rollouts.
    if claimed is None and is_template(text):
        return check_source(text, evidence=evidence, where=report.name), against, evidence
    return check_report(text, evidence=evidence, claimed=claimed), against, evidence


def is_template(text: str) -> bool:
    """Whether a text names values: braces that are not inside code."""
    import re

    return "{{" in re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)


def tell_drift(evidence: "Evidence") -> bool:
    """Says whose rollouts are gone or changed since they were diagnosed; whether any are changed."""
    from blade.audit.evidence import drifts
    from blade.cli.terminal import foreign, make_console, put

    found = list(drifts(evidence))
    for one in found:
        put(make_console(stderr=True), foreign(f"blade: {one.sentence}"))
    return any(one.is_changed for one in found)


def golden_audit(report: Path, folder: Path, text: str) -> "Audit | None":
    """The audit of a report in a folder of golden reports: of the model in its name, or of the one it is about."""
    from blade.golden.package.layout import find_reports

    known = [files.model for files in find_reports(folder)]
    if not known:
        return None
    from blade.golden.judged import check_golden_report

    named = [model for model in known if report.name.startswith(model)]
    return check_golden_report(folder, text, max(named, key=len, default=None))


def read_rollouts(
    rollouts: list[str] | None, success: str | None, labels: Path | None
) -> "tuple[Evidence, str] | None":
    """The rollouts diagnosed in memory, and compared when they are several runs; and their files' names."""
    from blade.audit.evidence import evidence_of
    from blade.diagnosis import AnalyzeOptions, diagnose
    from blade.diagnosis.analyze import with_named_fields
    from blade.diagnosis.labels import read_labels
    from blade.rollouts import ReadOptions, read_runs

    if not rollouts:
        return None
    options = AnalyzeOptions(success=success)
    read = with_named_fields(ReadOptions(), options)
    runs = [run for name in rollouts for run in read_runs([name], read)]
    in_force = read_labels(labels) if labels is not None else None
    evidence = evidence_of([diagnose(run, options, others=runs) for run in runs], in_force)
    return evidence, ", ".join(Path(name).name for name in rollouts)


def print_audit_json(audit: "Audit") -> None:
    import msgspec

    from blade.audit.verdicts import as_document
    from blade.cli.terminal import print_json

    print_json(msgspec.json.format(msgspec.json.encode(as_document(audit)), indent=2))


def print_audit(audit: "Audit", report: Path, against: str) -> None:
    """How many claims hold, then what is wrong, then what stands for nothing."""
    from blade.cli.terminal import foreign, make_console, put
    from blade.report.numbers import count, plural

    console = make_console()
    place = f"against {against}" if against else "for internal consistency only: no rollouts were found beside it"
    put(console, foreign(f"{report.name}: {plural(len(audit.checks), 'claim')}, checked {place}", "bold"))
    counts = f"{count(len(audit.supported))} supported, {count(len(audit.contradicted))} contradicted"
    rest = f"{count(len(audit.unbound))} unbound, {count(len(audit.unverifiable))} unverifiable"
    put(console, foreign(f"  {counts}, {rest}"))
    if not audit.checks:
        put(console, foreign("  Nothing in it can be checked: it states no number, id, label or quote."))
    print_checks(console, audit.contradicted, "Contradicted", MOST_SHOWN)
    print_checks(console, audit.unbound, "Unbound", MOST_UNBOUND)
    print_checks(console, audit.unverifiable if against else [], "Unverifiable", MOST_UNBOUND)


def print_checks(console: "Console", checks: "list[Check]", title: str, most: int) -> None:
    from blade.cli.terminal import foreign, indented, put
    from blade.report.text import one_line

    if checks:
        put(console, foreign(f"\n{title}", "bold red" if title == "Contradicted" else "bold"))
    for one in checks[:most]:
        put(console, foreign(f"  line {one.line}: {one_line(one.said, CHARS)}", "red" if one.true else ""))
        parts = {"said in": one.sentence, "true": one.true, "why": one.why, "write": one.write}
        for name, words in parts.items():
            if words and words != one.said:
                put(console, indented(foreign(f"{name:<8}{one_line(words, CHARS)}"), 4))
    if len(checks) > most:
        put(console, foreign(f"  … and {len(checks) - most:,} more; see them with --json", "dim"))
