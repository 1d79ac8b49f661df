"""Short-answer questions: a prompt, free reasoning, an extracted answer beside the expected one."""

import random
from collections.abc import Callable
from datetime import date, timedelta
from fractions import Fraction

from accuracy.made_runs import Item, MadeRun, Row, Task, finish_rows, gym_row, rates, said, thought
from accuracy.prose import reasoning

Made = tuple[str, str, tuple[str, ...], str]
"""Prompt, right answer, wrong answers, kind."""

PLACES = ("Harrow Quay", "Lindqvist", "Port Amara", "Saint Olwen", "Veldhoven", "Mirow", "Castellane", "Ostrava Dune")
PEOPLE = ("Ines Halloran", "Tomas Ekwueme", "Mirela Vance", "Jonah Abara", "Petra Lindholm", "Osei Marchetti")
GOODS = ("crates", "bicycles", "lanterns", "notebooks", "barrels", "kettles", "blankets", "sensors")
TERSE = "Give only the final answer on the last line."
INSTRUCTIONS = (
    "Think step by step and end with a line that starts with 'Answer:'.",
    "Put the final answer in \\boxed{}.",
    "Explain briefly, then state your final answer.",
    TERSE,
)
NETWORK = (
    ("Which HTTP status code tells a client that it sent too many requests?", "429", ("420", "503", "400")),
    ("Which status code does a proxy return when the upstream server timed out?", "504", ("502", "408", "500")),
    ("A log says 'connection refused'. Which TCP flag did the host answer with?", "RST", ("FIN", "SYN", "ACK")),
    ("What is the name of the errno for a connection that timed out?", "ETIMEDOUT", ("ECONNRESET", "EAGAIN", "EPIPE")),
    ("Which Unix signal does the out of memory killer send?", "SIGKILL", ("SIGTERM", "SIGSEGV", "SIGINT")),
    ("Name the reason phrase of HTTP status 503.", "Service Unavailable", ("Bad Gateway", "Gateway Timeout")),
    ("Which standard stream carries error messages?", "stderr", ("stdout", "stdin")),
    ("Which HTTP header says when to retry after a rate limit?", "Retry-After", ("X-RateLimit", "Age", "Expires")),
)


def sales(rng: random.Random) -> Made:
    n, price, days = rng.randint(12, 90), rng.randint(3, 60), rng.randint(3, 28)
    goods, place = rng.choice(GOODS), rng.choice(PLACES)
    prompt = f"A shop in {place} sells {n} {goods} a day at {price} euros each. How many euros is that in {days} days?"
    wrong = (n * price, n * days, n * price * (days - 1), n * price * days + n, price * days)
    return prompt, str(n * price * days), tuple(dict.fromkeys(str(w) for w in wrong)), "number"


def share(rng: random.Random) -> Made:
    part, whole = rng.randint(3, 96), rng.randint(40, 4000)
    value = f"{part * whole / 100:.2f}"
    wrong = (f"{part * whole / 1000:.2f}", f"{(100 - part) * whole / 100:.2f}", f"{whole / part:.2f}")
    return f"What is {part} % of {whole}? Round to two decimals.", value, wrong, "number"


def marbles(rng: random.Random) -> Made:
    red, blue = rng.randint(3, 9), rng.randint(3, 9)
    both = Fraction(red * (red - 1), (red + blue) * (red + blue - 1))
    wrong = (Fraction(red, red + blue) ** 2, Fraction(red, red + blue), Fraction(red - 1, red + blue - 1))
    prompt = f"A bag holds {red} red and {blue} blue marbles. Two are drawn without replacement. P(both red)?"
    return prompt, str(both), tuple(str(w) for w in wrong if w != both), "fraction"


def choice(rng: random.Random) -> Made:
    places = rng.sample(PLACES, 5)
    right = rng.randrange(5)
    options = "\n".join(f"{letter}) {place}" for letter, place in zip("ABCDE", places, strict=True))
    clue = f"The archive of {rng.choice(PEOPLE)} was moved in {rng.randint(1850, 1990)}, not to {places[right - 1]}"
    prompt = f"{clue} but to a town by the sea. Which town is meant? Choose the correct option.\n{options}"
    return prompt, "ABCDE"[right], tuple(letter for letter in "ABCDE" if letter != "ABCDE"[right]), "letter"


def passage(rng: random.Random) -> Made:
    first, second, third = rng.sample(PEOPLE, 3)
    town, year = rng.choice(PLACES), rng.randint(1820, 1990)
    prompt = (
        f'Read the passage. "In {year} the mill of {town} burnt down. {first} had built it, {second} paid for it, and '
        f'the error in the records was found by {third} only much later." Who paid for the mill?'
    )
    return prompt, second, (first, third, f"the town of {town}"), "name"


