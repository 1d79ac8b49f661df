"""`report.html`: the page of one run, written beside the report, or made for a server."""

import contextlib
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import msgspec

from blade._version import __version__
from blade.diagnosis.analysis import Analysis
from blade.diagnosis.analyze import AnalyzeOptions, quantities
from blade.diagnosis.judging import decide_success
from blade.errors import InputError
from blade.metrics.prices import load_prices
from blade.metrics.values import Floats
from blade.report.files import write_file
from blade.report.numbers import count, plural, size
from blade.report.page.associations import DOLLARS
from blade.report.page.data import PageData, RowIndex, page_data, places_of, places_or_none, tool_facet
from blade.report.page.overview import build_overview
from blade.report.page.render import render
from blade.report.page.trajectories import FILES_BYTES, INLINE_BYTES, Packed, pack, within
from blade.rollouts import Run

PAGE = "report.html"
FOLDER = "report_files"
"""Where trajectories are that do not fit into the page."""
PART_NAME = re.compile(r"part-\d{4,}\.js")


def write_run_page(
    folder: Path, analysis: Analysis, run: Run | None, options: AnalyzeOptions | None = None, *, command: str = ""
) -> None:
    """Writes the page, and what does not fit into it beside it; without the run, the overview alone.

    Args:
        options: how the run was diagnosed.
        command: what makes the diagnosis again.
    """
    options = options or AnalyzeOptions()
    if run is None:
        place_parts(folder / FOLDER, [])
        write_file(folder / PAGE, run_page(analysis, page_data(analysis), command=command))
        return
    passed = decide_success(run.table, options.success)[1]
    lengths = run.table.rows.length
    rows = within(lengths, chain(wanted_rows(analysis, run), range(len(lengths))), FILES_BYTES)
    packed = pack(run, passed, rows, inline=int(lengths.sum()) <= INLINE_BYTES)
    data = with_parts(page_data(analysis, run, passed), packed)
    costs = costs_of(run, options)
    page = run_page(
        analysis, data, parts=packed.parts if packed.inline else [], costs=costs, passed=passed, command=command
    )
    place_parts(folder / FOLDER, [] if packed.inline else packed.parts)
    write_file(folder / PAGE, page)


def costs_of(run: Run, options: AnalyzeOptions) -> dict[str, Floats]:
    """What each rollout took; without dollars when the price table has gone."""
    try:
        return quantities(run.table, load_prices(Path(options.prices) if options.prices else None))
    except InputError:
        return {name: values for name, values in quantities(run.table).items() if name != DOLLARS}


def run_page(
    analysis: Analysis,
    data: PageData,
    *,
    parts: list[bytes] | None = None,
    costs: dict[str, Floats] | None = None,
    passed: Floats | None = None,
    command: str = "",
    up: str = "",
) -> Iterator[bytes]:
    """The page of a run; `up` is the address of the page of all runs, if there is one."""
    rollouts = len(data.rollouts.task)
    return render(
        "run.html.jinja",
        "main.js",
        data,
        source=data.source,
        parts=parts or [],
        title=analysis.inputs.run,
        tabs=[("overview", "Overview"), ("rollouts", f"Rollouts {rollouts:,}")],
        overview=build_overview(analysis, quantities=costs, passed=passed),
        has_rollouts=rollouts > 0,
        left_out=left_out_words(data.left_out, rollouts),
        notes=notes(analysis, command),
        up=up,
    )


def with_parts(data: PageData, packed: Packed) -> PageData:
    """The data with where each trajectory is."""
    return msgspec.structs.replace(
        data,
        rollouts=msgspec.structs.replace(data.rollouts, chunk=places_or_none(packed.chunk)),
        facets=[*data.facets, *tool_facet(packed.tools)],
        source="inline" if packed.inline else "files",
        files=FOLDER,
        left_out=packed.left_out,
    )


def wanted_rows(analysis: Analysis, run: Run) -> Iterator[int]:
    """Rows the page links to, the most important first."""
    cited = chain(
        (citation for item in analysis.reading_list for citation in item.read),
        (proof.citation for cause in analysis.causes for proof in cause.evidence),
        (citation for finding in analysis.health for citation in finding.citations),
        (citation for mode in analysis.modes for citation in mode.citations),
        (citation for signal in analysis.signals for citation in signal.citations),
    )
    return (row for row, _ in places_of(cited, RowIndex(run.table)))


def place_parts(folder: Path, parts: list[bytes]) -> None:
    """Writes the parts beside the page and takes away those of an earlier one."""
    names = {f"part-{number:04d}.js": part for number, part in enumerate(parts)}
    for name, part in names.items():
        number = int(name.removeprefix("part-").removesuffix(".js"))
        write_file(folder / name, b'bladePart(%d,"%s");\n' % (number, part))
    if folder.is_dir():
        for old in folder.iterdir():
            if PART_NAME.fullmatch(old.name) and old.name not in names:
                old.unlink()
        with contextlib.suppress(OSError):  # somebody else's files stay
            folder.rmdir()


def left_out_words(left_out: int, rollouts: int) -> str:
    """What is not in the page, and where it is; empty when all is there."""
    if not left_out:
        return ""
    said = f"The trajectories of {count(left_out)} of {plural(rollouts, 'rollout')} are not in this page"
    return f"{said}, which would be too large with them; blade view DIR shows all of them."


def notes(analysis: Analysis, command: str) -> list[tuple[str, str]]:
    """How the page was made, for its foot."""
    inputs = analysis.inputs
    files = ", ".join(f"{file.name} ({file.format}, {size(file.bytes)})" for file in inputs.files[:10])
    found = [
        ("Files", files),
        ("Success", f"{analysis.success.rule} ({analysis.success.source})" if analysis.success.rule else "none stated"),
        ("Identity", inputs.identity_sentence),
        ("Expected rollouts", f"{analysis.coverage.expected_rollouts:,} (from {inputs.expected_from})"),
        ("Notes", "; ".join(inputs.notes[:10])),
        ("Command", command),
        ("BLADE", __version__),
    ]
    return [(name, text) for name, text in found if text]
