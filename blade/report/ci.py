"""A comparison where CI shows it: a Markdown comment of one screen for GitHub, and JUnit XML for everything else."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from blade.comparison import Comparison
from blade.comparison.comparison import Driver
from blade.report.comparison_rows import Words, adjusted_words, driver_row, pairs_with_base, part_row, rank_rows
from blade.report.numbers import plural
from blade.report.page.comparison_overview import driver_link
from blade.report.text import INVISIBLE, SURROGATES, cell, code, code_cell, md, sentence

MARKER: Final = "<!-- blade-compare -->"
"""First line of the comment: whoever posts it finds the earlier one by it and replaces that."""
MOST_LINES: Final = 60
MOST_DRIVERS: Final = 5
MOST_PARTS: Final = 5
MOST_WARNINGS: Final = 4
MOST_RUNS: Final = 12
BRACKETS = {ord("("): "%28", ord(")"): "%29"}
"""What would end a link in Markdown."""
SIGNS = {"improved": "🟢", "regressed": "🔴", "tied": "⚪"}
HEADS = {"pass_at_1": "pass@1", "mean_reward": "mean reward"}


def github_comment(comparison: Comparison, folder: Path, link: str | None = None) -> str:
    """The body of a job summary or of one sticky comment: verdict, drivers, where to read more; at most 60 lines."""
    lines = [MARKER, *comment_lines(comparison, Words(comparison.metric == "pass_at_1"), link)]
    more = f"[Full report]({link})" if link else f"Full report: {code(f'{folder}/comparison.md')}"
    return "\n".join([*lines[: MOST_LINES - 2], "", more]) + "\n"


def github_table(found: Mapping[str, Comparison], folder: Path, link: str | None = None) -> str:
    """The body of one comment about several comparisons: a line for each."""
    lines = [MARKER, f"### {plural(len(found), 'comparison')}, paired by name", ""]
    lines += ["| | score | base | candidate | change | verdict |", "|---|---|---|---|---|---|"]
    for name, one in found.items():
        words = Words(one.metric == "pass_at_1")
        sides = " | ".join(words.value(side.paired) for side in (one.base, one.candidate))
        change = words.delta(one.delta.value)
        lines.append(
            f"| {cell(name)} | {HEADS[one.metric]} | {sides} | {change} | {SIGNS[one.verdict]} {one.verdict} |"
        )
    hidden = len(lines) - MOST_LINES + 3
    if hidden > 0:
        lines = [*lines[: -hidden - 1], f"| … and {hidden + 1} more | | | | | |"]
    more = f"[Full reports]({link})" if link else f"Full reports: {code(f'{folder}/*/comparison.md')}"
    return "\n".join([*lines, "", more]) + "\n"


def comment_lines(found: Comparison, words: Words, link: str | None) -> Iterator[str]:
    """Everything but the link to the report."""
    yield f"### {SIGNS[found.verdict]} {md(found.candidate.run)} against {md(found.base.run)}: {found.verdict}"
    yield ""
    seen = "" if found.mde is None else f" Smallest visible difference: {words.gap(found.mde)}."
    adjusted = f" {adjusted_words(found, found.pairs)}" if isinstance(found.pairs, list) else ""
    yield f"{sentence(found.sentence)}.{adjusted}{seen}"
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
        yield from driver_lines(found, words, (direction, title, total), link)
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


def driver_lines(found: Comparison, words: Words, heading: tuple[str, str, int], link: str | None) -> Iterator[str]:
    direction, title, total = heading
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
        if link and link.endswith(".html"):
            read = f"[side by side]({link}{driver_link(driver).translate(BRACKETS)})"
        yield f"| {code_cell(driver.task)} | {row.base} | {row.candidate} | {read} | {cell(charges(driver), 120)} |"


def charges(driver: Driver) -> str:
    """What a task's failing rollouts are charged to."""
    return ", ".join(f"{charge.title} ({charge.rollouts})" for charge in driver.failing)


def ranking_lines(found: Comparison, words: Words) -> Iterator[str]:
    rows = rank_rows(found, words)[:MOST_RUNS]
    if not rows:
        return
    yield ""
    yield "| rank | run | score | against the base | share a letter when tied |"
    yield "|---|---|---|---|---|"
    for row in rows:
        rank = row.rank
        yield f"| {rank.rank} | {cell(rank.run)} | {row.value} | {row.against_base} | {rank.groups} |"


def junit_xml(comparisons: Sequence[Comparison]) -> bytes:
    """One test per compared pair, which fails when the candidate regressed; under it one per task that got worse.

    Tasks fail only together with their pair: a single task that moved proves nothing.
    """
    suites = ET.Element("testsuites", name="blade compare")
    for pair in (pair for comparison in comparisons for pair in pairs_with_base(comparison)):
        words = Words(pair.metric == "pass_at_1")
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
