"""A process of our own that works out something about a model's answer, with limits: SQL that is run, terms that are
simplified. Both can take for ever, or all memory, so that they are asked for here and given up when they do.
"""

import atexit
import json
import os
import resource
import selectors
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

START = "import importlib, sys; importlib.import_module(sys.argv[1]).serve()"
START_SECONDS = 60.0
MOST_REPLY = 1_000_000


class Helper:
    """A process that is started when it is first asked, and anew after it was given up."""

    def __init__(self, module: str, *, seconds: float, memory_mb: int) -> None:
        self.module = module
        self.seconds = seconds
        self.memory_mb = memory_mb
        self.process: subprocess.Popen[bytes] | None = None
        self.turn = threading.Lock()
        atexit.register(self.close)

    def ask(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """The answer; `None` when there was none within the time, or the process died of it."""
        with self.turn:
            process = self.running()
            assert process.stdin is not None
            try:
                process.stdin.write(json.dumps(request).encode("ascii") + b"\n")
                reply: dict[str, Any] = json.loads(self.line(process, self.seconds))
            except (OSError, ValueError, TimeoutError):
                self.close()
                return None
            return reply

    def running(self) -> subprocess.Popen[bytes]:
        if self.process is None:
            path = os.pathsep.join(place for place in sys.path if place)
            self.process = subprocess.Popen(
                [sys.executable, "-c", START, self.module, str(self.memory_mb)],
                env={"PYTHONPATH": path, "PATH": os.defpath},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
            )
            self.line(self.process, START_SECONDS)
        return self.process

    def line(self, process: subprocess.Popen[bytes], seconds: float) -> bytes:
        """The next line the process writes."""
        assert process.stdout is not None
        text, until = b"", time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while not text.endswith(b"\n"):
                if len(text) > MOST_REPLY or not selector.select(max(0.0, until - time.monotonic())):
                    raise TimeoutError
                data = os.read(process.stdout.fileno(), 65536)
                if not data:
                    raise OSError("the process ended")
                text += data
        return text

    def close(self) -> None:
        """Ends the process."""
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()


def serve(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """What such a process does until its input ends: one line of JSON in, one out."""
    limit = int(sys.argv[2]) * 1_000_000
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print("{}", flush=True)
    for request in sys.stdin:
        print(json.dumps(answer(json.loads(request))), flush=True)
