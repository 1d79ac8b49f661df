"""An installed coding agent as the player: a command, started for every rollout in a folder of its own.

The folder `work` holds `TASK.md`, the task's files and the skills where agents look for them; `home` is its home. The
answer is `answer.txt` in `work`, or else what the agent said last. What it did is taken from the session that it
wrote, to its home or to standard output, where one of our readers knows the form; else only the answer is known.
The agent gets no network, no variable of ours and no key unless it is asked for, and ends with everything it started.
It does not see the user's home, the checkout with the expected answers or the rollouts made before: whatever in those
folders does not hold the agent itself is empty for it. The rest of the machine it can read, or write, as the user can.
"""

import asyncio
import contextlib
import json
import os
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from blade.environments import Environment
from blade.environments.answering import content_text, final_text, function_call, message, readable
from blade.errors import UsageError
from blade.evals import launch
from blade.evals.agent import Played
from blade.evals.judging import let_go
from blade.evals.materialize import REQUEST, Row
from blade.evals.rows import judged_row
from blade.evals.skills import Library
from blade.llm import ModelError, Usage
from blade.llm.model import Item, call_result, reasoning_item
from blade.rollouts.formats import claude_code, codex
from blade.rollouts.formats.reader import Probe
from blade.rollouts.skills import SKILLS_READ
from blade.rollouts.values import Item as Step
from blade.rollouts.values import Rollout

TASK_FILE, ANSWER = "TASK.md", "answer.txt"
FILES_OUT = "files_out"
SKILL_FOLDERS = (".claude/skills", ".agents/skills")
"""Where coding agents look for the skills of a project."""
SESSIONS = ("home/.claude/projects/**/*.jsonl", "home/.codex/sessions/**/*.jsonl", "work/*.jsonl")
TOLD = f"\n\nWrite your final answer, and nothing else, to the file `{ANSWER}` in this folder."
MOST_OUTPUT = 20_000_000
MOST_ANSWER = 200_000
MOST_FILES, MOST_FILE = 20, 50_000
GRACE = 5.0


class CommandLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What one rollout of a command may use."""

    seconds: float = 600.0
    """By the clock; computing time may be four times that, for programs with threads."""
    memory_mb: int = 8192
    """Memory of each process, what it only reserves left out."""
    file_mb: int = 512
    """The longest file."""
    open_files: int = 4096
    """Files open at a time."""
    network: bool = False
    """Whether there is one."""
    environment: tuple[str, ...] = ()
    """Names of variables that are passed on."""
    hidden: tuple[str, ...] = ()
    """Folders whose content it does not see, but for what it needs to run."""

    def as_json(self, *, kept: list[str], empty: Path) -> str:
        """The limits as the launcher takes them."""
        limits = {
            "RLIMIT_CPU": int(4 * self.seconds) + 1,
            "RLIMIT_DATA": self.memory_mb * 2**20,
            "RLIMIT_FSIZE": self.file_mb * 2**20,
            "RLIMIT_NOFILE": self.open_files,
            "RLIMIT_CORE": 0,
        }
        told = {"limits": limits, "network": self.network, "parent": os.getpid()}
        return json.dumps({**told, "hidden": self.hidden, "kept": kept, "empty": str(empty)})


class CommandPlayer:
    """Has rollouts played by a command, and judges them."""

    def __init__(
        self, command: str, name: str, environment: Environment, limits: CommandLimits, library: Library | None = None
    ) -> None:
        self.name = name
        self.notes: list[str] = []
        self._words = words_of(command)
        self._environment = environment
        self._limits = limits
        self._library = library
        self._running: set[subprocess.Popen[bytes]] = set()

    async def judged(self, row: Row) -> Row:
        """Plays one rollout in a thread, and judges what came of it."""
        played, found = await asyncio.to_thread(self._play, row)
        start = time.perf_counter()
        verdict = await asyncio.to_thread(self._environment.verify, row, played.items)
        return {**judged_row(row, played, verdict, judging=time.perf_counter() - start), **found}

    def _play(self, row: Row) -> tuple[Played, Row]:
        if self._environment.tools(row):
            raise UsageError(f"tasks of '{self._environment.name}' need its own tools, which a command does not have.")
        with tempfile.TemporaryDirectory(prefix="blade-agent-", ignore_cleanup_errors=True) as folder:
            place = Path(folder)
            lay_out(place, row, self._library)
            before = files_in(place / "work")
            started, clock = time.time(), time.perf_counter()
            code = self._run(place, task_text(row))
            seconds = time.perf_counter() - clock
            session = session_in(place)
            items = items_of(session) if session else []
            answer = answer_in(place, items)
            if answer is None and code != 0:
                raise failure(self.name, code, place)
            if answer and answer.strip() != final_text(items):
                items.append(message(readable(answer)))
            found: Row = {FILES_OUT: changed_files(place / "work", before), "agent_exit_code": code}
            if self._library is not None:
                found[SKILLS_READ] = skills_read(items, self._library)
        usage = None if session is None or session.usage is None else usage_of(session)
        played = Played(
            id="",
            model=(session.model if session and session.model else None) or self.name,
            items=items,
            usage=usage,
            incomplete="max_time" if code is None else None,
            turns=max(1, sum(item.get("type") == "message" for item in items)),
            refused=["temperature", "top_p", "max_output_tokens"],
            started=started,
            seconds=seconds,
        )
        return played, found

    def _run(self, place: Path, prompt: str) -> int | None:
        """The command's exit code; `None` when its time was up."""
        named = {"{prompt}": prompt, "{task_file}": str(place / "work" / TASK_FILE)}
        words = [next((text for mark, text in named.items() if word == mark), word) for word in self._words]
        if not set(self._words) & set(named):
            words.append(prompt)
        limits = self._limits.as_json(kept=needed_by(words, place), empty=place / "empty")
        passed = {name: os.environ[name] for name in self._limits.environment if name in os.environ}
        own = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(place / "home"), "LANG": "C.UTF-8"}
        with (place / "stdout").open("wb") as out, (place / "stderr").open("wb") as errors:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", launch.__file__, limits, *words],
                cwd=place / "work",
                env={**own, "TMPDIR": str(place / "tmp"), "BLADE_PROMPT": prompt, **passed},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                start_new_session=True,
            )
        self._running.add(process)
        try:
            return process.wait(self._limits.seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            end(process)
            self._running.discard(process)

    async def close(self) -> None:
        """Ends the commands that still run."""
        for process in list(self._running):
            await asyncio.to_thread(end, process)
        await asyncio.to_thread(let_go, self._environment)


def words_of(command: str) -> list[str]:
    """The words of a command line, whose program is there."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--agent-cmd {command!r} is not a command line: {error}.") from error
    if not words:
        raise UsageError("--agent-cmd is empty; give the command that starts the agent, such as 'claude -p'.")
    found = shutil.which(words[0])
    if found is None:
        raise UsageError(f"--agent-cmd: there is no program {words[0]!r}.")
    return [str(Path(found).absolute()), *words[1:]]


def needed_by(words: list[str], place: Path) -> list[str]:
    """What a command needs to be there when the folders around it are hidden: itself, Python and the PATH."""
    searched = os.environ.get("PATH", os.defpath).split(os.pathsep)
    named = [word for word in words if word.startswith("/") and len(word) < 4096 and os.path.lexists(word)]
    paths = [str(place), sys.prefix, sys.base_prefix, *searched, *named]
    return sorted({found for path in paths if path for found in (path, os.path.realpath(path))})


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends the launcher, which ends everything below it first."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def failure(name: str, code: int | None, place: Path) -> ModelError:
    """Why there is nothing to judge."""
    if code is None:
        return ModelError(f"{name}: its time was up, and it had given no answer.", kind="timeout")
    if code == launch.NOT_HIDDEN:
        return ModelError(
            f"{name}: your files cannot be hidden on this machine; show them with --agent-files.", kind="rejected"
        )
    if code == launch.NO_NETWORK:
        return ModelError(
            f"{name}: the network cannot be cut off on this machine; allow it with --agent-network.", kind="rejected"
        )
    said = (read_bounded(place / "stderr") or read_bounded(place / "stdout") or "")[-300:].strip()
    return ModelError(f"{name}: ended with {code} and gave no answer ({readable(said) or 'no output'}).", kind="server")


def task_text(row: Mapping[str, Any]) -> str:
    """What the agent is asked: the texts of the request, and where the answer goes."""
    asked = row[REQUEST]["input"]
    texts = [asked] if isinstance(asked, str) else [content_text(said.get("content")) for said in asked]
    return "\n\n".join(text for text in texts if text) + TOLD


def lay_out(place: Path, row: Mapping[str, Any], library: Library | None) -> None:
    """Puts the task, its files and the skills into the folder; nothing that tells what is expected."""
    for name in ("work", "home", "tmp", "empty"):
        (place / name).mkdir()
    (place / "work" / TASK_FILE).write_text(task_text(row), encoding="utf-8", errors="replace")
    files = row.get("files")
    for name, text in files.items() if isinstance(files, dict) else ():
        write_inside(place / "work", str(name), str(text).encode("utf-8", "replace"))
    for name, data in library.files.items() if library else ():
        for folder in SKILL_FOLDERS:
            write_inside(place / "work", f"{folder}/{name}", data)


def write_inside(folder: Path, name: str, data: bytes) -> None:
    """Writes a file; a name that leads out of the folder raises `UsageError`."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"a task has a file named {name!r}, which leads out of its folder.")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def read_bounded(path: Path, most: int = MOST_ANSWER) -> str | None:
    """The text of a regular file that is no link; `None` when there is none. What an agent leaves is not trusted."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return file.read(most).decode("utf-8", "replace")


def answer_in(place: Path, items: list[Item]) -> str | None:
    """The answer: the file, or what was said last, or what was printed."""
    for answer in (read_bounded(place / "work" / ANSWER), final_text(items)):
        if answer and answer.strip():
            return answer
    printed = read_bounded(place / "stdout") if not items else None
    return printed if printed and printed.strip() else None


def session_in(place: Path) -> Rollout | None:
    """The session that the agent wrote, where it did: to standard output, or to the last file it wrote to."""
    files = [path for pattern in SESSIONS for path in place.glob(pattern) if is_plain(path)]
    newest = sorted(files, key=lambda path: path.lstat().st_mtime, reverse=True)
    for path in [place / "stdout", *newest]:
        for reader in (claude_code.READER, codex.READER):
            with contextlib.suppress(Exception):  # a session is a stranger's file: one that cannot be read is none
                probe = Probe(path)
                if is_plain(path) and reader.recognises(probe) and not claude_code.is_subagent(probe):
                    found = next((one for one in reader.read(path, None) if isinstance(one, Rollout)), None)
                    if found is not None:
                        return found
    return None


def is_plain(path: Path) -> bool:
    """Whether a path is a file of bounded size, not a link."""
    found = path.lstat()
    return stat.S_ISREG(found.st_mode) and found.st_size <= MOST_OUTPUT


def items_of(session: Rollout) -> list[Item]:
    """A session's steps as output items."""
    return [item for number, step in enumerate(session.items) if not step.prompt and (item := item_of(step, number))]


def item_of(step: Step, number: int) -> Item | None:
    text = readable(step.text)
    if step.kind == "tool_call":
        return function_call(step.name or "tool", text, call_id=step.call_id or f"call_{number}")
    if step.kind == "tool_result":
        return call_result(text, call_id=step.call_id or f"call_{number}")
    if step.kind == "reasoning":
        return reasoning_item(text, id=f"reasoning_{number}")
    return message(text) if step.kind == "message" and step.role in (None, "assistant") else None


def usage_of(session: Rollout) -> Usage:
    known = session.usage
    return Usage(
        **{
            name: getattr(known, name, None)
            for name in Usage.__struct_fields__
            if getattr(known, name, None) is not None
        }
    )


def files_in(folder: Path) -> dict[str, bytes]:
    """The agent's files that are short and plain."""
    found: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if not hidden and name not in (TASK_FILE, ANSWER) and is_plain(path) and path.lstat().st_size <= MOST_FILE:
            text = read_bounded(path, MOST_FILE)
            found[name] = (text or "").encode("utf-8", "replace")
    return found


def changed_files(folder: Path, before: dict[str, bytes]) -> dict[str, str]:
    """The first files that are new or not as they were."""
    new = {name: data for name, data in files_in(folder).items() if before.get(name) != data}
    return {name: readable(data.decode("utf-8", "replace")) for name, data in list(new.items())[:MOST_FILES]}


def skills_read(items: list[Item], library: Library) -> list[str]:
    """Files of skills that a call of the agent names."""
    calls = " ".join(str(item.get("arguments")) for item in items if item.get("type") == "function_call")
    return [name for name in library.files if any(f"{folder}/{name}" in calls for folder in SKILL_FOLDERS)]
