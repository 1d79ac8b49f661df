"""What we say: the report, the reading list, and the folder they live in."""

from blade.report.reading import render_reading_list
from blade.report.report import Report, build_report, render_report
from blade.report.text import clip, md, plain
from blade.report.workspace import (
    Request,
    Workspace,
    append_label,
    canonical_json,
    open_workspace,
    render_again,
    write_workspace,
)

__all__ = [
    "Report",
    "Request",
    "Workspace",
    "append_label",
    "build_report",
    "canonical_json",
    "clip",
    "md",
    "open_workspace",
    "plain",
    "render_again",
    "render_reading_list",
    "render_report",
    "write_workspace",
]
