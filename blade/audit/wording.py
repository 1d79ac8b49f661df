"""The words around a number in a sentence, each with how much it counts, and what the number counts."""

import re

from blade.audit.figures import Figure, find_figures
from blade.audit.markdown import CODE_CLOSE, CODE_OPEN
from blade.audit.mentions import Spoken, tasks_in
from blade.report.values import stem, stems

TOKEN = re.compile(r"pass\s*[@^]\s*\w+|[A-Za-z][A-Za-z0-9'_]*|\d+(?:[.,]\d+)*|[,;:.()—–|]")
NEAR = 6.0
"""Words at this distance count half."""
BESIDE = NEAR / (NEAR + 2)
"""What a word counts that stands right beside a number, or one word away."""
STOP = 4
"""Words that a comma, a bracket or a turn counts for."""
FROM_ABOVE = 0.25
"""What a word in a heading counts."""
NOUN = re.compile(
    r"\s*(?:of\s+(?:the\s+|all\s+|its\s+)?[\d,]+\s+)?(?:\w+[\s-]+){0,2}?"
    r"(tasks?|rollouts?|repeats?|attempts?|files?|rows?|lines?|models?|runs?)\b",
    re.IGNORECASE,
)


def word_weights(figure: Figure, spoken: Spoken) -> dict[str, float]:
    """Stems around a number with how much each counts: less with distance, least from headings."""
    weights: dict[str, float] = {}
    kept = without_figures(spoken.text)
    for side, text in ((-1, kept[: figure.start]), (1, kept[figure.end :])):
        distance, opened = 0.0, list[float]()
        tokens = TOKEN.findall(text.replace(CODE_OPEN, " ").replace(CODE_CLOSE, " "))
        for token in reversed(tokens) if side < 0 else tokens:
            if token == (")" if side < 0 else "("):
                opened.append(distance)
            if opened and token == ("(" if side < 0 else ")"):
                distance = opened.pop()  # what an aside takes does not part what stands around it
            elif not token[0].isalnum():
                distance += STOP
                continue
            distance += 1
            for word in stems(token):
                weights[word] = max(weights.get(word, 0.0), 1.0 / (1.0 + distance / NEAR))
    for share, texts in ((0.9, spoken.around), (FROM_ABOVE, spoken.above)):
        for word in (word for text in texts for word in stems(text)):
            weights[word] = max(weights.get(word, 0.0), share)
    return weights


def without_figures(text: str) -> str:
    """The text without its numbers, so that none is taken for the name of a task; ids stay."""
    ids = [(start, end) for _, start, end in tasks_in(text)]
    for one in find_figures(text):
        if not any(start <= one.start < end for start, end in ids):
            text = text[: one.start] + " " * (one.end - one.start) + text[one.end :]
    return text


def noun_behind(figure: Figure, spoken: Spoken) -> str:
    """What a number counts, where the words behind it or the head of its column say."""
    found = NOUN.match(spoken.text, figure.end) if not figure.unit else None
    if found is None and len(spoken.around) > 1:
        found = re.fullmatch(r"\W*(tasks?|rollouts?)\W*", spoken.around[1], re.IGNORECASE)
    return stem(found[1]) if found else ""


def noun_of_share(figure: Figure, spoken: Spoken) -> str:
    """What a percentage is of: `task` for `28 % of the tasks`."""
    found = NOUN.match(spoken.text, figure.end) if figure.unit == "%" else None
    return stem(found[1]) if found else ""
