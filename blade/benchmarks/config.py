"""A config file with everything it includes and inherits, and the servers it declares.

A server is a top-level entry with one kind (`resources_servers`, `responses_api_agents`, `responses_api_models`), which
holds one implementation by name with its settings. The agent names its environment by `resources_server: {name: …}`.
"""

from pathlib import Path
from typing import Any

import msgspec

from blade.benchmarks.directives import apply_directives, interpolate
from blade.benchmarks.includes import Root, find_layers, merge_layers
from blade.benchmarks.nodes import ConfigError, Node, plain
from blade.errors import Problem

ENVIRONMENTS, AGENTS, MODELS = "resources_servers", "responses_api_agents", "responses_api_models"
KINDS = (ENVIRONMENTS, AGENTS, MODELS)


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """One server a config declares."""

    name: str
    """The instance, as other entries refer to it."""
    kind: str
    """One of `KINDS`."""
    implementation: str
    """What runs."""
    settings: Any
    """The node with its settings."""

    def setting(self, key: str) -> Any:
        """A setting's plain value; `None` when there is none."""
        node = self.settings.get(key)
        return None if node is None else plain(node)


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """A config, resolved as far as it can be."""

    path: Path
    """The file it began with."""
    files: list[Path]
    """All files it is made of, in the order they were merged."""
    tree: Any
    """The node of the whole."""
    servers: list[Server]
    """In the order they are declared."""
    problems: list[Problem]
    """Includes that cannot be followed, and entries that look like a server and are none."""
    unset: list[Problem]
    """Values that somebody must still give."""

    def server(self, kind: str, name: str) -> Server | None:
        """The server of that name."""
        return next((server for server in self.servers if (server.kind, server.name) == (kind, name)), None)


def load_config(root: Root, path: Path, *, whole: bool = True) -> Config:
    """Resolves a config file; raises `ConfigError` when what it says contradicts itself or leads nowhere.

    With `whole=False` what leads nowhere is left out, for a file that includes one that is missing.
    """
    layers = find_layers(root, path)
    try:
        tree, unset = interpolate(apply_directives(merge_layers(root, layers.paths), whole=whole))
    except ConfigError as error:
        if not layers.problems:
            raise
        # What a missing include would have brought is the likely cause of everything after it.
        raise ConfigError(problem_sentence(layers.problems[0])) from error
    servers, almost = find_servers(tree)
    problems = [*layers.problems, *almost]
    return Config(path=path, files=layers.paths, tree=tree, servers=servers, problems=problems, unset=unset)


def problem_sentence(problem: Problem) -> str:
    """A problem as one sentence."""
    hint = f"; {problem.hint}" if problem.hint else ""
    return f"{problem.where}: {problem.message}{hint}" + ("" if hint.endswith("?") else ".")


def find_servers(tree: Node) -> tuple[list[Server], list[Problem]]:
    """The servers of a config, and what looks like one and is none."""
    servers: list[Server] = []
    problems: list[Problem] = []
    for name, node in tree.value.items():
        for kind in KINDS:
            declared = node.get(kind)
            if declared is None:
                continue
            fault = what_is_wrong(declared, kind)
            if fault:
                problems.append(Problem(where=str(node.place), message=f"'{name}' {fault}"))
            if declared.is_map and len(declared.value) == 1:
                [(implementation, settings)] = declared.value.items()
                servers.append(Server(name=name, kind=kind, implementation=implementation, settings=settings))
    return servers, problems


def what_is_wrong(declared: Node, kind: str) -> str | None:
    if not declared.is_map or len(declared.value) != 1:
        return f"must hold one implementation under {kind}"
    [(implementation, settings)] = declared.value.items()
    if not settings.is_map:
        return f"has no settings under {kind}.{implementation}"
    required = ("entrypoint", "domain") if kind == ENVIRONMENTS else ("entrypoint",)
    lacking = [key for key in required if settings.get(key) is None]
    return f"lacks {' and '.join(lacking)} under {kind}.{implementation}" if lacking else None
