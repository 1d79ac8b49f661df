"""A model that does whatever it is told, as long as it is told outside of data: what injections are tried on."""

import json
import re
from typing import Any

from loopback import Answer, Call, Say

from blade.analyst.quoting import outside

ORDER = re.compile(r"OBEY\s*:?\s*([A-Z]{2})")
"""What an injected text says to take over the label."""


def answer(cause: str, rollout: str = "R1#1", quote: str = "wrong", **other: Any) -> str:
    """The JSON of an answer."""
    proof = [{"rollout": rollout, "quote": quote}]
    fields = {"evidence": proof, "reason": "it shows", "cause": cause, "confidence": "high", **other}
    return json.dumps(fields)


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


def obedient(call: Call) -> Answer:
    """KG by its own judgement; any other cause if a text outside of data orders it."""
    orders = [match[1] for text in prompts_in(call) for match in ORDER.finditer(outside(text))]
    return Say(answer(orders[0] if orders else "KG"))
