"""A page as one file: its markup, style and script, with a policy that lets nothing else run.

The script is our own modules one after another, in the order in which they need each other, so that there is no build
step and nothing to fetch. Whatever comes from rollouts is escaped by the template or stands in JSON that only
`JSON.parse` reads; the policy names the hashes of our own style and script, and forbids the rest.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from blade.diagnosis.labels import CAUSES
from blade.report.streams import json_pieces

ASSETS = "assets"
UNIT = re.compile(r"(?<=\d) (?=(?:%|pp)(?!\w))|(?<=\bp) (?== \d)|(?<=\bp =) (?=\d)")
MINUS = re.compile(r"(?<![\w.])-(?=[\d$])")
IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
IMPORTED = re.compile(r"^import (?:[^;]*?from )?\"\./(?P<file>[\w-]+\.js)\";$", re.MULTILINE)
EXPORT = re.compile(r"^export (?=function|class|const|async)", re.MULTILINE)


@cache
def templates() -> Environment:
    """Templates of pages; every value is escaped."""
    made = Environment(
        loader=PackageLoader("blade.report.page", ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["words"] = words
    made.filters["typeset"] = typeset
    made.filters["cause"] = lambda label: CAUSES.get(label.removesuffix("?"), "")
    return made


def words(text: str) -> Markup:
    """A sentence with what stands in backticks as code."""
    pieces = UNIT.sub("\u00a0", text).split("`")
    if len(pieces) % 2 == 0:  # a backtick without its partner is just a sign
        return escape(text)
    return Markup("").join(Markup("<code>{}</code>").format(p) if i % 2 else escape(p) for i, p in enumerate(pieces))


def typeset(text: str) -> str:
    """A number with its unit on one line and a minus sign for a hyphen."""
    return MINUS.sub("\u2212", UNIT.sub("\u00a0", text))


@cache
def asset(name: str) -> str:
    return (files("blade.report.page") / ASSETS / name).read_text(encoding="utf-8")


@cache
def script(entry: str) -> str:
    """A module and all it imports, as one module."""
    done: list[str] = []

    def add(name: str) -> None:
        if name in done:
            return
        for match in IMPORTED.finditer(asset(name)):
            add(match["file"])
        done.append(name)

    add(entry)
    return "\n".join(EXPORT.sub("", IMPORT.sub("", asset(name))) for name in done)


def policy(style: str, *codes: str, source: str) -> str:
    """What the page may do: show its own style, run its own scripts, and nothing else."""
    scripts = " ".join(f"'sha256-{digest(code)}'" for code in codes)
    rules = {
        "default-src": "'none'",
        # Scripts that ours loads may run, those in markup may not; only a page with parts beside it loads any.
        "script-src": f"{scripts} 'strict-dynamic'" if source == "files" else scripts,
        "style-src": f"'sha256-{digest(style)}'",
        "connect-src": "'self'" if source == "server" else "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    if source != "files":
        rules |= {"require-trusted-types-for": "'script'", "trusted-types": "'none'"}
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


BLOCK = re.compile(r"(<\x00\d+>)")
"""Where a block of bytes goes; no other text of a page has an unescaped `<` before this sign."""


def json_block(value: msgspec.Struct) -> Iterator[bytes]:
    """A value as JSON that cannot end the element it stands in."""
    for piece in json_pieces(value):
        yield piece.replace(b"<", b"\\u003c").replace(b">", b"\\u003e").replace(b"&", b"\\u0026")


def filled(piece: str, blocks: list[Iterable[bytes]]) -> Iterator[bytes]:
    """A piece of a page with its blocks, which never become text: that would take several times as much."""
    for part in BLOCK.split(piece):
        yield from blocks[int(part[2:-1])] if BLOCK.fullmatch(part) else [part.encode()]


def render(
    template: str,
    entry: str,
    data: msgspec.Struct | None,
    *,
    source: str,
    parts: list[bytes],
    up: str = "",
    **values: Any,
) -> Iterator[bytes]:
    """A page, piece by piece: that of a large run takes several times as much memory as a whole."""
    style, code = asset("style.css"), script(entry)
    if "</" in style or "</script" in code:  # pragma: no cover - ours, and held by a test
        raise AssertionError("style and script must not end their element")
    blocks: list[Iterable[bytes]] = [json_block(data) if data else [], *([part] for part in parts)]
    pieces = (
        templates()
        .get_template(template)
        .generate(
            policy=policy(style, code, source=source),
            style=Markup(style),
            script=Markup(code),
            data=Markup("<\x000>") if data else "",
            parts=[Markup(f"<\x00{number}>") for number in range(1, len(parts) + 1)],
            up=up,
            **values,
        )
    )
    for piece in pieces:
        yield from filled(piece, blocks)
