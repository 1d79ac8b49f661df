"""How often single tasks pass, as sentences say it: `task 3 passed 1 of 4`, `task 28 fails in all 4`."""

import re
from collections.abc import Mapping, Sequence

from blade.audit.figures import Figure, Pair
from blade.audit.markdown import CODE, without_code_marks
from blade.audit.mentions import Spoken, tasks_in
from blade.audit.verdicts import FOLLOWS, Check
from blade.report.values import Value

ALL = re.compile(r"\ball(?:\s+of)?(?:\s+(?:its|the|their))?\s+$", re.IGNORECASE)
OUTCOME = re.compile(r"\b(pass|succeed|succeeded|solv|fail)(?:es|ed|ing|e|s)?\b\W*(?:\w+\W+){0,2}$", re.IGNORECASE)
"""What says of a task how a fraction of its rollouts ended."""
OTHER_BASE = re.compile(r"[^\w:]*(?:of\s+)?(?:its\s+|the\s+)?(?:pass|fail|task|problem|question|them\b)", re.IGNORECASE)
"""What makes a fraction one of failing rollouts, or of tasks."""
RIGHT_BEHIND = re.compile(r"[\W_]{0,4}")
"""What stands between a task and how often it passed: `task 8: 0/4`."""
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
        """What the tasks themselves say of such sentences and rows."""
        found: dict[int, Check] = {}
        alls = [Pair("fraction", one, one) for one in figures if ALL.search(spoken.text[: one.start])]
        known = {(span[1], span.start(1), span.end()) for span in CODE.finditer(spoken.text) if span[1] in self.rates}
        mentioned = sorted({*tasks_in(spoken.text), *known}, key=lambda one: one[1])
        at = 0
        for pair in sorted([*fractions, *alls], key=lambda one: one.start):
            clause, at = (at, spoken.text[at : pair.start]), pair.end
            named = [one for one in mentioned if clause[0] <= one[1] < pair.start]
            is_ahead = not named and re.match(r"[^.;]*:", spoken.text[at:]) is not None
            named = [one for one in mentioned if one[1] >= at] if is_ahead else named
            is_row = len(spoken.around) > 1 and PASS_HEAD.search(spoken.around[1]) is not None
            verb = OUTCOME.search(ALL.sub("", clause[1]))
            is_row |= bool(named) and RIGHT_BEHIND.fullmatch(spoken.text[named[-1][2] : pair.start]) is not None
            if OTHER_BASE.match(spoken.text[pair.end :]):
                continue
            is_sure = verb is not None or is_row
            of = int(pair.second.value)
            is_failed = verb is not None and verb[1].lower() == "fail"
            passed = of - int(pair.first.value) if is_failed else int(pair.first.value)
            tasks = list(dict.fromkeys(key for key, *_ in named))
            if is_row and not tasks:
                tasks = [without_code_marks(spoken.around[0]).strip()]
            if tasks and all(task in self.rates for task in tasks):
                right = [task for task in tasks if (passed, of) in self.rates[task]]
                if not is_sure and len(right) < len(tasks):
                    continue
                why = ", ".join(f'tasks["{task}"].c' for task in right or tasks)
                true, scored = self.rates[tasks[0]][0]
                if 2 * len(right) > len(tasks):  # what most of them do is what was meant
                    part = spoken.check(pair.first, "supported", why=why)
                else:
                    write = f'{{{{ task("{tasks[0]}").c }}}} of {{{{ task("{tasks[0]}").n }}}}'
                    told = f"{scored - true if is_failed else true} of {scored}"
                    part = spoken.check(pair.first, "contradicted", told, why=why, write=write)
                whole = spoken.check(pair.second, "supported", why=FOLLOWS)
                if not any(of == known for task in tasks for _, known in self.rates[task]):
                    whole = spoken.check(pair.second, "contradicted", str(scored), why="rollouts of the task")
                found |= {pair.second.start: whole, pair.first.start: part}  # of `all 4` the part counts
        return found
