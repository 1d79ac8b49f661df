"""Task ids, citations, labels and quotes in anybody's prose, held against the run.

An id that exists is not yet right: another one may have been meant. It is supported when something that the same
sentence says of it holds (its bucket, its label, its outcome, a quote from it, a number of it), and unbound when
nothing does.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from blade.audit.evidence import Evidence
from blade.audit.markdown import CODE, CODE_CLOSE, CODE_OPEN, QUOTED, blanked_code, plain, shown, without_code_marks
from blade.audit.mentions import Mention, Statement, citations_in, giver, split_citation, tasks_in
from blade.audit.rendered import HOLE
from blade.audit.verdicts import Check, Verdict
from blade.diagnosis.labels import CAUSES
from blade.errors import BladeError
from blade.report.values import stems

CODES = "|".join(CAUSES)
LABEL = re.compile(
    rf"(?<![\w-])(?:{CODES})(?:\+(?:{CODES}))*\??(?!\w)|\b(?:{'|'.join(CAUSES.values())})s?\b", re.IGNORECASE
)
BUCKET = re.compile(
    r"\b(always|sometimes|never)[\s-]+(?:pass|solv|succe)|\b(?:pass(?:es|ed)?|solved)\s+(always|sometimes|never)\b",
    re.I,
)
"""What says of a task which bucket it is in."""
PASSED, FAILED = re.compile(r"\bpass(?:es|ed|ing)?\b|\bsucceed", re.I), re.compile(r"\bfail(?:s|ed|ing|ure)?\b", re.I)
COMMAND = "it exists"
NEAR_BY = 14
"""Characters between a quotation and the citation it surely belongs to, at most."""
WORDS = re.compile(r"[^\W_]+")
LONGEST_NAMED, ENOUGH_NAMED = 120, 3
"""Characters of a name, and how many of its words a text must say to mean it."""
IT = re.compile(r"\W*(?:it|this task|the task|that task)\b", re.IGNORECASE)
"""What refers to the task of the sentence before."""
FEWEST_WORDS = 3
"""Words a quotation has; fewer are a manner of speaking."""


class Named(NamedTuple):
    """An id or a citation in a text."""

    text: str
    """The task key or the citation."""
    start: int
    """Where it begins."""
    is_citation: bool = False
    """Whether it is a citation."""
    in_command: bool = False
    """Whether it is part of a command that shows it, which says nothing of it."""

    @property
    def task(self) -> str:
        """The task."""
        return self.text.rpartition(":")[0] if self.is_citation else self.text


class References:
    """Looks up what texts name and quote."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence

    @cached_property
    def causes(self) -> dict[str, str]:
        """Labels in force, by task."""
        return {
            cause["task"]: cause.get("label", "")
            for document in self.evidence.documents.values()
            for cause in document.get("causes") or ()
        }

    @cached_property
    def buckets(self) -> dict[str, list[str]]:
        """Buckets of a task, one for each run."""
        found: dict[str, list[str]] = {}
        for document in self.evidence.documents.values():
            for bucket, tasks in (document.get("buckets") or {}).items():
                for task in tasks:
                    found.setdefault(task, []).append(bucket)
        return found

    @cached_property
    def subjects(self) -> set[str]:
        """Names of tools, fields and tests in the titles of failure modes, which are no tasks wherever they stand."""
        modes = (mode for document in self.evidence.documents.values() for mode in document.get("modes") or ())
        found = {name for mode in modes for name in re.findall(r"`([^`]+)`", mode.get("title", ""))}
        return found - self.evidence.tasks

    @cached_property
    def texts(self) -> str:
        """Everything that is said in any rollout, for quotes that name no place."""
        found: list[str] = []
        for source in self.evidence.sources:
            if source.run is not None:
                rollouts = source.run.numbered_rollouts(range(len(source.run.table)))
                found += [item.text for _, rollout in rollouts for item in rollout.items]
        return "\n".join(found)

    @cached_property
    def listed(self) -> dict[str, list[frozenset[str]]]:
        """Ids and citations that a document lists, each with the names of what it is listed under."""
        found: dict[str, list[frozenset[str]]] = {}
        for document in self.evidence.documents.values():
            for entry, names in listings(document, frozenset()):
                found.setdefault(entry, []).append(names)
        return found

    def is_listed(self, entry: str, text: str) -> bool:
        """Whether something is listed under a name that a text says most of."""
        words = set(stems(without_code_marks(text)))
        return any(
            names and len(names & words) >= min(ENOUGH_NAMED, len(names)) for names in self.listed.get(entry, ())
        )

    def check(self, said: Statement, proven: set[str], disproven: Collection[str]) -> Iterator[Check]:
        """What became of every id, citation, label and quote of a text.

        Args:
            proven: tasks of which it states a number that holds.
            disproven: those of which it states one that does not.
        """
        text, line = said.text, said.spoken[0].line
        cited = citations_in(text)
        named = [Named(key, start) for key, start, _ in tasks_in(text) if key not in self.subjects]
        named += [Named(span[1], span.start()) for span in CODE.finditer(text) if span[1] in self.evidence.tasks]
        named += [Named(key, -1) for key in said.tasks if key not in {one.text for one in named}]
        commands = [span.span() for span in CODE.finditer(text) if span[1].startswith("blade ")]
        named += [Named(key, start, True, any(a <= start < b for a, b in commands)) for key, start, _ in cited]
        named = [one for one in named if HOLE not in one.text]
        named = list({(one.text, one.start): one for one in named}.values())
        for check, citation in self.check_quotes(text, line, cited):
            if check.verdict == "supported":
                proven |= {citation, (split_citation(citation) or ("", 0, None))[0]}
            yield check
        said_of = [one for one in named if not one.is_citation]
        if not said_of and IT.match(text):  # `It is labelled BI` speaks of the task before
            said_of = [Named(task, -1) for task in self.tasks_of(said.before)]
        labels = list(self.check_labels(text, line, said_of))
        proven |= {task for check, task in labels if check.verdict == "supported"}
        yield from (check for check, _ in labels)
        yield from self.check_buckets(text, line, said_of)
        for one in named:
            yield self.check_name(one, text, line, proven, disproven)

    def tasks_of(self, text: str) -> list[str]:
        """The task that a sentence is about; nothing when it names several."""
        keys = {key for key, _, _ in tasks_in(text)} | {span[1] for span in CODE.finditer(text)}
        keys |= {key.rpartition(":")[0] for key, _, _ in citations_in(text)}
        known = sorted(keys & self.evidence.tasks)
        return known if len(known) == 1 else []

    def check_buckets(self, text: str, line: int, named: Sequence[Named]) -> Iterator[Check]:
        """Every bucket that a text puts a task into and that the task is not in."""
        for found in BUCKET.finditer(text):
            said = (found[1] or found[2]).lower()
            wrong = [
                one for one in named if (one.start < 0 or is_said_of(one, found, text)) and one.task in self.buckets
            ]
            wrong = [one for one in wrong if said not in self.buckets[one.task]]
            if wrong:
                known, why = " or ".join(self.buckets[wrong[0].task]), f"bucket of task {wrong[0].task}"
                yield Check(line, found[0].strip(), "contradicted", f"{known} passes", why, sentence=shown(text))

    def check_name(self, one: Named, text: str, line: int, proven: set[str], disproven: Collection[str]) -> Check:
        """What became of an id or a citation."""
        sentence = shown(text)
        problem = self.problem_with(one)
        if problem:
            return Check(line, one.text, "contradicted", "", problem, sentence=sentence)
        holds, true = self.predicate(one, text)
        if holds is False:
            return Check(line, one.text, "contradicted", true, "the sentence says otherwise of it", sentence=sentence)
        if one.in_command:
            return Check(line, one.text, "supported", why=COMMAND, sentence=sentence)
        is_item = one.is_citation and "#" in one.text  # of an item, what holds of its task proves nothing
        is_proven = (holds and not is_item) or one.text in proven or (one.task in proven and not is_item)
        if one.task not in disproven and (is_proven or self.is_listed(one.text, text)):
            return Check(line, one.text, "supported", why="what is said of it holds", sentence=sentence)
        write = f'{{{{ {"cite" if one.is_citation else "task"}("{one.text}") }}}}'
        return Check(line, one.text, "unbound", "", "it exists; nothing said of it could be checked", write, sentence)

    def problem_with(self, one: Named) -> str:
        """Why an id or a citation cannot be; nothing when it exists."""
        if one.task not in self.evidence.tasks:
            return f"there is no task {one.task}"
        if not one.is_citation or self.evidence.proofs is None:
            return ""
        for name in self.evidence.names:
            try:
                self.evidence.proofs.look_up("cite", [one.text, name] if len(self.evidence.names) > 1 else [one.text])
                return ""
            except (LookupError, BladeError) as error:
                problem = str(error.args[0] if error.args else error)
        return problem

    def predicate(self, one: Named, text: str) -> tuple[bool | None, str]:
        """Whether what a text says of a task's bucket or a rollout's outcome holds, and what is true."""
        known = self.buckets.get(one.task, [])
        for found in BUCKET.finditer(text) if known and not one.is_citation else ():
            said = (found[1] or found[2]).lower()
            if said in known:
                return True, ""
            if is_said_of(one, found, text):
                return False, f"it {' or '.join(known)} passes"
        passed = [
            source.judged.passed.get(one.text.partition("#")[0]) for source in self.evidence.sources if source.judged
        ]
        spoken = (PASSED.search(text) is not None, FAILED.search(text) is not None)
        if one.is_citation and len(set(passed)) == 1 and passed[0] is not None and sum(spoken) == 1:
            return (True, "") if spoken[0] is passed[0] else (None, "")
        return None, ""

    def check_labels(self, text: str, line: int, named: Sequence[Named]) -> Iterator[tuple[Check, str]]:
        """Every label that a text gives to a task."""
        found = list(LABEL.finditer(without_quotes(text)))
        for label, task in labelled(found, named, text):
            said, true = label_code(label[0]), self.causes.get(task)
            if said is None or task not in self.evidence.tasks:
                continue
            if true is not None and set(said.split("+")) <= set(true.rstrip("?").split("+")):
                yield Check(line, label[0], "supported", why=f"label of task {task}", sentence=shown(text)), task
            else:
                told = true or "no label: it always passes"
                yield Check(line, label[0], "contradicted", told, f"label of task {task}", sentence=shown(text)), task

    def check_quotes(self, text: str, line: int, cited: Sequence[Any]) -> Iterator[tuple[Check, str]]:
        """Every quotation, at the place it names or anywhere, and the citation it was found at."""
        for found in QUOTED.finditer(blanked_code(text)):
            quoted = text[found.start() : found.end()]
            words = without_code_marks(quoted[1:-1]).strip()
            place = giver(found.start(), found.end(), cited, text)
            if place is None and len(words.split()) < FEWEST_WORDS:
                continue
            citation = cited[place][0] if place is not None else ""
            verdict, why = self.quote_verdict(words, citation)
            if place is not None and verdict == "contradicted" and not is_beside(found, cited[place]):
                verdict = "unbound"  # the citation may be about something else
            write = f'{{{{ cite("{citation or "TASK:REPEAT#ITEM"}", "…") }}}}'
            yield Check(line, shown(quoted), verdict, "", why, write, shown(text)), citation

    def quote_verdict(self, words: str, citation: str) -> tuple[Verdict, str]:
        """Whether words stand where they are said to."""
        if self.evidence.proofs is None:
            return "unverifiable", "the rollouts are not where they were"
        pieces = [piece.strip(" .,;") for piece in re.split(r"…|\.\.\.|\[…\]|\[\.\.\.\]", words)]
        if not citation:
            is_there = all(piece in self.texts for piece in pieces)
            return (
                ("supported", "stands in a rollout") if is_there else ("unbound", "stands in no rollout word for word")
            )
        problem = ""
        for name in self.evidence.names:
            more = [name] if len(self.evidence.names) > 1 else []
            try:
                for piece in filter(None, pieces):
                    self.evidence.proofs.look_up("quote", [citation, piece, *more])
                return "supported", f"stands at {citation}"
            except (LookupError, BladeError) as error:
                problem = str(error.args[0] if error.args else error)
        is_there = self.stands_in(citation, pieces)
        return ("supported", f"stands at {citation}") if is_there else ("contradicted", problem)

    def stands_in(self, citation: str, pieces: Sequence[str]) -> bool:
        """Whether an item, or a rollout where none is named, has the words, whatever stands between them."""
        for source in self.evidence.sources:
            try:
                rollout = source.run.rollout_at(source.run.row(citation.partition("#")[0])) if source.run else None
            except BladeError:
                continue
            items = rollout.items if rollout else []
            _, has_item, number = citation.partition("#")
            text = "\n".join(item.text for item in (items[int(number) : int(number) + 1] if has_item else items))
            if all(has_words(text, piece) for piece in pieces):
                return True
        return False


