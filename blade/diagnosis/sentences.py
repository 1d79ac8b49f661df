"""The sentence of an item that shows what a label says: the error line, the refusal, the answer, the claim.

A quote is verbatim and short. Which sentence proves something depends on what is to be proved; where nothing tells,
an answer's conclusion stands at its end, and a tool's at its beginning.
"""

import re
from collections.abc import Callable, Iterable

from blade.diagnosis.actions import Deviation
from blade.diagnosis.lexicon import ERROR_CODE, GOOD_NEWS, TROUBLE, refusal_weight, service_weight
from blade.rollouts import Item
from blade.rollouts.features import split_thinking

QUOTE = 120
LEAD = 30
"""Characters before a value that are quoted with it."""
MOST = 400
"""Sentences that are looked at, from either end."""
BREAK = re.compile(r"(?<=[.!?。！？])\s+|\n+")
CANNOT = re.compile(r"\b(?:can(?:no|['’])t|cannot|unable\s+to|not\s+able\s+to|unfortunately)\b", re.IGNORECASE)
"""How one speaks who leaves something undone."""
MARKED = re.compile(
    r"\\boxed|\banswer\b\s*(?:is|:|=)|<final_answer>|^\W*(?:final|answer|therefore|so the)\b", re.IGNORECASE
)
"""How an answer announces itself."""
POLITE = re.compile(
    r"let\s+me\s+know|anything\s+else|feel\s+free|you(?:['’]re|\s+are)\s+welcome|have\s+a\s+(?:great|nice|good|safe)"
    r"|hope\s+this\s+helps|don['’]t\s+hesitate|happy\s+to\s+help|thank",
    re.IGNORECASE,
)
"""What is said at an end for the sake of politeness."""
FENCE = re.compile(r"```[\w+-]*\s*\n(.*?)(?:```|\Z)", re.DOTALL)
COMMENT = ("#", "//", "--", "/*", "*", '"""')
HEAD = 10
"""Lines of code of which the longest is quoted."""
ARGUED = 6
"""An answer of more sentences than this argues, and concludes at its end."""
RAISED = re.compile(r"^\s*(?:\w+\.)*\w*(?:Error|Exception)\b")
ENDINGS = frozenset({"truncated", "context_overflow", "stopped_early", "cut_off", "ran_out_of_turns", "empty_output"})
"""Signals that show at the end of a text."""
CLAIMS = frozenset({"ignored_tool_error", "missing_action", "repeated_tool_call", "nothing_changed", "wrong_action"})
"""Signals that a claim, or its denial, shows."""
SPOKEN = CLAIMS | {"refusal", "refused", "provider_error"}
"""Signals that show in what is said, not in the code beside it."""


def telling_quote(item: Item, code: str, *, answer: str | None, deviation: Deviation | None) -> str | None:
    """The words of an item that show a signal best, at most `QUOTE` characters; `None` of an item without words."""
    if item.kind == "tool_call":
        return around(item.text, differing_values(item, deviation))
    text = split_thinking(item.text)[1] or item.text
    said = sentences(text)
    if not said:
        return None
    if code in ENDINGS:
        return text.strip()[-QUOTE:].lstrip()
    if code == "fenced_answer":
        return cut(text.strip().splitlines()[0])
    if item.kind == "tool_result":
        return cut(error_line(said))
    fence = FENCE.search(text)
    coded = "" if fence is None or answer or code in SPOKEN else code_line(fence[1])
    return cut(coded or in_message(said, code, answer))


def code_line(code: str) -> str:
    """The line at the beginning of a code block that says most."""
    lines = [line.strip() for line in code.splitlines() if line.strip() and not line.strip().startswith(COMMENT)]
    return max(lines[:HEAD], key=len, default="")


def sentences(text: str) -> list[str]:
    """The sentences and lines that say something; of very many those at both ends."""
    found = [part.strip() for part in BREAK.split(text) if any(map(str.isalnum, part))]
    return found if len(found) <= 2 * MOST else found[:MOST] + found[-MOST:]


def error_line(said: list[str]) -> str:
    """What was raised, else the first line that speaks of trouble, else the first line."""
    raised = [line for line in said if RAISED.search(line)]
    return (
        raised[-1] if raised else first_with(said, lambda line: bool(ERROR_CODE.search(line) or TROUBLE.search(line)))
    )


def in_message(said: list[str], code: str, answer: str | None) -> str:
    if code in ("refusal", "refused"):
        return max(said, key=refusal_weight)
    if code == "provider_error":
        return max(said, key=service_weight)
    if code in CLAIMS:
        claimed = first_with(said, lambda line: bool(GOOD_NEWS.search(line)))
        return next((line for line in said if CANNOT.search(line)), claimed)
    told = [line for line in said if answer and answer in line] or [line for line in said if MARKED.search(line)]
    told = [line for line in told if line[-1] not in ":{"]
    return told[-1] if told else conclusion(said)


def conclusion(said: list[str]) -> str:
    """The last sentence of one who argued, the first of one who did not; never a mere courtesy."""
    meant = [line for line in said if not POLITE.search(line)] or said
    return meant[-1] if len(meant) > ARGUED else meant[0]


def first_with(said: Iterable[str], holds: Callable[[str], bool]) -> str:
    """The first sentence that holds, else the first of all."""
    found = list(said)
    return next((line for line in found if holds(line)), found[0])


def cut(line: str) -> str:
    return line[:QUOTE].rstrip()


def differing_values(item: Item, deviation: Deviation | None) -> list[str]:
    """Values of a call that are not those of the call it stands for."""
    swaps = [] if deviation is None else [swap for swap in deviation.swapped if swap.made.at == item.position]
    return [value for swap in swaps for _, value in sorted(swap.made.values - swap.expected.values)]


def around(text: str, values: Iterable[str]) -> str | None:
    """The part of a call's arguments where one of some values stands, else their beginning."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    places = [place for value in values if (place := line.find(value)) >= 0]
    begin = max(0, min(places) - LEAD) if places and min(places) + LEAD > QUOTE else 0
    return line[begin : begin + QUOTE].strip() or None
