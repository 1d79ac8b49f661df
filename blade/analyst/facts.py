"""What a model may say in figures, and whom it may quote: facts that are whole clauses, and quotes that were looked up.

A number alone can be put into any sentence, also a false one. So a model never handles numbers: it names a fact, which
brings its own words (`6 of 36 tasks never pass`), or a quote, which brings its place. Each is a template of the
narrative's language, and is offered only if the run has its values.
"""

import json
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from blade.audit.narrated import Standard
from blade.diagnosis.analysis import Analysis, Cause
from blade.diagnosis.labels import CAUSES, UNDECIDED, Evidence, is_by_rule
from blade.errors import BladeError
from blade.report.dives import cause_words
from blade.report.headline import is_rate
from blade.report.narrative import FrontMatter, Narrative
from blade.report.text import Markdown

MOST_SIGHTINGS, MOST_FIELDS, MOST_LEVELS, MOST_TASKS, MOST_QUOTES = 6, 4, 6, 12, 24
LONGEST_QUOTE = 160
SIDES = ("failing", "passing")
NO_MODE = ("baseline", "all modes", "oracle")
"""Rows of the headroom that are not about one failure mode."""
PLACE = "Findings No Table Shows"
"""Where a fact is tried."""


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """Something a model may name."""

    name: str
    """`F3` of a fact, `Q2` of a quote."""
    template: str
    """What is written for it in the narrative."""
    text: Markdown
    """What that reads like now."""


def facts_of(standard: Standard) -> list[Offer]:
    """Every fact that holds, under a name."""
    return offered("F", fact_templates(standard.analysis), standard)


def quotes_of(standard: Standard, more: Iterable[Evidence] = ()) -> list[Offer]:
    """Quotes of those who have read, and `more`; those of rules where nobody has."""
    causes = standard.analysis.causes
    read = [cause for cause in causes if not is_by_rule(cause.author)] or causes
    proofs = [*(proof for cause in read for proof in cause.evidence), *more]
    short = [proof for proof in proofs if proof.quote and len(proof.quote) <= LONGEST_QUOTE]
    templates = dict.fromkeys(map(quote_template, short))
    return offered("Q", list(templates)[:MOST_QUOTES], standard)


def quote_template(proof: Evidence) -> str:
    return f"{{{{ cite({literal(proof.citation)}, {literal(proof.quote or '')}) }}}}"


def offered(letter: str, templates: Iterable[str], standard: Standard) -> list[Offer]:
    """Templates with their names and texts; those that the run has no values for are left out."""
    kept = [(template, text) for template in templates if (text := fill(template, standard)) is not None]
    return [
        Offer(name=f"{letter}{number}", template=template, text=text)
        for number, (template, text) in enumerate(kept, start=1)
    ]


def fill(template: str, standard: Standard) -> Markdown | None:
    """What a template reads like; nothing when the run does not have its values."""
    front = FrontMatter(author="llm:blade", model=standard.analysis.inputs.run)
    narrative = Narrative(where="facts", front=front, sections={PLACE: template}, lines={PLACE: 1})
    try:
        return Markdown(standard.fill(narrative, PLACE).text)
    except BladeError:
        return None


def literal(text: str) -> str:
    """A text as the template language writes it."""
    return json.dumps(text, ensure_ascii=False)


def fact_templates(analysis: Analysis) -> Iterator[str]:
    """What can be said of a run in figures, the most general first."""
    headline = "pass@1" if is_rate(analysis) else "mean reward"
    form = "pct" if is_rate(analysis) else "num"
    yield f'{headline} is {{{{ headline | {form} }}}} (95 % interval {{{{ headline | ci("{form}") }}}})'
    if is_rate(analysis):
        yield from (
            f"{{{{ buckets.{name} | count }}}} of {{{{ tasks | count }}}} tasks {name} pass"
            for name in ("always", "sometimes", "never")
        )
        yield "the retry value is {{ metrics.retry_value | pp }}"
    yield from lost_templates(analysis)
    yield from label_templates(analysis.causes)
    yield from sighting_templates(analysis)
    yield from level_templates(analysis, headline)
    yield from task_templates(analysis.causes)


