"""A benchmark: a frozen split of tasks laid over an environment, with a prepare script and a repeat count."""

import difflib
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from blade.benchmarks.config import AGENTS, ENVIRONMENTS, Config, Server, load_config
from blade.benchmarks.includes import UNSET, Root, kind
from blade.benchmarks.nodes import ConfigError, Node, plain

CONFIG_NAME = "config.yaml"
BENCHMARKS = "benchmarks"
OWN_BLOCK = "blade"
"""Top-level entry with what only BLADE knows about a benchmark."""


class Benchmark(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is fixed about an evaluation before a model is named."""

    name: str
    """Its path below `benchmarks/`; a folder's `config.yaml` goes by the folder's name."""
    domain: str | None
    """math, coding, agent, knowledge, …, as its environment declares."""
    description: str | None
    """What it asks, in a sentence."""
    agent: str
    """Implementation of the agent that runs it, such as `tool_loop`."""
    agent_name: str
    """The agent's instance: what `agent_ref.name` says in its rollouts."""
    environment: str | None
    """Implementation of the environment that judges it; None when the agent judges itself."""
    num_repeats: int
    """Rollouts per task."""
    root: Path
    """The checkout it is in."""
    config: Path
    """The file that declares it."""
    folder: Path
    """Where that file is."""
    data: Path | None
    """The frozen tasks, one JSON object per line; None when the config leaves the file to whoever runs it."""
    prepare_script: Path
    """Python file with `prepare(output_dir) -> Path`, which makes the tasks."""
    prompt: Path | None
    """YAML with the templates that turn a task into a request; None when tasks hold their request."""
    sha256: str | None = None
    """What the frozen tasks hash to; None when that is not pinned."""
    success: str | None = None
    """When a rollout is a success, such as `reward >= 1.0`; None leaves that to the rewards."""
    skill: str | None = None
    """Agent Skill that explains its rollouts."""
    slices: list[str] = []
    """Task fields worth cutting results by."""
    temperature: float | None = None
    """Sampling temperature; None leaves it to the model's server."""
    top_p: float | None = None
    """Nucleus sampling; None leaves it to the model's server."""
    max_output_tokens: int | None = None
    """Tokens one reply may have."""
    max_turns: int | None = None
    """Requests one rollout may make."""
    files: list[Path] = []
    """All config files it is made of."""

    @property
    def tasks(self) -> Path:
        """The frozen tasks; raises when the config does not say where they are."""
        if self.data is None:
            raise ConfigError(f"{self.config}: does not say where the tasks of '{self.name}' are (jsonl_fpath is ???).")
        return self.data


class Found(NamedTuple):
    """The one dataset that makes a config a benchmark, and the server that lists it."""

    dataset: Node
    owner: Server


class OwnBlock(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What stands under `blade:` in a benchmark's config."""

    success: str | None = None
    skill: str | None = None
    slices: list[str] = []


def read_benchmark(root: Root, path: Path) -> Benchmark:
    """The benchmark that a config file declares."""
    return make_benchmark(root, load_config(root, path))


def make_benchmark(root: Root, config: Config, *, whole: bool = True) -> Benchmark:
    """The benchmark that a config declares, every path in it made absolute.

    With `whole=False` an environment that no file declares is unknown, not an error.
    """
    path = config.path
    found = benchmark_dataset(config)
    agent = agent_of(config, found.owner)
    environment = environment_of(config, agent, found.owner, whole=whole)
    own = own_block(config)
    values = Values(root, found.dataset)
    return Benchmark(
        name=benchmark_name(root.folder, path),
        domain=first_text("domain", environment, agent, config),
        description=first_text("description", environment, agent, config),
        agent=agent.implementation,
        agent_name=agent.name,
        environment=environment.implementation if environment is not None else None,
        num_repeats=values.whole("num_repeats") or 1,
        root=root.folder,
        config=path,
        folder=path.parent,
        data=None if values.is_unset("jsonl_fpath") else values.path("jsonl_fpath"),
        prepare_script=values.path("prepare_script"),
        prompt=values.optional_path("prompt_config"),
        sha256=values.text("sha256"),
        success=own.success,
        skill=own.skill,
        slices=own.slices,
        **sampling(root, agent),
        files=config.files,
    )


def benchmark_name(root: Path, path: Path) -> str:
    """What a benchmark is called: `name` for `name/config.yaml`, else the path without its ending."""
    parts = path.relative_to(root / BENCHMARKS).with_suffix("").parts
    return parts[0] if len(parts) == 2 and path.name == CONFIG_NAME else "/".join(parts)


def benchmark_dataset(config: Config) -> Found:
    """The dataset of type `benchmark`, of which there must be one."""
    found: list[Found] = []
    for server in config.servers:
        listed = server.settings.get("datasets")
        datasets = listed.value if listed is not None and isinstance(listed.value, list) else []
        found += [Found(node, server) for node in datasets if is_benchmark_dataset(node)]
    if len(found) == 1:
        return found[0]
    places = ", ".join(str(one.dataset.place) for one in found[:5])
    seen = f"{len(found)} datasets have type benchmark ({places})" if found else "no dataset has type benchmark"
    raise ConfigError(f"{config.tree.place.file}: {seen}; a benchmark has exactly one.")


def is_benchmark_dataset(node: Node) -> bool:
    kind_of_data = node.get("type")
    return kind_of_data is not None and kind_of_data.value == "benchmark"


def agent_of(config: Config, owner: Server) -> Server:
    """The agent that lists the dataset, or the one that is bound to the environment that does."""
    if owner.kind == AGENTS:
        return owner
    bound = [server for server in config.servers if server.kind == AGENTS and bound_to(server) == owner.name]
    if not bound:
        raise ConfigError(f"{owner.settings.place}: no agent names '{owner.name}' as its resources_server.")
    return bound[0]


def environment_of(config: Config, agent: Server, owner: Server, *, whole: bool) -> Server | None:
    """The environment the agent is bound to; None for an agent that judges itself."""
    if owner.kind == ENVIRONMENTS:
        return owner
    name = bound_to(agent)
    if name is None:
        return None
    found = config.server(ENVIRONMENTS, name)
    if found is None and whole:
        names = [server.name for server in config.servers if server.kind == ENVIRONMENTS]
        close = difflib.get_close_matches(name, names, n=1)
        hint = f"; did you mean '{close[0]}'?" if close else "."
        raise ConfigError(f"{agent.settings.place}: '{agent.name}' is bound to '{name}', which is not declared{hint}")
    return found


def bound_to(agent: Server) -> str | None:
    """The environment instance an agent names."""
    reference = agent.settings.get("resources_server")
    name = reference.get("name") if reference is not None else None
    return name.value if name is not None and isinstance(name.value, str) and name.value != UNSET else None


def first_text(key: str, environment: Server | None, agent: Server, config: Config) -> str | None:
    """A text setting that the file itself gives to a server; else the environment's, the agent's, or the first one."""
    mine = [server for server in (environment, agent) if server is not None]
    told = [node for server in [*mine, *config.servers] if (node := server.settings.get(key)) is not None]
    told.sort(key=lambda node: node.place.file != config.tree.place.file)
    texts = (node.value.strip() for node in told if isinstance(node.value, str) and node.value != UNSET)
    return next(texts, None)


def own_block(config: Config) -> OwnBlock:
    node = config.tree.get(OWN_BLOCK)
    if node is None:
        return OwnBlock()
    try:
        return msgspec.convert(plain(node), OwnBlock)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{node.place}: '{OWN_BLOCK}' holds success, skill and slices; {error}.") from error


def sampling(root: Root, agent: Server) -> dict[str, Any]:
    """The agent's defaults for asking a model."""
    values = Values(root, agent.settings)
    return {
        "temperature": values.number("temperature"),
        "top_p": values.number("top_p"),
        "max_output_tokens": values.whole("max_output_tokens"),
        "max_turns": values.whole("max_turns"),
    }


class Values:
    """Settings of a node by type; anything else is an error at its line."""

    def __init__(self, root: Root, node: Node) -> None:
        self.root = root
        self.node = node

    def text(self, key: str) -> str | None:
        node = self.node.get(key)
        if node is None or node.value is None:
            return None
        if not isinstance(node.value, str):
            raise ConfigError(f"{node.place}: {key} is {kind(node)}, not a text.")
        if node.value == UNSET:
            raise ConfigError(f"{node.place}: {key} must be given (???).")
        return node.value

    def is_unset(self, key: str) -> bool:
        """Whether the value is one that somebody else must give."""
        node = self.node.get(key)
        return node is not None and node.value == UNSET

    def path(self, key: str) -> Path:
        found = self.optional_path(key)
        if found is None:
            raise ConfigError(f"{self.node.place}: the benchmark dataset lacks {key}.")
        return found

    def optional_path(self, key: str) -> Path | None:
        text = self.text(key)
        return None if text is None else self.root.locate(text, self.node.value[key].place)

    def number(self, key: str) -> float | None:
        node = self.node.get(key)
        if node is None or node.value is None or self.is_unset(key):
            return None
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            raise ConfigError(f"{node.place}: {key} is {kind(node)}, not a number.")
        return node.value

    def whole(self, key: str) -> int | None:
        value = self.number(key)
        if value is None or (isinstance(value, int) and value >= 1):
            return value
        raise ConfigError(f"{self.node.value[key].place}: {key} is {value}, not a whole number from 1.")
