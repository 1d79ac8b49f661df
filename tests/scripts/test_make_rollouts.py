"""The tables of the benchmarks' READMEs say what the rollouts beside them say."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import make_rollouts  # noqa: E402

MADE = [name for name in make_rollouts.benchmarks() if make_rollouts.rollout_files(name)]


@pytest.mark.parametrize("name", MADE)
def test_the_table_of_a_benchmark_follows_from_its_rollouts(name: str) -> None:
    text = (ROOT / "benchmarks" / name / "README.md").read_text(encoding="utf-8")

    assert make_rollouts.with_table(text, make_rollouts.table(name)) == text


def test_a_table_replaces_the_one_before_it_and_nothing_else() -> None:
    text = "# x\n<!-- rollouts -->\n| old |\n<!-- /rollouts -->\nafter\n"

    assert make_rollouts.with_table(text, "| new |\n") == text.replace("old", "new")


def test_a_readme_without_a_place_for_the_table_is_told() -> None:
    with pytest.raises(SystemExit, match="a README lacks"):
        make_rollouts.with_table("# x\n", "| new |\n")
