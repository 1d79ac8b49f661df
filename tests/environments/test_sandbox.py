"""The sandbox, attacked: what code of a model tries to do to the machine and to its limits, and when nothing is run."""

import errno
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sandbox_attacks import QUICK, attack, is_refused

from blade.environments.unit_tests import sandbox
from blade.environments.unit_tests.guest.lock import CALLS, filter_program
from blade.environments.unit_tests.sandbox import START, Died, Guest, Limits, Raised, Returned, SandboxError

GUEST = Path(sandbox.__file__).parent / "guest"
RECENT = "import sys; sys.exit(sys.version_info < (3, 11))"


@pytest.fixture(scope="module")
def guest() -> Iterator[Guest]:
    """One sandbox for attacks that end in an error and leave it as it was."""
    with Guest(Limits(cpu_seconds=20)) as opened:
        yield opened


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        yield server


def test_plain_functions_are_loaded_and_called() -> None:
    code = "import re, datetime\ndef f(a, b):\n    return {'sum': a + b, 'parts': (a, [b], {1, 2}), 'none': None}"

    assert attack(code, 1, 2) == Returned({"sum": 3, "parts": (1, [2], {1, 2}), "none": None})


def test_an_endless_loop_is_stopped_by_its_computing_time() -> None:
    assert attack("def f():\n    while True: pass") == Died("time_limit")


def test_a_loop_that_ignores_signals_is_stopped_all_the_same() -> None:
    code = """
        import signal
        def f():
            for number in (signal.SIGXCPU, signal.SIGTERM, signal.SIGALRM):
                signal.signal(number, signal.SIG_IGN)
            while True: pass
    """
    assert attack(code) == Died("time_limit")


def test_a_process_that_waits_for_ever_is_stopped_by_the_clock() -> None:
    code = """
        import _thread
        def f():
            lock = _thread.allocate_lock()
            lock.acquire()
            lock.acquire()
    """
    assert attack(code, limits=Limits(wall_seconds=0.5)) == Died("time_limit")


def test_an_endless_loop_at_import_is_stopped_too() -> None:
    assert attack("while True: pass") == Died("time_limit")


def test_a_huge_allocation_fails() -> None:
    outcome = attack("def f():\n    return len(bytearray(10**10))")

    assert isinstance(outcome, Raised) and outcome.kinds[0] == "MemoryError"


def test_growing_memory_ends_in_an_error_and_not_in_the_machines_memory() -> None:
    code = "def f():\n    kept = []\n    while True: kept.append(bytearray(10**6))"
    outcome = attack(code)

    assert isinstance(outcome, Died) or (isinstance(outcome, Raised) and outcome.kinds[0] == "MemoryError")


def test_a_fork_bomb_does_not_get_to_its_first_fork() -> None:
    assert is_refused(attack("import os\ndef f():\n    while True: os.fork()"))


def test_no_thread_is_started() -> None:
    outcome = attack("import _thread\ndef f():\n    _thread.start_new_thread(print, ())")

    assert isinstance(outcome, Raised) and outcome.kinds[0] == "RuntimeError"


@pytest.mark.parametrize(
    "call",
    [
        pytest.param("os.execv('/bin/sh', ['sh', '-c', 'true'])", id="exec"),
        pytest.param("os.posix_spawn('/bin/true', ['true'], {})", id="spawn"),
        pytest.param("os.listdir('/')", id="list"),
        pytest.param("os.symlink('/etc/passwd', 'passwd')", id="symlink"),
        pytest.param("os.link('/etc/passwd', 'passwd')", id="link"),
        pytest.param("os.mkdir('new')", id="folder"),
        pytest.param("os.remove('/etc/hostname')", id="remove"),
        pytest.param("os.chmod('/etc/hostname', 0o777)", id="chmod"),
        pytest.param("os.kill(os.getppid() or 1, 9)", id="kill_the_parent"),
        pytest.param("os.killpg(0, 9)", id="kill_the_group"),
        pytest.param("os.setsid()", id="leave_the_session"),
        pytest.param("os.nice(-5)", id="priority"),
        pytest.param("os.pipe()", id="pipe"),
        pytest.param("os.memfd_create('x')", id="memory_file"),
        pytest.param("os.chroot('.')", id="chroot"),
        pytest.param("os.setuid(0)", id="become_root"),
        pytest.param("open('/etc/passwd').read()", id="read_a_file"),
        pytest.param("open('/proc/self/environ').read()", id="read_the_environment"),
        pytest.param("open('inside.txt', 'w')", id="write_in_its_folder"),
        pytest.param("open('/tmp/outside.txt', 'w')", id="write_outside"),
    ],
)
def test_the_kernel_refuses(call: str, guest: Guest) -> None:
    guest.load(f"import os\ndef f():\n    return {call}", "f")

    assert is_refused(guest.call("f", ()))


