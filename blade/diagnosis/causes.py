"""Why a task is not always passed, where that is proven; everything else is undecided and waits for a reader.

Proofs are tried in the fixed order of causes, so that the model is blamed only for what data, infrastructure and
verifier did not do. Each is structure: a typed ending, an answer equal to the expected one, a change where none is
expected. A task gets a cause when proofs of it cover nearly all of its failures. "Nothing was found" proves nothing:
such a task is `?`, with the causes that tasks of its shape turned out to have, and how often.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from blade.diagnosis.answers import Answered, form_of
from blade.diagnosis.differences import Difference, in_words
from blade.diagnosis.found import Found
from blade.diagnosis.labels import CAUSES, UNDECIDED, Candidate, Confidence
from blade.diagnosis.modes import NOTHING_MINED, Mined, Tested, ending_cause, proofs_in
from blade.diagnosis.noting import Noted
from blade.diagnosis.observations import title_of
from blade.diagnosis.replies import BrokenTool
from blade.diagnosis.signals import RULES, Sightings, titled
from blade.metrics import Outcomes, TaskResult
from blade.metrics.values import Ints
from blade.rollouts.table import RolloutTable

MOST_EVIDENCE = 3
NO_ITEMS = (-1,) * MOST_EVIDENCE
NOTHING_KNOWN = "nothing in its rows proves why"
LONGEST_ANSWER = 60
"""Longer answers are not repeated in a reason."""
NEARLY_ALL, HALF = 0.75, 0.5
"""Share of a task's failures that proofs of a cause must cover; half is enough for a behaviour where nothing else is
proven, for then the agent is known to fail this task by its own doing."""
PARTLY = 0.8
"""Probability of a cause that is proven for some of the failures."""
USUAL = 5
"""Passing rollouts that must all call a tool before a rollout that calls none has failed by that."""
SURE, LIKELY = 0.9, 0.7
"""Probabilities from which on a label is called one of high and of medium confidence."""
DOINGS = frozenset({"call_extra", "call_missing", "argument", "output_missing"})
STABLE = 3
"""Attempts that must give one and the same wrong answer before it is taken for what the model believes."""
PROVEN_BY_SIGNALS = {
    "failed_rollout": 0.97, "provider_error": 0.97, "sandbox_fault": 0.97,
    "verifier_exception": 0.97, "simulated_user_failure": 0.95, "environment_failure": 0.95,
}  # fmt: skip
"""Signals that say by themselves whose fault a failure is. A limit or a time-out does not: whether it was too tight or
the agent too slow is not said. Nor does a verifier that did not finish: what it was given may not have let it."""
PROVEN_BY_FINDINGS = {
    "verdict_contradicts_reward": 0.97, "conflicting_twins": 0.97, "constant_reward": 0.97,
    "right_answer_failed": 0.97, "verdict_flips": 0.95, "extraction_missed": 0.95,
}  # fmt: skip
TITLES = {
    "right_answer_failed": "gave the expected answer, and failed",
    "extraction_missed": "ends on the expected answer, which the verifier did not take from it",
    "verdict_flips": "gave an answer that passed in another attempt, and failed",
    "verdict_contradicts_reward": "the row's own verdict contradicts its reward",
    "conflicting_twins": "was asked exactly like another task that expects another answer",
    "constant_reward": "carries a score of the whole batch",
}
"""What a finding about a whole run says of one of its rollouts."""
SIMPLE = frozenset({"a number", "a letter", "a word", "a line"})
SHAPES: dict[str, dict[str, float]] = {
    "change": {"BI": 0.75, "TI": 0.22, "IR": 0.03},
    "unjudged": {"TI": 0.5, "BI": 0.5},
    "agreed": {"TI": 0.6, "KG": 0.3, "BI": 0.1},
    "checks": {"BI": 0.7, "KG": 0.15, "UK": 0.15},
    "limit": {"BI": 0.5, "KG": 0.45, "UK": 0.05},
    "time": {"IR": 0.5, "BI": 0.5},
    "wrong always": {"KG": 0.88, "BI": 0.1, "UK": 0.02},
    "wrong sometimes": {"UK": 0.6, "BI": 0.2, "KG": 0.2},
    "always": {"KG": 0.6, "BI": 0.4},
    "sometimes": {"UK": 0.5, "BI": 0.5},
}
"""What tasks of a shape turned out to be, on rows with labels: `change` differs from what a task with a simulated user
expects (27 failures of AgentRx's tau-bench), the others on 423 tasks of the six shipped benchmarks that were read."""


class Proof(NamedTuple):
    """Something on failing rollouts that says whose doing it was."""

    code: str
    cause: str
    title: str
    places: dict[int, int]
    """Row -> item, -1 for none."""
    probability: float
    """How often it was right on labelled rows."""


class Decision(NamedTuple):
    """What a label says of a task, but for its proof; tasks that look alike share one."""

    cause: str
    confidence: Confidence
    author: str
    reason: str
    candidates: list[Candidate]


class Verdict(NamedTuple):
    """What was decided about a task, and where its evidence is."""

    decision: Decision
    places: list[tuple[int, int]]
    """(row, item) of each piece of evidence."""


class Verdicts(NamedTuple):
    """What was decided about the tasks of a run."""

    tasks: list[str]
    """Task keys in their order."""
    decisions: list[Decision]
    """What was decided about each."""
    ends: Ints
    """Per task: how many pieces of evidence there are up to its last."""
    rows: Ints
    items: Ints
    """Row and item of each piece of evidence, task after task."""


class Task(NamedTuple):
    """What is known of a task that is not always passed."""

    result: TaskResult
    failing: list[int]
    """Rows that did not pass."""
    proofs: list[Proof]
    """Those on its failing rows, in the order of causes."""
    answers: dict[int, Answered]
    """Failing row -> its answer."""
    modes: dict[int, list[str]]
    """Row of the run -> the failure modes it shows, in words."""


Seen = Mapping[str, frozenset[int]]
"""By signal: the rows in which it was seen."""


class Failing(NamedTuple):
    """The rows that did not pass, task by task."""

    rows: list[int]
    ends: list[int]
    """Per task: how many there are up to its last; before the first, 0."""

    @classmethod
    def of(cls, outcomes: Outcomes) -> "Failing":
        rows = np.flatnonzero(outcomes.success != 1.0)
        counts = np.bincount(outcomes.task[rows], minlength=len(outcomes.tasks))
        return cls(rows.tolist(), [0, *np.cumsum(counts).tolist()])  # rows stand in the order of tasks

    def rows_of(self, task: int) -> list[int]:
        return self.rows[self.ends[task] : self.ends[task + 1]]


def decide_causes(
    results: list[TaskResult],
    table: RolloutTable,
    outcomes: Outcomes,
    noted: Noted,
    sightings: Sightings,
    findings: Sequence[Found],
    mined: Mined = NOTHING_MINED,
    family: Sequence[Proof] = (),
    broken: Sequence[BrokenTool] = (),
) -> Verdicts:
    """One verdict for every task that is not always passed; none when success is not defined.

    Some modes in `mined` are a cause in themselves; `family` is what a pack knows.
    """
    nowhere = np.empty(0, dtype=np.int64)
    if outcomes.is_continuous:
        return Verdicts([], [], nowhere, nowhere, nowhere)
    failing = Failing.of(outcomes)
    proofs = sorted(
        [
            *family,
            *found_proofs(findings),
            *signal_proofs(sightings, table),
            *behaviours(noted, outcomes, failing),
            *limits(noted, outcomes),
            *mode_proofs(proofs_in(mined)),
            *tool_proofs(broken),
        ],
        key=lambda proof: order(proof.cause),
    )
    mine = by_task(table, outcomes, proofs)
    said: dict[int, dict[int, Answered]] = {}
    for answer in noted.answers:
        said.setdefault(int(outcomes.task[answer.row]), {})[answer.row] = answer
    seen = {code: frozenset(places.rows.tolist()) for code, places in sightings.seen.items()}
    shown: dict[int, list[str]] = {}
    for mode in mined.modes:
        for row in mode.failing.tolist():
            shown.setdefault(row, []).append(title_of(mode.observation))
    suspected = {int(row) for found in findings if found.finding.code == "suspect_gold" for row in found.rows}
    telling = np.zeros(len(table), dtype=bool)
    for rows in (suspected, noted.differences, noted.acts, shown, *seen.values()):
        telling[list(rows)] = True
    told = set(outcomes.task[telling & (outcomes.success != 1.0)].tolist()).union(mine)
    untold: dict[tuple[int, int], Decision] = {}
    tasks, decisions = list[str](), list[Decision]()
    ends, at_rows, at_items = array("q"), array("q"), array("q")
    for index, result in enumerate(results):
        if result.bucket == "always":
            continue
        rows = failing.rows_of(index)
        if rows and result.n and index not in told:  # most of a large run: all that pass as often are decided at once
            decision = untold.get((result.c, result.n))
            if decision is None:
                decision = untold[result.c, result.n] = open_decision(passed_of(result, NOTHING_KNOWN))
            at_rows.extend(rows[:MOST_EVIDENCE])
            at_items.extend(NO_ITEMS[: len(rows)])
        else:
            task = Task(result, rows, mine.get(index, []), said.get(index, {}), shown)
            decision, places = decide(task, noted, seen, is_suspected=not suspected.isdisjoint(rows))
            at_rows.extend(row for row, _ in places)
            at_items.extend(item for _, item in places)
        tasks.append(result.task)
        decisions.append(decision)
        ends.append(len(at_rows))
    return Verdicts(tasks, decisions, *(np.asarray(column, dtype=np.int64) for column in (ends, at_rows, at_items)))


def found_proofs(findings: Sequence[Found]) -> Iterable[Proof]:
    for finding, rows in findings:
        if finding.code in PROVEN_BY_FINDINGS and len(rows):
            title = TITLES.get(finding.code, finding.message)
            yield Proof(finding.code, finding.cause, title, places_of(rows), PROVEN_BY_FINDINGS[finding.code])


def signal_proofs(sightings: Sightings, table: RolloutTable) -> Iterable[Proof]:
    for rule in RULES:
        seen = sightings.seen[rule.code]
        if rule.code in PROVEN_BY_SIGNALS and len(seen.rows):
            places = dict(zip(seen.rows.tolist(), seen.items.tolist(), strict=True))
            yield Proof(rule.code, rule.cause, titled(rule, seen.rows, table), places, PROVEN_BY_SIGNALS[rule.code])


def limits(noted: Noted, outcomes: Outcomes) -> Iterable[Proof]:
    """Agents that used up what they were given, by the format's own word; an answer cut off may have been unknown.

    A limit that passing attempts at the task reach as well proves nothing.
    """
    found: dict[str, dict[int, int]] = {}
    harmless = {(outcomes.task[row], one.name) for row, one in noted.endings.items() if outcomes.success[row] == 1.0}
    for row, ending in noted.endings.items():
        own = ending_cause(ending.kind, ending.origin or "") == "BI"
        own &= (outcomes.task[row], ending.name) not in harmless
        if own and row in noted.called and outcomes.success[row] != 1.0:
            found.setdefault(f" (`{ending.name}`)" if ending.name else "", {})[row] = -1
    for name, places in sorted(found.items()):
        yield Proof("limit", "BI", f"the agent ran into a limit{name}", places, 0.9)


def tool_proofs(broken: Iterable[BrokenTool]) -> Iterable[Proof]:
    for one in broken:
        title = f"a tool failed at calls that it answers in other attempts: {one.said}"
        yield Proof("broken_tool", "IR", title, one.places, 0.9)


def mode_proofs(tied: Iterable[tuple[str, Tested]]) -> Iterable[Proof]:
    for cause, found in tied:
        yield Proof("mode", cause, title_of(found.observation), places_of(*found.seen), 0.9)


def places_of(rows: Ints, items: Ints | None = None) -> dict[int, int]:
    return dict(zip(rows.tolist(), [-1] * len(rows) if items is None else items.tolist(), strict=True))


def behaviours(noted: Noted, outcomes: Outcomes, failing: Failing) -> list[Proof]:
    """Proofs from what a task lists: the agent did what it should not, or left out what it should do or say.

    A simulated user may have asked for something else than its task. There a wrong change is the agent's own doing only
    when that shows in the rollout (see `differences.whose_doing`), or when every failing attempt makes it, with the
    same values, while other attempts at the task pass.
    """
    done: dict[str, dict[int, int]] = {}
    passes = np.bincount(outcomes.task[outcomes.success == 1.0], minlength=len(outcomes.tasks)) > 0
    for task in sorted({int(outcomes.task[row]) for row in noted.differences}):
        whole = [row for row in failing.rows_of(task) if row not in noted.broken]
        for difference, row in own_doings(whole, noted, passes=bool(passes[task])):
            item = -1 if difference.item is None else difference.item
            done.setdefault(doing(difference), {}).setdefault(row, item)
    idle = {row: -1 for row in sorted(noted.idle - noted.talks) if outcomes.success[row] != 1.0}
    out = [Proof("wrong_change", "BI", title, places, 0.95) for title, places in done.items()]
    if idle:
        out.append(Proof("no_tool_call", "BI", "called no tool although the task expects calls", idle, 0.97))
    passing = np.flatnonzero(outcomes.success == 1.0).tolist()
    if len(passing) >= USUAL and noted.called.issuperset(passing):
        unused = noted.acts - noted.called - noted.talks
        silent = {row: -1 for row in sorted(unused) if outcomes.success[row] != 1.0}
        title = f"called no tool, which all {len(passing)} passing rollouts of the run do"
        out += [Proof("no_tool_call", "BI", title, silent, 0.95)] if silent else []
    return out


def own_doings(rows: list[int], noted: Noted, *, passes: bool) -> Iterator[tuple[Difference, int]]:
    """Differences of a task's failing rows that are the agent's own doing beyond doubt, each with its row."""
    found = {row: [one for one in noted.differences.get(row, ()) if one.kind in DOINGS] for row in rows}
    made = [{(one.key, one.given) for one in mine if one.given is not None} for mine in found.values()]
    always = set.intersection(*made) if len(rows) > 1 and passes else set()
    for row, mine in found.items():
        # Texts that follow from changes gone wrong say nothing of their own.
        untold = all(one.kind == "output_missing" for one in mine)
        for one in mine:
            if one.kind == "output_missing":
                if untold:
                    yield one, row
            elif row not in noted.talks or one.own or (one.key, one.given) in always:
                yield one, row


def doing(difference: Difference) -> str:
    """What the agent did or left out, in words."""
    if difference.own:
        return f"{in_words(difference)} ({difference.own})"
    if difference.kind == "output_missing":
        return f"every change is as expected, and {difference.expected!r} was not said"
    return in_words(difference)


def by_task(table: RolloutTable, outcomes: Outcomes, proofs: Sequence[Proof]) -> dict[int, list[Proof]]:
    """For every task, the proofs on its failing rollouts."""
    out: dict[int, list[Proof]] = {}
    for proof in proofs:
        mine: dict[int, dict[int, int]] = {}
        for row, item in proof.places.items():
            if outcomes.success[row] != 1.0:
                mine.setdefault(int(table.task[row]), {})[row] = item
        for task, places in mine.items():
            out.setdefault(task, []).append(proof._replace(places=places))
    return out


def order(cause: str) -> int:
    return list(CAUSES).index(cause)


def decide(task: Task, noted: Noted, seen: Seen, *, is_suspected: bool) -> Verdict:
    """The cause that proofs of it say for nearly all failures; else, or where proofs disagree, none."""
    result, failing = task.result, task.failing
    if not failing:
        # As in the run's health: what is missing was lost on the way.
        return verdict("IR", 0.9, "missing_rollouts", "no rollout of this task is there", [])
    if not result.n and not task.proofs:
        said = (
            "its only rollout has no score" if len(failing) == 1 else f"none of its {len(failing)} rollouts has a score"
        )
        return Verdict(open_decision(said), [(row, -1) for row in failing][:MOST_EVIDENCE])
    first: dict[int, Proof] = {row: proof for proof in reversed(task.proofs) for row in proof.places}
    shares: dict[str, list[int]] = {}
    for row, proof in first.items():
        shares.setdefault(proof.cause, []).append(row)
    cause = max(shares, key=lambda cause: (len(shares[cause]), -order(cause)), default=None)
    own = cause is not None and all(first[row].code == "wrong_change" for row in shares[cause])
    least = HALF if own and len(shares) == 1 else NEARLY_ALL
    if cause is not None and len(shares[cause]) >= least * len(failing):
        return proven(task, cause, shares[cause], first)
    # An answer that every run agrees on may well be the right one.
    known = None if is_suspected else stable_answer(task, noted, seen)
    return known or undecided(task, shares, first, noted, seen, is_suspected)


def proven(task: Task, cause: str, rows: list[int], first: dict[int, Proof]) -> Verdict:
    """A cause with its proofs."""
    mine = [proof for proof in task.proofs if proof.cause == cause]
    widest = max(mine, key=lambda proof: sum(first[row] is proof for row in rows))
    titles = ", ".join(dict.fromkeys(proof.title for proof in mine if any(first[row] is proof for row in rows)))
    reason = f"{len(rows)} of {len(task.failing)} failing rollouts: {titles}"
    places = [(row, proof.places[row]) for proof in mine for row in sorted(proof.places) if row in rows]
    sure = widest.probability if len(rows) >= NEARLY_ALL * len(task.failing) else min(widest.probability, PARTLY)
    return verdict(cause, sure, widest.code, reason, places)


def stable_answer(task: Task, noted: Noted, seen: Seen) -> Verdict | None:
    """A knowledge gap: every attempt gives one and the same plain wrong answer, and nothing else is wrong."""
    given = [task.answers[row] for row in task.failing if row in task.answers]
    if task.result.c or len(given) < max(STABLE, len(task.failing)) or len({answer.plain for answer in given}) > 1:
        return None
    known = all(answer.expected is not None and form_of(answer.given) in SIMPLE for answer in given)
    others = any(not rows.isdisjoint(task.failing) for rows in seen.values())
    plain = all(
        difference.key == "answer:other" for row in task.failing for difference in noted.differences.get(row, ())
    )
    acts = (noted.talks | noted.called) & set(task.failing)
    if not known or others or not plain or acts or not set(task.failing) <= noted.acts:
        return None
    reason = f"all {len(given)} rollouts give one wrong answer{beside_expected(given[0])}, and nothing else is wrong"
    return verdict("KG", 0.85, "stable_wrong_answer", reason, [(row, -1) for row in task.failing])


def undecided(
    task: Task,
    shares: dict[str, list[int]],
    first: dict[int, Proof],
    noted: Noted,
    seen: Seen,
    is_suspected: bool,
) -> Verdict:
    """What is known of a task whose cause is not proven, and what tasks like it turned out to have."""
    result, failing = task.result, task.failing
    facts = [f"{len(rows)} of {len(failing)} failing rollouts: {first[rows[0]].title}" for rows in shares.values()]
    shown, places = difference_facts(failing, noted)
    shape = shape_of(task, noted, seen, is_suspected=is_suspected)
    facts += shown or ([SHAPE_FACTS[shape]] if shape in SHAPE_FACTS else [])
    if not facts:
        titles = Counter(title for row in failing for title in task.modes.get(row, ()))
        facts = [f"{count} of {len(failing)} failing rollouts: {title}" for title, count in titles.most_common(2)]
    reason = passed_of(result, "; ".join(facts[:3]) or NOTHING_KNOWN)
    ranked = [Candidate(label=cause, probability=p) for cause, p in SHAPES.get(shape or "", {}).items()]
    spread = spread_out(places or [(row, -1) for row in failing])
    return Verdict(open_decision(reason, ranked), spread[:MOST_EVIDENCE])


def passed_of(result: TaskResult, known: str) -> str:
    return f"passed {result.c} of {result.n}; {known}"


def open_decision(reason: str, ranked: Sequence[Candidate] = ()) -> Decision:
    """No cause, and what is known instead."""
    return Decision(UNDECIDED, "low", "rule:undecided", reason, list(ranked))


SHAPE_FACTS = {
    "unjudged": "its verifier did not finish",
    "agreed": "all runs agree on an answer that is marked wrong",
    "limit": "ran out of tokens or turns",
    "time": "ran out of time",
    "wrong always": "gives other answers than the expected one",
    "wrong sometimes": "right and wrong answers have the same form",
}


def shape_of(task: Task, noted: Noted, seen: Seen, *, is_suspected: bool) -> str | None:
    """What a task without a proven cause looks like; `None` where its rollouts show no trajectory to tell by."""
    failing = set(task.failing)
    kinds = [{difference.kind for difference in noted.differences.get(row, ())} for row in task.failing]
    cut = failing & seen["truncated"]
    if is_suspected:
        return "agreed"
    if 2 * len(failing & seen["verifier_unfinished"]) > len(failing):
        return "unjudged"
    late = failing & seen["timeout"] | failing & seen["out_of_time"]
    if 2 * len(late) > len(failing):
        return "time"
    if 2 * len(cut) > len(failing):
        return "limit"
    if not failing & noted.acts:
        return None
    if mostly(bool(kind & DOINGS) for kind in kinds):
        return "change"
    if mostly(bool(kind & {"test_failed", "schema"}) for kind in kinds):
        return "checks"
    if mostly("answer" in kind for kind in kinds):
        return "wrong sometimes" if task.result.c else "wrong always"
    return "sometimes" if task.result.c else "always"


def mostly(flags: Iterable[bool]) -> bool:
    found = list(flags)
    return 2 * sum(found) > len(found)


def difference_facts(failing: list[int], noted: Noted) -> tuple[list[str], list[tuple[int, int]]]:
    """The differences that most of some rows show, in words, and where they are."""
    rows: dict[str, dict[int, Difference]] = {}
    for row in failing:
        for difference in noted.differences.get(row, ()):
            rows.setdefault(in_words(difference), {}).setdefault(row, difference)
    # What was done says more than which check noticed.
    ranked = sorted(rows.items(), key=lambda found: (is_check(found[1]), -len(found[1]), found[0]))
    said = [f"{words} in {len(found)} of {len(failing)}{values(found)}" for words, found in ranked]
    places = [
        (row, -1 if one.item is None else one.item) for _, found in ranked[:3] for row, one in sorted(found.items())
    ]
    return said, places


def is_check(found: dict[int, Difference]) -> bool:
    return next(iter(found.values())).kind == "test_failed"


def values(found: dict[int, Difference]) -> str:
    """The value given and the one expected, where all rows agree on both and they are short."""
    pairs = {(difference.given, difference.expected) for difference in found.values()}
    given, expected = next(iter(pairs))
    short = given and expected and max(len(given), len(expected)) <= LONGEST_ANSWER
    return f" ({given!r} for {expected!r})" if len(pairs) == 1 and short and not is_check(found) else ""


def beside_expected(answer: Answered) -> str:
    """A short answer beside the expected one."""
    given, expected = (" ".join((text or "").split()) for text in (answer.given, answer.expected))
    short = given and expected and max(len(given), len(expected)) <= LONGEST_ANSWER
    return f", {given!r} where {expected!r} is expected" if short else ""


def spread_out(places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The first place in each row, in the order of time, and then the others."""
    rows: dict[int, list[int]] = {}
    for row, item in dict.fromkeys(places):
        rows.setdefault(row, []).append(item)
    in_time = {row: sorted(items, key=lambda item: (item < 0, item)) for row, items in rows.items()}
    return [(row, items[0]) for row, items in in_time.items()] + [
        (row, item) for row, items in in_time.items() for item in items[1:] if item >= 0
    ]


def verdict(cause: str, probability: float, code: str, reason: str, places: list[tuple[int, int]]) -> Verdict:
    confidence: Confidence = "high" if probability >= SURE else "medium" if probability >= LIKELY else "low"
    return Verdict(Decision(cause, confidence, f"rule:{code}", reason, []), spread_out(places)[:MOST_EVIDENCE])
