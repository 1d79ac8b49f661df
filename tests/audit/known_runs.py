"""Runs that reports are held against: the demo's rollouts, and a few small tasks."""

from functools import cache
from pathlib import Path

from rollout_rows import Row, call, message, result, rollout, write_rows

from blade.audit.evidence import Evidence, evidence_of
from blade.diagnosis import Diagnosed, diagnose
from blade.rollouts import ReadOptions, read_runs

DEMO = Path(__file__).parents[2] / "blade" / "cli" / "demo_data" / "rollouts.jsonl"


def read_diagnosed(path: Path) -> Diagnosed:
    """The diagnosis of the one run in a file."""
    (run,) = read_runs([str(path)], ReadOptions(use_cache=False))
    return diagnose(run)


@cache
def demo() -> Diagnosed:
    """The demo's rollouts, diagnosed once for all tests."""
    return read_diagnosed(DEMO)


@cache
def demo_evidence() -> Evidence:
    """Their rows."""
    return evidence_of([demo()])


def flights(folder: Path) -> Diagnosed:
    """Four tasks with three rollouts each: two pass always, one sometimes, one never."""
    rows: list[Row | str] = [
        rollout(task, repeat, reward, output=booking(task, repeat, reward), level="hard" if task > 1 else "easy")
        for task, rewards in enumerate(((1.0, 1.0, 1.0), (1.0, 1.0, 1.0), (1.0, 0.0, 1.0), (0.0, 0.0, 0.0)))
        for repeat, reward in enumerate(rewards)
    ]
    return read_diagnosed(write_rows(folder / "flights.jsonl", rows))


def booking(task: int, repeat: int, reward: float) -> list[Row]:
    """A short trajectory that searches, books and says so; a failing one gives up or books the wrong flight."""
    if not reward and task == 3:
        return [message(f"I am sorry, flight number {repeat} to Oslo could not be found in the timetable.")]
    flight = "LH1" if reward else "SK2"
    return [
        call("search", '{"to": "Oslo"}', "c1"),
        result("LH1 and SK2 are free, LH1 is wanted", "c1"),
        call("book", f'{{"flight": "{flight}"}}', "c2"),
        result(f"booked {flight}", "c2"),
        message(f"I have booked flight {flight} for you and sent the ticket by mail."),
    ]