def test_a_file_of_the_host_is_neither_read_nor_written(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("swordfish")
    reading = attack("def f(path):\n    return open(path).read()", str(secret))
    writing = attack("def f(path):\n    open(path, 'a').write('x')", str(secret))

    assert is_refused(reading) and is_refused(writing)
    assert secret.read_text() == "swordfish"


def test_the_host_environment_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    outcome = attack("import os\ndef f():\n    return dict(os.environ)")

    assert isinstance(outcome, Returned)
    assert set(outcome.value) <= {"LC_CTYPE"}


def test_no_connection_is_made(listener: socket.socket) -> None:
    code = "import socket\ndef f(port):\n    socket.create_connection(('127.0.0.1', port), timeout=1)"

    assert isinstance(attack(code, listener.getsockname()[1]), Raised)
    with pytest.raises(TimeoutError):
        listener.accept()


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK"])
def test_no_socket_is_made(family: str, guest: Guest) -> None:
    guest.load(f"import socket\ndef f():\n    socket.socket(socket.{family})", "f")

    assert is_refused(guest.call("f", ()))


@pytest.mark.parametrize("number", [57, 41, 257, 2, 59, 62, 101, 425])
def test_raw_system_calls_are_refused_as_well(number: int, guest: Guest) -> None:
    # fork, socket, openat, open, execve, kill, ptrace, io_uring_setup
    code = f"""
        import ctypes
        def f():
            libc = ctypes.CDLL(None, use_errno=True)
            return libc.syscall({number}, 0, 0, 0, 0, 0, 0), ctypes.get_errno()
    """
    if os.uname().machine != "x86_64":
        pytest.skip("the numbers are those of x86_64")
    guest.load(textwrap.dedent(code), "f")

    assert guest.call("f", ()) == Returned((-1, errno.EPERM))


ON_X86_64 = pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are those of x86_64")


@ON_X86_64
def test_every_system_call_that_is_not_on_the_list_is_refused(guest: Guest) -> None:
    # The kernel keeps 335 and 336 for its own probes and ends any other process that makes them, filter or not.
    allowed = {*CALLS["x86_64"][1].values(), 335, 336}
    # The second range is the x32 interface, the same calls by other numbers.
    forbidden = [number for number in [*range(480), *range(2**30, 2**30 + 560)] if number not in allowed]
    code = """
        import ctypes
        def f(numbers):
            libc = ctypes.CDLL(None, use_errno=True)
            got = [(number, libc.syscall(number, 0, 0, 0, 0, 0, 0), ctypes.get_errno()) for number in numbers]
            return [number for number, result, error in got if (result, error) != (-1, 1)]
    """
    guest.load(textwrap.dedent(code), "f")

    assert guest.call("f", (forbidden,)) == Returned([])


@ON_X86_64
def test_calls_of_another_architecture_end_the_process() -> None:
    # Memory that may be run, with `mov eax, 20; int 0x80; ret`: getpid as a 32-bit program asks for it.
    code = """
        import ctypes
        def f():
            libc = ctypes.CDLL(None)
            libc.mmap.restype = ctypes.c_void_p
            place = libc.mmap(None, ctypes.c_size_t(4096), 7, 0x22, -1, ctypes.c_long(0))
            ctypes.memmove(place, bytes([0xB8, 20, 0, 0, 0, 0xCD, 0x80, 0xC3]), 8)
            return ctypes.CFUNCTYPE(ctypes.c_int)(place)()
    """
    assert attack(code) == Died("crashed")


def test_limits_cannot_be_raised() -> None:
    code = "import resource\ndef f():\n    resource.setrlimit(resource.RLIMIT_AS, (-1, -1))"

    assert isinstance(attack(code), Raised)


def test_no_descriptor_of_the_host_is_open_in_it(tmp_path: Path) -> None:
    code = """
        import os
        def f():
            there = []
            for number in range(64):
                try:
                    os.lseek(number, 0, os.SEEK_CUR)
                    there.append(number)
                except OSError as error:  # a pipe cannot be moved in, but it is there
                    there += [number] * (error.errno != 9)
            return len(there)
    """
    with (tmp_path / "open").open("w") as kept:
        os.set_inheritable(kept.fileno(), True)
        # Its three standard ones, which lead nowhere, and the two of its channel.
        assert attack(code) == Returned(5)


def test_modules_that_were_not_loaded_before_the_lock_cannot_be_imported() -> None:
    outcome = attack("def f():\n    import sqlite3")

    assert isinstance(outcome, Raised) and "ImportError" in outcome.kinds


def test_packages_of_the_host_cannot_be_imported() -> None:
    outcome = attack("def f():\n    import blade")

    assert isinstance(outcome, Raised) and "ImportError" in outcome.kinds


def test_nothing_is_left_of_a_guest() -> None:
    with Guest(QUICK) as guest:
        folder, process = Path(guest.folder.name), guest.process
        assert folder.is_dir()

    assert not folder.exists()
    assert process.poll() is not None


def test_a_guest_is_killed_with_its_host() -> None:
    code = """
        import os
        from blade.environments.unit_tests.sandbox import Guest
        guest = Guest().__enter__()
        print(guest.process.pid, flush=True)
        os.kill(os.getpid(), 9)
    """
    host = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
    guest = int(host.stdout)

    assert host.returncode == -signal.SIGKILL
    assert wait_until_gone(guest)


def wait_until_gone(process: int) -> bool:
    """Whether a process ends within a few seconds; a zombie whose parent has gone counts as ended."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        threading.Event().wait(0.05)
    return False


def test_where_the_process_cannot_be_locked_nothing_is_run() -> None:
    with pytest.raises(SandboxError, match="no list of system calls for m68k"), Guest(QUICK, machine="m68k"):
        pass


def test_where_another_machines_calls_are_allowed_nothing_is_run() -> None:
    other = next(machine for machine in CALLS if machine != os.uname().machine)

    with pytest.raises(SandboxError, match="did not start"), Guest(QUICK, machine=other):
        pass


def test_off_linux_nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")

    with pytest.raises(SandboxError, match="on Linux only"), Guest(QUICK):
        pass


def test_a_lock_that_lets_something_through_is_noticed() -> None:
    # What the guest would do after a filter that allows everything: nothing is refused, and it says so.
    code = """
        import sys
        sys.path.insert(0, sys.argv[1])
        from guest.lock import still_possible
        print(len(still_possible()))
    """
    run = [sys.executable, "-I", "-S", "-c", textwrap.dedent(code), str(GUEST.parent)]

    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout == "6\n"


def test_both_machines_allow_the_same_calls() -> None:
    first, second = (names for _, names in CALLS.values())

    assert set(first) == set(second)
    assert len(filter_program(1, [2, 3])) == 8 * (4 + 2 + 2)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_an_ordinary_user_gets_the_same_lock() -> None:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(GUEST, Path(folder) / "guest")
        Path(folder).chmod(0o755)
        wanted = {"cpu_seconds": 5, "memory_mb": 256, "machine": os.uname().machine, "parent": os.getpid()}
        code = textwrap.dedent("""
            def f():
                import os
                return os.getpid() > 0, open("/etc/passwd")
        """)
        requests = [{"code": code, "entry": "f"}, {"entry": "f", "call": {"tuple": []}}]
        asked = "".join(json.dumps(request) + "\n" for request in requests)
        run = [python_for_everybody(), "-I", "-S", "-B", "-c", START, folder, json.dumps(wanted)]
        done = subprocess.run(
            run, input=asked, capture_output=True, text=True, user=65534, group=65534, cwd="/", env={}
        )

    ready, loaded, refused = map(json.loads, done.stdout.splitlines())
    assert (ready, loaded) == ({"ready": True, "possible": []}, {"loaded": True})
    assert refused["raised"] == "PermissionError"


def python_for_everybody() -> str:
    """A Python that any user may run."""
    for name in (sys.executable, shutil.which("python3", path="/usr/bin:/usr/local/bin")):
        try:
            if name and subprocess.run([name, "-c", RECENT], user=65534, group=65534, cwd="/").returncode == 0:
                return name
        except PermissionError:
            continue
    pytest.skip("another user may run no recent Python here")
