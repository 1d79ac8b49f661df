#!/usr/bin/env python3
"""Check and measure benchmark packages with nothing installed but Python.

    python blade_toolkit.py validate --benchmark-dir benchmarks/word_math --phase all
    python blade_toolkit.py make-shallow --input report.md --output shallow.md

Structural checks, facts and scores need the standard library alone; checks that need the engine are skipped where it
is not installed, and say so. Exit codes: 0 good, 1 problems found, 2 wrong usage, 3 input unreadable.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from blade.audit.golden.shallow import make_shallow
from blade.audit.package.checks import as_json, has_failed, summary
from blade.audit.package.validate import LEAST_FACTS, validate
from blade.report.text import plain

PROBLEMS, UNREADABLE = 1, 3
PHASES = ("all", "skill", "rollouts", "golden")


def main(words: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    arguments = make_parser().parse_args(words)
    run: Callable[[argparse.Namespace], int] = arguments.run
    try:
        return run(arguments)
    except OSError as error:
        print(f"blade_toolkit: {error.filename}: {error.strerror}", file=sys.stderr)
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
    add_make_shallow(commands)
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
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(make_shallow(arguments.input.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"Wrote {arguments.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
