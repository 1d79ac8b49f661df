"""What a trajectory says last: the message without its thinking, and how long it is."""

import numpy as np

from blade.rollouts.batch import Batch, Indices


def answer_sizes(batch: Batch) -> Indices:
    """Bytes of the last message of each row, without its thinking; 0 where a row has none."""
    texts = (without_thinking(text) if text else "" for text in batch.last_said)
    sizes = (len(text) if text.isascii() else len(text.encode("utf-8", "replace")) for text in texts)
    return np.fromiter(sizes, dtype=np.int64, count=batch.rows)


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
