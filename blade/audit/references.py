"""Task ids, citations, labels and quotes in anybody's prose, held against the run.

An id that exists is not yet right: another one may have been meant. It is supported when something that the same
sentence says of it holds (its bucket, its label, its outcome, a quote from it, a number of it), and unbound when
nothing does.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from blade.audit.binding import parent_of
from blade.audit.evidence import Evidence
from blade.audit.markdown import (
    CODE,
    CODE_CLOSE,
    CODE_OPEN,
    QUOTED,
    blanked_code,
    plain,
    shown,
    without_code_marks,
    without_quotes,
)
from blade.audit.mentions import Mention, Statement, citations_in, split_citation, tasks_in
from blade.audit.rendered import HOLE
from blade.audit.verdicts import Check, Verdict
from blade.diagnosis.labels import CAUSES
from blade.errors import BladeError
from blade.report.addresses import evaluate, follow
from blade.report.labelling import AUTHOR_FORM
from blade.report.values import Value

CODES = "|".join(CAUSES)
LABEL = re.compile(
    rf"(?<![\w-])(?:{CODES})(?:\+(?:{CODES}))*\??(?!\w)|\b(?:{'|'.join(CAUSES.values())})s?\b", re.IGNORECASE
)
LABEL_OR_COMMAND = re.compile(rf"(?:{CODES})\b|\S+\s|{AUTHOR_FORM.pattern}")
BUCKET = re.compile(
    r"\b(always|sometimes|never)(?:[\s-]+(?:pass|solv|succe|bucket)|\s*:)|\b(?:pass(?:es|ed)?|solved)\s+(always|sometimes|never)\b",
    re.I,
)
"""What says of a task which bucket it is in."""
OUTCOME = re.compile(
    r"\s+(?:has\s+)?(pass|succeed|fail)(?:es|ed|s)?\b(?!\s+(?:to|the|through|in|on|by|with))", re.IGNORECASE
)
"""What says of the citation before it how its rollout ended."""
COMMAND = "it exists"
RIGHT_BEHIND = re.compile(r"\s*[(\[]?\s*(?:\w+\s+)?")
"""What may stand between a quotation and the citation behind it that it belongs to."""
LIST_JOINT = re.compile(r"\s*(?:,\s*(?:and\s+|or\s+)?|and\s+|or\s+|&\s*|/\s*)")
"""What stands between the entries of a list."""
NEAR_BY = 14
"""Characters between a quotation and the citation it surely belongs to, at most."""
WORDS = re.compile(r"[^\W_]+")
IT = re.compile(r"\W*(?:it|this task|the task|that task)\b", re.IGNORECASE)
"""What refers to the task of the sentence before."""
FEWEST_WORDS = 3
"""Words a quotation has; fewer are a manner of speaking."""


class Named(NamedTuple):
    """An id or a citation in a text."""

    text: str
    """The task key or the citation."""
    start: int
    """Where it begins; -1 for the task of a row or of the sentence before."""
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
        self.causes: dict[str, str] = {}
        """Labels in force, by task."""
        self.authors: set[str] = set()
        """Who gave them."""
        self.buckets: dict[str, list[str]] = {}
        """Buckets of a task, one for each run."""
        for document in evidence.documents.values():
            self.causes |= {cause["task"]: cause.get("label", "") for cause in document.get("causes") or ()}
            self.authors |= {cause.get("author", "") for cause in document.get("causes") or ()}
            for bucket, tasks in (document.get("buckets") or {}).items():
                for task in tasks:
                    self.buckets.setdefault(task, []).append(bucket)

        self.buckets_said: set[str] = set()
        """Buckets that the last text puts tasks into, of which one is in it."""

    def members(self, value: Value) -> frozenset[str]:
        """The tasks a value counts, or those of the object it belongs to."""
        address: Any = value.address
        parent = parent_of(value)
        if isinstance(address, list) and address[0] == "len":
            return self.tasks_among(evaluate(address[1], self.evidence.documents))
        if not value.names or not parent:
            return frozenset()
        inner = follow(parent, self.evidence.documents)
        lists = [one for one in inner.values() if isinstance(one, list)] if isinstance(inner, dict) else []
        return frozenset[str]().union(*map(self.tasks_among, lists))

    def tasks_among(self, entries: Sequence[Any]) -> frozenset[str]:
        """The tasks that a list holds, or objects in it are about."""
        keys = [one.get("task") if isinstance(one, dict) else one for one in entries]
        return frozenset(key for key in keys if isinstance(key, str)) & self.evidence.tasks

    @cached_property
    def texts(self) -> str:
        """Everything that is said in any rollout, for quotes that name no place."""
        found: list[str] = []
        for source in self.evidence.sources:
            if source.run is not None:
                rollouts = source.run.numbered_rollouts(range(len(source.run.table)))
                found += [item.text for _, rollout in rollouts for item in rollout.items]
        return "\n".join(found)

    def check(
        self, said: Statement, proven: set[str], disproven: Collection[str], bound: Mapping[int, Value]
    ) -> Iterator[Check]:
        """What became of every id, citation, label and quote of a text.

        Args:
            proven: tasks of which it states a number that holds.
            disproven: those of which it states one that does not.
            bound: what its numbers are, by where they begin.
        """
        text, line, sentence = said.text, said.spoken[0].line, shown(said.text)
        cited = citations_in(text)
        codes = list(CODE.finditer(text))
        named = [Named(key, start) for key, start, _ in tasks_in(text)]
        named += [Named(span[1], span.start()) for span in self.listed(text, codes)]
        named += [Named(key, -1) for key in said.tasks if key not in {one.text for one in named}]
        commands = [span.span() for span in codes if span[1].startswith("blade ")]
        named += [Named(key, start, True, any(a <= start < b for a, b in commands)) for key, start, _ in cited]
        named = list({(one.text, one.start): one for one in named if HOLE not in one.text}.values())
        for check, citation in self.check_quotes(text, line, cited):
            if check.verdict == "supported":
                proven |= {citation, (split_citation(citation) or ("", 0, None))[0]}
            yield check
        said_of = [one for one in named if not one.is_citation]
        if not said_of and IT.match(text):  # `It is labelled BI` speaks of the one task of the sentence before
            keys = {key for key, _, _ in tasks_in(said.before)} | {span[1] for span in CODE.finditer(said.before)}
            keys = (keys | {key.rpartition(":")[0] for key, _, _ in citations_in(said.before)}) & self.evidence.tasks
            said_of = [Named(task, -1) for task in keys if len(keys) == 1]
        for check, task in self.check_labels(text, line, said_of):
            proven |= {task} if check.verdict == "supported" else set()
            yield check
        self.buckets_said = set()
        for found in BUCKET.finditer(text):
            bucket = (found[1] or found[2]).lower()
            known = [one for one in meant(said_of, found, text) if one.task in self.buckets]
            proven |= {one.task for one in known if bucket in self.buckets[one.task]}
            placed = [one for one in known if is_said_of(one, found, text)]
            self.buckets_said |= {bucket for one in placed if bucket in self.buckets[one.task]}
            wrong = [one.task for one in placed if bucket not in self.buckets[one.task]]
            if wrong:
                true, why = " or ".join(self.buckets[wrong[0]]), f"bucket of task {wrong[0]}"
                yield Check(line, found[0].strip(), "contradicted", f"{true} passes", why, sentence=sentence)
        for key, start, end in cited:
            ended, passed = OUTCOME.match(text, end), self.outcome(key)
            if ended and passed is not None and not any(start <= a < end for a, _ in commands):
                is_true = passed == (ended[1].lower() != "fail")
                proven |= {key} if is_true else set()
                if not is_true:
                    true = "passed" if passed else "failed"
                    yield Check(line, ended[0].strip(), "contradicted", true, f"outcome of {key}", sentence=sentence)
        lists = [(start, tasks) for start, value in sorted(bound.items()) if (tasks := self.members(value))]
        for one in named:
            before = [tasks for start, tasks in lists if start < one.start]
            listed = one.text in (before[-1] if before else lists[0][1] if lists else ())
            problem = f"there is no task {one.task}" if one.task not in self.evidence.tasks else ""
            if one.is_citation and not problem:
                problem = self.problem_with("cite", one.text)
            # Of an item, what holds of its task proves nothing.
            is_proven = one.text in proven or (one.task in proven and not (one.is_citation and "#" in one.text))
            if problem:
                yield Check(line, one.text, "contradicted", "", problem, sentence=sentence)
            elif one.in_command:
                yield Check(line, one.text, "supported", why=COMMAND, sentence=sentence)
            elif (is_proven or listed) and one.task not in disproven:
                yield Check(line, one.text, "supported", why="what is said of it holds", sentence=sentence)
            else:
                write = f'{{{{ {"cite" if one.is_citation else "task"}("{one.text}") }}}}'
                why = "it exists; nothing said of it could be checked"
                yield Check(line, one.text, "unbound", "", why, write, sentence)

    def outcome(self, citation: str) -> bool | None:
        """Whether a rollout passed, where that is known of one run."""
        known = [source.judged.passed.get(citation) for source in self.evidence.sources if source.judged is not None]
        return known[0] if len(known) == 1 else None

    def listed(self, text: str, codes: Sequence[re.Match[str]]) -> Iterator[re.Match[str]]:
        """Code that is a task, and whatever is listed with one or stands alone where a label is given."""
        groups: list[list[re.Match[str]]] = []
        for span in codes:
            if groups and LIST_JOINT.fullmatch(text[groups[-1][-1].end() : span.start()]):
                groups[-1].append(span)
            else:
                groups.append([span])
        known = self.evidence.tasks
        is_labelled = LABEL.search(without_quotes(text)) is not None and not tasks_in(text) and not citations_in(text)
        for group in groups:
            is_about = any(span[1] in known for span in group) or (
                is_labelled and groups == [group] and not LABEL_OR_COMMAND.match(group[0][1])
            )
            others = self.authors if is_about else {span[1] for span in group}
            yield from (
                span for span in group if span[1] in known or not (span[1] in others or split_citation(span[1]))
            )

    def problem_with(self, kind: str, *words: str) -> str:
        """Why a citation or a quotation cannot be found in any run; nothing when it is, or nobody can tell."""
        problem, proofs = "", self.evidence.proofs
        if proofs is None:
            return problem
        for name in self.evidence.names:
            try:
                proofs.look_up(kind, [*words, name] if len(self.evidence.names) > 1 else [*words])
                return ""
            except (LookupError, BladeError) as error:
                problem = str(error.args[0] if error.args else error)
        return problem

    def check_labels(self, text: str, line: int, named: Sequence[Named]) -> Iterator[tuple[Check, str]]:
        """Every label that a text gives to a task; of several labels each goes to the tasks before it."""
        found = list(LABEL.finditer(without_quotes(text)))
        meanings = {meaning.lower(): code for code, meaning in CAUSES.items()}
        codes = [meanings.get(label[0].lower().removesuffix("s"), label[0].rstrip("?")) for label in found]
        for place, (label, code) in enumerate(zip(found, codes, strict=True)):
            if not re.fullmatch(rf"(?:{CODES})(?:\+(?:{CODES}))*", code):
                continue
            after = max(found[place - 1].start() if place else -2, -2) if len(set(codes)) > 1 else -2
            for one in meant([one for one in named if not 0 <= one.start <= after], label, text):
                if one.task not in self.evidence.tasks or (len(set(codes)) > 1 and one.start > label.start()):
                    continue
                true, why = self.causes.get(one.task), f"label of task {one.task}"
                if true is not None and set(code.split("+")) <= set(true.rstrip("?").split("+")):
                    yield Check(line, label[0], "supported", why=why, sentence=shown(text)), one.task
                else:
                    told = true or "no label: it always passes"
                    yield Check(line, label[0], "contradicted", told, why, sentence=shown(text)), one.task

    def check_quotes(self, text: str, line: int, cited: Sequence[Mention]) -> Iterator[tuple[Check, str]]:
        """Every quotation, at the place it names or anywhere, and the citation it was found at."""
        for found in QUOTED.finditer(blanked_code(text)):
            quoted = text[found.start() : found.end()]
            words = without_code_marks(quoted[1:-1]).strip()
            # A citation right behind it, as in “words” (`1:2`), else the last before, else any.
            before = [one for one in cited if one[1] < found.start()]
            behind = [one for one in cited if one[1] >= found.end()]
            is_behind = behind and RIGHT_BEHIND.fullmatch(text[found.end() : behind[0][1]])
            place = behind[:1] if is_behind or not before else before[-1:]
            citation, start, end = place[0] if place else ("", found.end(), found.start())
            gap = max(start - found.end(), found.start() - end)
            if not citation and len(words.split()) < FEWEST_WORDS:
                continue
            verdict, why = self.quote_verdict(words, citation)
            if citation and verdict == "contradicted" and gap > NEAR_BY:
                verdict = "unbound"  # the citation may be about something else
            write = f'{{{{ cite("{citation or "TASK:REPEAT#ITEM"}", "…") }}}}'
            yield Check(line, shown(quoted), verdict, "", why, write, shown(text)), citation

    def quote_verdict(self, words: str, citation: str) -> tuple[Verdict, str]:
        """Whether words stand where they are said to."""
        if self.evidence.proofs is None:
            return "unverifiable", "the rollouts are not where they were"
        pieces = [piece.strip(" .,;") for piece in re.split(r"…|\.\.\.|\[…\]|\[\.\.\.\]", words)]
        if not citation:
            if all(piece in self.texts for piece in pieces):
                return "supported", "stands in a rollout"
            return "unbound", "stands in no rollout word for word"
        rollout_key, has_item, number = citation.partition("#")
        for source in self.evidence.sources:
            try:
                items = source.run.rollout_at(source.run.row(rollout_key)).items if source.run else []
            except BladeError:
                continue
            said = "\n".join(item.text for item in (items[int(number) : int(number) + 1] if has_item else items))
            if all(has_words(said, piece) for piece in pieces):
                return "supported", f"stands at {citation}"
        problems = [self.problem_with("quote", citation, piece) for piece in pieces if piece]
        return "contradicted", next(filter(None, problems), "its words do not stand there together")


def has_words(text: str, piece: str) -> bool:
    """Whether a text has words in this order, as it stands or as Markdown shows it, whatever stands between them."""
    return any(
        f" {' '.join(WORDS.findall(without_code_marks(shape(piece))))} "
        in f" {' '.join(WORDS.findall(without_code_marks(shape(text))))} "
        for shape in (str, plain)
    )


def meant(named: Sequence[Named], found: re.Match[str], text: str) -> list[Named]:
    """The tasks that a bucket or a label is given to: those before it in its clause, else those behind it."""
    start, end = text.rfind(";", 0, found.start()), text.find(";", found.end())
    before = [one for one in named if max(start, 0) <= one.start < found.start()]
    behind = [one for one in named if one.start >= found.end() and (one.start < end or end < 0)]
    return [one for one in named if one.start < 0] + (before or behind)


def is_said_of(one: Named, found: re.Match[str], text: str) -> bool:
    """Whether a bucket is said of a task: nothing but other ids and a word or two stand between them."""
    if one.start < 0:
        return True
    if found.end() <= one.start and BUCKET.search(text, one.start):
        return False  # it has one of its own
    is_code = text[one.start] == CODE_OPEN
    end = text.find(CODE_CLOSE, one.start) + 1 if is_code else one.start + len(one.text)
    between = text[end : found.start()] if one.start < found.start() else text[found.end() : one.start]
    rest = [word for word in re.findall(r"[A-Za-z]+", CODE.sub(" ", between)) if word not in ("and", "tasks", "task")]
    is_other = ";" in between or re.search(r"\bof\s+tasks?\s*$", text[: one.start]) is not None
    return len(rest) <= 1 and not is_other
