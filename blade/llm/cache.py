"""Replies kept on disk by what was asked, so that asking again is free and an interrupted job goes on where it was.

The key is a digest of everything that shapes the reply: the model, where it runs and the whole request. Only whole
replies are kept; errors are not.
"""

import hashlib
import secrets
from pathlib import Path

import msgspec

from blade.llm.model import Model, Reply, Request

DECODER = msgspec.json.Decoder(Reply)


class CachedModel:
    """A model whose replies are looked up before it is asked."""

    def __init__(self, model: Model, folder: Path, *, place: str = "") -> None:
        self._model = model
        self._folder = folder
        self._place = place
        self.hits = 0
        """Replies that were there already."""

    @property
    def name(self) -> str:
        """What the model is called."""
        return self._model.name

    async def ask(self, request: Request) -> Reply:
        """The reply kept for this very request, else a new one."""
        path = self._folder / f"{cache_key(self.name, self._place, request)}.json"
        kept = read_reply(path)
        if kept is not None:
            self.hits += 1
            return kept
        reply = await self._model.ask(request)
        keep_reply(path, reply)
        return reply

    async def close(self) -> None:
        """Lets go of connections."""
        await self._model.close()


def cache_key(model: str, place: str, request: Request) -> str:
    """A digest of everything that shapes a reply."""
    content = msgspec.json.encode([model, place, request], order="sorted")
    return hashlib.sha256(content).hexdigest()


def read_reply(path: Path) -> Reply | None:
    """A kept reply; one that is damaged counts as none."""
    try:
        return DECODER.decode(path.read_bytes())
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def keep_reply(path: Path, reply: Reply) -> None:
    """Puts a reply into its place, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    draft.write_bytes(msgspec.json.encode(reply))
    draft.replace(path)
