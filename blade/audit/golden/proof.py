"""Proof a narrative gives: citations, quotes and verifier fields, checked against the rollouts when it is rendered."""

import functools
import json
from typing import Any

from blade.audit.golden.quantities import Group, NarrativeError
from blade.errors import UsageError
from blade.report.labelling import check_quote, locate
from blade.report.text import Markdown, code
from blade.rollouts import Rollout, Run
from blade.rollouts.formats import value_at


class Proof:
    """The rollouts of one run, as a narrative may use them."""

    def __init__(self, run: Run, passed: dict[str, bool | None]) -> None:
        """`passed` says of every rollout, by its citation, whether it succeeded."""
        self._run, self._passed = run, passed

    def cite(self, citation: str) -> Markdown:
        """A citation that exists."""
        row, item = self._locate(citation)
        if item is not None:
            self._check(None, citation)
        return code(self._run.table.citation(row, item))

    def quote(self, citation: str, words: str) -> Markdown:
        """Words that stand there verbatim, with their citation."""
        self._check(words, citation)
        return Markdown(f"“{code(words)}” ({self.cite(citation)})")

    def field(self, citation: str, path: str) -> Markdown:
        """What the verifier or the task says about a rollout, by the name of the field."""
        value = told_at(self._rollout(citation).fields, path)
        if value is None:
            known = ", ".join(sorted(self._rollout(citation).fields)[:12])
            raise NarrativeError(f"{citation} has nothing under {path!r}; it has {known}.")
        return code(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))

    def find(
        self,
        *,
        task: str | None = None,
        passed: bool | None = None,
        says: str | None = None,
        field: str | None = None,
        value: Any = None,
    ) -> Group:
        """Rollouts with these traits: of a task, of an outcome, that say some words, or whose field has a value."""
        rollouts = self._all()
        found = [
            key
            for key, one in rollouts.items()
            if (task is None or one.task == task)
            and (passed is None or self._passed.get(key) is passed)
            and (says is None or any(says in item.text for item in one.items if not item.prompt))
            and (field is None or told_at(one.fields, field) == value)
        ]
        return Group(keys=tuple(found), of=len(rollouts))

    def _locate(self, citation: str) -> tuple[int, int | None]:
        try:
            return locate(citation, self._run)
        except UsageError as error:
            raise NarrativeError(f"cites {citation!r}: {error}") from error

    def _check(self, words: str | None, citation: str) -> None:
        _, item = self._locate(citation)
        try:
            check_quote(words, self._rollout(citation).items, citation=citation, item=item)
        except UsageError as error:
            raise NarrativeError(f"quotes {error}") from error

    def _rollout(self, citation: str) -> Rollout:
        row, _ = self._locate(citation)
        return self._at(row)

    @functools.cache  # noqa: B019 - one proof lives as long as one rendering
    def _at(self, row: int) -> Rollout:
        return self._run.rollout_at(row)

    @functools.cache  # noqa: B019 - one proof lives as long as one rendering
    def _all(self) -> dict[str, Rollout]:
        run = self._run
        read = dict(run.numbered_rollouts(range(len(run.table))))
        return {run.table.citation(row): read[row] for row in sorted(read)}


def told_at(fields: dict[str, Any], path: str) -> Any:
    """What a field holds; behind the name of a list, `.0` is its first item."""
    head, _, place = path.rpartition(".")
    whole = value_at(fields, head)
    if isinstance(whole, list) and place.isdecimal():
        return whole[int(place)] if int(place) < len(whole) else None
    return value_at(fields, path)
