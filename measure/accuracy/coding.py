"""A coding agent: reads files, edits, runs the tests as often as it takes, and says what it did."""

import random
from typing import Any, NamedTuple

from accuracy.made_runs import (
    GAVE_UP,
    Item,
    MadeRun,
    Row,
    Task,
    call,
    finish_rows,
    gym_row,
    key,
    rates,
    result,
    said,
    thought,
)
from accuracy.prose import reasoning
from accuracy.speech import ADMISSIONS
from accuracy.wordings import Words

TOOLS = [
    {"type": "function", "name": name, "description": name.replace("_", " "), "parameters": {"type": "object"}}
    for name in ("bash", "read_file", "edit_file")
]
PARTS = ("parser", "cache", "router", "ledger", "mailer", "scheduler", "index", "export", "session", "quota", "retry")
VERBS = ("load", "merge", "flush", "render", "validate", "collect", "rotate", "resolve", "encode", "split")
BODIES = (
    '    if not {a}:\n        raise ValueError("{a} must not be empty")\n',
    "    try:\n        return open_socket({a}, timeout=30)\n    except TimeoutError:\n        return None\n",
    "    for n in range(3):\n        if {a} is not None:\n            break\n        log.warning('retry %s', n)\n",
    '    # "connection refused" is retried, "no space left on device" is not\n    return {a} + 1\n',
    "    if len({a}) > LIMIT:\n        raise MemoryError('out of memory budget')\n    return sorted({a})\n",
    "    errors = [line for line in {a} if line.startswith('Error:')]\n    return errors\n",
    "    total = sum(part.size for part in {a})\n    return total / max(len({a}), 1)\n",
    "    return {{key: value for key, value in {a}.items() if value}}\n",
)
SUMMARIES = (
    "I fixed `{name}` so that an empty input is handled, and the tests pass.",
    "The problem was in `{name}`: the limit was compared before the error was raised. It is corrected now.",
    "Changed `{name}` and added a guard. I ran the suite afterwards; it is green.",
    "`{name}` no longer fails when the request timed out. The exception is caught where it is raised.",
)


class Issue(NamedTuple):
    """Where a task's bug is."""

    path: str
    name: str
    test: str


def make_tasks(count: int, rng: random.Random) -> list[Task]:
    """Bug reports; `answer` holds path, function and test file."""
    tasks: dict[str, Task] = {}
    wanted = rates(count, rng)
    symptoms = (
        "raises an IndexError when the input is empty", "returns the wrong total after a retry",
        "hangs until the call has timed out", "drops the last entry", "reports `connection refused` as success",
        "does not release the lock after an error",
    )  # fmt: skip
    while len(tasks) < count:
        part, verb = rng.choice(PARTS), rng.choice(VERBS)
        prompt = f"`{verb}_{part}` in src/{part}.py {rng.choice(symptoms)} (ticket {rng.randint(100, 999)}). Fix it."
        answer = f"src/{part}.py {verb}_{part} tests/test_{part}.py"
        tasks.setdefault(prompt, Task(prompt, wanted[len(tasks)], answer, kind="code", stable=rng.random() < 0.5))
    return list(tasks.values())


def source(rng: random.Random, name: str) -> str:
    """A module with the function somewhere in it."""
    names = [name, *(f"{rng.choice(VERBS)}_{rng.choice(PARTS)}" for _ in range(rng.randint(3, 22)))]
    rng.shuffle(names)
    arguments = ("entries", "path", "rows", "payload", "handle")
    parts = [f"def {n}({(a := rng.choice(arguments))}):\n{rng.choice(BODIES).format(a=a)}\n" for n in names]
    return "import logging\n\nlog = logging.getLogger(__name__)\nLIMIT = 4096\n\n\n" + "\n".join(parts)


