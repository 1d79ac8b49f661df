"""Which sentences of a report are its own word: asserted, of this run, and not taken back. Standard library only.

A question, a guess, somebody else's words, another model's run and what the report itself calls false say nothing,
whatever numbers they hold. They are left out before anything else is read.
"""

import re
from collections.abc import Iterator, Sequence

from blade.audit.judge.truth import Truth
from blade.audit.markdown import (
    CODE_CLOSE,
    CODE_OPEN,
    QUOTED,
    Document,
    Sentence,
    Table,
    blanked_code,
    without_code_marks,
)
from blade.audit.mentions import citations_in

FALSE = r"(?:false|untrue|wrong|incorrect|not\s+(?:true|so|the\s+case|correct))"
CLAIMS = r"(?:claims?|statements?|sentences?|findings?|assertions?|assumptions?|facts?|ideas?|points?)"
OPEN = re.compile(
    r"^\W*(?:perhaps|possibly|conceivably|maybe)\b|\b(?:may\s+or\s+may\s+not|(?:it\s+is|it’s|it's)\s+(?:possible|conceivable|thinkable)"
    r"|one\s+(?:might|may|could)\s+(?:think|say|believe|suspect|argue)|suppos(?:e|ing)\s+that"
    r"|(?:unclear|unknown|uncertain|undecided|doubtful|wonder|remains\s+open)\s+(?:if|whether))\b|^\W*\[ \]",
    re.IGNORECASE,
)
"""What leaves a sentence open."""
THOUGHT = (
    r"(?:say|said|tell|told|think|thought|believ|hold|held|hope|fear|guess|suspect|assum|presum|suppos|imagin|speculat|reckon|feel|felt"
    r"|argu|maintain|insist|contend|suggest|propos|report|wr[io]te|hear|heard|read|alleg|assert|claim|purport|pretend|rumou?r|predict|expect"
    r"|deny|deni|doubt|disput|reject|refut|question|wonder|ask|dream|joke|mistaken|idea|theory|view|opinion|hypothes|notion"
    r"|impression|argument|conjecture)(?!\w*ing\b)\w*"
)
"""Verbs and nouns of saying and thinking: what depends on them is somebody's word, not a finding."""
OF_THE_RUN = (
    r"(?:models?|rollouts?|repl(?:y|ies)|texts?|docstrings?|pass(?:es)?|tasks?|errors?|tools?|manifest"
    r"|verifiers?|requests?|prompts?)"
)
"""What a report may quote as saying something, because it is what the report is about."""
REPORTED = re.compile(
    rf"\b(?:claim(?:s|ed)|alleg\w+|assert(?:s|ed)|purport\w*|rumou?r\w*|pretend\w*)\s+that\b"
    rf"|^\W*(?!(?:(?!(?:that|whether|if)\s)[\w'’-]+\s+){{0,4}}{OF_THE_RUN}\b)(?:[\w'’-]+\s+){{0,6}}?{THOUGHT}"
    r"(?:\s+(?:is|was))?(?:\s+(?:me|us|them|you|people|readers|everyone))?\s+(?:that|whether|if)\b"
    r"|\b(?:allegedly|reportedly|supposedly|purportedly|ostensibly|putatively|hypothetically|presumably)\b"
    rf"|\b(?:according\s+to\s+(?!the\s+(?:verifier|rows|rollouts|report|table|labels?|data|rule)|`)|if\s+you\s+ask\b)"
    rf"|^\W*(?:true\s+or\s+false|{CLAIMS})\s*:|^\W*(?:if|were|imagine|assuming|suppose|let\s+us\s+(?:say|assume|suppose))\b[^.]*\bwould\b",
    re.IGNORECASE,
)
"""What gives a sentence to somebody else, or to another world."""
ELSEWHERE = re.compile(
    r"\b(?:another|(?:an?\s+)?different|some\s+other|(?:the|an?)\s+(?:previous|earlier|former|older))\s+"
    r"(?:model|benchmark|run|version|checkpoint|evaluation)\b"
    r"|\b(?:last|yesterday|next)(?:['’]s)?\s+(?:\w+(?:['’]s)?\s+)?(?:run|version|release|evaluation|model|checkpoint)s?\b",
    re.IGNORECASE,
)
"""What gives a sentence to something else."""
NAMED = re.compile(
    r"\b(?:models?|runs?\s+of|rollouts\s+of|results\s+(?:of|for)|diagnosis\s+of|about|for|by|with|of)\s+(?:the\s+model\s+)?"
    rf"[{CODE_OPEN}`“\"]?(?P<name>[A-Za-z][\w./]*(?:-[\w.]+)*-[\w.]*\d[\w.-]*|[A-Za-z]+\d[\w.]*-[\w.-]+)(?![\w:#])",
    re.IGNORECASE,
)
"""A model by its name."""
TAKEN_BACK = re.compile(
    rf"^\W*(?:but\s+|however,?\s+)?(?:that|this|it|which)(?:\s+{CLAIMS})?\s+(?:is|was|are|were)\s+(?:all\s+)?{FALSE}\W*$",
    re.IGNORECASE,
)
"""A sentence that takes back the one before it."""
ALL_TAKEN_BACK = re.compile(
    rf"\b(?:all|everything|none|nothing)\s+(?:of\s+the\s+above|(?:stated\s+|said\s+)?above)\s+(?:is|was|are|were)\s+(?:{FALSE}|true)"
    rf"|^\W*(?:the\s+above|these\s+(?:claims|statements|findings|assertions))\s+(?:is|are)\s+(?:all\s+)?{FALSE}",
    re.IGNORECASE,
)
"""A sentence that takes back what stands above it in its section."""
REPORT_TAKEN_BACK = re.compile(
    rf"\b(?:everything|nothing|all|no\s+{CLAIMS}|none)\b[^.;]{{0,30}}\b(?:in|of)\s+this\s+report\s+(?:is|are)\s+(?:{FALSE}|true|made\s+up)",
    re.IGNORECASE,
)
"""A sentence that takes back the whole report."""
TAKES_BACK_BELOW = re.compile(
    rf"\b(?:none|nothing)\s+of\s+(?:the\s+following|what\s+follows)\b|\bthe\s+following\b.*\b{FALSE}\W*$"
    rf"|\bwhat\s+follows\s+is\s+{FALSE}",
    re.IGNORECASE,
)
DISOWNING = re.compile(
    rf"\b{CLAIMS}\b.*\b(?:{FALSE}|refuted|rejected|disproved|unverified|debunked)\b"
    rf"|\b(?:{FALSE}|refuted|rejected|disproved|unverified|debunked)\s+{CLAIMS}\b"
    r"|\bhypothes[ei]s\b|\bopen\s+questions?\b|\bmyths?\b|\bto\s+be\s+(?:tested|verified|checked)\b",
    re.IGNORECASE,
)
"""A heading over what the report does not stand for."""
ADDRESSED = re.compile(
    rf"(?:^|[.:;!])\W*(?:please\s+)?(?:ignore|disregard|forget|override)\b.{{0,40}}\b(?:above|before|previous|earlier|instructions?|prompt|rules)\b"
    rf"|\b(?:all|every|each)\s+(?:of\s+)?(?:the\s+)?(?:anchor\s+|given\s+|listed\s+)?{CLAIMS}\s+(?:is|are|as)\s+(?:met|asserted)\b"
    r"|\b(?:judge|grader|evaluator|assistant|system)\s*:|\b(?:full|maximum|highest|top)\s+(?:score|marks|rating)\s+(?:to|for)\s+this\b",
    re.IGNORECASE,
)
"""What speaks to the judge."""
LONG_QUOTE = 6
"""Words from which on a quotation without a citation is somebody's sentence and not a term."""


