"""A passing and a failing rollout of one task, side by side: what did one do that the other did not?

The answer must quote both, and a quote that stands in both shows no difference.
"""

from collections.abc import Iterator

import msgspec

from blade.analyst.answer import Proof, cite, renamed
from blade.analyst.conversation import NotAccepted, fenced, instructions, read_json
from blade.analyst.excerpts import Excerpt, take_excerpt
from blade.analyst.facts import LONGEST_QUOTE, literal, quote_template
from blade.analyst.points import check_section, check_words, sentence
from blade.analyst.prompt import KEYS
from blade.audit.narrated import Standard
from blade.diagnosis.labels import Evidence
from blade.errors import BladeError
from blade.llm.model import Request, Sampling, user_message
from blade.report.citations import item_of, rollout_of
from blade.report.labelling import check_evidence
from blade.report.workspace import Workspace, judged_rollouts

HEADING = "Sometimes-Pass Deep Dives"
MOST_DIFFERENCE = 400


class Difference(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What tells a failing rollout from a passing one."""

    failing: Proof
    """Words of R1 that show what it did."""
    passing: Proof
    """Words of R2 that show what it did instead."""
    difference: str
    """One or two plain sentences: what R2 did that R1 did not. No numbers, no quotations."""


DECODER = msgspec.json.Decoder(Difference)
SCHEMA = msgspec.json.schema(Difference)
INSTRUCTIONS = (
    instructions("writing.md")
    + """
{"failing": {"rollout": "R1#4", "quote": "..."}, "passing": {"rollout": "R2#4", "quote": "..."}, "difference": "..."}

Copy each quote character by character from that rollout: a few words that the other rollout does not say.
"""
)


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Two rollouts of one task, ready to be asked about."""

    task: str
    """Task key."""
    excerpts: list[Excerpt]
    """The failing one as R1, the passing one as R2."""

    @property
    def name(self) -> str:
        """The citations of both."""
        return " ".join(excerpt.citation for excerpt in self.excerpts)

    @property
    def text(self) -> str:
        """The message to the model."""
        failing, passing = self.excerpts
        return "\n\n".join(
            [
                "Two rollouts of the same task. R1 failed:",
                fenced(failing.text),
                "R2 passed:",
                fenced(passing.text),
                "What did R2 do that R1 did not? Answer with the JSON object only.",
            ]
        )

    def request(self, sampling: Sampling) -> Request:
        """The first request about the pair."""
        return Request(instructions=INSTRUCTIONS, input=[user_message(self.text)], sampling=sampling, schema=SCHEMA)


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """A difference that was looked up."""

    task: str
    """Task key."""
    template: str
    """What the narrative says of it."""
    words: str
    """The difference in the model's words."""
    evidence: list[Evidence]
    """The failing quote and the passing one."""


def pairs(workspace: Workspace, standard: Standard, *, most: int, chars: int) -> Iterator[Pair]:
    """The closest passing and failing rollouts of tasks that pass sometimes, in the order of the reading list."""
    known = {pair.task: pair for pair in standard.analysis.contrast.pairs}
    listed = [item.task for item in standard.analysis.reading_list if item.task in known]
    for task in list(dict.fromkeys([*listed, *known]))[:most]:
        rows = [standard.run.row(rollout_of(place)) for place in (known[task].failing, known[task].passing)]
        rollouts = judged_rollouts(workspace, standard.run, rows)
        yield Pair(
            task=task,
            excerpts=[
                take_excerpt(f"R{number}", rollout, chars=chars // 2, hidden=KEYS)
                for number, rollout in enumerate(rollouts, start=1)
            ],
        )


def accept_difference(text: str, pair: Pair, standard: Standard) -> Told:
    """The difference a reply tells, once everything in it was looked up.

    Raises:
        NotAccepted: with what is wrong, in words for the model.
    """
    answer = read_json(text, DECODER)
    words = check_words(answer.difference, MOST_DIFFERENCE)
    failing, passing = pair.excerpts
    evidence = [
        look_up(answer.failing, failing, other=passing, standard=standard),
        look_up(answer.passing, passing, other=failing, standard=standard),
    ]
    name = f"task({literal(pair.task)})"
    quotes = "Failing: {}. Passing: {}.".format(*map(quote_template, evidence))
    rate = f"{{{{ {name}.c }}}} of {{{{ {name}.n }}}}"
    template = f"- Task {{{{ {name} }}}} passed {rate} rollouts. {sentence(words)} {quotes}"
    check_section(HEADING, template, standard)
    return Told(task=pair.task, template=template, words=words, evidence=evidence)


def look_up(proof: Proof, mine: Excerpt, *, other: Excerpt, standard: Standard) -> Evidence:
    """The proof with its citation, once it stands in what one rollout did and not in what the other did."""
    found = cite(proof, {mine.name: mine.citation})
    try:
        checked = check_evidence(found, standard.run)
    except BladeError as error:
        raise NotAccepted(renamed(str(error), [mine, other])) from error
    quote, place = proof.quote, item_of(checked.citation)
    if len(quote) > LONGEST_QUOTE:
        raise NotAccepted(f"{quote[:60]!r}… has {len(quote)} characters; quote {LONGEST_QUOTE} at most.")
    own = [item for item in mine.rollout.items if not item.prompt and place in (None, item.position)]
    if not any(quote in item.text for item in own):
        raise NotAccepted(f"{quote[:60]!r} was given to {mine.name}; quote what {mine.name} did itself.")
    if any(quote in item.text for item in other.rollout.items):
        raise NotAccepted(f"{quote[:60]!r} stands in {other.name} too, so it tells no difference.")
    return checked
