#!/usr/bin/env python3
"""Check and measure benchmark packages with nothing installed but Python.

    python blade_toolkit.py validate --benchmark-dir benchmarks/word_math --phase all
    python blade_toolkit.py extract-anchor-facts --golden m_golden_report.md --output m_anchor_facts.json
    python blade_toolkit.py make-shallow --input report.md --output shallow.md
    python blade_toolkit.py score --report report.md --golden m_golden_report.md --anchor-facts m_anchor_facts.json
    python blade_toolkit.py calibrate --golden-report G.md --anchor-facts F.json --shallow-report S.md

Structural checks, facts and scores need the standard library alone; checks that need the engine are skipped where it
is not installed, and say so. Exit codes: 0 good, 1 problems found, 2 wrong usage, 3 input unreadable.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from blade.golden.calibration import Calibration, Scored
from blade.golden.calibration import calibrate as calibrate_judge
from blade.golden.drafting import draft_facts
from blade.golden.facts import FactsError, read_facts
from blade.golden.facts import as_json as facts_as_json
from blade.golden.judge import CAP, Judgement, judge
from blade.golden.package.checks import as_json, has_failed, summary
from blade.golden.package.validate import LEAST_FACTS, validate
from blade.golden.passages import read_passages
from blade.golden.shallow import make_shallow
from blade.golden.support import Met
from blade.golden.truth import truth_beside
from blade.report.text import plain

PROBLEMS, UNREADABLE = 1, 3
PHASES = ("all", "skill", "rollouts", "golden")
NOTE = (
    "quantitative: statements that hold; evidence: what it says of the run beyond the facts and the totals; "
    "anchor_coverage: weight of the facts that are supported as well as by the golden report; golden_overlap and "
    "table_score: the golden report's values that are stated here; they and structure earn nothing. "
    "Final = quantitative * evidence * anchor_coverage, below every cap."
)


def main(words: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    arguments = make_parser().parse_args(words)
    run: Callable[[argparse.Namespace], int] = arguments.run
    try:
        return run(arguments)
    except OSError as error:
        print(f"blade_toolkit: {error.filename}: {error.strerror}", file=sys.stderr)
        return UNREADABLE
    except FactsError as error:
        print(f"blade_toolkit: {error}", file=sys.stderr)
        return UNREADABLE
    except UnicodeDecodeError as error:
        print(f"blade_toolkit: a file is not UTF-8 text: {error.reason}", file=sys.stderr)
        return UNREADABLE


def make_parser() -> argparse.ArgumentParser:
    """The commands and their flags."""
    parser = argparse.ArgumentParser(
        prog="blade_toolkit.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_validate(commands)
    add_extract(commands)
    add_make_shallow(commands)
    add_score(commands)
    add_calibrate(commands)
    return parser


Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_validate(commands: Commands) -> None:
    """`validate`."""
    parser = commands.add_parser("validate", help="check a benchmark's skill, rollouts and golden reports")
    parser.add_argument("--benchmark-dir", type=Path, required=True, help="the benchmark's folder")
    parser.add_argument("--phase", choices=PHASES, default="all", help="what to check (default: all)")
    parser.add_argument(
        "--min-anchor-facts", type=int, default=LEAST_FACTS, metavar="N", help="facts expected (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(run=run_validate)


def add_make_shallow(commands: Commands) -> None:
    """`make-shallow`."""
    parser = commands.add_parser("make-shallow", help="write the negative control of a report")
    parser.add_argument("--input", type=Path, required=True, help="the report")
    parser.add_argument("--output", type=Path, required=True, help="where the control is written")
    parser.set_defaults(run=run_make_shallow)


def add_extract(commands: Commands) -> None:
    """`extract-anchor-facts`."""
    parser = commands.add_parser("extract-anchor-facts", help="draft anchor facts for a golden report")
    parser.add_argument("--golden", type=Path, required=True, help="the golden report; its sidecar stands beside it")
    parser.add_argument("--output", type=Path, required=True, help="where the facts are written")
    parser.add_argument("--benchmark", default="", help="the benchmark's name")
    parser.add_argument("--model-name", default="", help="the model's name")
    parser.add_argument("--num-facts", type=int, default=12, metavar="N", help="facts at most (default: %(default)s)")
    parser.add_argument("--min-facts", type=int, default=8, metavar="N", help="facts at least (default: %(default)s)")
    parser.set_defaults(run=run_extract)


def add_score(commands: Commands) -> None:
    """`score`."""
    parser = commands.add_parser("score", help="score a report against a golden report and its anchor facts")
    parser.add_argument("--report", type=Path, required=True, help="the report")
    parser.add_argument("--golden", type=Path, required=True, help="the golden report")
    parser.add_argument("--anchor-facts", type=Path, required=True, help="its anchor facts")
    parser.add_argument("--output-dir", type=Path, help="folder that reward.json is written to")
    parser.set_defaults(run=run_score)


def add_calibrate(commands: Commands) -> None:
    """`calibrate`."""
    parser = commands.add_parser("calibrate", help="see whether scores tell good reports from bad ones")
    parser.add_argument("--golden-report", type=Path, required=True, help="the golden report")
    parser.add_argument("--anchor-facts", type=Path, required=True, help="its anchor facts")
    parser.add_argument("--shallow-report", type=Path, required=True, help="its shallow control")
    parser.add_argument("--output-dir", type=Path, help="folder that the rewards and the summary are written to")
    parser.add_argument("--min-spread", type=float, default=0.5, metavar="X", help="golden minus shallow, at least")
    parser.set_defaults(run=run_calibrate)


def run_validate(arguments: argparse.Namespace) -> int:
    checks = validate(arguments.benchmark_dir, phase=arguments.phase, least_facts=arguments.min_anchor_facts)
    if arguments.json:
        print(json.dumps(as_json(checks), indent=2, ensure_ascii=False))
    else:
        for check in checks:
            print(plain(check.line))
        print(summary(checks))
    return PROBLEMS if has_failed(checks) else 0


def run_make_shallow(arguments: argparse.Namespace) -> int:
    write(arguments.output, make_shallow(arguments.input.read_text(encoding="utf-8")))
    print(f"Wrote {arguments.output}")
    return 0


def run_extract(arguments: argparse.Namespace) -> int:
    truth = truth_beside(arguments.golden)
    stated = truth.stated
    facts = draft_facts(
        truth,
        most=arguments.num_facts,
        benchmark=arguments.benchmark or str(stated.get("benchmark", "")),
        model=arguments.model_name or str(stated.get("model", "")),
        report=arguments.golden.read_text(encoding="utf-8"),
    )
    write(arguments.output, facts_as_json(facts))
    print(f"Wrote {len(facts.anchor_facts)} anchor facts to {arguments.output}; review every one of them")
    return 0 if len(facts.anchor_facts) >= arguments.min_facts else PROBLEMS


def run_score(arguments: argparse.Namespace) -> int:
    report, golden = (path.read_text(encoding="utf-8") for path in (arguments.report, arguments.golden))
    found = judge(report, golden, read_facts(arguments.anchor_facts).anchor_facts)
    reward = json.dumps(reward_of(report, golden, found), indent=2)
    print(reward)
    if arguments.output_dir is not None:
        write(arguments.output_dir / "reward.json", f"{reward}\n")
    return 0


def run_calibrate(arguments: argparse.Namespace) -> int:
    golden, shallow = (path.read_text(encoding="utf-8") for path in (arguments.golden_report, arguments.shallow_report))
    facts = read_facts(arguments.anchor_facts).anchor_facts
    found = Calibration(model="", scored=calibrate_judge(golden, facts, shallow))
    scores = {one.role: one for one in reversed(found.scored)}
    spread = scores["golden"].score - scores["shallow"].score
    holds = found.holds and spread >= arguments.min_spread
    summary = json.dumps(
        calibration_summary(found.scored, spread, arguments.min_spread, auc=found.auc, holds=holds), indent=2
    )
    print(summary)
    if arguments.output_dir is not None:
        write(arguments.output_dir / "calibration_summary.json", f"{summary}\n")
        for folder, report, one in (
            ("golden-vs-self", golden, scores["golden"]),
            ("shallow-vs-golden", shallow, scores["shallow"]),
        ):
            reward = json.dumps(reward_of(report, golden, one.judgement), indent=2)
            write(arguments.output_dir / folder / "reward.json", f"{reward}\n")
    return 0 if holds else PROBLEMS


def reward_of(report: str, golden: str, found: Judgement) -> dict[str, Any]:
    """The content of `reward.json`; the names are those that tools around golden packages read."""
    said, best = (read_passages(text) for text in (report, golden))
    parts, wanted = ({one.heading for one in passages.sentences} for passages in (said, best))
    values, stated = ({value for one in passages.each for value in one.values} for passages in (said, best))
    overlap = round(len(values & stated) / len(stated), 4) if stated else 1.0
    return {
        "final_score": round(found.score, 4),
        "checklist": {
            "score": round(found.earned, 4),
            "structure": round(min(1.0, len(parts) / len(wanted)), 4) if wanted else 1.0,
            "quantitative": round(found.truth, 4),
            "evidence": round(found.detail, 4),
            "anchor_coverage": round(found.facts, 4),
        },
        "holistic": {
            "normalized_score": round(found.truth * found.earned, 4),
            "golden_overlap": overlap,
            "table_score": overlap,
        },
        "anchor_hits": [hit(one) for one in found.found],
        "caps": [{"limit": CAP, "why": why} for why in found.caps],
        "note": NOTE,
    }


def hit(one: Met) -> dict[str, Any]:
    """A fact and whether the report asserts it."""
    is_met = one.verdict == "met"
    return {
        **{"id": one.fact.id, "score": round(one.support, 4) if is_met else 0.0, "met": is_met, "fact": one.fact.fact},
        **{"verdict": one.verdict, "line": one.line, "by": one.by},
    }


def calibration_summary(
    scored: Sequence[Scored], spread: float, least: float, *, auc: float, holds: bool
) -> dict[str, object]:
    """What calibration comes to, for people and programs."""
    by_role = {one.role: round(one.score, 4) for one in reversed(scored)}
    return {
        "golden_score": by_role["golden"],
        "shallow_score": by_role["shallow"],
        "spread": round(spread, 4),
        "min_spread": least,
        "auc": auc,
        "passed": holds,
        "scores": [
            {"name": one.name, "score": round(one.score, 4), "target": one.target, "holds": one.is_right}
            for one in scored
        ],
    }


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
