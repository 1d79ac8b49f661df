"""What predicts failing between tasks: found when it is there, silent when it is not."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from rollout_rows import read_rows, rollout

from blade.diagnosis.judging import decide_success, make_outcomes
from blade.diagnosis.predictors import (
    Feature,
    Turn,
    Value,
    features_by_task,
    field_features,
    find_predictors,
    task_features,
)
from blade.diagnosis.signals import find_signals
from blade.metrics import Outcomes
from blade.metrics.values import Floats
from blade.rollouts.values import Expected, ExpectedCall


def outcomes_of(scores: Floats) -> Outcomes:
    """One row of scores per task."""
    tasks, repeats = scores.shape
    return Outcomes(
        tasks=[str(task) for task in range(tasks)],
        task=np.repeat(np.arange(tasks), repeats),
        repeat=np.tile(np.arange(repeats), tasks),
        reward=scores.ravel(),
        success=scores.ravel(),
        infrastructure=np.zeros(scores.size, dtype=bool),
        expected=np.full(tasks, repeats),
    )


def passing(rates: list[float], rng: np.random.Generator, repeats: int = 4) -> Outcomes:
    return outcomes_of((rng.random((len(rates), repeats)) < np.array(rates)[:, None]).astype(np.float64))


def by_task(**features: Sequence[Value]) -> dict[str, Feature]:
    """Features with a value for each task."""
    return {name: Feature(values, np.arange(len(values))) for name, values in features.items()}


def chance_features(tasks: int, rng: np.random.Generator) -> dict[str, Feature]:
    found: dict[str, list[Value]] = {
        "steps": [float(n) for n in rng.integers(0, 5, tasks)],
        "tools": [frozenset(t for t in "abcd" if rng.random() < 0.3) for _ in range(tasks)],
        "kind": [str(n) for n in rng.integers(0, 4, tasks)],
        "file": ["some" if rng.random() < 0.5 else None for _ in range(tasks)],
    }
    return by_task(**found)


def test_the_feature_that_separates_tasks_is_said_with_both_rates() -> None:
    rng = np.random.default_rng(3)
    features = chance_features(60, rng)
    features["expected changes"] = Feature([0.0, 1.0, 2.0], np.arange(60) % 3)
    (found, *_) = find_predictors(features, passing([0.9 if n % 3 == 0 else 0.2 for n in range(60)], rng), rng=rng)

    assert (found.inside.n, found.outside.n) == (20, 40)
    assert found.rule == "have no expected changes"
    assert found.inside.value is not None and found.inside.value > 0.8 > 0.3 > (found.outside.value or 0)
    assert found.sentence.startswith("20 of 60 tasks have no expected changes: ")


def test_nothing_is_said_where_nothing_predicts() -> None:
    rng = np.random.default_rng(4)
    said = 0
    for _ in range(200):
        rates = rng.beta(0.5, 0.5, 40).tolist()
        said += bool(find_predictors(chance_features(40, rng), passing(rates, rng), rng=rng))

    # 200 runs at one in fifty give 4 on average and more than 10 once in a thousand times.
    assert said <= 10


@pytest.mark.parametrize(
    ("features", "tasks"),
    [
        pytest.param({"kind": ["a", "b"] * 9}, 18, id="too_few_tasks"),
        pytest.param({"kind": ["a"] * 37 + ["b"] * 3}, 40, id="too_small_a_part"),
        pytest.param({"kind": [str(n) for n in range(60)]}, 60, id="a_value_of_its_own_for_each"),
        pytest.param({}, 40, id="no_feature"),
    ],
)
def test_a_split_needs_enough_tasks_on_both_sides(features: dict[str, list[Value]], tasks: int) -> None:
    scores = np.array([[float(n % 2)] for n in range(tasks)])

    assert find_predictors(by_task(**features), outcomes_of(scores), rng=np.random.default_rng(0)) == []


def test_a_second_split_must_add_to_the_first() -> None:
    rng = np.random.default_rng(5)
    first, second = [n % 2 for n in range(80)], [n // 2 % 2 for n in range(80)]
    rates = [0.1 + 0.5 * a + 0.35 * b for a, b in zip(first, second, strict=True)]
    names = ("no", "yes")
    features: dict[str, list[Value]] = {
        "first": [names[a] for a in first],
        "copy": [names[a if n > 2 else 1 - a] for n, a in enumerate(first)],
        "second": [names[b] for b in second],
    }

    found = find_predictors(by_task(**features), passing(rates, rng, repeats=8), rng=rng)

    assert [predictor.feature for predictor in found] == ["first", "second"]


def test_a_task_is_known_by_what_it_expects_and_how_it_begins() -> None:
    calls = [ExpectedCall(name="look"), ExpectedCall(name="pay"), ExpectedCall(name="pay")]
    prompt = [Turn("user", "Please book, for me")]

    assert task_features(Expected(calls=calls, outputs=["7"]), prompt, tools=4) == {
        "expected changes": 3.0,
        "the tools expected": frozenset({"look", "pay"}),
        "texts to be said": 1.0,
        "characters in the prompt": 19.0,
        "messages in the prompt": 1.0,
        "first words": "please book",
        "tools offered": 4.0,
    }


def test_tasks_told_alike_share_their_features_and_some_are_not_told() -> None:
    found = features_by_task([{"n": 1.0}, {"n": 2.0, "m": "x"}], np.array([0, -1, 1, 0]))

    assert {name: [values[at] for at in place] for name, (values, place) in found.items()} == {
        "n": [1.0, None, 2.0, 1.0],
        "m": [None, None, "x", None],
    }


@pytest.mark.parametrize(
    ("repeats", "found"),
    [pytest.param(2, {"`level`"}, id="repeats"), pytest.param(1, set(), id="no_repeats_tell_nothing")],
)
def test_only_fields_that_attempts_share_describe_tasks(tmp_path: Path, repeats: int, found: set[str]) -> None:
    rows = [
        rollout(task, repeat, float(repeat), level="hard" if task % 2 else "easy", verdict="ab"[repeat])
        for task in range(6)
        for repeat in range(repeats)
    ]
    run = read_rows(tmp_path, rows)
    passed = decide_success(run.table, "reward >= 1", source="")[1]

    assert set(field_features(run.table, make_outcomes(run.table, passed, find_signals(run.table), None))) == found


def test_parts_of_an_object_of_results_are_no_features(tmp_path: Path) -> None:
    rows = [
        # Tasks 0 to 4 time out, so nothing is tested: that a smoke test has no status says no more than that they fail.
        rollout(
            task, repeat, float(task > 4 and repeat > 0),
            checks={} if task < 5 else {"smoke": "ok", "large": "ok" if repeat > 0 else "broken"},
            about={"topic": "law" if task % 2 else "art"},
        )
        for task in range(24)
        for repeat in range(2)
    ]  # fmt: skip
    run = read_rows(tmp_path, rows)
    passed = decide_success(run.table, "reward >= 1", source="")[1]
    found = field_features(run.table, make_outcomes(run.table, passed, find_signals(run.table), None))

    assert set(found) == {"`about.topic`"}


def test_what_a_simulated_user_says_first_is_no_feature_of_the_task() -> None:
    found = task_features(Expected(script="Cancel trip X1."), [Turn("user", "Hi there!")], tools=0)

    assert (found["first words"], found["characters in the user's script"]) == ("cancel trip", 15.0)
    assert not any("prompt" in name for name in found)
