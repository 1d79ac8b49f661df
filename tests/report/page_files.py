"""Reading a page back: its data, its parts and its policy."""

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import msgspec

BLOCK = r'<script type="{kind}" id="{name}">(.*?)</script>'
PART = re.compile(rb'bladePart\((\d+),"([A-Za-z0-9+/=]*)"\);\n')


def page_text(folder: Path, name: str = "report.html") -> str:
    return (folder / name).read_text(encoding="utf-8")


def data_of(page: str) -> dict[str, Any]:
    """What the page's script reads."""
    match = re.search(BLOCK.format(kind="application/json", name="page-data"), page, re.DOTALL)
    assert match is not None
    found: dict[str, Any] = json.loads(match[1])
    return found


def inline_rollouts(page: str) -> list[dict[str, Any]]:
    """Every rollout in the page's own parts."""
    parts = re.findall(BLOCK.format(kind="text/plain", name=r"part-\d+"), page, re.DOTALL)
    return [rollout for part in parts for rollout in unpacked(part.encode())]


def filed_rollouts(folder: Path) -> list[dict[str, Any]]:
    """Every rollout in the parts beside a page."""
    found: list[dict[str, Any]] = []
    for number, path in enumerate(sorted((folder / "report_files").iterdir())):
        match = PART.fullmatch(path.read_bytes())
        assert match is not None and int(match[1]) == number
        found += unpacked(match[2])
    return found


def unpacked(letters: bytes) -> list[dict[str, Any]]:
    decoded: list[dict[str, Any]] = msgspec.json.decode(gzip.decompress(base64.b64decode(letters)))
    return decoded
