"""Runs that differ in their skills: what each costs, whether skills were opened, and who wins which tasks."""

from pathlib import Path
from typing import Any

import pytest
from rollout_rows import rollout, write_rows

from blade.errors import UsageError
from blade.evals.variants import Duel, duel, parse_variants, read_trial


def row(task: int, reward: float, *, tokens: int = 10, seconds: float = 1.0, **fields: Any) -> dict[str, Any]:
    usage = {"input_tokens": tokens - 2, "output_tokens": 2, "total_tokens": tokens}
    return rollout(task, fields.pop("repeat", 0), reward, response={"usage": usage}, agent_run_time=seconds, **fields)


def with_skill(task: int, reward: float, *read: str, **fields: Any) -> dict[str, Any]:
    ref = {"path": "s", "hash": "8a1c167c2f6a", "skills": []}
    return row(task, reward, skills_ref=ref, skills_read=list(read), **fields)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    base = [row(0, 0.0), row(1, 1.0), row(2, 1.0), row(3, 0.0)]
    variant = [
        with_skill(0, 1.0, "a/SKILL.md", tokens=40, seconds=3.0),
        with_skill(1, 0.0, tokens=20, seconds=1.0),
        with_skill(2, 1.0, "a/SKILL.md", "a/more.md", tokens=40, seconds=3.0),
        with_skill(3, 1.0, tokens=20, seconds=1.0),
    ]
    return write_rows(tmp_path / "none.jsonl", base), write_rows(tmp_path / "a.jsonl", variant)


def test_a_trial_says_what_it_cost_and_what_was_opened(files: tuple[Path, Path]) -> None:
    trial = read_trial(files[1], "a", success=None)

    assert (trial.label, trial.hash, trial.rollouts, trial.pass_rate.value) == ("a", "8a1c167c2f6a", 4, 0.75)
    # opened in 2 of 4 rollouts; (38 + 18 + 38 + 18) / 4 tokens read; (3 + 1 + 3 + 1) / 4 seconds
    assert (trial.opened.value, trial.input_tokens, trial.output_tokens, trial.seconds) == (0.5, 28.0, 2.0, 2.0)
    assert trial.files == {"a/SKILL.md": 2, "a/more.md": 1}


def test_what_rows_do_not_say_stays_unknown(tmp_path: Path) -> None:
    trial = read_trial(write_rows(tmp_path / "none.jsonl", [rollout(0, 0, 1.0)]), "none", success=None)

    assert (trial.hash, trial.opened.value, trial.input_tokens, trial.seconds) == (None, None, None, None)


def test_a_duel_names_the_tasks_that_moved_and_the_extra_cost(files: tuple[Path, Path]) -> None:
    found = duel(read_trial(files[0], "none", success=None), read_trial(files[1], "a", success=None))

    # tokens: +30, +10, +30, +10; seconds: +2, 0, +2, 0
    assert (found.extra_tokens.value, found.extra_seconds.value) == (20.0, 1.0)
    assert found == Duel(
        base="none",
        variant="a",
        wins=["0", "3"],
        losses=["1"],
        same=1,
        unread_wins=1,
        extra_tokens=found.extra_tokens,
        extra_seconds=found.extra_seconds,
    )


def test_the_benchmark_s_own_rule_decides_what_passes(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "none.jsonl", [row(0, 0.5), row(1, 0.4)])

    assert read_trial(path, "none", success="reward >= 0.5").pass_rate.value == 0.5


def test_variants_are_called_by_their_folders() -> None:
    assert parse_variants("none, x/skills ,y/skills") == {"none": None, "skills": "x/skills", "skills-3": "y/skills"}


@pytest.mark.parametrize("text", ["", "none", "none,none"])
def test_fewer_than_two_variants_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="name at least two different ones"):
        parse_variants(text)
