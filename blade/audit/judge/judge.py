"""The score of a report: what it knows, whether it is true, what it proves, and whether it can be read.

    score = truth * (0.60 facts + 0.25 proof + 0.15 structure), and never above a cap

Truth multiplies, so that nothing is earned by words that are false; and it earns nothing by itself, so that a table of
totals stays what it is. A made-up id or quote, a wrong headline, wrong labels, denied facts, jumbled sections, words
that are no sentences and sentences the report does not stand for each cap the score. Standard library only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from blade.audit.arithmetic import check_arithmetic
from blade.audit.judge.facts import Fact
from blade.audit.judge.held import MADE_UP, Held, hold, states
from blade.audit.judge.meets import Met, coverage, look_for
from blade.audit.judge.said import Said
from blade.audit.judge.sentences import reads_as_prose
from blade.audit.judge.structure import Structure, look_at_structure
from blade.audit.judge.truth import Truth
from blade.audit.judge.voice import addressed
from blade.audit.outcome import Check
from blade.audit.told import Told, read_report
from blade.audit.wording import check_wording

FACTS, PROOF, STRUCTURE = 0.60, 0.25, 0.15
PENALTY = 5.0
"""How many true statements it takes to outweigh a false one."""
ENOUGH_CITED, ENOUGH_QUOTED = 8, 4
"""Different rollouts and different quotes that are proof enough; fewer when the golden report has fewer."""
MOST_WRONG_LABELS = 1 / 3
MOST_DENIED = 1 / 5
LEAST_OWN = 1 / 2
"""Share of its sentences that a report must stand for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap:
    """Something so wrong that no merit makes up for it."""

    limit: float
    """The most a report can still score."""
    why: str
    """What it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a report is worth."""

    found: list[Met]
    """The anchor facts."""
    held: list[Held]
    """Its statements."""
    proof: float
    """How much of what it says it shows, from 0 to 1."""
    structure: Structure
    """Its parts."""
    caps: list[Cap]
    """What limits it."""

    @property
    def facts(self) -> float:
        """The share of the facts' weight it asserts."""
        return coverage(self.found)

    @property
    def truth(self) -> float:
        """How true it is: 1 when nothing it says is wrong."""
        wrong = sum(not one.holds for one in self.held)
        return (len(self.held) - wrong) / (len(self.held) - wrong + PENALTY * wrong) if self.held else 1.0

    @property
    def score(self) -> float:
        """The score, from 0 to 1."""
        earned = self.truth * (FACTS * self.facts + PROOF * self.proof + STRUCTURE * self.structure.score)
        return min([earned, *(cap.limit for cap in self.caps)])


def judge(
    report: str,
    golden: str,
    facts: Sequence[Fact],
    truth: Truth,
    *,
    checked: Sequence[Held] = (),
    found: Sequence[Met] = (),
) -> Judgement:
    """A report against what is known of the run.

    Args:
        checked: statements that somebody with more at hand has held to the rows.
        found: facts that somebody else has decided, in place of ours.
    """
    told, model = read_report(report), read_golden(golden)
    said, best = Said(told.document, truth), Said(model.document, truth)
    decided = {one.fact.id: one for one in found}
    met = [decided.get(fact.id) or look_for(fact, said) for fact in facts]
    settled = settled_by(said, truth)
    faults = [one for one in own_faults(told, model) if (one.claim.line, one.claim.values[:1]) not in settled]
    held = merged([*hold(said, truth), *map(as_held, faults), *checked])
    structure = look_at_structure(said)
    return Judgement(
        found=met,
        held=held,
        proof=proof_of(said, best, truth),
        structure=structure,
        caps=caps(said, met, held, structure),
    )


@lru_cache(maxsize=2)
def read_golden(text: str) -> Told:
    """A golden report, read once however many reports are held against it."""
    return read_report(text)


