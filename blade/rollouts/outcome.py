"""What a row says about how its rollout went, in the words of its own format: status, tokens, time, score.

Zero tokens in and out is how some agents write "not counted", so it is unknown here. A null status is normal and
means nothing.
"""

import re
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from blade.rollouts.columns import Column, from_values, unknown
from blade.rollouts.formats import Format, bare
from blade.rollouts.formats.records import ERROR_FIELDS
from blade.rollouts.identity import HALF, require_field
from blade.rollouts.provider_errors import provider_error
from blade.rollouts.rows import Rows
from blade.rollouts.scan import PROVIDER_ERROR
from blade.rollouts.table import COMPLETED, ENDING_KINDS, FAILED, ORIGINS, TRUNCATED, Floats, examples, text_or_none

AGENT_FIELDS = ("agent_ref.name", "agent", "agent_name", "harness")
INPUT_TOKENS = (
    "response.usage.input_tokens",
    "response.usage.prompt_tokens",
    "usage.input_tokens",
    "usage.prompt_tokens",
)
OUTPUT_TOKENS = (
    "response.usage.output_tokens",
    "response.usage.completion_tokens",
    "usage.output_tokens",
    "usage.completion_tokens",
)
SECONDS_FIELDS = ("agent_run_time", "total_run_time", "result.duration", "duration_s", "duration", "seconds", "latency")
ERROR_PARTS = ("", ".type", ".name", ".class", ".code", ".message")
"""Where an error that is an object keeps its type."""
FINISH_FIELDS = ("finish_reason", "stop_reason", "response.finish_reason", "response.stop_reason")
FINISHED_BY_LIMIT = ("length", "max_tokens", "max_output_tokens")
"""How the chat APIs say that a completion was cut off."""
SHOWN = 40
FRACTION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?/ ?([1-9]\d{0,8})")
TIMEOUT_CLASSES = ("timeout_exceeded", "timeout")
NOT_RUN_CLASSES = ("skipped",)
FAILURE_FIELDS = ("_ng_failure_class", "response.id")
"""`response.id` holds only the endings by which older runners marked rows that failed."""


def choose_reward(
    rows: Rows, form: Format, wanted: str | None, *, required: bool = True, words: Sequence[str] = ()
) -> str | None:
    """The field that holds the score; `None` when rows have none, unless one is required of records."""
    if wanted is not None:
        for name in named_fields(wanted, rows.columns):
            require_field(rows, name)
        return wanted
    found = [path for path in form.reward_fields if path in rows.columns and rows.columns[path].kind != "list"]
    if not required:
        found = [path for path in found if scored_share(rows, path, words)]
    return max(found, key=lambda path: scored_share(rows, path, words), default=None)


def quotient(name: str, fields: Collection[str]) -> tuple[str, str] | None:
    """The two fields of a score given as `score/max_score`; `None` for the name of one field."""
    made, slash, most = name.partition("/")
    return (made, most) if slash and made and most and name not in fields else None


def named_fields(name: str, fields: Collection[str]) -> tuple[str, ...]:
    """The fields a score is made of: `score/max_score` of two, `-wer`, where less is better, or `-failed` of one."""
    return quotient(name, fields) or ((name.removeprefix("-"),) if name not in fields else (name,))


def scored_share(rows: Rows, path: str, words: Sequence[str] = ()) -> float:
    """How good a field is as the score: half of the rows is as good as all, any number better than none."""
    share = float((~np.isnan(as_scores(rows.columns[path], words).numbers())).mean())
    return min(share, HALF)


def with_scores(rows: Rows, field: str | None, *, words: Sequence[str] = ()) -> Rows:
    """The rows with every number in their score."""
    if field is None:
        return rows
    if parts := quotient(field, rows.columns):
        made, most = (as_scores(rows.columns[name]).numbers() for name in parts)
        known = most > 0
        share = np.divide(made, most, out=np.full(len(rows), np.nan), where=known)
        return msgspec.structs.replace(rows, columns={**rows.columns, field: Column(kind="number", values=share)})
    [name] = named_fields(field, rows.columns)
    if name != field:
        scores = as_scores(rows.columns[name]).numbers()
        is_flag = bool(np.isin(scores[~np.isnan(scores)], (0.0, 1.0)).all())
        less = Column(kind="number", values=1.0 - scores if is_flag else -scores)
        return msgspec.structs.replace(rows, columns={**rows.columns, field: less})
    return msgspec.structs.replace(rows, columns={**rows.columns, field: as_scores(rows.columns[field], words)})


def as_scores(column: Column, words: Sequence[str] = ()) -> Column:
    """A score in numbers: words that mean success as 1 and others as 0, and numbers and flags written as text."""
    if column.kind not in ("text", "mixed") and not words:
        return column
    true = {word.casefold() for word in words}
    coded = column.coded()
    return Column(kind="mixed", values=coded.values, levels=[scored_word(level, true) for level in coded.levels])


