"""Checking a text that BLADE rendered: every claim is looked up at its address and printed again.

No English is read. A line whose check sum is not the one in `claims.json` was edited: its claims are looked for in what
it says now, and the edit itself is named.
"""

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any

from blade.audit.evidence import Evidence
from blade.audit.verdicts import Check
from blade.errors import BladeError
from blade.report.addresses import Proofs, evaluate
from blade.report.claims import Claim, ClaimedText, line_sums
from blade.report.writing import FORMS

EDITED = "this line was edited after it was rendered; change the source and run `blade report` again"
HOLE = "□"
"""What stands for a character that a claim covers: it is part of no word, number or name."""
Span = tuple[int, int]
"""Where in a line something begins and ends."""


def check_claims(text: str, claimed: ClaimedText, evidence: Evidence) -> tuple[list[Check], dict[int, list[Span]]]:
    """What became of every claim, and by line what the claims cover."""
    lines, checks, covered = text.split("\n"), list[Check](), dict[int, list[Span]]()
    by_line = {line: list(claims) for line, claims in groupby(claimed.claims, key=lambda claim: claim.line)}
    for before, now in paired_lines(claimed.lines, line_sums(text)):
        claims = by_line.get(before, []) if before else []
        line = lines[now - 1] if now else ""
        at = 0
        for claim in claims:
            start = claim.column - 1 if line.startswith(claim.text, claim.column - 1) else line.find(claim.text, at)
            if now and start >= 0:
                at = start + len(claim.text)
                covered.setdefault(now, []).append((start, at))
            if claim.form[:1] == ["constant"] and claim.text.lower() not in map(str.lower, claimed.constants):
                checks.append(Check(now or before, claim.text, "contradicted", "", "no such constant is declared"))
                continue
            documents = {**evidence.addressable, "constants": claimed.constants}
            true, why = printed_again(claim, documents, evidence.proofs)
            at_line = now or before
            if true is None:
                check = Check(at_line, claim.text, "contradicted", "", why, sentence=claim.text)
            elif not now or start < 0:
                said = f"something else than {claim.text}"
                check = Check(at_line, said, "contradicted", true, f"the address gives {true}")
            elif true != claim.text:
                why = f"{claim.address} gives {true}"
                check = Check(at_line, claim.text, "contradicted", true, why, sentence=claim.text)
            else:
                check = Check(at_line, claim.text, "supported", why="looked up at its address")
            checks.append(check)
        if now and (not before or claimed.lines[before - 1] != line_sums(line)[0]) and line.strip():
            checks.append(Check(line=now, said=line.strip(), verdict="unbound", why=EDITED, sentence=line.strip()))
    return checks, covered


def paired_lines(before: Sequence[int], now: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Line numbers that belong together, from 1; 0 where a line has no partner."""
    for tag, a, b, c, d in SequenceMatcher(None, before, now, autojunk=False).get_opcodes():
        width = max(b - a, d - c) if tag != "equal" else b - a
        for place in range(width):
            yield (a + place + 1 if a + place < b else 0), (c + place + 1 if c + place < d else 0)


def printed_again(claim: Claim, documents: Mapping[str, Any], proofs: Proofs | None) -> tuple[str | None, str]:
    """What a claim's address prints now; nothing, and why, when it leads nowhere."""
    name, *options = claim.form or [""]
    if name == "constant":
        return claim.text, ""
    if name not in FORMS:
        return None, f"nothing prints numbers as {name!r}"
    if proofs is None and isinstance(claim.address, list) and claim.address[0] in ("cite", "quote", "field", "find"):
        return claim.text, ""  # the rollouts are gone, which is said once for all
    try:
        value = evaluate(claim.address, documents, proofs)
        return str(FORMS[name](value, *options)), ""
    except (LookupError, ArithmeticError, TypeError, ValueError, BladeError) as error:
        return None, str(error.args[0] if error.args else error)


def blanked(text: str, covered: dict[int, list[Span]]) -> str:
    """The text with everything that claims cover replaced, character for character."""
    lines = text.split("\n")
    for number, spans in covered.items():
        line = lines[number - 1]
        for start, end in spans:
            line = line[:start] + HOLE * (end - start) + line[end:]
        lines[number - 1] = line
    return "\n".join(lines)
