"""The facts about failures: signals, patterns, causes, stages, findings, traits, headroom and what could be done."""

from collections import Counter
from collections.abc import Iterator, Sequence

from blade.audit.facts import Fact, Thing, Unit, count_fact, interval_fact, metric_facts, number_fact
from blade.diagnosis.analysis import MAX_LISTED, Analysis, Count, Finding, Intervention, PackUse, SourceFile
from blade.diagnosis.headroom import Headroom
from blade.diagnosis.labels import CAUSES, is_by_rule
from blade.diagnosis.pairs import Trait
from blade.report.advice import lost_share
from blade.report.citations import rollout_of, task_of
from blade.report.contrasts import MODES
from blade.report.dives import failing_citations
from blade.report.headline import failing_rollouts, is_rate

SEEN = frozenset({"signal", "pattern", "failure", "mode", "rollout", "fail", "error"})


def mode_facts(analysis: Analysis) -> Iterator[Fact]:
    """Everything that says why rollouts fail, and what came in."""
    yield from signal_facts(analysis)
    yield from pack_facts(analysis)
    yield from seen_facts(analysis)
    yield from cause_facts(analysis)
    yield from stage_facts(analysis)
    yield from finding_facts(analysis)
    yield from contrast_facts(analysis)
    yield from headroom_facts(analysis)
    yield from source_facts(analysis)


def signal_facts(analysis: Analysis) -> Iterator[Fact]:
    wholes = failing_wholes(analysis)
    for signal in analysis.signals:
        names = (signal.title, *spellings(signal.code))
        thing = Thing("signal", signal.code, names, SEEN)
        path = f"signals.{signal.code}"
        rollouts = ("rollouts", "", "seen rollouts")
        yield from count_fact(
            f"{path}.rollouts", signal.rollouts, *rollouts, thing=thing, wholes=(analysis.coverage.rollouts,)
        )
        failed = ("", "failing rollouts", "failed", "failures", "rollouts not passed")
        yield from count_fact(f"{path}.failed", signal.failed, *failed, thing=thing, wholes=(*wholes, signal.rollouts))
        yield from count_fact(
            f"{path}.passed", signal.passed, "passed", "passing rollouts", thing=thing, wholes=(signal.rollouts,)
        )
        yield from count_fact(f"{path}.tasks", signal.tasks, "tasks", thing=thing, wholes=(analysis.coverage.tasks,))


def spellings(code: str) -> tuple[str, ...]:
    """A short name as it is, and as prose would write it."""
    return tuple(dict.fromkeys((code, code.replace("_", " "), code.replace("_", "-"))))


def seen_facts(analysis: Analysis) -> Iterator[Fact]:
    """How often a signal or a pattern was seen in the rollouts of one task."""
    patterns = [] if analysis.pack is None else analysis.pack.patterns
    results = {result.task: result for result in analysis.tasks}
    failing = failing_citations(analysis)
    listed = [(pattern.code, pattern.citations) for pattern in patterns if len(pattern.citations) < MAX_LISTED]
    for code, citations in [*((signal.code, signal.citations) for signal in analysis.signals), *listed]:
        rollouts = list(dict.fromkeys(map(rollout_of, citations)))
        counts = Counter(map(task_of, rollouts))
        failed = Counter(task_of(rollout) for rollout in rollouts if failing is None or rollout in failing)
        for task, count in counts.items():
            result = results[task]
            thing = Thing("seen", f"{task}|{code}", (), SEEN | {"task", "repeat"})
            wholes = dict.fromkeys((result.rollouts - result.c, result.n - result.c, result.rollouts, result.n))
            for value in dict.fromkeys((failed[task], count)):
                names = (
                    "",
                    "rollouts",
                    "failing rollouts",
                    "failures",
                    "passed" if value != failed[task] else "failed",
                )
                yield from count_fact(f"signals.{code}.{task}", value, *names, thing=thing, wholes=wholes)


