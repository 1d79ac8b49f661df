#!/usr/bin/env python3
"""Break word error rates into substituted, left out and added words, and look for audio that never
arrived.

Reads JSONL rows with `text` (reference) and `pred_text` (transcript), both normalised by the
verifier. Prints one JSON document: the rate over all words beside the mean of the rows' rates, the
three kinds of error, how many transcripts begin with a sentence about the task, and whether prompts
of different recordings have the same number of tokens.
"""

import argparse
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

EPILOG = """example:
  python scripts/wer_breakdown.py rollouts.jsonl --limit 10

exit codes: 0 done, 2 wrong usage, 3 no such rows in the input"""
PREAMBLE = re.compile(
    r"^.{0,120}?\b(?:transcription|transcript|transcribed|audio|recording|sentence|content)\b.{0,60}?\b(?:is|says|reads)\b"
)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rollouts", nargs="+", type=Path, help="JSONL files")
    parser.add_argument("--limit", type=int, default=20, help="worst rollouts listed at most (default 20)")
    options = parser.parse_args()
    try:
        entries, bad = read_entries(options.rollouts)
    except OSError as error:
        return fail(f"{error.filename}: {error.strerror}")
    if not entries:
        return fail("no row has text and pred_text; this script reads speech rollouts")
    print(json.dumps({"bad_lines": bad, **summary(entries, options.limit)}, indent=2))
    return 0


def fail(message: str) -> int:
    print(f"wer_breakdown: {message}", file=sys.stderr)
    return 3


def read_entries(paths: list[Path]) -> tuple[list[dict[str, Any]], int]:
    """One entry per row that has both texts, and how many lines are not JSON."""
    entries: list[dict[str, Any]] = []
    bad = 0
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
            try:
                row = json.loads(line)
            except ValueError:
                bad += bool(line.strip())
                continue
            if isinstance(row, dict) and isinstance(row.get("text"), str) and isinstance(row.get("pred_text"), str):
                entries.append(entry(row, f"{path.name}:{number}"))
    return entries, bad


def entry(row: dict[str, Any], line: str) -> dict[str, Any]:
    reference, said = str(row["text"]).split(), str(row["pred_text"])
    substituted, left_out, added = errors(reference, said.split())
    response = row.get("response")
    usage = response.get("usage") if isinstance(response, dict) else None
    preamble = PREAMBLE.match(said)
    rest = said[preamble.end() :].split() if preamble else None
    return {
        "line": line,
        "rollout": f"{row['_ng_task_index']}:{row.get('_ng_rollout_index', 0)}" if "_ng_task_index" in row else None,
        "words": len(reference),
        "substituted": substituted,
        "left_out": left_out,
        "added": added,
        "wer": round((substituted + left_out + added) / len(reference), 4) if reference else None,
        "wer_in_row": row.get("wer"),
        "preamble": preamble is not None,
        "errors_without_preamble": None if rest is None else sum(errors(reference, rest)),
        "input_tokens": usage.get("input_tokens") if isinstance(usage, dict) else None,
    }


def errors(reference: list[str], said: list[str]) -> tuple[int, int, int]:
    """Substituted, left-out and added words of a cheapest alignment."""
    row = [(at, 0, 0, at) for at in range(len(said) + 1)]  # cost, substituted, left out, added
    for word in reference:
        following = [(row[0][0] + 1, row[0][1], row[0][2] + 1, row[0][3])]
        for at, heard in enumerate(said):
            kept = row[at] if heard == word else (row[at][0] + 1, row[at][1] + 1, row[at][2], row[at][3])
            dropped = (row[at + 1][0] + 1, row[at + 1][1], row[at + 1][2] + 1, row[at + 1][3])
            extra = (following[at][0] + 1, following[at][1], following[at][2], following[at][3] + 1)
            following.append(min(kept, dropped, extra, key=lambda cell: cell[0]))
        row = following
    return row[-1][1:]


def summary(entries: list[dict[str, Any]], limit: int) -> dict[str, Any]:
    totals = {key: sum(e[key] for e in entries) for key in ("words", "substituted", "left_out", "added")}
    wrong = totals["substituted"] + totals["left_out"] + totals["added"]
    rates = [e["wer"] for e in entries if e["wer"] is not None]
    tokens = [e["input_tokens"] for e in entries if e["input_tokens"] is not None]
    with_preamble = [e for e in entries if e["preamble"]]
    worst = sorted(entries, key=lambda e: -(e["wer"] or 0))
    return {
        "rollouts": len(entries),
        **totals,
        "wer_over_all_words": round(wrong / totals["words"], 4) if totals["words"] else None,
        "mean_of_rows": round(sum(rates) / len(rates), 4) if rates else None,
        "rows_that_disagree_with_their_wer_field": sum(disagrees(e) for e in entries),
        "begin_with_a_sentence_about_the_task": len(with_preamble),
        "input_tokens": {"known": len(tokens), "different": len(set(map(str, tokens)))},
        "audio_may_be_missing": len(tokens) >= 3 and len(set(map(str, tokens))) == 1,
        "worst": worst[:limit],
        "not_listed": max(0, len(entries) - limit),
    }


def disagrees(found: dict[str, Any]) -> bool:
    said = found["wer_in_row"]
    return isinstance(said, int | float) and found["wer"] is not None and abs(said - found["wer"]) > 0.01


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # whoever reads this has had enough, as `| head` does
        os._exit(0)
