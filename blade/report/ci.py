"""A comparison where CI shows it: a Markdown comment of one screen for GitHub, and JUnit XML for everything else."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from blade.comparison import Comparison
from blade.comparison.comparison import Driver
from blade.report.comparison_rows import Words, driver_row, part_row
from blade.report.numbers import plural
from blade.report.text import INVISIBLE, SURROGATES, cell, code, code_cell, md

MARKER: Final = "<!-- blade-compare -->"
"""First line of the comment: whoever posts it finds the earlier one by it and replaces that."""
MOST_LINES: Final = 60
MOST_DRIVERS: Final = 5
MOST_PARTS: Final = 5
MOST_WARNINGS: Final = 4
MOST_RUNS: Final = 12
SIGNS = {"improved": "🟢", "regressed": "🔴", "tied": "⚪"}
HEADS = {"pass_at_1": "pass@1", "mean_reward": "mean reward"}


def github_comment(comparison: Comparison, folder: Path, link: str | None = None) -> str:
    """The body of a job summary or of one sticky comment: verdict, drivers, where to read more; at most 60 lines."""
    lines = [MARKER, *comment_lines(comparison, Words(comparison.metric == "pass_at_1"))]
    more = f"[Full report]({link})" if link else f"Full report: {code(f'{folder}/comparison.md')}"
    return "\n".join([*lines[: MOST_LINES - 2], "", more]) + "\n"


def comment_lines(found: Comparison, words: Words) -> Iterator[str]:
    """Everything but the link."""
    yield f"### {SIGNS[found.verdict]} {md(found.candidate.run)} against {md(found.base.run)}: {found.verdict}"
    yield ""
    yield f"{md(found.sentence)}."
    yield ""
    yield f"| | {HEADS[found.metric]} | 95 % interval | tasks |"
    yield "|---|---|---|---|"
    for role, side in (("base", found.base), ("candidate", found.candidate)):
        interval = words.interval(side.headline.ci95)
        yield f"| {role} {cell(side.run)} | {words.value(side.headline.value)} | {interval} | {side.headline.n} |"
    if found.warnings:
        yield ""
        yield from (f"> ⚠️ {md(warning, 300)}  " for warning in found.warnings[:MOST_WARNINGS])
    yield from part_lines(found, words)
    for direction, title, total in (
        ("regressed", "Did worse", found.regressed_tasks),
        ("improved", "Did better", found.improved_tasks),
    ):
        yield from driver_lines(found, words, direction, title, total)
    yield from ranking_lines(found, words)


def part_lines(found: Comparison, words: Words) -> Iterator[str]:
    moving = sorted(
        (part for part in found.decomposition if abs(part.value) > 1e-12), key=lambda part: -abs(part.value)
    )
    if not moving:
        return
    yield ""
    yield f"**What the change of {words.delta(found.change.value)} is made of**"
    yield ""
    yield from (
        f"- {words.delta(part.value)} {md(part.title)} ({part_row(part, words).interval})"
        for part in moving[:MOST_PARTS]
    )


def driver_lines(found: Comparison, words: Words, direction: str, title: str, total: int) -> Iterator[str]:
    drivers = [driver for driver in found.drivers if driver.direction == direction][:MOST_DRIVERS]
    if not drivers:
        return
    yield ""
    yield f"**{title}** ({plural(total, 'task')})"
    yield ""
    yield "| task | base | candidate | read | failing rollouts |"
    yield "|---|---|---|---|---|"
    for driver in drivers:
        row = driver_row(driver, words)
        read = f"{code_cell(driver.base.citation)} {code_cell(driver.candidate.citation)}"
        yield f"| {code_cell(driver.task)} | {row.base} | {row.candidate} | {read} | {cell(charges(driver), 120)} |"


def charges(driver: Driver) -> str:
    """What a task's failing rollouts are charged to."""
    return ", ".join(f"{charge.rollouts} {charge.title}" for charge in driver.failing)


def ranking_lines(found: Comparison, words: Words) -> Iterator[str]:
    if not isinstance(found.ranking, list):
        return
    yield ""
    yield "| rank | run | score | share a letter when tied |"
    yield "|---|---|---|---|"
    for rank in found.ranking[:MOST_RUNS]:
        yield f"| {rank.rank} | {cell(rank.run)} | {words.value(rank.value)} | {rank.groups} |"


def junit_xml(comparison: Comparison) -> bytes:
    """One test per compared pair, which fails when the candidate regressed; under it one per task that got worse.

    Tasks fail only together with their pair: a single task that moved proves nothing.
    """
    words = Words(comparison.metric == "pass_at_1")
    pairs = comparison.pairs if isinstance(comparison.pairs, list) else [comparison]
    against_base = [pair for pair in pairs if pair.base.run == comparison.base.run]
    suites = ET.Element("testsuites", name="blade compare")
    for pair in against_base:
        worse = [driver for driver in pair.drivers if driver.direction == "regressed"]
        failed = pair.verdict == "regressed"
        title = f"{pair.candidate.run} against {pair.base.run}"
        failures = str(1 + len(worse) if failed else 0)
        suite = ET.SubElement(suites, "testsuite", name=clean(title), tests=str(1 + len(worse)), failures=failures)
        add_case(suite, title, "score", pair.sentence, failed=failed)
        for driver in worse:
            row = driver_row(driver, words)
            said = f"task {driver.task}: {row.base} to {row.candidate}; {charges(driver) or 'no charge'}"
            add_case(suite, title, f"task {driver.task}", said, failed=failed)
    ET.indent(suites)
    return bytes(ET.tostring(suites, encoding="utf-8", xml_declaration=True)) + b"\n"


def add_case(suite: ET.Element, group: str, name: str, said: str, *, failed: bool) -> None:
    case = ET.SubElement(suite, "testcase", classname=clean(group), name=clean(name))
    if failed:
        ET.SubElement(case, "failure", message=clean(said)).text = clean(said)
    else:
        ET.SubElement(case, "system-out").text = clean(said)


def clean(text: str) -> str:
    """Text without characters that XML cannot hold or a screen should not show."""
    return SURROGATES.sub("\ufffd", INVISIBLE.sub("", text)).replace("\ufffe", "").replace("\uffff", "")
