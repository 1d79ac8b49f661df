"""Reports that look like the golden one and are worthless, made from it by rule, to see whether a judge is fooled.

Each takes away one thing that makes a report good: its sentences, its truth, its proof, its order. Standard library
only; the same report always gives the same adversaries.
"""

import re
from collections.abc import Sequence
from random import Random

from blade.golden.drafting import LABELS
from blade.golden.facts import Fact
from blade.golden.paraphrase import Section, join_sections, split_sections

FRAMES = {
    "facts in doubt": (
        "Perhaps ….",
        "It may or may not be that ….",
        "It is unclear whether ….",
        "One might think that ….",
    ),
    "facts as questions": ("Is it so that …?", "…?"),
    "facts called false": (
        "There is no evidence that ….",
        "It is a myth that ….",
        "…. That is wrong.",
        "…: this is false.",
    ),
    "facts of another run": ("For the model gpt-9, ….", "In the previous run, ….", "On another benchmark, …."),
    "facts somebody else says": ("> ….", "An earlier report claimed that ….", "“…” is what somebody might write."),
    "facts nobody sees": ("<!-- …. -->", "```\n….\n```", "~~….~~", "![…](x.png)"),
}
"""Words around a fact, by which a report does not stand for it."""
SEED = 20_24
LABEL_CODE = re.compile(rf"(?<![\w+-])(?:{'|'.join(LABELS)})(?:\+(?:{'|'.join(LABELS)}))*\??(?![\w+-])")
CITED = re.compile(r"(?<=`)([^`\s:]+):([0-9]{1,4})(#[0-9]+)?(?=`)")
FIGURE = re.compile(r"(?<![\w`@^:#.-])\d[\d,]*(?:\.\d+)?(?![\w`:#@^-]|\.\d)")
QUOTED = re.compile(r"“(`?)([^”`]{3,})(`?)”")
VERBS = re.compile(r"\b(is|are|was|were|has|have|does|do|did|can|could|would|will|passes|passed|pass|fails|failed)\b")
CATCHWORDS = "findings evidence root cause analysis verifier failure mode task rollout pass@1 recommendation"


def adversaries(golden: str, facts: Sequence[Fact], shallow: str, *, other: str | None = None) -> dict[str, str]:
    """Every worthless report by name; `other` is the golden report of another model, where there is one."""
    values = (re.findall(r"`[^`]+`|\b[A-Z]{2}\b|\d[\d.,]*(?: %)?", fact.fact) for fact in facts)
    bare = "\n".join(f"- {', '.join(found)}" for found in values if found)
    negated = "\n".join(f"- {deny(fact.fact)}" for fact in facts)
    rng = Random(SEED)
    mixed = [" ".join(rng.sample(fact.fact.split(), len(fact.fact.split()))) for fact in facts]
    words = [word for fact in facts for word in fact.fact.rstrip(".").split()]
    Random(SEED).shuffle(words)
    soup = "\n\n".join(f"{' '.join(words[at : at + 18]).capitalize()}." for at in range(0, len(words), 18))
    framed = {
        name: "\n\n".join(
            frames[at % len(frames)].replace("…", f"{fact.fact[:1].lower()}{fact.fact[1:].rstrip('. ')}")
            for at, fact in enumerate(facts)
        )
        for name, frames in FRAMES.items()
    }
    made = {
        "shuffled words": shuffled(golden, facts),
        "shuffled facts": "\n\n".join([*headings_of(golden), *(f"- {line}" for line in mixed)]) + "\n",
        "keyword-stuffed template": stuffed(golden, facts),
        "anchor facts negated": f"{golden}\n## Findings\n\n{negated}\n",
        "only negated facts": f"{shallow}\n## Findings\n\n{negated}\n",
        "every sentence negated": VERBS.sub(r"\1 not", golden),
        "numbers scrambled": scrambled(golden),
        "numbers scrambled, facts negated": f"{scrambled(golden)}\n## Findings\n\n{negated}\n",
        "anchor words alone": f"{shallow}\n## Findings\n\n{soup}\n",
        "ids replaced": CITED.sub(lambda cited: f"{cited[1]}:{int(cited[2]) + 7}{cited[3] or ''}", golden),
        "quotes altered": QUOTED.sub(altered, golden),
        "labels permuted": permuted(golden),
        "sections swapped": swapped(golden),
        "negations nobody sees": VERBS.sub("\\1 n\u200bot", golden),
        "report taken back": f"{golden}\nEverything in this report is false.\n",
        "bare values": f"{shallow}\n## Findings\n\n{bare}\n",
        **{name: f"{shallow}\n## Findings\n\n{text}\n" for name, text in framed.items()},
    }
    made |= {"another model's report": other} if other is not None else {}
    return {name: text for name, text in made.items() if text != golden}  # a report without ids has none to replace


