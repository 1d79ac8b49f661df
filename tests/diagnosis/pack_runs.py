"""Packs written in a few lines, and what they say about rows written in a few lines."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rollout_rows import Row, read_rows

from blade.diagnosis import diagnose
from blade.diagnosis.noting import observations_of
from blade.diagnosis.packs import Pack, PackResult, apply_pack, load_pack

HEAD = """\
name: little
title: A little pack
description: For tests.
version: "1"
matches:
- all_fields: [reward]
"""
STAGES = """\
stages:
- {name: answered, definition: it answered, when: {fact: answer_bytes, greater: 0}}
"""


def pattern(when: str, code: str = "seen", more: str = "") -> str:
    """A pattern with a condition in flow style; `more` is further keys, each followed by a comma."""
    return f"- {{code: {code}, title: {code}, confidence: low, intervention: rl, {more} when: {when}}}\n"


def pack_text(*patterns: str, stages: str = STAGES) -> str:
    """A whole pack."""
    return HEAD + stages + "patterns:\n" + "".join(patterns)


def write_pack(folder: Path, text: str) -> Path:
    path = folder / "little.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def little_pack(folder: Path, *patterns: str, stages: str = STAGES) -> Pack:
    """A pack that was written to a file and read back, as a user's would be."""
    return load_pack(write_pack(folder, pack_text(*patterns, stages=stages)))


def apply_rows(folder: Path, pack: Pack | str, rows: Iterable[Row | str], **options: Any) -> PackResult:
    """What a pack, given as such or by its name, says about the run some rows make."""
    run = read_rows(folder, rows, **options)
    return apply_pack(
        load_pack(pack) if isinstance(pack, str) else pack, run, diagnose(run).outcomes, observations_of(run)
    )


def shown_by(result: PackResult) -> dict[str, list[int]]:
    """Per pattern that was seen: the rows it was seen in."""
    return {hits.rule.code: hits.rows.tolist() for hits in result.patterns if len(hits.rows)}


def belongs_to(result: PackResult) -> list[str | None]:
    """Per row: the pattern it belongs to."""
    codes = [hits.rule.code for hits in result.patterns]
    return [None if position < 0 else codes[position] for position in result.primary.tolist()]
