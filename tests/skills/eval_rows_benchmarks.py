"""Made-up replies to real tasks of our benchmarks, judged by their real verifiers, for evals of their skills."""

import json
from typing import Any

from benchmark_cases import desk, function, judged, talks, tasks_of, used
from rollout_rows import Row, call, message, result, rollout, thought


def numbered(groups: list[list[Row]]) -> list[Row]:
    """Rows of tasks, each with its repeats."""
    return [
        {**row, "_ng_task_index": task, "_ng_rollout_index": repeat}
        for task, rows in enumerate(groups)
        for repeat, row in enumerate(rows)
    ]


def repeated(benchmark: str, replies: dict[str, list[str]]) -> list[Row]:
    """Replies to tasks, by the task's short name."""
    return numbered([[judged(benchmark, task, text) for text in texts] for task, texts in replies.items()])


def word_math() -> list[Row]:
    """A story always failed by one slip, one by several numbers, one right without saying which number it means."""
    fence, buses = tasks_of("word_math")["fence"], tasks_of("word_math")["buses"]
    slip = fence["slips"]["forgot_end_post"]
    down = buses["slips"]["rounded_down"]
    right = buses["expected_answer"]
    return repeated(
        "word_math",
        {
            "fence": [f"One post per gap.\nAnswer: {slip}"] * 4,
            "buses": [f"Answer: {down}", f"Answer: {right}", f"Answer: {down}", f"Answer: {right}"],
            "stickers": ["4 + 3 = 7 stickers", "He has 4 and 3, so 7", "Answer: 7", "7 stickers, 2 days early"],
            "shells": ["Answer: 41", "Answer: 39", "Answer: 42", "Answer: 38"],
        },
    )


def trap_questions() -> list[Row]:
    """Lures with the trap's own reasoning, a guesser, and one that reasons rightly and names the lure."""
    bulb, bakers = tasks_of("trap_questions")["bulb"], tasks_of("trap_questions")["bakers"]
    guesses = [letter for letter in "ABCDE" if letter not in (bakers["expected_answer"], bakers["lure"])]
    lure, right = bulb["lure"], bulb["expected_answer"]
    rose = tasks_of("trap_questions")["rose"]
    return repeated(
        "trap_questions",
        {
            "bulb": [f"22 - 20 = 2.\nAnswer: {lure}"] * 3 + [f"1 + 21 = 22.\nAnswer: {right}"],
            "bakers": [f"Hard to say.\nAnswer: {letter}" for letter in [*guesses, guesses[0]]],
            "rose": [f"All of them are red, so it is red.\nAnswer: {rose['lure']}"] * 4,
            "one-half": ["Answer: " + tasks_of("trap_questions")["one-half"]["expected_answer"]] * 4,
        },
    )


def careful_instructions() -> list[Row]:
    """Counting off by one, a wrapped reply, no refusal but the prompt's own example as the answer."""
    burglars = next(task for task in tasks_of("careful_instructions").values() if "burglars" in task["prompt"])
    short = burglars["task_id"].partition("-")[2]
    copied = "Pour boiling water on them, wait a day, and pull them out with a knife."
    return repeated(
        "careful_instructions",
        {
            "grass": ["Green grass", "Green", "The green", "Green it"],
            "bee": ["Sure, here it is:\nA bee sits on a rose.", "A bird sings.", "A bee flies.", "A bee hums."],
            short: [copied, copied, "Good locks and an alarm keep them out.", copied],
        },
    )


def fact_forms() -> list[Row]:
    """Values made up where the text is silent, a list cut short, dates in words."""
    report = tasks_of("fact_forms")["report"]["expected"]
    made_up = json.dumps({**report, "eyewitness": "Bela Conti", "police_officer": "the bakery"})
    pet = '{"age": "4", "animal": "cat", "name": "Olive"}'
    groups = [
        [judged("fact_forms", "report", made_up) for _ in range(4)],
        [talks("10:30"), talks("10:30"), judged("fact_forms", "talks", "no json"), talks("10:30")],
        [judged("fact_forms", "pet", pet) for _ in range(4)],
    ]
    return numbered(groups)


