import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from rollout_rows import Row, rollout
from two_runs import rows_of, run_of

from blade.comparison import Comparison, compare, compare_many
from blade.comparison.comparison import DECODER
from blade.comparison.ranking import distinct_names
from blade.diagnosis import Diagnosed
from blade.errors import UsageError

CUT = {"incomplete_details": {"reason": "max_output_tokens"}}


def random_rows(seed: int, *, shift: float = 0.0, tasks: int = 24, repeats: int = 3, **fields: Any) -> list[Row]:
    """Rows of tasks whose rates are the same for every seed, moved by `shift`."""
    rates = np.clip(np.random.default_rng(0).beta(1.0, 1.0, size=tasks) + shift, 0.0, 1.0)
    rng = np.random.default_rng(seed)
    return [
        rollout(
            t, r, float(rng.random() < rate), level=f"l{t % 3}", response=CUT if rng.random() < 0.3 else {}, **fields
        )
        for t, rate in enumerate(rates)
        for r in range(repeats)
    ]


@pytest.fixture
def pair_of_runs(tmp_path: Path) -> tuple[Diagnosed, Diagnosed]:
    return run_of(tmp_path / "a", random_rows(1)), run_of(tmp_path / "b", random_rows(2, shift=-0.2, tasks=20))


def test_the_whole_of_a_small_comparison(tmp_path: Path) -> None:
    base = run_of(tmp_path / "a", rows_of([[1.0]] * 9 + [[0.0]]))
    found = compare(base, run_of(tmp_path / "b", rows_of([[0.0]] * 7 + [[1.0]] * 2 + [[0.0]])))

    # Seven of ten tasks lost: −0.7, p = 2 / 2^7; squares 7 − 10 · 0.49 = 2.1, se = √(2.1 / 90), t(9) = 2.262157.
    # Cubes 7 · −0.3³ + 3 · 0.7³ = 0.84, skewness of the mean 0.84 / 2.1^1.5 = 0.276026; it moves the upper limit out by
    # 0.276026 · (1 + 2 t²) / 6 · se = 0.078950.
    assert (found.delta.value, found.delta.p_value, found.verdict) == (-0.7, 2 / 128, "regressed")
    assert found.delta.se == pytest.approx(0.152753, abs=1e-6)
    assert found.delta.ci95 == pytest.approx((-1.0, -0.7 + 0.345550 + 0.078950), abs=1e-5)
    assert found.sentence == (
        "regressed: -70.0 pp (95 % interval -100.0 pp to -27.6 pp), p = 0.016, over 10 paired tasks"
    )
    assert (found.settling, found.is_copy, found.pairs) == (None, False, msgspec.UNSET)


def test_a_tie_says_what_could_have_been_seen(tmp_path: Path) -> None:
    base = run_of(tmp_path / "a", rows_of([[1.0]] * 5 + [[0.0]] * 5))
    found = compare(base, run_of(tmp_path / "b", rows_of([[1.0]] * 4 + [[0.0]] * 6)))

    # One of ten differs: imagined beside it ±1: (0.9 + 2) / (11 · 12); (t(9) at 0.975 + at 0.8) = 2.262157 + 0.883404
    assert found.verdict == "tied"
    assert found.mde == pytest.approx(3.145561 * np.sqrt(2.9 / 132), abs=1e-5)
    assert found.sentence.endswith("a difference of less than 46.6 pp would probably not have been seen")
    assert found.settling is not None


def test_five_tasks_can_never_be_told_apart_and_it_says_so(tmp_path: Path) -> None:
    found = compare(run_of(tmp_path / "a", rows_of([[0.0]] * 5)), run_of(tmp_path / "b", rows_of([[1.0]] * 5)))

    assert (found.delta.value, found.verdict) == (1.0, "tied")
    assert "5 paired tasks or clusters are too few to tell runs apart at 5 %, whatever they show" in found.warnings


def test_clusters_are_the_unit_when_tasks_are_related(tmp_path: Path) -> None:
    rows = [[rollout(t, 0, float(after), book=f"b{t // 4}") for t in range(24)] for after in (False, True)]
    base, candidate = (run_of(tmp_path / str(i), part, cluster_field="book") for i, part in enumerate(rows))
    found = compare(base, candidate)

    # Six clusters that all agree
    assert (found.clusters, found.delta.p_value, found.verdict) == (6, 2 / 64, "improved")


def test_swapping_base_and_candidate_turns_everything_around(pair_of_runs: tuple[Diagnosed, Diagnosed]) -> None:
    base, candidate = pair_of_runs
    there, back = compare(base, candidate), compare(candidate, base)

    assert there.delta.ci95 is not None and back.delta.ci95 is not None
    assert there.delta.value == -back.delta.value
    assert there.delta.p_value == back.delta.p_value
    assert there.delta.ci95 == pytest.approx((-back.delta.ci95[1], -back.delta.ci95[0]), abs=1e-15)
    assert (there.mde, there.paired_tasks) == (back.mde, back.paired_tasks)
    assert [p.value for p in there.decomposition] == pytest.approx([-p.value for p in back.decomposition], abs=1e-12)
    assert there.transitions == {b: {a: back.transitions[a][b] for a in back.transitions} for b in back.transitions}
    assert {d.task: -d.delta for d in there.drivers} == {d.task: d.delta for d in back.drivers}
    assert [level.delta for cut in there.slices for level in cut.levels if level.delta is None] == []
    assert [level.delta.value for cut in there.slices for level in cut.levels if level.delta] == [
        -level.delta.value for cut in back.slices for level in cut.levels if level.delta
    ]


