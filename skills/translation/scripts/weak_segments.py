#!/usr/bin/env python3
"""Show which segments of translated documents were lost, made up, left in the source language, or
scored low.

Reads JSONL rows with `spans` (segment pairs with `src`, `tgt`, `comet_qe`, `deleted`,
`hallucinated`). Prints one JSON document: totals per target language, and the weakest segments. A
segment is `copied` when source and target are the same words and hold at least four letters: names
and numbers stay, sentences should not.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

EPILOG = """example:
  python scripts/weak_segments.py rollouts.jsonl --below 0.4 --limit 10

exit codes: 0 done, 2 wrong usage, 3 no such rows in the input"""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rollouts", nargs="+", type=Path, help="JSONL files")
    parser.add_argument("--below", type=float, default=0.4, help="score under which a segment is weak (default 0.4)")
    parser.add_argument("--limit", type=int, default=20, help="segments listed at most (default 20)")
    options = parser.parse_args()
    try:
        segments, bad = read_segments(options.rollouts)
    except OSError as error:
        return fail(f"{error.filename}: {error.strerror}")
    if not segments:
        return fail("no row has spans; this script reads document translations scored by segment")
    print(json.dumps({"bad_lines": bad, **summary(segments, options.below, options.limit)}, indent=2))
    return 0


def fail(message: str) -> int:
    print(f"weak_segments: {message}", file=sys.stderr)
    return 3


def read_segments(paths: list[Path]) -> tuple[list[dict[str, Any]], int]:
    """Every segment with its rollout, document and language; and how many lines are not JSON."""
    segments: list[dict[str, Any]] = []
    bad = 0
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
            try:
                row = json.loads(line)
            except ValueError:
                bad += bool(line.strip())
                continue
            if isinstance(row, dict) and isinstance(row.get("spans"), list):
                segments += [
                    segment(row, span, f"{path.name}:{number}") for span in row["spans"] if isinstance(span, dict)
                ]
    return segments, bad


def segment(row: dict[str, Any], span: dict[str, Any], line: str) -> dict[str, Any]:
    source, target = str(span.get("src") or "").strip(), str(span.get("tgt") or "").strip()
    return {
        "line": line,
        "language": str(row.get("target_language")),
        "document": row.get("doc_id"),
        "score": span.get("comet_qe"),
        "what": kind_of(span, source, target),
        "source": source[:120],
        "target": target[:120],
    }


def kind_of(span: dict[str, Any], source: str, target: str) -> str:
    if span.get("deleted"):
        return "left_out"
    if span.get("hallucinated"):
        return "made_up"
    letters = sum(sign.isalpha() for sign in source)
    return "copied" if source.split() == target.split() and letters >= 4 else "translated"


def summary(segments: list[dict[str, Any]], below: float, limit: int) -> dict[str, Any]:
    weak = [s for s in segments if s["what"] != "translated" or (s["score"] is not None and s["score"] < below)]
    weak.sort(key=lambda s: (s["what"] == "translated", s["score"] if s["score"] is not None else 1.0))
    languages = sorted({s["language"] for s in segments})
    return {
        "segments": len(segments),
        "languages": {name: totals([s for s in segments if s["language"] == name], below) for name in languages},
        "weak": weak[:limit],
        "weak_not_listed": max(0, len(weak) - limit),
    }


def totals(mine: list[dict[str, Any]], below: float) -> dict[str, Any]:
    scores = [s["score"] for s in mine if s["score"] is not None]
    kept = [s["score"] for s in mine if s["score"] is not None and s["what"] not in ("left_out", "made_up")]
    kinds = {kind: sum(s["what"] == kind for s in mine) for kind in ("left_out", "made_up", "copied")}
    return {
        "segments": len(mine),
        **kinds,
        f"below_{below:g}": sum(score < below for score in kept),
        "mean": round(sum(scores) / len(scores), 4) if scores else None,
        "mean_of_aligned": round(sum(kept) / len(kept), 4) if kept else None,
    }


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # whoever reads this has had enough, as `| head` does
        os._exit(0)
