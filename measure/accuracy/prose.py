"""Filler that reads like a model thinking aloud, a mail, or a page of notes. The words prove nothing, on purpose."""

import random

OPENINGS = (
    "First,", "So", "Now", "Let me see:", "Looking at this again,", "Put differently,", "Well,", "Next,", "Note that",
    "In other words,", "Step by step,", "On reflection,", "To be safe,", "Given that,",
)  # fmt: skip
CLAUSES = (
    "the quantity we want depends on both values", "the statement gives everything that is needed",
    "it helps to write the parts down one by one", "the order of the steps does not matter here",
    "a small error in the first line would carry over", "the second part follows from the first",
    "we can check the result by going backwards", "nothing in the text says otherwise",
    "the units agree on both sides", "there is one case that is easy to miss", "the rest is a matter of counting",
    "I cannot rule out the other reading yet", "the table in the notes says the same", "this matches the earlier line",
    "the two halves have to be added", "we can't simply divide here", "that would fail for the last entry",
    "an exception to the rule would be mentioned", "the earlier attempt timed out on this part, so I keep it short",
    "the wording is a little unusual", "both of them are mentioned, only one fits", "this part needs some care",
    "the value is not found directly, it has to be worked out", "the limit given in the text is not reached",
)  # fmt: skip
ASIDES = ("as before", "if I read it correctly", "which is plausible", "without rounding", "by the same argument", "")


def reasoning(rng: random.Random, sentences: int) -> str:
    """A few sentences of thinking."""
    return " ".join(sentence(rng) for _ in range(sentences))


def sentence(rng: random.Random) -> str:
    aside = rng.choice(ASIDES)
    return f"{rng.choice(OPENINGS)} {rng.choice(CLAUSES)}{', ' + aside if aside else ''}."


NOTES = (
    "Customer wrote that the app timed out twice during checkout.", "Asked for a call back on Friday.",
    "The kettle is not running properly, replacement offered.", "There was an error in the first invoice; corrected.",
    "Prefers e-mail.", "Said that the parcel was refused at the door.", "Loyalty member since 2019.",
    "Reported too many requests for feedback; unsubscribed.", "Gift wrap wanted.", "Card was declined once, then fine.",
    "Mentioned a service that was unavailable last week.", "Complained about an exception to the return policy.",
    "No notes.", "Failed delivery on the 3rd, delivered on the 4th.",
)  # fmt: skip


def note(rng: random.Random) -> str:
    """A line of notes about a customer."""
    return rng.choice(NOTES)
