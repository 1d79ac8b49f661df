"""Why: signals, funnel, health and draft causes of one run."""

from blade.diagnosis.analysis import Analysis
from blade.diagnosis.analyze import AnalyzeOptions, Diagnosed, analyze, diagnose, with_named_fields
from blade.diagnosis.labels import CAUSES, Evidence, Label, read_labels, write_labels
from blade.diagnosis.relabelling import draft_labels, relabel

__all__ = [
    "CAUSES",
    "Analysis",
    "AnalyzeOptions",
    "Diagnosed",
    "Evidence",
    "Label",
    "analyze",
    "diagnose",
    "draft_labels",
    "read_labels",
    "relabel",
    "with_named_fields",
    "write_labels",
]
