"""Drafts of anchor facts: from labels, proofs, contrasts, buckets and slices, not from sentences that sound important.

What takes reading comes first: causes with their tasks, proof in the model's own words, where passing and failing
rollouts part. Every draft carries its check and waits for a reader. Standard library only.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any

from blade.audit.markdown import shown
from blade.golden.facts import Check, Difficulty, Fact, FactsFile
from blade.golden.passages import Passages, read_passages
from blade.golden.support import Judge, Rarity
from blade.golden.truth import Truth

METHOD = "drafted from labels, proofs, contrasts, buckets and slices; every fact waits for review"
MOST_LISTED, MOST_WORDS = 12, 45
LABELS = {
    "DA": "data artifact",
    "IR": "infrastructure reliability",
    "TI": "task or verifier issue",
    "BI": "behavioural issue",
    "UK": "unreliable knowledge",
    "KG": "knowledge gap",
}
"""Root causes in words; the engine's own list needs the engine."""
LEAST_ASSERTED = 0.25
"""Support from which on a report says something."""
Draft = tuple[Difficulty, str, Check | None]


def draft_facts(truth: Truth, *, most: int, benchmark: str, model: str, report: str | None = None) -> FactsFile:
    """At most so many facts about a run; of its report, where there is one, only what it asserts is drafted."""
    if report is not None and not truth.stated.get("tasks"):
        drafts = drafts_from_report(read_passages(report), most)
    else:
        kinds = (causes, proofs, contrasts, orders, groups, modes, totals)
        # Some of each kind in turn, so that a short list still has all of them; each check once.
        in_turn = [draft for row in zip_longest(*(kind(truth) for kind in kinds)) for draft in row if draft is not None]
        by_check: dict[Check | None, Draft] = {}
        for draft in in_turn:
            by_check.setdefault(draft[2], draft)
        drafts = list(by_check.values())
    facts = [Fact(id="", fact=sentence, difficulty=size, check=check) for size, sentence, check in drafts]
    if report is not None and truth.stated.get("tasks"):
        judge = Judge(report)  # a fact that the golden report itself leaves out anchors nothing
        facts = [fact for fact in facts if judge.wanted(fact).share >= LEAST_ASSERTED]
    return FactsFile(
        benchmark=benchmark,
        model=model,
        extraction_method=METHOD,
        generated_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        review_required=True,
        anchor_facts=[replace(fact, id=f"B{number}") for number, fact in enumerate(facts[:most], start=1)],
    )


