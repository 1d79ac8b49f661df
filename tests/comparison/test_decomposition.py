from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_rows import Row, message, rollout, without
from two_runs import outcomes, rows_of, run_of

from blade.comparison import Comparison, compare
from blade.comparison.decomposition import decompose
from blade.comparison.losses import BEHAVIOURS, Ledger, Losses
from blade.comparison.pairing import Pairing, Scores, pair

TRUNCATED = {"incomplete_details": {"reason": "max_output_tokens"}}


def parts(found: Comparison) -> dict[str, float]:
    return {part.part: round(part.value, 12) for part in found.decomposition}


def test_every_part_by_hand(tmp_path: Path) -> None:
    base = [
        *(rollout(0, r, 1.0) for r in range(2)),
        rollout(1, 0, 0.0, response=TRUNCATED),
        rollout(1, 1, 0.0),
        rollout(2, 0, 1.0),
        rollout(9, 0, 0.0),
    ]
    candidate = [
        rollout(0, 0, 0.0, agent_timed_out=True),
        rollout(0, 1, 0.0, verifier_error="judge was down"),
        rollout(1, 0, 1.0),
        rollout(1, 1, 0.0),
        without(rollout(2, 0), "reward"),
    ]
    found = compare(run_of(tmp_path / "a", base), run_of(tmp_path / "b", candidate))

    # Headlines: base (1 + 0 + 1 + 0)/4 = 0.5, candidate (0 + 0.5)/2 = 0.25.
    # Task 9 is the base's alone: over tasks 0–2 the base has 2/3, so the task set adds −(1/2 − 2/3) = +1/6.
    # Task 2 is unscored in the candidate: over tasks 0 and 1 the base has 1/2, so missing rows add −(2/3 − 1/2) = −1/6.
    # Over tasks 0 and 1, half a rollout of each task is charged: the time-out and the verifier cost 1/4 each; the
    # truncated rollout of the base is gone, +1/4; its unexplained one is now the candidate's.
    expected = {"task_set": 1 / 6, "missing_rows": -1 / 6, "infrastructure": -0.25, "verifier": -0.25}
    expected |= {"truncated": 0.25, "unexplained": 0.0}
    assert parts(found) == {name: round(value, 12) for name, value in expected.items()}
    assert found.change.value == -0.25


def test_tasks_of_one_run_alone_move_its_mean_by_no_more_than_their_share(tmp_path: Path) -> None:
    base, candidate = rows_of([[1.0]]), rows_of([[0.0], [1.0], [0.0], [1.0], [1.0]])
    found = compare(run_of(tmp_path / "a", base), run_of(tmp_path / "b", candidate))
    part = next(one for one in found.decomposition if one.part == "task_set")

    # Over task 0 the candidate has 0, over all five 3/5; the four that only it has are 4/5 of that mean.
    assert (round(part.value, 12), part.ci95 and part.ci95[1]) == (0.6, 0.8)


def test_charges_say_how_many_rollouts_they_are_about(tmp_path: Path) -> None:
    base = run_of(tmp_path / "a", rows_of([[0.0, 0.0], [1.0, 1.0]], response=TRUNCATED))
    found = compare(base, run_of(tmp_path / "b", rows_of([[0.0, 1.0], [1.0, 0.0]])))
    cut, rest = (next(p for p in found.decomposition if p.part == name) for name in ("truncated", "unexplained"))

    # Two of four rollouts lost to truncation, then none; none unexplained, then two.
    assert (cut.base_rollouts, cut.candidate_rollouts, cut.base_loss, cut.candidate_loss) == (2, 0, 0.5, 0.0)
    assert (rest.base_rollouts, rest.candidate_rollouts, rest.base_loss, rest.candidate_loss) == (0, 2, 0.0, 0.5)


def test_a_failing_rollout_is_charged_once_infrastructure_first(tmp_path: Path) -> None:
    broken = rows_of([[0.0], [1.0]], agent_timed_out=True, verifier_error="x", response=TRUNCATED)
    found = compare(run_of(tmp_path / "a", broken), run_of(tmp_path / "b", rows_of([[1.0], [1.0]])))

    assert parts(found) == {
        "task_set": 0.0,
        "missing_rows": 0.0,
        "infrastructure": 0.5,
        "verifier": 0.0,
        "unexplained": 0.0,
    }


