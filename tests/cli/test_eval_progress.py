"""How a run is doing: one line for a person who watches, a line now and then for a log."""

import pytest

from blade.cli import progress
from blade.cli.progress import duration, sentence, watching
from blade.evals.tally import Tally


def tally_of(*rewards: float, total: int = 10, failures: tuple[str, ...] = ()) -> Tally:
    """Two seconds into a run."""
    ticks = iter([0.0])
    tally = Tally(total=total, success=None, clock=lambda: next(ticks, 2.0))
    for task, reward in enumerate(rewards):
        tally.count({"_ng_task_index": task, "reward": reward})
    for name in failures:
        tally.count_failure({"_ng_failure_class": name})
    return tally


def test_a_line_says_all_that_a_person_waits_for() -> None:
    tally = tally_of(1.0, 0.0, 1.0, 0.0, failures=("transient", "transient"))

    # 95 % limits of Beta(2 + 3/4, 2 + 3/4); (4 + 2) rollouts in 2 s; 10 - 6 are left
    assert sentence(tally.now()) == (
        "4/10 rollouts · pass@1 0.500 [0.135, 0.865] · 3.0/s · 2 failed (2 transient) · 1 s left"
    )


def test_nothing_is_known_before_the_first_rollout() -> None:
    assert sentence(tally_of().now()) == "0/10 rollouts · pass rate n/a"


def test_a_class_of_failure_that_somebody_else_made_up_cannot_act_on_the_terminal() -> None:
    assert "\x1b" not in sentence(tally_of(failures=("\x1b[2J",)).now())


@pytest.mark.parametrize(("seconds", "said"), [(4.2, "4 s"), (90, "2 min"), (7200, "2.0 h")])
def test_times_are_said_in_the_units_people_wait_in(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_a_terminal_is_drawn_on(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(progress, "ON_TERMINAL", 0.0)
    with watching("none") as watch:
        watch(tally_of(1.0))
    said = capsys.readouterr()

    assert "none: 1/10 rollouts · pass@1 1.000" in said.err
    assert said.out == ""


def test_a_log_gets_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    now = iter([0.0, 1.0, 11.0, 11.0, 12.0])
    with watching(clock=lambda: next(now)) as watch:
        for _ in range(3):
            watch(tally_of(1.0))

    assert capsys.readouterr().err == "1/10 rollouts · pass@1 1.000 · 30.0/min · 18 s left\n"
