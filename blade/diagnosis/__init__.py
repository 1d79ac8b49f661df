"""Why: signals, funnel, health and draft causes of one run."""

from blade.diagnosis.analysis import Analysis
from blade.diagnosis.analyze import AnalyzeOptions, Diagnosed, analyze, diagnose, draft_labels, relabel
from blade.diagnosis.labels import CAUSES, Evidence, Label, read_labels, write_labels

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
    "write_labels",
]