def drafts_from_report(said: Passages, most: int) -> list[Draft]:
    """What a report states with most in it, where nothing else is known: sentences with values, in rare words."""
    rarity = Rarity(said.sentences)
    telling = [one for one in said.sentences if one.values and 6 <= len(one.words) <= MOST_WORDS]
    telling.sort(key=lambda one: -(sum(map(rarity, set(one.words))) / len(one.words) + len(one.values)))
    return [("high" if at < most // 2 else "medium", shown(one.text), None) for at, one in enumerate(telling[:most])]


def causes(truth: Truth) -> Iterator[Draft]:
    """Tasks that share a label and, in the reader's words, a reason."""
    reasons = {task: str(reason).strip() for task, reason in truth.group("reasons").items()}
    for label, tasks in sorted(truth.listed["labels"].items(), key=lambda entry: (-len(entry[1]), entry[0])):
        if len(tasks) <= MOST_LISTED:
            said = {reasons.get(task, "") for task in tasks}
            why = f": {said.pop()}" if len(said) == 1 and "" not in said else ""
            words = " and ".join(LABELS.get(part, part) for part in label.rstrip("?").split("+"))
            sentence = f"{named(tasks)} {'is' if len(tasks) == 1 else 'are'} labelled {label} ({words}){why}."
            yield "high", sentence, Check(kind="task_set", of=f"labels.{label}", tasks=tuple(tasks))
        for task in tasks[:2] if len(tasks) > 1 else ():
            why = f": {reasons[task]}" if reasons.get(task) else ""
            check = Check(kind="label", tasks=(task,), label=label)
            yield "high", f"Task `{task}` is labelled {label}{why}.", check


def proofs(truth: Truth) -> Iterator[Draft]:
    """What readers quoted as proof, one per reason."""
    seen: set[str] = set()
    for task, evidence in truth.group("evidence").items():
        for proof in evidence:
            quote = str(proof.get("quote") or "")
            if quote and quote not in seen:
                seen.add(quote)
                # A pass may be cited too.
                sentence = f"A reader of task `{task}` cites `{proof['citation']}`: “{quote}”."
                yield "high", sentence, Check(kind="citation", citations=(proof["citation"],), quote=quote)


def contrasts(truth: Truth) -> Iterator[Draft]:
    """Where passing and failing rollouts of one task part."""
    for task, pair in truth.group("partings").items():
        places = (str(pair["passing"]), str(pair["failing"]))
        sentence = f"In task `{task}` the passing `{places[0]}` and the failing `{places[1]}` part ways."
        yield "high", sentence, Check(kind="citation", citations=places)


def orders(truth: Truth) -> Iterator[Draft]:
    """The best and the worst level of every field."""
    for field, levels in truth.group("slices").items():
        known = {str(level): one["value"] for level, one in levels.items() if one.get("value") is not None}
        best, worst = (pick(known, key=lambda level: known[level], default="") for pick in (max, min))
        if known and known[best] > known[worst]:
            sentence = f"By `{field}`, `{best}` is solved most often ({percent(known[best])}), "
            sentence += f"`{worst}` least ({percent(known[worst])})."
            yield "medium", sentence, Check(kind="ordering", of=f"slices.{field}", greater=best, lesser=worst)


def groups(truth: Truth) -> Iterator[Draft]:
    """Tasks that never pass, tasks that pass sometimes, and the rates of the latter."""
    for bucket in ("never", "sometimes"):
        tasks = truth.listed["buckets"].get(bucket, [])
        if 0 < len(tasks) <= MOST_LISTED:
            sentence = f"{named(tasks)} {bucket} {'passes' if len(tasks) == 1 else 'pass'}."
            yield "medium", sentence, Check(kind="task_set", of=f"buckets.{bucket}", tasks=tuple(tasks))
    for task in truth.listed["buckets"].get("sometimes", [])[:3]:
        passed, total = truth.tasks[task]
        sentence = f"Task `{task}` passed {passed} of {total} rollouts."
        yield "medium", sentence, Check(kind="rate", tasks=(task,), passed=passed, total=total)


def modes(truth: Truth) -> Iterator[Draft]:
    """The most common pattern, or without patterns the most common signal."""
    for kind, name in (("patterns", "primary"), ("signals", "failed")):
        counted = {code: one[name] for code, one in truth.group(kind).items() if one.get(name)}
        for code in sorted(counted, key=lambda code: (-counted[code], code))[:2]:
            sentence = f"{counted[code]} failing rollouts show it: {truth.group(kind)[code]['title']}."
            yield "medium", sentence, Check(kind="count", of=f"{kind}.{code}", value=counted[code])


def totals(truth: Truth) -> Iterator[Draft]:
    """The numbers any table shows."""
    for path, name in (("pass_at_1", "pass@1"), ("metrics.consistency", "Consistency")):
        if (value := truth.value(path)) is not None:
            check = Check(kind="metric", of=path, value=round(value, 4))
            yield "low", f"{name} over all tasks is {percent(value)}.", check


def named(tasks: list[str]) -> str:
    """`Task 5`, or `Tasks 5, 7 and 8`."""
    codes = [f"`{task}`" for task in tasks]
    return f"Task {codes[0]}" if len(codes) == 1 else f"Tasks {', '.join(codes[:-1])} and {codes[-1]}"


def percent(value: Any) -> str:
    return f"{100.0 * value:.1f} %"
