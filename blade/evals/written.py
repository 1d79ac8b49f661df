"""Writing result files: all of a file or nothing, however large it is."""

import contextlib
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from blade.errors import InputError


def write_chunks(path: Path, chunks: Iterable[bytes]) -> None:
    """Puts chunks one after the other at a path; a reader never sees half of them."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as file:
            file.writelines(chunks)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}.") from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()
