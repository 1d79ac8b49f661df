"""How often single tasks pass, as sentences say it: `task 3 passed 1 of 4`, `12 tasks pass 1 of 4`."""

import re
from collections.abc import Mapping, Sequence

from blade.audit.figures import Figure, Pair
from blade.audit.markdown import shown, without_code_marks
from blade.audit.mentions import Spoken, tasks_in
from blade.audit.verdicts import FOLLOWS, Check
from blade.report.values import Value

ALL = re.compile(r"\ball(?:\s+of)?(?:\s+(?:its|the|their))?\s+$", re.IGNORECASE)
OUTCOME = re.compile(r"\b(pass|succeed|succeeded|solv|fail)(?:es|ed|ing|e|s)?\b\W*(?:\w+\W+){0,2}$", re.IGNORECASE)
"""What says of a task how a fraction of its rollouts ended."""
OTHER_BASE = re.compile(r"\W*(?:of\s+)?(?:its\s+|the\s+)?(?:pass|fail|task|problem|question)", re.IGNORECASE)
"""What makes a fraction one of failing rollouts, or of tasks."""
PASS_HEAD = re.compile(r"^\W*(?:passed|passes|successes|succeeded)\W*$", re.IGNORECASE)


class TaskRates:
    """Of every task how many rollouts pass, and of how many, in each run."""

    def __init__(self, by_address: Mapping[str, Sequence[Value]]) -> None:
        self.rates: dict[str, list[tuple[int, int]]] = {}
        for parent, values in by_address.items():
            if re.fullmatch(r"\w+:/tasks/\d+", parent):
                by_key = {value.written.rpartition(".")[2]: value for value in values}
                if (passed := by_key.get("c")) is not None and (scored := by_key.get("n")) is not None:
                    task = passed.written.removesuffix(".c").removeprefix("tasks").removeprefix(".").strip('[]"')
                    self.rates.setdefault(task, []).append((passed.value, scored.value))

    def check(self, spoken: Spoken, figures: Sequence[Figure], fractions: Sequence[Pair]) -> dict[int, Check]:
        """`task 3 passed 1 of 4`, `12 tasks pass 1 of 4`, `task 28 fails in all 4`: what the tasks themselves say."""
        found: dict[int, Check] = {}
        alls = [Pair("fraction", one, one) for one in figures if ALL.search(spoken.text[: one.start])]
        at = 0
        for pair in sorted([*fractions, *alls], key=lambda one: one.start):
            clause, at = (at, spoken.text[at : pair.start]), pair.end
            is_row = len(spoken.around) > 1 and PASS_HEAD.search(spoken.around[1]) is not None
            verb = OUTCOME.search(ALL.sub("", clause[1]))
            if (verb is None and not is_row) or OTHER_BASE.match(spoken.text[pair.end :]):
                continue
            of = int(pair.second.value)
            is_failed = verb is not None and verb[1].lower() == "fail"
            passed = of - int(pair.first.value) if is_failed else int(pair.first.value)
            tasks = [key for key, start, end in tasks_in(spoken.text) if clause[0] <= start < pair.start]
            if is_row and not tasks:
                tasks = [without_code_marks(spoken.around[0]).strip()]
            if tasks and all(task in self.rates for task in tasks):
                found |= self.of_tasks(tasks, passed, of, pair, spoken, is_failed=is_failed)
        return found

    def of_tasks(
        self, tasks: Sequence[str], passed: int, of: int, pair: Pair, spoken: Spoken, *, is_failed: bool
    ) -> dict[int, Check]:
        """How often named tasks pass; what most of them do is what was meant."""
        right = [task for task in tasks if (passed, of) in self.rates[task]]
        sentence, first = shown(spoken.text), self.rates[tasks[0]][0]
        part, whole = (spoken.text[one.start : one.end].strip() for one in (pair.first, pair.second))
        why = ", ".join(f'tasks["{task}"].c' for task in right or tasks)
        if 2 * len(right) > len(tasks):
            parts = Check(spoken.line, part, "supported", why=why, sentence=sentence)
        else:
            true = first[1] - first[0] if is_failed else first[0]
            write = f'{{{{ task("{tasks[0]}").c }}}} of {{{{ task("{tasks[0]}").n }}}}'
            parts = Check(spoken.line, part, "contradicted", f"{true} of {first[1]}", why, write, sentence)
        is_known = any(of == scored for task in tasks for _, scored in self.rates[task])
        wholes = Check(spoken.line, whole, "supported", why=FOLLOWS, sentence=sentence)
        if not is_known:
            wholes = Check(spoken.line, whole, "contradicted", str(first[1]), "rollouts of the task", "", sentence)
        return {pair.second.start: wholes, pair.first.start: parts}
