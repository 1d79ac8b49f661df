"""Why: signals, funnel, health and draft causes of one run."""

from blade.diagnosis.analysis import Analysis
from blade.diagnosis.analyze import AnalyzeOptions, analyze, draft_labels, relabel
from blade.diagnosis.labels import CAUSES, Evidence, Label, read_labels, write_labels

__all__ = [
    "CAUSES",
    "Analysis",
    "AnalyzeOptions",
    "Evidence",
    "Label",
    "analyze",
    "draft_labels",
    "read_labels",
    "relabel",
    "write_labels",
]
