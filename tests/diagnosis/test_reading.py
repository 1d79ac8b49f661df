from pathlib import Path

from rollout_rows import Row, analyze_rows, message, rollout

from blade.diagnosis import Label, relabel
from blade.diagnosis.analysis import ReadingItem


def test_a_task_that_passes_sometimes_is_read_as_a_pair_of_like_length(tmp_path: Path) -> None:
    said = {0: (1.0, "short"), 1: (1.0, "x" * 900), 2: (0.0, "y" * 890), 3: (0.0, "z" * 3000)}
    rows = [rollout("t", n, reward, output=[message(text)]) for n, (reward, text) in said.items()]
    analysis = analyze_rows(tmp_path, rows)
    [cause], [item] = analysis.causes, analysis.reading_list
    why = f"undecided: {cause.reason}"
    command = "blade diff DIR t:1 t:2"
    assert item == ReadingItem(
        task="t", bucket="sometimes", why=why, read=["t:1", "t:2"], command=command, group="may be UK or BI"
    )


def test_a_task_that_never_passes_is_read_by_its_first_failure(tmp_path: Path) -> None:
    [item] = analyze_rows(tmp_path, [rollout("t", n, 0.0) for n in (2, 1)]).reading_list
    assert (item.read, item.command, item.bucket) == (["t:1"], "blade show DIR t:1", "never")


def test_tasks_whose_reading_would_decide_most_come_first(tmp_path: Path) -> None:
    # 0 was killed, which is known; 1 fails half of the time, 2 and 3 always, for no known reason.
    rows = [
        *(rollout(0, n, 0.0, response={"id": "x-killed"}) for n in range(2)),
        *(rollout(1, n, n % 2) for n in range(2)),
        *(rollout(task, n, 0.0) for task in (2, 3) for n in range(2)),
    ]
    found = analyze_rows(tmp_path, rows).reading_list
    assert [(item.task, item.group) for item in found] == [
        ("2", "may be KG or BI"), ("3", "may be KG or BI"), ("1", "may be UK or BI"),
        ("0", "ended with `killed` (error, runner)"),
    ]  # fmt: skip


def test_there_is_nothing_to_read_where_everything_passes_or_nothing_exists(tmp_path: Path) -> None:
    assert analyze_rows(tmp_path, [rollout(n, 0, 1.0) for n in range(3)]).reading_list == []
    graded = [rollout(n, 0, n / 3) for n in range(3)]
    assert analyze_rows(tmp_path / "graded", graded).reading_list == []


def test_at_most_fifty_tasks_are_listed(tmp_path: Path) -> None:
    rows: list[Row] = [{"task_id": n, "score": int(n >= 70)} for n in range(71)]
    assert len(analyze_rows(tmp_path, rows).reading_list) == 50


def test_a_command_can_be_pasted_whatever_the_task_is_called(tmp_path: Path) -> None:
    for name, command in {
        "a b; rm -rf ~": "blade show DIR 'a b; rm -rf ~:0'",
        "$(id)": "blade show DIR '$(id):0'",
        "it's": "blade show DIR 'it'\"'\"'s:0'",
        "-1": "blade show DIR -- -1:0",
    }.items():
        [item] = analyze_rows(tmp_path, [{"task_id": name, "score": 0}, {"task_id": "z", "score": 1}]).reading_list
        assert item.command == command


def test_what_somebody_has_decided_leaves_the_list(tmp_path: Path) -> None:
    analysis = analyze_rows(tmp_path, [rollout(task, 0, 0.0) for task in range(3)])
    label = Label(task="1", cause="KG", confidence="high", author="human:ada", reason="never heard of it")
    again = relabel(analysis, {"1": label})
    assert [item.task for item in again.reading_list] == ["0", "2"]
    assert [(cause.task, cause.label, cause.author) for cause in again.causes][1] == ("1", "KG", "human:ada")
    assert relabel(analysis, {}) == analysis