def failing_wholes(analysis: Analysis) -> tuple[int, ...]:
    """What failing rollouts are counted out of: all that did not pass, or the scored ones alone."""
    if not is_rate(analysis):
        return (analysis.coverage.rollouts,)
    scored = sum(result.n - result.c for result in analysis.tasks)
    return tuple(dict.fromkeys((failing_rollouts(analysis), scored)))


def pack_facts(analysis: Analysis) -> Iterator[Fact]:
    pack = analysis.pack
    if pack is None:
        return
    yield from count_fact("pack.failing", pack.failing, "failing rollouts", "rollouts not known to have passed")
    yield from count_fact("pack.unexplained", pack.unexplained, "unexplained", "belong to none", wholes=(pack.failing,))
    for pattern in pack.patterns:
        yield from pattern_facts(analysis, pack, pattern.code)


def pattern_facts(analysis: Analysis, pack: PackUse, code: str) -> Iterator[Fact]:
    pattern = next(found for found in pack.patterns if found.code == code)
    thing = Thing("pattern", code, (pattern.title, *spellings(code)), SEEN)
    path, wholes = f"pack.patterns.{code}", (*failing_wholes(analysis), pack.failing)
    show = ("show it", "", "rollouts", "failing rollouts", "failures")
    yield from count_fact(f"{path}.rollouts", pattern.rollouts, *show, thing=thing, wholes=wholes)
    belong = ("belong to it", "primary", "", "rollouts", "failing rollouts", "failures")
    yield from count_fact(f"{path}.primary", pattern.primary, *belong, thing=thing, wholes=wholes)
    yield from count_fact(f"{path}.tasks", pattern.tasks, "tasks", thing=thing, wholes=(analysis.coverage.tasks,))
    yield from count_fact(f"{path}.passed", pattern.passed, "passed all the same", "passed", thing=thing)
    for count in pattern.by:
        if count.value is not None:
            value = Thing("value", f"{code}={count.value}", (count.value,), SEEN)
            yield from count_fact(f"{path}.by.{count.value}", count.rollouts, "", "rollouts", thing=value)


def cause_facts(analysis: Analysis) -> Iterator[Fact]:
    total, tasks, lost = len(analysis.causes), analysis.coverage.tasks, lost_share(analysis)
    drafts = Counter(cause.label for cause in analysis.causes if is_by_rule(cause.author))
    labels = Counter(cause.label for cause in analysis.causes)
    for label, count in labels.items():
        meaning = " and ".join(CAUSES.get(part, part) for part in label.removesuffix("?").split("+"))
        parts = frozenset(part.lower() for part in label.removesuffix("?").split("+"))
        thing = Thing("cause", label, (label,), parts | {"cause", "label", "task", *meaning.split()})
        path = f"causes.{label}"
        yield from count_fact(path, count, "", "tasks", thing=thing, wholes=(total, tasks))
        yield from count_fact(f"{path}.drafts", drafts[label], "drafts by rule", thing=thing, wholes=(count,))
        yield from count_fact(
            f"{path}.judged", count - drafts[label], "judged by a reader", thing=thing, wholes=(count,)
        )
        yield from gain_fact(thing, [lost.get(cause.task) for cause in analysis.causes if cause.label == label])
    for cause in CAUSES:
        if count := sum(cause in label.removesuffix("?").split("+") for label in labels.elements()):
            thing = Thing(
                "cause", cause, (cause,), frozenset({cause.lower(), "cause", "label", "task", *CAUSES[cause].split()})
            )
            yield from count_fact(f"causes.{cause}", count, "", "tasks", thing=thing, wholes=(total, tasks))
            having = [found for found in analysis.causes if cause in found.label.removesuffix("?").split("+")]
            yield from gain_fact(thing, [lost.get(found.task) for found in having])
    by_rule = sum(drafts.values())
    yield from count_fact("causes", total, "causes", "labelled tasks", "labels", wholes=(tasks,))
    rule = ("drafts by rule", "causes drafts by rule", "tasks drafts by rule", "other drafts by rule", "tasks by rule")
    yield from count_fact("causes.drafts", by_rule, *rule, wholes=(total,))
    judged = (
        "judged by a reader",
        "causes judged by a reader",
        "tasks judged by a reader",
        "tasks judged",
        "tasks read",
    )
    yield from count_fact("causes.judged", total - by_rule, *judged, wholes=(total,))
    yield from count_fact(
        "reading_list", len(analysis.reading_list), "tasks on the reading list", "to read", "tasks to read"
    )