def test_the_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    first, second = random_rows(1), random_rows(2, shift=-0.2)
    there = compare(run_of(tmp_path / "a" / "x", first), run_of(tmp_path / "b" / "x", second))
    order = np.random.default_rng(5)
    shuffled = [[part[i] for i in order.permutation(len(part))] for part in (first, second)]
    again = compare(run_of(tmp_path / "c" / "x", shuffled[0]), run_of(tmp_path / "d" / "x", shuffled[1]))

    assert msgspec.json.encode(again) == msgspec.json.encode(there)


def test_a_comparison_survives_its_file(pair_of_runs: tuple[Diagnosed, Diagnosed]) -> None:
    found = compare(*pair_of_runs)

    assert DECODER.decode(msgspec.json.encode(found)) == found
    assert list(json.loads(msgspec.json.encode(found)))[:3] == ["schema_version", "base", "candidate"]


def test_a_copy_is_called_one_and_nothing_else(tmp_path: Path) -> None:
    rows = rows_of([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
    found = compare(run_of(tmp_path / "1" / "run", rows), run_of(tmp_path / "2" / "run", rows))

    assert (found.is_copy, found.verdict, found.delta.value, found.delta.p_value) == (True, "tied", 0.0, 1.0)
    assert found.warnings[0] == "both runs hold the same rollouts: a copy is not a second measurement"
    assert (found.sentence, found.settling) == ("tied: the candidate holds the base's own rollouts", None)
    assert (found.base.run, found.candidate.run) == ("run (base)", "run (candidate)")


def three(tmp_path: Path) -> Comparison:
    """Runs that solve 8, 14 and 15 of 20 tasks."""
    solved = {"worst": 8, "middle": 14, "best": 15}
    runs = [
        run_of(tmp_path / name, rows_of([[float(t < n)] for t in range(20)], response={"model": name}))
        for name, n in solved.items()
    ]
    named = [
        run._replace(run=msgspec.structs.replace(run.run, name=name)) for run, name in zip(runs, solved, strict=True)
    ]
    return compare_many(named)


def test_all_pairs_are_compared_and_adjusted(tmp_path: Path) -> None:
    found = three(tmp_path)
    assert isinstance(found.pairs, list)

    # 6, 7 and 1 tasks won: p = 2/64, 2/128 and 1; Holm: 2/128 · 3, 2/64 · 2 and 1; B–H: 2/128 · 3, 2/64 · 3/2 and 1
    assert [(p.base.run, p.candidate.run, p.delta.p_value) for p in found.pairs] == [
        ("worst", "middle", 2 / 64),
        ("worst", "best", 2 / 128),
        ("middle", "best", 1.0),
    ]
    assert [(p.p_holm, p.p_bh) for p in found.pairs] == [(0.0625, 0.046875), (0.046875, 0.046875), (1.0, 1.0)]
    # 2/64 alone would be an improvement; among three pairs it is not.
    assert [p.verdict for p in found.pairs] == ["tied", "improved", "tied"]
    # The first pair was chosen in advance: by itself it is one.
    assert (found.verdict, found.p_holm) == ("improved", None)


def test_a_ranking_ties_what_cannot_be_told_apart(tmp_path: Path) -> None:
    found = three(tmp_path).ranking
    assert isinstance(found, list)

    assert [(r.run, r.rank, r.value, r.tasks, r.groups) for r in found] == [
        ("best", 1, 0.75, 20, "a"),
        ("middle", 1, 0.7, 20, "ab"),
        ("worst", 2, 0.4, 20, "b"),
    ]
    assert (found[0].better_than, found[1].tied_with, found[2].worse_than) == (["worst"], ["best", "worst"], ["best"])


def test_one_graded_run_among_many_makes_all_graded(tmp_path: Path) -> None:
    rewards = ([[1.0], [0.0]], [[0.0], [0.0]], [[0.5], [0.5]])
    found = compare_many([run_of(tmp_path / str(i), rows_of(part)) for i, part in enumerate(rewards)])
    assert isinstance(found.pairs, list)

    assert [pair.metric for pair in found.pairs] == ["mean_reward"] * 3
    assert [pair.success.kind for pair in found.pairs] == ["continuous"] * 3


def test_a_single_run_is_no_comparison(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least two runs, and there is one"):
        compare_many([run_of(tmp_path, rows_of([[1.0]]))])


def test_namesakes_are_numbered() -> None:
    assert distinct_names(["a", "b", "a", "a (2)", "a"]) == ["a", "b", "a (2)", "a (2) (2)", "a (3)"]
