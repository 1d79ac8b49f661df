"""How trajectories end: the last message of each, what it says, and what the last tool said."""

from collections.abc import Callable, Sequence

import numpy as np

from blade.rollouts.batch import Batch
from blade.rollouts.patterns import SHORT_MESSAGE, TEXT_MARKS, Search, literals
from blade.rollouts.phrases import (
    EDGE,
    PLAN_WINDOW,
    REFUSAL_WINDOW,
    announces,
    fingerprint,
    is_provider_error,
    is_refusal,
    is_sandbox_fault,
    is_timeout,
    owns_up,
)
from blade.rollouts.pieces import Indices
from blade.rollouts.steps import text_of, texts_of

REFUSAL_SEARCH = Search(literals(
    "n't", "n’t", "cannot", "can not", "unable", "will not", "do not feel", "do not have", "do not think",
    "do not believe", "not able", "not something", "not anything", "not a request", "not a task",
    "not a question", "not a thing", "not allowed", "not permitted", "not going", "not willing", "not provide",
    "not answer", "rather not", "prefer not", "declin", "refus", "turn th", "appropriate", "ethical", "irresponsible",
    "against", "violat", "break", "conflict", "comfortable", "programmed", "designed",
))  # fmt: skip
"""One of these is in every refusal; looking for them first spares most answers the expression."""
SANDBOX, TIMEOUT = range(2)
TROUBLE_SEARCH = Search([
    *literals(
        "container", "sandbox", "pod", "docker", "runtime", "vm", "machine", "environment", "workspace", "kernel",
        "worker", "instance", "engine core", "oom", "memory", "no space", "quota", "137", "kill", "rpc error",
        code=SANDBOX,
    ),
    *literals("timed out", "timeout", "time-out", "deadline", code=TIMEOUT),
])  # fmt: skip
"""One of these is in every message that a sandbox is gone, or that a tool took too long."""
PLAN_SEARCH = Search(literals("let me", "let's", "let’s", "i'", "i’", "i ", "time to"))
"""One of these is in every announcement of a next step."""

PROVIDER_WORDS = tuple(
    literal.decode() for code in ("rate_limit", "server_error", "connection_error") for literal in TEXT_MARKS[code]
)
"""A message that begins with one of these is an error too."""
LONGEST_WORD = max(map(len, PROVIDER_WORDS))


class FinalAnswers:
    """The last message of each row of a batch, without its thinking; empty where a row has none."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        last = batch.last_of(batch.messages)
        rows = np.flatnonzero(last >= 0)
        self.texts = [""] * batch.rows
        texts = texts_of(batch.messages.payloads.take(last[rows]))
        for row, text in zip(rows.tolist(), texts, strict=True):
            self.texts[row] = without_thinking(text)
        everything = np.arange(len(batch.row))
        self.last = batch.last(everything, everything)
        is_last = np.zeros(batch.rows, dtype=np.bool_)
        is_last[rows] = batch.messages.items[last[rows]] == self.last[rows]
        self.short = [r for r in np.flatnonzero(is_last).tolist() if 0 < len(self.texts[r]) <= SHORT_MESSAGE]
        """Rows that end in a short message."""

    def sizes(self) -> Indices:
        """Bytes of each answer."""
        sizes = [len(text) if text.isascii() else len(text.encode("utf-8", "replace")) for text in self.texts]
        return np.array(sizes, dtype=np.int64)

    def refused(self) -> Indices:
        """Whether each answer declines the task."""
        return flagged([text[:REFUSAL_WINDOW] for text in self.texts], REFUSAL_SEARCH, is_refusal)

    def announced(self) -> Indices:
        """Whether each answer only says what comes next."""
        return flagged([text[-PLAN_WINDOW:] for text in self.texts], PLAN_SEARCH, announces)

    def owned_up(self, *, after_error: Indices) -> Indices:
        """Whether each answer owns up to the error before it."""
        out = np.zeros(len(self.texts), dtype=np.int64)
        for row in np.flatnonzero(after_error).tolist():
            out[row] = owns_up(self.texts[row])
        return out

    def broken_at(self) -> Indices:
        """Where each row ends in a provider's error; -1 for nowhere."""
        broken = [row for row in self.short if is_error(self.texts[row])]
        return self._places(self.last[broken])

    def lost_at(self) -> tuple[Indices, Indices]:
        """Where the last tool of each row says that its sandbox is gone, and where, that it took too long."""
        results = self.batch.results
        chosen = self.batch.last_of(results)
        told = results.payloads.take(chosen[chosen >= 0])
        places = results.items[chosen[chosen >= 0]]
        likely = TROUBLE_SEARCH.ends_with(told, whole=4 * EDGE, end=2 * EDGE)
        texts = {at: text_of(told[at]) for at, _ in likely}
        gone = [at for at, code in likely if code == SANDBOX and is_sandbox_fault(texts[at])]
        stalled = [at for at, code in likely if code == TIMEOUT and is_timeout(texts[at])]
        return self._places(places[gone]), self._places(places[stalled])

    def _places(self, items: Indices) -> Indices:
        """The position of each row's item; -1 where it has none."""
        return self.batch.first(items, self.batch.position[items])

    def fingerprints(self) -> Indices:
        """A number for the last words of each row, the same for the same words, whoever said them; 0 for long ones."""
        out = np.zeros(len(self.texts), dtype=np.int64)
        for row in self.short:
            out[row] = fingerprint(self.texts[row])
        results = self.batch.results
        owners = self.batch.row[results.items]
        ends_row = (self.last[owners] == results.items) & (results.payloads.lengths <= SHORT_MESSAGE)
        for at in np.flatnonzero(ends_row).tolist():
            out[owners[at]] = fingerprint(text_of(results.payloads[at]))
        return out


def flagged(texts: Sequence[str], search: Search, holds: Callable[[str], bool]) -> Indices:
    """Which texts hold; only those are asked that the search finds something in."""
    out = np.zeros(len(texts), dtype=np.int64)
    for row in search.texts_with(texts):
        out[row] = holds(texts[row])
    return out


def without_thinking(text: str) -> str:
    """What a message says to others."""
    # One character is looked for much faster than seven.
    if "<" in text and "think>" in text:
        text = split_thinking(text)[1]
    return text.strip()


def split_thinking(text: str) -> tuple[str, str]:
    """The thought inside `<think>` tags and the answer after it.

    A missing opening tag was eaten by a chat template; a missing closing tag means the thought never ended.
    """
    before, closed, after = text.rpartition("</think>")
    if closed:
        return before.replace("<think>", "", 1).strip(), after
    answer, opened, thought = text.partition("<think>")
    return (thought.strip(), answer) if opened else ("", text)


def is_error(message: str) -> bool:
    """Whether a message is not an answer but what a provider said."""
    return message[:LONGEST_WORD].lower().startswith(PROVIDER_WORDS) or is_provider_error(message)
