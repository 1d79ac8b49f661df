"""Rows that are read again are shared among processes; what is written does not depend on how many there are."""

from pathlib import Path

import pytest
from rollout_rows import call, message, read_rows, result, rollout

from blade.diagnosis import AnalyzeOptions, diagnose
from blade.engine import Local, share, use
from blade.report.workspace import Request, write_workspace
from blade.rollouts import table


@pytest.mark.parametrize("pack", [None, "none"])
def test_two_processes_write_what_one_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: str | None) -> None:
    monkeypatch.setattr(table, "PIECE", 4096)
    rows = [
        rollout(task, repeat, reward=float((task + repeat) % 3 > 0), output=[
            call("look", f'{{"n": {task}}}', "c"), result(f"error: no item {repeat}", "c"), message(f"{task} it is."),
        ])
        for task in range(30) for repeat in range(3)
    ]  # fmt: skip
    run = read_rows(tmp_path, rows)
    assert len(run.shared_out(run.table.task)) > 2
    written = []
    for jobs in (1, 2):
        folder = tmp_path / "out"
        with use(Local(jobs)):
            analysis = diagnose(run, AnalyzeOptions(pack=pack)).analysis
            write_workspace(folder, run, analysis, Request(inputs=[str(tmp_path)], run=run.name))
        written.append({path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()})
    assert written[0] == written[1]


def test_results_come_in_the_order_of_the_pieces_and_errors_come_through() -> None:
    def halve(piece: int) -> float:
        return 1 / piece

    with use(Local(2)):
        assert list(share(halve, [4, 2, 1])) == [0.25, 0.5, 1.0]
        with pytest.raises(ZeroDivisionError):
            list(share(halve, [1, 0]))
