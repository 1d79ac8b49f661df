"""Words by which a report names the values of a run: levels, labels, buckets, metrics, signals. Standard library only.

A number is taken for the value whose word stands nearest to it in its clause; a word that could mean two values means
none.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from blade.audit.judge.truth import Truth
from blade.audit.markdown import CODE_CLOSE, CODE_OPEN, blanked_code
from blade.audit.subjects import PHRASES

Shape = Literal["share", "count", "plain"]
LABELS = {
    "DA": "data artifact",
    "IR": "infrastructure reliability",
    "TI": "task or verifier issue|task/verifier issue|verifier issue",
    "BI": "behavioural issue|behavioral issue|behaviour issue|behavior issue",
    "UK": "unreliable knowledge",
    "KG": "knowledge gap",
}
LABEL_CODE = re.compile(r"(?<![\w+-])(?:DA|IR|TI|BI|UK|KG)(?:\+(?:DA|IR|TI|BI|UK|KG))*\??(?![\w+-])")
LABEL_NAME = re.compile("|".join(rf"(?P<{code}>\b(?:{names})s?\b)" for code, names in LABELS.items()), re.IGNORECASE)
BUCKETS = {
    "always": r"always|consistently|every time|in all (?:of )?(?:its|their) (?:rollouts|attempts)",
    "sometimes": r"sometimes|intermittent(?:ly)?|occasionally|flaky|some of the time",
    "never": r"never|not once|in none of (?:its|their) (?:rollouts|attempts)",
}
METRICS: dict[str, tuple[str, Shape]] = {
    "metrics.consistency": (r"consistency", "share"),
    "metrics.mean_reward": (r"(?:mean|average) (?:reward|score)", "plain"),
    "num_tasks": (r"tasks? in (?:all|total)|total (?:number of )?tasks", "count"),
    "num_rollouts": (r"rollouts? in (?:all|total)|total (?:number of )?rollouts", "count"),
    "failing_rollouts": (r"(?:failing|failed|unsuccessful) rollouts|rollouts (?:fail|failed|did not pass)", "count"),
}
HEADLINE = (
    r"pass@1|(?:pass|success|solve)[ -]rate|accuracy|headline|(?:solve[sd]?|pass(?:es|ed)?|succeeds?)(?= in| on|\s\d)"
)
PASS_AT = re.compile(r"pass@(\d+)")
NORMAL = re.compile("|".join(rf"(?:{words})" for words, meaning in PHRASES if meaning in ("fail",)), re.IGNORECASE)
NEGATION = re.compile(r"\b(?:not|no longer|neither|nor|cannot|nobody|hardly)\b|n[’']t\b", re.IGNORECASE)
UPSIDE_DOWN = re.compile(
    r"\b(?:is|was)\s+not\s+(?:the\s+case|true|correct)\b|\bit\s+(?:is|was)\s+(?:untrue|false|incorrect|wrong)\s+that\b"
    r"|\bcontrary\s+to\b|\bno\s+(?:evidence|sign|proof|indication)\s+that\b|\bmyth\s+that\b|\bfar\s+from\s+(?:it|true)\b"
    r"|\b(?:would|is|was)\s+(?:be\s+)?(?:wrong|false|incorrect|mistaken|a\s+mistake)\s+to\s+(?:say|claim|think|conclude)\b"
    r"|[:;—–-]\s*(?:this|that|which|it)\s+(?:is|was)\s+(?:false|untrue|wrong|incorrect|not\s+(?:true|so))\W*$",
    re.IGNORECASE,
)
"""What turns a whole sentence."""
SUPPOSED = re.compile(
    r"\b(?:would|could|might|may|if|without|unless|at most|up to|as low as|looks? like|twice|gain|base|baseline|"
    r"candidate|previous|other model|hypothetical|target|goal|expected to)\b",
    re.IGNORECASE,
)
"""What makes a number one that was not found but imagined, or another run's."""


class Keyword(NamedTuple):
    """A word for a value, somewhere in a text."""

    path: str
    """The value."""
    shape: Shape
    """How it is written."""
    start: int
    """Where the word begins."""
    end: int
    """Where it ends."""