def own_sentences(document: Document, truth: Truth) -> list[Sentence]:
    """The sentences that a report stands for, with quotations that prove nothing blanked."""
    own = own_names(truth)
    quoted = {number for number, passage in enumerate(document.passages) if passage.quoted}
    said = [sentence for sentence in document.sentences() if sentence.passage not in quoted]
    disowned = set(taken_back(said)) | set(taken_back_below(said))
    return [
        without_loose_quotes(sentence)
        for at, sentence in enumerate(said)
        if at not in disowned
        and is_own(sentence.text, own)
        and all(is_own_heading(one, own) for one in sentence.section)
    ]


def own_tables(document: Document, truth: Truth) -> list[Table]:
    """The tables that a report stands for."""
    own = own_names(truth)
    if any(REPORT_TAKEN_BACK.search(unquoted(sentence.text)) for sentence in document.sentences()):
        return []
    return [
        table
        for table in document.tables
        if not table.quoted and all(is_own_heading(one, own) for one in table.section)
    ]


def own_names(truth: Truth) -> list[str]:
    """What the run may be called by."""
    return [str(truth.stated.get(name) or "") for name in ("model", "benchmark")]


def is_own(text: str, own: Sequence[str]) -> bool:
    """Whether a sentence says something of this run in the report's own name."""
    bare = unquoted(text)
    is_question = bare.rstrip(f" {CODE_CLOSE})*").endswith("?")
    is_left_open = OPEN.search(bare) or REPORTED.search(bare) or ADDRESSED.search(bare)
    return not (is_question or is_left_open or is_elsewhere(text, own))


