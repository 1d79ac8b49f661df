r"""The answer that a text puts into a `\boxed{}`."""

import re

BOX = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])\s*")
LONGEST_BOX = 2000
"""Letters of a box that are looked at: no answer is longer, and thousands of open boxes must not cost their square."""


def last_boxed(text: str) -> str | None:
    r"""What the last whole box holds, braces within braces included; `None` without one. `\boxed 5` is one, too."""
    found = None
    for box in BOX.finditer(text):
        rest = text[box.end() : box.end() + LONGEST_BOX]
        inner = braced(rest) if rest.startswith("{") else rest[:1].strip("$") or None
        found = inner if inner is not None else found
    return found


def braced(text: str) -> str | None:
    """What stands between the first brace and its partner; braces that are signs, as in a set, are no pair."""
    depth = 0
    for sign in re.finditer(r"\\.|[{}]", text):
        depth += (sign[0] == "{") - (sign[0] == "}")
        if depth == 0:
            return text[1 : sign.start()]
    return None
