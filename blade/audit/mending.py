"""What to do about a claim that is wrong. A report is written again, never patched for its author."""

from blade.audit.outcome import Check

HINTS = {
    "citation": "cite a rollout that exists, as `blade show` names it",
    "task": "name a task of these rows",
    "quote": "copy the words from what `blade show` prints, or leave them out",
    "label": "write the label in force, or give another with `blade label` and render again",
    "universal": "say for which rows it holds, or leave the word out",
    "superlative": "name the row that is, or leave the word out",
    "factor": "give the ratio, or a word that is fair to it",
    "name": "write what the rows give",
}


def hint_for(check: Check) -> str:
    """The next step, in one phrase."""
    if check.claim.kind in HINTS:
        return HINTS[check.claim.kind]
    return f"write {check.true}, or say what else the number is about" if check.true else "say what the number is about"
