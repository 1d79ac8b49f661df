"""What a trajectory says last: the message without its thinking, and how long it is."""

import numpy as np

from blade.rollouts.batch import Batch
from blade.rollouts.pieces import Indices
from blade.rollouts.steps import texts_of


def answer_sizes(batch: Batch) -> Indices:
    """Bytes of the last message of each row, without its thinking; 0 where a row has none."""
    last = batch.last_of(batch.messages)
    rows = np.flatnonzero(last >= 0)
    sizes = np.zeros(batch.rows, dtype=np.int64)
    texts = map(without_thinking, texts_of(batch.messages.payloads.take(last[rows])))
    sizes[rows] = [len(text) if text.isascii() else len(text.encode("utf-8", "replace")) for text in texts]
    return sizes


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
