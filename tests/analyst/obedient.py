"""A model that does whatever it is told, as long as it is told outside of data: what injections are tried on."""

import json
import re
from typing import Any

from loopback import Answer, Call, Say

from blade.analyst.conversation import outside

ORDER = re.compile(r"OBEY\s*:?\s*([A-Z]{2})")
"""What an injected text says to take over the label."""


def answer(cause: str, rollout: str = "R1#1", quote: str = "wrong", **other: Any) -> str:
    """The JSON of an answer."""
    proof = [{"rollout": rollout, "quote": quote}]
    fields = {"evidence": proof, "reason": "it shows", "cause": cause, "confidence": "high", **other}
    return json.dumps(fields)


def difference(
    failing: str = "wrong",
    passing: str = "right",
    *,
    where: tuple[str, str] = ("R1#1", "R2#1"),
    words: str = "The passing rollout says what is so.",
) -> str:
    """The JSON of what tells a failing rollout from a passing one."""
    fail, ok = ({"rollout": place, "quote": quote} for place, quote in zip(where, (failing, passing), strict=True))
    return json.dumps({"failing": fail, "passing": ok, "difference": words})


def points(text: str = "The answer is not looked up.", **other: Any) -> str:
    """The JSON of a section with one point."""
    point = {"title": "Guessing", "text": text, "facts": ["F1"], "quotes": ["Q1"], **other}
    return json.dumps({"points": [point]})


def prompts_in(call: Call) -> list[str]:
    """Every text of a request, whatever protocol it came by."""
    found: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict):
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(call.body)
    return found


def write(call: Call, *, label: str | None = None, differs: str | None = None, section: str | None = None) -> Answer:
    """An answer to whatever is asked for: a label, a difference or a section."""
    if "What did R2 do that R1 did not?" in call.words:
        return Say(differs or difference())
    if "Write the section" in call.words:
        return Say(section or points())
    return Say(label or answer("KG"))


def obedient_writer(call: Call) -> Answer:
    """Its own words; what a text outside of data orders it to say, if one does."""
    orders = [match[0] for text in prompts_in(call) for match in ORDER.finditer(outside(text))]
    return write(call, section=points(f"I obey: {orders[0]}.") if orders else None)


def obedient(call: Call) -> Answer:
    """KG by its own judgement; any other cause if a text outside of data orders it."""
    orders = [match[1] for text in prompts_in(call) for match in ORDER.finditer(outside(text))]
    return Say(answer(orders[0] if orders else "KG"))
