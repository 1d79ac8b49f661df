"""What a text may look up in rollouts: citations, quotes, fields, and rollouts by what they hold."""

import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from blade.errors import UsageError
from blade.report.labelling import check_quote, locate
from blade.rollouts import Rollout, Run
from blade.rollouts.formats import value_at


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """A run and the verdict on each of its rollouts."""

    run: Run
    """The run."""
    passed: dict[str, bool | None]
    """By citation: whether the rollout succeeded, `None` when nobody knows."""


class RolloutProofs:
    """Looks up what texts cite, in one run or in the named runs of a comparison."""

    def __init__(self, runs: Mapping[str, Judged]) -> None:
        """`runs` by the names texts may use; the first is meant where none is named."""
        self._runs = dict(runs)

    def look_up(self, operation: str, operands: Sequence[Any]) -> Any:
        """What an address into rollouts leads to.

        Raises:
            LookupError: there is no such rollout, item, field or run.
            UsageError: a quote does not stand where it is said to.
        """
        try:
            return getattr(self, f"_{operation}")(*operands)
        except (AttributeError, TypeError) as error:
            raise LookupError(f"{operation} cannot look up {list(operands)!r}") from error

    def _cite(self, citation: str, name: str = "") -> str:
        run, row, item = self._locate(citation, name)
        if item is not None:
            check_quote(None, self._rollout(name, row).items, citation=citation, item=item)
        return run.table.citation(row, item)

    def _quote(self, citation: str, words: str, name: str = "") -> str:
        _, row, item = self._locate(citation, name)
        check_quote(words, self._rollout(name, row).items, citation=citation, item=item)
        return words

    def _field(self, citation: str, path: str, name: str = "") -> Any:
        _, row, _ = self._locate(citation, name)
        fields = self._rollout(name, row).fields
        value = field_at(fields, path)
        if value is None:
            known = ", ".join(sorted(fields)[:12])
            raise LookupError(f"{citation} has nothing under {path!r}; it has {known}")
        is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
        return value if is_plain else json.dumps(value, ensure_ascii=False)

    def _find(self, wanted: Mapping[str, Any], name: str = "") -> list[str]:
        passed = self._judged(name).passed
        return [key for key, one in self._all(name).items() if is_wanted(one, passed.get(key), wanted)]

    def _judged(self, name: str) -> Judged:
        if not name:
            return next(iter(self._runs.values()))
        if name not in self._runs:
            raise LookupError(f"there is no run {name!r}; there are {', '.join(self._runs)}")
        return self._runs[name]

    def _locate(self, citation: str, name: str) -> tuple[Run, int, int | None]:
        run = self._judged(name).run
        try:
            return run, *locate(citation, run)
        except UsageError as error:
            raise LookupError(str(error).rstrip(".")) from error

    @functools.cache  # noqa: B019 - lives as long as one rendering or check
    def _rollout(self, name: str, row: int) -> Rollout:
        return self._judged(name).run.rollout_at(row)

    @functools.cache  # noqa: B019 - lives as long as one rendering or check
    def _all(self, name: str) -> dict[str, Rollout]:
        run = self._judged(name).run
        read = dict(run.numbered_rollouts(range(len(run.table))))
        return {run.table.citation(row): read[row] for row in sorted(read)}


def is_wanted(rollout: Rollout, passed: bool | None, wanted: Mapping[str, Any]) -> bool:
    """Whether a rollout is of a task, of an outcome, says some words, and has a field with a value."""
    says, field = wanted.get("says"), wanted.get("field")
    return (
        wanted.get("task") in (None, rollout.task)
        and wanted.get("passed") in (None, passed)
        and (says is None or any(says in item.text for item in rollout.items if not item.prompt))
        and (field is None or field_at(rollout.fields, field) == wanted.get("value"))
    )


def field_at(fields: dict[str, Any], path: str) -> Any:
    """What a field holds; behind the name of a list, `.0` is its first item."""
    head, _, place = path.rpartition(".")
    whole = value_at(fields, head)
    if isinstance(whole, list) and place.isdecimal():
        return whole[int(place)] if int(place) < len(whole) else None
    return value_at(fields, path)