def later(rng: random.Random) -> Made:
    start = date(rng.randint(1950, 2020), rng.randint(1, 12), rng.randint(1, 28))
    days = rng.randint(20, 400)
    right, wrong = start + timedelta(days), [start + timedelta(days + shift) for shift in (-1, 1, 30)]
    prompt = f"Which date is {days} days after {spelled(start)}?"
    return prompt, spelled(right), tuple(spelled(w) for w in wrong), "date"


def spelled(day: date) -> str:
    return f"{day.day} {day:%B} {day.year}"


def larger(rng: random.Random) -> Made:
    a, b, c = rng.sample(range(101, 999), 3)
    first, second = a * b, a * c
    right, wrong = max(first, second), min(first, second)
    return f"Which is larger: {first} or {second}?", str(right), (str(wrong), str(right - wrong)), "number"


def network(rng: random.Random) -> Made:
    prompt, right, wrong = rng.choice(NETWORK)
    return f"{prompt} (question {rng.randint(1, 9999)})", right, wrong, "term"


MAKERS: tuple[tuple[Callable[[random.Random], Made], float], ...] = (
    (sales, 5), (share, 3), (marbles, 2), (choice, 4), (passage, 3), (later, 2), (larger, 1), (network, 0.6),
)  # fmt: skip


def make_tasks(count: int, rng: random.Random) -> list[Task]:
    """Questions with their answers; no two prompts are the same."""
    makers, weights = zip(*MAKERS, strict=True)
    tasks: dict[str, Task] = {}
    wanted = rates(count, rng)
    while len(tasks) < count:
        prompt, answer, wrong, kind = rng.choices(makers, weights)[0](rng)
        pool = tuple(rng.sample([other for other in wrong if other != answer], k=len(set(wrong) - {answer})))
        tasks.setdefault(prompt, Task(prompt, wanted[len(tasks)], answer, pool, kind, rng.random() < 0.5))
    return list(tasks.values())


def make_run(tasks: list[Task], repeats: int, rng: random.Random, *, model: str) -> MadeRun:
    """A clean run: the verifier accepts a right answer in any usual format."""
    instruction = rng.choice(INSTRUCTIONS)
    inline = rng.random() < 0.3
    rows = [
        attempt(number, repeat, task, rng, model=model, instruction=instruction, inline=inline)
        for number, task in enumerate(tasks)
        for repeat in range(repeats)
    ]
    return MadeRun("qa", finish_rows(rows, rng), tasks, {})


def attempt(
    number: int, repeat: int, task: Task, rng: random.Random, *, model: str, instruction: str, inline: bool
) -> Row:
    right = rng.random() < task.rate
    answer = task.answer if right else wrong_answer(task, rng)
    given = usual_format(answer, rng) if rng.random() < 0.1 else answer
    prompt = [{"type": "message", "role": "user", "content": f"{task.prompt}\n\n{instruction}"}]
    output = answer_items(given, instruction, rng, inline=inline)
    fields = {"expected_answer": task.answer, "extracted_answer": given}
    return gym_row(number, repeat, float(right), prompt=prompt, output=output, model=model, **fields)


def wrong_answer(task: Task, rng: random.Random) -> str:
    """The favourite wrong answer of a stable task nearly always, else any of them, or an error of this attempt."""
    if task.stable and rng.random() < 0.93:
        return task.wrong[0]
    slip = slipped(task, rng)
    return slip if slip != task.answer and rng.random() < 0.6 else rng.choice(task.wrong)


def slipped(task: Task, rng: random.Random) -> str:
    """The right answer with a mistake in it, or somebody else's name."""
    if task.kind == "letter":
        return rng.choice("ABCDE")
    if task.kind in ("name", "term"):
        return rng.choice((*PEOPLE, *PLACES) if task.kind == "name" else [answer for _, answer, _ in NETWORK])
    digits = [place for place, letter in enumerate(task.answer) if letter.isdigit()]
    place = rng.choice(digits)
    return f"{task.answer[:place]}{rng.randint(1, 9)}{task.answer[place + 1 :]}"


def usual_format(answer: str, rng: random.Random) -> str:
    """A harmless variation that every verifier accepts."""
    return rng.choice((answer, f"{answer}.", f" {answer}", f"**{answer}**"))


def answer_items(given: str, instruction: str, rng: random.Random, *, inline: bool) -> list[Item]:
    """Reasoning, and the answer as the instruction asks for it."""
    why = reasoning(rng, rng.randint(2, 9))
    shapes = ("Answer: {}", "The answer is {}.", "So the result is {}.", "**{}**", "\\boxed{{{}}}", "Therefore: {}")
    last = rng.choice(shapes).format(given)
    if inline:
        return [said(f"<think>{why}</think>\n{reasoning(rng, 1)}\n{last}")]
    if instruction == TERSE or rng.random() < 0.5:
        return [thought(why), said(last)]
    return [said(f"{why}\n\n{last}")]
