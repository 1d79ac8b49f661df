"""Faults of the data: rows twice, a run twice, rows lost, answers told."""

import copy

from accuracy.injections import Injected, keys, strike
from accuracy.made_runs import MadeRun, key, said, text_of
from accuracy.speech import LEAKS
from accuracy.wordings import Words


def duplicate_rows(run: MadeRun, share: float, words: Words) -> Injected:
    """Rows written twice; in half of the runs the second is another attempt under the same key."""
    struck = strike(run, share, words.rng)
    conflicting = words.rng.random() < 0.5
    copies = copy.deepcopy(struck)
    for row in copies if conflicting else []:
        row["response"]["id"] = f"resp_{words.id()}"
        row["response"]["created_at"] += 5000
        row["response"]["output"][-1] = said(f"Second try. {text_of(row['response']['output'][-1])}")
    rows = [*run.rows, *copies]
    return Injected(rows, keys(struck))


def copied_run(run: MadeRun, share: float, words: Words) -> Injected:
    """The same rollouts under another name: as they are, in another order, or with another model's name on them."""
    second = copy.deepcopy(run.rows)
    how = words.rng.choice(("same", "shuffled", "renamed"))
    if how == "shuffled":
        words.rng.shuffle(second)
    for row in second if how == "renamed" else []:
        row["response"] |= {"model": "model-z", "id": f"resp_{words.id()}", "created_at": 1_770_000_000.5}
    return Injected(run.rows, {"run"}, second=second)


def dropped_rows(run: MadeRun, share: float, words: Words) -> Injected:
    """Rows that are not there; in half of the runs the materialized inputs are, and whole tasks are lost too."""
    lost = keys(strike(run, share, words.rng))
    inputs = copy.deepcopy(run.rows) if words.rng.random() < 0.5 else None
    if inputs is not None:
        gone = words.rng.sample(range(len(run.tasks)), 2)
        lost |= {key(row) for row in run.rows if row["_ng_task_index"] in gone}
    rows = [row for row in run.rows if key(row) not in lost]
    present = {row["_ng_task_index"] for row in rows}
    struck = {task for task in (lost_key.split(":")[0] for lost_key in lost) if inputs or int(task) in present}
    return Injected(rows, struck, inputs=inputs)


def leaked_answer(run: MadeRun, share: float, words: Words) -> Injected:
    """Prompts that tell the answer; the model then nearly always gives it."""
    pool = [number for number, task in enumerate(run.tasks) if task.kind != "letter"]
    struck = set(words.rng.sample(pool, min(len(pool), max(1, round(share * len(run.tasks))))))
    hints = {number: words.say(LEAKS, answer=run.tasks[number].answer) for number in struck}
    for row in run.rows:
        if (number := row["_ng_task_index"]) in struck:
            item = row["responses_create_params"]["input"][-1]
            item["content"] = f"{item['content']}\n{hints[number]}"
            if words.rng.random() < 0.9:
                row |= {"extracted_answer": row["expected_answer"], "reward": 1.0}
                row["response"]["output"][-1] = said(f"The answer is {row['expected_answer']}.")
    return Injected(run.rows, {str(number) for number in struck})
