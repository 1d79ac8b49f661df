"""What a whole row says beyond its table: what was expected, what was answered, which checks passed, what it cost.

Rows of our own form say it in our words. Of the formats read as records, only what the format defines is taken, each
in its own module, and of records that nobody knows what they name as the Gym does; everything stays in `fields` too.
"""

from typing import Any

import msgspec

from blade.rollouts.formats import Format, gym, tau_bench
from blade.rollouts.formats.own import RESERVED
from blade.rollouts.values import Ending, Expected, TestStatus, Usage


class Meaning(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a rollout that no column holds; see `Rollout` for each."""

    run: str | None = None
    variant: str | None = None
    scores: dict[str, float | None] = {}
    ending: Ending | None = None
    message: str | None = None
    answer: str | None = None
    expected: Expected | None = None
    tests: dict[str, TestStatus] = {}
    settings: dict[str, Any] = {}
    usage: Usage = Usage()
    tools: list[dict[str, Any]] = []
    fields: dict[str, Any] = {}


PARTS: dict[str, Any] = {
    "run": str | None, "variant": str | None, "scores": dict[str, float | None], "answer": str | None,
    "expected": Expected | None, "tests": dict[str, TestStatus], "settings": dict[str, Any], "usage": Usage,
    "tools": list[dict[str, Any]],
}  # fmt: skip


BESIDE = {"response": ("error", "incomplete_details"), "responses_create_params": ("tools",)}
"""What is looked at of the objects that hold a trajectory: a response and its request."""
OWN_FIELDS = frozenset({"ending", "answer", "expected", "tests", "tools", "fields"})


def is_own(form: Format) -> bool:
    """Whether rows may be in our own form."""
    return form.prompt == "prompt" and form.output == "output"


def fields_read(form: Format) -> frozenset[str]:
    """The fields in which a diagnosis looks for a meaning."""
    return OWN_FIELDS if is_own(form) else gym.READ


def meaning_of(record: dict[str, Any], form: Format) -> Meaning:
    """What a decoded row says."""
    if "ending" in record and is_own(form):
        return own_meaning(record)
    hidden = {path.split(".")[0] for path in (form.prompt, form.output) if path}
    response, request = record.get("response"), record.get("responses_create_params")
    broke = {
        f"response.{name}": response[name]
        for name in ("error", "incomplete_details")
        if isinstance(response, dict) and response.get(name)
    }
    tools = request.get("tools") if isinstance(request, dict) else None
    is_tau = form.name == tau_bench.FORMAT.name
    return Meaning(
        ending=tau_bench.ending(record) if is_tau else None,
        answer=None if is_tau else gym.answer(record),
        expected=tau_bench.expected(record) if is_tau else gym.expected(record),
        tests=tau_bench.tests(record) if is_tau else gym.tests(record),
        tools=as_tools(tools),
        fields={**broke, **{key: value for key, value in record.items() if key not in hidden}},
    )


def as_tools(tools: Any) -> list[dict[str, Any]]:
    """What a request lists as tools, as the same list where all of them are objects."""
    if not isinstance(tools, list):
        return []
    return (
        tools if all(isinstance(tool, dict) for tool in tools) else [tool for tool in tools if isinstance(tool, dict)]
    )


def own_meaning(record: dict[str, Any]) -> Meaning:
    """What a row of our own form says; a part somebody wrote in another shape is unknown."""
    parts: dict[str, Any] = {}
    for name, kind in PARTS.items():
        if record.get(name) is not None:
            try:
                parts[name] = msgspec.convert(record[name], kind)
            except msgspec.ValidationError:
                continue
    ending, taken = record.get("ending"), record.get("fields")
    message = ending.get("message") if isinstance(ending, dict) else None
    free = {name: value for name, value in record.items() if name not in RESERVED}
    return Meaning(
        **parts,
        message=message if isinstance(message, str) else None,
        fields={**free, **taken} if isinstance(taken, dict) else free,
    )