def scored_word(level: Any, true: set[str]) -> Any:
    """1 for a word that means success, 0 for another, when any does; numbers and flags as they are."""
    plain = plain_score(level) if isinstance(level, str) else level
    return float(plain.strip().casefold() in true) if true and isinstance(plain, str) else plain


def score_notes(rows: Rows, field: str | None, words: Sequence[str] = ()) -> list[str]:
    """What must be said about scores that were not written as numbers between 0 and 1."""
    if field is None or field not in rows.columns:
        return []
    if words:
        true = {word.casefold() for word in words}
        failing = [str(level) for level in rows.columns[field].levels if scored_word(level, true) == 0.0]
        return [f"`{field}`: {', '.join(words)} counts as success, {examples(failing, 6) or 'nothing else'} as failure"]
    texts = [level for level in rows.columns[field].levels if isinstance(level, str)]
    spelled = [text for text in texts if isinstance(plain_score(text), float)]
    if (share := next(filter(is_share, spelled), None)) is not None:
        form = "as a fraction" if "/" in share else "in percent"
        return [f"`{field}` is written {form}: {share.strip()} counts as {plain_score(share):g}"]
    if spelled:
        return [f"`{field}` is written as text in some rows; a text that spells a number counts as that number"]
    numbers = as_scores(rows.columns[field]).numbers()
    known = numbers[~np.isnan(numbers)]
    if len(known) and known.min() >= 0 and known.max() > 1:
        ends = f"{known.min():,g} to {known.max():,g}"
        return [f"`{field}` is not on a scale of 0 to 1 (seen: {ends}); a rule for success must be on its scale"]
    if set(known[known < 0]) == {-1.0} and known.max() <= 1:
        times = int((known < 0).sum())
        seen = f"`{field}` is -1 in {times:,} of {len(known):,} rows"
        return [f"{seen}, which counts as a score; where it means not judged, leave these rows out with --where"]
    return []


def is_share(text: str) -> bool:
    """Whether a text is a part of a whole: a percentage or a fraction."""
    return ("%" in text or "/" in text) and isinstance(plain_score(text), float)


def plain_score(level: str) -> Any:
    """The number or flag a text spells, a percentage or fraction as the part of one that it is; or the text."""
    text = level.strip().casefold()
    if fraction := FRACTION.fullmatch(text):
        return float(fraction[1]) / float(fraction[2])
    number = text.removesuffix("%").rstrip()
    try:
        value = msgspec.json.decode(number, type=float | bool)
    except msgspec.MsgspecError:
        return level
    if number == text:
        return value
    return level if isinstance(value, bool) else value / 100


def bad_scores(rows: Rows, field: str) -> list[tuple[int, str]]:
    """Rows that have a score which is not a number, and what it is."""
    column = rows.columns[field]
    texts = column.known() & np.isnan(column.numbers())
    objects = np.zeros(len(rows), dtype=bool)
    for path, part in rows.columns.items():
        if path.startswith(f"{field}."):
            objects |= part.known() & ~column.known()
    wrong = np.flatnonzero(texts | objects).tolist()
    return [(row, f"{field} is {shown_score(column.at(row))}, expected a number") for row in wrong]


def shown_score(value: Any) -> str:
    """A score that is not a number, short enough for a sentence."""
    if value is None:
        return "an object"
    text = repr(value) if len(repr(value)) <= SHOWN else f"{repr(value)[:SHOWN]}…"
    return text if isinstance(value, str) else f"{text}, too large to reckon with"


def tokens(rows: Rows) -> tuple[Floats, Floats]:
    """Per row: tokens in and tokens out; both unknown where both are zero."""
    given, made = rows.numbers(*INPUT_TOKENS), rows.numbers(*OUTPUT_TOKENS)
    if rows.columns.keys().isdisjoint(INPUT_TOKENS + OUTPUT_TOKENS):
        return given, made
    nothing = (np.nan_to_num(given) == 0) & (np.nan_to_num(made) == 0)
    return np.where(nothing, np.nan, given), np.where(nothing, np.nan, made)


def seconds(rows: Rows) -> Floats:
    """Per row: wall time by the row's own clock, else from when the response was made and finished."""
    own = rows.numbers(*SECONDS_FIELDS)
    if "response.completed_at" not in rows.columns:
        return own
    spent = rows.numbers("response.completed_at") - rows.numbers("response.created_at")
    return np.where(np.isnan(own) & (spent >= 0), spent, own)


def failure_classes(rows: Rows) -> Column:
    """Per row: the class of a failed rollout."""
    first, second = (rows.column(path) for path in FAILURE_FIELDS)
    if not second.known().any():
        return first
    values = [first.at(row) or second.at(row) for row in range(len(rows))]
    return from_values(values)


class Endings(NamedTuple):
    """Why each rollout ended, as columns."""

    kind: npt.NDArray[np.int8]
    """Index into `ENDING_KINDS`."""
    origin: npt.NDArray[np.int8]
    """Index into `ORIGINS`; -1 where nobody says."""
    name: Column
    """The format's own name for it."""
    typed: npt.NDArray[np.bool_]
    """Whether that was typed for itself, so that a score beside it still counts."""


