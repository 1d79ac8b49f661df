"""The demo's data is what its generator writes, what its README says, and what its published metrics claim.

Nothing here asks the generator what it planted: every fault is looked for in the files themselves.
"""

import json
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import groupby
from math import comb, sqrt
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

import pytest
from demo_data import make

FOLDER = make.SHIPPED
NAMES = [
    "rollouts.jsonl",
    "rollouts_materialized_inputs.jsonl",
    "rollouts_failures.jsonl",
    "rollouts_aggregate_metrics.json",
]
INDICES = ("_ng_task_index", "_ng_rollout_index")
Row = dict[str, Any]


def read_lines(name: str) -> list[str]:
    return (FOLDER / name).read_text(encoding="utf-8").splitlines()


@cache
def parsed() -> list[Row]:
    """Every line of the main file that is an object, copies included."""
    rows = []
    for line in read_lines("rollouts.jsonl"):
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return rows


@cache
def usable() -> list[Row]:
    """Rows with a number for a reward, the first of each key, in the order of their keys."""
    first: dict[str, Row] = {}
    for row in parsed():
        if isinstance(row["reward"], float):
            first.setdefault(key(row), row)
    return sorted(first.values(), key=lambda row: (row["_ng_task_index"], row["_ng_rollout_index"]))


@cache
def expected() -> list[Row]:
    return [json.loads(line) for line in read_lines("rollouts_materialized_inputs.jsonl")]


@cache
def failures() -> list[Row]:
    return [json.loads(line) for line in read_lines("rollouts_failures.jsonl")]


@cache
def published() -> Row:
    (entry,) = json.loads((FOLDER / "rollouts_aggregate_metrics.json").read_text(encoding="utf-8"))
    assert isinstance(entry, dict)
    return entry


def key(row: Row) -> str:
    return f"{row['_ng_task_index']}:{row['_ng_rollout_index']}"


def by_task(rows: list[Row]) -> dict[str, list[Row]]:
    return {str(task): list(group) for task, group in groupby(rows, key=lambda row: row["_ng_task_index"])}


def calls(row: Row) -> list[str]:
    """Tool and arguments of every call."""
    items = row["response"]["output"]
    return [f"{item['name']} {item['arguments']}" for item in items if item["type"] == "function_call"]


def tools(row: Row) -> list[str]:
    return [call.split()[0] for call in calls(row)]


def results(row: Row) -> list[Row]:
    items = row["response"]["output"]
    return [json.loads(item["output"]) for item in items if item["type"] == "function_call_output"]


def said(row: Row) -> str:
    """The last message, or nothing."""
    items = [item for item in row["response"]["output"] if item["type"] == "message"]
    return str(items[-1]["content"][0]["text"]) if items else ""


def has_acted(row: Row, tool: str, *, without: str) -> bool:
    return tool in tools(row) and without not in tools(row)


def reads_one_page_of_more(row: Row) -> bool:
    pages = [result for result in results(row) if "pages" in result]
    return len(pages) == 1 and pages[0]["pages"] > 1 and row["response"]["incomplete_details"] is None


def is_empty(row: Row) -> bool:
    response = row["response"]
    return response["output"] == [] and response["error"] is None and not response["id"].endswith("-failed")


def is_right_but_for_commas(row: Row) -> bool:
    answer = str(row["extracted_answer"])
    return "," in answer and answer.replace(",", "") == str(row["expected_answer"])


def refuses(row: Row) -> bool:
    return bool(re.search(r"I can't (help|assist)|I'm unable to help", said(row)))


BY_ROW: dict[str, Callable[[Row], bool]] = {
    "address guessed": lambda row: has_acted(row, "send_mail", without="find_contact"),
    "calendar not checked": lambda row: has_acted(row, "create_event", without="list_events"),
    "wrong event moved": lambda row: "move_event" in tools(row) and row["reward"] == 0.0,
    "only first page read": reads_one_page_of_more,
    "tool error ignored": lambda row: any("error" in result for result in results(row)),
    "tool loop": lambda row: max(Counter(calls(row)).values(), default=0) >= 4,
    "truncated": lambda row: row["response"]["incomplete_details"] == {"reason": "max_output_tokens"},
    "refusal": refuses,
    "no tool call": lambda row: said(row) != "" and not calls(row) and not refuses(row),
    "empty output": is_empty,
    "provider error": lambda row: row["response"]["error"] is not None,
    "legacy failed row": lambda row: row["response"]["id"].endswith("-failed"),
    "time limit": lambda row: row["agent_timed_out"] is True,
    "verifier exception": lambda row: row["exception_type"] is not None,
    "verifier too strict": is_right_but_for_commas,
    "recovered": lambda row: row.get("_ng_attempt_index") == 1 and row["reward"] == 1.0,
    "thinks aloud": lambda row: said(row).startswith("<think>"),
    "chat-style usage": lambda row: "prompt_tokens" in (row["response"]["usage"] or {}),
    "all-zero usage": lambda row: (row["response"]["usage"] or {}).get("total_tokens") == 0,
}
"""Faults that a single usable row shows."""


