"""Runs code that must not be trusted, in a process locked down by the kernel (see `guest.lock`).

The process gets an empty environment, an empty folder, no descriptors but its own two pipes, and no code before it has
proved that it is locked: a machine that cannot lock it down runs nothing. Results come back as plain values and are
compared here, where no code of a model ever runs, so a forged verdict has nobody to tell it to.
"""

import builtins
import contextlib
import json
import os
import platform
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import msgspec

from blade.environments.answering import readable
from blade.environments.unit_tests.guest.wire import line, pack, unpack
from blade.errors import BladeError

HERE = Path(__file__).parent
START = "import sys; sys.path.insert(0, sys.argv[1]); from guest.serve import main; main()"
START_SECONDS = 60.0


class SandboxError(BladeError):
    """Code cannot be run safely on this machine, so it is not run at all."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a process may use."""

    cpu_seconds: int = 2
    """Computing time, over all calls; this is what stops an endless loop, however busy the machine is."""
    wall_seconds: float = 60.0
    """Time by the clock, over all calls, for a process that waits for ever."""
    memory_mb: int = 512
    """Address space."""
    reply_bytes: int = 100_000
    """Longest result of one call."""


class Returned(NamedTuple):
    """A call gave a value."""

    value: Any


class Raised(NamedTuple):
    """A call raised an exception."""

    name: str
    """What its class is called, in the words of the code; good for showing only."""
    kinds: list[str]
    """The nearest class of Python's own and those it derives from, nearest first."""
    message: str


class Died(NamedTuple):
    """The process did not live to answer."""

    reason: str
    """`time_limit`, `crashed`, `too_much_output` or `malformed_reply`."""


Outcome = Returned | Raised | Died


class GuestDied(Exception):
    """The guest is no more; its reason is the argument."""


class Guest:
    """A locked process, used as a context manager; it is killed and its folder removed at the end."""

    def __init__(self, limits: Limits | None = None, *, machine: str | None = None) -> None:
        self.limits = limits or Limits()
        self.machine = machine or platform.machine()
        self.rest = b""

    def __enter__(self) -> "Guest":
        self.folder = tempfile.TemporaryDirectory(prefix="blade-sandbox-")
        try:
            self.process = self.start()
            self.deadline = time.monotonic() + START_SECONDS
            self.require_locked()
        except BaseException:
            self.close()
            raise
        self.deadline = time.monotonic() + self.limits.wall_seconds
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def start(self) -> subprocess.Popen[bytes]:
        if sys.platform != "linux":
            raise SandboxError(
                f"code of models is run on Linux only, where it can be locked in, not on {sys.platform}."
            )
        wanted: dict[str, int | str] = {"cpu_seconds": self.limits.cpu_seconds, "memory_mb": self.limits.memory_mb}
        wanted |= {"machine": self.machine, "parent": os.getpid()}
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", "-X", "utf8", "-c", START, str(HERE), json.dumps(wanted)],
            cwd=self.folder.name,
            env={},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            bufsize=0,
        )

    def require_locked(self) -> None:
        """Waits until the process has proved that it is locked; it has no code before that."""
        try:
            reply = self.receive()
        except GuestDied as error:
            raise SandboxError(f"the sandbox did not start ({error}); code of models is not run without it.") from error
        if reply.get("ready") is not True:
            can = ", ".join(map(str, reply.get("possible", [])))
            raise SandboxError(f"the sandbox does not hold here: its process could {can}; no code is run.")

    def load(self, code: str, entry: str) -> Outcome:
        """Runs code that defines a function; `Returned(True)` when the function is there."""
        return self.ask({"code": code, "entry": entry})

    def call(self, entry: str, arguments: tuple[Any, ...]) -> Outcome:
        """Calls a function that was loaded."""
        return self.ask({"entry": entry, "call": pack(arguments)})

    def ask(self, request: dict[str, Any]) -> Outcome:
        try:
            self.send(request)
            return outcome_of(self.receive())
        except GuestDied as error:
            return Died(str(error))

    def send(self, request: dict[str, Any]) -> None:
        """Writes a request; a guest that does not read it is out of time."""
        assert self.process.stdin is not None
        data = line(request)
        os.set_blocking(self.process.stdin.fileno(), False)
        while data:
            self.wait_for(self.process.stdin.fileno(), selectors.EVENT_WRITE)
            try:
                data = data[os.write(self.process.stdin.fileno(), data) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise GuestDied(self.end_reason()) from None

    def receive(self) -> dict[str, Any]:
        """Reads one reply: an object, or the guest counts as dead."""
        text = self.read_line()
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            raise GuestDied("malformed_reply") from None
        if not isinstance(message, dict):
            raise GuestDied("malformed_reply")
        return message

    def read_line(self) -> bytes:
        assert self.process.stdout is not None
        while b"\n" not in self.rest:
            self.wait_for(self.process.stdout.fileno(), selectors.EVENT_READ)
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                raise GuestDied(self.end_reason())
            self.rest += data
            if len(self.rest) > self.limits.reply_bytes:
                raise GuestDied("too_much_output")
        text, _, self.rest = self.rest.partition(b"\n")
        return text

    def wait_for(self, descriptor: int, event: int) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, event)
            if not selector.select(max(0.0, self.deadline - time.monotonic())):
                raise GuestDied("time_limit")

    def end_reason(self) -> str:
        """Why the process ended: the kernel kills one that has used up its computing time."""
        code = self.process.wait()
        return "time_limit" if code in (-signal.SIGXCPU, -signal.SIGKILL) else "crashed"

    def close(self) -> None:
        if hasattr(self, "process"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe is not None:
                    pipe.close()
        self.folder.cleanup()


def kinds_of(name: str) -> list[str]:
    """The line of one exception class as this side knows it: a guest may name a class, not invent its ancestors."""
    kind = getattr(builtins, name)
    if not issubclass(kind, BaseException):
        raise ValueError("no exception")
    return [one.__name__ for one in kind.__mro__ if one is not object]


def outcome_of(reply: dict[str, Any]) -> Outcome:
    """What a reply says, its value made of plain values only."""
    try:
        if "value" in reply:
            return Returned(unpack(reply["value"]))
        if "loaded" in reply:
            return Returned(reply["loaded"] is True)
        return Raised(readable(reply["raised"]), kinds_of(reply["kind"]), readable(reply["message"]))
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError, AttributeError):
        return Died("malformed_reply")
