"""Artifact Inventory: what came in, how it was understood, and what could not be used."""

import msgspec

from blade.diagnosis.analysis import MAX_LISTED, Analysis, Count, Coverage, Inputs, PublishedCheck, SourceFile
from blade.metrics import Success
from blade.report.listing import Listing, first
from blade.rollouts import BadLine, Duplicate

MOST_FILES = 50
MOST_LINES = 10
MOST_VALUES = 10
MOST_NOTES = 20


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """A published metrics file and how it compares."""

    check: PublishedCheck
    """What was compared."""
    different: Listing[str]
    """Values that are not equal."""
    not_recomputed: Listing[str]
    """Values the rows cannot give."""


class Inventory(msgspec.Struct, frozen=True, kw_only=True):
    """Everything in the section."""

    inputs: Inputs
    """What came in."""
    coverage: Coverage
    """What is there and what is not."""
    success: Success
    """When a rollout counts as a success."""
    files: Listing[SourceFile]
    """Files that were read."""
    models: Listing[Count]
    """Models that answered."""
    agents: Listing[Count]
    """Harnesses that drove them."""
    bad_lines: Listing[BadLine]
    """Lines that could not be used."""
    bad_scores: Listing[BadLine]
    """Rows whose score is not a number."""
    duplicates: Listing[Duplicate]
    """Keys that several rows claim."""
    published: list[Published]
    """Published metrics, checked."""
    notes: Listing[str]
    """Anything else."""


def take_inventory(analysis: Analysis) -> Inventory:
    """The section's lists, cut to a readable length."""
    inputs = analysis.inputs
    return Inventory(
        inputs=inputs,
        coverage=analysis.coverage,
        success=analysis.success,
        files=first(inputs.files, MOST_FILES),
        models=first(inputs.models, MOST_VALUES),
        agents=first(inputs.agents, MOST_VALUES),
        bad_lines=first(inputs.bad_lines, MOST_LINES, total=analysis.coverage.malformed),
        bad_scores=first(inputs.bad_scores, MOST_LINES, limit=MAX_LISTED),
        duplicates=first(inputs.duplicates, MOST_LINES, limit=MAX_LISTED),
        published=[compare_published(check) for check in inputs.published],
        notes=first(inputs.notes, MOST_NOTES),
    )


def compare_published(check: PublishedCheck) -> Published:
    return Published(
        check=check,
        different=first(check.different, MOST_VALUES, limit=MAX_LISTED),
        not_recomputed=first(check.not_recomputed, MOST_VALUES, limit=MAX_LISTED),
    )
