"""Faults of what surrounds the model: the provider, the sandbox, the verifier."""

from accuracy.failures import PROVIDER_BODIES, PROVIDER_ERRORS, SANDBOX_MESSAGES
from accuracy.formats import reformatted
from accuracy.injections import Injected, calls, fail, keys, strike, with_calls
from accuracy.made_runs import MadeRun, Row, call, result, said
from accuracy.speech import GIVING_UP
from accuracy.wordings import Words

FORMATTED = ("number", "fraction", "letter", "date")
"""Kinds of answers that have more than one format."""


def provider_errors(run: MadeRun, share: float, words: Words) -> Injected:
    """An outage during one repeat: the error is the response's own, or the last thing in the output."""
    rng = words.rng
    repeat = rng.choice(sorted({row["_ng_rollout_index"] for row in run.rows}))
    struck = strike(run, share, rng, among=[row for row in run.rows if row["_ng_rollout_index"] == repeat])
    own = rng.random() < 0.4
    for row in struck:
        if own:
            code, _, message = words.say(PROVIDER_ERRORS).partition("|")
            fail(row, [])
            row["response"] |= {"error": {"code": code, "message": message}, "status": "failed"}
        else:
            before = calls(row)
            kept = row["response"]["output"][: rng.choice(before)] if before and rng.random() < 0.7 else []
            fail(row, [*kept, said(words.say(PROVIDER_BODIES))])
    return Injected(run.rows, keys(struck))


def sandbox_crash(run: MadeRun, share: float, words: Words) -> Injected:
    """The sandbox dies under a tool call; the row ends there, or after a few more calls in vain."""
    struck = strike(run, share, words.rng, among=with_calls(run))
    for row in struck:
        at = words.rng.choice(calls(row)[1:])
        output = row["response"]["output"]
        kept, message = output[: at + 1], words.say(SANDBOX_MESSAGES)
        kept.append(result(message, output[at]["call_id"]))
        if words.rng.random() < 0.5:
            for _ in range(words.rng.randint(0, 2)):
                again = f"call_{words.id()}"
                kept += [call(output[at]["name"], {"probe": words.id()}, again), result(message, again)]
            kept.append(said(words.say(GIVING_UP)))
        fail(row, kept)
    return Injected(run.rows, keys(struck))


def verifier_flip(run: MadeRun, share: float, words: Words) -> Injected:
    """A verdict turned round on an answer that two other attempts at the task gave too."""
    groups: dict[tuple[int, str], list[Row]] = {}
    for row in run.rows:
        groups.setdefault((row["_ng_task_index"], row["extracted_answer"]), []).append(row)
    # One flip per answer, among three or more: the others still say what the verdict should have been.
    pool = [words.rng.choice(group) for group in groups.values() if len(group) >= 3]
    struck = strike(run, share, words.rng, among=pool)
    for row in struck:
        row["reward"] = 1.0 - row["reward"]
    return Injected(run.rows, keys(struck))


def strict_format(run: MadeRun, share: float, words: Words) -> Injected:
    """Right answers in another format, scored 0."""
    kinds = [task.kind for task in run.tasks]
    right = [row for row in run.rows if row["reward"] == 1.0 and kinds[row["_ng_task_index"]] in FORMATTED]
    struck = strike(run, share, words.rng, among=right)
    for row in struck:
        kind = kinds[row["_ng_task_index"]]
        row["extracted_answer"] = reformatted(row["expected_answer"], kind, words.rng, fresh=words.fresh)
        row["response"]["output"][-1] = said(f"The answer is {row['extracted_answer']}")
        row["reward"] = 0.0
    return Injected(run.rows, keys(struck))


def wrong_gold(run: MadeRun, share: float, words: Words) -> Injected:
    """The expected answer replaced in both runs, on tasks that most attempts of both models get right."""
    both = {name: [row for row in run.rows if row["response"]["model"] == name] for name in ("model-a", "model-b")}
    pool = [number for number in range(len(run.tasks)) if all(is_mostly_right(rows, number) for rows in both.values())]
    struck = words.rng.sample(pool, min(len(pool), max(1, round(share * len(run.tasks)))))
    for row in run.rows:
        if (number := row["_ng_task_index"]) in struck:
            row["expected_answer"] = run.tasks[number].wrong[-1]
            row["reward"] = float(row["extracted_answer"].strip(" .*") == row["expected_answer"])
    return Injected(both["model-a"], {str(number) for number in struck}, second=both["model-b"])


def is_mostly_right(rows: list[Row], task: int) -> bool:
    right = [row["reward"] == 1.0 for row in rows if row["_ng_task_index"] == task]
    return bool(2 * sum(right) > len(right))
