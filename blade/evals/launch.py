"""Starts somebody's program with limits, and leaves nothing of it behind; run as a file, with the limits as JSON.

A process of its own stands between the runner and the agent: it sets the limits, cuts the network, hides folders,
becomes the parent of whatever the agent leaves running, and kills all of that when the agent ends, when it is told to,
or when the runner dies.
Uses the standard library only.
"""

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
from pathlib import Path

NEW_MOUNTS, NEW_USER, NEW_NETWORK = 0x00020000, 0x10000000, 0x40000000
BIND, RECURSIVE, PRIVATE = 0x1000, 0x4000, 0x40000
PARENT_DEATH, SUBREAPER = 1, 36
NOT_HIDDEN = 96
"""Exit code when folders cannot be hidden."""
NO_NETWORK = 97
"""Exit code when the network cannot be cut."""
NOT_STARTED = 98
"""Exit code when the program cannot be started."""


def main() -> int:
    wanted = json.loads(sys.argv[1])
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(PARENT_DEATH, signal.SIGTERM)
        libc.prctl(SUBREAPER, 1)
        if os.getppid() != wanted["parent"]:
            return 1
    wishes = (0 if wanted["network"] else NEW_NETWORK) | (NEW_MOUNTS if wanted["hidden"] else 0)
    if wishes and not set_apart(wishes):
        return NOT_HIDDEN if wanted["network"] else NO_NETWORK
    if not all(hide(folder, wanted["kept"], wanted["empty"]) for folder in wanted["hidden"]):
        return NOT_HIDDEN
    for name, limit in wanted["limits"].items():
        with contextlib.suppress(ValueError):
            resource.setrlimit(getattr(resource, name), (limit, limit))
    return run(sys.argv[2:])


def set_apart(wishes: int) -> bool:
    """Gives this process a network or mounts of its own; without rights to do so, in a user namespace of its own."""
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    if libc.unshare(wishes) != 0:
        if libc.unshare(NEW_USER | wishes) != 0:
            return False
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return not wishes & NEW_MOUNTS or libc.mount(None, b"/", None, RECURSIVE | PRIVATE, None) == 0


def hide(folder: str, kept: list[str], empty: str) -> bool:
    """Puts nothing in the place of everything in a folder, but for what holds one of the places to be kept."""
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        entries = [entry for entry in os.scandir(folder) if not entry.is_symlink()]
    except OSError:
        return True  # what this user cannot look at, the agent cannot either
    for entry in entries:
        path = os.path.join(os.path.realpath(folder), entry.name)  # noqa: PTH118 - bytes of any name
        if any(place == path or place.startswith(path + "/") for place in kept):
            continue
        nothing = empty if entry.is_dir() else "/dev/null"
        if libc.mount(os.fsencode(nothing), os.fsencode(path), None, BIND, None) != 0:
            return False
    return True


def run(words: list[str]) -> int:
    """Runs the program and kills what it leaves; its exit code."""
    child = os.fork()
    if child == 0:
        try:
            os.execvp(words[0], words)
        except OSError:
            os._exit(NOT_STARTED)
    signal.signal(signal.SIGTERM, lambda *_: kill_all(child))
    code = 1
    while True:
        try:
            ended, status = os.wait()
        except ChildProcessError:
            return code
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            kill_all()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)


def kill_all(*known: int) -> None:
    """Kills every process below this one; those that are orphaned by it become its children, and come next."""
    for process in {*known, *below(os.getpid())}:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def below(process: int) -> set[int]:
    """The processes that descend from one."""
    found: set[int] = set()
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            found |= {int(word) for word in (task / "children").read_text().split()}
    return found.union(*map(below, found))


if __name__ == "__main__":
    sys.exit(main() % 256)
