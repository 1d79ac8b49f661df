"""How often is the diagnosis right? Faults are put into made-up runs at known places, and looked for blind.

For every seed each fault is put into one clean run (families take turns), and one clean run of every family is left
as it is. Rules were developed on seeds 0–9; seeds from 100 on are fresh, and draw their words from other
lists: their error messages and refusals are other people's, met in the wild.

With --data DIR the second part runs instead, on rows nobody here made: failures that others labelled, beside trivial
guesses, and faults put into real rows in the words of real services.

Usage: python measure/accuracy/run.py [--trials N] [--seed S] [--rate 0.05] [--data DIR]   exit 1 when a goal is missed
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))

from accuracy import outside, tables
from accuracy.faults import FAULTS, NO_FAULT, UNSEEN, Fault
from accuracy.trials import FRESH, Trial, run_trial


def plan(seeds: range) -> list[tuple[Fault, str, int]]:
    """Fault, family and seed of every trial."""
    faulty = [(fault, fault.families[seed % len(fault.families)], seed) for fault in FAULTS for seed in seeds]
    return faulty + [(NO_FAULT, family, seed) for family in NO_FAULT.families for seed in seeds]


def run_all(seeds: range, share: float) -> list[Trial]:
    """Every trial, one after the other."""
    trials: list[Trial] = []
    for fault, family, seed in plan(seeds):
        with tempfile.TemporaryDirectory() as folder:
            trials.append(run_trial(fault, family, seed, share=share, folder=Path(folder)))
    return trials


def on_real_rows(data: Path) -> int:
    """The second part."""
    found, goals = outside.report(data)
    held = [f"{'met   ' if met else 'MISSED'}  {name}: {value}" for name, value, met in goals]
    for title, lines in (*found, ("Goals", held)):
        print(f"\n{title}\n{'-' * len(title)}", *lines, sep="\n")
    return 0 if all(met for *_, met in goals) else 1


def main() -> int:
    """Prints the tables and returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=30, help="seeds (default 30)")
    parser.add_argument("--seed", type=int, default=FRESH, help=f"first seed (default {FRESH})")
    parser.add_argument("--rate", type=float, default=0.05, help="share of rollouts or tasks struck (default 0.05)")
    parser.add_argument("--data", type=Path, help="folder with labelled and real rows (second part)")
    options = parser.parse_args()
    if options.data is not None:
        return on_real_rows(options.data)
    seeds = range(options.seed, options.seed + options.trials)
    started = time.monotonic()
    trials = run_all(seeds, options.rate)
    kind = "fresh" if options.seed >= FRESH else "development"
    print(f"{kind} seeds {seeds.start}–{seeds.stop - 1}, {options.rate:.1%} struck, {len(trials)} diagnoses")
    for title, lines in (
        ("Faults", tables.fault_lines(trials)),
        ("By cause", tables.cause_lines(trials)),
        ("Cause named for the tasks a fault explains", tables.confusion_lines(trials)),
        ("Beside baselines", tables.baseline_lines(trials)),
        ("False alarms", tables.alarm_lines(trials)),
        ("Not injected, since the rows cannot show it", [f"- {text}" for text in UNSEEN]),
        ("Goals", tables.goal_lines(trials)),
    ):
        print(f"\n{title}\n{'-' * len(title)}", *lines, sep="\n")
    missed = sum(not met for _, _, met in tables.goals(trials))
    print(f"\n{missed} goals missed; {time.monotonic() - started:.0f} s")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
