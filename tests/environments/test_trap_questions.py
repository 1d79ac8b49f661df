"""What holds for the trap questions: every letter is right equally often, and what can be computed is computed."""

import datetime
import itertools
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from test_benchmark_tasks import tasks_of

TASKS: dict[str, dict[str, Any]] = {task["task_id"][5:]: task for task in tasks_of("trap_questions")}


def right_option(task: dict[str, Any]) -> str:
    option: str = task["options"]["ABCDE".index(task["expected_answer"])]
    return option


def test_every_letter_is_right_and_wrong_equally_often() -> None:
    right = Counter(task["expected_answer"] for task in TASKS.values())

    assert set(right) == set("ABCDE")
    assert max(right.values()) - min(right.values()) <= 1


def test_options_differ_and_the_lure_is_a_wrong_one() -> None:
    for task in TASKS.values():
        assert len({option.casefold() for option in task["options"]}) == 5
        assert task["lure"] != task["expected_answer"]


def pairs_of_dice() -> Counter[int]:
    return Counter(map(sum, itertools.product(range(1, 7), repeat=2)))


def changing_doors() -> Fraction:
    """The share of wins for a player who chose the first door and changes, over the four places of the prize."""
    return Fraction(sum(prize != 0 for prize in range(4)), 4)


def families() -> Iterator[tuple[str, str]]:
    return ((a, b) for a, b in itertools.product("gb", repeat=2) if "g" in (a, b))


def snail_day() -> int:
    height, day = 0, 1
    while height + 3 < 10:
        height, day = height + 1, day + 1
    return day


def tellers() -> list[tuple[bool, bool]]:
    """Who of Ada and Ben is truthful, in the worlds where Ada's words are as true as she is."""
    return [(ada, ben) for ada, ben in itertools.product([True, False], repeat=2) if ada == (not ada and not ben)]


def middle_seats() -> set[str]:
    rows = itertools.permutations(["Ann", "Bo", "Cy", "Di", "Ed"])
    fitting = [
        row
        for row in rows
        if row[0] == "Ann" and row[4] == "Di" and row[1] == "Cy" and abs(row.index("Bo") - row.index("Cy")) != 1
    ]
    return {row[2] for row in fitting}


@pytest.mark.parametrize(
    ("name", "computed"),
    [
        ("bulb", f"{(22 - 20) // 2} dollar"),
        ("algae", f"day {next(day for day in range(31) if 2**day * 4 == 2**30)}"),
        ("lake-drive", f"{120 / (60 / 30 + 60 / 60):.0f} km/h"),
        ("up-and-down", f"it is {100 - 100 * 1.5 * 0.5:.0f} percent lower"),
        ("one-half", str(12 / Fraction(1, 2))),
        ("largest", str(max(map(float, TASKS["largest"]["options"])))),
        ("not-even", next(option for option in TASKS["not-even"]["options"] if int(option) % 2)),
        ("faulty-lamp", f"{1 / (1 + 999 * 0.05):.0%}".replace("%", " percent")),
        ("dice-sum", str(pairs_of_dice().most_common(1)[0][0])),
        ("multiples", str(sum(number % 4 == 0 for number in range(10, 51)))),
        ("letters", str(len("BANANA"))),
        ("letter-e", str("seven green trees".count("e"))),
        ("strokes", f"{6 // (4 - 1) * (7 - 1)} seconds"),
        ("white-socks", str(10 + 6 + 2)),
        ("snail", f"day {snail_day()}"),
        ("clock-hands", f"{3 * 30 + 15 * 0.5 - 15 * 6} degrees"),
        ("days-before", (datetime.date(2024, 1, 2) - datetime.timedelta(days=3)).strftime("%A")),
        ("turns", ["north", "east", "south", "west"][(1 + 1 - 1) % 4]),
        ("middle-seat", " or ".join(middle_seats())),
    ],
)
def test_a_computed_answer_is_the_one_called_right(name: str, computed: str) -> None:
    assert right_option(TASKS[name]) == computed


def test_answers_in_words_agree_with_enumeration() -> None:
    assert tellers() == [(False, True)]
    assert right_option(TASKS["both-liars"]) == "Ada lies and Ben tells the truth"
    assert Fraction(sum(a == b == "g" for a, b in families()), len(list(families()))) == Fraction(1, 3)
    assert right_option(TASKS["two-girls"]) == "one third"
    assert changing_doors() == Fraction(3, 4)
    assert right_option(TASKS["four-doors"]) == "three quarters"