def shuffled(golden: str, facts: Sequence[Fact]) -> str:
    """All the words of the report and of the facts in random order, under headings and among table lines."""
    words = f"{golden} {' '.join(fact.fact for fact in facts)}".split()
    Random(SEED).shuffle(words)
    headings = headings_of(golden)
    size = max(1, len(words) // max(1, len(headings)))
    return "\n\n".join(f"{one}\n\n{' '.join(words[at * size :][:size])}" for at, one in enumerate(headings)) + "\n"


def stuffed(golden: str, facts: Sequence[Fact]) -> str:
    """The headings with every word the facts use below them, as lists of catchwords."""
    words = sorted({word.strip("`.,:;()“”") for fact in facts for word in fact.fact.split()} | set(CATCHWORDS.split()))
    lists = "\n".join(f"- {', '.join(words[i : i + 6])}" for i in range(0, len(words), 6))
    return "\n\n".join(f"{heading}\n\n{lists}" for heading in headings_of(golden)) + "\n"


def headings_of(golden: str) -> list[str]:
    return [section.heading for section in split_sections(golden)[1:]]


def deny(sentence: str) -> str:
    """A sentence that says the opposite."""
    found = VERBS.search(re.sub(r"`[^`]*`", lambda code: "x" * len(code[0]), sentence))
    if found is None:
        return f"It is not the case that {sentence[:1].lower()}{sentence[1:]}"
    verb = found[0] if found[0] not in ("passes", "passed", "pass", "fails", "failed") else "did"
    rest = "" if verb == found[0] else {"pa": " pass", "fa": " fail"}[found[0][:2]]
    return f"{sentence[: found.start()]}{verb} not{rest}{sentence[found.end() :]}"


def scrambled(golden: str) -> str:
    """The report with every number another of the same length."""
    rng = Random(SEED)

    def other(figure: re.Match[str]) -> str:
        return re.sub(r"\d", lambda digit: str((int(digit[0]) + rng.randint(1, 8)) % 10), figure[0])

    return FIGURE.sub(other, golden)


def altered(quoted: re.Match[str]) -> str:
    """A quote with one word changed."""
    words = quoted[2].split(" ")
    place = max(range(len(words)), key=lambda at: len(words[at]))
    words[place] = f"{words[place]}ly" if words[place].isalpha() else f"un{words[place]}"
    return f"“{quoted[1]}{' '.join(words)}{quoted[3]}”"


def permuted(golden: str) -> str:
    """The report with every cause label exchanged for another, in code and in words."""
    codes = list(LABELS)
    turned = dict(zip(codes, [*codes[1:], codes[0]], strict=True))
    text = LABEL_CODE.sub(lambda label: "+".join(turned[part.rstrip("?")] for part in label[0].split("+")), golden)
    names = {name: LABELS[turned[code]] for code, name in LABELS.items()}
    pattern = re.compile("|".join(map(re.escape, names)))
    return pattern.sub(lambda name: names[name[0]], text)


def swapped(golden: str) -> str:
    """The report with every section under another one's heading."""
    head, *rest = split_sections(golden)
    half = max(1, len(rest) // 2)
    bodies = [section.body for section in (*rest[half:], *rest[:half])]
    return join_sections([head, *(Section(one.heading, body) for one, body in zip(rest, bodies, strict=True))])
