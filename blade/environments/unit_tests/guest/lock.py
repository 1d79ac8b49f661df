"""Locks a process down, for good, before it sees any code it must not trust.

What the kernel enforces from then on, for root as for anybody else:

- a seccomp filter lets through the system calls that computing needs, and answers every other one with EPERM. There
  is no way to open, create, link or list a file, to make a socket, to start a process or a thread, to run a program,
  to signal or trace anybody, or to sleep; descriptors that are open stay the only ones;
- limits on CPU time, memory, file size, descriptors and processes, which cannot be raised again;
- no new privileges, no core dumps, and death with the process that started it.

Neither namespaces nor rights are needed. Where the filter cannot be installed nothing is run: see `serve`.
"""

import contextlib
import ctypes
import os
import resource
import signal
import socket
import struct
from collections.abc import Callable

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
FILTER_MODE = 2

ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050001
"""Verdicts of the filter: let through, kill the process, answer EPERM."""

LOAD, EQUALS, RETURN = 0x20, 0x15, 0x06
"""Instructions of classic BPF: load a word, skip unless it equals a value, return."""
CALL_NUMBER, ARCHITECTURE = 0, 4
"""Where the kernel puts what the filter looks at."""

# Names in both lists are the same; numbers are from the kernel's tables of system calls.
CALLS: dict[str, tuple[int, dict[str, int]]] = {
    "x86_64": (
        0xC000003E,
        {
            **{"read": 0, "write": 1, "close": 3, "fstat": 5, "lseek": 8},
            **{"mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12, "mremap": 25, "madvise": 28},
            **{"rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "sigaltstack": 131},
            **{"futex": 202, "set_robust_list": 273, "rseq": 334, "sched_yield": 24, "restart_syscall": 219},
            **{"getpid": 39, "gettid": 186, "getrusage": 98, "times": 100, "getrandom": 318},
            **{"clock_gettime": 228, "clock_getres": 229, "gettimeofday": 96},
            **{"exit": 60, "exit_group": 231},
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            **{"read": 63, "write": 64, "close": 57, "fstat": 80, "lseek": 62},
            **{"mmap": 222, "mprotect": 226, "munmap": 215, "brk": 214, "mremap": 216, "madvise": 233},
            **{"rt_sigaction": 134, "rt_sigprocmask": 135, "rt_sigreturn": 139, "sigaltstack": 132},
            **{"futex": 98, "set_robust_list": 99, "rseq": 293, "sched_yield": 124, "restart_syscall": 128},
            **{"getpid": 172, "gettid": 178, "getrusage": 165, "times": 153, "getrandom": 278},
            **{"clock_gettime": 113, "clock_getres": 114, "gettimeofday": 169},
            **{"exit": 93, "exit_group": 94},
        },
    ),
}


class CannotLock(Exception):
    """The process could not be locked down, and says why."""


def limit_resources(*, cpu_seconds: int, memory_mb: int) -> None:
    """Sets limits that only root could raise again, and root cannot either once the filter is there."""
    limits = {
        resource.RLIMIT_CPU: cpu_seconds,
        resource.RLIMIT_AS: memory_mb * 2**20,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NPROC: 0,
        resource.RLIMIT_NOFILE: 16,
    }
    for which, wanted in limits.items():
        most = resource.getrlimit(which)[1]
        limit = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(which, (limit, limit))


def die_with_parent(parent: int) -> None:
    """Asks to be killed when the parent ends; ends at once if it already has."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise CannotLock("the process that started it is gone")


def install_filter(machine: str) -> None:
    """Installs the filter for the calls of a machine; raises `CannotLock` where that cannot be done."""
    if machine not in CALLS:
        raise CannotLock(f"there is no list of system calls for {machine}")
    architecture, allowed = CALLS[machine]
    program = filter_program(architecture, sorted(allowed.values()))
    code = ctypes.create_string_buffer(program, len(program))
    prctl(PR_SET_DUMPABLE, 0)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    # struct sock_fprog: how many instructions, and where they are.
    head = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    holder = ctypes.create_string_buffer(head, len(head))
    prctl(PR_SET_SECCOMP, FILTER_MODE, ctypes.addressof(holder))


def filter_program(architecture: int, allowed: list[int]) -> bytes:
    """Machine code for the kernel: another architecture is killed, calls in the list pass, all others are refused."""

    def instruction(code: int, value: int, *, on_match: int = 0, otherwise: int = 0) -> bytes:
        return struct.pack("HBBI", code, on_match, otherwise, value)

    program = [
        instruction(LOAD, ARCHITECTURE),
        instruction(EQUALS, architecture, on_match=1),
        instruction(RETURN, KILL),
        instruction(LOAD, CALL_NUMBER),
    ]
    for place, number in enumerate(allowed):
        program.append(instruction(EQUALS, number, on_match=len(allowed) - place))
    return b"".join([*program, instruction(RETURN, REFUSE), instruction(RETURN, ALLOW)])


def prctl(option: int, *values: int) -> None:
    call = ctypes.CDLL(None, use_errno=True).prctl
    call.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
    if call(option, *values, *[0] * (4 - len(values))) != 0:
        raise CannotLock(f"prctl {option} was refused: {os.strerror(ctypes.get_errno())}")


def still_possible() -> list[str]:
    """What this process can still do and must not be able to; empty when it is locked down."""
    attempts: dict[str, Callable[[], object]] = {
        "open a file": lambda: os.open(os.devnull, os.O_RDONLY),
        "go to a folder": lambda: os.chdir("/"),
        "make a socket": lambda: socket.socket(socket.AF_UNIX),
        "signal a process": lambda: os.kill(os.getpid(), 0),
        "start a process": fork_and_leave,
        "raise a limit": lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
    }
    return [what for what, attempt in attempts.items() if succeeds(attempt)]


def succeeds(attempt: Callable[[], object]) -> bool:
    # EPERM comes as PermissionError, except from setrlimit, where it comes as ValueError.
    with contextlib.suppress(PermissionError, ValueError):
        attempt()
        return True
    return False


def fork_and_leave() -> None:
    if os.fork() == 0:
        os._exit(0)