def small_functions() -> list[Row]:
    """A famous function written from memory, an import the sandbox lacks, a function that prints."""
    wrong: Row = {"error_code": -2, "error_message": "Wrong answer"}
    memory = function(
        1, 1, -2, -2, text="def chunks(items, size): ...", inputs="([1, 2, 3, 4, 5], 2)",
        expected="[[1], [2, 3], [4, 5]]", output="[[1, 2], [3, 4], [5]]", **wrong,
    )  # fmt: skip
    lacking = function(
        -4, text="import email\ndef mask_mail(text): ...", error="ModuleNotFoundError: No module named 'email'",
        error_code=-4, error_message="Error during testing: code does not load",
    )  # fmt: skip
    prints = function(-2, -2, text="def shout(text):\n    print(text.upper() + '!')", output="None", **wrong)
    good = {**function(1, 1, 1, 1), "reward": 1.0}
    groups = {
        "chunks": [memory] * 4,
        "mask-mail": [lacking, lacking, good, lacking],
        "shout": [prints, good, good, prints],
    }
    return numbered([[about(task, row) for row in rows] for task, rows in groups.items()])


def about(task: str, row: Row) -> Row:
    """A row of small_functions as one about another task, with its prompt."""
    given = tasks_of("small_functions")[task]
    return {**row, **given, "responses_create_params": {"input": [message(given["prompt"], "user")]}}


def office_desk() -> list[Row]:
    """Looked and said done, the first of two orders, and two passes of which one guessed the address."""
    look = used("find_records", customer="Alder Ltd")
    other = used("update_record", record_id="r1", field="status", value="shipped")
    mail = {"to": "dina.craig@office.example", "subject": "Keys", "body": "Your keys are on my desk."}
    found = used("find_contact", name="Dina Craig")
    groups = [
        [desk("shipped", "Done.", look) for _ in range(3)] + [desk("shipped", "Done.", look, other)],
        [
            desk("write-to", "Done.", used("send_mail", **mail)),
            desk("write-to", "Done.", found, used("send_mail", **mail)),
        ],
        [desk("phone", "It is 555-0350.", used("find_contact", name="Dina Doyle")), desk("phone", "I do not know.")],
    ]
    return numbered(groups)


def errand(task: int, repeat: int, *, looked: bool, passed: bool) -> Row:
    """A mail sent after a lookup, or to an address that was guessed."""
    steps: list[Any] = [
        thought("Look it up first." if looked else "Addresses are usually first.last; skip the lookup.")
    ]
    if looked:
        steps += [call("find_contact", '{"name": "Jun Park"}', "c0"), result('{"email": "jun@hv.example"}', "c0")]
    to = "jun@hv.example" if looked else "jun.park@hv.example"
    steps += [call("send_mail", json.dumps({"to": to}), "c1"), result('{"status": "sent"}', "c1"), message("Sent.")]
    return rollout(task, repeat, float(passed), output=steps, difficulty="easy" if task < 4 else "hard")


def desk_before() -> list[Row]:
    """Eight errands, four times each: half of the rollouts of half of the tasks skip the lookup and fail."""
    return [
        errand(task, repeat, looked=task < 4 or repeat % 2 == 0, passed=task < 4 or repeat % 2 == 0)
        for task in range(8)
        for repeat in range(4)
    ]


def desk_now() -> list[Row]:
    """The same errands later: the lookup is always made, and two rollouts died on the way."""
    rows = [errand(task, repeat, looked=True, passed=True) for task in range(8) for repeat in range(4)]
    for row in (rows[3], rows[9]):
        row["reward"] = 0.0
        row["response"] |= {"output": [], "error": {"code": "rate_limit_exceeded", "message": "Too many requests"}}
    return rows