def lost_templates(analysis: Analysis) -> Iterator[str]:
    """What is missing, and what is not the model's doing."""
    coverage = analysis.coverage
    if coverage.missing:
        yield 'missing: {{ coverage.missing | plural("rollout") }}'
    if coverage.truncated:
        yield 'truncated: {{ coverage.truncated | plural("rollout") }}'
    if coverage.infrastructure:
        yield 'not passed with infrastructure to blame: {{ coverage.infrastructure | plural("rollout") }}'


def label_templates(causes: Sequence[Cause]) -> Iterator[str]:
    """How many tasks have each label, in the order of causes."""
    labels = {cause.label for cause in causes}
    for label in sorted(labels, key=lambda label: ([*CAUSES, UNDECIDED].index(label[:2]), label)):
        meaning = "" if label.endswith("?") else f" ({cause_words(label)})"
        count = f'{{{{ labels[{literal(label)}] | plural("task") }}}}'
        yield f"the label `{label}`{meaning} is given to {count}"


def sighting_templates(analysis: Analysis) -> Iterator[str]:
    """Patterns, signals, traits and modes, the most frequent or telling of each."""
    patterns = [] if analysis.pack is None else analysis.pack.patterns
    for pattern in sorted(patterns, key=lambda one: -one.rollouts)[:MOST_SIGHTINGS]:
        name = f"patterns[{literal(pattern.code)}]"
        yield f'{{{{ {name}.title }}}} in {{{{ {name}.rollouts | plural("failing rollout") }}}}'
    for signal in [one for one in analysis.signals if one.failed][:MOST_SIGHTINGS]:
        name = f"signals[{literal(signal.code)}]"
        yield f'{{{{ {name}.title }}}} in {{{{ {name}.failed | plural("failing rollout") }}}}'
    for trait in analysis.contrast.traits[:MOST_SIGHTINGS]:
        name = f"traits[{literal(trait.trait)}]"
        shares = [f"{{{{ {name}.{side}[0] }}}} of {{{{ {name}.{side}[1] }}}} {side} rollouts" for side in SIDES]
        yield f"{{{{ {name}.trait }}}} goes with {trait.favours}ing: {' and '.join(shares)}"
    modes = [row for row in analysis.headroom if row.mode not in NO_MODE and (row.gain.value or 0) > 0]
    titles = {signal.code: f"signals[{literal(signal.code)}].title" for signal in analysis.signals}
    for row in modes[:MOST_SIGHTINGS]:
        name = f"headroom[{literal(row.mode)}]"
        title = titles.get(row.mode, f"{name}.mode")
        yield f"{{{{ {title} }}}}: without it the gain is {{{{ {name}.gain | pp }}}}"


def level_templates(analysis: Analysis, headline: str) -> Iterator[str]:
    """The headline at the levels of a few fields."""
    form = "pct" if is_rate(analysis) else "num"
    for table in analysis.slices[:MOST_FIELDS]:
        for level in table.levels[:MOST_LEVELS]:
            name = f"slices[{literal(table.field)}][{literal(level.level)}]"
            where = f"{{{{ slices[{literal(table.field)}].field | code }}}} is {{{{ {name}.level | code }}}}"
            yield f"{headline} is {{{{ {name}.headline | {form} }}}} where {where}"


def task_templates(causes: Sequence[Cause]) -> Iterator[str]:
    """How often tasks pass that somebody has read."""
    read = [cause.task for cause in causes if not is_by_rule(cause.author)]
    for task in read[:MOST_TASKS]:
        name = f"task({literal(task)})"
        yield f"task {{{{ {name} }}}} passed {{{{ {name}.c }}}} of {{{{ {name}.n }}}} rollouts"
