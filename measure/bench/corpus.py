"""How `blade check` does on reports and findings that were written by hand before anybody ran it on them.

    make bench-corpus
    make bench-corpus ARGS="--list"

Reports (`measure/reports/`) have no rows; a key beside each names the places where it contradicts itself, and figures
of relations that hold, which are changed in turn. Findings (`measure/findings/`) are about shipped runs, one true
sentence a line; each figure, word for a number, id, citation, quote, label, bucket and level is made false in turn.
Seen files may be looked at to improve the checks, unseen ones may not.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from lies import Liar

from blade.audit.check import check_report
from blade.audit.evidence import evidence_of
from blade.diagnosis import diagnose
from blade.rollouts import ReadOptions, read_runs

ROOT = Path(__file__).resolve().parents[2]
NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,\u202f ]\d{3})*(?:[.,]\d+)?(?!\w)")


class Place(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a report contradicts itself."""

    lines: list[str]
    """Words of each line that takes part; naming one of the lines finds the place."""
    kind: str
    why: str


class Hold(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A figure of a relation that holds, and that another figure would break."""

    line: str
    number: str
    kind: str


class Key(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is true of a report without rows."""

    places: list[Place]
    holds: list[Hold]


class About(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What findings are about."""

    run: str
    """The rollouts, from the root of the repository."""
    keep: list[str] = []
    """Words that are not changed, because the sentence would stay true."""


Looked = list[str]
Kinds = list[tuple[str, bool]]
"""Each place or lie: its kind, and whether it was found."""


def with_other(text: str, hold: Hold, sign: int) -> str:
    """The text with a figure moved by about a fifth, at least two units of its last digit, in its own notation."""
    decimals = re.search(r"\.\d+$|,\d{1,2}$", hold.number)
    digits = int(re.sub(r"\D", "", hold.number))
    moved = max(0, digits + sign * max(2, digits // 5))
    other = f"{moved:,}" if "," in hold.number else str(moved)
    if decimals:
        places = len(decimals[0]) - 1
        padded = str(moved).zfill(places + 1)
        other = padded[:-places] + decimals[0][0] + padded[-places:]
    changed = re.sub(rf"(?<![\d.,]){re.escape(hold.number)}(?!\d|[.,]\d)", other, hold.line, count=1)
    return text.replace(hold.line, changed, 1)


def measure_reports(folder: Path, shown: bool) -> None:
    """Places that are found, alarms about what is consistent, and figures whose change is noticed."""
    places, plants, alarms, numbers, looked = Kinds(), Kinds(), 0, 0, Looked()
    for path in sorted(folder.glob("*.md")):
        text, key = path.read_text(), msgspec.yaml.decode(path.with_suffix(".yaml").read_bytes(), type=Key)
        wrong = check_report(text).contradicted
        lines = list(enumerate(text.splitlines(), start=1))
        spots = [{n for n, line in lines if any(part in line for part in one.lines)} for one in key.places]
        for one, at in zip(key.places, spots, strict=True):
            places.append((one.kind, found := any(check.line in at for check in wrong)))
            looked += [] if found else [f"missed {path.stem}:{min(at)} {one.kind}: {one.why}"]
        false = [check for check in wrong if not any(check.line in at for at in spots)]
        looked += [f"alarm {path.stem}:{one.line} {one.said!r}, true {one.true!r}: {one.why}" for one in false]
        alarms, numbers = alarms + len(false), numbers + len(NUMBER.findall(text))
        before = {(check.line, check.said) for check in wrong}
        for hold in key.holds:
            for sign in (1, -1):
                after = {(one.line, one.said) for one in check_report(with_other(text, hold, sign)).contradicted}
                plants.append((hold.kind, bool(after - before)))
                looked += [] if after - before else [f"unnoticed {path.stem} {sign:+d} {hold.number}: {hold.line}"]
    print(f"reports, {folder.name}: {by_kind(places)} contradictions found")
    print(f"  planted figures: {by_kind(plants)} noticed")
    print(f"  false alarms: {alarms} about {numbers} numbers, {100 * alarms / numbers:.2f} per hundred")
    print("".join(f"  {line[:220]}\n" for line in looked if shown), end="")


def by_kind(kinds: Kinds) -> str:
    """How many were found, in all and by kind."""
    count, hits = Counter(kind for kind, _ in kinds), Counter(kind for kind, found in kinds if found)
    return f"{hits.total()} of {len(kinds)} ({', '.join(f'{one} {hits[one]}/{count[one]}' for one in sorted(count))})"


def sections(text: str) -> Iterator[str]:
    """The title with each section under it."""
    title, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    yield from (f"{title.rstrip()}\n\n## {part}" for part in parts)


def measure_findings(folder: Path, shown: bool) -> None:
    """Truths that are supported, and lies that are found, over all findings of a folder."""
    figures, sentences, kinds, refuted, looked = Counter[str](), Counter[str](), Kinds(), 0, Looked()
    for path in sorted(folder.glob("*.md")):
        about = msgspec.yaml.decode(path.with_suffix(".yaml").read_bytes(), type=About)
        (run,) = read_runs([str(ROOT / about.run)], ReadOptions(use_cache=False))
        found = diagnose(run)
        evidence = evidence_of([found])
        outcomes = {run.table.citation(row): reward >= 1 for row, reward in enumerate(run.table.reward.tolist())}
        liar = Liar(found.analysis, outcomes, about.keep)
        for text in sections(path.read_text()):
            true = check_report(text, evidence=evidence)
            figures.update(check.verdict for check in true.checks)
            looked += [f"{one.verdict} {path.stem}: {one.said!r}: {one.sentence or one.why}" for one in true.faults]
            lines = text.splitlines()
            for place, line in enumerate(lines):
                if line and not line.startswith(("#", "|--")):
                    verdicts: set[str] = {one.verdict for one in true.checks if one.line == place + 1}
                    sentences[worst(verdicts)] += 1
                    for kind, other, lie in liar.lies(line):
                        audit = check_report("\n".join([*lines[:place], lie, *lines[place + 1 :]]), evidence=evidence)
                        new = Counter(one[:3] for one in audit.faults) - Counter(one[:3] for one in true.faults)
                        kinds.append((kind, bool(new)))
                        refuted += any(verdict == "contradicted" for *_, verdict in new)
                        looked += [] if new else [f"believed {path.stem}: {lie} [{other}]"]
    print(f"findings, {folder.name}: {by_kind(kinds)} lies found")
    print(f"  of them, {refuted} are contradicted and the others bound to nothing")
    print(f"  true sentences: {dict(sentences)}\n  true figures: {dict(figures)}")
    print("".join(f"  {line[:220]}\n" for line in looked if shown), end="")


def worst(verdicts: set[str]) -> str:
    order = ("contradicted", "unbound", "supported", "unverifiable")
    return next((one for one in order if one in verdicts), "nothing checked")


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="list what is missed and what is called false")
    arguments = parser.parse_args(words)
    for name in ("seen", "unseen"):
        measure_reports(ROOT / "measure" / "reports" / name, arguments.list)
        measure_findings(ROOT / "measure" / "findings" / name, arguments.list)
    return 0


if __name__ == "__main__":
    sys.exit(main())
