"""The sandboxed process: locks itself down, says so, and only then asks for code and for calls to make.

Requests come and replies go as lines of JSON. Nothing here decides anything: results are judged outside, by a process
that this one cannot touch, against values that this one never sees.
"""

import builtins
import codecs
import contextlib
import importlib
import json
import os
import sys
from typing import Any, BinaryIO

from .lock import CannotLock, die_with_parent, install_filter, limit_resources, still_possible
from .wire import line, pack, unpack

# Nothing can be opened once the process is locked, so whatever code may import has to be there before.
MODULES = [
    *("abc", "array", "ast", "base64", "binascii", "bisect", "calendar", "cmath", "collections"),
    *("collections.abc", "colorsys", "contextlib", "copy", "copyreg", "csv", "dataclasses", "datetime"),
    *("_strptime", "decimal", "difflib", "enum", "fractions", "functools", "graphlib", "hashlib", "heapq"),
    *("hmac", "html", "inspect", "io", "itertools", "json", "keyword", "math", "numbers", "operator", "os"),
    *("pprint", "queue", "random", "re", "secrets", "statistics", "string", "struct", "sys", "textwrap"),
    *("time", "timeit", "token", "tokenize", "traceback", "types", "typing", "unicodedata", "urllib.parse"),
    *("uuid", "warnings", "weakref", "zlib"),
]
CODECS = ["ascii", "latin-1", "utf-8", "utf-16", "utf-32", "cp1252", "idna", "punycode", "rot13", "hex", "base64"]

MOST_MESSAGE = 300

BUILT_IN = {kind for kind in vars(builtins).values() if isinstance(kind, type) and issubclass(kind, BaseException)}
"""The classes themselves, taken before any code runs: one that only bears such a name is none of them."""


class Channel:
    """Lines in and lines out, on descriptors of their own: what code prints goes nowhere."""

    def __init__(self, requests: BinaryIO, replies: BinaryIO) -> None:
        self.requests = requests
        self.replies = replies

    def send(self, message: dict[str, Any]) -> None:
        self.replies.write(line(message))
        self.replies.flush()

    def receive(self) -> dict[str, Any]:
        text = self.requests.readline()
        if not text:
            os._exit(0)
        message: dict[str, Any] = json.loads(text)
        return message


def main() -> None:
    """Started by `sandbox.Guest` with the limits as JSON."""
    wanted = json.loads(sys.argv[2])
    channel = take_channel()
    try:
        preload()
        die_with_parent(wanted["parent"])
        limit_resources(cpu_seconds=wanted["cpu_seconds"], memory_mb=wanted["memory_mb"])
        install_filter(wanted["machine"])
        possible = still_possible()
    except (CannotLock, OSError, ValueError) as error:
        possible = [f"be locked ({error})"]
    channel.send({"ready": not possible, "possible": possible})
    if not possible:
        serve(channel)


def take_channel() -> Channel:
    """The descriptors this process was started with, and nothing in their old places."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
    return Channel(requests, replies)


def preload() -> None:
    del sys.path[0]
    for name in MODULES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for name in CODECS:
        codecs.lookup(name)


def serve(channel: Channel) -> None:
    """Answers requests until there are no more."""
    space: dict[str, Any] = {"__name__": "candidate"}
    while True:
        request = channel.receive()
        if "code" in request:
            reply = load(space, request["code"], request["entry"])
        elif "test" in request:
            reply = judge(channel, request["test"], request["entry"])
        else:
            reply = call(space[request["entry"]], unpack(request["call"]))
        channel.send(reply)


def load(space: dict[str, Any], code: str, entry: str) -> dict[str, Any]:
    """Runs the code that defines a function."""
    try:
        exec(compile(code, "answer.py", "exec"), space)
    except BaseException as error:
        return raised(error)
    return {"loaded": callable(space.get(entry))}


def call(function: Any, arguments: Any) -> dict[str, Any]:
    try:
        return {"value": pack(function(*arguments))}
    except BaseException as error:
        return raised(error)


def judge(channel: Channel, test: str, entry: str) -> dict[str, Any]:
    """Runs a test that defines `check(candidate)`; each call of the candidate is made elsewhere, through the host.

    Some tests call the candidate by its own name, too.
    """

    def candidate(*arguments: Any) -> Any:
        channel.send({"ask": pack(arguments)})
        reply = channel.receive()
        if "value" in reply:
            return unpack(reply["value"])
        raise RuntimeError(f"the candidate raised {reply['raised']}: {reply['message']}")

    space: dict[str, Any] = {"__name__": "test", entry: candidate}
    try:
        exec(compile(test, "test.py", "exec"), space)
        space["check"](candidate)
    except BaseException as error:
        return raised(error)
    return {"passed": True}


def raised(error: BaseException) -> dict[str, Any]:
    message = ""
    with contextlib.suppress(BaseException):
        message = str(error)[:MOST_MESSAGE]
    nearest = next(kind for kind in type(error).__mro__ if kind in BUILT_IN)
    return {"raised": type(error).__name__, "kind": nearest.__name__, "message": message}