def answered(reward: float, **fields: Any) -> list[Row]:
    rows = [rollout(0, 0, reward, extracted_answer="42", **fields), rollout(1, 0, 0.0, extracted_answer="7", **fields)]
    return [*rows, rollout(2, 0, 1.0, extracted_answer="x", **fields)]


def test_the_same_answer_with_another_verdict_is_the_verifiers_doing(tmp_path: Path) -> None:
    found = compare(run_of(tmp_path / "a", answered(1.0)), run_of(tmp_path / "b", answered(0.0)))

    # Of three tasks, one answer that passed in the base fails in the candidate.
    assert parts(found)["verdict"] == pytest.approx(-1 / 3)
    assert parts(found)["unexplained"] == 0.0


def test_the_same_words_with_another_verdict_are_the_verifiers_doing(tmp_path: Path) -> None:
    said = [message("Done: moved to noon."), message("I could not find it.")]
    base = [rollout(task, 0, 1.0, output=[words]) for task, words in enumerate(said)]
    worse = [rollout(0, 0, 0.0, output=[said[0]]), rollout(1, 0, 0.0, output=[message("I could not find it today.")])]
    found = compare(run_of(tmp_path / "a", base), run_of(tmp_path / "b", worse))

    # Task 0 is word for word the same; task 1 is not.
    assert parts(found) == pytest.approx({**dict.fromkeys(parts(found), 0.0), "verdict": -0.5, "unexplained": -0.5})


def test_a_different_answer_is_the_models_own(tmp_path: Path) -> None:
    worse = [*answered(0.0)[1:], rollout(0, 0, 0.0, extracted_answer="41")]
    found = compare(run_of(tmp_path / "a", answered(1.0)), run_of(tmp_path / "b", worse))

    assert "verdict" not in parts(found)
    assert parts(found)["unexplained"] == pytest.approx(-1 / 3)


def test_graded_losses_are_charged_in_full(tmp_path: Path) -> None:
    base = run_of(tmp_path / "a", rows_of([[0.75], [0.5]]))
    worse = run_of(tmp_path / "b", [rollout(0, 0, 0.25, response=TRUNCATED), rollout(1, 0, 1.0)])
    found = compare(base, worse)

    # Lost before: 0.25 and 0.5, unexplained. Lost after: 0.75 to truncation, and nothing.
    assert parts(found)["truncated"] == -0.375
    assert parts(found)["unexplained"] == 0.375
    assert found.change.value == 0.0
    assert all(part.share is None for part in found.decomposition)


def test_parts_are_the_failure_modes_of_the_two_diagnoses(tmp_path: Path) -> None:
    choices = {"extracted_answer": "A", "expected_answer": "B", "options": ["A", "B"]}  # rows that call for a pack
    base = run_of(tmp_path / "a", rows_of([[1.0], [0.0]], **choices))
    worse = run_of(tmp_path / "b", rows_of([[0.0], [0.0]], response=TRUNCATED, **choices))
    found = compare(base, worse)

    assert base.analysis.pack is not None
    modes = {f"mode.{mode.code}": mode.title for run in (base, worse) for mode in run.analysis.modes}
    named = {part.part: part.title for part in found.decomposition if part.part.startswith("mode.")}
    assert named and named.items() <= modes.items()
    ours = {
        "task_set",
        "missing_rows",
        "infrastructure",
        "verifier",
        "verdict",
        "unexplained",
        *(b.part for b in BEHAVIOURS),
    }
    assert set(parts(found)) <= ours | set(named)


def test_counting_in_four_ways_is_the_difference_of_what_diagnose_prints(tmp_path: Path) -> None:
    base = run_of(tmp_path / "a", rows_of([[1.0, 0.0], [1.0, 1.0]]))
    candidate = run_of(tmp_path / "b", [rollout(0, 0, 0.0, agent_timed_out=True), *rows_of([[], [1.0, 1.0]])])
    found = compare(base, candidate)

    # Base 0.75 always. Candidate: (0 + 1)/2; without the time-out 1; its missing repeat as a failure 0.5, or (0 + 1)/2.
    assert [(row.candidate, row.value) for row in found.countings] == [
        (0.5, -0.25),
        (1.0, 0.25),
        (0.5, -0.25),
        (0.5, -0.25),
    ]


