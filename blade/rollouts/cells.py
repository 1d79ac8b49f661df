"""What the table keeps of values that are too long or too odd to be kept whole: first words, a hash, or whether any."""

import contextlib
import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from blade.rollouts.columns import MAX_TEXT
from blade.rollouts.fields import Leaf
from blade.rollouts.steps import (
    LONGEST_BLANK,
    UNDECODABLE,
    Trajectory,
    expanded,
    is_blank,
    kind_of,
    payload_of,
    text_of,
)

NAMED_TEXT = 60
FAILURE_ENDINGS = ("-failed", "-timeout", "-skipped", "-killed", "-incomplete")


def plain_values(values: Sequence[Any], leaf: Leaf) -> Sequence[Any]:
    """Values as a column takes them; of undecoded ones the first words, or whether there is anything."""
    if leaf is Leaf.PRESENT:
        return presences(values)
    if leaf is Leaf.TEXT:
        return [None if v is None or is_blank(v) else text_of(v)[:MAX_TEXT] for v in values]
    if leaf is Leaf.ANY:
        return [None if v is None or is_blank(v) else any_value(v) for v in values]
    return values


def presences(values: Sequence[Any]) -> Sequence[Any]:
    """Whether each undecoded value holds anything; `None` where its branch is missing."""
    if all(values) and min(map(len, values)) > LONGEST_BLANK:
        return [True] * len(values)
    return [None if v is None else not is_blank(v) for v in values]


def any_value(raw: msgspec.Raw) -> Any:
    """A scalar, or the first words of a list or an object."""
    text = bytes(raw)
    if text[:1] in (b"[", b"{"):
        return text.decode("utf-8", "replace")[:MAX_TEXT]
    with contextlib.suppress(*UNDECODABLE):
        return msgspec.json.decode(text)
    return None  # a number beyond all numbers


def all_shortened(values: Sequence[Any]) -> Sequence[Any]:
    """Values of a field the user named; texts are looked at once each, since most fields have few."""
    with contextlib.suppress(TypeError):  # a list cannot be looked up
        long = {value: shortened(value) for value in set(values) if isinstance(value, str) and len(value) > MAX_TEXT}
        return [long.get(value, value) for value in values] if long else values
    return [shortened(value) for value in values]


def shortened(value: Any) -> Any:
    """A text too long for the table keeps its first words and a hash of all."""
    if not isinstance(value, str) or len(value) <= MAX_TEXT:
        return value
    digest = hashlib.blake2b(value.encode("utf-8", "replace"), digest_size=6).hexdigest()
    return f"{value[:NAMED_TEXT]}… {digest}"


def raw_hash(value: msgspec.Raw | None) -> str | None:
    if value is None or is_blank(value):
        return None
    return hashlib.blake2b(bytes(value), digest_size=6).hexdigest()


def items_hash(items: Trajectory) -> str | None:
    """A name for a prompt that depends on its words only."""
    if not items:
        return None
    digest = hashlib.blake2b(digest_size=6)
    for item in expanded(items, prompt=True):
        payload = payload_of(item, kind_of(item.type, item.role, prompt=True))
        digest.update(f"\0{item.name or ''}\0".encode("utf-8", "replace"))
        digest.update(text_of(payload).encode("utf-8", "replace"))
    return digest.hexdigest()


def failure_suffixes(ids: Sequence[Any]) -> list[str | None]:
    """How a synthetic failed row of an older Gym ends its id; other ids are of no use in a table."""
    texts = [value if isinstance(value, str) else "" for value in ids]
    # Most files have none: one search in all ids is ten times faster than a look at each.
    if not any(f"{ending}\n" in joined for joined in ("\n".join([*texts, ""]),) for ending in FAILURE_ENDINGS):
        return [None] * len(texts)
    return [text.rpartition("-")[2] if text.endswith(FAILURE_ENDINGS) else None for text in texts]
