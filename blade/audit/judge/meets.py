"""Does a report assert an anchor fact? Right subject, right polarity, right magnitude. Standard library only."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from blade.audit.figures import Figure, agrees
from blade.audit.judge.facts import Check, Fact
from blade.audit.judge.said import Said
from blade.audit.judge.sentences import Verdict, find_in
from blade.audit.judge.statements import Cited
from blade.audit.judge.truth import TOLERANCE, squeezed


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """What became of a fact."""

    fact: Fact
    """The fact."""
    verdict: Verdict
    """Whether the report asserts it, denies it, or neither."""
    line: int = 0
    """Where; 0 when nowhere."""
    by: str = ""
    """What decided: its check, its sentence, or a model."""


def look_for(fact: Fact, said: Said) -> Met:
    """Whether a report asserts a fact, by its check or, for want of one, by its sentence."""
    spoken, line = find_in(fact.fact, said.spoken, by_number=fact.check is None)
    if spoken == "denied":
        return Met(fact=fact, verdict="denied", line=line, by="sentence")
    if fact.check is not None:
        verdict, at = KINDS[fact.check.kind](fact.check, said)
        if verdict != "absent":
            return Met(fact=fact, verdict=verdict, line=at, by="check")
        # A sentence that has every word but does not show what the check asks for is not enough, except for an order,
        # which can be said without a number, and for proof, where the rollouts may be cited without being quoted.
        if fact.check.kind != "ordering" and not cites(fact.check, said, line):
            return Met(fact=fact, verdict="absent", by="check")
    return Met(fact=fact, verdict=spoken, line=line, by="sentence" if spoken != "absent" else "")


Found = tuple[Verdict, int]
ABSENT: Found = ("absent", 0)


def decide(met: Iterable[int], denied: Iterable[int]) -> Found:
    """A fact that is also denied is not asserted."""
    lines, against = list(met), list(denied)
    if against:
        return "denied", against[0]
    return ("met", lines[0]) if lines else ABSENT


def value_found(check: Check, said: Said) -> Found:
    """A value is stated within its tolerance; a statement that can be nothing else and differs denies it."""
    path = check.of.removeprefix("metrics.") if check.of in ("metrics.pass_at_1", "metrics.mean_reward") else check.of
    same = [number for number in said.numbers if number.path in (path, f"metrics.{path}")]
    right = [(number, is_value(number.figure, check)) for number in same]
    return decide(
        (number.line for number, holds in right if holds and number.positive),
        (number.line for number, holds in right if (holds and not number.positive) or (not holds and number.sure)),
    )


def is_value(figure: Figure, check: Check) -> bool:
    """Whether a figure states the value of a check."""
    value = check.value or 0.0
    if check.kind == "count":
        return figure.value == value
    scale = 100.0 if figure.unit == "%" else 1.0
    return agrees(figure, scale * value) or abs(figure.value / scale - value) <= (check.tolerance or TOLERANCE)


def tasks_found(check: Check, said: Said) -> Found:
    """Exactly these tasks are named as the group's, together or one by one."""
    wanted = frozenset(check.tasks)
    together = [one for one in said.listed if one.tasks == wanted and check.of in one.groups]
    kind, _, name = check.of.partition(".")
    apart = each_labelled(wanted, name, said) if kind == "labels" else each_rated(wanted, name, said)
    against = [one.line for one in together if not one.positive]
    if kind == "labels":
        against += [one.line for one in said.labelled if one.task in wanted and one.positive and one.label != name]
    return decide([*(one.line for one in together if one.positive), *apart], against)


def each_labelled(tasks: frozenset[str], label: str, said: Said) -> list[int]:
    """Where the label is given, if every one of the tasks is given it."""
    lines = {one.task: one.line for one in said.labelled if one.label == label and one.positive}
    return [lines[task] for task in sorted(tasks)] if tasks <= set(lines) else []


def each_rated(tasks: frozenset[str], bucket: str, said: Said) -> list[int]:
    """Where the rates stand, if every one of the tasks has a rate of this bucket."""
    lines = {one.task: one.line for one in said.rated if one.positive and bucket_of(one.passed, one.total) == bucket}
    return [lines[task] for task in sorted(tasks)] if tasks <= set(lines) else []


def bucket_of(passed: int, total: int) -> str:
    """The bucket of a rate."""
    return "never" if passed == 0 else "always" if passed == total else "sometimes"


def label_found(check: Check, said: Said) -> Found:
    """Each of the tasks is given the label, and no other."""
    tasks = frozenset(check.tasks)
    mine = [one for one in said.labelled if one.task in tasks]
    wrong = [one.line for one in mine if one.positive != (one.label == check.label)]
    return decide(each_labelled(tasks, check.label, said), wrong)


def rate_found(check: Check, said: Said) -> Found:
    """A task's rate is stated."""
    mine = [one for one in said.rated if one.task in check.tasks]
    right = [(one, (one.passed, one.total) == (check.passed, check.total)) for one in mine]
    return decide(
        (one.line for one, holds in right if holds and one.positive),
        (one.line for one, holds in right if holds != one.positive),
    )


def order_found(check: Check, said: Said) -> Found:
    """Both parts are stated, the greater one as more."""
    more, less = (
        [one for one in said.numbers if one.path == f"{check.of}.{part}" and one.positive]
        for part in (check.greater, check.lesser)
    )
    if not more or not less:
        return ABSENT
    return ("met" if more[0].figure.value > less[0].figure.value else "denied"), more[0].line


def proof_found(check: Check, said: Said) -> Found:
    """The rollouts are cited in one place, with the words that stand there."""
    cited = [[one for one in said.cited if rollout(one.citation) == rollout(wanted)] for wanted in check.citations]
    blocks = set.intersection(*({one.block for one in found} for found in cited)) if cited else set()
    first = [one for one in cited[0] if one.block in blocks and quotes(one, check.quote)]
    return decide((one.line for one in first if one.positive), (one.line for one in first if not one.positive))


def cites(check: Check, said: Said, line: int) -> bool:
    """Whether every rollout of a proof is cited under the headings that a line stands under."""
    blocks = {one.block for one in said.cited if one.line == line}
    cited = {rollout(one.citation) for one in said.cited if one.block in blocks}
    return check.kind == "citation" and {rollout(one) for one in check.citations} <= cited


def rollout(citation: str) -> str:
    return citation.partition("#")[0]


def quotes(one: Cited, words: str) -> bool:
    """Whether a citation comes with the words, or with most of them."""
    if not words:
        return True
    mine, wanted = squeezed(one.quote), squeezed(words)
    return bool(mine) and (wanted in mine or (mine in wanted and 2 * len(mine) >= len(wanted)))


KINDS: dict[str, Callable[[Check, Said], Found]] = {
    "metric": value_found,
    "count": value_found,
    "task_set": tasks_found,
    "label": label_found,
    "rate": rate_found,
    "ordering": order_found,
    "citation": proof_found,
}


def coverage(found: Sequence[Met]) -> float:
    """The share of the facts' weight that a report asserts."""
    total = sum(one.fact.weight for one in found)
    return sum(one.fact.weight for one in found if one.verdict == "met") / total if total else 0.0
