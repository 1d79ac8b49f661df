"""The counts of a run that is going on."""

from typing import Any

from blade.evals.tally import Tally


def judged(task: int, **fields: Any) -> dict[str, Any]:
    return {"_ng_task_index": task, **fields}


def test_the_pass_rate_is_a_mean_over_tasks_by_the_benchmark_s_rule() -> None:
    tally = Tally(total=4, success="verdict.ok == true")
    for task, ok in [(0, True), (0, True), (0, True), (1, False)]:
        tally.count(judged(task, verdict={"ok": ok}))

    # tasks have 3/3 and 0/1
    assert tally.now().pass_rate.value == 0.5


def test_rollouts_of_earlier_sittings_count_as_done_but_not_for_the_rate() -> None:
    ticks = iter([0.0])
    tally = Tally(total=10, success=None, clock=lambda: next(ticks, 2.0))
    for task in range(5):
        tally.count_earlier(judged(task, reward=1.0))
    tally.count(judged(5, reward=1.0))
    now = tally.now()

    assert (now.done, tally.judged_here, now.rate, now.left) == (6, 1, 0.5, 8.0)


def test_what_is_not_scored_is_in_no_rate() -> None:
    tally = Tally(total=2, success=None)
    tally.count(judged(0, reward=None))
    tally.count(judged(1, reward=1.0))

    assert (tally.now().pass_rate.value, tally.now().pass_rate.n) == (1.0, 1)


def test_failures_are_counted_by_class_and_in_a_row() -> None:
    tally = Tally(total=4, success=None)
    for name in ("transient", "rejected", "transient"):
        tally.count_failure({"_ng_failure_class": name})
    assert tally.in_a_row == 3

    tally.count(judged(0, reward=0.0))
    assert (tally.in_a_row, tally.failed, tally.now().failures) == (0, 3, {"transient": 2, "rejected": 1})


def test_tokens_are_added_up() -> None:
    tally = Tally(total=2, success=None)
    for _ in range(2):
        tally.count(judged(0, reward=1.0, response={"usage": {"input_tokens": 3, "output_tokens": 4}}))

    assert tally.now().tokens == (6, 8)


def test_rollouts_without_a_score_are_counted_apart() -> None:
    tally = Tally(total=2, success=None)
    for repeat, reward in enumerate((1.0, None)):
        tally.count({"_ng_task_index": 0, "_ng_rollout_index": repeat, "reward": reward})

    assert (tally.done, tally.unscored, tally.now().pass_rate.value) == (2, 1, 1.0)