def endings(rows: Rows, failure: Column, *, failed_file: npt.NDArray[np.bool_]) -> Endings:
    """Per row: what its format typed. Responses say when they were cut off or broke; nothing else is taken for it."""
    kind = codes(rows.column("ending.kind"), ENDING_KINDS, other=ENDING_KINDS.index("completed"))
    origin = codes(rows.column("ending.origin"), ORIGINS, other=-1)
    name = rows.column("ending.name")
    if "ending.kind" in rows.columns:
        return Endings(kind, origin, name, np.ones(len(rows), dtype=bool))
    cut = rows.column("response.incomplete_details.reason")
    word = rows.column("response.status")
    finish = rows.column(*FINISH_FIELDS)
    over = equals(finish, *FINISHED_BY_LIMIT)
    error = rows.column("response.error")
    wrong = error.known() & ~equals(error, "", "{}")
    model = np.int8(ORIGINS.index("model"))
    for rule, ended, whose in (
        (cut.known() | equals(word, "incomplete") | over, "limit", model),
        (equals(word, "cancelled"), "cancelled", np.int8(-1)),
        (wrong | equals(word, "failed"), "error", model),
        (failure.known() | failed_file, "error", np.int8(ORIGINS.index("runner"))),
        (equals(failure, *TIMEOUT_CLASSES), "timeout", np.int8(-1)),
        (equals(failure, *NOT_RUN_CLASSES), "not_run", np.int8(-1)),
    ):
        kind[rule] = ENDING_KINDS.index(ended)
        origin[rule] = whose
    names = failure
    if cut.known().any() or over.any():
        said = ((failure.at(row) or cut.at(row), finish.at(row) if over[row] else None) for row in range(len(rows)))
        names = from_values([own or ended for own, ended in said])
    provider = provider_errors(rows)
    told = provider.known() & (kind == ENDING_KINDS.index("completed"))
    if told.any():
        kind[told], origin[told] = ENDING_KINDS.index("error"), model
        names = from_values([provider.at(row) if told[row] else names.at(row) for row in range(len(rows))])
    return Endings(kind, origin, names, told)


def provider_errors(rows: Rows) -> Column:
    """Per row: the type of the provider's error that one of its error fields holds, or that stands for its answer."""
    answers = rows.column(PROVIDER_ERROR)
    found: list[str | None] = []
    if answers.known().any():
        found = [text_or_none(answers.at(row)) for row in range(len(rows))]
    for field in [path for path in rows.columns if bare(path.partition(".")[0]) in ERROR_FIELDS]:
        if f".{field.partition('.')[2]}".rstrip(".") not in ERROR_PARTS:
            continue
        coded = rows.columns[field].coded()
        types = [provider_error(level) if isinstance(level, str) else None for level in coded.levels]
        if any(types):
            found = found or [None] * len(rows)
            for row, code in enumerate(coded.values.tolist()):
                found[row] = found[row] or (types[code] if code >= 0 else None)
    return from_values(found) if found else unknown(len(rows))


def codes(column: Column, words: Sequence[str], *, other: int) -> npt.NDArray[np.int8]:
    """Per row: which of some words the field is."""
    coded = column.coded()
    places = {word: index for index, word in enumerate(words)}
    table = [places.get(level, other) if isinstance(level, str) else other for level in coded.levels]
    return np.asarray(np.asarray([*table, other], dtype=np.int8)[coded.values])


def statuses(ended: Endings, *, scored: npt.NDArray[np.bool_]) -> npt.NDArray[np.int8]:
    """Per row: completed, truncated or failed. Where an ending is typed, what got a score has not failed."""
    kept = scored & ended.typed
    limit = ended.kind == ENDING_KINDS.index("limit")
    timeout = ended.kind == ENDING_KINDS.index("timeout")
    status = np.full(len(ended.kind), COMPLETED, dtype=np.int8)
    status[limit | (timeout & kept)] = TRUNCATED
    status[(ended.kind != ENDING_KINDS.index("completed")) & ~limit & ~kept] = FAILED
    return status


def equals(column: Column, *words: str) -> npt.NDArray[np.bool_]:
    """Per row: the field is one of these texts."""
    coded = column.coded()
    table = np.asarray([*(level in words for level in coded.levels), False], dtype=bool)
    return np.asarray(table[coded.values])


def take_or_unknown(column: Column, places: npt.NDArray[np.int64]) -> Column:
    """Values at some places; -1 is unknown."""
    taken = column.take(np.maximum(places, 0))
    if taken.kind in ("number", "flag"):
        return Column(kind=taken.kind, values=np.where(places < 0, np.nan, taken.values))
    return Column(kind=taken.kind, values=np.where(places < 0, -1, taken.values).astype(np.int32), levels=taken.levels)
