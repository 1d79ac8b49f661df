"""What a run was made with, written beside it: enough to repeat it, and to refuse to go on with something else.

Some settings decide what a rollout is; if one of them changed, rollouts of two kinds would end up in one file. The
rest (where the server is, how many at once) may change between sittings. More repeats or more tasks only add rollouts.
"""

import contextlib
import hashlib
import platform
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from blade._version import __version__
from blade.errors import InputError
from blade.evals.files import read_lines, write_whole
from blade.evals.plan import Plan, sha256
from blade.llm import Sampling

SCHEMA_VERSION = 1


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What decides what a rollout is."""

    benchmark: str
    """Name of the benchmark."""
    environment: str | None
    """What judges."""
    agent: str
    """What plays: the name rows carry."""
    model: str
    """Name of the model as it was asked for."""
    api: str
    """How it was asked: responses, chat, messages, or agent for somebody else's agent."""
    dataset: str
    """sha256 of the tasks."""
    prompt: str | None
    """sha256 of the prompt file."""
    sampling: Sampling
    """How answers are drawn; the seed is that of the run."""
    max_turns: int
    """Replies a rollout may take."""
    max_rollout_tokens: int | None = None
    """Tokens the replies of a rollout may take together."""
    skills: str | None = None
    """Hash of the skills the model was given."""
    tools: str = "native"
    """How tools were called: by the API, or by lines of text."""
    judge: str | None = None
    """The model that judged and its votes, where a model does."""
    command: str | None = None
    """The command of an agent that played."""


class Extent(msgspec.Struct, frozen=True, kw_only=True):
    """How much is asked for; it may grow."""

    repeats: int
    """Rollouts per task."""
    limit: int | None
    """Tasks at most; `None` for all."""


class Sitting(msgspec.Struct, frozen=True, kw_only=True):
    """One time the run was worked on."""

    started_at: str
    """When, in UTC."""
    finished_at: str | None = None
    """When it ended; `None` if it was killed."""
    status: str = "running"
    """running, finished, interrupted or stopped."""
    concurrency: int
    """Number of rollouts to run in parallel."""
    server: str | None = None
    """Where the model was asked; `None` for the vendor's own."""
    judged: int = 0
    """Rollouts that were judged."""
    failed: int = 0
    """Attempts that ended without a verdict."""
    changed: list[str] = []
    """Settings that differ from the sitting before, when the user insisted."""
    notes: list[str] = []
    """What was found, mended or odd."""
    versions: dict[str, str] = {}
    """Versions of what made the rollouts."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """A run's record of itself."""

    schema_version: int = SCHEMA_VERSION
    """Of this file."""
    config_digest: str
    """First 16 hex digits of the sha256 of the settings."""
    settings: Settings
    """What decides what a rollout is."""
    extent: Extent
    """How much is asked for."""
    expected: int
    """Rollouts there should be."""
    files: dict[str, str]
    """Dataset and prompt as they were named."""
    sittings: list[Sitting]
    """Every time the run was worked on, in order."""


DECODER = msgspec.json.Decoder(Manifest)


def settings_of(plan: Plan, *, model: str, api: str, skills: str | None) -> Settings:
    """The settings of a plan, with files by their content."""
    return Settings(
        benchmark=plan.benchmark,
        environment=plan.environment,
        agent=plan.agent,
        model=model,
        api=api,
        dataset=sha256(plan.data),
        prompt=sha256(plan.prompt) if plan.prompt else None,
        sampling=plan.sampling,
        max_turns=plan.max_turns,
        max_rollout_tokens=plan.max_rollout_tokens,
        skills=skills,
    )


def digest(settings: Settings) -> str:
    """A short name for settings."""
    stated = msgspec.to_builtins(settings)
    # What came later is left out where it says nothing, so that earlier runs keep their name.
    kept = {name: value for name, value in stated.items() if value is not None or name not in ("judge", "command")}
    return hashlib.sha256(msgspec.json.encode(kept, order="sorted")).hexdigest()[:16]


def differences(before: Manifest, settings: Settings, extent: Extent) -> list[str]:
    """What keeps a run from being continued, each as `name was this, is that`."""
    old, new = msgspec.to_builtins(before.settings), msgspec.to_builtins(settings)
    pairs = [(name, old[name], new[name]) for name in new if name != "sampling"]
    pairs += [(name, old["sampling"][name], new["sampling"][name]) for name in new["sampling"]]
    found = [f"{name} was {worded(was)}, is {worded(now)}" for name, was, now in pairs if was != now]
    shrunk = [("repeats", before.extent.repeats, extent.repeats), ("limit", before.extent.limit, extent.limit)]
    return found + [f"{name} was {worded(was)}, is {worded(now)}" for name, was, now in shrunk if less(now, was)]


def less(now: int | None, was: int | None) -> bool:
    """Whether fewer are asked for than before; `None` is all."""
    return now is not None and (was is None or now < was)


def worded(value: Any) -> str:
    """A setting for a message; of a sha256 its beginning."""
    if value is None:
        return "not set"
    text = str(value)
    return text[:12] if len(text) == 64 else text


def read_manifest(path: Path) -> Manifest | None:
    """The manifest of an earlier sitting; `None` when there is none."""
    if not path.exists():
        return None
    data = b"".join(line for _, line in read_lines(path))
    try:
        return DECODER.decode(data)
    except msgspec.MsgspecError as error:
        raise InputError(f"{path}: not a run's manifest: {error}; delete it, or run without --resume.") from error


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Replaces the manifest."""
    data = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
    write_whole(path, [data, b"\n"])


def versions() -> dict[str, str]:
    """Versions of what takes part in making rollouts."""
    named = {}
    for name in ("openai", "anthropic", "msgspec"):
        with contextlib.suppress(metadata.PackageNotFoundError):  # agents that are commands need no SDK
            named[name] = metadata.version(name)
    return {"blade": __version__, "python": platform.python_version(), **named}


def server_shown(url: str | None) -> str | None:
    """A server's address without user, password and query."""
    if url is None:
        return None
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"