def failed_as(kind: str) -> list[str]:
    return [key(row) for row in failures() if row["_ng_failure_class"] == kind]


def missing() -> list[str]:
    """Keys in neither file, not even in a line that was cut."""
    found = {*map(key, parsed()), *map(key, failures()), *cut_lines()}
    return [key(row) for row in expected() if key(row) not in found]


def cut_lines() -> list[str]:
    """Keys of lines that stop in the middle, told by whose request they begin with."""
    cut = [line for line in read_lines("rollouts.jsonl") if line.startswith("{") and not line.endswith("}")]
    present = {key(row) for row in [*parsed(), *failures()]}
    absent = [row for row in expected() if key(row) not in present]
    return [key(row) for row in absent for line in cut if row["responses_create_params"] == cut_request(line)]


def cut_request(line: str) -> Any:
    return json.JSONDecoder().raw_decode(line, line.index(":") + 1)[0]


def copies(*, identical: bool) -> list[str]:
    groups: dict[str, list[str]] = {}
    for row in parsed():
        groups.setdefault(key(row), []).append(json.dumps(row, sort_keys=True))
    return [name for name, texts in groups.items() if len(texts) > 1 and (len(set(texts)) == 1) == identical]


def placeholders() -> list[str]:
    lines = enumerate(read_lines("rollouts.jsonl"), start=1)
    return [f"line {number}" for number, line in lines if line == "<PLACEHOLDER ROW>"]


def stale_metrics() -> list[str]:
    truth = {**stats(usable()), **pass_family([[row["reward"] for row in rows] for rows in by_task(usable()).values()])}
    claims = dict(published()["agent_metrics"])
    runs = claims.pop("per_sample_aggregate")["accuracy"]
    claims |= {f"run {number}": value for number, value in enumerate(runs)}
    assert truth.keys() == claims.keys()
    return [name for name, value in claims.items() if value != pytest.approx(truth[name], rel=1e-12, abs=1e-12)]


BY_FILE: dict[str, Callable[[], list[str]]] = {
    "killed": lambda: failed_as("kill_shaped"),
    "time exceeded": lambda: failed_as("timeout_exceeded"),
    "missing": missing,
    "cut line": cut_lines,
    "placeholder line": placeholders,
    "reward is not a number": lambda: [key(row) for row in parsed() if not isinstance(row["reward"], float)],
    "identical copy": lambda: copies(identical=True),
    "conflicting copy": lambda: copies(identical=False),
    "stale metric": stale_metrics,
}
"""Faults that only files as a whole show."""


def numbers(row: Row) -> dict[str, float]:
    fields = {**row, **(row["response"]["usage"] or {})}
    return {name: float(v) for name, v in fields.items() if isinstance(v, int | float) and name not in INDICES}


def stats(rows: list[Row]) -> dict[str, float]:
    columns: dict[str, list[float]] = {}
    for row in rows:
        for name, value in numbers(row).items():
            columns.setdefault(name, []).append(value)
    found: dict[str, float] = {}
    for name, values in columns.items():
        found |= {f"mean/{name}": fmean(values), f"max/{name}": max(values), f"min/{name}": min(values)}
        found |= {f"median/{name}": median(values)}
        found |= {f"std/{name}": stdev(values)} if len(values) > 1 else {}
    return found


def pass_family(tasks: list[list[float]]) -> dict[str, float]:
    """Gym's keys, in percent; tasks with fewer than k rollouts are left out of pass@k only."""
    runs = [100 * fmean(task[i] for task in tasks if len(task) > i) for i in range(5)]
    found = {f"run {number}": value for number, value in enumerate(runs)}
    for k in range(1, 6):
        solved = [1 - comb(task.count(0.0), k) / comb(len(task), k) for task in tasks if len(task) >= k]
        found[f"pass@{k}/accuracy"] = 100 * fmean(solved)
        found[f"pass@1[avg-of-{k}]/accuracy"] = 100 * fmean(fmean(task[:k]) for task in tasks)
        if k > 1:
            found[f"pass@1[avg-of-{k}]/accuracy/std_dev_across_runs"] = stdev(runs[:k])
            found[f"pass@1[avg-of-{k}]/accuracy/std_err_across_runs"] = stdev(runs[:k]) / sqrt(k)
    return found


def readme_tables(first: str) -> list[list[str]]:
    """Cells of the rows of every README table whose first heading is `first`."""
    rows: list[list[str]] = []
    heading = ""
    for line in [*(FOLDER / "README.md").read_text(encoding="utf-8").splitlines(), ""]:
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            heading = ""
        elif not heading:
            heading = cells[0]
        elif heading == first and set(cells[0]) != {"-"}:
            rows.append(cells)
    return rows


def test_the_generator_writes_the_committed_files_byte_for_byte(tmp_path: Path) -> None:
    written = make.write(tmp_path / "new")

    assert [path.name for path in written] == NAMES
    assert {path.name: path.read_bytes() for path in written} == {n: (FOLDER / n).read_bytes() for n in NAMES}


