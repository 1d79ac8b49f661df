"""`No rollout is missing`: a claim that a count is 0, held against the count of that name."""

import re
from collections.abc import Iterator
from dataclasses import replace

from blade.audit.figures import Figure
from blade.audit.knowledge import Knowledge
from blade.audit.matching import check_number
from blade.audit.outcome import Check
from blade.audit.told import Told

SUBJECT = re.compile(
    r"\s+(?:of\s+the\s+)?(?:[a-z-]+\s+){0,2}(?:rollouts?|tasks?|lines?|rows?|findings?|failures?)\b", re.I
)
"""What must follow for `no` to count something."""


def check_nothing(told: Told, knowledge: Knowledge) -> Iterator[Check]:
    """Every `no` and `none` that says of rollouts or tasks that there are none."""
    for speech in told.speeches:
        for claim in speech:
            if claim.text not in ("no", "none") or claim.kind != "universal" or claim.table is not None:
                continue
            if not SUBJECT.match(claim.words, claim.end):
                continue
            zero = Figure(0.0, "", 0.5, "", False, claim.start, claim.end, word=True)
            counted = replace(claim, kind="figure", figures=(zero,))
            others = [other for other in speech if other is not claim]
            check, _ = check_number(counted, told, [counted, *others], knowledge, None)
            yield replace(check, claim=claim)
