"""How many false numbers, ids, quotes and labels are found, how often truth is called false, and how good the judge is.

    make bench-audit

Findings: true sentences about a shipped run under headings of any name; one value at a time is replaced by another that
makes the sentence false. Strangers: reports in five styles with numbers drawn at random, consistent in themselves, and
one number changed. Three styles were at hand when the ledger was written (seen), two were not (unseen). Judge: golden
packages.
"""

import random
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "audit")]

from known_runs import demo, demo_evidence  # noqa: E402

from blade.audit.check import check_report  # noqa: E402
from blade.golden.calibration import calibrate_folder  # noqa: E402
from blade.report.report import render_with_claims  # noqa: E402

NEVER = {"20", "24", "26", "27", "31", "32"}
HEADINGS = ("Answer", "Summary", "What we saw", "Notes", "Details")
FINDINGS = (
    "pass@1 is 62.2 %.",
    "12 tasks always pass, 18 sometimes and 6 never.",
    "On hard tasks, pass@1 drops to 29.2 %.",
    "Task `25` passed 1 of 5.",
    "Task `25` is labelled BI+UK.",
    "Tasks `20`, `24` and `26` never pass.",
    "`8:2#2` says “A few routine mails about the coffee machine”.",
    "The 95 % interval of pass@1 runs from 49.8 % to 73.4 %.",
    "pass@3 reaches 81.7 %, pass^3 only 39.2 %.",
)


def lies(rng: random.Random) -> Iterator[tuple[str, str]]:
    """A finding with one thing in it changed, and the finding."""
    while True:
        text = rng.choice(FINDINGS)
        spots = [*re.finditer(r"(?<![\w@^])\d+(?:\.\d+)?(?!\w)|\bBI\+UK\b|\broutine\b", text.replace("95 %", "xx %"))]
        spot = rng.choice(spots)
        new = {"BI+UK": "KG", "routine": "urgent"}.get(spot[0]) or other(spot[0], rng)
        if "never pass" not in text or new not in NEVER:
            yield text[: spot.start()] + new + text[spot.end() :], text


def other(number: str, rng: random.Random) -> str:
    """Another number of the same form."""
    digits = len(number.partition(".")[2])
    while True:
        moved = float(number) + rng.choice([-11, -7, -3, -2, -1, 1, 2, 3, 7, 11]) * (1 if rng.random() < 0.7 else 3)
        if moved > 0:
            return f"{moved:.{digits}f}"


def measure_findings(trials: int = 500) -> None:
    rng, missed, found = random.Random(3), list[str](), lies(random.Random(5))
    for _ in range(trials):
        lie, _ = next(found)
        audit = check_report(f"# Findings\n\n## {rng.choice(HEADINGS)}\n\n{lie}\n", evidence=demo_evidence())
        missed += [] if audit.contradicted or audit.unbound else [lie]
    truths = check_report(render_with_claims(demo().analysis).text, evidence=demo_evidence())
    false = len(truths.contradicted)
    print(f"findings: {trials - len(missed)} of {trials} lies found; missed: {missed[:5]}")
    print(f"truths called false: {false} of {len(truths.checks)} ({100 * false / len(truths.checks):.2f} %)")


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
            lie = text[: spot.start()] + other(spot[0], rng) + text[spot.end() :]
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


if __name__ == "__main__":
    measure_findings()
    measure_strangers("seen", SEEN)
    measure_strangers("unseen", UNSEEN)
    measure_judge()
