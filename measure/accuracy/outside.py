"""The second part: rows nobody here made. Tables of causes, steps, stated confidence and injected faults."""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from accuracy.labelled_rows import HALVES, Case, labelled_cases, trivial_hits
from accuracy.real_rows import NOT_THE_MODEL, Injected, inject_all
from accuracy.scores import wilson
from blade.api import analyze, read_all
from blade.errors import BladeError

SIDECARS = ("materialized_inputs.jsonl", "reward_profiling.jsonl")
Lines = list[str]
Goal = tuple[str, str, bool]


def report(data: Path) -> tuple[list[tuple[str, Lines]], list[Goal]]:
    """Titled tables and goals."""
    cases = labelled_cases(data)
    with tempfile.TemporaryDirectory() as folder:
        injected = list(inject_all(data, Path(folder)))
    tables = [
        ("Causes of labelled failures", cause_lines(cases)),
        ("Decisive steps", step_lines(cases)),
        ("What was promised", reliability_lines(cases)),
        ("Faults put into real rows", injected_lines(injected)),
        ("Every IR, TI and DA named, to be read", blamed_lines(data)),
    ]
    return tables, goals(cases, injected)


def share(hits: float, total: int) -> str:
    """`7/16 = 44 % [23 %, 67 %]`."""
    if not total:
        return "0/0"
    low, high = wilson(hits, total)
    return f"{hits:g}/{total} = {hits / total:.0%} [{low:.0%}, {high:.0%}]"


def by_source(cases: Sequence[Case], line: Callable[[str, Sequence[Case]], Lines]) -> Lines:
    names = dict.fromkeys(case.source for case in cases)
    parts = [(name, [case for case in cases if case.source == name]) for name in names]
    return [text for name, part in [*parts, ("all", cases)] for text in line(name, part)]


def cause_lines(cases: Sequence[Case]) -> Lines:
    """How many failures are decided, and how many of those rightly."""
    wrong = [f"  {c.source} {c.task}: said {c.said}, is {'/'.join(sorted(c.causes))}" for c in cases if is_wrong(c)]

    def line(name: str, part: Sequence[Case]) -> Lines:
        decided = [case for case in part if case.is_decided]
        right = sum(case.said in case.causes for case in decided)
        return [f"{name:20} decided {share(len(decided), len(part))}   right {share(right, len(decided))}"]

    return by_source(cases, line) + wrong[:10]


def is_wrong(case: Case) -> bool:
    return case.is_decided and case.said not in case.causes


def step_lines(cases: Sequence[Case]) -> Lines:
    """Claims beside the trivial guesses on the same failures, and on all."""

    def line(name: str, part: Sequence[Case]) -> Lines:
        claimed = [case for case in part if case.claim]
        hits = sum(case.claimed == case.step for case in claimed)
        agents = [case for case in claimed if case.agent and case.claim]
        known = sum(case.claim is not None and case.claim.agent == case.agent for case in agents)
        guesses = {where: trivial_hits(some) for where, some in (("there", claimed), ("everywhere", part))}
        return [
            f"{name:20} claimed {share(len(claimed), len(part))}   exact {share(hits, len(claimed))}"
            + (f"   agent {share(known, len(agents))}" if agents else ""),
            *(
                f"{'':20}   {guess}: {share(guesses['there'][guess], len(claimed))} there, "
                f"{share(guesses['everywhere'][guess], len(part))} everywhere"
                for guess in guesses["there"]
            ),
        ]

    return by_source(cases, line)


def reliability_lines(cases: Sequence[Case]) -> Lines:
    """How often what is said with a probability is right."""
    said: dict[tuple[str, float], list[bool]] = {}
    for case in cases:
        if case.claim is not None:
            right = case.claimed == case.step
            said.setdefault((f"step by {case.claim.kind}", case.claim.probability), []).append(right)
            if case.source == HALVES[1]:
                said.setdefault((f"step by {case.claim.kind}, held out", case.claim.probability), []).append(right)
        if case.is_decided and case.confidence is not None:
            said.setdefault(("cause", case.confidence), []).append(case.said in case.causes)
    return [f"{what:26} said {p:.0%}   right {share(sum(hits), len(hits))}" for (what, p), hits in sorted(said.items())]


def injected_lines(injected: Sequence[Injected]) -> Lines:
    lines: Lines = []
    for place in dict.fromkeys(one.place for one in injected):
        part = [one for one in injected if one.place == place]
        labels = [label for one in part for label in one.labels]
        lines.append(
            f"{place:17} named IR {share(labels.count('IR'), len(labels))}   "
            f"undecided {sum(label.endswith('?') for label in labels)}   "
            f"taken for something else {sum(is_mistaken(label) for label in labels)}   "
            f"a mode in its words {share(sum(one.is_mode for one in part), len(part))}"
        )
        lines += [f"  no mode: {one.words.text[:70]}" for one in part if not one.is_mode and place == "tool result"]
    lines.append(f"false IR, TI or DA in other tasks: {share(alarms(injected), sum(one.failing for one in injected))}")
    return lines


def blamed_lines(data: Path) -> Lines:
    """What was put down to infrastructure, verifier or data in any run of the folder, and in how many rollouts."""
    lines: Lines = []
    rollouts = 0
    for path in sources(data):
        try:
            analyses = [analyze(run) for run in read_all(path, use_cache=False)]
        except BladeError:
            continue
        for found in analyses:
            rollouts += found.coverage.rollouts
            blamed = [cause for cause in found.causes if cause.label in NOT_THE_MODEL]
            lines += [f"{path.name}: task {one.task}: {one.label}, {one.reason}"[:160] for one in blamed]
    return [*lines, f"{len(lines)} tasks in {rollouts:,} rollouts"]


def sources(data: Path) -> list[Path]:
    """Files and folders with rollouts: other kinds of files beside Gym's are its own."""
    gym = [path for path in (data / "gym").glob("*_rollouts*.jsonl") if not path.name.endswith(SIDECARS)]
    folders = [path for path in (data / "formats").glob("*") if path.is_dir()]
    return sorted([*gym, *(data / "tau_bench").glob("*.json"), *folders])


def is_mistaken(label: str) -> bool:
    return label != "IR" and not label.endswith("?")


def alarms(injected: Sequence[Injected]) -> int:
    return sum(one.alarms for one in injected)


def goals(cases: Sequence[Case], injected: Sequence[Injected]) -> list[Goal]:
    """What must hold on rows nobody here made."""
    decided = [case for case in cases if case.is_decided]
    right = sum(case.said in case.causes for case in decided)
    false = sum(case.said in NOT_THE_MODEL and case.said not in case.causes for case in cases)
    found: list[Goal] = [
        ("decided causes right ≥ 95 %", share(right, len(decided)), right >= 0.95 * len(decided)),
        ("false IR, TI, DA ≤ 1 % of failures", share(false, len(cases)), false <= 0.01 * len(cases)),
    ]
    for name, part in (("", cases), (" on the held-out half", [case for case in cases if case.source == HALVES[1]])):
        claimed = [case for case in part if case.claim]
        hits = sum(case.claimed == case.step for case in claimed)
        best = max(max(trivial_hits(some).values(), default=0) / max(len(some), 1) for some in (claimed, part))
        value = f"{share(hits, len(claimed))} against {best:.0%}"
        clear = not claimed or wilson(hits, len(claimed))[0] > best
        found.append((f"steps{name} clear of every trivial guess", value, clear))
    labels = [label for one in injected for label in one.labels]
    mistaken = sum(is_mistaken(label) for label in labels)
    found.append(("no injected fault taken for something else", share(mistaken, len(labels)), not mistaken))
    return found