class Keywords:
    """The words for one run's values."""

    def __init__(self, truth: Truth) -> None:
        self.truth = truth
        self._found: dict[str, list[Keyword]] = {}

    @cached_property
    def patterns(self) -> list[tuple[re.Pattern[str], str, Shape]]:
        """Everything that can be named by a fixed text."""
        found: list[tuple[str, str, Shape]] = [
            *((whole(level), path, "share") for level, path in self.truth.levels.items()),
            *((rf"\b(?:{words})\b", f"buckets.{name}", "count") for name, words in BUCKETS.items()),
            *((rf"\b(?:{words})\b", path, shape) for path, (words, shape) in METRICS.items()),
            *self.seen("signals"),
            *self.seen("patterns"),
            (rf"(?<!\w)(?:{HEADLINE})", self.headline, "plain" if "reward" in self.headline else "share"),
        ]
        return [(re.compile(words, re.IGNORECASE), path, shape) for words, path, shape in found]

    @property
    def headline(self) -> str:
        """What speaks for the run."""
        metric = self.truth.group("headline").get("metric", "pass_at_1")
        return "mean_reward" if metric == "mean_reward" else "pass_at_1"

    def seen(self, kind: str) -> Iterator[tuple[str, str, Shape]]:
        """Signals or patterns, by code and by title."""
        for code, one in self.truth.group(kind).items():
            title = str(one.get("title", "")) if isinstance(one, dict) else ""
            words = "|".join(re.escape(text) for text in (code, title) if text)
            yield rf"(?<!\w)(?:{words})(?!\w)", f"{kind}.{code}", "count"

    def find(self, text: str) -> list[Keyword]:
        """Every word for a value in a plain text, in order; where two overlap the longer one counts."""
        if text not in self._found:
            self._found[text] = self._find(text)
        return self._found[text]

    def _find(self, text: str) -> list[Keyword]:
        found = [
            Keyword(path, shape, at.start(), at.end())
            for pattern, path, shape in self.patterns
            for at in pattern.finditer(text)
        ]
        found += [
            Keyword(f"pass_at_k.{at[1]}", "share", at.start(), at.end())
            for at in PASS_AT.finditer(text)
            if at[1] != "1"
        ]
        found += [Keyword(f"labels.{label}", "count", start, end) for label, start, end in labels_in(text)]
        found.sort(key=lambda one: (one.start, -one.end))
        return [one for i, one in enumerate(found) if not any(covers(other, one) for other in found[:i])]


def covers(other: Keyword, one: Keyword) -> bool:
    return other.start <= one.start and one.end <= other.end and other[2:] != one[2:]


def whole(name: str) -> str:
    """A name as a word of its own, in code or not; a number is a name in code only."""
    if len(name) < 3 or name.replace(".", "").isdigit():
        return rf"(?<=[`{CODE_OPEN}]){re.escape(name)}(?=[`{CODE_CLOSE}])"
    return rf"(?<![\w-]){re.escape(name)}(?![\w-])"


def labels_in(text: str) -> list[tuple[str, int, int]]:
    """Cause labels of a text and where: its codes or, where it has none, the words for them."""
    found = [(at[0], at.start(), at.end()) for at in LABEL_CODE.finditer(blanked_code(text))]
    return found or named_labels(text)


def named_labels(text: str) -> list[tuple[str, int, int]]:
    """Cause labels in words; those that an `and` joins are one."""
    found: list[tuple[str, int, int]] = []
    for at in LABEL_NAME.finditer(text):
        code = next(code for code, words in at.groupdict().items() if words)
        if found and text[found[-1][2] : at.start()].strip() == "and":
            before = found.pop()
            found.append((f"{before[0]}+{code}", before[1], at.end()))
        else:
            found.append((code, at.start(), at.end()))
    return found


def is_denied(clause: str, sentence: str, names: Sequence[str] = ()) -> bool:
    """Whether a clause says that something is not so.

    `did not pass` only says that it failed, and what is called by a name with a `not` in it is not denied by that.
    """
    for name in names:
        clause = clause.replace(name, " ")
    plain = NORMAL.sub("failed", UPSIDE_DOWN.sub(" ", clause))
    return (UPSIDE_DOWN.search(sentence) is not None) != (NEGATION.search(plain) is not None)


def count_negations(sentence: str) -> int:
    """How often a sentence says that something is not so."""
    plain = NORMAL.sub("failed", UPSIDE_DOWN.sub(" not ", sentence))
    return len(NEGATION.findall(plain))
