"""What differs between two runs in what their rows state about how they were made.

What a run's rows do not state is unknown, never "unchanged". When more than one thing changed, what each of them did
to the score cannot be told apart, and that is said.
"""

from typing import Final, NamedTuple

from blade.comparison.comparison import ConfigChange
from blade.comparison.pairing import Pairing, Scores
from blade.comparison.statements import MOST_VALUES, SKILLS, Stated, Values, state
from blade.diagnosis import Diagnosed
from blade.diagnosis.answers import EXPECTED_FIELDS
from blade.rollouts.columns import level_text

ASPECTS: tuple[str, ...] = ("model", "agent", "sampling", "prompt", "tools", "skills", "verifier", "dataset", "other")
NOT_ALWAYS: Final = frozenset({"skills", "verifier", "other"})
"""Aspects that many runs have nothing of, so that not stating them is no news."""
TASK_SET: Final = "task set"
TASK_TEXT: Final = "text of the task"


class Configuration(NamedTuple):
    """How two runs differ in what their rows state."""

    changes: list[ConfigChange]
    same: list[str]
    unknown: list[str]


def compare_configurations(base: Diagnosed, candidate: Diagnosed, pairing: Pairing) -> Configuration:
    """What differs, what is stated alike, and what is not stated."""
    first, second = (
        state(run, scores, pairing) for run, scores in ((base, pairing.base), (candidate, pairing.candidate))
    )
    changes = [*changed_values(first, second), *changed_fields(first, second)]
    changes += [*added_skills(first, second), *changed_tasks(base, candidate, pairing), *changed_prompts(first, second)]
    changes.sort(key=lambda change: (ASPECTS.index(change.aspect), change.name))
    changed = {change.aspect for change in changes}
    stated = {aspect for aspect, _ in first.values.keys() & second.values.keys()} | {"dataset"}
    same = [aspect for aspect in ASPECTS if aspect in stated - changed and aspect != "other"]
    unknown = [aspect for aspect in ASPECTS if aspect not in stated | changed | NOT_ALWAYS]
    return Configuration(changes, same, unknown)


def changed_values(first: Stated, second: Stated) -> list[ConfigChange]:
    """Statements both runs make, differently."""
    shared = sorted(first.values.keys() & second.values.keys())
    return [
        ConfigChange(aspect=key[0], name=key[1], base=listed(first.values[key]), candidate=listed(second.values[key]))
        for key in shared
        if first.values[key] != second.values[key]
    ]


def added_skills(first: Stated, second: Stated) -> list[ConfigChange]:
    """Skills that one run had and the other, whose rows carry no stamp, had not."""
    key = ("skills", SKILLS[0])
    had = [side.values.get(key, ()) for side in (first, second)]
    if bool(had[0]) == bool(had[1]):
        return []
    base, candidate = (listed(values) if values else ["none"] for values in had)
    return [ConfigChange(aspect=key[0], name=key[1], base=base, candidate=candidate)]


def listed(values: Values) -> list[str]:
    """The first values and how many follow."""
    more = [f"and {len(values) - MOST_VALUES} more"] if len(values) > MOST_VALUES else []
    return [*values[:MOST_VALUES], *more]


def changed_fields(first: Stated, second: Stated) -> list[ConfigChange]:
    """Fields that nearly every row of one run has and the other's rows lack: another verifier or dataset wrote them."""
    mine, theirs = sorted(first.fields - second.any_fields), sorted(second.fields - first.any_fields)
    if not mine and not theirs:
        return []
    name = "fields only one run has"
    return [ConfigChange(aspect="verifier", name=name, base=listed(tuple(mine)), candidate=listed(tuple(theirs)))]


def changed_tasks(base: Diagnosed, candidate: Diagnosed, pairing: Pairing) -> list[ConfigChange]:
    """Tasks only one run has, and shared tasks whose expected answer differs."""
    out: list[ConfigChange] = []
    alone = [int((mine.knows & ~other.knows).sum()) for mine, other in both_ways(pairing)]
    if any(alone):
        mine, theirs = ([f"{count} {'task' if count == 1 else 'tasks'} of its own"] if count else [] for count in alone)
        out.append(ConfigChange(aspect="dataset", name=TASK_SET, base=mine, candidate=theirs))
    for field in EXPECTED_FIELDS:
        answers = [expected(run, scores, field) for run, scores in sides(base, candidate, pairing)]
        differ = sum(answers[1].get(task, value) != value for task, value in answers[0].items())
        if differ:
            said = f"differs on {differ} of {len(answers[0].keys() & answers[1].keys())} shared tasks"
            out.append(ConfigChange(aspect="dataset", name=field, base=[], candidate=[said]))
    return out


def both_ways(pairing: Pairing) -> list[tuple[Scores, Scores]]:
    return [(pairing.base, pairing.candidate), (pairing.candidate, pairing.base)]


def sides(base: Diagnosed, candidate: Diagnosed, pairing: Pairing) -> list[tuple[Diagnosed, Scores]]:
    return [(base, pairing.base), (candidate, pairing.candidate)]


def expected(diagnosed: Diagnosed, scores: Scores, field: str) -> dict[int, str]:
    """What each task expects, by the first row that says."""
    column = diagnosed.run.table.rows.columns.get(field)
    if column is None:
        return {}
    coded = column.coded()
    found: dict[int, str] = {}
    for place, code in zip(scores.place.tolist(), coded.values.tolist(), strict=True):
        if code >= 0:
            found.setdefault(place, level_text(coded.levels[code]))
    return found


def changed_prompts(first: Stated, second: Stated) -> list[ConfigChange]:
    """Tasks whose own prompt reads differently, among those read; none where a run words it anew each time."""
    read = first.prompts.keys() & second.prompts.keys()
    if any(len(side.prompts[task]) > 1 for side in (first, second) for task in read):
        return []
    differ = sum(first.prompts[task] != second.prompts[task] for task in read)
    if not differ:
        return []
    said = f"differs on {differ} of {len(read)} tasks that were read"
    return [ConfigChange(aspect="prompt", name=TASK_TEXT, base=[], candidate=[said])]


def describe_configuration(found: Configuration) -> list[str]:
    """What the differences mean for the verdict; other tasks do not touch it, since only shared ones are compared."""
    said = [
        f"the text of tasks {change.candidate[0]}: keys may name different tasks"
        for change in found.changes
        if change.name == TASK_TEXT
    ]
    touching = {change.aspect for change in found.changes if change.name != TASK_SET}
    aspects = [aspect for aspect in ASPECTS if aspect in touching]
    if len(aspects) > 1:
        named = ", ".join(aspects[:-1]) + f" and {aspects[-1]}"
        said.append(f"{named} changed together: what each of them did to the score cannot be told apart")
    return said