REWARDS = st.lists(st.lists(st.sampled_from([0.0, 1.0, None]), max_size=3), min_size=1, max_size=6)


def random_losses(scores: Scores, rewards: np.ndarray[Any, np.dtype[np.float64]], seed: int) -> Losses:
    """Losses with arbitrary charges."""
    rng = np.random.default_rng(seed)
    lost = 1.0 - rewards
    charge = np.where(np.isnan(lost) | (lost == 0), -1, rng.integers(0, len(BEHAVIOURS), size=len(lost)))
    by_task = np.zeros((len(scores.known), len(BEHAVIOURS)))
    for row in np.flatnonzero(charge >= 0):
        by_task[scores.place[row], charge[row]] += lost[row] / scores.known[scores.place[row]]
    return Losses(charge, by_task)


def paired_losses(first: list[list[float | None]], second: list[list[float | None]], shift: int) -> Any:
    names = [f"t{i + shift}" for i in range(len(second))]
    base, candidate = outcomes(first), outcomes(second, tasks=names)
    shared = {f"t{i}" for i, task in enumerate(first) if any(r is not None for r in task)}
    mine = {names[i] for i, task in enumerate(second) if any(r is not None for r in task)}
    if not shared & mine:
        return None
    found: Pairing = pair(base, candidate)
    losses = [random_losses(s, o.success, 7) for s, o in ((found.base, base), (found.candidate, candidate))]
    return found, losses


@given(REWARDS, REWARDS, st.integers(0, 3))
def test_parts_add_up_to_the_change_exactly(
    first: list[list[float | None]], second: list[list[float | None]], shift: int
) -> None:
    made = paired_losses(first, second, shift)
    if made is not None:
        pairing, losses = made
        change, found = decompose(pairing, Ledger(BEHAVIOURS, *losses))

        assert abs(sum(part.value for part in found) - change.value) < 1e-12


@given(REWARDS, REWARDS, st.integers(0, 3))
def test_swapping_the_runs_turns_every_part_around(
    first: list[list[float | None]], second: list[list[float | None]], shift: int
) -> None:
    made = paired_losses(first, second, shift)
    if made is not None:
        pairing, (mine, theirs) = made
        swapped = pairing._replace(base=pairing.candidate, candidate=pairing.base)
        _, there = decompose(pairing, Ledger(BEHAVIOURS, mine, theirs))
        _, back = decompose(swapped, Ledger(BEHAVIOURS, theirs, mine))

        for one, other in zip(there, back, strict=True):
            assert one.value == pytest.approx(-other.value, abs=1e-12)
            if one.ci95 is not None and other.ci95 is not None:
                assert one.ci95 == pytest.approx((-other.ci95[1], -other.ci95[0]), abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_parts_of_real_rows_add_up_too(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    rng = np.random.default_rng(seed)
    runs = [run_of(tmp_path_factory.mktemp("run"), random_rows(rng)) for _ in range(2)]
    found = compare(runs[0], runs[1])

    assert abs(sum(part.value for part in found.decomposition) - found.change.value) < 1e-12
    headlines = [run.analysis.metrics.pass_at_1.value or 0.0 for run in runs]
    assert found.change.value == pytest.approx(headlines[1] - headlines[0], abs=1e-12)


def random_rows(rng: np.random.Generator) -> list[Row]:
    rows = [rollout(0, 0, 1.0)]
    for task in range(1, 7):
        for repeat in range(int(rng.integers(0, 4))):
            fields: dict[str, Any] = {"response": TRUNCATED} if rng.random() < 0.3 else {}
            fields |= {"agent_timed_out": True} if rng.random() < 0.2 else {}
            fields |= {"verifier_error": "x"} if rng.random() < 0.2 else {}
            row = rollout(task, repeat, float(rng.random() < 0.5), extracted_answer=str(rng.integers(3)), **fields)
            rows.append(without(row, "reward") if rng.random() < 0.1 else row)
    return rows