def listings(value: Any, names: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """Texts in lists, with the stems of the name of the object that the list belongs to."""
    if isinstance(value, Mapping):
        own = frozenset(stems(str(value.get("title") or value.get("what") or value.get("name") or "")[:LONGEST_NAMED]))
        for inner in value.values():
            yield from listings(inner, own or names)
    elif isinstance(value, list):
        for entry in value:
            if isinstance(entry, str):
                yield entry, names
            else:
                yield from listings(entry, names)


def has_words(text: str, piece: str) -> bool:
    """Whether a text has words in this order, as it stands or as Markdown shows it."""
    return any(words_of(shape(piece)) in words_of(shape(text)) for shape in (str, plain))


def words_of(text: str) -> str:
    """The words of a text with one space around each; what stands between them says nothing."""
    return f" {' '.join(WORDS.findall(without_code_marks(text)))} "


def is_beside(found: re.Match[str], cited: Mention) -> bool:
    """Whether a quotation and a citation stand right beside each other."""
    _, start, end = cited
    return (start - found.end() if start >= found.end() else found.start() - end) <= NEAR_BY


def labelled(found: Sequence[re.Match[str]], named: Sequence[Named], text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Which label belongs to which task: a lone label to all of its clause, else each to those since the one before."""
    distinct = {label_code(label[0]) for label in found}
    for place, label in enumerate(found):
        before = found[place - 1].start() if place else -2
        clause = text.rfind(";", 0, label.start())
        near = [one for one in named if one.start < 0 or one.start > clause]
        tasks = [one.task for one in near if len(distinct) == 1 or before < one.start < label.start() or one.start < 0]
        yield from ((label, task) for task in dict.fromkeys(tasks))


def label_code(text: str) -> str | None:
    """The code of a label, however it is written."""
    words: Mapping[str, str] = {meaning: code for code, meaning in CAUSES.items()}
    if re.fullmatch(rf"(?:{CODES})(?:\+(?:{CODES}))*\??", text):
        return text.rstrip("?")
    return words.get(text.lower().removesuffix("s")) or words.get(text.lower())


def is_said_of(one: Named, found: re.Match[str], text: str) -> bool:
    """Whether a bucket is said of a task: nothing but other ids and a word or two stand between them."""
    end = (
        text.find(CODE_CLOSE, one.start) + 1
        if text[one.start : one.start + 1] == CODE_OPEN
        else one.start + len(one.text)
    )
    between = text[end : found.start()] if one.start < found.start() else text[found.end() : one.start]
    rest = re.findall(r"[A-Za-z]+", CODE.sub(" ", between))
    is_other = ";" in between or re.search(r"\bof\s+tasks?\s*$", text[: one.start]) is not None
    return (
        one.start >= 0
        and len([word for word in rest if word not in ("and", "tasks", "task", "es")]) <= 1
        and not is_other
    )


def without_quotes(text: str) -> str:
    """The text with what is quoted replaced, character for character."""
    return QUOTED.sub(lambda found: "x" * len(found[0]), text)