def gain_fact(thing: Thing, lost: Sequence[float | None]) -> Iterator[Fact]:
    """What pass@1 would be more if every task of a label always passed."""
    known = [share for share in lost if share is not None]
    names = ("", "gain", "always", "worth", "cost", "costs")
    yield from number_fact(f"causes.{thing.key}.gain", sum(known) if known else None, "gain", *names, thing=thing)


def stage_facts(analysis: Analysis) -> Iterator[Fact]:
    before: int | None = None
    for stage in analysis.funnel:
        thing = Thing("stage", stage.name, (stage.name,), frozenset({"stage", "rollout", "lost", "before"}))
        path, whole = f"funnel.{stage.name}", analysis.coverage.rollouts
        yield from count_fact(f"{path}.rollouts", stage.rollouts, "", "rollouts", thing=thing, wholes=(whole,))
        yield from count_fact(f"{path}.tasks", stage.tasks, "tasks", thing=thing, wholes=(analysis.coverage.tasks,))
        if stage.rollouts is not None and before is not None:
            lost = before - stage.rollouts
            yield from count_fact(
                f"{path}.lost", lost, "lost", "lost before", "rollouts lost", thing=thing, wholes=(before,)
            )
        before = stage.rollouts if stage.rollouts is not None else before


def finding_facts(analysis: Analysis) -> Iterator[Fact]:
    about = ("findings", "findings data", "findings data infrastructure verifier", "health findings")
    yield from count_fact("health", len(analysis.health), *about)
    for place, finding in enumerate(analysis.health):
        yield from one_finding(place, finding)


def one_finding(place: int, finding: Finding) -> Iterator[Fact]:
    thing = Thing("finding", f"{place}", (finding.message,), frozenset({"rollout", "row", "finding", finding.code}))
    path = f"health.{place}"
    yield from count_fact(f"{path}.rows", finding.rows, "", "rows", "rollouts", thing=thing)
    if finding.tasks:
        yield from count_fact(f"{path}.tasks", finding.tasks, "tasks", thing=thing)
    without = ("headline without", "without these rollouts")
    yield from number_fact(f"{path}.headline_without", finding.headline_without, "share", *without, thing=thing)
    repaired = ("had they passed", "headline had passed")
    yield from number_fact(f"{path}.headline_repaired", finding.headline_repaired, "share", *repaired, thing=thing)


def contrast_facts(analysis: Analysis) -> Iterator[Fact]:
    contrast = analysis.contrast
    if not contrast.tasks:
        return
    both = (
        "rollouts of tasks with both outcomes",
        "rollouts both outcomes",
        "separates pass fail within task rollouts tasks outcomes",
    )
    yield from count_fact("contrast.rollouts", contrast.rollouts, *both)
    yield from count_fact("contrast.tasks", contrast.tasks, "tasks with both outcomes", "tasks both outcomes")
    yield from count_fact("contrast.tested", contrast.tested, "traits tested")
    yield from count_fact("contrast.traits", len(contrast.traits), "traits", "traits listed", "adjusted p-value")
    for trait in contrast.traits:
        yield from trait_facts(trait)


def trait_facts(trait: Trait) -> Iterator[Fact]:
    thing = Thing("trait", trait.trait, (trait.trait,), frozenset({"trait", "rollout", "odds", "ratio"}))
    path = f"contrast.traits.{trait.trait}"
    for side, (count, whole) in (("passing", trait.passing), ("failing", trait.failing)):
        phrases = (side, f"{side} rollouts", f"{side} with it")
        yield from count_fact(f"{path}.{side}", count, *phrases, thing=thing, wholes=(whole,))
    yield from number_fact(
        f"{path}.odds_ratio", trait.odds_ratio, "number", "odds ratio of failing", "odds ratio", thing=thing
    )
    yield from interval_fact(f"{path}.ci95", trait.ci95, "number", "interval", "odds ratio interval", thing=thing)
    yield from number_fact(f"{path}.q_value", trait.q_value, "number", "adjusted p", "p", thing=thing)


