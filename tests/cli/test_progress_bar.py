"""The progress bar: for a person who waits, and for nobody else."""

import threading
from pathlib import Path

import pytest

from blade.cli import progress
from blade.cli.progress import ReadingBar

FILE = Path("a/rollouts.jsonl")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal, and nobody waits before the bar is drawn."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "BETWEEN", 0.0)


@pytest.mark.usefixtures("impatient")
def test_a_terminal_sees_which_file_is_read_and_how_far(capsys: pytest.CaptureFixture[str]) -> None:
    with ReadingBar() as bar:
        bar(FILE, 500_000, 2_000_000)

    said = capsys.readouterr()
    assert "reading rollouts.jsonl" in said.err and "0.5/2.0 MB" in said.err
    assert said.out == ""


@pytest.mark.usefixtures("impatient")
def test_a_terminal_sees_that_the_analysis_goes_on_when_all_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    with ReadingBar() as bar:
        bar(FILE, 2, 2)

    assert "analysing rollouts.jsonl" in capsys.readouterr().err


@pytest.mark.usefixtures("impatient")
def test_no_thread_is_started_because_the_reader_forks() -> None:
    before = threading.active_count()
    with ReadingBar() as bar:
        bar(FILE, 1, 2)
        assert threading.active_count() == before


@pytest.mark.usefixtures("impatient")
def test_who_wants_quiet_gets_it(capsys: pytest.CaptureFixture[str]) -> None:
    with ReadingBar(wanted=False) as bar:
        bar(FILE, 1, 2)

    assert capsys.readouterr().err == ""


def test_a_short_wait_shows_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with ReadingBar() as bar:
        bar(FILE, 1, 2)

    assert capsys.readouterr().err == ""


def test_a_pipe_shows_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "BETWEEN", 0.0)
    with ReadingBar() as bar:
        bar(FILE, 1, 2)

    assert capsys.readouterr().err == ""