def own_faults(told: Told, golden: Told) -> list[Check]:
    """Where a report contradicts itself, or says in the golden report's words what that does not say.

    A sentence that the golden report has too is true, whatever the report's own sums make of it.
    """
    known = {claim.sentence for claim in golden.claims}
    summed = [one for one in check_arithmetic(told) if one.claim.sentence not in known]
    return [one for one in (*summed, *check_wording(told, [golden])) if one.holds is False]


def settled_by(said: Said, truth: Truth) -> set[tuple[int, tuple[float, ...]]]:
    """Numbers that the run gives, by line: what else the report says cannot make them wrong."""
    known = ((one, truth.value(one.path)) for one in said.numbers)
    return {(one.line, (one.figure.value,)) for one, value in known if value is not None and states(one.figure, value)}


def as_held(check: Check) -> Held:
    """A check of a claim as a statement."""
    return Held(kind="arithmetic", holds=False, line=check.claim.line, said=check.claim.said, true=check.true)


def merged(held: list[Held]) -> list[Held]:
    """Each statement of a line once; one that is wrong by any measure is wrong."""
    worst: dict[tuple[int, str], Held] = {}
    for one in held:
        key = one.line, one.said
        if key not in worst or (worst[key].holds and not one.holds):
            worst[key] = one
    return sorted(worst.values(), key=lambda one: (one.line, one.said))


def proof_of(said: Said, golden: Said, truth: Truth) -> float:
    """How much is shown: different rollouts cited and different words quoted, of those that are enough."""
    cited, quoted = shown_by(said, truth)
    enough, enough_quoted = (max(len(one), 1) for one in shown_by(golden, truth))
    cited_share = min(1.0, len(cited) / min(ENOUGH_CITED, enough))
    return 0.5 * cited_share + 0.5 * min(1.0, len(quoted) / min(ENOUGH_QUOTED, enough_quoted))


def shown_by(said: Said, truth: Truth) -> tuple[set[str], set[tuple[str, str]]]:
    """Rollouts a report cites, and words it quotes from them; those known not to be there are left out."""
    real = [one for one in said.cited if truth.has_rollout(one.citation) is not False]
    quoted = {
        (one.citation, one.quote) for one in real if one.quote and truth.says(one.citation, one.quote) is not False
    }
    return {one.citation.partition("#")[0] for one in real}, quoted


def caps(said: Said, found: Sequence[Met], held: Sequence[Held], structure: Structure) -> list[Cap]:
    """Everything that limits a report."""
    made_up = [one for one in held if one.kind in MADE_UP and not one.holds]
    headline = [one for one in held if one.kind == "headline" and not one.holds]
    labels = [one for one in held if one.kind == "label"]
    wrong = [one for one in labels if not one.holds]
    denied = [one for one in found if one.verdict == "denied"]
    sentences, spoken = [sentence.text for sentence in said.sentences], sum(1 for _ in said.document.sentences())
    return [
        *(Cap(limit=0.30, why=f"line {one.line}: {one.said}: {one.true}") for one in made_up[:1]),
        *(Cap(limit=0.30, why=f"line {one.line}: the headline is wrong: {one.said}") for one in headline[:1]),
        *limit(
            0.35, len(wrong) > max(1.0, MOST_WRONG_LABELS * len(labels)), f"{len(wrong)} of {len(labels)} labels wrong"
        ),
        *limit(0.35, len(denied) > MOST_DENIED * len(found), f"{len(denied)} anchor facts are denied"),
        *limit(0.35, structure.is_jumbled, f"headings stand over something else: {', '.join(structure.misplaced)}"),
        *(Cap(limit=0.30, why=f"line {one.line}: speaks to its judge") for one in addressed(said.document)[:1]),
        *limit(0.35, len(said.own) < LEAST_OWN * spoken, f"it stands for {len(said.own)} of its {spoken} sentences"),
        *limit(0.10, not reads_as_prose(sentences), "its words are not in the order of sentences"),
    ]


def limit(most: float, holds: bool, why: str) -> list[Cap]:
    return [Cap(limit=most, why=why)] if holds else []