def is_own_heading(heading: str, own: Sequence[str]) -> bool:
    """Whether what stands under a heading is meant, and is about this run."""
    return not DISOWNING.search(heading) and not is_elsewhere(heading, own)


def is_elsewhere(text: str, own: Sequence[str]) -> bool:
    """Whether a text is about another model, benchmark or run; its own model may be spelled in other ways."""
    if ELSEWHERE.search(blanked_code(text, " ")):
        return True
    mine = [letters(name) for name in own if name]
    names = [letters(found["name"]) for found in NAMED.finditer(text)]
    return bool(mine) and any(not any(name in one or one in name for one in mine) for name in names)


def letters(name: str) -> str:
    """A name by its letters and digits, without whose it is."""
    return re.sub(r"[^a-z0-9]", "", name.lower().rpartition("/")[2])


def taken_back(said: Sequence[Sentence]) -> Iterator[int]:
    """Sentences that a later one calls false: the one right before it, or all above it in its section."""
    for at, sentence in enumerate(said):
        text = unquoted(sentence.text)
        if REPORT_TAKEN_BACK.search(text):
            yield from range(len(said))
        elif ALL_TAKEN_BACK.search(text):
            yield from (n for n in range(at) if said[n].section[: len(sentence.section)] == sentence.section)
        elif at and TAKEN_BACK.match(text):
            yield at - 1


def taken_back_below(said: Sequence[Sentence]) -> Iterator[int]:
    """Sentences under one that calls what follows it false, to the end of its section."""
    for at, sentence in enumerate(said):
        if TAKES_BACK_BELOW.search(unquoted(sentence.text)):
            yield from (n for n in range(at, len(said)) if said[n].section == sentence.section)


def addressed(document: Document) -> list[Sentence]:
    """Sentences in which a report speaks to its judge."""
    return [sentence for sentence in document.sentences() if ADDRESSED.search(unquoted(sentence.text))]


def unquoted(text: str) -> str:
    """A text with blanks for what stands in code or in quotation marks."""
    return QUOTED.sub(lambda quoted: " " * len(quoted[0]), blanked_code(text, " "))


def without_loose_quotes(sentence: Sentence) -> Sentence:
    """A sentence in which long quotations that no citation stands beside say nothing."""
    text = sentence.text
    spans = [found.span() for found in QUOTED.finditer(blanked_code(text))]
    if not spans or any(not inside(start, spans) for _, start, _ in citations_in(text)):
        return sentence
    for start, end in spans:
        if len(without_code_marks(text[start:end]).split()) >= LONG_QUOTE:
            text = text[: start + 1] + " " * (end - start - 2) + text[end - 1 :]
    return sentence._replace(text=text)


def inside(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in spans)