def test_the_files_are_small() -> None:
    assert sum((FOLDER / name).stat().st_size for name in NAMES) < 1_000_000


def test_the_readme_says_first_that_no_model_was_involved() -> None:
    first = (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()[0]

    assert first == "The rollouts in this folder are made up by `scripts/demo_data/make.py`; no model produced them."


@pytest.mark.parametrize("fault", [*BY_ROW, *BY_FILE])
def test_a_planted_fault_is_exactly_where_the_readme_says(fault: str) -> None:
    (cells,) = [cells for cells in readme_tables("fault") if cells[0] == fault]
    found = [key(row) for row in usable() if BY_ROW[fault](row)] if fault in BY_ROW else BY_FILE[fault]()

    assert sorted(found) == sorted(re.findall(r"`([^`]+)`", cells[2]))
    assert len(found) == int(cells[3])


def test_every_fault_of_the_readme_is_looked_for() -> None:
    assert sorted(cells[0] for cells in readme_tables("fault")) == sorted([*BY_ROW, *BY_FILE])


def test_every_failed_rollout_has_a_planted_reason() -> None:
    planted = {name for cells in readme_tables("fault") for name in re.findall(r"`(\d+:\d+)`", cells[2])}

    assert [key(row) for row in usable() if row["reward"] == 0.0 and key(row) not in planted] == []


def test_the_time_limit_does_not_decide_the_verdict() -> None:
    stopped = {key(row): row["reward"] for row in usable() if row["agent_timed_out"]}

    assert stopped == {"22:4": 1.0, "33:3": 0.0}


def test_one_field_means_nothing() -> None:
    assert [row["agent_error_kind"] for row in parsed()] == ["other"] * 175


def test_buckets_are_those_of_the_readme() -> None:
    buckets: dict[str, list[str]] = {"always": [], "sometimes": [], "never": []}
    for task, rows in by_task(usable()).items():
        rate = fmean(row["reward"] for row in rows)
        buckets["always" if rate == 1 else "never" if rate == 0 else "sometimes"].append(task)

    written = {name: (tasks, count) for name, tasks, count in readme_tables("bucket")}
    assert written == {name: (" ".join(tasks), str(len(tasks))) for name, tasks in buckets.items()}


def test_pass_rates_by_difficulty_are_those_of_the_readme() -> None:
    rates: dict[str, list[float]] = {"easy": [], "medium": [], "hard": [], "all": []}
    for rows in by_task(usable()).values():
        for name in (rows[0]["difficulty"], "all"):
            rates[name].append(fmean(row["reward"] for row in rows))

    assert readme_tables("difficulty") == [[name, f"{100 * fmean(values):.1f} %"] for name, values in rates.items()]


def test_a_task_that_never_passes_may_give_one_wrong_answer_each_time() -> None:
    answers = {task: {row["extracted_answer"] for row in rows} for task, rows in by_task(usable()).items()}

    assert [answers[task] for task in ("20", "24", "27")] == [{"ev-311 2026-03-06T15:00"}, {"3"}, {"amount=12,400"}]


def test_the_inputs_name_every_rollout_once_and_in_order() -> None:
    assert [key(row) for row in expected()] == [f"{task}:{repeat}" for task in range(36) for repeat in range(5)]


def test_rows_stand_in_the_order_of_their_completion() -> None:
    times = [row["response"]["completed_at"] for row in parsed()][:-2]  # the two copies were appended later

    assert times == sorted(times)
    assert [key(row) for row in parsed()] != [key(row) for row in sorted(parsed(), key=lambda r: r["_ng_task_index"])]


def test_rows_repeat_what_was_asked() -> None:
    asked = {key(row): row for row in expected()}

    assert [key(row) for row in parsed() if not asked[key(row)].items() <= row.items()] == []


def test_published_task_metrics_follow_from_the_rows() -> None:
    tasks = by_task(usable())
    for group in published()["group_level_metrics"]:
        rows = tasks.pop(str(group["_ng_task_index"]))
        claims = {name: value for name, value in group.items() if "/" in name}
        infos = [{"rollout_id": key(row), **{name: row[name] for name in INDICES}, **numbers(row)} for row in rows]

        assert claims == pytest.approx(stats(rows), rel=1e-12, abs=1e-12)
        assert (group["rollout_infos"], group["num_rollouts"]) == (infos, len(rows))
    assert tasks == {}


def test_published_headlines_repeat_the_agents_metrics() -> None:
    entry = published()
    headlines = {name: entry["agent_metrics"][name] for name in ("pass@1/accuracy", "mean/reward")}

    assert entry["key_metrics"] == headlines


def test_the_stale_value_is_from_before_the_retry() -> None:
    # Before, task 7 had four rollouts: 27 tasks had five, and 6 of those never passed. Now it is 22 of 28.
    assert published()["agent_metrics"]["pass@5/accuracy"] == pytest.approx(100 * 21 / 27)