def headroom_facts(analysis: Analysis) -> Iterator[Fact]:
    titles = MODES | {signal.code: signal.title for signal in analysis.signals}
    unit: Unit = "share" if is_rate(analysis) else "number"
    for row in analysis.headroom:
        yield from one_mode(row, titles.get(row.mode, row.mode.replace("_", " ")), unit)
    for found in analysis.interventions:
        yield from work_facts(found, unit)


def gain_unit(unit: Unit) -> Unit:
    return "points" if unit == "share" else unit


def one_mode(row: Headroom, title: str, unit: Unit) -> Iterator[Fact]:
    thing = Thing("mode", row.mode, (title, row.mode), SEEN | {"gone", "removed", "without"})
    path = f"headroom.{row.mode}"
    yield from number_fact(f"{path}.score", row.score, unit, "headline", thing=thing)
    yield from metric_facts(f"{path}.gain", row.gain, gain_unit(unit), ("", "gain"), thing=thing)
    yield from count_fact(f"{path}.tasks", row.tasks, "tasks moved", thing=thing)
    yield from count_fact(f"{path}.unseen_tasks", row.unseen_tasks, "tasks it cannot be seen in", thing=thing)
    yield from count_fact(f"{path}.rollouts", row.rollouts, "failing rollouts", thing=thing)


def work_facts(found: Intervention, unit: Unit) -> Iterator[Fact]:
    words = frozenset(
        {"perfectly", "worked", "cause", "rest", "rests", "kind", found.cause.lower(), f"`{found.target}`"}
    )
    thing = Thing("work", found.target, (found.what,), words)
    path = f"interventions.{found.target}"
    yield from metric_facts(f"{path}.headroom", found.headroom, gain_unit(unit), ("", "gain", "headroom"), thing=thing)
    yield from count_fact(f"{path}.tasks", found.tasks, "tasks moved", "tasks", thing=thing)
    yield from count_fact(f"{path}.unseen_tasks", found.unseen_tasks, "tasks it cannot be seen in", thing=thing)
    yield from count_fact(f"{path}.rollouts", found.rollouts, "rollouts", "failing rollouts", thing=thing)


def source_facts(analysis: Analysis) -> Iterator[Fact]:
    """Files, models, agents and published metrics."""
    inputs, rollouts = analysis.inputs, analysis.coverage.rollouts
    for file in inputs.files:
        yield from file_facts(file)
    for kind, counts in (("model", inputs.models), ("agent", inputs.agents)):
        for count in counts:
            yield from model_fact(kind, count, rollouts)
    yield from count_fact("inputs.models", len([c for c in inputs.models if c.value]), "models")
    for check in inputs.published:
        thing = Thing("file", check.file, (check.file,), frozenset({"published", "metric", "value"}))
        differ = ("differ", "differ from what the rows give", "published values differ from the rows")
        yield from count_fact(
            f"inputs.published.{check.file}", len(check.different), *differ, thing=thing, wholes=(check.compared,)
        )
        equal = ("values recomputed equal", "values equal")
        yield from count_fact(f"inputs.published.{check.file}", check.compared, *equal, thing=thing)


def file_facts(file: SourceFile) -> Iterator[Fact]:
    thing = Thing("file", file.name, (file.name,), frozenset({"file", "format"}))
    yield from count_fact(f"inputs.files.{file.name}.rows", file.rows, "rows", "", thing=thing)
    yield from number_fact(f"inputs.files.{file.name}.bytes", file.bytes, "bytes", "size", "", thing=thing)


def model_fact(kind: str, count: Count, rollouts: int) -> Iterator[Fact]:
    if count.value is not None:
        thing = Thing(kind, count.value, (count.value,), frozenset({"model", "agent"}))
        yield from count_fact(
            f"inputs.{kind}s.{count.value}", count.rollouts, "rollouts", "", thing=thing, wholes=(rollouts,)
        )
