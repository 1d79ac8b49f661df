"""How many false numbers, ids, quotes and labels are found, how often truth is called false, and how good the judge is.

    make bench-audit
    make bench-audit ARGS="--data results/*.jsonl"

Findings: true sentences about a run under headings of any name; one value at a time is replaced by another that makes
the sentence false, over the shipped runs and over those that are given. A lie is found when it is named itself.
Strangers: reports in five styles with numbers drawn at random, consistent in themselves, and one number changed. Three
styles were at hand when the arithmetic was written (seen), two were not (unseen). Judge: golden packages.
"""

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

from findings import Findings, other_number

from blade.audit.check import check_report
from blade.errors import BladeError
from blade.golden.calibration import calibrate_folder

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "blade" / "cli" / "demo_data" / "rollouts.jsonl"


def measure_findings(name: str, paths: Sequence[Path], trials: int) -> None:
    """Lies over runs that are missed, and truths about them that are called false or cannot be bound."""
    missed, kinds, false, unbound, checks = list[str](), Counter[str](), list[str](), 0, 0
    told = [findings for path in paths if (findings := read_findings(path)) is not None]
    for findings in told:
        for sentence in findings.sentences:
            if not any(kind == "lie" for kind, _ in sentence.slots.values()):
                audit = findings.check(sentence.text())
                false += [f"{sentence.text()!r}: {one.said}" for one in audit.contradicted]
                unbound, checks = unbound + len(audit.unbound), checks + len(audit.checks)
        for lie, kind, planted in islice(findings.lies(), trials // len(told)):
            audit = findings.check(lie)
            kinds[kind] += 1
            named = [one.said for one in (*audit.contradicted, *audit.unbound)]
            missed += [] if any(planted in said or said in planted for said in named) else [f"{lie} [{planted}]"]
    lies = kinds.total()
    print(f"findings, {name} ({len(told)} runs): {lies - len(missed)} of {lies} lies found (goal: all)  {dict(kinds)}")
    print(f"  truths called false: {len(false)} of {checks}, {100 * len(false) / max(checks, 1):.2f} % (goal: 0.2 %)")
    print(f"  truths that are left unbound, and listed with what to write instead: {unbound} of {checks}")
    for text in [*missed[:8], *false[:8]]:
        print(f"  look at: {text[:160]}")


def read_findings(path: Path) -> Findings | None:
    """Findings about a file of rollouts; nothing when it holds none or several runs."""
    try:
        return Findings(path, seed=7)
    except (BladeError, ValueError) as error:
        print(f"  {path.name} is left out: {str(error)[:100]}", file=sys.stderr)
        return None


Style = Callable[[random.Random], str]


def shares(rng: random.Random) -> str:
    counts = [rng.randint(20, 400) for _ in range(5)]
    total = sum(counts)
    rows = "\n".join(f"| kind {n} | {c} | {100 * c / total:.1f}% |" for n, c in enumerate(counts))
    head = f"All {total} rollouts were read.\n\n| Kind | Count | % of {total} |\n|---|---:|---:|\n"
    return f"{head}{rows}\n| Total | {total} | 100.0% |\n"


def rates(rng: random.Random) -> str:
    rows = [(f"m{n}", rng.randint(5, 60), rng.randint(70, 120)) for n in range(6)]
    body = "\n".join(f"| {m} | {p} | {t} | {100 * p / t:.1f}% |" for m, p, t in rows)
    return f"| Model | Passed | Tasks run | Rate |\n|---|---|---|---|\n{body}\n"


def prose(rng: random.Random) -> str:
    a, b, c = (rng.randint(40, 300) for _ in range(3))
    whole, ids = rng.randint(400, 900), rng.sample(range(1, 99), 5)
    listed = ", ".join(f"`{one}`" for one in ids)
    return (
        f"We saw {a + b + c} failures: {a} timeouts, {b} crashes and {c} refusals.\n\n"
        f"In {a} of {whole} rollouts ({100 * a / whole:.1f} %) nothing was called.\n\n5 tasks: {listed}.\n"
    )


def changes(rng: random.Random) -> str:
    rows = [(f"area {n}", rng.randint(20, 60) + 0.5, rng.randint(20, 60) + 0.25) for n in range(6)]
    body = "\n".join(f"| {m} | {x:.2f} | {y:.2f} | {y - x:+.2f} |" for m, x, y in rows)
    x, y = rng.randint(20, 40), rng.randint(50, 70)
    said = f"The rate rose from {x} % to {y} %, a gain of {y - x} points."
    return f"{said}\n\n| Area | Before | After | Change |\n|---|---|---|---|\n{body}\n"


def html(rng: random.Random) -> str:
    counts = [rng.randint(3, 90) for _ in range(6)]
    rows = "\n".join(f"<tr><td>tool {n}</td><td>{c}</td></tr>" for n, c in enumerate(counts))
    total = f"<tr><td>Total</td><td>{sum(counts)}</td></tr>"
    return f"<table>\n<tr><th>Tool</th><th>Calls</th></tr>\n{rows}\n{total}\n</table>\n"


SEEN, UNSEEN = (shares, rates, prose), (changes, html)


def measure_strangers(name: str, styles: tuple[Style, ...], each: int = 10) -> None:
    rng, found, planted, alarms, numbers = random.Random(11), 0, 0, 0, 0
    for style in styles:
        for _ in range(each):
            text = f"# Report\n\n## Numbers\n\n{style(rng)}"
            clean = check_report(text)
            alarms, numbers = alarms + len(clean.contradicted), numbers + len(clean.checks)
            spots = [*re.finditer(r"(?<![\w`.+])\d{2,4}(?:\.\d+)?(?![\w`])", text)]
            spot = rng.choice(spots)
            lie = text[: spot.start()] + other_number(spot[0], rng) + text[spot.end() :]
            planted, found = planted + 1, found + bool(check_report(lie).contradicted)
    print(
        f"strangers, {name}: {found} of {planted} found; {100 * alarms / numbers:.2f} false alarms per hundred numbers"
    )


def measure_judge() -> None:
    for folder in sorted((ROOT / "golden_reports").glob("*/")):
        for one in calibrate_folder(folder):
            good = min(s.score for s in one.scored if s.role in ("golden", "paraphrase"))
            bad = max(s.score for s in one.scored if s.role in ("shallow", "adversary"))
            print(f"judge, {folder.name} {one.model}: AUC {one.auc:.2f}, lowest good {good:.2f}, highest bad {bad:.2f}")


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, nargs="*", default=(), help="more rollout files to tell lies about")
    parser.add_argument("--trials", type=int, default=500, help="lies told (default: %(default)s)")
    arguments = parser.parse_args(words)
    shipped = [DEMO, *(one for one in sorted(ROOT.glob("benchmarks/*/rollouts/*.jsonl")) if "_" not in one.stem)]
    measure_findings("shipped runs", shipped, arguments.trials)
    if arguments.data:
        measure_findings("given runs", arguments.data, arguments.trials)
    measure_strangers("seen", SEEN)
    measure_strangers("unseen", UNSEEN)
    measure_judge()
    return 0


if __name__ == "__main__":
    sys.exit(main())