class Desk:
    """One attempt at a bug, item by item."""

    def __init__(self, issue: Issue, words: Words, *, codes: bool) -> None:
        self.issue = issue
        self.words = words
        self.rng = words.rng
        self.codes = codes
        """Whether the shell tool opens its answer with the exit code."""
        self.items: list[Item] = []
        self.met_error = False

    def use(self, name: str, arguments: dict[str, Any], answer: str) -> None:
        if self.rng.random() < 0.5:
            self.items.append(thought(reasoning(self.rng, self.rng.randint(1, 6))))
        call_id = f"call_{self.words.id()}"
        self.items += [call(name, arguments, call_id), result(answer, call_id)]

    def shell(self, command: str, answer: str, *, code: int = 0) -> None:
        if self.codes and code:
            self.met_error = True
        opening = f"Exit code: {code}\n" if self.codes and (code or self.rng.random() < 0.5) else ""
        self.use("bash", {"command": command}, f"{opening}{answer}")

    def explore(self) -> None:
        rng, issue = self.rng, self.issue
        self.shell("ls src tests", "\n".join(f"{part}.py" for part in rng.sample(PARTS, 7)))
        if rng.random() < 0.05:
            self.met_error = True
            self.use("read_file", {"path": f"{issue.path}c"}, f"Error: {issue.path}c: No such file or directory")
        self.use("read_file", {"path": issue.path}, source(rng, issue.name))
        if rng.random() < 0.03:
            self.use("read_file", {"path": issue.path}, source(rng, issue.name))
        if rng.random() < 0.4:
            self.shell(f"grep -rn {issue.name} src", f"{issue.path}:{rng.randint(3, 90)}:def {issue.name}(entries):")

    def edit(self, path: str) -> None:
        old, new = (self.rng.choice(BODIES).format(a="entries") for _ in range(2))
        arguments = {"path": path, "old": old, "new": f"{new}    # {self.words.id()}\n"}
        self.use("edit_file", arguments, f"Edited {path}")

    def run_tests(self, *, passing: bool) -> None:
        rng = self.rng
        count = rng.randint(4, 30)
        if passing:
            answer = f"{'.' * count}\n{count} passed in 0.{rng.randint(10, 99)}s"
        else:
            answer = (
                f"{'.' * (count - 1)}F\n=== FAILURES ===\n    assert {self.issue.name}([]) == {rng.randint(1, 9)}\n"
                f"E   AssertionError\n1 failed, {count - 1} passed in 0.{rng.randint(10, 99)}s"
            )
        self.shell(f"pytest -q {self.issue.test}", answer, code=0 if passing else 1)


def make_run(tasks: list[Task], repeats: int, words: Words, *, model: str) -> MadeRun:
    """A clean run."""
    codes = words.rng.random() < 0.6
    natural: dict[str, set[str]] = {"tool_error": set(), GAVE_UP: set()}
    rows = [
        attempt(number, repeat, task, words, codes=codes, model=model, natural=natural)
        for number, task in enumerate(tasks)
        for repeat in range(repeats)
    ]
    return MadeRun("coding", finish_rows(rows, words.rng), tasks, natural)


def attempt(
    number: int, repeat: int, task: Task, words: Words, *, codes: bool, model: str, natural: dict[str, set[str]]
) -> Row:
    right = words.rng.random() < task.rate
    desk = Desk(Issue(*task.answer.split()), words, codes=codes)
    gave_up = work(desk, right=right)
    prompt = [{"type": "message", "role": "user", "content": f"You work in a small repository. {task.prompt}"}]
    total = words.rng.randint(5, 20)
    fields = {"resolved": right, "tests_total": total, "tests_passed": total if right else words.rng.randrange(total)}
    row = gym_row(number, repeat, float(right), prompt=prompt, output=desk.items, model=model, tools=TOOLS, **fields)
    if desk.met_error:
        natural["tool_error"].add(key(row))
    if gave_up:
        natural[GAVE_UP].add(key(row))
    return row


def work(desk: Desk, *, right: bool) -> bool:
    """Edit and test until the visible tests pass; a few give up and say so. Whether this one did."""
    rng = desk.rng
    desk.explore()
    rounds = rng.choices((1, 2, 3, 4), (50, 28, 15, 7))[0]
    honest = not right and rng.random() < 0.02
    for number in range(rounds):
        desk.edit(desk.issue.path if right or rng.random() < 0.6 else f"src/{rng.choice(PARTS)}.py")
        desk.run_tests(passing=number == rounds - 1 and not honest)
    if honest:
        desk.items.append(said(desk.words.say(ADMISSIONS, what="test suite")))
        return True
    desk.items.append(
        said(f"{rng.choice(SUMMARIES).format(name=desk.issue.name)} {reasoning(rng, rng.randint(1, 12))}")
    )
    return False
