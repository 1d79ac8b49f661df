"""Makes the word problems: 24 stories, each told twice with other people and numbers.

A story works its answer out of the numbers it draws, and names the wrong results that well-known slips lead to.
Run it to write `data/word_math.jsonl`; it writes the same bytes every time.
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from blade.benchmarks.making import Dice, write_tasks
from blade.environments.numeric.numbers import write_number

SEED = "word-math-67"
TOLD = 2
"""How often each story is told."""

PARTS = {2: "half", 3: "third", 4: "quarter", 5: "fifth"}

Number = int | Fraction


class Problem(NamedTuple):
    question: str
    answer: Number
    slips: Mapping[str, Number]
    """Wrong results by the name of the slip that leads to them."""


class Story(NamedTuple):
    kind: str
    difficulty: str
    tell: Callable[[Dice], Problem]


STORIES: list[Story] = []


def story(kind: str, difficulty: str) -> Callable[[Callable[[Dice], Problem]], Callable[[Dice], Problem]]:
    def keep(tell: Callable[[Dice], Problem]) -> Callable[[Dice], Problem]:
        STORIES.append(Story(kind, difficulty, tell))
        return tell

    return keep


def people(dice: Dice, count: int) -> list[str]:
    names = ["Amira", "Bruno", "Clara", "Deniz", "Elif", "Farid", "Greta", "Hana", "Ivo", "Jonas", "Kofi", "Lena"]
    return dice.sample("people", names, count)


@story("shopping", "easy")
def stickers(dice: Dice) -> Problem:
    (name,) = people(dice, 1)
    had, more = dice.number("had", 4, 9), dice.number("more", 2, 5)
    question = f"{name} has {had} stickers and buys {more} more. How many stickers does {name} have now?"
    return Problem(question, had + more, {"subtracted": had - more, "multiplied": had * more})


@story("comparison", "medium")
def shells(dice: Dice) -> Problem:
    first, second, third = people(dice, 3)
    base, fewer, times = dice.number("base", 14, 25), dice.number("fewer", 3, 8), dice.number("times", 3, 5)
    question = (
        f"{first} has {base} shells. {second} has {fewer} fewer shells than {first}. "
        f"{third} has {times} times as many shells as {second}. How many shells does {third} have?"
    )
    slips = {"added_instead": times * (base + fewer), "skipped_fewer": times * base, "stopped_early": base - fewer}
    return Problem(question, times * (base - fewer), slips)


@story("travel", "hard")
def meeting(dice: Dice) -> Problem:
    slow, fast = dice.choice("slow", [40, 50, 60]), dice.choice("fast", [70, 80, 90])
    hours = dice.choice("hours", [Fraction(3, 2), Fraction(2), Fraction(5, 2)])
    apart = slow + (slow + fast) * hours
    question = (
        f"Two towns are {write_number(apart)} kilometres apart on one road. At 8:00 a lorry leaves the first town for "
        f"the second at {slow} km/h. One hour later a car leaves the second town for the first at {fast} km/h. "
        "How many minutes after the car leaves do they meet?"
    )
    together = apart / (slow + fast)
    slips = {"ignored_head_start": together * 60, "counted_from_first": (hours + 1) * 60, "gave_hours": hours}
    return Problem(question, hours * 60, slips)


@story("shopping", "easy")
def fruit(dice: Dice) -> Problem:
    name = dice.choice("fruit", ["melon", "mango", "coconut", "pineapple"])
    price, count = dice.number("price", 2, 4), dice.number("count", 3, 6)
    question = f"One {name} costs {price} dollars. How many dollars do {count} {name}s cost?"
    return Problem(question, price * count, {"added": price + count})


@story("shopping", "medium")
def change(dice: Dice) -> Problem:
    (name,) = people(dice, 1)
    count, price, pen = dice.number("count", 3, 6), dice.number("price", 4, 7), dice.number("pen", 2, 3)
    question = (
        f"{name} buys {count} notebooks at {price} dollars each and one pen for {pen} dollars, "
        "and pays with a 50-dollar note. How many dollars does the shop give back?"
    )
    spent = count * price + pen
    return Problem(question, 50 - spent, {"gave_total": spent, "forgot_pen": 50 - count * price})


@story("packing", "hard")
def tours(dice: Dice) -> Problem:
    guides, size, minutes = dice.number("guides", 3, 4), dice.choice("size", [12, 15]), dice.choice("long", [35, 40])
    rounds = dice.number("rounds", 3, 4)
    visitors = size * (guides * (rounds - 1) + 1) + dice.number("more", 1, size - 2)
    question = (
        f"A museum has {guides} guides. A guide takes at most {size} visitors on a tour, and every tour lasts "
        f"{minutes} minutes. All guides start together, and a new round of tours starts as soon as the last one ends. "
        f"{visitors} visitors are waiting. How many minutes after the start is the last tour over?"
    )
    groups = math.ceil(visitors / size)
    slips = {"one_guide": groups * minutes, "rounded_down": visitors // (size * guides) * minutes}
    return Problem(question, rounds * minutes, slips)


@story("travel", "easy")
def cycling(dice: Dice) -> Problem:
    (name,) = people(dice, 1)
    speed, hours = dice.choice("speed", [10, 12, 15, 20]), dice.number("hours", 2, 4)
    question = f"{name} cycles {speed} kilometres every hour. How many kilometres does {name} cycle in {hours} hours?"
    return Problem(question, speed * hours, {"added": speed + hours})


@story("travel", "medium")
def two_legs(dice: Dice) -> Problem:
    first, second = dice.choice("first", [60, 70, 80]), dice.choice("second", [90, 110, 120])
    long, short = dice.number("long", 3, 4), Fraction(dice.choice("short", [3, 5]), 2)
    question = (
        f"A train travels at {first} km/h for {long} hours and then at {second} km/h for {write_number(short)} hours. "
        "How many kilometres does it travel in all?"
    )
    slips: dict[str, Number] = {"first_leg_only": first * long, "swapped_times": first * short + second * long}
    return Problem(question, first * long + second * short, slips)


@story("shares", "hard")
def eggs(dice: Dice) -> Problem:
    (name,) = people(dice, 1)
    start, broken = 15 * dice.number("start", 12, 20), dice.number("broken", 3, 9)
    rest = Fraction(start) * 2 / 3 * 2 / 5
    question = (
        f"{name} sells one third of the eggs in a basket in the morning and three fifths of the rest in the afternoon. "
        f"Then {broken} eggs break, and {write_number(rest - broken)} whole eggs are left. "
        "How many eggs were in the basket at first?"
    )
    slips = {"parts_of_the_whole": 15 * rest, "forgot_broken": (rest - broken) * 15 / 4}
    return Problem(question, start, slips)


@story("shares", "easy")
def rolls(dice: Dice) -> Problem:
    count = 2 * dice.number("pairs", 4, 12)
    question = f"A baker makes {count} rolls and sells half of them. How many rolls are left?"
    return Problem(question, count // 2, {"sold_none": count, "doubled": 2 * count})


@story("shares", "medium")
def pupils(dice: Dice) -> Problem:
    count, share = 20 * dice.number("twenties", 4, 9), dice.choice("share", [15, 35, 45, 65])
    question = (
        f"A school has {count} pupils. {share} percent of them walk to school and all others come by bus. "
        "How many pupils come by bus?"
    )
    walk = Fraction(count * share, 100)
    return Problem(question, count - walk, {"gave_walkers": walk, "subtracted_percent": count - share})


@story("packing", "hard")
def fence(dice: Dice) -> Problem:
    gap, gaps = dice.choice("gap", [3, 4, 6]), 5 * dice.number("gaps", 8, 12)
    # With 8 screws a post and 40 a box, five posts fill a box: only the post at the end opens another one.
    boxes = (gaps + 1) * 8 // 40 + 1
    question = (
        f"A straight fence is {gap * gaps} metres long and has a post every {gap} metres, with one at both ends. "
        "Each post needs 8 screws. Screws are sold in boxes of 40. How many boxes must be bought?"
    )
    return Problem(question, boxes, {"forgot_end_post": gaps * 8 // 40, "gave_screws": (gaps + 1) * 8})


@story("packing", "easy")
def pencils(dice: Dice) -> Problem:
    each, children = dice.number("each", 3, 6), dice.number("children", 3, 5)
    question = (
        f"{each * children} pencils are shared equally among {children} children. How many pencils does each child get?"
    )
    return Problem(question, each, {"subtracted": each * children - children})


@story("packing", "medium")
def buses(dice: Dice) -> Problem:
    seats, full, left = dice.choice("seats", [14, 16, 18]), dice.number("full", 5, 9), dice.number("left", 2, 6)
    adults = dice.number("adults", 4, 9)
    children = seats * full + left - adults
    question = (
        f"{children} children and {adults} teachers go on a trip in minibuses. Each minibus has {seats} seats for "
        "them. How many minibuses are needed?"
    )
    return Problem(question, full + 1, {"rounded_down": full})


@story("comparison", "hard")
def ages(dice: Dice) -> Problem:
    older, younger = people(dice, 2)
    now, later, years = dice.choice("case", [(5, 3, 6), (4, 2, 14), (7, 3, 10), (5, 2, 9), (6, 2, 12)])
    age = Fraction(years * (later - 1), now - later)
    question = (
        f"Today {older} is {now} times as old as {younger}. In {years} years {older} will be {later} times as old as "
        f"{younger}. How old is {older} today?"
    )
    return Problem(question, now * age, {"gave_younger": age, "gave_later_age": now * age + years})


@story("comparison", "easy")
def younger(dice: Dice) -> Problem:
    first, second = people(dice, 2)
    age, less = dice.number("age", 9, 15), dice.number("less", 2, 5)
    question = f"{first} is {age} years old. {second} is {less} years younger. How old is {second}?"
    return Problem(question, age - less, {"added": age + less})


@story("travel", "medium")
def tank(dice: Dice) -> Problem:
    rate, minutes, there = dice.choice("rate", [6, 8, 12]), dice.number("minutes", 11, 19), 5 * dice.number("in", 5, 11)
    question = (
        f"A tank holds {rate * minutes + there} litres when it is full. It already has {there} litres in it, and a tap "
        f"adds {rate} litres every minute. In how many minutes is the tank full?"
    )
    return Problem(question, minutes, {"ignored_start": Fraction(rate * minutes + there, rate)})


@story("schedule", "hard")
def posters(dice: Dice) -> Problem:
    rate, work, rest = dice.choice("rate", [3, 4]), dice.choice("work", [20, 25]), dice.choice("rest", [5, 8])
    printing = work * dice.number("blocks", 3, 5)
    question = (
        f"A machine prints {rate} posters a minute. After every {work} minutes of printing it has to stop for {rest} "
        f"minutes before it goes on. How many minutes after it starts are {rate * printing} posters printed?"
    )
    pauses = printing // work - 1
    slips = {"no_stops": printing, "stop_after_the_end": printing + (pauses + 1) * rest}
    return Problem(question, printing + pauses * rest, slips)


@story("comparison", "easy")
def birds(dice: Dice) -> Problem:
    there, away = dice.number("there", 8, 15), dice.number("away", 2, 6)
    question = f"There are {there} birds on a roof and {away} of them fly away. How many birds are still on the roof?"
    return Problem(question, there - away, {"added": there + away, "gave_those_away": away})


@story("schedule", "medium")
def bus_ride(dice: Dice) -> Problem:
    leaves, arrives, stop = dice.number("leaves", 35, 55), dice.number("arrives", 5, 25), dice.choice("stop", [12, 18])
    question = (
        f"A coach leaves at 9:{leaves} and arrives at 12:{arrives:02d} on the same day. On the way it stands still for "
        f"{stop} minutes. For how many minutes does it drive?"
    )
    ride = 180 + arrives - leaves
    return Problem(
        question, ride - stop, {"forgot_stop": ride, "hundred_minutes": 1200 + arrives - 900 - leaves - stop}
    )


@story("shopping", "hard")
def jackets(dice: Dice) -> Problem:
    price, up, down = dice.choice("price", [50, 80, 120]), dice.choice("up", [10, 20]), dice.choice("down", [25, 30])
    post = dice.number("post", 6, 9)
    question = (
        f"A jacket costs {price} dollars. In autumn its price rises by {up} percent, and in spring the new price falls "
        f"by {down} percent. Postage is {post} dollars for an order of any size. "
        "How many dollars does one order of two jackets cost in spring?"
    )
    new = Fraction(price) * (100 + up) / 100 * (100 - down) / 100
    added = Fraction(price) * (100 + up - down) / 100
    slips = {"added_percentages": 2 * added + post, "postage_twice": 2 * (new + post), "one_jacket": new + post}
    return Problem(question, 2 * new + post, slips)


@story("schedule", "easy")
def film(dice: Dice) -> Problem:
    start, hours = dice.number("start", 5, 7), dice.number("hours", 2, 4)
    question = f"A film starts at {start} o'clock in the evening and lasts {hours} hours. At what hour does it end?"
    return Problem(question, start + hours, {"subtracted": start - hours})


@story("shares", "medium")
def savings(dice: Dice) -> Problem:
    (name,) = people(dice, 1)
    first, second, unit = dice.choice("first", [3, 4]), dice.choice("second", [2, 5]), dice.number("unit", 4, 9)
    saved = first * second * unit
    question = (
        f"{name} has saved {saved} dollars. {name} spends one {PARTS[first]} of it on a book, and then one "
        f"{PARTS[second]} of what is left on a game. How many dollars are left then?"
    )
    left = Fraction(saved) * (first - 1) / first
    slips = {
        "parts_of_the_whole": saved - Fraction(saved, first) - Fraction(saved, second),
        "gave_price": left / second,
    }
    return Problem(question, left * (second - 1) / second, slips)


@story("schedule", "hard")
def lights(dice: Dice) -> Problem:
    short, long = dice.choice("seconds", [(12, 18), (20, 24), (15, 24), (18, 30)])
    minutes = dice.number("minutes", 12, 20)
    question = (
        f"One lamp flashes every {short} seconds and another every {long} seconds. At noon they flash together. "
        f"How many times do they flash together in the {minutes} minutes after noon, noon itself not counted?"
    )
    together = 60 * minutes // math.lcm(short, long)
    slips = {"used_product": 60 * minutes // (short * long), "counted_noon": together + 1}
    return Problem(question, together, slips)


def task(number: int, told: Story, copy: int) -> dict[str, Any]:
    problem = told.tell(Dice(SEED, told.tell.__name__, copy))
    return {
        "task_id": f"wm{number:02d}-{told.tell.__name__.replace('_', '-')}",
        "kind": told.kind,
        "difficulty": told.difficulty,
        "question": problem.question,
        "expected_answer": write_number(Fraction(problem.answer)),
        "slips": {name: write_number(Fraction(n)) for name, n in problem.slips.items() if n != problem.answer},
    }


def prepare(output_dir: Path = Path(__file__).parent / "data") -> Path:
    """Writes the tasks; easy, medium and hard ones take turns, so that any first few are a fair sample."""
    told = [(told, copy) for copy in range(TOLD) for told in STORIES]
    tasks = [task(number, *which) for number, which in enumerate(told, start=1)]
    return write_tasks(Path(output_dir) / "word_math.jsonl", tasks)


if __name__ == "__main__":
    print(prepare())
